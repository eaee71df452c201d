"""Chains of causes on made-up runs: planted factors, planted remainders, and what is missing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from claimed import twin_id
from made_up_chain import (
    CONTENT,
    KIB,
    MIB,
    MOVED,
    STILL,
    STUCK,
    WHOLE,
    MadeUp,
    thresholds,
)

from benchbook.core.reason_codes import Code
from benchbook.define.models import Anomaly, Step
from benchbook.judge import causes
from benchbook.judge.attribution import cause_chain
from benchbook.judge.attribution.explained_share import explained

CHAIN = [
    {"cause": "destination-not-advanced", "removed": STILL},
    {"cause": "source-not-advanced", "removed": MOVED},
]
# What honest copies say: 4 KiB at 100, a working set of 32 MiB at 20, one of 64 MiB at 12 GB/s.
STILL_RATE = 1 / (1 / 3 / 100 + 2 / 3 / 20) * 1e9
FACTOR = {"stuck": 100e9, "still": STILL_RATE, "block": 12e9}


def planted(left: float = 1.0, **changes: float) -> MadeUp:
    """The block copies as honest copies predict them, each times its change; `left`: what the
    fastest keeps over the whole copy when both pointers move."""
    run = MadeUp()
    for factors in (STUCK, STILL, MOVED):
        method = factors["method"]
        run.add(factors, FACTOR[method] * changes.get(method, 1.0) * left)
    return run


def chain_of(run: MadeUp, steps: list[dict[str, Any]] | None = None, **changes: Any) -> Any:
    """The one anomaly of a figure."""
    named = {"id": "a", "text": "odd", "odd": STUCK, "base": WHOLE, "steps": steps or CHAIN}
    items = changes.pop("items", thresholds())
    anomaly = Anomaly.model_validate(named | changes)
    (found,) = explained([anomaly], CONTENT, run.analysis(), run.summaries(), items)
    return found


def test_what_evidence_predicts_and_twins_confirm_is_explained() -> None:
    found = chain_of(planted())
    assert found["state"] == "ok"
    assert found["factor"]["value"] == pytest.approx(100 / 12, rel=0.02)
    first, second = found["steps"]
    assert first["predicted"]["value"] == pytest.approx(100e9 / STILL_RATE, rel=0.02)
    assert first["measured"]["low"] < 100e9 / STILL_RATE < first["measured"]["high"]
    assert second["predicted"]["value"] == pytest.approx(STILL_RATE / 12e9, rel=0.02)
    assert found["explained"] > 0.98
    assert first["share"] + second["share"] == pytest.approx(1, abs=0.02)
    assert found["intervals"] == 4


def test_what_is_left_when_all_causes_are_removed_is_unexplained() -> None:
    found = chain_of(planted(left=1.3, stuck=1 / 1.3, still=1 / 1.3))
    assert found["remainder"]["low"] < 1.3 < found["remainder"]["high"]
    # The step before it shrinks by as much: its prediction misses that.
    expected = 2 * math.log(1.3) / math.log(100 / 12)
    assert found["unexplained"]["value"] == pytest.approx(expected, abs=0.02)
    assert found["unexplained"]["low"] < expected < found["unexplained"]["high"]
    assert found["explained"] == pytest.approx(1 - expected, abs=0.02)


def test_a_prediction_that_is_off_leaves_its_miss_unexplained_either_way() -> None:
    for change in (1.2, 1 / 1.2):
        found = chain_of(planted(stuck=change))
        whole = math.log(change * 100 / 12)
        assert found["unexplained"]["value"] == pytest.approx(math.log(1.2) / whole, abs=0.02)


def test_misses_do_not_cancel() -> None:
    found = chain_of(planted(still=1.5))
    first, second = found["steps"]
    assert first["measured"]["value"] < first["predicted"]["value"]
    assert second["measured"]["value"] > second["predicted"]["value"]
    assert found["unexplained"]["value"] == pytest.approx(
        2 * math.log(1.5) / math.log(100 / 12), abs=0.02
    )


def test_a_prediction_of_the_wrong_sign_explains_nothing() -> None:
    found = chain_of(planted(block=2.5, still=0.6))
    second = found["steps"][1]
    assert second["measured"]["value"] < 1 < second["predicted"]["value"]
    assert second["explained"] == 0


def without(run: MadeUp, method: str) -> MadeUp:
    """The run without the points of a method."""
    gone = next(point for point in run.points if point["factors"]["method"] == method)
    run.points.remove(gone)
    del run.logs[gone["point"]]
    return run


def test_without_its_first_twin_nothing_is_told() -> None:
    found = chain_of(without(planted(), "still"))
    first, second = found["steps"]
    assert found["state"] == "no_twin"
    assert first["measured"] is None
    assert first["lost"]["code"] == Code.NOT_IN_PRESET
    assert second["lost"] == {"code": Code.BEHIND_A_LOST_TWIN}
    assert {first["state"], second["state"]} == {"cannot_tell"}
    assert found["explained"] is None


def test_a_missing_twin_ends_the_chain_and_the_rest_is_not_measured() -> None:
    found = chain_of(without(planted(), "block"))
    first, second = found["steps"]
    assert first["measured"]
    assert second["measured"] is None
    rest = math.log(STILL_RATE / 12e9)
    assert found["remainder"]["value"] == pytest.approx(math.exp(rest), rel=0.02)
    whole = math.log(100 / 12)
    assert found["unmeasured"] == pytest.approx(rest / whole, abs=0.02)
    assert found["unexplained"]["value"] < 0.02
    assert found["explained"] == pytest.approx(1 - rest / whole, abs=0.02)


def test_a_cause_without_evidence_predicts_nothing_though_its_twin_shows_its_share() -> None:
    run = planted()
    for point in run.points:
        point["observations"].pop("destination_written_fraction", None)
    found = chain_of(run)
    first = found["steps"][0]
    assert first["state"] == "cannot_tell"
    assert first["predicted"] is None
    assert first["explained"] is None
    assert first["share"] > 0.5
    # Neither step is held against a prediction: nothing is known to be explained or not.
    assert found["explained"] is None
    assert found["unpredicted"] == pytest.approx(1, abs=0.02)


def test_what_nothing_predicts_stands_apart_from_what_a_prediction_explains() -> None:
    run = planted()
    next(point for point in run.points if point["factors"] == STUCK)["observations"].pop(
        "destination_written_fraction"
    )
    first, second = (found := chain_of(run))["steps"]
    assert (first["explained"], first["state"]) == (None, "cannot_tell")
    assert found["unpredicted"] == pytest.approx(first["share"], abs=0.01)
    assert found["explained"] == pytest.approx(second["share"], abs=0.03)
    assert found["unexplained"]["value"] < 0.02


def twinned(run: MadeUp, kind: str, factor: float) -> None:
    """Plant a twin of the whole copy that is so much faster."""
    point = next(point for point in run.points if point["factors"] == WHOLE)
    name = twin_id(point["point"], kind)
    run.points.append(point | {"point": name, "twin": kind})
    run.logs[name] = run.logs[point["point"]] + math.log(factor)


def test_a_missing_relinked_twin_is_no_floor() -> None:
    run = planted()
    twinned(run, "again", 1.0)
    found = chain_of(run)
    assert (found["state"], found["null_fails"]) == ("ok", False)
    assert found["smallest_effect"] < 1.05
    twinned(run, "relinked", 1.3)
    assert chain_of(run)["smallest_effect"] == pytest.approx(1.3, rel=0.03)


def test_a_failed_null_is_a_floor_as_far_as_it_is_off() -> None:
    run = planted()
    twinned(run, "again", 10.0)
    found = chain_of(run)
    assert (found["state"], found["null_fails"]) == ("not_odd", True)
    assert found["smallest_effect"] == pytest.approx(10, rel=0.05)


def test_a_factor_that_is_none_has_no_shares() -> None:
    run = planted()
    run.logs[run.points[-1]["point"]] = math.log(12e9)
    found = chain_of(run, [{"cause": "first-touch"}], odd=MOVED)
    assert found["state"] == "not_odd"
    assert found["unexplained"] is None
    assert found["steps"][0]["share"] is None


def test_points_of_another_preset_say_so() -> None:
    found = chain_of(MadeUp())
    assert found["state"] == "not_measured"
    assert found["reason"]["code"] == Code.NOT_IN_PRESET
    assert found["steps"] == []


def test_a_size_unknown_on_this_host_says_so() -> None:
    run = planted()
    named = {"id": "a", "text": "t", "odd": STUCK | {"bytes": "2 x LLC"}}
    anomalies = [Anomaly.model_validate(named | {"base": WHOLE, "steps": CHAIN})]
    analysis = run.analysis() | {"sizes": {"LLC": None, "total LLC": None, "cores": 1}}
    (found,) = explained(anomalies, CONTENT, analysis, run.summaries(), [])
    assert found["reason"] == {"code": Code.SIZE_UNKNOWN}


def test_a_figure_without_anomalies_has_none() -> None:
    run = planted()
    assert explained([], CONTENT, run.analysis(), run.summaries(), []) == []


def test_evidence_excludes_what_had_no_effect() -> None:
    steps = [
        {"cause": artefact}
        for artefact in ("first-touch", "zero-page", "cache-resident", "state-flip")
    ]
    found = chain_of(planted(), [*CHAIN, *steps])
    for step in found["steps"][2:]:
        assert step["state"] == "excluded"
        assert step["predicted"]["value"] == 1
        assert step["share"] is None
    assert found["explained"] > 0.98


def test_faults_without_a_price_are_no_zero() -> None:
    run = planted()
    next(point for point in run.points if point["factors"] == STUCK)["observations"][
        "minor_faults"
    ] = 900
    (step,) = chain_of(run, [{"cause": "first-touch"}])["steps"]
    assert step["state"] == "cannot_tell"
    assert "900" in step["why"]


def test_states_that_differ_are_predicted_by_the_anchor() -> None:
    run = planted()
    table = run.summaries()
    odd = table["point"] == next(p["point"] for p in run.points if p["factors"] == STUCK)
    table.loc[odd, "machine_state"] = "2"
    named = {"id": "a", "text": "t", "odd": STUCK, "base": WHOLE}
    anomalies = [Anomaly.model_validate(named | {"steps": [{"cause": "state-flip"}]})]
    (found,) = explained(anomalies, CONTENT, run.analysis(), table, [])
    # The anchor takes twice as long in state 2, so the odd side would be half as fast.
    assert found["steps"][0]["predicted"]["value"] == pytest.approx(0.5)
    assert found["steps"][0]["state"] == "predicted"


def switched(
    run: MadeUp, factor: float, elsewhere: float, block: int = 32 * KIB
) -> list[dict[str, Any]]:
    """Block copies whose library copies in one way: slower by `factor`, at other blocks
    `elsewhere`."""
    larger = MOVED | {"block_bytes": block}
    run.add(MOVED, 12e9 / factor, "w")
    run.add(larger, 15e9)
    run.add(larger, 15e9 / elsewhere, "w")
    return [*CHAIN, {"cause": "copy-path-switch", "removed": MOVED | {"variant": "w"}}]


def test_another_way_of_copying_is_predicted_by_blocks_of_another_size() -> None:
    run = planted()
    steps = switched(run, 1.3, 1.25)
    found = chain_of(run, steps, items=thresholds(rep_movsb_threshold=2**40))
    step = found["steps"][2]
    assert step["predicted"]["value"] == pytest.approx(1.25, rel=0.01)
    assert step["measured"]["value"] == pytest.approx(1.3, rel=0.01)
    assert "rep movsb" in step["why"]
    assert "vector loop" in step["why"]
    assert found["remainder"]["value"] == pytest.approx(1 / 1.3, rel=0.01)


def test_one_way_of_copying_on_both_sides_is_excluded() -> None:
    run = planted()
    found = chain_of(run, switched(run, 1.0, 1.0), items=thresholds())
    assert found["steps"][2]["state"] == "excluded"


def test_a_library_that_names_no_thresholds_is_not_said_to_switch() -> None:
    run = planted()
    step = chain_of(run, switched(run, 1.3, 1.25), items=[])["steps"][2]
    assert step["state"] == "cannot_tell"
    assert "way than" not in step["why"]


def test_a_side_without_a_call_is_no_switch() -> None:
    run = planted()
    steps = switched(run, 1.3, 1.25)
    next(point for point in run.points if point["factors"] == MOVED)["observations"][
        "library_calls"
    ] = []
    step = chain_of(run, steps, items=thresholds(rep_movsb_threshold=2**40))["steps"][2]
    assert step["state"] == "cannot_tell"
    assert "only one side" in step["why"]


def test_a_switch_is_not_told_from_blocks_of_far_another_size() -> None:
    run = planted()
    steps = switched(run, 1.3, 1.25, 64 * KIB)
    step = chain_of(run, steps, items=thresholds(rep_movsb_threshold=2**40))["steps"][2]
    assert step["state"] == "cannot_tell"
    assert "near this one" in step["why"]


def test_small_calls_follow_the_trend_of_larger_ones() -> None:
    run = planted()
    for block, rate in ((16 * KIB, 10e9), (64 * KIB, 11e9)):
        run.add(MOVED | {"block_bytes": block}, rate)
    one_call = MOVED | {"block_bytes": MOVED["bytes"]}
    run.add(one_call, 12e9)
    found = chain_of(run, [{"cause": "small-calls", "removed": one_call}], odd=MOVED)
    expected = 10 * (10 / 11) / 12
    assert found["steps"][0]["predicted"]["value"] == pytest.approx(expected, rel=0.01)


def test_a_size_within_a_cache_is_predicted_by_another_honest_method() -> None:
    run = planted()
    small, large = ({**MOVED, "bytes": size} for size in (8 * MIB, 128 * MIB))
    run.add(small, 40e9)
    run.add(large, 9e9)
    steps = [{"cause": "cache-resident", "removed": large}]
    found = chain_of(run, steps, odd=small, base=large)
    (step,) = found["steps"]
    assert step["predicted"]["value"] == pytest.approx(40 / 9, rel=0.02)
    assert "fits L3" in step["why"]
    assert "beyond all caches" in step["why"]
    assert found["remainder"] is None
    assert found["explained"] > 0.95


def test_no_prediction_rests_on_the_times_of_its_own_pair() -> None:
    run = planted()
    steps = switched(run, 1.3, 1.25)
    items = thresholds(rep_movsb_threshold=2**40)
    declared = [Step.model_validate(step) for step in steps]
    state = cause_chain.run_of(CONTENT, run.analysis(), run.summaries(), items)
    base = next(point for point in run.points if point["factors"] == WHOLE)["point"]
    odd = next(point for point in run.points if point["factors"] == STUCK)["point"]
    for link in cause_chain.chain(declared, state, odd, base):
        logs = state.logs.copy()
        logs[link.with_cause] += 3.0
        logs[link.without_cause] -= 2.0
        moved = replace(state, logs=logs)
        other = next(
            step
            for step in cause_chain.chain(declared, moved, odd, base)
            if step.cause == link.cause
        )
        before, after = (step.answer.log for step in (link, other))
        assert (before - after).abs().max() == pytest.approx(0), link.cause


def test_every_cause_answers_whatever_is_missing() -> None:
    run = planted()
    for point in run.points:
        point["observations"] = {}
    steps = [{"cause": name} for name in causes.names()]
    found = chain_of(run, steps, items=[])
    for step in found["steps"]:
        assert step["state"] in ("cannot_tell", "excluded"), step["cause"]
        assert step["why"]


@pytest.mark.parametrize("name", causes.names())
def test_a_cause_is_one_file_that_says_what_it_is(name: str) -> None:
    module = causes.cause_of(name)
    assert name == module.CAUSE
    assert module.TITLE
    assert module.__doc__
    assert module.predict.__doc__
