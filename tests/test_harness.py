"""The harness, through a small kernel that is one C file and misbehaves when asked to."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kernels import (
    COMMON,
    KERNELS,
    all_compiled,
    build,
    compiled,
    harness,
    lines,
    linked,
    points,
    run,
)

POINT = "samples=3,warmup=2,loops=1"

# Everything that a kernel may bring along: an option, keys, methods, all its faults.
KERNEL = r"""
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include "bench.h"
#include "clock.h"
#include "measure.h"

enum { COUNT, CRASH, NOT_A_NUMBER, INFINITE, WRONG, CANNOT, TOUCH, GARRULOUS, BETWEEN, SERIES };
enum { PAGES = 64, PAUSE_NS = 1000000 };
static const char *const colours[] = {"red", "green", NULL};
static const struct bench_key keys[] = {
    {.name = "size"}, {.name = "colour", .words = colours}, {0}};
static const struct bench_method methods[] = {
    {.name = "count", .keys = 3}, {.name = "crash"},  {.name = "nan"},   {.name = "infinite"},
    {.name = "wrong"},            {.name = "cannot"}, {.name = "touch"}, {.name = "garrulous"},
    {.name = "between"},          {.name = "series"},
    {0},
};
static uint64_t greeting;
static volatile uint64_t calls;
static uint64_t pauses;
static uint64_t series;
static unsigned char *fresh;
static volatile int zero;
const int in_rodata = 1;
int in_data = 1;

BENCH_TIMED static void timed_count(const void *state) {
    (void)state;
    calls++;
}

BENCH_TIMED static void timed_crash(const void *state) {
    *(volatile int *)(uintptr_t)zero = (int)(uintptr_t)state;
}

BENCH_TIMED static void timed_touch(const void *state) {
    (void)state;
    for (size_t page = 0; page < PAGES; page++) {
        ((volatile unsigned char *)fresh)[page * 4096] = 1;
    }
}

static void pause_after_a_call(const void *state) {
    (void)state;
    pauses += calls == pauses + 1;
    for (const uint64_t start = clock_now(); clock_now() - start < PAUSE_NS;) {
    }
}

static void fill(const void *state, struct sample *samples, size_t count) {
    (void)state;
    series++;
    for (size_t i = 0; i < count; i++) {
        samples[i] = (struct sample){.start_ns = 10 * i, .time_ns = 100 * count + i, .cpu = 0};
    }
}

static error_t parse(int key, char *text, struct argp_state *state) {
    (void)state;
    if (key != 'g') {
        return ARGP_ERR_UNKNOWN;
    }
    greeting = parse_number("--greeting ", text, strlen(text), 0, 9);
    return 0;
}
static const struct argp_option options[] = {{.name = "greeting", .key = 'g', .arg = "N"}, {0}};
static const struct argp argp = {.options = options, .parser = parse};

static struct bench_task prepare(const struct bench_point *point) {
    calls = pauses = series = 0;
    if (point->method == CANNOT) {
        cannot_run("no \"hardware\" here; buy some");
    }
    fresh = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(fresh, PAGES * 4096, MADV_NOHUGEPAGE);
    bench_timed *timed = point->method == CRASH   ? timed_crash
                         : point->method == TOUCH ? timed_touch
                                                  : timed_count;
    return (struct bench_task){.timed = timed,
                               .bytes_declared = 8,
                               .between = point->method == BETWEEN ? pause_after_a_call : NULL,
                               .series = point->method == SERIES ? fill : NULL};
}

static void check(const struct bench_point *point, struct bench_report *report) {
    bench_observe_count(report, "calls", calls);
    bench_observe_count(report, "greeting", greeting);
    bench_observe_count(report, "size", point->values[0]);
    bench_observe_count(report, "colour", point->values[1]);
    bench_observe_absent(report, "nothing");
    if (point->method == BETWEEN || point->method == SERIES) {
        bench_observe_count(report, "pauses", pauses);
        bench_observe_count(report, "series", series);
    }
    if (point->method == NOT_A_NUMBER) {
        bench_observe_share(report, "share", (uint64_t)zero, (uint64_t)zero);
        bench_observe_real(report, "root", sqrt((double)zero - 1));
    }
    if (point->method == INFINITE) {
        bench_observe_share(report, "share", 1, (uint64_t)zero);
    }
    if (point->method == WRONG) {
        bench_fail(report, "the first \"reason\" \\ at byte %d", 5);
        bench_fail(report, "a later one");
    }
    for (int i = 0; point->method == GARRULOUS && i < BENCH_OBSERVATIONS_MAX; i++) {
        bench_observe_count(report, "again", 1);
    }
}

const struct bench_kernel bench_kernel = {.name = "tiny",
                                          .question = "Does the harness work?",
                                          .argp = &argp,
                                          .keys = keys,
                                          .methods = methods,
                                          .prepare = prepare,
                                          .check = check};
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("source") / "tiny.c"
    file.write_text(KERNEL)
    return file


@pytest.fixture(scope="module")
def tiny(source: Path) -> Path:
    return build(source.with_name("tiny"), source)


def count(text: str) -> str:
    return f"method=count,size=7,colour=green,{text}"


# What clang warns of does not depend on the level.
@pytest.mark.parametrize(
    ("name", "level"), [("gcc", "-O0"), ("gcc", "-O2"), ("gcc", "-O3"), ("clang", "-O2")]
)
def test_every_file_compiles_without_a_warning(name: str, level: str) -> None:
    for place in ("common", "mbw", "probe"):
        all_compiled(sorted((KERNELS / place).glob("*.[cS]")), level, compiler=name)


def test_lines_come_in_order_and_all_samples_are_kept(tiny: Path) -> None:
    done = run(
        tiny, "--point", count("samples=4,warmup=3,loops=2"), "--point", f"method=touch,{POINT}"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = lines(done.stdout)
    kinds = [line["kind"] for line in found]
    assert kinds == ["start", *["sample"] * 7, "point", *["sample"] * 5, "point", "end"]
    assert found[-1] == {"version": 1, "kind": "end", "status": 0}

    samples = [line for line in found if line["kind"] == "sample"]
    first = [line for line in samples if line["point"] == 0]
    assert [line["sample"] for line in first] == list(range(7))
    assert [line["warm_up"] for line in first] == [True] * 3 + [False] * 4
    ends = [line["t_start_ns"] + line["time_ns"] for line in samples]
    starts = [line["t_start_ns"] for line in samples]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))


def test_the_start_line_names_clock_and_place(tiny: Path) -> None:
    start = lines(run(tiny, "--point", count(POINT)).stdout)[0]
    assert start["kernel"] == "tiny"
    assert start["clock"] == "CLOCK_MONOTONIC_RAW"
    assert isinstance(start["clock_resolution_ns"], int)
    assert 1 <= start["clock_resolution_ns"] <= 1_000_000_000
    assert 0 < start["clock_cost_ns"] < 1_000_000
    assert start["page_bytes"] % 4096 == 0
    assert start["pid"] > 0
    assert start["cpu"] >= 0
    assert start["source_address_mod_4096"] is start["destination_address_mod_4096"] is None


def test_loops_multiply_calls_and_declared_bytes(tiny: Path) -> None:
    (point,) = points(run(tiny, "--point", count("samples=4,warmup=3,loops=5")).stdout)
    assert point["observations"]["calls"] == (4 + 3) * 5
    assert (point["loops"], point["bytes_declared"]) == (5, 8 * 5)


def test_options_and_keys_come_from_the_kernel(tiny: Path) -> None:
    done = run(tiny, "--greeting", "4", "--point", count(POINT), "--point", f"method=touch,{POINT}")
    counted, touched = points(done.stdout)
    seen = {"calls": 5, "greeting": 4, "size": 7, "colour": 1, "nothing": None}
    assert counted["observations"] == seen
    assert touched["observations"]["size"] == 0
    page = run(tiny, "--help")
    assert page.returncode == 0
    assert "method=count size=N colour=red|green" in page.stdout
    assert "--greeting" in page.stdout


def test_usage_is_that_of_the_samples_alone(tiny: Path) -> None:
    usage = [
        points(run(tiny, "--point", f"method=touch,samples=3,warmup={warm_up},loops=1").stdout)
        for warm_up in (0, 1)
    ]
    cold, warm = (point["usage"] for (point,) in usage)
    assert cold["minor_faults"] >= 64 > warm["minor_faults"]
    for used in (cold, warm):
        assert 0 < used["on_cpu_ns"] <= used["wall_ns"]
        assert used["resident_bytes"] > 64 * 4096
        assert used["migrations"] <= 2
        assert set(used) == {
            *("minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"),
            *("run_delay_ns", "on_cpu_ns", "wall_ns", "migrations", "resident_bytes"),
            *("buffers_bytes", "buffers_resident_bytes", "anonymous_bytes", "anon_huge_bytes"),
        }


def test_wall_time_holds_all_samples_and_no_warm_up(tiny: Path) -> None:
    found = lines(run(tiny, "--point", count("samples=2,warmup=2,loops=200000")).stdout)
    samples = [line for line in found if line["kind"] == "sample"]
    (point,) = [line for line in found if line["kind"] == "point"]
    timed = sum(line["time_ns"] for line in samples if not line["warm_up"])
    assert timed <= point["usage"]["wall_ns"]
    first, last = samples[2], samples[-1]
    assert last["t_start_ns"] + last["time_ns"] - first["t_start_ns"] <= point["usage"]["wall_ns"]


def timed(program: Path, point: str) -> tuple[list[tuple[int, int]], dict[str, Any]]:
    """(start, time) of all samples, and what was observed."""
    done = run(program, "--point", point)
    (only,) = points(done.stdout)
    samples = [line for line in lines(done.stdout) if line["kind"] == "sample"]
    return [(line["t_start_ns"], line["time_ns"]) for line in samples], only["observations"]


def test_what_is_done_between_samples_is_in_none_of_them(tiny: Path) -> None:
    samples, seen = timed(tiny, "method=between,samples=4,warmup=2,loops=1")
    assert (seen["calls"], seen["pauses"]) == (6, 6)  # one after each call
    pairs = itertools.pairwise(samples)
    assert all(start - (before + time) >= 1_000_000 for (before, time), (start, _) in pairs)


def test_a_series_has_the_samples_that_the_kernel_filled_in(tiny: Path) -> None:
    samples, seen = timed(tiny, "method=series,samples=3,warmup=2,loops=1")
    assert samples == [(0, 200), (10, 201), (0, 300), (10, 301), (20, 302)]
    assert (seen["series"], seen["calls"]) == (2, 0)
    assert timed(tiny, "method=series,samples=3,warmup=0,loops=1")[1]["series"] == 1
    refused = run(tiny, "--point", "method=series,samples=3,warmup=0,loops=2")
    assert (refused.returncode, "give loops=1" in refused.stderr) == (1, True)


@pytest.mark.parametrize("method", ["nan", "infinite"])
def test_what_is_no_number_fails_and_prints_null(tiny: Path, method: str) -> None:
    done = run(tiny, "--point", f"method={method},{POINT}", "--point", count(POINT))
    bad, good = points(done.stdout)
    assert done.returncode == 1
    assert (bad["status"], bad["reason"]) == ("fail", "share is not a finite number")
    assert bad["observations"]["share"] is None
    assert good["status"] == "ok"
    assert lines(done.stdout)[-1] == {"version": 1, "kind": "end", "status": 1}


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_fast_arithmetic_does_not_hide_a_nan(name: str, source: Path, tmp_path: Path) -> None:
    fast = build(tmp_path / "tiny", source, flags=("-Ofast",), compiler=name)
    done = run(fast, "--point", f"method=nan,{POINT}")
    assert (done.returncode, points(done.stdout)[0]["status"]) == (1, "fail")


def test_a_failed_check_gives_its_first_reason(tiny: Path) -> None:
    done = run(tiny, "--point", f"method=wrong,{POINT}")
    (point,) = points(done.stdout)
    assert done.returncode == 1
    assert point["reason"] == 'the first "reason" \\ at byte 5'


def test_too_many_observations_fail(tiny: Path) -> None:
    done = run(tiny, "--point", f"method=garrulous,{POINT}")
    (point,) = points(done.stdout)
    assert (done.returncode, point["status"]) == (1, "fail")
    assert "more than 32" in point["reason"]


def test_a_crash_leaves_whole_lines_and_no_end(tiny: Path) -> None:
    done = run(tiny, "--point", count(POINT), "--point", f"method=crash,{POINT}")
    assert done.returncode == -signal.SIGSEGV
    found = lines(done.stdout)
    assert [line["kind"] for line in found] == ["start", *["sample"] * 5, "point"]


def test_cannot_run_says_why_twice(tiny: Path) -> None:
    done = run(tiny, "--point", count(POINT), "--point", f"method=cannot,{POINT}")
    assert done.returncode == 77
    assert done.stderr == 'no "hardware" here; buy some\n'
    end = lines(done.stdout)[-1]
    assert end == {"version": 1, "kind": "end", "status": 77, "reason": done.stderr.strip()}


def test_results_that_cannot_be_written_are_an_error(tiny: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(tiny), "--point", count(POINT)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "could not be written" in done.stderr


BAD_ARGUMENTS = {
    "": "at least one --point",
    "--unknown": "'--unknown' is unknown",
    "--greeting": "'--greeting' is unknown, or its value is missing",
    "--greeting 10": "'10' is not a whole number from 0 to 9",
    "--seed -1": "'-1' is not a whole number",
    "--seed 18446744073709551616": "18446744073709551616",
    "--source-offset 4096": "from 0 to 4095",
    "--destination-offset 12": "12 is not a multiple of 8",
    f"--source-offset 8 --point {count(POINT)}": "no buffer",
    "stray": "'stray' belongs to no option",
    "--point x": "KEY=VALUE",
    "--point method=count,": "KEY=VALUE",
    "--point =": "unknown key ''",
    f"--point {POINT}": "lacks method=",
    f"--point method=none,{POINT}": "method=none is no method of tiny",
    f"--point method=coun,{POINT}": "method=coun is no method",
    "--point method=touch,samples=1,warmup=1": "lacks loops=",
    f"--point method=touch,{POINT},loops=1": "loops= twice",
    f"--point method=touch,{POINT},size=1": "touch does not take",
    f"--point method=count,{POINT},size=1": "lacks colour=",
    f"--point method=count,{POINT},size=1x,colour=red": "size='1x' is not a whole number",
    f"--point method=count,{POINT},size=1,colour=blue": "colour=blue",
    f"--point method=touch,{POINT},speed=1": "unknown key 'speed'",
    "--point method=touch,samples=0,warmup=0,loops=1": "samples='0'",
    "--point method=touch,samples=1,warmup=0,loops=0": "loops='0'",
    "--point method=touch,samples=99999999,warmup=0,loops=1": "99999999",
    f"--point method=touch,{POINT} " * 65: "more than 64",
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS, ids=lambda text: text[:50])
def test_bad_arguments_are_refused_in_one_sentence(tiny: Path, arguments: str) -> None:
    done = run(tiny, *arguments.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert BAD_ARGUMENTS[arguments] in done.stderr
    assert done.stderr.count("\n") == 1


def commented(source: Path, folder: Path) -> Path:
    """A copy in which every line has moved: comments above and inside."""
    text = re.sub(
        r"(?m)^(static |BENCH_TIMED |#include )", r"/* a new\n * comment */\n\1", source.read_text()
    )
    target = folder / source.name
    target.write_text(f"/* more to\n * read */\n{text}")
    return target


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_a_comment_changes_nothing_in_the_binary(name: str, tmp_path: Path) -> None:
    sources = [*sorted(COMMON.glob("*.c")), KERNELS / "mbw" / "mbw.c"]
    (tmp_path / "text").mkdir()
    binaries = []
    for version in (sources, [commented(source, tmp_path / "text") for source in sources]):
        objects = all_compiled(version, "-O2", compiler=name)
        binaries.append(linked(tmp_path / "mbw", *objects, compiler=name).read_bytes())
    assert binaries[0] == binaries[1]


def symbols(program: Path) -> dict[str, int]:
    text = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_padding_moves_code_and_data_and_nothing_else(
    name: str, source: Path, tmp_path: Path
) -> None:
    own = compiled(source, "-O2", compiler=name)
    padding = compiled(COMMON / "padding.S", "-DBENCH_PADDING_BYTES=1504", compiler=name)
    common = harness("-O2", compiler=name)
    plain = symbols(linked(tmp_path / "plain", own, common, compiler=name))
    relinked = linked(tmp_path / "relinked", padding, own, common, compiler=name)
    moved = symbols(relinked)
    assert set(plain) == set(moved)
    for place in ("timed_count", "in_rodata", "in_data", "calls"):
        assert moved[place] > plain[place], place
    assert moved["timed_count"] % 4096 != plain["timed_count"] % 4096
    assert run(relinked, "--point", count(POINT)).returncode == 0
    headers = subprocess.run(
        ["readelf", "-lW", str(relinked)], capture_output=True, text=True, check=True
    ).stdout
    (stack,) = [line for line in headers.splitlines() if "GNU_STACK" in line]
    assert " RWE " not in stack
