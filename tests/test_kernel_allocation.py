"""The allocation kernel: faults that are counted, memory that is given back, and limits."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import kernels
from kernels import KERNELS, run

SOURCES = sorted((KERNELS / "allocation").glob("*.c"))
WAYS = ["mmap", "populate", "sbrk", "malloc"]
FRESH = ["mmap", "populate", "sbrk"]
PAGE_BYTES = os.sysconf("SC_PAGESIZE")
PAGES = 16
BYTES = PAGES * PAGE_BYTES
HUGE_BYTES = 16 << 20
# The allocator of the sanitizer never takes memory from the heap's end, nor keeps what is freed.
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# Somebody else moves the heap's end between getting and giving.
MOVED = """
#include <stdint.h>
void *__real_sbrk(intptr_t bytes);
void *__wrap_sbrk(intptr_t bytes);
void *__wrap_sbrk(intptr_t bytes) {
    return __real_sbrk(bytes < 0 ? bytes + 4096 : bytes);
}
"""
KEPT = """
#include <stddef.h>
int __wrap_munmap(void *first, size_t bytes);
int __wrap_munmap(void *first, size_t bytes) {
    return !first || !bytes;
}
"""
SAMPLES = 4


def build(target: Path, *flags: str, name: str = "gcc") -> Path:
    own = flags or ("-O2",)
    return kernels.build(target, *SOURCES, flags=own, common=own, compiler=name)


@pytest.fixture(scope="module")
def allocation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("allocation") / "allocation")


def point(method: str, touch: int = 0, huge: int = 0) -> str:
    own = f"touch={touch},huge={huge}"
    return f"--point=method={method},samples={SAMPLES},warmup=1,loops=1,{own}"


def outcome(
    program: Path, way: str, method: str, touch: int = 0, huge: int = 0, size: int = BYTES
) -> dict[str, Any]:
    wanted = [f"--way={way}", f"--bytes={size}", point(method, touch, huge)]
    return kernels.outcome(program, *wanted)


def good(found: dict[str, Any]) -> dict[str, Any]:
    assert (found["status"], found["reason"]) == ("ok", "")
    seen: dict[str, Any] = found["observations"]
    return seen


@pytest.mark.parametrize("way", FRESH)
def test_each_page_that_is_touched_for_the_first_time_is_a_fault(
    allocation: Path, way: str
) -> None:
    seen = good(outcome(allocation, way, "get", touch=1))
    assert seen["minor_faults_per_call"] == PAGES
    assert seen["minor_faults_per_page"] == 1
    assert seen["timed_minor_faults"] == PAGES * SAMPLES
    assert seen["pages_written"] == PAGES


@pytest.mark.parametrize("way", ["mmap", "sbrk"])
def test_pages_that_nobody_touches_do_not_come(allocation: Path, way: str) -> None:
    seen = good(outcome(allocation, way, "get"))
    assert seen["timed_minor_faults"] == 0
    assert seen["pages_written"] == 0


def test_a_populated_mapping_has_its_pages_untouched(allocation: Path) -> None:
    assert good(outcome(allocation, "populate", "get"))["minor_faults_per_call"] == PAGES


def test_freed_memory_comes_back_with_its_pages(allocation: Path) -> None:
    assert good(outcome(allocation, "malloc", "get", touch=1))["timed_minor_faults"] == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("touch", [0, 1])
def test_giving_back_takes_no_faults_whatever_was_touched_before(
    allocation: Path, way: str, touch: int
) -> None:
    found = outcome(allocation, way, "give", touch)
    assert good(found)["timed_minor_faults"] == 0
    assert good(found)["pages_written"] == 0
    assert found["bytes_declared"] == 0
    assert found["usage"]["buffers_bytes"] == BYTES


@pytest.mark.parametrize("way", WAYS)
def test_both_calls_in_turn_are_looped(allocation: Path, way: str) -> None:
    wanted = point("pair", touch=1).replace("loops=1", "loops=20")
    found = kernels.outcome(allocation, f"--way={way}", f"--bytes={BYTES}", wanted)
    seen = good(found)
    assert seen["pages_written"] == PAGES
    # What the C library keeps comes back with its pages.
    fresh = way in FRESH
    assert found["usage"]["minor_faults"] == (PAGES * SAMPLES * 20 if fresh else 0)
    assert "timed_minor_faults" not in seen


@pytest.mark.parametrize("way", WAYS)
def test_all_points_share_a_start_in_any_order(allocation: Path, way: str) -> None:
    wanted = [point(method, touch) for touch in (1, 0, 1) for method in ("give", "get", "pair")]
    done = run(allocation, f"--way={way}", f"--bytes={BYTES}", *wanted)
    assert (done.returncode, done.stderr) == (0, "")
    assert [result["reason"] for result in kernels.points(done.stdout)] == [""] * len(wanted)


def test_huge_pages_come_when_asked_for_and_never_when_forbidden(allocation: Path) -> None:
    small = outcome(allocation, "mmap", "get", touch=1, size=HUGE_BYTES)
    assert good(small)["huge_pages_asked"] == "forbidden"
    assert small["usage"]["anon_huge_bytes"] == 0
    done = run(allocation, "--way=mmap", f"--bytes={HUGE_BYTES}", point("get", 1, 1))
    if done.returncode == 77:
        pytest.skip("this system does not take a request for huge pages")
    (huge,) = kernels.points(done.stdout)
    assert good(huge)["huge_pages_asked"] == "advised"
    if not huge["usage"]["anon_huge_bytes"]:
        pytest.skip("this system has none to give at the moment")
    assert good(huge)["minor_faults_per_page"] < 1


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [SANITIZERS, ("-O0",), ("-O3",)])
def test_other_compilers_and_flags_do_the_same(
    tmp_path: Path, compiler: str, flags: tuple[str, ...]
) -> None:
    program = build(tmp_path / "allocation", *flags, name=compiler)
    points = [point(method, touch) for method in ("get", "give", "pair") for touch in (0, 1)]
    for way in WAYS:
        done = run(program, f"--way={way}", f"--bytes={BYTES}", *points)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("source", "function", "way", "sentence"),
    [
        (MOVED, "sbrk", "sbrk", "the heap ends"),
        (KEPT, "munmap", "mmap", "memory that was given back is still there"),
    ],
)
def test_what_is_not_given_back_voids_the_point(
    tmp_path: Path, source: str, function: str, way: str, sentence: str
) -> None:
    false = tmp_path / "false.c"
    false.write_text(source)
    own = [kernels.compiled(source, "-O2") for source in [*SOURCES, false]]
    library = kernels.harness("-O2")
    program = kernels.linked(
        tmp_path / "allocation", *own, library, flags=[f"-Wl,--wrap={function}"]
    )
    found = outcome(program, way, "get")
    assert found["status"] == "fail"
    assert sentence in found["reason"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["get", "give", "pair"])
def test_beyond_the_limit_is_a_reason_and_no_crash(allocation: Path, way: str, method: str) -> None:
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        pytest.skip("prlimit is not installed")
    wanted = [f"--way={way}", f"--bytes={512 << 20}", point(method)]
    done = run(allocation, *wanted, under=[prlimit, f"--as={128 << 20}"])
    assert done.returncode == 77
    (end,) = [line for line in kernels.lines(done.stdout) if line["kind"] == "end"]
    assert "could not be had" in end["reason"]
    assert f"by {way} (Cannot allocate memory)" in end["reason"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--way=alloca", f"--bytes={BYTES}", point("get")], "--way 'alloca' is none of mmap"),
        ([f"--bytes={BYTES}", point("get")], "--way is missing"),
        (["--way=mmap", point("get")], "--bytes is missing"),
        (["--way=mmap", "--bytes=5000", point("get")], "is not a multiple of 4096"),
        (["--way=mmap", f"--bytes={BYTES}", point("get", 2)], "touch=2 is neither 0 nor 1"),
        (["--way=malloc", f"--bytes={BYTES}", point("get", 1, 1)], "huge=1 with --way malloc"),
        (["--way=populate", f"--bytes={BYTES}", point("get", 0, 1)], "huge=1 with --way populate"),
        (
            ["--way=mmap", f"--bytes={BYTES}", point("get").replace("loops=1", "loops=2")],
            "loops=2 is not 1",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(
    allocation: Path, arguments: list[str], sentence: str
) -> None:
    done = run(allocation, *arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
