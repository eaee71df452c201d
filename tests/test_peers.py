"""Peers: parsers on recorded output, what they accept, their program, and starts that go wrong."""

from __future__ import annotations

import os
import random
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT, copy_checkout

from benchbook.analyse.stage import variants
from benchbook.build.stage import build_variant
from benchbook.commands import plan as plan_command
from benchbook.core.errors import BenchbookError
from benchbook.core.processes import Scheduling
from benchbook.define import catalogue, peers
from benchbook.define.points import Point, expand
from benchbook.define.settings import load_settings
from benchbook.evidence import stage as evidence_stage
from benchbook.measure.invocation import PointResult, Request, invoke
from benchbook.measure.pilot import pilot
from benchbook.measure.starter import Starter
from benchbook.peers import tool
from benchbook.peers.matching import matched
from benchbook.peers.parsers import Measured, NotUnderstoodError, likwid_bench, mbw
from benchbook.peers.start import PeerStart, prepare

OUTPUTS = Path(__file__).parent / "peer_outputs"
CPU = min(os.sched_getaffinity(0))
COUNTS = {"loops": 1, "samples": 3, "warmup": 1}
COPY = {"bytes": 8 * 2**20, "method": "copy", "call": "memcpy"}


def recorded(name: str) -> str:
    return (OUTPUTS / f"{name}.txt").read_text()


# --- Parsers


def test_mbw_gives_the_microseconds_that_its_rate_still_shows() -> None:
    found = mbw.parse(recorded("mbw-1.2.2-copy"))
    assert found == Measured([1_324_000, 875_000, 658_000, 8_759_000], 8 * 2**20)


MBW = "0\tMethod: DUMB\tElapsed: 0.00100\tMiB: 8.00000\tCopy: 8000.000 MiB/s\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no line"),
        (recorded("mbw-1.2.2-refused"), "no line"),
        ("AVG\tMethod: MEMCPY\tElapsed: -nan\tMiB: 1.00000\tCopy: -nan MiB/s\n", "no line"),
        (recorded("mbw-1.2.2-all"), "one test"),
        (MBW + MBW, "one test"),
        (MBW.replace("0\t", "1\t", 1), "one test"),
        (MBW + MBW.replace("0\t", "1\t", 1).replace("8.00000", "8.00100"), "different sizes"),
        (MBW.replace("8000.000", "inf"), "no number"),
        (MBW.replace("8000.000", "nan"), "no number"),
        (MBW.replace("8000.000", "0.000"), "no number"),
        (MBW.replace("8000.000", "fast"), "no number"),
        (MBW.replace("8000.000", "800.000"), "no number"),  # contradicts its own seconds
        (MBW[:-12], "no line"),
    ],
)
def test_mbw_that_says_something_else_is_not_understood(text: str, reason: str) -> None:
    with pytest.raises(NotUnderstoodError, match=reason):
        mbw.parse(text)


def test_likwid_bench_gives_one_sample_of_all_iterations_and_its_cpus() -> None:
    one = likwid_bench.parse(recorded("likwid-bench-5.2-one"))
    assert one == Measured([997_185], 25_165_824, loops=12, cpus=[1])
    two = likwid_bench.parse(recorded("likwid-bench-5.2-two"))
    assert two == Measured([413_391], 25_165_824, loops=12, cpus=[0, 1])


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Time:\t", "Tempo:\t", "no line 'Time'"),
        ("9.971849e-04 sec", "9.97", "no line 'Time'"),
        ("9.971849e-04", "nan", "says nan"),
        ("9.971849e-04", "0.000000e+00", "no number above 0"),
        ("Iterations per thread:\t12", "Iterations per thread:\ttwelve", "twelve"),
        ("Data volume", "Volume", "no line 'Data volume"),
    ],
)
def test_likwid_bench_that_says_something_else_is_not_understood(
    old: str, new: str, reason: str
) -> None:
    text = recorded("likwid-bench-5.2-one")
    assert old in text
    with pytest.raises(NotUnderstoodError, match=reason):
        likwid_bench.parse(text.replace(old, new))


# --- What a peer accepts


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return catalogue.definition(ROOT, "mbw")


@pytest.fixture(scope="module")
def stream() -> dict[str, Any]:
    return catalogue.definition(ROOT, "stream")


def twin(factors: dict[str, Any], variant: str = "gcc-debian", mark: str = "") -> Point:
    return Point(variant, factors, mark)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, ""),
        ({"bytes": 16384}, "16 KiB is no whole multiple of 1 MiB"),
        ({"bytes": 3 * 2**19}, "1.5 MiB is no whole multiple of 1 MiB"),
        ({"call": "mempcpy"}, "mbw-1.2.2 measures whole copy only with call=memcpy"),
        (
            {"method": "block-1.1.1", "call": "mempcpy", "block_bytes": 4096},
            "mbw-1.2.2 measures no block copy 1.1.1",
        ),
        ({"processes": 2}, "mbw-1.2.2 has nothing like processes=2"),
        ({"method": "block-1.2.2", "call": "mempcpy", "block_bytes": 4096}, ""),
        (
            {"method": "block-1.2.2", "call": "mempcpy", "block_bytes": 12288},
            "8 MiB is no whole multiple of 12 KiB",
        ),
        ({"method": "block-1.2.2", "call": "mempcpy"}, "mbw-1.2.2 needs a value of block_bytes"),
    ],
)
def test_a_peer_measures_what_it_accepts_and_says_why_not_the_rest(
    content: dict[str, Any], change: dict[str, Any], reason: str
) -> None:
    ours = twin(COPY | change)
    found, rows = matched(content, [ours])
    theirs = twin(ours.factors, "mbw-1.2.2")
    assert found == ([] if reason else [theirs])
    assert rows == [
        {
            "peer": "mbw-1.2.2",
            "twin": "gcc-debian",
            "point": ours.id,
            "peer_point": None if reason else theirs.id,
            "reason": reason,
        }
    ]


def test_only_the_twins_own_points_count(content: dict[str, Any]) -> None:
    others = [twin(COPY, "gcc-O2"), twin(COPY, mark="again"), twin(COPY, mark="relinked")]
    assert matched(content, others) == ([], [])


def test_quick_measures_each_form_of_mbw_beside_its_twin_and_tiny_none(
    content: dict[str, Any],
) -> None:
    sizes = {"LLC": 32 * 2**20, "cores": 2}
    tiny, _ = expand(content, catalogue.crosses(content, "tiny"), sizes)
    assert matched(content, tiny) == ([], [])
    quick, _ = expand(content, catalogue.crosses(content, "quick"), sizes)
    found, rows = matched(content, quick)
    assert {point.factors["method"] for point in found} == {"copy", "loop", "block-1.2.2"}
    assert len(rows) == sum(point.variant == "gcc-debian" for point in quick)


# --- A peer's file


def spec_of(content: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**peers.of(content)["mbw-1.2.2"], **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"twin": "icc"}, "key 'twin' names 'icc'"),
        ({"twin": "mbw-1.2.2"}, "key 'twin' names 'mbw-1.2.2'"),
        ({"multiples": {"size": ["1 MiB"]}}, "key 'multiples' names 'size'"),
        ({"multiples": {"bytes": [0]}}, "key 'multiples' has 0"),
        ({"multiples": {"bytes": ["pages"]}}, "key 'multiples' has 'pages'"),
        (
            {
                "labels": {
                    "runs": {"MEMCPY": "memcpy"},
                    "proof": "x",
                    "unknown": "x",
                    "examined": {"by": "x", "date": "2026-01-02", "package": "x"},
                }
            },
            "key 'labels' names 'memcpy'; allowed: copy, loop",
        ),
        ({"measures": [{"setting": {"form": "x"}, "arguments": ["{repetitions}"]}]}, "'form'"),
        ({"measures": [{"setting": {}, "arguments": ["{repetitions}", "{kib}"]}]}, "'kib'"),
        ({"measures": [{"setting": {}, "arguments": ["{repetitions"]}]}, "mend the braces"),
        ({"measures": [{"setting": {}, "arguments": ["-n", "9"]}]}, "where {repetitions} go"),
        ({"tools": "mbw"}, "tools"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence_that_names_it(
    tmp_path: Path, content: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    path = tmp_path / "peers" / "other.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(spec_of(content, **changes)))
    ours = {name: variant for name, variant in content["variants"].items() if "peer" not in variant}
    with pytest.raises(BenchbookError) as refused:
        peers.read(tmp_path, {**content, "variants": ours})
    assert words in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_peer_has_a_name_of_its_own(tmp_path: Path, content: dict[str, Any]) -> None:
    (tmp_path / "peers").mkdir()
    path = tmp_path / "peers" / "gcc-O2.yaml"
    path.write_text(yaml.safe_dump(spec_of(content)))
    with pytest.raises(BenchbookError, match="'gcc-O2' is a variant already"):
        peers.read(tmp_path, content)


# --- Its program


def stand_in(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_peer_that_is_not_on_path_cannot_run_and_says_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    record = build_variant(ROOT, "mbw", "mbw-1.2.2", tmp_path / "variant.json")
    assert record["state"] == "cannot_run"
    assert record["reason"] == ("mbw is not on PATH; install it (Debian: apt-get install mbw)")
    assert "binary" not in record


def test_another_program_of_that_name_is_not_taken_for_the_one_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stand_in(tmp_path / "bin", "mbw", "echo 8 MiB")
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    record = build_variant(ROOT, "mbw", "mbw-1.2.2", tmp_path / "variant.json")
    assert record["state"] == "cannot_run"
    assert "does not tell its version, and version 1.2.2 is described" in record["reason"]
    before = record["binary"]
    assert before["file"] == str(path)
    stand_in(path.parent, "mbw", "echo 9 MiB")
    after = build_variant(ROOT, "mbw", "mbw-1.2.2", tmp_path / "variant.json")["binary"]
    assert after["sha256"] != before["sha256"]


@pytest.mark.parametrize(
    ("said", "state"),
    [("1.2.2", "ok"), ("1.2.2-1.1", "ok"), ("1.2.20", "cannot_run"), ("2.0", "cannot_run")],
)
def test_the_version_begins_as_described(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: dict[str, Any],
    said: str,
    state: str,
) -> None:
    path = stand_in(tmp_path / "bin", "mbw", f"echo 'mbw version {said} here'")
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    asked = {"arguments": ["-h"], "pattern": r"version (\S+)"}
    found = tool.find(spec_of(content, version_from=asked))
    assert (found["state"], found["peer"]["version"]) == (state, said)


@pytest.mark.parametrize(
    ("package", "version"),
    [("mbw-1.2.2", "1.2.2"), ("mbw-2.0", "2.0"), ("mbw", ""), ("membw-1.2.2", "")],
)
def test_outside_of_debian_the_version_is_that_of_the_path_in_the_store(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: dict[str, Any],
    package: str,
    version: str,
) -> None:
    folder = tmp_path / f"{'a1' * 16}-{package}"
    folder.mkdir()
    stand_in(folder / "bin", "mbw", "echo 8 MiB")
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    record = tool.find(spec_of(content))
    assert record["peer"]["version"] == version
    assert record["state"] == ("ok" if version == "1.2.2" else "cannot_run")


def test_a_processor_without_the_instructions_cannot_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: dict[str, Any]
) -> None:
    path = stand_in(tmp_path / "bin", "mbw", "exit 1")
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    spec = {**spec_of(content, cpu_flags=["avx9000"]), "describes": None}
    assert tool.find(spec)["reason"] == "this processor has no avx9000"
    assert plan_command._expected("mbw-1.2.2", {"peer": spec})["state"] == "cannot_run"


def test_who_reads_variants_bears_one_without_functions(tmp_path: Path) -> None:
    record = build_variant(ROOT, "mbw", "mbw-1.2.2", tmp_path / "variant.json")
    (shown,) = variants({"variants": {"mbw-1.2.2": str(tmp_path)}})
    assert shown["peer"] == record["peer"]
    assert shown["sha256"] == record.get("binary", {}).get("sha256")
    found = {"mbw-1.2.2": (tmp_path, {**record, "state": "ok"})}
    context = evidence_stage.Context({"experiment": "mbw"}, tmp_path, {}, {}, found, [])
    of_binaries = [
        source for source in evidence_stage.sources() if source.__name__[-5:] in ("aries", "flags")
    ]
    assert [of_binary.rows(context) for of_binary in of_binaries] == [[], []]


# --- One start


def start_of(factors: dict[str, Any], content: dict[str, Any], **counts: int) -> PeerStart:
    return prepare(spec_of(content), factors, COUNTS | counts)


def test_arguments_carry_the_point(content: dict[str, Any], stream: dict[str, Any]) -> None:
    block = COPY | {"method": "block-1.2.2", "call": "mempcpy", "block_bytes": 4096}
    start = start_of(block, content, samples=5, warmup=2)
    assert start.arguments == ("-a", "-t2", "-b", "4096", "-n", "7", "8")
    assert (start.repetitions, start.warmup, start.declared_bytes) == (7, 2, 8 * 2**20)
    factors = {"bytes": 2**20, "memory": "heap", "threads": 2, "method": "copy-nt-256"}
    theirs = prepare(peers.of(stream)["likwid-avx"], factors, {**COUNTS, "loops": 4})
    wanted = ("-t", "copy_mem_avx", "-W", "N:2097152B:2", "-i", "13")
    assert (theirs.arguments, theirs.declared_bytes) == (wanted, 2**21)


def started(path: Path, peer: PeerStart, limit_s: float = 20) -> PointResult:
    result = invoke(Request(path, {}, [{}], [CPU], time_limit_s=limit_s, peer=peer))
    (point,) = result.points
    assert all(result.t_start_ns <= t <= result.t_end_ns for t in point.t_start_ns)
    return point


def test_samples_are_marked_and_lie_end_to_end_before_the_end(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    output = OUTPUTS / "mbw-1.2.2-copy.txt"
    path = stand_in(tmp_path / "bin", "mbw", f"sleep 0.02; cat {output}; echo $* >&2")
    point = started(path, start_of(COPY, content))
    assert (point.state, point.reason, point.warm_up, point.loops) == ("ok", "", 1, 1)
    assert point.bytes_declared == 8 * 2**20
    assert len(point.time_ns) == 4
    ends = [t + time for t, time in zip(point.t_start_ns, point.time_ns, strict=True)]
    assert point.t_start_ns[1:] == ends[:-1]
    assert (point.observations, point.usage) == ({}, {})


ONE = OUTPUTS / "likwid-bench-5.2-one.txt"


def likwid(**changes: Any) -> PeerStart:
    return PeerStart(
        **{
            "tool": "likwid-bench",
            "parser": "likwid_bench",
            "arguments": (),
            "repetitions": 12,
            "warmup": 2,
            "declared_bytes": 2**21,
        }
        | changes
    )


@pytest.mark.parametrize(
    ("script", "changes", "state", "reason"),
    [
        ("echo garbage", {}, "failed", "likwid-bench: its output has no line 'Time'"),
        ("echo no memory; exit 3", {}, "failed", "exit status 3: no memory"),
        ("echo no memory >&2; exit 77", {}, "failed", "exit status 77: no memory"),
        ("kill -ILL $$", {}, "failed", "was ended by signal 4 (SIGILL)"),
        ("exec sleep 60", {}, "timeout", "did not end within its time limit of 0.3 s"),
        ("cat {one}", {"repetitions": 9}, "failed", "did 12 repetitions of the 9 asked for"),
        ("cat {one}", {"declared_bytes": 2**20}, "failed", "moved 2097152 bytes"),
        ("cat {one}", {"declared_bytes": 2**21 + 64}, "ok", ""),
        ("sed 's/hwthread 1 /hwthread 9999 /' {one}", {}, "failed", "ran on CPUs [9999]"),
    ],
)
def test_a_start_that_goes_wrong_is_a_result_with_its_reason(
    tmp_path: Path, script: str, changes: dict[str, Any], state: str, reason: str
) -> None:
    # The recorded run was on CPU 1, which need not be the one given here.
    one = tmp_path / "one.txt"
    one.write_text(ONE.read_text().replace("hwthread 1 ", f"hwthread {CPU} "))
    script = script.replace("hwthread 1 ", f"hwthread {CPU} ")
    path = stand_in(tmp_path / "bin", "likwid-bench", script.format(one=one))
    point = started(path, likwid(**changes), limit_s=0.3 if "sleep" in script else 120)
    assert point.state == state
    assert reason in point.reason
    assert bool(point.time_ns) == (state == "ok")
    assert point.warm_up == 0


# --- In a run


class Planned:
    """As much of a plan as a start needs."""

    least, rounds, paper_samples, buffers, experiment = 8, 8, 1, 2, "mbw"

    def __init__(self, points: list[Point], content: dict[str, Any]) -> None:
        self.points = points
        self.peers = peers.of(content)
        self.cpus = [CPU]
        self.environments: dict[str, dict[str, str]] = {}
        self.options: dict[str, Any] = {}
        self.all_cpus = False
        self.scheduling = Scheduling.NORMAL
        self.unlooped: list[str] = []
        self.serial: list[str] = []
        self.parts: list[str] = []
        self.looks, self.blocks_per_cycle = [8], 1
        self.pairs: list[dict[str, str]] = []
        self.takers: set[str] = set()
        self.settings = load_settings(ROOT, {})


def starter(points: list[Point], content: dict[str, Any], path: Path) -> Starter:
    plan: Any = Planned(points, content)
    return Starter(plan, path.parent, ["bytes"], lambda _: path, None, plan.peers)


def test_each_point_of_a_peer_has_a_start_and_its_twin_has_its_layout(
    content: dict[str, Any],
) -> None:
    loop = {"bytes": 8 * 2**20, "method": "loop"}
    ours = [twin(COPY), twin(loop)]
    theirs, _ = matched(content, ours)
    other = twin(COPY, "gcc-O2")
    here = starter([*ours, *theirs, other], content, Path("/bin/x"))
    groups = here.groups(here.plan.points)
    assert groups == [ours, [theirs[0]], [theirs[1]], [other]]
    numbers = {point.id: COUNTS for point in here.plan.points}
    dice = random.Random(1)
    requests = [here.request(group, numbers, dice) for group in groups]
    sides = ("source_offset_bytes", "destination_offset_bytes")
    assert [getattr(requests[0], side) for side in sides] == [16, 16]
    assert [getattr(requests[3], side) for side in sides] != [16, 16]
    assert [request.peer is not None for request in requests] == [False, True, True, False]
    assert requests[2].peer is not None
    assert "-t0" in requests[2].peer.arguments


def test_the_pilot_counts_the_time_of_one_repetition(
    tmp_path: Path, stream: dict[str, Any]
) -> None:
    """likwid-bench tells only the time of all."""
    factors = {"bytes": 2**20, "memory": "heap", "threads": 1, "method": "copy-nt-256"}
    text = ONE.read_text().replace("hwthread 1 ", f"hwthread {CPU} ")
    text = text.replace("thread:	12", "thread:	4").replace("25165824", str(4 * 2**21))
    (tmp_path / "four.txt").write_text(text)
    path = stand_in(tmp_path / "bin", "likwid-bench", f"cat {tmp_path}/four.txt")
    here = starter([twin(factors, "likwid-avx")], stream, path)

    def start(group: list[Point], numbers: Any) -> Any:
        return here.start(group, numbers, random.Random(1))[1]

    plan: Any = here.plan

    def not_asked(group: list[Point], numbers: Any) -> None:
        raise AssertionError("likwid-bench does not say when it sleeps")

    found = pilot(plan, here.groups(plan.points), start, not_asked)
    assert found["failed"] == {}
    # 997,185 ns were four repetitions: more samples fit than if they had been one.
    aimed = plan.settings.point_s * 1e9
    (numbers,) = found["points"].values()
    assert numbers["samples"] * numbers["loops"] * 997_185 / 4 <= aimed * 1.5
    assert numbers["samples"] == plan.settings.samples_most


def test_a_checkout_finds_its_peers_by_wildcard(tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    (checkout / "kernels/mbw/peers/mbw-1.2.2.yaml").rename(
        checkout / "kernels/mbw/peers/renamed.yaml"
    )
    assert list(peers.of(catalogue.definition(checkout, "mbw"))) == ["renamed"]
    shutil.rmtree(checkout / "kernels/mbw/peers")
    assert peers.of(catalogue.definition(checkout, "mbw")) == {}


# --- The real programs


@pytest.mark.parametrize(
    ("name", "factors"),
    [
        ("mbw-1.2.2", COPY | {"bytes": 2**20}),
        ("mbw-1.2.2", {"bytes": 2**20, "method": "loop"}),
        (
            "mbw-1.2.2",
            {"bytes": 2**20, "method": "block-1.2.2", "call": "mempcpy", "block_bytes": 4096},
        ),
        (
            "likwid-avx",
            {"bytes": 2**20, "memory": "heap", "threads": 1, "method": "copy-nt-256"},
        ),
    ],
)
def test_the_real_program_does_what_is_asked(
    content: dict[str, Any], stream: dict[str, Any], name: str, factors: dict[str, Any]
) -> None:
    spec = (peers.of(content) | peers.of(stream))[name]
    found = tool.find(spec)
    if found["state"] != "ok":
        pytest.skip(found["reason"])
    peer = prepare(spec, factors, COUNTS)
    point = started(Path(found["binary"]["file"]), peer)
    assert point.state == "ok", point.reason
    assert point.bytes_declared == peer.declared_bytes * point.loops
    assert len(point.time_ns) * point.loops == 4


# Counts the C library's two copying calls of a program that it is put in front of.
COUNTED = """
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <string.h>
static size_t whole, blocks;
void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    whole += bytes == 1 << 20;
    return memmove(to, from, bytes);
}
void *mempcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    blocks += bytes == 4096;
    return (char *)memmove(to, from, bytes) + bytes;
}
__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "%zu whole, %zu blocks", whole, blocks);
}
"""


def test_mbw_runs_under_each_label_what_its_file_says(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    spec = peers.of(content)["mbw-1.2.2"]
    found, compiler = tool.find(spec), shutil.which("gcc")
    if found["state"] != "ok" or not compiler:
        pytest.skip(found["reason"] or "gcc is not on PATH")
    (tmp_path / "counted.c").write_text(COUNTED)
    library = tmp_path / "counted.so"
    build = [compiler, "-O1", "-fno-builtin", "-fPIC", "-shared", "-o", str(library)]
    subprocess.run([*build, str(tmp_path / "counted.c")], check=True)
    calls = {"copy": "3 whole, 0 blocks", "loop": "0 whole, 0 blocks"}
    calls["block-1.2.2"] = f"0 whole, {3 * 256} blocks"
    told = spec["labels"]["runs"]
    assert set(told.values()) == set(calls)
    seen = {}
    for measure in spec["measures"]:
        factors = {"bytes": 2**20, "block_bytes": 4096, **measure["setting"]}
        start = prepare(spec, factors, {"loops": 1, "samples": 3, "warmup": 0})
        done = subprocess.run(
            [found["binary"]["file"], *start.arguments],
            env={**os.environ, "LD_PRELOAD": str(library)},
            capture_output=True,
            text=True,
            check=True,
        )
        (label,) = set(re.findall(r"Method: (\w+)", done.stdout))
        seen[label] = measure["setting"]["method"]
        assert done.stderr == calls[told[label]], label
    assert seen == told
