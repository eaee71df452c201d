"""The mbw kernel: every form does exactly what it is defined to do, and a changed one is caught."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import kernels
from kernels import KERNELS, compiled, lines, outcome, points, run

SOURCE = KERNELS / "mbw" / "mbw.c"
FLAGS = ("-fno-builtin-mempcpy",)
MIB = 1 << 20
BLOCKS = ["block-1.1.1", "block-1.2.2", "block-1.3.0"]
CALLS = ["memcpy", "mempcpy"]
COMPILERS = ["gcc", "clang"]


def build(
    target: Path, source: Path = SOURCE, *flags: str, name: str = "gcc", common: tuple = ("-O2",)
) -> Path:
    return kernels.build(
        target, source, flags=(*FLAGS, *(flags or ("-O2",))), common=common, compiler=name
    )


@pytest.fixture(scope="module")
def mbw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("mbw") / "mbw")


def point(method: str, block_bytes: int = 4096, call: str = "mempcpy", warm_up: int = 1) -> str:
    own = "" if method == "loop" else f",call={call}"
    own += f",block_bytes={block_bytes}" if method in BLOCKS else ""
    return f"--point=method={method},samples=2,warmup={warm_up},loops=2{own}"


def seen(
    work_done: float, written: float, distinct: int, last: int | None, declared: int
) -> dict[str, float | None]:
    return {
        "work_done_fraction": work_done,
        "destination_written_fraction": written,
        "distinct_source_blocks": distinct,
        "last_source_block": last,
        "blocks_declared": declared,
    }


EXPECTED = {
    "copy": seen(1, 1, 1, 0, 1),
    "loop": seen(1, 1, 1, 0, 1),
    "block-1.1.1": seen(1 / 2048, 1 / 2048, 1, 0, 2048),
    "block-1.2.2": seen(1 / 2048, 1, 1, 0, 2048),
    "block-1.3.0": seen(1, 1, 2048, 2047, 2048),
}


@pytest.mark.parametrize("level", ["-O0", "-Ofast"])
@pytest.mark.parametrize("name", COMPILERS)
def test_8_mib_in_4_kib_blocks(name: str, level: str, tmp_path: Path) -> None:
    program = build(tmp_path / "mbw", SOURCE, level, "-march=native", name=name)
    for method, expected in EXPECTED.items():
        for call in CALLS:
            only = outcome(program, f"--bytes={8 * MIB}", point(method, call=call))
            assert (only["status"], only["reason"]) == ("ok", "")
            assert only["observations"] == expected, method
            assert only["bytes_declared"] == 2 * 8 * MIB


@pytest.mark.parametrize("call", CALLS)
def test_the_last_block_may_be_shorter(mbw: Path, call: str) -> None:
    found = {
        method: outcome(mbw, "--bytes=1088", point(method, 512, call))["observations"]
        for method in BLOCKS
    }
    assert found["block-1.1.1"] == seen(512 / 1088, 512 / 1088, 1, 0, 3)
    assert found["block-1.2.2"] == seen(512 / 1088, 1, 1, 0, 3)
    assert found["block-1.3.0"] == seen(1, 1, 3, 2, 3)


@pytest.mark.parametrize("method", BLOCKS)
def test_one_block_is_a_whole_copy(mbw: Path, method: str) -> None:
    only = outcome(mbw, "--bytes=4096", point(method, 4096))
    assert only["observations"] == seen(1, 1, 1, 0, 1)


@pytest.mark.parametrize(("source", "destination"), [(0, 0), (8, 4088), (2048, 64)])
def test_buffers_stand_where_they_are_asked_to(mbw: Path, source: int, destination: int) -> None:
    offsets = [f"--source-offset={source}", f"--destination-offset={destination}"]
    done = run(mbw, "--bytes=65536", *offsets, "--seed=9", *map(point, EXPECTED))
    assert done.returncode == 0, done.stdout
    start = lines(done.stdout)[0]
    assert start["source_address_mod_4096"] == source
    assert start["destination_address_mod_4096"] == destination


def test_no_page_is_first_touched_while_timed(mbw: Path) -> None:
    only = outcome(mbw, f"--bytes={8 * MIB}", point("copy", warm_up=0))
    assert only["usage"]["minor_faults"] < 100
    assert only["usage"]["resident_bytes"] > 16 * MIB
    assert only["usage"]["buffers_bytes"] == 16 * MIB <= only["usage"]["anonymous_bytes"]


COPY_1_3_0 = "copy.source += copy.block_bytes;"
MUTATIONS = {
    "1.3.0 forgets its source": ("block-1.3.0", COPY_1_3_0, "", "from byte 4096 (block 1)"),
    "1.3.0 skips the first block": (
        "block-1.3.0",
        "timed_block_1_3_0_mempcpy(const void *state) {\n"
        "    struct copy copy = *(const struct copy *)state;",
        "timed_block_1_3_0_mempcpy(const void *state) {\n"
        "    struct copy copy = *(const struct copy *)state;\n"
        "    copy.destination += 64, copy.source += 64, copy.bytes -= 64;",
        "from byte 0 (block 0)",
    ),
    "1.1.1 moves its destination": (
        "block-1.1.1",
        "        bench_barrier(mempcpy(copy.destination, copy.source, copy.block_bytes));",
        "        copy.destination = mempcpy(copy.destination, copy.source, copy.block_bytes);",
        "from byte 4096 (block 1)",
    ),
    "1.1.1 does nothing": (
        "block-1.1.1",
        "        bench_barrier(mempcpy(copy.destination, copy.source, copy.block_bytes));",
        "",
        "from byte 0 (block 0)",
    ),
    "1.2.2 moves both": (
        "block-1.2.2",
        "        copy.destination = mempcpy(copy.destination, copy.source, copy.block_bytes);",
        "        copy.destination = mempcpy(copy.destination, copy.source, copy.block_bytes);\n"
        "        copy.source += copy.block_bytes;",
        "from byte 4096 (block 1)",
    ),
    "the loop ends a word early": ("loop", "t < words;", "t + 1 < words;", "from byte 65528"),
    "the loop ruins one bit": ("loop", "b[t] = a[t];", "b[t] = a[t] ^ (t == 99);", "byte 792 "),
    "the copy lacks a byte": (
        "copy",
        "mempcpy(copy->destination, copy->source, copy->bytes)",
        "mempcpy(copy->destination, copy->source, copy->bytes - 1)",
        "from byte 65528",
    ),
    "the copy is turned round": (
        "copy",
        "mempcpy(copy->destination, copy->source, copy->bytes)",
        "mempcpy((void *)copy->source, copy->destination, copy->bytes)",
        "the source was written to",
    ),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_wrong_kernel_is_caught(mutation: str, tmp_path: Path) -> None:
    method, before, after, reason = MUTATIONS[mutation]
    text = SOURCE.read_text()
    assert before in text
    (tmp_path / "mbw.c").write_text(text.replace(before, after))
    program = build(tmp_path / "mbw", tmp_path / "mbw.c")
    only = outcome(program, "--bytes=65536", point(method))
    assert only["status"] == "fail"
    assert reason in only["reason"]


def test_a_source_that_was_written_to_is_made_good_again(tmp_path: Path) -> None:
    _, before, after, _ = MUTATIONS["the copy is turned round"]
    (tmp_path / "mbw.c").write_text(SOURCE.read_text().replace(before, after))
    program = build(tmp_path / "mbw", tmp_path / "mbw.c")
    done = run(program, "--bytes=65536", point("copy"), point("loop"))
    assert [result["status"] for result in points(done.stdout)] == ["fail", "ok"]


def test_what_arrived_is_seen_without_the_definition(tmp_path: Path) -> None:
    """A destination that is poisoned, shifted by a word, or from another place in the source."""
    before = "memcpy(copy->destination, copy->source, copy->bytes);"
    half = "copy->bytes / 2"
    shifted = {
        "(void)copy;": seen(0, 0, 0, None, 1),
        f"memcpy(copy->destination, copy->source + {half}, {half});": seen(0, 0.5, 1, 0, 1),
        f"memcpy(copy->destination + 8, copy->source, {half});": seen(0, 0.5, 0, None, 1),
        f"memcpy(copy->destination + {half}, copy->source, 4);": seen(0, 1 / 8192, 0, None, 1),
    }
    for after, expected in shifted.items():
        (tmp_path / "mbw.c").write_text(SOURCE.read_text().replace(before, after, 1))
        program = build(tmp_path / "mbw", tmp_path / "mbw.c")
        only = outcome(program, "--bytes=65536", point("copy", call="memcpy"))
        assert (only["status"], only["observations"]) == ("fail", expected), after


def library_calls(name: str, level: str) -> dict[str, list[str]]:
    """timed function -> what its object calls or jumps to."""
    target = compiled(SOURCE, *FLAGS, level, compiler=name)
    text = subprocess.run(
        ["objdump", "-dr", "--no-show-raw-insn", str(target)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found: dict[str, list[str]] = {}
    function = ""
    for line in text.splitlines():
        if head := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            function = head.group(1)
            found[function] = []
        elif call := re.search(r"R_\w+\s+(memp?cpy)", line):
            found[function].append(call.group(1))
    return {name: calls for name, calls in found.items() if name.startswith("timed_")}


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
@pytest.mark.parametrize("name", COMPILERS)
def test_each_function_calls_what_its_name_says(name: str, level: str) -> None:
    calls = library_calls(name, level)
    forms = ["copy", *(block.replace("-", "_").replace(".", "_") for block in BLOCKS)]
    assert set(calls) == {
        "timed_loop",
        *(f"timed_{form}_{call}" for form in forms for call in CALLS),
    }
    for call in CALLS:
        assert set(calls[f"timed_copy_{call}"]) == {call}
        for form in forms[1:]:
            assert calls[f"timed_{form}_{call}"] == [call, call]  # blocks, and the shorter last


@pytest.mark.parametrize("name", COMPILERS)
def test_sanitizers_find_nothing(name: str, tmp_path: Path) -> None:
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = build(tmp_path / "mbw", SOURCE, *flags, name=name, common=flags)
    offsets = ["--source-offset=4088", "--destination-offset=8"]
    methods = [point(method, 128, call) for method in EXPECTED for call in CALLS]
    done = run(program, "--bytes=4160", *offsets, *methods)
    assert (done.returncode, done.stderr) == (0, "")
    refused = run(program, "--bytes=64", "--point=method=copy,size=3")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)


def test_too_little_memory_is_no_failure(mbw: Path) -> None:
    limit = f"--as={256 * MIB}"
    done = run(mbw, f"--bytes={1024 * MIB}", point("copy"), under=("prlimit", limit))
    assert done.returncode == 77
    (end,) = lines(done.stdout)
    assert (end["kind"], end["status"]) == ("end", 77)
    assert str(1024 * MIB) in end["reason"]
    assert done.stderr == end["reason"] + "\n"
    assert run(mbw, "--bytes=9223372036854775744", point("copy")).returncode == 77


BAD_ARGUMENTS = {
    "--bytes=100 --point=method=loop,samples=1,warmup=0,loops=1": "100 is not a multiple of 64",
    "--bytes=0": "'0' is not a whole number from 64",
    "--bytes=1e6": "'1e6' is not a whole number",
    "--bytes=-64": "'-64'",
    "--point=method=loop,samples=1,warmup=0,loops=1": "--bytes is missing",
    f"--bytes=4096 {point('block-1.1.1', 100)}": "block_bytes=100 is not a multiple of 64",
    f"--bytes=4096 {point('block-1.3.0', 8192)}": "up to --bytes 4096",
    f"--bytes=4096 {point('block-1.3.0', 0)}": "block_bytes=0",
    f"--bytes=4096 {point('copy', call='memmove')}": "call=memmove",
    "--bytes=4096 --point=method=copy,samples=1,warmup=0,loops=1": "lacks call=",
    f"--bytes=4096 {point('loop')},call=memcpy": "which method loop does not take",
    f"--bytes=4096 {point('copy')},block_bytes=64": "which method copy does not take",
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_in_one_sentence(mbw: Path, arguments: str) -> None:
    done = run(mbw, *arguments.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert BAD_ARGUMENTS[arguments] in done.stderr
    assert done.stderr.count("\n") == 1
