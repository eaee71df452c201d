"""The syscall kernel: answers that are right, and points that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import kernels
from benchbook.define import catalogue
from kernels import KERNELS, lines, run

SOURCES = sorted((KERNELS / "syscall").glob("*.c"))
CALLS = [
    "loop",
    "getpid-instruction",
    "getpid-libc",
    "getppid-libc",
    "clock-vdso",
    "clock-call",
]
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# Whatever is asked, the answer is another one, by the instruction too: the check must see it.
WRONG = """
#include <sys/types.h>
#include <unistd.h>
pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void) {
    static pid_t pid;
    return ++pid;
}
"""


def build(target: Path, *flags: str, name: str = "gcc") -> Path:
    own = flags or ("-O2",)
    return kernels.build(target, *SOURCES, flags=own, common=own, compiler=name)


@pytest.fixture(scope="module")
def syscall(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("syscall") / "syscall")


def point(call: str, method: str = "batch", loops: int = 1) -> str:
    return f"--point=method={method},samples=5,warmup=2,loops={loops},call={call}"


def outcome(program: Path, call: str, method: str = "batch", loops: int = 1) -> dict[str, Any]:
    return kernels.outcome(program, point(call, method, loops))


@pytest.mark.parametrize("call", CALLS)
def test_every_call_gives_the_right_answer(syscall: Path, call: str) -> None:
    for method, loops in (("batch", 100), ("single", 1)):
        found = outcome(syscall, call, method, loops)
        assert (found["status"], found["reason"]) == ("ok", "")
        # Nothing is moved, and nothing is faulted in while the clock runs.
        assert found["bytes_declared"] == 0
        assert found["usage"]["minor_faults"] == 0


def test_all_calls_share_a_start(syscall: Path) -> None:
    done = run(syscall, *(point(call, "single") for call in CALLS))
    assert (done.returncode, done.stderr) == (0, "")
    assert [result["status"] for result in kernels.points(done.stdout)] == ["ok"] * len(CALLS)
    timed = [
        line for line in lines(done.stdout) if line["kind"] == "sample" and not line["warm_up"]
    ]
    assert len(timed) == 5 * len(CALLS)


@pytest.mark.parametrize("flags", [SANITIZERS, ("-O0",), ("-O3",)])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_other_compilers_and_flags_give_the_same(
    tmp_path: Path, compiler: str, flags: tuple[str, ...]
) -> None:
    program = build(tmp_path / "syscall", *flags, name=compiler)
    done = run(program, *(point(call, "batch", 10) for call in CALLS))
    assert (done.returncode, done.stderr) == (0, "")


def test_cycles_are_those_of_a_clock_that_ticks_evenly(syscall: Path) -> None:
    seen = [outcome(syscall, "loop")["observations"] for _ in range(3)]
    rates = [values["reference_cycles_per_ns"] for values in seen]
    if None in rates:
        pytest.skip("this processor has no counter that a program may read")
    assert all(rate > 0 for rate in rates)
    assert max(rates) < 1.05 * min(rates)


def test_only_clocks_tell_where_their_time_is_from(syscall: Path) -> None:
    assert "clock_source" not in outcome(syscall, "getpid-libc")["observations"]
    seen = outcome(syscall, "clock-vdso")["observations"]
    assert {"clock_source", "has_vdso", "enters_by"} <= set(seen)


def test_a_wrong_answer_voids_the_point(tmp_path: Path) -> None:
    false = tmp_path / "false.c"
    false.write_text(WRONG)
    # The kernel's own check asks the same false function, which never says the same twice.
    own = [kernels.compiled(source, "-O2") for source in [*SOURCES, false]]
    program = kernels.linked(
        tmp_path / "syscall", *own, kernels.harness("-O2"), flags=["-Wl,--wrap=getpid"]
    )
    for call in ("getpid-libc", "getpid-instruction"):
        found = outcome(program, call)
        assert found["status"] == "fail"
        assert f"7 of 7 samples ended with a wrong answer of {call}" in found["reason"]
    assert outcome(program, "getppid-libc")["status"] == "ok"


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (point("getpid-libc", "single", 2), "loops=2 is not 1"),
        (point("getuid"), "call=getuid is not a value of this key"),
        (point("loop", "each"), "method=each is no method of syscall"),
        ("--point=method=batch,samples=1,warmup=0,loops=1", "lacks call="),
        ("--bytes=4096", "--bytes"),
    ],
)
def test_what_cannot_be_is_one_sentence(syscall: Path, wanted: str, sentence: str) -> None:
    done = run(syscall, wanted)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_definition_names_what_the_kernel_takes(syscall: Path) -> None:
    said = run(syscall, "--help").stdout
    content = catalogue.definition(ROOT, "syscall")
    for preset in ("tiny", "quick", "paper"):
        for cross in catalogue.crosses(content, preset):
            for call in cross["call"]:
                assert call in CALLS
                assert call in said
