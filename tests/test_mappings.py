"""How the memory of buffers is backed: made-up tables of mappings, and buffers that were written,
only read, or never touched on this very machine."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import kernels
from kernels import COMMON, build, compiled, linked, outcome

KIB = 1024
MIB = 1024 * KIB
SIZE = 8 * MIB
NAMES = ("buffers_bytes", "buffers_resident_bytes", "anonymous_bytes", "anon_huge_bytes")
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

# Two buffers whose addresses mean nothing; the table is a file of the test's.
PROGRAM = r"""
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "mappings.h"

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
    (void)path;
    return __real_fopen(getenv("TABLE"), mode);
}
int main(int argc, char **argv) {
    struct bench_range ranges[BENCH_RANGES_MAX] = {0};
    for (int i = 0; i < argc - 1; i++) {
        ranges[i].first = (const void *)(uintptr_t)strtoull(argv[i + 1], NULL, 16);
        ranges[i].bytes = 0x3000;
    }
    const struct mapped mapped = mappings_find(ranges);
    printf("%" PRIu64, mapped.buffers_bytes);
    for (size_t i = 0; i < MAPPED_COUNTS; i++) {
        printf(mapped.known[i] ? " %" PRIu64 : " none", mapped.bytes[i]);
    }
}
"""


def mapping(place: str, resident: int, anonymous: int, huge: int | None = 0, **others: int) -> str:
    """As the kernel writes it; sizes in KiB."""
    rows = {"Size": 9999, "Rss": resident, "Pss": 1, "Anonymous": anonymous, "KSM": 5}
    rows |= {} if huge is None else {"AnonHugePages": huge}
    rows |= others
    fields = "".join(f"{name + ':':<16}{value:>8} kB\n" for name, value in rows.items())
    return f"{place} rw-p 00000000 00:00 0 \n{fields}VmFlags: rd wr mr mw me ac\n"


FOREIGN = mapping("7f0000-7f1000", 64, 32, 16)
BOTH = mapping("10000-20000", 48, 44, 40)
WHOLE = f"{24 * KIB}"
TABLES = {
    "one mapping holds both": ([FOREIGN, BOTH, FOREIGN], [48, 44, 40]),
    "one for each": (
        [mapping("11000-14000", 12, 8), FOREIGN, mapping("15000-19000", 16, 12)],
        [28, 20, 0],
    ),
    "one in two pieces": (
        [mapping("11000-12000", 1, 1), mapping("12000-14000", 2, 2), mapping("15000-18000", 4, 4)],
        [7, 7, 0],
    ),
    "a neighbour begins where a buffer ends": (
        [mapping("10000-11000", 9, 9), mapping("11000-18000", 3, 2), mapping("18000-19000", 9, 9)],
        [3, 2, 0],
    ),
    "the other lies nowhere": ([mapping("11000-14000", 12, 12), FOREIGN], None),
    "a system that knows no huge pages": (
        [mapping("10000-20000", 48, 44, None), FOREIGN],
        [48, 44, None],
    ),
    "only one of two mappings tells": (
        [mapping("11000-14000", 12, 8, None), mapping("15000-18000", 4, 4)],
        [16, 12, None],
    ),
    "what was swapped out, or is of a pool, was written too": (
        [
            mapping(
                "10000-20000", 48, 12, Swap=16, SwapPss=99, Shared_Hugetlb=4, Private_Hugetlb=8
            ),
            mapping("7f0000-7f1000", 9, 9, Swap=9),
        ],
        [48, 40, 0],
    ),
    "nothing": ([], None),
    "no table": (["Rss: 1 kB\n", "\n", "ff-", "10000-20000"], None),
}


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finder")
    source = folder / "finder.c"
    source.write_text(PROGRAM)
    objects = [compiled(source, *SANITIZERS), compiled(COMMON / "mappings.c", *SANITIZERS)]
    return linked(folder / "finder", *objects, flags=[*SANITIZERS, "-Wl,--wrap=fopen"])


def found(finder: Path, table: Path, *places: str) -> list[str]:
    done = subprocess.run(
        [str(finder), *places],
        env={**os.environ, "TABLE": str(table)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split(" ")


@pytest.mark.parametrize("name", TABLES)
def test_what_the_table_does_not_tell_is_not_known(name: str, finder: Path, tmp_path: Path) -> None:
    rows, expected = TABLES[name]
    table = tmp_path / "smaps"
    table.write_text("".join(rows))
    values = ["none" if kib is None else f"{kib * KIB}" for kib in expected or [None] * 3]
    assert found(finder, table, "11000", "15000") == [WHOLE, *values]


def test_no_buffers_and_no_table(finder: Path, tmp_path: Path) -> None:
    table = tmp_path / "smaps"
    assert found(finder, table, "11000", "15000") == [WHOLE, "none", "none", "none"]
    table.write_text(BOTH)
    assert found(finder, table) == ["0", "none", "none", "none"]


# One buffer with nothing beside it, so that its mapping is its own.
KERNEL = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include "bench.h"

enum { SIZE = 8 << 20, HUGE = 2 << 20, PAGE = 4096 };
enum { UNTOUCHED, READ, WRITTEN, HUGE_PAGES, HALF, NO_BUFFER };
static const struct bench_method methods[] = {
    {.name = "untouched"}, {.name = "read"}, {.name = "written"}, {.name = "huge"},
    {.name = "half"}, {.name = "none"}, {0},
};
static volatile unsigned char *buffer;
static size_t count;

BENCH_TIMED static void timed_nothing(const void *state) {
    (void)state;
}
BENCH_TIMED static void timed_read(const void *state) {
    (void)state;
    for (size_t i = 0; i < SIZE; i += PAGE) {
        (void)buffer[i];
    }
}
BENCH_TIMED static void timed_write(const void *state) {
    (void)state;
    for (size_t i = 0; i < count; i += PAGE) {
        buffer[i] = 1;
    }
}

static struct bench_task prepare(const struct bench_point *point) {
    const int kind = MAP_PRIVATE | MAP_ANONYMOUS;
    unsigned char *room = mmap(NULL, SIZE + 2 * HUGE, PROT_NONE, kind, -1, 0);
    unsigned char *place = room + (HUGE - (uintptr_t)room % HUGE);
    mprotect(place, SIZE, PROT_READ | PROT_WRITE);
    madvise(place, SIZE, point->method == HUGE_PAGES ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    buffer = place;
    count = point->method == HALF ? SIZE / 2 : SIZE;
    struct bench_task task = {.bytes_declared = 1, .buffers = {{place, SIZE}}};
    switch (point->method) {
    case READ:
        task.timed = timed_read;
        break;
    case WRITTEN:
    case HALF:
    case HUGE_PAGES:
        task.timed = timed_write;
        break;
    case NO_BUFFER:
        task.buffers[0].bytes = 0;
        /* fall through */
    default:
        task.timed = timed_nothing;
    }
    return task;
}

/* What the check writes is not what was there while time ran. */
static void check(const struct bench_point *point, struct bench_report *report) {
    (void)point;
    (void)report;
    count = SIZE;
    timed_write(NULL);
}

const struct bench_kernel bench_kernel = {.name = "touch",
                                          .question = "What holds the buffer?",
                                          .methods = methods,
                                          .prepare = prepare,
                                          .check = check};
"""


@pytest.fixture(scope="module")
def touch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("touch") / "touch.c"
    source.write_text(KERNEL)
    return build(source.with_name("touch"), source)


def usage(program: Path, method: str) -> dict[str, Any]:
    counts = "samples=1,warmup=0,loops=1"
    found: dict[str, Any] = outcome(program, f"--point=method={method},{counts}")["usage"]
    return found


def held(program: Path, method: str) -> list[int | None]:
    used = usage(program, method)
    return [used[name] for name in NAMES]


def test_pages_of_zeros_are_told_from_pages_that_were_written(touch: Path) -> None:
    assert held(touch, "written") == [SIZE, SIZE, SIZE, 0]
    assert held(touch, "half") == [SIZE, SIZE // 2, SIZE // 2, 0]
    # Every page was read, and one page of zeros stood for them all.
    assert held(touch, "read") == [SIZE, 0, 0, 0]
    assert held(touch, "untouched") == [SIZE, 0, 0, 0]


def test_faults_are_those_of_the_samples(touch: Path) -> None:
    """The check writes to every page as well, and is not counted."""
    pages = SIZE // os.sysconf("SC_PAGE_SIZE")
    assert usage(touch, "written")["minor_faults"] == pages
    assert usage(touch, "half")["minor_faults"] == pages // 2
    assert usage(touch, "untouched")["minor_faults"] == 0


def refused_huge_pages() -> int:
    """How often this system had none free when one was asked for."""
    (count,) = re.findall(r"(?m)^thp_fault_fallback (\d+)$", Path("/proc/vmstat").read_text())
    return int(count)


def test_huge_pages_are_seen(touch: Path) -> None:
    state = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not state.exists() or "[never]" in state.read_text():
        pytest.skip("this system gives no huge pages")
    before = refused_huge_pages()
    declared, resident, anonymous, huge = held(touch, "huge")
    assert declared == resident == anonymous == SIZE
    if refused_huge_pages() > before:
        pytest.skip("no huge page was free")
    assert huge == SIZE


def test_a_kernel_that_names_no_buffers_has_none(touch: Path) -> None:
    assert held(touch, "none") == [None] * 4


def test_processes_are_added_up(touch: Path) -> None:
    done = kernels.run(touch, "--processes=2", "--point=method=half,samples=1,warmup=0,loops=1")
    (only,) = kernels.points(done.stdout)
    assert [only["usage"][name] for name in NAMES] == [2 * SIZE, SIZE, SIZE, 0]
