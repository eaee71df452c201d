"""The latency kernel: one cycle through all lines, every load made, and links that are broken."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import kernels
from kernels import KERNELS, run

SOURCES = sorted((KERNELS / "latency").glob("*.c"))
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LOADS = 1024
LINE_BYTES = 64  # on a machine with longer ones each size below is a multiple of those too
BYTES = 1 << 16
HUGE_BYTES = 16 << 20
# Somebody changes one link after the ring was made: `line` is the first of those in the cycle.
BROKEN = """
#include "ring.h"
const struct line *__real_ring_make(const struct ring *ring, uint32_t *order, uint64_t seed);
const struct line *__wrap_ring_make(const struct ring *ring, uint32_t *order, uint64_t seed);
const struct line *__wrap_ring_make(const struct ring *ring, uint32_t *order, uint64_t seed) {{
    const struct line *begin = __real_ring_make(ring, order, seed);
    struct line *line = ring->first + (begin - ring->first);
    {change}
    return begin;
}}
"""


def build(target: Path, *flags: str, name: str = "gcc") -> Path:
    own = flags or ("-O2",)
    return kernels.build(target, *SOURCES, flags=own, common=own, compiler=name)


@pytest.fixture(scope="module")
def latency(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("latency") / "latency")


def point(size: int = BYTES, samples: int = 3, warmup: int = 1, loops: int = 2) -> str:
    return f"--point=method=chase,bytes={size},samples={samples},warmup={warmup},loops={loops}"


@pytest.mark.parametrize("size", [1 << 12, BYTES, 96 << 10, 3 << 20])
def test_the_pointers_are_one_cycle_and_every_load_is_made(latency: Path, size: int) -> None:
    found = kernels.outcome(latency, "--pages=small", point(size))
    assert (found["status"], found["reason"]) == ("ok", "")
    seen = found["observations"]
    assert seen["lines_in_cycle"] == size // seen["line_bytes"]
    assert seen["dependent_loads_per_call"] == LOADS
    assert seen["turns"] == pytest.approx(4 * 2 * LOADS / seen["lines_in_cycle"])
    assert seen["huge_pages_asked"] == "forbidden"
    assert found["bytes_declared"] == 0
    assert found["usage"]["buffers_bytes"] == size
    assert found["usage"]["minor_faults"] == 0


def test_a_cycle_of_one_line_leads_to_itself(latency: Path) -> None:
    line = kernels.outcome(latency, "--pages=small", point())["observations"]["line_bytes"]
    assert line % LINE_BYTES == 0
    for lines in (1, 2, 3):
        found = kernels.outcome(latency, "--pages=small", point(lines * line))
        assert found["observations"]["lines_in_cycle"] == lines


def test_sizes_share_a_start_in_any_order(latency: Path) -> None:
    sizes = [BYTES, 1 << 12, 3 << 20, 1 << 12]
    done = run(latency, "--pages=small", *map(point, sizes))
    assert (done.returncode, done.stderr) == (0, "")
    assert [result["usage"]["buffers_bytes"] for result in kernels.points(done.stdout)] == sizes


def test_several_processes_have_a_cycle_each(latency: Path) -> None:
    done = run(latency, "--pages=small", "--processes=2", point())
    assert (done.returncode, done.stderr) == (0, "")


def test_huge_pages_come_when_asked_for_and_never_when_forbidden(latency: Path) -> None:
    small = kernels.outcome(latency, "--pages=small", point(HUGE_BYTES))
    assert small["usage"]["anon_huge_bytes"] == 0
    done = run(latency, "--pages=huge", point(HUGE_BYTES))
    if done.returncode == 77:
        pytest.skip("this system does not take a request for huge pages")
    (huge,) = kernels.points(done.stdout)
    assert huge["observations"]["huge_pages_asked"] == "advised"
    if not huge["usage"]["anon_huge_bytes"]:
        pytest.skip("this system has none to give at the moment")
    assert huge["usage"]["anon_huge_bytes"] >= HUGE_BYTES // 2


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [SANITIZERS, ("-O0",), ("-O3",)])
def test_other_compilers_and_flags_do_the_same(
    tmp_path: Path, compiler: str, flags: tuple[str, ...]
) -> None:
    program = build(tmp_path / "latency", *flags, name=compiler)
    for pages in ("small", "huge"):
        done = run(program, f"--pages={pages}", *map(point, (1 << 12, BYTES, 3 << 20)))
        assert done.returncode in (0, *[77] * (pages == "huge")), done.stderr
        assert done.stderr == ""


@pytest.mark.parametrize(
    "change",
    [
        "line->next = line;",  # a cycle of its own
        "line->next = line->next->next;",  # one line is left out
        "line->next = begin->next + 100000000;",  # outside, and never walked to
        "line->next = (const struct line *)((const char *)line->next + 8);",
        "line->rank = line->next->rank;",
        "line->rank = UINT64_MAX;",
    ],
)
@pytest.mark.parametrize("flags", [("-O2",), SANITIZERS])
def test_one_broken_link_voids_the_point(
    tmp_path: Path, change: str, flags: tuple[str, ...]
) -> None:
    """The walk begins behind the broken link and ends before it: the check looks at all lines."""
    false = tmp_path / "false.c"
    text = BROKEN.format(change="const struct line *second = line->next; " + change)
    false.write_text(text.replace("return begin;", "return second;"))
    objects = [kernels.compiled(source, *flags) for source in SOURCES]
    objects.append(kernels.compiled(false, *flags, f"-I{KERNELS / 'latency'}"))
    program = kernels.linked(
        tmp_path / "latency",
        *objects,
        kernels.harness(*flags),
        flags=[*flags, "-Wl,--wrap=ring_make"],
    )
    few = point(3 << 20, samples=1, warmup=0, loops=1)  # 1,024 loads of 49,152 lines
    found = kernels.outcome(program, "--pages=small", few)
    assert found["status"] == "fail"
    assert "the pointers are not one cycle through all lines" in found["reason"]
    assert "lines_in_cycle" not in found["observations"]


def test_a_load_that_was_left_out_voids_the_point(tmp_path: Path) -> None:
    text = (KERNELS / "latency" / "latency.c").read_text()
    lazy = text.replace("left = LOADS;", "left = LOADS - 1;")
    assert lazy != text
    false = tmp_path / "latency.c"
    false.write_text(lazy)
    folder = KERNELS / "latency"
    objects = [
        kernels.compiled(source, "-O2", f"-I{folder}") for source in (false, folder / "ring.c")
    ]
    program = kernels.linked(tmp_path / "latency", *objects, kernels.harness("-O2"))
    found = kernels.outcome(program, "--pages=small", point())
    assert found["status"] == "fail"
    assert "8192 loads ended at line" in found["reason"]


def test_beyond_the_limit_is_a_reason_and_no_crash(latency: Path) -> None:
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        pytest.skip("prlimit is not installed")
    wanted = ["--pages=small", point(), point(512 << 20)]
    done = run(latency, *wanted, under=[prlimit, f"--as={128 << 20}"])
    assert done.returncode == 77
    (end,) = [line for line in kernels.lines(done.stdout) if line["kind"] == "end"]
    assert "a working set of 536870912 bytes cannot be allocated (Cannot allocate" in end["reason"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--pages=large", point()], "--pages 'large' is neither small nor huge"),
        ([point()], "--pages is missing"),
        (["--pages=small", point(0)], "bytes=0 is not a multiple of"),
        (["--pages=small", point(4097)], "bytes=4097 is not a multiple of"),
        (["--pages=small", point((1 << 64) - 4096)], "has more than 4294967295 cache lines"),
        (["--pages=small", point().replace("bytes=65536,", "")], "lacks bytes="),
        (["--pages=small", point().replace("65536", "-1")], "bytes='-1' is not"),
    ],
)
def test_what_cannot_be_is_one_sentence(latency: Path, arguments: list[str], sentence: str) -> None:
    done = run(latency, *arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
