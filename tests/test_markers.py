"""likwid's marker regions: what the harness calls of a stand-in for the library, and that nothing
is loaded where nobody counts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from benchbook.evidence.counters import likwid
from kernels import COMMON, KERNELS, LIMIT_S, all_compiled, build, harness, lines, linked

COPY = "method=copy,call=memcpy,samples=2,warmup=1,loops=3"
LOOP = "method=loop,samples=1,warmup=0,loops=1"
NAMES = ("liblikwid.so", "liblikwid.so.5")  # all that the harness asks for
THREADS = 2
two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < THREADS, reason="needs two CPUs")

# Writes down what is called, by which thread and when, into the file that the wrapper would read.
STAND_IN = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void say(const char *what, const char *region) {
    FILE *file = fopen(getenv("LIKWID_FILEPATH"), "a");
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    fprintf(file, "%s%s,%d,%lld\n", what, region, gettid() - getpid(),
            now.tv_sec * 1000000000LL + now.tv_nsec);
    fclose(file);
}
void likwid_markerInit(void) { say("init", ""); }
void likwid_markerThreadInit(void) { say("thread", ""); }
#ifndef OLD
void likwid_markerClose(void) { say("close", ""); }
#endif
int likwid_markerStartRegion(const char *region) { return say("start ", region), 0; }
int likwid_markerStopRegion(const char *region) { return say("stop ", region), -1; }
"""


@pytest.fixture(scope="module")
def mbw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mbw")
    flags = ("-O2", "-fno-builtin-mempcpy")
    return build(folder / "mbw", KERNELS / "mbw" / "mbw.c", flags=flags)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the stand-in."""
    return stand_in(tmp_path_factory.mktemp("library"))


def stand_in(folder: Path, *flags: str) -> Path:
    source = folder / "likwid.c"
    source.write_text(STAND_IN)
    target = str(folder / NAMES[0])
    command = ["gcc", "-shared", "-fPIC", *flags, str(source), "-o", target]
    subprocess.run(command, check=True)
    return folder


def start(
    program: Path, library: Path, file: Path | None, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Start a kernel as the wrapper does, or without `file` as nobody does who counts."""
    asked = {} if file is None else {"LIKWID_FILEPATH": str(file), "LIKWID_MODE": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LIKWID")}
    return subprocess.run(
        [str(program), *arguments],
        env={**kept, **asked, "LD_LIBRARY_PATH": str(library)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def called(file: Path) -> list[tuple[str, int, int]]:
    """What was called, the thread (0: the first one), and when, in ns."""
    rows = [line.split(",") for line in file.read_text().splitlines()]
    return [(word, int(thread), int(now)) for word, thread, now in rows]


def points(*points: str) -> list[str]:
    return ["--bytes=65536", *(f"--point={point}" for point in points)]


def test_each_point_has_a_region_of_its_own(mbw: Path, library: Path, tmp_path: Path) -> None:
    file = tmp_path / "called"
    done = start(mbw, library, file, *points(COPY, LOOP, COPY))
    assert (done.returncode, done.stderr) == (0, "")
    regions = [f"{word} p{index}" for index in range(3) for word in ("start", "stop")]
    calls = called(file)
    assert [word for word, _, _ in calls] == ["init", "thread", *regions, "close"]
    assert {thread for _, thread, _ in calls} == {0}

    # Behind the warm-ups, before the first sample and after the last one.
    when = {word: now for word, _, now in calls}
    for sample in (line for line in lines(done.stdout) if line["kind"] == "sample"):
        first, last = when[f"start p{sample['point']}"], when[f"stop p{sample['point']}"]
        begin, end = sample["t_start_ns"], sample["t_start_ns"] + sample["time_ns"]
        assert end <= first if sample["warm_up"] else first <= begin <= end <= last


def test_regions_have_the_names_that_are_looked_for() -> None:
    text = (COMMON / "markers.h").read_text()
    (name,) = re.findall(r'#define MARKERS_REGION "(.+)"', text)
    assert likwid.region(17) == name.replace("%zu", "17")


def test_nothing_is_loaded_where_nobody_counts(mbw: Path, library: Path, tmp_path: Path) -> None:
    counted = start(mbw, library, tmp_path / "called", *points(COPY))
    # A library that would end the program, were it loaded; the variable set to nothing is not set.
    (tmp_path / NAMES[0]).write_text("no library")
    for asked in ({}, {"LIKWID_FILEPATH": ""}):
        done = subprocess.run(
            [str(mbw), *points(COPY)],
            env={"LD_LIBRARY_PATH": str(tmp_path), "LIKWID_MODE": "1", **asked},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        printed = [[*line] for line in lines(done.stdout)]
        assert printed == [[*line] for line in lines(counted.stdout)]


def test_the_program_needs_no_library(mbw: Path) -> None:
    done = subprocess.run(["readelf", "-d", str(mbw)], capture_output=True, text=True, check=True)
    assert "NEEDED" in done.stdout
    assert "likwid" not in done.stdout


@two_cpus
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_each_thread_enters_the_region(compiler: str, library: Path, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    sources = sorted((KERNELS / "stream").glob("*.c"))
    own = all_compiled(sources, "-O2", "-fopenmp", compiler=compiler)
    program = linked(
        tmp_path / "stream", *own, harness("-O2"), flags=["-fopenmp"], compiler=compiler
    )
    file = tmp_path / "called"
    triad = "method=triad,samples=2,warmup=0,loops=1"
    asked = ["--memory=heap", f"--threads={THREADS}", *points(triad)]
    done = start(program, library, file, *asked)
    assert (done.returncode, done.stderr) == (0, "")
    calls = called(file)
    assert [word for word, _, _ in calls] == [
        "init",
        *["thread"] * THREADS,
        *["start p0"] * THREADS,
        *["stop p0"] * THREADS,
        "close",
    ]
    team = {thread for _, thread, _ in calls}
    assert len(team) == THREADS
    for word in ("thread", "start p0", "stop p0"):
        assert {thread for said, thread, _ in calls if said == word} == team


def test_several_processes_cannot_be_counted(mbw: Path, library: Path, tmp_path: Path) -> None:
    file = tmp_path / "called"
    done = start(mbw, library, file, "--processes=2", *points(COPY))
    assert done.returncode == 77
    reason = lines(done.stdout)[-1]["reason"]
    assert "likwid keeps the counts of one process, and 2 measure" in reason
    assert not file.exists()


def test_a_library_that_is_none_is_named(mbw: Path, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text("no library")
    done = start(mbw, tmp_path, tmp_path / "called", *points(COPY))
    assert done.returncode == 77
    assert "likwid's library cannot be loaded" in done.stderr
    assert NAMES[-1] in done.stderr


def test_a_library_that_lacks_a_function_is_too_old(mbw: Path, tmp_path: Path) -> None:
    done = start(mbw, stand_in(tmp_path, "-DOLD"), tmp_path / "called", *points(COPY))
    assert done.returncode == 77
    assert "has no likwid_markerClose; install likwid 5" in lines(done.stdout)[-1]["reason"]


@pytest.mark.skipif(not shutil.which("likwid-perfctr"), reason="likwid is not installed")
def test_the_real_library_takes_regions_that_it_does_not_count(mbw: Path, tmp_path: Path) -> None:
    """No wrapper said what to count, so it says so and lets the program run."""
    done = subprocess.run(
        [str(mbw), *points(COPY, LOOP)],
        env={"LIKWID_FILEPATH": str(tmp_path / "counts")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert lines(done.stdout)[-1]["status"] == 0
    assert not (tmp_path / "counts").exists()
