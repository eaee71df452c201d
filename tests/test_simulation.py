"""Cache simulation: cachegrind's files, what is simulated and at which size, and real runs of it
whose answer is known."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from benchbook.build import stage as build_stage
from benchbook.core.errors import BenchbookError
from benchbook.define import catalogue
from benchbook.define.points import Point
from benchbook.evidence import memcpy_thresholds
from benchbook.evidence.collectors import simulation
from benchbook.evidence.collectors.simulation import TRAFFIC
from benchbook.evidence.simulation import library, lines
from benchbook.evidence.simulation.choice import choice
from benchbook.evidence.simulation.geometry import Geometry, Level, geometry_of
from benchbook.evidence.simulation.lines import Lines, Touched
from benchbook.evidence.simulation.profile import Difference, ProfileError, difference, read_profile
from benchbook.evidence.simulation.start import NotSimulatedError, Simulator
from benchbook.evidence.simulation.twin import Twin, runnable
from benchbook.evidence.stage import Context, Row
from benchbook.host.capabilities import Capability
from benchbook.host.topology import Cache, Cpu, Topology
from benchbook.peers import tool

OUTPUTS = Path(__file__).parent / "cachegrind_outputs"
GEOMETRY = Geometry(
    Level(32 << 10, 8, 64), Level(32 << 10, 8, 64), Level(256 << 10, 16, 64), "D1 and LL"
)
CPUS = sorted(os.sched_getaffinity(0))[:2]
MIB = 2**20
CONTENT = catalogue.definition(ROOT, "mbw")
FIGURES = catalogue.figures_of(ROOT, "mbw")
needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not installed"
)


@pytest.fixture(autouse=True)
def figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read once: the papers are long."""
    monkeypatch.setattr(catalogue, "figures_of", lambda root, name: FIGURES)


# --- cachegrind's files


def test_a_read_of_each_line_once_misses_once() -> None:
    found = difference(read_profile(OUTPUTS / "none.out"), read_profile(OUTPUTS / "read.out"))
    assert (found.lines_read, found.lines_written) == (1024, 0)
    assert "read_lines" in found.executed


def test_housekeeping_is_no_part_of_a_difference() -> None:
    more = read_profile(OUTPUTS / "read.out")
    more.functions["printing"] = more.functions["run"].copy()
    more.functions["printing"].update(Dr=50, DLmr=20)
    found = difference(read_profile(OUTPUTS / "none.out"), more)
    assert found.lines_read == 1024
    assert "printing" in found.executed


GOOD = (OUTPUTS / "read.out").read_text()
EVENTS = "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw \n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 0, "ends without a summary"),
        (GOOD[: GOOD.index("summary")], 21, "ends without a summary"),
        (GOOD[: GOOD.index("29 3")] + "29 3 0", 17, "2 counts stand where there are 9"),
        (GOOD.replace("summary: 7184", "summary: 7185"), 22, "count 7184 Ir and the summary 7185"),
        (GOOD.replace("11 4097", "11 4x97"), 9, "'4x97' is no count"),
        (GOOD.replace("11 4097", "11 -4097"), 9, "'-4097' is no count"),
        (GOOD.replace("11 4097 ", "11 "), 9, "8 counts stand where there are 9"),
        (GOOD.replace(EVENTS, ""), 7, "before the events are named"),
        (GOOD.replace("fn=read_lines\n", ""), 7, "before a function is named"),
        (GOOD.replace("fn=run", "ob=run"), 11, "'ob=run' is not understood"),
        (GOOD + GOOD, 23, "more after the summary"),
        ((OUTPUTS / "no-caches.out").read_text(), 5, "no Dr: caches were not simulated"),
        ((OUTPUTS / "callgrind.out").read_text(), 1, "no file of cachegrind's"),
        ('{"event": "cycles"}\n', 1, "no file of cachegrind's"),
        ("desc: \x00\xff\n", 1, "ends without a summary"),
    ],
)
def test_damaged_and_foreign_files_name_file_and_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    path = tmp_path / "bad.out"
    path.write_text(text)
    with pytest.raises(ProfileError, match=words) as error:
        read_profile(path)
    assert str(error.value).startswith(f"{path}:{line}: ")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"absent\.out cannot be read"):
        read_profile(tmp_path / "absent.out")


# --- Geometry and flags


def topology(d1: Cache | None, last: Cache | None) -> Topology:
    cpu = Cpu(0, 0, 0, 0, "uniform", None)
    caches = tuple(cache for cache in (d1, last) if cache)
    return Topology((cpu,), (cpu,), (), caches, (0,), smt=False)


@pytest.mark.parametrize(
    ("ways", "total"), [(12, 36 * MIB), (15, 105 * MIB), (16, 32 * MIB), (11, 33 * MIB), (20, 8)]
)
def test_the_last_level_keeps_its_ways_and_gets_whole_powers_of_two_of_sets(
    ways: int, total: int
) -> None:
    d1 = Cache(1, "data", 48 << 10, 12, 64, (0,), "sysfs")
    found = geometry_of(topology(d1, Cache(3, "unified", total, ways, 64, (0,), "sysfs")), 0)
    assert str(found.d1) == "49152,12,64"
    sets = found.ll.bytes // (ways * 64)
    assert found.ll.ways == ways
    assert found.ll.bytes == sets * ways * 64
    assert sets & (sets - 1) == 0
    assert found.ll.bytes >= 3 * found.d1.bytes
    assert found.buffer_bytes >= 4 * found.ll.bytes
    assert f"LL {total} bytes of {ways} ways" in found.host


def test_unknown_caches_are_said_to_be_unknown() -> None:
    found = geometry_of(topology(None, None), 0)
    assert found.options == ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=262144,16,64"]
    assert found.host == "D1 of unknown size, LL of unknown size"


@pytest.mark.parametrize(
    ("flags", "level", "wanted"),
    [
        (["-O3", "-march=native"], "x86-64-v4", ["-O3", "-march=x86-64-v3"]),
        (["-march=native"], "x86-64-v2", ["-march=x86-64-v2"]),
        (["-march=sapphirerapids", "-mavx512f"], "x86-64-v4", ["-march=x86-64-v3"]),
        (["-O2", "-march=x86-64-v2"], "x86-64-v4", ["-O2", "-march=x86-64-v2"]),
        (["-O2", "-mtune=native"], "x86-64-v3", ["-O2", "-mtune=native"]),
        (["-march=native"], None, ["-march=native"]),
    ],
)
def test_flags_are_those_of_a_processor_that_valgrind_has(
    flags: list[str], level: str | None, wanted: list[str]
) -> None:
    assert runnable(flags, level) == wanted


# --- How the C library copies

DIAGNOSTICS = """\
x86.cpu_features.level1_dcache_linesize=0x40
x86.cpu_features.non_temporal_threshold=0x100000
x86.cpu_features.rep_movsb_threshold=0x1000
x86.cpu_features.rep_movsb_stop_threshold=0x100000
x86.cpu_features.rep_stosb_threshold=0x800
"""
KNOWN = memcpy_thresholds.thresholds_in(DIAGNOSTICS)


@pytest.mark.parametrize(
    ("calls", "size", "strings", "words"),
    [
        (["memcpy"], 4095, True, ""),
        (["memcpy"], 4096, True, "memcpy .* 4 KiB by rep movsb here"),
        (["__memcpy_chk"], 4096, True, "memcpy .* by rep movsb"),
        (["mempcpy"], 4096, False, ""),
        (["memcpy"], MIB, True, "1 MiB by non-temporal stores here"),
        (["memset"], 2048, True, "memset .* by rep stosb"),
        (["GOMP_parallel", "sqrt"], MIB, True, ""),
    ],
)
def test_sizes_from_a_threshold_on_are_not_modelled(
    calls: list[str], size: int, strings: bool, words: str
) -> None:
    found = library.Library(KNOWN, strings).unmodelled(calls, size)
    assert re.search(words, found) if words else found == ""


def test_a_library_that_tells_no_thresholds_is_unknown() -> None:
    unknown = library.Library(memcpy_thresholds.thresholds_in("nothing"), strings=True)
    assert "unknown" in unknown.unmodelled(["memmove"], 64)
    assert unknown.unmodelled(["GOMP_parallel"], 64) == ""


# --- Which points


def planned(*points: tuple[str, dict[str, Any]], twin: str = "") -> dict[str, Any]:
    items = [
        {
            "id": Point(variant, factors, twin).id,
            "variant": variant,
            "factors": factors,
            "twin": twin,
        }
        for variant, factors in points
    ]
    settings = {"time_limit_s": 120}
    return {"points": items, "sizes": {}, "cpus": CPUS, "settings": settings}


COPY = {"bytes": 8 * MIB, "method": "copy", "call": "memcpy"}
BLOCK = {"bytes": 8 * MIB, "method": "block-1.2.2", "call": "mempcpy", "block_bytes": 4096}
SHOWN = {**COPY, "bytes": 32 * MIB}


def chosen(plan: dict[str, Any]) -> list[tuple[str, int, str]]:
    found = choice(ROOT, "mbw", CONTENT, plan, GEOMETRY.block_most_bytes)
    return [
        (point.variant, point.factors["bytes"], point.factors["method"])
        for point in [*found.points(), *found.of_peers()]
    ]


def test_each_method_is_simulated_once_where_a_figure_shows_it() -> None:
    small = {**COPY, "bytes": 16384}
    plan = planned(("gcc-O2", small), ("gcc-O2", SHOWN), ("gcc-O2", BLOCK), ("gcc-O3", COPY))
    wanted = [("gcc-O2", 32 * MIB, "copy"), ("gcc-O2", 8 * MIB, "block-1.2.2")]
    assert sorted(chosen(plan)) == sorted(wanted)


def test_blocks_that_would_not_stay_in_the_caches_are_left_out() -> None:
    large = {**BLOCK, "block_bytes": GEOMETRY.ll.bytes}
    assert chosen(planned(("gcc-O2", large))) == []
    fits = {**BLOCK, "block_bytes": GEOMETRY.block_most_bytes}
    assert chosen(planned(("gcc-O2", large), ("gcc-O2", fits))) == [
        ("gcc-O2", 8 * MIB, "block-1.2.2")
    ]


def test_several_processes_and_relinked_binaries_are_left_out() -> None:
    together = {**COPY, "processes": 2, "schedule": "together"}
    assert chosen(planned(("gcc-O2", together))) == []
    assert chosen(planned(("gcc-O2", COPY), twin="relinked")) == []


def test_of_a_peer_what_it_says_how_to_simulate() -> None:
    found = chosen(planned(("mbw-1.2.2", COPY), ("mbw-1.2.2", BLOCK)))
    assert found == [("mbw-1.2.2", 8 * MIB, "block-1.2.2")]


def test_a_peer_that_names_an_unknown_field_is_refused(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "kernels" / "mbw", checkout / "kernels" / "mbw")
    path = checkout / "kernels" / "mbw" / "peers" / "mbw-1.2.2.yaml"
    path.write_text(path.read_text().replace("less: [-a, -t0", 'less: [-a, "{cores}"'))
    with pytest.raises(BenchbookError, match="key 'less' names 'cores'"):
        catalogue.definition(checkout, "mbw")


# --- The stage, with a stand-in for valgrind


VALGRIND = """\
#!/bin/sh
# Writes what cachegrind wrote once: for a start without calls and for one with a call.
for word; do case $word in --cachegrind-out-file=*) out=${word#*=} ;; esac; done
case "$*" in *warmup=1*|*-t2*) file=read ;; *) file=none ;; esac
echo 1048576
"""
SAVE = f'cp {OUTPUTS}/$file.out "$out"\n'


@pytest.fixture
def valgrind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a valgrind on PATH that ends with these words of a shell; none of it is real."""
    monkeypatch.setenv("BENCHBOOK_LOCK_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(simulation, "capability", lambda name: Capability(name, "ok"))

    def make(script: str) -> None:
        path = tmp_path / "bin" / "valgrind"
        path.parent.mkdir(exist_ok=True)
        path.write_text(VALGRIND + script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")

    return make


def functions(**facts: Any) -> dict[str, dict[str, Any]]:
    return {"read_lines": {}, "timed_copy": {"library_calls": [], **facts}}


def stage(
    monkeypatch: pytest.MonkeyPatch, plan: dict[str, Any], variant: str = "gcc-O2", **facts: Any
) -> list[Row]:
    """Rows of a run of gcc-O2 and gcc-O3; the timed function of one is made of `facts`."""
    ran = Difference(1024, 0, frozenset({"timed_copy"}))
    twin = Twin(Path("/bin/true"), ["-O2"], functions())
    monkeypatch.setattr(lines, "build_twin", lambda *_: twin)
    real = Simulator.compare

    def compare(self: Simulator, less: Any, more: Any) -> tuple[Difference, str]:
        found, said = real(self, less, more)
        return Difference(found.lines_read, found.lines_written, ran.executed), said

    monkeypatch.setattr(Simulator, "compare", compare)
    record = {"state": "ok", "binary": {"file": "true", "sha256": ""}}
    variants = {
        name: (
            Path("/bin"),
            {**record, "timed_functions": functions(**(facts if name == variant else {}))},
        )
        for name in ("gcc-O2", "gcc-O3")
    }
    pointer = {"experiment": "mbw"}
    return simulation.rows(Context(pointer, Path(), plan, CONTENT, variants, []))


def by_name(rows: list[Row]) -> dict[str, Row]:
    assert {row["source"] for row in rows} <= {"cachegrind"}
    return {row["name"]: row for row in rows}


def test_lines_become_bytes_with_those_that_are_read_to_be_written(
    valgrind: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    valgrind(SAVE)
    rows = by_name(stage(monkeypatch, planned(("gcc-O2", COPY))))
    values = {name: row["value"] for name, row in rows.items()}
    assert values == {
        "lines_read": 1024,
        "lines_written": 0,
        "bytes_read_from_memory": 65536,
        "bytes_written_to_memory": 0,
    }
    assert {row["state"] for row in rows.values()} == {"simulated"}
    assert {row["declared_bytes"] for row in rows.values()} == {MIB}
    assert all("--LL=" in row["geometry"] for row in rows.values())


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"non_temporal_stores": ["vmovntpd"]}, "it moves data by vmovntpd, which cachegrind"),
        ({"string_instructions": ["rep movsb"]}, "it moves data by rep movsb, which cachegrind"),
        ({"library_calls": ["memcpy"]}, "memcpy .* which cachegrind does not model"),
    ],
)
def test_traffic_that_is_not_modelled_is_absent(
    valgrind: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    facts: dict[str, Any],
    words: str,
) -> None:
    valgrind(SAVE)
    monkeypatch.setattr(library, "library_of", lambda _: library.Library(KNOWN, strings=True))
    rows = by_name(stage(monkeypatch, planned(("gcc-O2", COPY)), **facts))
    for name in TRAFFIC:
        assert (rows[name]["value"], rows[name]["state"]) == (None, "absent")
        assert re.search(words, rows[name]["reason"])
    assert rows["lines_read"]["state"] == "simulated"


def test_what_a_library_copies_is_simulated_in_a_loop_of_another_variant_too(
    valgrind: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    valgrind(SAVE)
    monkeypatch.setattr(library, "library_of", lambda _: library.Library(KNOWN, strings=True))
    plan = planned(("gcc-O2", COPY), ("gcc-O3", COPY))
    rows = stage(monkeypatch, plan, library_calls=["memcpy"])
    read = {row["variant"]: row["state"] for row in rows if row["name"] == TRAFFIC[0]}
    assert read == {"gcc-O2": "absent", "gcc-O3": "simulated"}
    rows = stage(monkeypatch, plan, variant="gcc-O3", library_calls=["memcpy"])
    assert {row["variant"] for row in rows} == {"gcc-O2"}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (f'head -8 {OUTPUTS}/$file.out > "$out"', r"less\.out:8: it ends without a summary"),
        ("kill -ILL $$", "under cachegrind: was ended by signal 4"),
        ('echo "==1== Bad option" >&2; exit 1', "under cachegrind: exit status 1: ==1== Bad"),
        ("exit 0", r"less\.out cannot be read"),
        ("exec sleep 9", "did not end within its time limit of 0.2 s"),
    ],
)
def test_one_start_that_goes_wrong_costs_its_own_rows_only(
    valgrind: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    script: str,
    words: str,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where a damaged file is kept
    valgrind(f'case "$*" in *method=copy*) {script}; exit ;; esac\n{SAVE}')
    plan = planned(("gcc-O2", COPY), ("gcc-O2", BLOCK))
    plan["settings"]["time_limit_s"] = 0.2 if "sleep" in script else 120
    rows = stage(monkeypatch, plan)
    bad = [row for row in rows if "method=copy" in row["point"]]
    assert len(bad) == 4
    assert {(row["value"], row["state"]) for row in bad} == {(None, "absent")}
    assert all(re.search(words, row["reason"]) for row in bad), bad[0]["reason"]
    if "sleep" not in script:
        assert {row["state"] for row in rows if row not in bad} == {"simulated"}
    kept = [str(path) for path in tmp_path.rglob("*.out")]
    assert bool(kept) == ("without a summary" in words)
    assert all(path in bad[0]["reason"] for path in kept if path.endswith("less.out"))


def test_without_cachegrind_the_rows_say_why_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    why = Capability("cachegrind", "absent", "valgrind is not on PATH", "apt-get install valgrind")
    monkeypatch.setattr(simulation, "capability", lambda name: why)
    rows = stage(monkeypatch, planned(("gcc-O2", COPY), ("mbw-1.2.2", BLOCK)))
    assert len(rows) == 8
    assert {row["value"] for row in rows} == {None}
    assert {row["reason"] for row in rows} == {"valgrind is not on PATH; apt-get install valgrind"}


def test_a_twin_that_cannot_be_built_is_a_reason(
    valgrind: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    valgrind(SAVE)
    monkeypatch.setattr(build_stage, "find_compiler", lambda _: None)
    twinless = Lines(ROOT, "mbw", CONTENT, {"gcc-O2": (Path(), {"state": "ok"})}, simulator())
    with pytest.raises(NotSimulatedError, match=r"no variant .* compiler 'gcc' is not"):
        twinless.of_variant(Point("gcc-O2", COPY))


def test_controls_are_not_simulated() -> None:
    pointer = {"experiment": "controls/source-not-advanced"}
    definition = {"simulate": False}
    assert simulation.rows(Context(pointer, Path(), {"cpus": CPUS}, definition, {}, [])) == []


# --- Real runs whose answer is known


def simulator() -> Simulator:
    return Simulator(shutil.which("valgrind") or "valgrind", GEOMETRY, CPUS, 60)


@needs_valgrind
def test_lines_are_counted_one_by_one(tmp_path: Path) -> None:
    program = tmp_path / "lines"
    flags = ["-O1", "-static", "-nostdlib", "-fno-stack-protector"]
    subprocess.run(["gcc", *flags, str(OUTPUTS / "lines.c"), "-o", program], check=True)
    found, _ = simulator().compare([program], [program, "read"])
    assert (found.lines_read, found.lines_written) == (1024, 0)
    found, _ = simulator().compare([program, "read"], [program, "read", "write"])
    assert (found.lines_read, found.lines_written) == (0, 1024)


def of_one(found: list[Row], name: str, **factors: Any) -> Row:
    """The row of the one point of base that has these factors in its id."""
    (row,) = (
        row
        for row in found
        if row["name"] == name and factors.items() <= Point.of_id(row["point"]).factors.items()
    )
    return row


def simulated(measured: Path, experiment: str) -> list[Row]:
    (path,) = measured.glob(f"results/*/tiny/{experiment}/evidence.json")
    rows = [row for row in json.loads(path.read_text())["items"] if row["source"] == "cachegrind"]
    return [row for row in rows if row["variant"] in ("gcc-O2", "gcc-O3")]


@needs_valgrind
def test_the_three_block_copies_touch_one_block_one_source_block_and_all(measured: Path) -> None:
    rows = simulated(measured, "mbw")
    for method, read, written in (
        ("block-1.1.1", "one", "one"),
        ("block-1.2.2", "one", "all"),
        ("block-1.3.0", "all", "all"),
        ("copy", "all", "all"),
    ):
        for name, which in (("lines_read", read), ("lines_written", written)):
            row = of_one(rows, name, method=method)
            wanted = {"one": 4096, "all": row["declared_bytes"]}[which] / 64
            # A few more: where it finds its arguments, and what the C library knows of caches.
            assert wanted <= row["value"] <= wanted + 8, (method, name)
            assert row["state"] == "simulated"


@needs_valgrind
def test_writing_without_reading_costs_a_third_more_of_triad(measured: Path) -> None:
    rows = simulated(measured, "stream")
    triad = {name: of_one(rows, name, method="triad") for name in TRAFFIC}
    moved = sum(row["value"] for row in triad.values())
    assert moved / triad["bytes_read_from_memory"]["declared_bytes"] == pytest.approx(4 / 3, 0.001)
    movsb = of_one(rows, "bytes_read_from_memory", method="copy-movsb")
    assert (movsb["state"], movsb["value"]) == ("absent", None)
    assert "rep movsb" in movsb["reason"]


@needs_valgrind
def test_debians_mbw_copies_blocks_as_1_2_2_does() -> None:
    record = tool.find(CONTENT["variants"]["mbw-1.2.2"]["peer"])
    if record["state"] != "ok":
        pytest.skip(record["reason"])
    peer = Lines(ROOT, "mbw", CONTENT, {"mbw-1.2.2": (Path(), record)}, simulator())
    found = peer.of_peer(Point("mbw-1.2.2", BLOCK)).found
    # What it prints may be among them, where the C library's functions have no names.
    assert 64 <= found.lines_read <= 256
    assert MIB / 64 <= found.lines_written <= MIB / 64 + 64


# --- Which method of ours a peer's is


def touched(method: str, read: int, written: int, block: int = 4096) -> Touched:
    point = Point("v", {"method": method, "block_bytes": block})
    return Touched(point, Difference(read, written, frozenset()), MIB, "", "")


FORMS = [touched("a", 66, 64), touched("b", 66, 16384), touched("c", 16386, 16384)]


@pytest.mark.parametrize(
    ("read", "written", "wanted"),
    [(66, 16386, "b"), (178, 16416, "b"), (70, 70, "a"), (16400, 16400, "c"), (4000, 1, None)],
)
def test_a_peers_method_is_the_one_that_touches_the_same_lines(
    read: int, written: int, wanted: str | None
) -> None:
    row = simulation.method_of("mbw", touched("peer", read, written), FORMS)
    assert (row["value"], row["name"]) == (wanted, "method_by_lines")
    assert row["state"] == ("simulated" if wanted else "absent")
    assert f"reads {read} lines" in row["reason"]


def test_other_block_sizes_tell_nothing_of_a_peer() -> None:
    others = [touched("b", 66, 16384, block=8192)]
    assert simulation.method_of("mbw", touched("peer", 66, 16384), others)["value"] is None
