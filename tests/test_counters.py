"""Counters: true formats of their tools, stand-ins that replay what a tool can do wrong, and the
source of evidence that runs the points of a run below them. perf's software events are real."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernels
from benchbook.define.points import Point
from benchbook.evidence.collectors import counters
from benchbook.evidence.counters import Count, NotUnderstoodError, likwid, perf, session
from benchbook.evidence.stage import Context
from benchbook.measure.invocation import run_program

OUTPUTS = Path(__file__).parent / "counter_outputs"
CPU = min(os.sched_getaffinity(0))
LINES = 10 * 32 * 2**20 // 64  # of ten calls over 32 MiB, in the fixtures of MEM


def read(name: str, change: Callable[[str], str] = str) -> list[Count]:
    parse = likwid.parse if name.startswith("likwid") else perf.parse
    return parse(change((OUTPUTS / name).read_text()), name)


def one(counts: list[Count], name: str, region: str = "p0", core: int | None = None) -> Count:
    (found,) = [
        count
        for count in counts
        if (count.name, count.region) == (name, region) and core in (None, count.core)
    ]
    return found


# --- likwid's CSV


def test_regions_cores_and_metrics_of_a_group() -> None:
    counts = read("likwid-mem-two-cores.csv")
    assert {count.region for count in counts} == {"p0", "p1"}
    assert {count.core for count in counts} == {0, 1}
    read_here = one(counts, "Memory read bandwidth", core=1)
    assert (read_here.group, read_here.kind, read_here.unit) == ("MEM", "metric", "MBytes/s")
    assert (read_here.run_time_s, read_here.calls) == (0.031034, 1)
    assert read_here.value == pytest.approx((2 * LINES + 4096) * 64 / 0.031034 / 1e6, rel=1e-6)
    box = [count for count in counts if count.counter == "MBOX3C0" and count.region == "p0"]
    assert [(count.core, count.kind, count.name) for count in box] == [
        (1, "event", "CAS_COUNT_RD"),
        (0, "event", "CAS_COUNT_RD"),
    ]
    assert [count.value for count in box] == [(2 * LINES + 4096) / 8, None]
    assert box[1].state == "absent"
    assert "another core" in box[1].reason
    assert not any("STAT" in count.name for count in counts)
    assert len(counts) == 2 * 2 * (20 + 10)


def test_memory_traffic_of_a_region_is_that_of_the_core_that_counts_for_all() -> None:
    counts = read("likwid-mem-two-cores.csv")
    moved = likwid.traffic([count for count in counts if count.region == "p0"])
    assert moved.keys() == {"bytes_read_from_memory", "bytes_written_to_memory"}
    assert moved["bytes_read_from_memory"] == pytest.approx(64 * (2 * LINES + 4096), rel=1e-4)
    assert moved["bytes_written_to_memory"] == pytest.approx(64 * (LINES + 2048), rel=1e-4)


def test_a_zero_is_one_only_where_the_counter_is_known_to_count() -> None:
    two = read("likwid-mem-two-cores.csv")
    written = one(two, "Memory write bandwidth", "p1", core=1)
    assert (written.value, written.state) == (0.0, "ok")  # it counted in p0
    zeros = read("likwid-zeros.csv")
    assert [count.name for count in zeros if count.state == "ok"] == ["Runtime (RDTSC)"]
    assert all(count.value is None for count in zeros if count.state == "absent")
    assert likwid.traffic(zeros) == {}


def test_what_likwid_has_no_number_for_is_absent(tmp_path: Path) -> None:
    for change in (str, lambda text: text.replace(",-,", ",nan,").replace(",-\n", ",-nan\n")):
        counts = read("likwid-nan.csv", change)
        bandwidth = one(counts, "Memory bandwidth")
        assert (bandwidth.value, bandwidth.state) == (None, "absent")
        assert one(counts, "CPI").value == 0.8548
        assert likwid.traffic(counts) == {}


def test_a_cell_without_a_number_does_not_bring_a_dead_counter_to_life() -> None:
    def dead(text: str) -> str:
        return re.sub(r"^(CAS_COUNT_RD,MBOX\dC0),\d+,0,", r"\1,0,-,", text, flags=re.MULTILINE)

    counts = read("likwid-mem-two-cores.csv", dead)
    reads = [count for count in counts if count.name == "CAS_COUNT_RD"]
    assert len(reads) >= 8
    assert {(count.value, count.state) for count in reads} == {(None, "absent")}


def test_groups_that_take_turns_are_multiplexed_and_sets_without_metrics_are_read() -> None:
    counts = read("likwid-two-groups.csv")
    assert {(count.group, count.multiplexed) for count in counts} == {
        ("DATA", True),
        ("Custom", True),
    }
    stores = [count for count in counts if count.name == "MEM_INST_RETIRED_ALL_STORES"]
    assert [(count.value, count.state) for count in stores] == [(200000.0, "ok"), (0.0, "ok")]
    assert one(counts, "Load to store ratio", core=1).state == "absent"
    assert not any(count.multiplexed for count in read("likwid-mem-one-core.csv"))


def test_a_program_without_regions_and_the_words_of_older_versions() -> None:
    counts = read("likwid-no-regions.csv", lambda text: text.replace("HWThread", "Core"))
    assert {(count.region, count.core, count.calls) for count in counts} == {("", 0, None)}
    assert {count.run_time_s for count in counts} == {1.5}
    assert one(counts, "Load to store ratio", "").value == 2


MEM = (OUTPUTS / "likwid-mem-one-core.csv").read_text()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no table"),
        ("Name,Value\nCPI,2\n", 1, "no table"),
        ("\x00\x7f\n" * 3, 1, "no table"),
        (MEM[: MEM.index("CAS_COUNT_WR,MBOX5C1")], 32, "it was cut"),
        (MEM[: MEM.index("CAS_COUNT_WR,MBOX5C1") + 30], 34, "was cut"),
        (MEM[: MEM.index("TABLE,Region p1,Group 1 Metric")], 78, "metrics of group MEM"),
        (MEM.replace("TABLE,Region p1,Group 1 Raw", "TABLE,Area p1"), 54, "no head of a table"),
        (MEM.replace("CPU_CLK_UNHALTED_REF,FIXC2,", "CPU_CLK_UNHALTED_REF;"), 20, "3 cells"),
        (MEM.replace("FIXC0,10000000", "FIXC0,1000x", 1), 18, "'1000x' is no number"),
        (MEM.replace("Event,Counter,HWThread 1", "Event,Counter,Socket 1", 1), 17, "no hardware"),
        (MEM.replace("call count,1", "calls,1", 1), 16, "'call count' should"),
        (MEM.replace("MBOX7C1,", "MBOX7C1,7\nfree memory: 3,", 1), 38, "should begin"),
    ],
)
def test_output_that_is_not_understood_names_file_and_line(
    text: str, line: int, words: str
) -> None:
    with pytest.raises(NotUnderstoodError) as error:
        likwid.parse(text, "a/mem.csv")
    assert str(error.value).startswith(f"a/mem.csv, line {line}: ")
    assert words in str(error.value)


def test_marker_regions_have_the_names_that_the_harness_gives_them() -> None:
    said = (kernels.COMMON / "markers.h").read_text()
    assert likwid.region(12) == "p12"
    assert '#define MARKERS_REGION "p%zu"' in said


def test_groups_are_chosen_of_those_that_the_cpu_has() -> None:
    here = likwid.parse_groups((OUTPUTS / "likwid-groups.txt").read_text())
    assert {"DATA", "ENERGY", "FLOPS_DP", "TMA"} <= set(here)
    chosen = likwid.choose(here)
    assert chosen[likwid.TRAFFIC] == chosen["cache traffic"] == ()
    assert chosen["loads and stores"] == ("DATA",)
    assert likwid.choose(["MEM1", "MEM2", "MEM", "L2", "L3"])[likwid.TRAFFIC] == ("MEM",)
    assert likwid.choose(["MEM1", "MEM2"])[likwid.TRAFFIC] == ("MEM1", "MEM2")
    # It ends with 0 all the same.
    assert likwid.parse_groups("No groups defined for Intel Pentium 60\n") == []
    assert likwid.parse_groups("") == []


# --- perf's JSON


def test_variants_of_perf_json() -> None:
    counts = read("perf-variants.json")
    values = {count.name: count.value for count in counts}
    assert values == {
        "task-clock": 1.324303,
        "page-faults": 72,
        "instructions": 4100000,
        "cpu_atom/branch-misses/": None,
        "cpu_core/cycles/": 1461835,
        "LLC-load-misses": None,
        "uncore_imc_0/cas_count_read/": 12.5,
    }
    by_name = {count.name: count for count in counts}
    shared = by_name["instructions"]
    assert (shared.multiplexed, shared.running_fraction) == (True, pytest.approx(0.615))
    assert shared.counter == "instructions:u"
    assert by_name["cpu_core/cycles/"].core == 3
    assert perf.in_bytes(by_name["uncore_imc_0/cas_count_read/"]) == 12.5 * 2**20
    assert perf.in_bytes(shared) is None
    assert "never had a counter" in by_name["cpu_atom/branch-misses/"].reason


def test_events_that_are_not_supported_are_absent_though_perf_ends_with_0() -> None:
    counts = {count.name: count for count in read("perf-root.json")}
    assert (counts["cycles"].value, counts["cycles"].state) == (None, "absent")
    assert (counts["cpu-migrations"].value, counts["cpu-migrations"].state) == (0.0, "ok")


def test_a_zero_of_user_code_alone_is_no_count_of_what_happens_in_the_kernel() -> None:
    counts = {count.name: count for count in read("perf-user-only.json")}
    assert counts["page-faults"].value == 72
    for name in ("context-switches", "cpu-migrations"):
        assert counts[name].value is None
        assert "in the kernel" in counts[name].reason


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no count"),
        ("Segmentation fault\n", 1, "no count"),
        ('{"counter-value" : "1.0", "event" : "page-fa', 1, "no JSON object"),
        ('\n{"a": 1}\n', 2, "no count of perf stat"),
        ('{"event" : "cycles"}\n', 1, "counter-value"),
        ('{"counter-value" : "many", "event" : "cycles"}\n', 1, "many"),
        ('{"counter-value" : "-1", "event" : "cycles"}\n', 1, "'-1' is no count"),
        ('{"counter-value" : "1.0", "event" : "cs"}\nwords\n', 2, "'words' is no JSON"),
        ('{"counter-value" : "1.0", "event" : "cs"} 7\n', 1, "'7' is no JSON"),
    ],
)
def test_json_that_is_not_understood_names_file_and_line(text: str, line: int, words: str) -> None:
    with pytest.raises(NotUnderstoodError) as error:
        perf.parse(text, "p.json")
    assert str(error.value).startswith(f"p.json, line {line}: ")
    assert words in str(error.value)


def test_what_perf_says_instead_of_counts_has_a_state_and_a_remedy() -> None:
    denied = (OUTPUTS / "perf-denied.txt").read_text()
    state, reason, remedy = perf.explain(denied)
    assert state == "denied"
    assert remedy.endswith("sysctl kernel.perf_event_paranoid=2")
    assert perf.explain(denied, everywhere=True)[2].endswith("paranoid=0")
    assert reason.startswith("Error: Access to performance monitoring")
    assert perf.explain("Error: unknown switch `j'")[1].startswith("this perf is too old")
    assert perf.explain("")[:2] == ("absent", "perf stat printed nothing")


def test_events_of_the_memory_controllers_are_those_that_the_kernel_shows(tmp_path: Path) -> None:
    assert perf.memory_events(tmp_path) == {}
    for name in ("uncore_imc_1/events/cas_count_read", "uncore_imc_0/events/cas_count_read"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
        (tmp_path / name).with_name("cas_count_write").touch()
    events = perf.memory_events(tmp_path)
    assert events["bytes_read_from_memory"] == [
        "uncore_imc_0/cas_count_read/",
        "uncore_imc_1/cas_count_read/",
    ]
    assert len(events["bytes_written_to_memory"]) == 2


# --- The source, below stand-ins of both tools

KIB = 1024
PROGRAM = """
for word; do case $word in /*) break;; esac; shift; done
"""
# Replays a file for each group; what a file cannot show stands in `behaviour`.
LIKWID = f"""#!/bin/sh
echo "$@" >> HERE/calls
[ "$1" = -a ] && exec cat HERE/groups
group=$4
{PROGRAM}
case $(cat HERE/behaviour) in
    denied) echo "Cannot get access to MSRs. Please check permissions to the MSRs" >&2; exit 1;;
    waits) sleep 3600; exit 1;;
    unmarked) "$@"; echo "Marker API result file does not exist." >&2; exit 0;;
    unloaded) echo '{{"version":1,"status":77,"reason":"the library cannot be loaded"}}'; exit 0;;
    nothing) exit 0;;
esac
"$@" || exit
cat "HERE/$group" || echo "no such group" >&2
"""
PERF = f"""#!/bin/sh
echo "$@" >> HERE/calls
[ "$(cat HERE/behaviour)" = denied ] && {{ cat HERE/denied >&2; exit 255; }}
[ "$(cat HERE/behaviour)" = garbage ] && {{ echo '{{"counter-va' >&2; exit 0; }}
events=$(echo "$@" | sed 's/.*-e //; s/ --.*//')
{PROGRAM}
"$@" || exit
samples=$(echo "$@" | sed 's/.*samples=//; s/,.*//')
for event in $(echo $events | tr , ' '); do
    unit=""; value=$((1000 + 64 * samples))
    case $event in
        uncore*read*) unit=MiB; value=$((7 + 3 * samples));;
        uncore*) unit=MiB; value=7;;
        LLC-store*) value="<not supported>";;
    esac
    printf '{{"counter-value" : "%s", "unit" : "%s", "event" : "%s", "event-runtime" : 1000, ' \\
        "$value" "$unit" "$event" >&2
    echo '"pcnt-running" : SHARE}}' >&2
done
"""


class Bench:
    """A made-up run of a real kernel at two sizes, and stand-ins of both tools on PATH."""

    def __init__(self, place: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.states: dict[str, str] = {}
        self.results = place / "results"
        self.build = place / "build"
        self.build.mkdir()
        (self.build / "program").symlink_to(program)
        methods = [{"method": "copy", "call": "memcpy"}, {"method": "loop"}]
        points = [
            Point("v", {"bytes": size, **method})
            for size in (64 * KIB, 16 * KIB)
            for method in methods
        ]
        self.points = [
            {"id": point.id, "variant": "v", "twin": "", "factors": point.factors}
            for point in points
        ]
        self.run = place / "run"
        self.run.mkdir()
        numbers = {"loops": 1, "samples": 20, "warmup": 1}
        took = {"kind": "invocation", "block": 0, "state": "ok", "loops": 1}
        took |= {"time_ns": [4_000_000], "t_start_ns": [0]}
        lines = [{"kind": "pilot", "points": {point["id"]: numbers for point in self.points}}]
        lines += [
            took | {"point": point["id"], "share_ns": point["factors"]["bytes"]}
            for point in self.points
        ]
        text = "".join(json.dumps({"version": 1, **line}) + "\n" for line in lines)
        (self.run / "journal.jsonl").write_text(text)
        tools = place / "tools"
        tools.mkdir()
        # Nothing is timed here that somebody else could disturb.
        monkeypatch.setenv("BENCHBOOK_LOCK_DIR", str(place))
        monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
        monkeypatch.setattr(counters, "capability", self.capability)
        self.tools = tools
        self.behave("well")

    def capability(self, name: str) -> Any:
        state = self.states.get(name, "absent")
        said = {"state": state, "reason": f"no {name}", "remedy": "mend it", "detail": {}}
        return type("Capability", (), said)

    def behave(self, how: str, share: str = "100.00") -> None:
        shutil.copy(OUTPUTS / "perf-denied.txt", self.place / "denied")
        (self.place / "behaviour").write_text(how)
        (self.place / "groups").write_text(
            "Group name\tDescription\n---\n      MEM\tMemory\n    CLOCK\tClock\n"
        )
        for name, script in (("likwid-perfctr", LIKWID), ("perf", PERF)):
            tool = self.tools / name
            tool.write_text(script.replace("HERE", str(self.place)).replace("SHARE", share))
            tool.chmod(0o755)

    def group(self, name: str, text: str) -> None:
        """What likwid prints behind the program for a group."""
        (self.place / name).write_text(text[text.index("STRUCT,") :] if "STRUCT," in text else text)

    def rows(self, *usable: str, budget_s: float = 100) -> list[dict[str, Any]]:
        self.states = dict.fromkeys(usable, "ok")
        (self.place / "calls").unlink(missing_ok=True)
        settings = {"budget_s": budget_s, "time_limit_s": 120}
        first = self.points[0]["id"]
        plan = {
            "points": self.points,
            "cpus": [CPU],
            "settings": settings,
            "pairs": [{"numerator": first, "denominator": first}],
        }
        record = {"state": "ok", "experiment": "mbw", "variant": "v", "binary": {"file": "program"}}
        variants = {"v": (self.build, record)}
        definition = {"starts": ["bytes"]}
        pointer = {"experiment": "mbw"}
        return counters.rows(
            Context(pointer, self.run, plan, definition, variants, [], self.results)
        )

    def calls(self) -> list[str]:
        return (self.place / "calls").read_text().splitlines()


@pytest.fixture(scope="module")
def copying(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernels.build(tmp_path_factory.mktemp("k") / "mbw", kernels.KERNELS / "mbw" / "mbw.c")


@pytest.fixture
def bench(tmp_path: Path, copying: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, copying, monkeypatch)


def by(rows: list[dict[str, Any]], point: str, name: str) -> dict[str, Any]:
    (found,) = [row for row in rows if (row["point"], row["name"]) == (point, name)]
    return found


def test_without_counters_each_source_says_why_and_nothing_is_started(bench: Bench) -> None:
    rows = bench.rows()
    assert [(row["source"], row["state"], row["reason"]) for row in rows] == [
        (name, "absent", f"no {name}") for name in ("likwid", "perf", "perf software")
    ]
    assert all((row["value"], row["remedy"]) == (None, "mend it") for row in rows)
    assert not (bench.place / "calls").exists()
    assert not bench.results.exists()


def test_likwid_gives_the_traffic_of_each_point_per_call(bench: Bench) -> None:
    bench.group("MEM", MEM)
    bench.group("CLOCK", MEM.replace(",MEM,", ",CLOCK,"))
    rows = bench.rows("likwid", "perf")
    first, second = (point["id"] for point in bench.points[:2])
    read_row = by(rows, first, "bytes_read_from_memory")
    assert read_row["value"] == pytest.approx((2 * LINES + 5120) * 64 / 10, rel=1e-4)
    assert (read_row["state"], read_row["unit"]) == ("ok", "bytes")
    assert (read_row["source"], read_row["region"]) == ("likwid MEM", "p0")
    assert (read_row["declared_bytes"], read_row["calls"]) == (64 * KIB, 10)
    assert (read_row["run_time_s"], read_row["multiplexed"]) == (0.046137, False)
    assert by(rows, second, "bytes_written_to_memory")["value"] == pytest.approx(
        512 * 64 / 10, 1e-3
    )
    assert by(rows, first, "CPI")["source"] == "likwid MEM"
    assert by(rows, "", "energy")["reason"] == "likwid has no group for it on this CPU"
    # perf is not asked for what likwid has told.
    listing, *starts = bench.calls()
    assert listing == "-a"
    assert len(starts) == 2 * 2
    assert starts[0].startswith(f"-C {CPU} -g MEM -m -O /")
    assert "--bytes=65536" in starts[0]  # behind a claim, though the other one is cheaper
    assert starts[0].count("--point") == 2
    table = list(csv.DictReader((bench.results / "counters" / "counts.csv").open()))
    assert {row["group"] for row in table} == {"MEM", "CLOCK"}
    assert not any(row["value"] == "0" for row in table)


def test_a_file_that_is_not_understood_costs_its_own_points_alone(bench: Bench) -> None:
    bench.group("MEM", MEM[: MEM.index("CAS_COUNT_WR,MBOX5C1") + 30])
    bench.group("CLOCK", MEM.replace(",MEM,", ",CLOCK,"))
    rows = bench.rows("likwid")
    damaged = [row for row in rows if row["source"] == "likwid MEM"]
    assert len(damaged) == 2
    assert "001-likwid-MEM.csv, line " in damaged[0]["reason"]
    named = damaged[0]["reason"].partition(",")[0]
    assert "TABLE," in Path(named).read_text()
    assert by(rows, bench.points[0]["id"], "Clock")["state"] == "ok"
    assert not any(row["name"].startswith("bytes_") for row in rows)


@pytest.mark.parametrize("text", ["zeros", "nan"])
def test_zeros_of_an_absent_counter_never_become_a_value(bench: Bench, text: str) -> None:
    recorded = (OUTPUTS / f"likwid-{text}.csv").read_text()
    for group in ("MEM", "CLOCK"):
        bench.group(group, recorded.replace(",MEM,", f",{group},"))
    rows = bench.rows("likwid")
    traffic = by(rows, bench.points[0]["id"], "bytes_read_from_memory")
    assert (traffic["value"], traffic["state"]) == (None, "absent")
    assert traffic["reason"]
    assert not any(row["value"] == 0 for row in rows)
    assert by(rows, bench.points[1]["id"], "group MEM")["reason"].endswith("no region 'p1'")


@pytest.mark.parametrize(
    ("how", "state", "words"),
    [
        ("denied", "denied", "check permissions to the MSRs"),
        ("unmarked", "absent", "entered no marker region"),
        ("unloaded", "absent", "the library cannot be loaded"),
        ("nothing", "absent", "gave no table (0)"),
    ],
)
def test_likwid_that_counts_nothing_is_given_up_and_perf_is_asked(
    bench: Bench, how: str, state: str, words: str
) -> None:
    bench.behave(how)
    rows = bench.rows("likwid")
    (said,) = [row for row in rows if row["source"] == "likwid"]
    assert (said["state"], said["value"], said["name"]) == (state, None, "hardware counters")
    assert words in said["reason"]
    assert said["remedy"]
    assert len(bench.calls()) == 1 + 2 * session.FAILURES_BORNE


def test_a_daemon_that_does_not_answer_is_cut_short(bench: Bench, monkeypatch: Any) -> None:
    """Nor is what it started waited for, which takes an hour."""
    bench.behave("waits")
    monkeypatch.setattr(session, "PATIENCE_S", 0.3)
    rows = bench.rows("likwid")
    (said,) = [row for row in rows if row["source"] == "likwid"]
    assert said["reason"] == "likwid-perfctr did not end within 0.3 s and was stopped"
    assert len(bench.calls()) == 2


def test_what_the_time_does_not_allow_is_said(bench: Bench) -> None:
    bench.group("MEM", MEM)
    rows = bench.rows("likwid", budget_s=1e-9)
    left = by(rows, "", "group MEM")
    assert left["reason"].startswith("4 points were not counted")
    assert bench.calls() == ["-a"]


def test_perf_tells_a_method_from_the_rest_of_its_program(bench: Bench, monkeypatch: Any) -> None:
    names = ("bytes_read_from_memory", "bytes_written_to_memory")
    events = [[f"uncore_imc_{box}/cas_count_{way}/" for box in (0, 1)] for way in ("read", "write")]
    monkeypatch.setattr(perf, "memory_events", lambda: dict(zip(names, events, strict=True)))
    bench.behave("well", share="61.50")
    rows = bench.rows("perf")
    first = bench.points[0]["id"]
    misses = by(rows, first, "LLC-load-misses")
    assert (misses["value"], misses["unit"], misses["state"]) == (64, "per call", "ok")
    assert (misses["multiplexed"], misses["running_fraction"]) == (True, pytest.approx(0.615))
    assert misses["calls"] == 5  # 20 ms more, at the 4 ms a call of the journal
    missing = by(rows, first, "LLC-store-misses")
    assert (missing["value"], missing["state"]) == (None, "absent")
    assert missing["reason"].startswith("<not supported>")
    moved = by(rows, first, "bytes_read_from_memory")
    assert moved["value"] == 2 * 3 * 2**20
    assert (moved["unit"], moved["scope"]) == ("bytes", "the whole machine")
    written = by(rows, first, "bytes_written_to_memory")
    assert (written["value"], written["state"]) == (None, "absent")
    assert written["reason"] == "it does not grow with the number of calls"
    everywhere = [call for call in bench.calls() if " -a " in call]
    assert len(everywhere) == len(bench.calls()) / 2 == 2 * len(bench.points)


@pytest.mark.parametrize(
    ("how", "state", "words"),
    [("denied", "denied", "Access to performance"), ("garbage", "absent", "no JSON object")],
)
def test_perf_that_counts_nothing_says_why(bench: Bench, how: str, state: str, words: str) -> None:
    bench.behave(how)
    rows = [row for row in bench.rows("perf", "perf software") if row["source"] == "perf stat"]
    said = [row for row in rows if row["name"] in ("hardware counters", "software events")]
    assert {row["name"] for row in said} == {"hardware counters", "software events"}
    assert {row["state"] for row in said} == {state}
    assert all(words in row["reason"] for row in said)
    assert all(row["value"] is None for row in rows)


def test_software_events_of_the_real_perf(bench: Bench) -> None:
    if perf_refuses():
        pytest.skip("perf is not installed, or may not count software events here")
    (bench.tools / "perf").unlink()
    rows = bench.rows("perf software")
    here = {row["name"]: row for row in rows if row["source"] == "perf stat"}
    assert here.keys() == set(perf.SOFTWARE)
    assert all(row["variant"] == "v" and row["point"] == "" for row in here.values())
    faults = here["page-faults"]
    assert (faults["state"], faults["measured"]) == ("ok", [p["id"] for p in bench.points[2:]])
    assert faults["value"] > 16 * 2 * KIB / os.sysconf("SC_PAGE_SIZE")
    assert here["task-clock"]["value"] > 0


def perf_refuses() -> bool:
    if shutil.which("perf") is None:
        return True
    command = perf.command(["true"], ["page-faults"])
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    _, _, err = run_program(command, cpus=[CPU], env=env, time_limit_s=120, lock=None)
    return "{" not in err
