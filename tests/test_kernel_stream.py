"""The stream kernel: every method does exactly what it is defined to do, and a changed one is
caught, whatever the flags."""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kernels import COMMON, KERNELS, all_compiled, compiled, harness, linked, outcome, run

FOLDER = KERNELS / "stream"
LOOPS = FOLDER / "loops.c"
CEILINGS = FOLDER / "ceilings.c"
SOURCES = [FOLDER / "stream.c", CEILINGS, LOOPS]
MIB = 1 << 20
DECLARED = {
    "copy": 2,
    "scale": 2,
    "add": 3,
    "triad": 3,
    "copy-nt": 2,
    "copy-nt-256": 2,
    "copy-movsb": 2,
    "read": 1,
    "write": 1,
    "write-nt": 1,
}
METHODS = list(DECLARED)
IN_VECTORS = ("copy-nt", "copy-nt-256", "read", "write", "write-nt")
MEMORIES = ["static", "heap"]
on_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="written for x86-64 only")
two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")


@functools.cache
def has_openmp(compiler: str) -> bool:
    command = [compiler, "-fopenmp", "-include", "omp.h", "-x", "c", "-", "-o", "/dev/null"]
    program = "int main(void) { return omp_get_num_procs() < 1; }"
    return subprocess.run(command, input=program.encode(), check=False).returncode == 0


def make(target: Path, *flags: str, compiler: str = "gcc") -> Path:
    """The kernel, its harness always by the same compiler."""
    if "-fopenmp" in flags and shutil.which(compiler) and not has_openmp(compiler):
        pytest.skip(f"{compiler} has no OpenMP here")
    own = all_compiled(SOURCES, *flags, compiler=compiler)
    return linked(target, *own, harness("-O2"), flags=flags, compiler=compiler)


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("stream") / "stream", "-O2")


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("parallel") / "stream", "-O2", "-fopenmp")


def point(method: str, warm_up: int = 1) -> str:
    return f"--point=method={method},samples=2,warmup={warm_up},loops=2"


def size(number: int, memory: str = "heap", threads: int = 1) -> list[str]:
    return [f"--bytes={number}", f"--memory={memory}", f"--threads={threads}"]


def points(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert (done.returncode, done.stderr) == (0, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [line for line in found if line["kind"] == "point"]


def end(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """The status of a start that could not go on, and its reason, which is said twice."""
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["kind"], last["status"]) == ("end", done.returncode)
    assert done.stderr == last["reason"] + "\n"
    return done.returncode, last["reason"]


def do_everything(program: Path, number: int, memory: str, threads: int = 1) -> None:
    """All methods in one start, each after one that overwrote what it reads."""
    order = [*METHODS, *reversed(METHODS)]
    offsets = ["--source-offset=8", "--destination-offset=4088", "--seed=5"]
    done = run(program, *size(number, memory, threads), *offsets, *map(point, order))
    for method, found in zip(order, points(done), strict=True):
        seen = dict(found["observations"])
        bits = seen.pop("vector_bits", None)
        assert (bits in (128, 256, 512)) == (method in IN_VECTORS)
        assert seen == {
            "work_done_fraction": 1,
            "mean_relative_error": 0,
            "threads_used": threads,
        }, method
        assert found["bytes_declared"] == DECLARED[method] * number * 2


@on_x86_64
@pytest.mark.parametrize("number", [64, 64 * 1001])
@pytest.mark.parametrize("memory", MEMORIES)
def test_every_method_does_what_it_declares(stream: Path, memory: str, number: int) -> None:
    do_everything(stream, number, memory)


@on_x86_64
@two_cpus
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("turns", [1, 3])
def test_points_work_on_parts_of_the_arrays(parallel: Path, memory: str, turns: int) -> None:
    """Each finds the whole right, whatever the one before, of another size, has overwritten."""
    whole, parts = 64 * 1001, [64, 64 * 1001, 64 * 500, 64 * 777]
    order = [(method, part) for part in parts for method in METHODS]
    words = [
        f"--point=method={method},samples=3,warmup=1,loops=2,bytes={part}" for method, part in order
    ]
    done = run(parallel, *size(whole, memory, threads=2), f"--turns={turns}", "--seed=3", *words)
    for (method, part), found in zip(order, points(done), strict=True):
        assert found["bytes_declared"] == DECLARED[method] * part * 2
        assert found["observations"]["work_done_fraction"] == 1, (method, part)
    (own,) = points(run(parallel, *size(whole, memory, threads=2), point("copy")))
    assert own["bytes_declared"] == 2 * whole * 2


def test_help_says_that_a_part_may_be_left_out(stream: Path) -> None:
    assert "  method=copy [bytes=N]" in run(stream, "--help").stdout


@on_x86_64
@two_cpus
@pytest.mark.parametrize("memory", MEMORIES)
def test_two_threads_share_the_work(parallel: Path, memory: str) -> None:
    do_everything(parallel, 64 * 1001, memory, threads=2)
    do_everything(parallel, 64, memory, threads=1)


@two_cpus
def test_waits_of_every_thread_are_counted(parallel: Path) -> None:
    """The file of the process itself would tell of its first thread only."""
    first, second = sorted(os.sched_getaffinity(0))[:2]
    places = f"OMP_PLACES={{{first}}},{{{second}}}"
    busy = subprocess.Popen(["taskset", "-c", str(second), "sh", "-c", "while :; do :; done"])
    try:
        words = ["taskset", "-c", f"{first},{second}", "env", "OMP_PROC_BIND=true", places]
        point = "method=triad,samples=20,warmup=1,loops=1"
        arguments = ("--bytes=16777216", "--memory=heap", "--threads=2", f"--point={point}")
        (only,) = points(run(parallel, *arguments, under=words))
    finally:
        busy.kill()
        busy.wait()
    if only["usage"]["run_delay_ns"] is None:
        pytest.skip("this system accounts no waiting")
    # The second thread shares its CPU with the loop, and waits for about half of the time.
    assert only["usage"]["run_delay_ns"] > only["usage"]["wall_ns"] / 10


@on_x86_64
@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("gcc", "-O0 -fopenmp"),
        ("gcc", "-Ofast -march=native -fopenmp"),
        ("clang", "-Ofast -march=native -fopenmp"),
    ],
)
def test_flags_change_no_result(compiler: str, flags: str, tmp_path: Path) -> None:
    program = make(tmp_path / "stream", *flags.split(), compiler=compiler)
    for memory in MEMORIES:
        do_everything(program, 64 * 101, memory)


@on_x86_64
@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("gcc", "-O3 -mcmodel=medium"),
        ("gcc", "-O3 -march=x86-64-v3 -mcmodel=large"),
        ("clang", "-O0"),
        ("clang", "-O2 -mcmodel=large"),
    ],
)
def test_code_models_reach_the_static_arrays(compiler: str, flags: str, tmp_path: Path) -> None:
    loops = compiled(LOOPS, *flags.split(), compiler=compiler)
    other = [*all_compiled(SOURCES[:2], "-O2"), harness("-O2")]
    do_everything(linked(tmp_path / "stream", loops, *other), 64 * 101, "static")


def test_heap_arrays_stand_where_they_are_asked_to(stream: Path) -> None:
    done = run(stream, *size(4096), "--source-offset=4088", "--destination-offset=64", point("add"))
    start = json.loads(done.stdout.splitlines()[0])
    assert (start["source_address_mod_4096"], start["destination_address_mod_4096"]) == (4088, 64)
    assert start["layout"] == "random"


def test_static_arrays_stand_where_the_linker_put_them(stream: Path) -> None:
    asked = [*size(4096, "static"), point("copy")]
    starts = [
        json.loads(run(stream, *asked, *offset).stdout.splitlines()[0])
        for offset in ([], ["--source-offset=4088", "--destination-offset=64"])
    ]
    assert {start["layout"] for start in starts} == {"fixed"}
    names = ("source_address_mod_4096", "destination_address_mod_4096")
    first, second = ([start[name] for name in names] for start in starts)
    assert first == second
    assert all(place % 64 == 0 for place in first)


def test_untouched_capacity_costs_no_memory(stream: Path) -> None:
    found = outcome(stream, *size(MIB, "static"), point("add", warm_up=0))
    assert 3 * MIB < found["usage"]["resident_bytes"] < 32 * MIB
    assert found["usage"]["minor_faults"] < 100


@pytest.mark.parametrize("memory", MEMORIES)
def test_no_page_is_first_touched_while_timed(stream: Path, memory: str) -> None:
    found = outcome(stream, *size(4 * MIB, memory), point("triad", warm_up=0))
    assert found["usage"]["minor_faults"] < 100
    assert found["usage"]["buffers_bytes"] == 3 * 4 * MIB <= found["usage"]["anonymous_bytes"]


# Faults of a compiler or of a hand: method -> where, before, after, the reason given.
MUTATIONS = {
    "copy": (
        "loops.c",
        "i < n; i++) {\n        to[i] = from[i];",
        "i + 1 < n; i++) {\n        to[i] = from[i];",
        "1 of 1024 elements of c are not what copy defines, element 1023 first",
    ),
    "scale": (
        "loops.c",
        "to[i] = STREAM_SCALAR * from[i];",
        "to[i] = STREAM_SCALAR * from[0];",
        "elements of b are not what scale defines, element 1 first",
    ),
    "add": (
        "loops.c",
        "to[i] = from[i] + other[i];",
        "(void)from, (void)other, (void)to;",
        "1024 of 1024 elements of c are not what add defines, element 0 first",
    ),
    "triad": (
        "loops.c",
        "to[i] = from[i] + STREAM_SCALAR * other[i];",
        "to[i] = from[i] + (STREAM_SCALAR + 1e-15) * other[i];",
        "elements of a are not what triad defines",
    ),
    "read": (
        "vectors.h",
        "s7 += OPERATION(load_pd)(from + i + 7 * LANES);",
        "s7 += OPERATION(load_pd)(from + i + 6 * LANES);",
        "the sum over a that was read is wrong",
    ),
    "write": (
        "vectors.h",
        "OPERATION(store_pd)(to + i + k, value);",
        "OPERATION(store_pd)(to + i + k, value + 1e-15);",
        "elements of c are not what write defines",
    ),
    "write-nt": (
        "vectors.h",
        "OPERATION(stream_pd)(to + i + k, value);",
        "if (i != 512) OPERATION(stream_pd)(to + i + k, value);",
        "elements of c are not what write-nt defines",
    ),
}


@on_x86_64
def test_wrong_methods_are_caught_under_ofast(tmp_path: Path) -> None:
    folder = tmp_path / "stream"
    shutil.copytree(FOLDER, folder)
    for name, before, after, _ in MUTATIONS.values():
        text = (folder / name).read_text()
        assert text.count(before) == 1
        (folder / name).write_text(text.replace(before, after))
    program = tmp_path / "program"
    own = all_compiled([folder / source.name for source in SOURCES], "-Ofast")
    linked(program, *own, harness("-O2"), flags=["-Ofast"])
    done = run(program, *size(8192), *map(point, [*MUTATIONS, "copy-nt"]))
    found = [json.loads(line) for line in done.stdout.splitlines()]
    *wrong, right = [line for line in found if line["kind"] == "point"]
    assert (right["status"], done.returncode) == ("ok", 1)
    for (method, (*_, reason)), line in zip(MUTATIONS.items(), wrong, strict=True):
        assert line["status"] == "fail", method
        assert reason in line["reason"]
        assert line["observations"]["work_done_fraction"] < 1
        error = line["observations"]["mean_relative_error"]
        left_poisoned = method in ("copy", "add", "write-nt")
        assert error is None if left_poisoned else error > 0


def test_a_source_that_was_written_to_is_made_good_again(tmp_path: Path) -> None:
    before, after = "to[i] = from[i];", "to[i] = from[i], ((double *)from)[i] += i == 77;"
    text = LOOPS.read_text()
    assert text.count(before) == 1
    (tmp_path / "loops.c").write_text(text.replace(before, after))
    changed = compiled(tmp_path / "loops.c", "-O2", f"-I{FOLDER}")
    own = [*all_compiled(SOURCES[:2], "-O2"), changed]
    program = linked(tmp_path / "program", *own, harness("-O2"))
    done = run(program, *size(8192), point("copy"), point("add"))
    found = [json.loads(line) for line in done.stdout.splitlines()]
    first, second = [line for line in found if line["kind"] == "point"]
    assert (first["status"], second["status"]) == ("fail", "ok")
    assert first["reason"] == "a was written to, at element 77 first"


DOUBLES = r"""
#include <math.h>
#include <stdio.h>
#include "doubles.h"

enum { COUNT = 1003, PART = 501 };
static double right[COUNT], wrong[COUNT];
static struct doubles_expected expected;

static void tell(const char *name, struct doubles_found found) {
    const struct doubles_verdict verdict = doubles_judge(found);
    printf("%s %d %d %zu %zu %a\n", name, verdict.good, verdict.has_error, found.right,
           found.first_wrong, verdict.has_error ? verdict.mean_relative_error : -1);
}

static void change(const char *name, size_t index, double value) {
    for (size_t i = 0; i < COUNT; i++) {
        wrong[i] = i == index ? value : right[i];
    }
    tell(name, doubles_join(doubles_survey(&expected, wrong + PART, PART, COUNT - PART),
                            doubles_survey(&expected, wrong, 0, PART)));
}

int main(void) {
    volatile double huge = 1e308;
    double nan;
    doubles_poison(&nan, 1);
    const struct doubles a = doubles_make(1, 0), b = doubles_make(1, 1), other = doubles_make(2, 0);
    expected = (struct doubles_expected){.values = {a, b}, .factors = {1, 3}};
    size_t odd = 0, equal = 0;
    double sum = 0;
    doubles_fill(a, right, 0, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const double value = doubles_value(a, i), units = value * 65536;
        odd += value != right[i] || value < 1 || value >= 2 || units != floor(units);
        equal += value == doubles_value(a, i + 1) || value == doubles_value(a, i + 8);
        equal += value == doubles_value(b, i) || value == doubles_value(other, i);
        equal += doubles_value(doubles_same(a), i) != doubles_value(a, 0);
        sum += value;
        right[i] = value + 3 * doubles_value(b, i);
    }
    printf("values %zu %zu\n", odd, equal);
    tell("right", doubles_survey(&expected, right, 0, COUNT));
    change("first", 0, right[0] + 1);
    change("last", COUNT - 1, right[COUNT - 1] * 2);
    change("one-ulp", 700, nextafter(right[700], 100));
    change("nan", COUNT - 1, nan);
    change("infinite", 3, huge * 10);
    doubles_poison(wrong, COUNT);
    tell("poison", doubles_survey(&expected, wrong, 0, COUNT));
    tell("shifted", doubles_survey(&expected, right, 1, COUNT));
    tell("sum", doubles_survey_sum(a, 0, COUNT, sum));
    tell("sum-of-less", doubles_survey_sum(a, 0, COUNT, sum - doubles_value(a, 5)));
    tell("sum-nan", doubles_survey_sum(a, 0, COUNT, nan));
    tell("nothing-wrong-in-nothing", doubles_join(doubles_survey(&expected, right, 0, 0),
                                                  doubles_survey(&expected, right, 0, COUNT)));
}
"""


def test_what_is_wrong_in_an_array_is_found(tmp_path: Path) -> None:
    (tmp_path / "driver.c").write_text(DOUBLES)
    driver = compiled(tmp_path / "driver.c", "-Ofast")
    library = harness("-O2")
    program = linked(tmp_path / "driver", driver, library, flags=["-Ofast"])
    rows = [line.split() for line in run(program).stdout.splitlines()]
    assert rows.pop(0) == ["values", "0", "0"]
    none = (1 << 64) - 1
    found = {
        name: (bool(int(good)), bool(int(known)), int(right), int(first), float.fromhex(error))
        for name, good, known, right, first, error in rows
    }
    assert found["right"] == found["sum"] == (True, True, 1003, none, 0)
    assert found["nothing-wrong-in-nothing"] == found["right"]
    assert found["nan"] == (False, False, 1002, 1002, -1)
    assert found["infinite"] == (False, False, 1002, 3, -1)
    assert found["poison"] == (False, False, 0, 0, -1)
    assert found["sum-nan"] == (False, False, 0, 0, -1)
    assert found["last"] == (False, True, 1002, 1002, pytest.approx(1 / 1003, rel=1e-9))
    assert found["first"][:4] == (False, True, 1002, 0)
    good, known, right, first, error = found["one-ulp"]
    assert (good, known, right, first) == (False, True, 1002, 700)
    assert 0 < error < 1e-13  # STREAM's mean alone would let it pass
    good, known, right, first, error = found["shifted"]
    assert (good, known, first) == (False, True, 1)
    assert right < 10
    assert error > 0.01
    assert found["sum-of-less"][:3] == (False, True, 0)
    assert found["sum-of-less"][4] == pytest.approx(1 / 1003, rel=1)


VECTORS = r"""
#include <stdio.h>
#include "ceilings.c"

enum { ROOM = 300 };
static _Alignas(64) double from[ROOM], to[ROOM];

static int wrong_of(const struct vectors *vectors, size_t offset, size_t other, size_t count) {
    int wrong = 0;
    for (int method = COPY_NT; method <= WRITE_NT; method++) {
        struct stream_part part = {
            .to = to + offset, .from = from + other, .count = count, .value = 7};
        double sum = 0;
        for (size_t i = 0; i < ROOM; i++) {
            from[i] = (double)i + 1;
            to[i] = -1;
        }
        vectors->bodies[method](&part);
        for (size_t i = 0; i < count; i++) {
            sum += from[other + i];
        }
        for (size_t i = 0; i < ROOM; i++) {
            const int inside = i >= offset && i < offset + count && method != READ;
            const double wanted = method >= WRITE ? 7 : from[i - offset + other];
            wrong += from[i] != (double)i + 1 || to[i] != (inside ? wanted : -1);
        }
        wrong += method == READ && part.sum != sum;
    }
    return wrong;
}

static void try(const char *name, int supported, const struct vectors *vectors) {
    int wrong = 0;
    for (size_t offset = 0; supported && offset < 8; offset++) {
        for (size_t count = 0; count < 200; count++) {
            wrong += wrong_of(vectors, 8 + offset, 8 + 3 * offset % 8, count);
        }
    }
    printf("%s %s %d\n", name, supported ? "ran" : "lacks", wrong);
}

int main(void) {
    try("avx512", __builtin_cpu_supports("avx512f"), &avx512);
    try("avx", __builtin_cpu_supports("avx"), &avx);
    try("sse2", 1, &sse2);
    printf("%d\n", (int)ceilings_vector_bits(READ));
}
"""


@on_x86_64
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_vectors_of_each_length_touch_all_and_nothing_else(compiler: str, tmp_path: Path) -> None:
    (tmp_path / "driver.c").write_text(VECTORS)
    driver = compiled(tmp_path / "driver.c", "-O2", f"-I{FOLDER}", compiler=compiler)
    done = run(linked(tmp_path / "driver", driver, compiler=compiler))
    *rows, chosen = done.stdout.splitlines()
    ran = {name for name, state, wrong in map(str.split, rows) if (state, wrong) == ("ran", "0")}
    lacks = {name for name, state, _ in map(str.split, rows) if state == "lacks"}
    assert ran | lacks == {"avx512", "avx", "sse2"}
    assert "sse2" in ran
    bits = {"avx512": 512, "avx": 256, "sse2": 128}
    assert int(chosen) == max(bits[name] for name in ran)


def test_compiled_in_size_is_the_only_one_for_static_arrays(tmp_path: Path) -> None:
    own = [*all_compiled(SOURCES[:2], "-O2"), compiled(LOOPS, "-O2", "-DSTREAM_ARRAY_SIZE=1000")]
    program = linked(tmp_path / "stream", *own, harness("-O2"))
    assert outcome(program, *size(8000, "static"), point("triad"))["status"] == "ok"
    assert outcome(program, *size(64000), point("triad"))["status"] == "ok"
    for number in (7936, 8064):
        done = run(program, *size(number, "static"), point("triad"))
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert f"--bytes {number} is not the size" in done.stderr
        assert "give 8000" in done.stderr
    part = run(program, *size(8000, "static"), f"{point('triad')},bytes=64")
    assert (part.returncode, part.stdout) == (1, "")
    assert "bytes=64 is less than the static arrays" in part.stderr


@on_x86_64
def test_nothing_but_the_arrays_meets_the_limit_of_the_code_model(tmp_path: Path) -> None:
    """The last of three arrays of 1.04 GB begins below 2 GiB and ends beyond."""
    other = [*all_compiled(SOURCES[:2], "-O2"), harness("-O2")]
    inside = compiled(LOOPS, "-O2", "-DSTREAM_ARRAY_SIZE=130000000")
    program = linked(tmp_path / "inside", inside, *other)
    assert outcome(program, *size(64000), point("copy"))["status"] == "ok"
    flags = ("-O2", "-mcmodel=large")
    beyond = compiled(LOOPS, *flags, "-DSTREAM_ARRAY_SIZE=1000000000")
    program = linked(tmp_path / "beyond", beyond, *other, flags=flags)
    assert outcome(program, *size(64000), point("copy"))["status"] == "ok"


def test_more_than_the_capacity_cannot_run(stream: Path) -> None:
    done = run(stream, *size(640 * MIB + 64, "static"), point("copy"))
    assert end(done) == (
        77,
        f"the static arrays hold at most {640 * MIB} bytes; ask for fewer or for --memory heap",
    )


def test_memory_that_cannot_be_had_is_no_failure(stream: Path) -> None:
    limit = f"--as={2300 * MIB}"  # the static arrays fit in
    done = run(stream, *size(1024 * MIB), point("copy"), under=("prlimit", limit))
    status, reason = end(done)
    assert status == 77
    assert str(1024 * MIB) in reason
    assert end(run(stream, *size(9223372036854775744), point("copy")))[0] == 77


def test_threads_need_openmp(stream: Path) -> None:
    status, reason = end(run(stream, *size(4096, threads=2), point("copy")))
    assert status == 77
    assert "built without OpenMP" in reason


@two_cpus
def test_threads_that_cannot_be_had_are_no_failure(parallel: Path) -> None:
    cpu = str(min(os.sched_getaffinity(0)))
    asked = [*size(4096, threads=2), point("copy")]
    status, reason = end(run(parallel, *asked, under=("taskset", "--cpu-list", cpu)))
    assert (status, "2 threads need as many CPUs, and 1 may be used" in reason) == (77, True)
    status, reason = end(run(parallel, *asked, under=("env", "OMP_THREAD_LIMIT=1")))
    assert (status, "OpenMP grants 1 of 2 threads" in reason) == (77, True)


@on_x86_64
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sanitizers_find_nothing(compiler: str, tmp_path: Path) -> None:
    flags = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags += ["-DSTREAM_CAPACITY_BYTES=8256"]
    own = all_compiled([*SOURCES, COMMON / "doubles.c"], *flags, compiler=compiler)
    program = tmp_path / "stream"
    linked(program, *own, harness("-O2"), flags=flags, compiler=compiler)
    for memory in MEMORIES:
        do_everything(program, 8256, memory)


BAD_ARGUMENTS = {
    "--bytes=100 --memory=heap": "100 is not a multiple of 64",
    "--bytes=0 --memory=heap": "'0' is not a whole number from 64",
    "--bytes=-64 --memory=heap": "'-64' is not a whole number",
    "--bytes=1e6 --memory=heap": "'1e6' is not a whole number",
    "--bytes=18446744073709551616 --memory=heap": "'18446744073709551616' is not a whole number",
    "--memory=heap": "--bytes is missing",
    "--bytes=64": "--memory is missing",
    "--bytes=64 --memory=stack": "--memory 'stack' is neither static nor heap",
    "--bytes=64 --memory=heap --threads=0": "--threads '0' is not a whole number from 1",
    "--bytes=64 --memory=heap --threads=two": "--threads 'two'",
    "--bytes=64 --memory=heap --size=3": "'--size=3' is unknown",
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_in_one_sentence(stream: Path, arguments: str) -> None:
    done = run(stream, *arguments.split(), point("copy"))
    assert (done.returncode, done.stdout) == (1, "")
    assert BAD_ARGUMENTS[arguments] in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("part", [100, 128])
def test_a_part_that_fits_no_array_is_refused(stream: Path, part: int) -> None:
    done = run(stream, *size(64), f"{point('copy')},bytes={part}")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"bytes={part} is not a multiple of 64 up to --bytes 64" in done.stderr


def test_an_unknown_method_is_refused(stream: Path) -> None:
    done = run(stream, *size(64), point("copy-nta"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "method=copy-nta is no method of stream" in done.stderr


def test_a_size_that_is_no_whole_line_is_no_array(tmp_path: Path) -> None:
    command = ["gcc", f"-I{COMMON}", "-DSTREAM_ARRAY_SIZE=1001", "-c", str(LOOPS)]
    command += ["-o", str(tmp_path / "loops.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "arrays must be whole cache lines" in done.stderr
