"""States from anchor and probe: clear ones found, ordinary spread left whole."""

import math

import numpy as np
import pandas as pd
import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError
from benchbook.stats.states import levels

S = 10**9


def readings(values, name="anchor", every_ns=S):
    values = np.asarray(values, dtype=float)
    return pd.DataFrame({"t_ns": np.arange(len(values)) * every_ns, "name": name, "value": values})


def flipping(n=24, step=1.8, spread=0.02, seed=0):
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) // 6) % 2
    return np.exp(truth * math.log(step) + rng.normal(0, spread, n)), truth


def spans(*pairs):
    return pd.DataFrame(pairs, columns=["t_start_ns", "t_end_ns"])


def test_two_states_are_found_as_they_were():
    values, truth = flipping()
    found = stats.assign_states(readings(values))
    assert (found["state"] == 1 + truth).all()
    assert list(found.columns) == ["t_ns", "name", "value", "state"]


def test_three_states_and_never_more():
    rng = np.random.default_rng(1)
    three = np.repeat([1.0, 2.0, 4.0], 10) * np.exp(rng.normal(0, 0.02, 30))
    four = np.repeat([1.0, 2.0, 4.0, 8.0], 10) * np.exp(rng.normal(0, 0.02, 40))
    assert stats.assign_states(readings(three))["state"].tolist() == [1] * 10 + [2] * 10 + [3] * 10
    assert stats.assign_states(readings(four))["state"].nunique() == 3


def test_row_order_and_unit_do_not_matter():
    table = readings(flipping()[0])
    again = stats.assign_states(
        table.sample(frac=1, random_state=5).assign(value=table["value"] * 1e6)
    )
    assert again["state"].tolist() == stats.assign_states(table)["state"].tolist()


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("normal", lambda rng, n: rng.normal(0, 0.05, n)),
        ("wide normal", lambda rng, n: rng.normal(0, 0.3, n)),
        ("uniform", lambda rng, n: rng.uniform(0, 0.5, n)),
        ("exponential", lambda rng, n: rng.exponential(0.1, n)),
        ("slow drift", lambda rng, n: np.linspace(0, 0.5, n) + rng.normal(0, 0.03, n)),
    ],
)
@pytest.mark.parametrize(
    ("n", "at_most", "times"), [(12, 0.05, 400), (24, 0.02, 300), (50, 0.01, 200)]
)
def test_one_state_is_rarely_cut(name, draw, n, at_most, times):
    rng = np.random.default_rng([n, 4])
    cut = [len(levels(draw(rng, n))) > 1 for _ in range(times)]
    assert np.mean(cut) <= at_most


@pytest.mark.parametrize(
    ("n", "share", "at_least"), [(12, 0.5, 0.85), (24, 0.5, 0.97), (24, 0.2, 0.75), (50, 0.2, 0.9)]
)
def test_two_clear_states_are_rarely_missed(n, share, at_least):
    """As on the small virtual machine: a step of 1.6, a spread of 5 %."""
    rng = np.random.default_rng([n, 9])
    found = []
    for _ in range(300):
        slow = rng.random(n) < share
        found.append(len(levels(slow * math.log(1.6) + rng.normal(0, 0.05, n))) == 2)
    assert np.mean(found) >= at_least


def test_a_small_step_is_no_state():
    values, _ = flipping(step=1.06, spread=0.001)
    assert (stats.assign_states(readings(values))["state"] == 1).all()


def test_few_readings_are_one_state():
    values = [1.0, 2.0] * 5
    assert (stats.assign_states(readings(values))["state"] == 1).all()


def test_one_delayed_reading_is_no_state():
    values = np.r_[np.full(30, 1.0) * np.exp(np.random.default_rng(1).normal(0, 0.02, 30)), 9.0]
    assert (stats.assign_states(readings(values))["state"] == 1).all()


def test_equal_readings_are_one_state():
    assert (stats.assign_states(readings(np.ones(30)))["state"] == 1).all()


def test_the_anchor_decides_before_a_probe_with_a_wider_step():
    anchor, truth = flipping()
    pair = readings(np.tile([50.0, 240.0], 12), "pair 0-1")
    found = stats.assign_states(pd.concat([readings(anchor), pair]))
    assert (found["name"] == "anchor").all()
    assert (found["state"] == 1 + truth).all()


def test_a_probe_decides_where_the_anchor_shows_nothing():
    calm = readings(np.exp(np.random.default_rng(3).normal(0, 0.02, 24)))
    near = readings(np.tile([50.0, 100.0], 12), "pair 0-1")
    far = readings(np.tile([50.0, 240.0], 12), "pair 0-2")
    found = stats.assign_states(pd.concat([calm, near, far]))
    assert (found["name"] == "pair 0-2").all()
    found = stats.assign_states(pd.concat([calm, near, far]), prefer=["pair 0-1"])
    assert (found["name"] == "pair 0-1").all()


def test_with_one_state_every_reading_comes_back():
    calm = readings(np.ones(24))
    found = stats.assign_states(pd.concat([calm, calm.assign(name="work 0")]))
    assert len(found) == 48
    assert found["t_ns"].is_monotonic_increasing


def test_wrong_readings_are_refused():
    with pytest.raises(BenchbookError, match="no readings"):
        stats.assign_states(readings([]))
    for bad in (math.nan, 0.0, -1.0):
        with pytest.raises(BenchbookError):
            stats.assign_states(readings([1.0, bad]))
    with pytest.raises(BenchbookError, match="name"):
        stats.assign_states(readings([1.0]).drop(columns="name"))


STATES = pd.DataFrame({"t_ns": [0, 10, 20, 30, 40], "state": [1, 1, 2, 1, 1]})


@pytest.mark.parametrize(
    ("span", "state"),
    [
        ((2, 8), "1"),
        ((0, 10), "1"),
        ((12, 18), "mixed"),
        ((22, 28), "mixed"),
        ((20, 20), "2"),
        ((12, 28), "mixed"),
        ((8, 32), "mixed"),
        ((31, 39), "1"),
        ((-5, 5), "mixed"),
        ((35, 45), "mixed"),
    ],
)
def test_state_of_an_interval(span, state):
    assert stats.state_of(spans(span), STATES).tolist() == [state]


def test_readings_out_of_reach_say_nothing():
    assert stats.state_of(spans((4, 6)), STATES, reach_ns=4).tolist() == ["1"]
    assert stats.state_of(spans((4, 6)), STATES, reach_ns=3).tolist() == ["mixed"]


def test_state_of_keeps_the_index_and_takes_rows_in_any_order():
    intervals = spans((31, 39), (2, 8)).set_index(pd.Index([7, 3]))
    found = stats.state_of(intervals, STATES.sample(frac=1, random_state=2))
    assert found.to_dict() == {7: "1", 3: "1"}


def test_state_of_nothing():
    assert stats.state_of(spans(), STATES).empty
    assert stats.state_of(spans((1, 2)), STATES.iloc[:0]).tolist() == ["mixed"]
    with pytest.raises(BenchbookError, match="monotonic"):
        stats.state_of(spans((5, 4)), STATES)
    with pytest.raises(BenchbookError, match="t_end_ns"):
        stats.state_of(spans((1, 2)).drop(columns="t_end_ns"), STATES)


def test_states_do_not_come_from_the_sample():
    """Invocations of wildly different times between equal readings are all in one state."""
    found = stats.assign_states(readings(np.ones(24)))
    intervals = spans(*[(t * S + 1, (t + 1) * S - 1) for t in range(23)])
    assert (stats.state_of(intervals, found) == "1").all()


def test_from_readings_to_estimates_per_state():
    """B is 1.5 times slower in state 2 only: each state shows its ratio, all data lie between."""
    values, truth = flipping(n=49)
    states = stats.assign_states(readings(values))
    blocks = np.arange(48)
    rows = []
    for block in blocks:
        own = 1 + 0.5 * truth[block]
        rows += [
            {"block": block, "point": "a", "value": 10.0, "t": block * S},
            {"block": block, "point": "b", "value": 10.0 * own, "t": block * S},
        ]
    summaries = pd.DataFrame(rows)
    when = spans(*[(t + 1, t + S - 1) for t in summaries["t"]])
    summaries["state"] = stats.state_of(when, states)
    pairs = pd.DataFrame([{"comparison": "c", "numerator": "b", "denominator": "a"}])
    found = stats.ratio_intervals_by_state(stats.paired_log_ratios(summaries, pairs), claims=1)
    ratio = found.set_index("state")["ratio"]
    assert ratio["1"] == pytest.approx(1.0)
    assert ratio["2"] == pytest.approx(1.5)
    assert 1.0 < ratio["all"] < 1.5
    assert "mixed" in ratio.index
