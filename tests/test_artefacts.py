"""Detectors: found by wildcard, blind to labels, silent on clean rows, abstaining when unsure."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from benchbook import detect
from benchbook.analyse.stage import findings_of
from benchbook.controls.score import Outcome, count, interval
from benchbook.detect import Seen, all_detectors
from benchbook.detect.detectors import cache_size_disagrees, impure_flags, source_not_advanced
from benchbook.detect.inputs.run_table import RunTables


def row(where: str, **changes: float | None) -> dict:
    clean = {
        "where": where,
        "bytes": 8 * 2**20,
        "bytes_per_call": 8 * 2**20,
        "block_bytes": 4096,
        "blocks_declared": 2048,
        "distinct_source_blocks": 2048,
        "last_source_block": 2047,
        "work_done_fraction": 1.0,
        "destination_written_fraction": 1.0,
        "time_ns": 1_000_000.0,
    }
    return clean | changes


MIB = 2**20
HOST = {
    "llc_sysfs_bytes": 32 * MIB,
    "llc_sysconf_bytes": 32 * MIB,
    "smaller_caches_bytes": [32 * 1024, MIB],
}
STUCK = {"distinct_source_blocks": 1, "last_source_block": 0, "work_done_fraction": 1 / 2048}
FORMS = [
    row("both moved"),
    row("source stuck", **STUCK, time_ns=500_000.0),
    row("both stuck", **STUCK, destination_written_fraction=1 / 2048, time_ns=100_000.0),
    row("destination stuck", distinct_source_blocks=1, destination_written_fraction=1 / 2048,
        work_done_fraction=0.0),
    row("whole copy", block_bytes=None, blocks_declared=1, distinct_source_blocks=1,
        last_source_block=0),
]  # fmt: skip


def found(rows: list[dict]) -> set[str]:
    judged = source_not_advanced.detect(Seen(pd.DataFrame(rows)))
    return {where for finding in judged.findings for where in finding.where}


def test_stuck_sources_are_found_and_nothing_else() -> None:
    assert found(FORMS) == {"source stuck", "both stuck"}


def test_factor_is_that_of_the_honest_twin() -> None:
    judged = source_not_advanced.detect(Seen(pd.DataFrame(FORMS)))
    factors = {finding.where[0]: finding.factor for finding in judged.findings}
    assert factors == {"source stuck": pytest.approx(2.0), "both stuck": pytest.approx(10.0)}


def test_the_honest_twin_is_one_of_the_same_build() -> None:
    """Another build copies in another way, and that would seem to be a part of the factor."""
    own = [form | {"environment": {}, "flags_asked": ["-O2"]} for form in FORMS]
    other = own[0] | {"where": "another build", "time_ns": 600_000.0, "environment": {"TUNED": "1"}}
    judged = source_not_advanced.detect(Seen(pd.DataFrame([*own, other])))
    factors = {finding.where[0]: finding.factor for finding in judged.findings}
    assert factors["both stuck"] == pytest.approx(10.0)
    judged = source_not_advanced.detect(Seen(pd.DataFrame([own[2], other])))
    assert judged.findings[0].factor == pytest.approx(6.0)


def test_two_processes_have_no_honest_twin_in_one() -> None:
    two = FORMS[1] | {"where": "two processes", "bytes_per_call": 16 * MIB}
    judged = source_not_advanced.detect(Seen(pd.DataFrame([FORMS[0], two])))
    assert [finding.factor for finding in judged.findings] == [None]


def test_without_honest_twin_the_factor_is_unknown() -> None:
    (finding,) = source_not_advanced.detect(Seen(pd.DataFrame([FORMS[1]]))).findings
    assert finding.factor is None
    assert finding.confidence == 1.0


def test_explanation_carries_the_rows_own_figures() -> None:
    (finding,) = source_not_advanced.detect(Seen(pd.DataFrame([FORMS[1]]))).findings
    assert "2,048 blocks of 4 KiB" in finding.explanation
    assert finding.remedy
    assert {item["name"]: item["value"] for item in finding.evidence}["last_source_block"] == 0


def test_unobserved_destination_abstains() -> None:
    rows = pd.DataFrame([row("foreign", distinct_source_blocks=None)])
    judged = source_not_advanced.detect(Seen(rows))
    assert judged.findings == []
    assert "not observed" in judged.abstained["foreign"]


def known(points: list[dict], items: list[dict] | None = None) -> RunTables:
    return RunTables(points, {"buffers": 2, "sizes": {}}, items or [])


def test_renaming_and_permuting_change_nothing() -> None:
    def points(names: list[str], order: list[int]) -> list[dict]:
        made = [
            {
                "point": name,
                "variant": f"variant {name}",
                "twin": "",
                "state": "ok",
                "time_ns": form["time_ns"],
                "bytes_per_call": form["bytes"],
                "factors": {"bytes": form["bytes"], "block_bytes": form["block_bytes"],
                            "method": f"method {name}"},
                "observations": {
                    key: value
                    for key, value in form.items()
                    if key not in ("where", "bytes", "block_bytes", "time_ns")
                },
            }
            for name, form in zip(names, FORMS, strict=True)
        ]  # fmt: skip
        return [made[index] for index in order]

    names, others = list("abcde"), ["x7", "q1", "zz", "k0", "m3"]
    findings, *_ = findings_of(known(points(names, [0, 1, 2, 3, 4])))
    renamed, *_ = findings_of(known(points(others, [3, 1, 4, 0, 2])))
    back = dict(zip(others, names, strict=True))
    assert {(back[f["where"][0]], f["artefact"], f["factor"]) for f in renamed} == {
        (f["where"][0], f["artefact"], f["factor"]) for f in findings
    }


def test_detectors_are_found_by_wildcard() -> None:
    files = (Path(detect.__file__).parent / "detectors").glob("[!_]*.py")
    assert {module.ARTEFACT.id for module in all_detectors()} == {
        path.stem.replace("_", "-") for path in files
    }


def outcome(said: str, *, provoked: bool, control: str = "a", replayed: bool = False) -> Outcome:
    return Outcome("a", control, f"{said} {provoked}", provoked, said, replayed)


def test_controls_count_misses_and_false_alarms() -> None:
    seen = count(
        "a",
        [
            *(outcome(said, provoked=True) for said in ("found", "silent", "abstained", "skipped")),
            *(outcome(said, provoked=False) for said in ("found", "silent", "abstained")),
            outcome("found", provoked=True, replayed=True),
            outcome("silent", provoked=False, control="b"),
            Outcome("other", "a", "x", provoked=True, answer="found"),
        ],
    )
    assert (seen["provoked"], seen["detected"], seen["abstained"]) == (4, 2, 1)
    assert (seen["nulls"], seen["false_alarms"], seen["skipped"]) == (3, 1, 1)
    assert (seen["nulls_elsewhere"], seen["false_alarms_elsewhere"]) == (1, 0)
    assert (seen["replayed"]["provoked"], seen["replayed"]["nulls"]) == (1, 0)
    # Of the scenes that were played alone.
    assert seen["detected_interval"] == interval(1, 3)
    assert seen["false_alarm_interval"] == interval(1, 3)
    assert seen["missed_at"] == ["silent True"]
    assert seen["false_alarms_at"] == ["found False"]


def test_what_was_only_replayed_has_the_interval_of_its_replays() -> None:
    seen = count("a", [outcome("found", provoked=True, replayed=True)] * 3)
    assert seen["detected_interval"] == interval(3, 3)
    assert seen["false_alarm_interval"] is None


def test_intervals_of_the_counts_are_exact() -> None:
    assert interval(0, 0) is None
    low, high = interval(60, 60)
    # Clopper and Pearson: nothing missed in 60 leaves a share of 0.025 ** (1 / 60) at least.
    assert (low, high) == (pytest.approx(0.025 ** (1 / 60)), 1.0)
    assert interval(0, 300)[1] == pytest.approx(1 - 0.025 ** (1 / 300))


def sweep(knee_mib: float) -> pd.DataFrame:
    """A copy that is three times as fast up to a working set of `knee_mib`."""
    sizes = [n * MIB for n in (4, 8, 16, 32, 64, 128, 256, 512)]
    return pd.DataFrame(
        {
            "where": [f"p{n}" for n in range(len(sizes))],
            "series": "s",
            "working_set_bytes": sizes,
            "bytes_per_call": sizes,
            "time_ns": [n / (30 if n <= knee_mib * MIB else 10) for n in sizes],
        }
    )


@pytest.mark.parametrize(
    ("host", "knee_mib", "said"),
    [
        ({}, 32, None),
        ({}, 16, None),  # the bracket 16-32 MiB holds the 32 MiB
        ({}, 8, ("knee", 2.0)),  # at most 16 MiB: exactly 2x is not over 2x
        ({}, 4, ("knee", 4.0)),
        ({}, 256, ("knee", 8.0)),
        ({"llc_sysconf_bytes": 384 * MIB}, 32, ("sysconf", 12.0)),
        ({"llc_sysfs_bytes": None}, 32, None),
    ],
)
def test_cache_sizes_over_two_times_apart(host: dict, knee_mib: float, said) -> None:
    judged = cache_size_disagrees.detect(Seen(sweep(knee_mib), host=HOST | host))
    if said is None or said[1] <= 2:
        assert judged.findings == []
        return
    (finding,) = judged.findings
    assert finding.factor is None, "it is no factor of a rate"
    assert f"factor of {said[1]:.1f}" in finding.explanation
    assert bool(finding.where) == (said[0] == "knee")


def test_a_sweep_of_several_cores_names_no_cache() -> None:
    for more in ({"threads": 2}, {"processes": 2}):
        assert cache_size_disagrees.detect(Seen(sweep(4).assign(**more), host=HOST)).findings == []


def test_knee_of_a_smaller_cache_is_not_taken_for_the_last_one() -> None:
    host = HOST | {"smaller_caches_bytes": [4 * MIB]}
    assert cache_size_disagrees.detect(Seen(sweep(4), host=host)).findings == []


def test_no_word_on_the_cache_abstains() -> None:
    nothing = {"llc_sysfs_bytes": None, "llc_sysconf_bytes": None}
    judged = cache_size_disagrees.detect(Seen(pd.DataFrame([row("x")]), host=nothing))
    assert judged.findings == []
    assert judged.abstained


def built(where: str, *, dropped: tuple = (), added: tuple = (), **changes) -> dict:
    """A row of a variant whose command line was seen."""
    clean = {
        "where": where,
        "setting": "s1",
        "time_ns": 1000.0,
        "compiler": "cc1",
        "isa": ["AVX"],
        "flags_asked": ["-O3", "-march=native"],
        "flags_dropped": list(dropped),
        "flags_added": list(added),
        "flags_decided_by": "compiler",
    }
    return clean | changes


WRAPPED = {"dropped": ("-march=native",), "added": ("-fPIC",), "isa": []}


def impure(*rows: dict) -> detect.Judged:
    return impure_flags.detect(Seen(pd.DataFrame(rows)))


def test_changed_flags_are_one_finding_for_all_their_points() -> None:
    judged = impure(
        built("clean"),
        built("b", **WRAPPED, time_ns=2000.0),
        built("a", **WRAPPED, setting="s2"),
        built("other", added=("-O2",), flags_asked=[], flags_decided_by="meaning"),
    )
    first, second = judged.findings
    assert (first.where, first.factor, first.confidence) == (["a", "b"], 0.5, 1.0)
    assert "The requested flags were -O3 -march=native," in first.explanation
    assert "dropped -march=native and added -fPIC" in first.explanation
    assert "0.50 times as long" in first.explanation
    alike = impure(built("clean"), built("b", **WRAPPED, time_ns=1010.0)).findings[0]
    assert "takes the same time here" in alike.explanation
    for unknown in (0.0, float("nan")):
        (untimed,) = impure(built("clean"), built("b", **WRAPPED, time_ns=unknown)).findings
        assert untimed.factor is None
    said = {item["name"]: item["value"] for item in first.evidence}
    assert said["vector instructions"] == "none"
    assert (second.where, second.factor) == (["other"], None)
    assert second.confidence < 1
    assert (
        "The requested flags were no flag, but a wrapper of the compiler added -O2."
        in second.explanation
    )
    assert judged.abstained == {}


@pytest.mark.parametrize(
    "other", [{"compiler": "clang"}, {"flags_asked": ["-O3"]}, {"setting": "s2"}]
)
def test_a_twin_of_another_kind_gives_no_factor(other: dict) -> None:
    (finding,) = impure(built("clean", **other), built("b", **WRAPPED, time_ns=2000.0)).findings
    assert finding.factor is None


def test_flags_that_were_not_seen_abstain_and_clean_ones_are_silent() -> None:
    judged = impure(built("clean"), {"where": "peer", "time_ns": 1.0})
    assert judged.findings == []
    assert judged.abstained == {"peer": "flags_asked was not observed"}
    unknown = built("unknown") | {"flags_dropped": None, "flags_added": None}
    assert impure(unknown).abstained == {"unknown": "flags_dropped was not observed"}


def test_what_is_known_of_a_binary_reaches_its_points() -> None:
    point = {"twin": "", "state": "ok", "time_ns": 1.0, "bytes_per_call": 1, "observations": {}}
    points = [
        {**point, "point": f"{name},method=m", "variant": name, "factors": {"method": "m"}}
        for name in ("x", "y")
    ]
    flags = {"flags_asked": ["-O2"], "flags_dropped": [], "flags_added": []}
    items = [
        {"state": "ok", "point": "", "variant": variant, "name": name, "value": value}
        for variant, added in (("x", ["-fPIC"]), ("y", []))
        for name, value in (flags | {"flags_added": added}).items()
    ]
    findings, abstained, _ = findings_of(known(points, items))
    assert [(finding["artefact"], finding["where"]) for finding in findings] == [
        ("impure-flags", ["x,method=m"])
    ]
    assert findings[0]["factor"] == 1.0
    assert abstained["impure-flags"] == {}
