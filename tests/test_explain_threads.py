"""The threads that commands ask for: an exported number lasts, one before a command is its own."""

from __future__ import annotations

from benchbook.explain.api import log_of, read

TIMES = "real\t0m{0}.5s\nuser\t0m1.0s\nsys\t0m0.1s\n"


def threads(*commands: str) -> list[int | None]:
    lines = [f"$ {command}\n" + TIMES.format(n) for n, command in enumerate(commands)]
    return [report.facts.get("threads") for report in read(log_of("".join(lines).encode()))]


def test_an_exported_number_lasts() -> None:
    asked = threads("./a", "export OMP_NUM_THREADS=8\n$ ./b", "OMP_NUM_THREADS=2 ./c", "./d")
    assert asked == [None, 8, 2, 8]


def test_the_last_exported_number_counts() -> None:
    first = "export OMP_NUM_THREADS=8\n$ ./a"
    assert threads(first, "export OMP_NUM_THREADS=4\n$ ./b", "./c") == [8, 4, 4]
