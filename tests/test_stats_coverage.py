"""What the intervals promise, on simulated noisy machines with known truth.

Every scenario has 2,500 runs from a fixed seed and prints its rate with the simulation's own exact
95 % interval. Where 93 % is asked for, a true 92 % fails in 97 of 100 simulations, 91 % in all. The
negative controls show that the simulation can fail: two ways of comparing that people use fail on
the same runs.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT
from scipy.stats import binomtest
from stopped_runs import Stopped, stop_by_width

from benchbook import stats
from benchbook.stats.simulated_machine import (
    DRIFTING,
    FLIPPING,
    QUIET,
    RARELY_FLIPPING,
    Order,
    Runs,
    simulate,
)

# After how many blocks a run of preset quick may stop.
LOOKS = tuple(yaml.safe_load((ROOT / "config/default.yaml").read_text())["looks"])
RUNS = 2500
SEED = 3
MACHINES = {
    "quiet": QUIET,
    "flipping": FLIPPING,
    "rarely flipping": RARELY_FLIPPING,
    "drifting": DRIFTING,
}
# Widths that stop some runs at each look: where stopping early could cost the most coverage.
TARGETS = {"quiet": 0.018, "flipping": 0.1, "rarely flipping": 0.018, "drifting": 0.018}


def runs_of(
    name: str, truth: tuple[float, ...] = (0.0, 0.0), order: Order = "blocks", runs: int = RUNS
) -> Runs:
    """Other runs for each machine, number of points, order, and for a true difference or none."""
    scenario = [list(MACHINES).index(name), len(truth), order == "serial", any(truth)]
    rng = np.random.default_rng([SEED, *scenario])
    machine = MACHINES[name] if len(truth) == 2 else replace(MACHINES[name], samples=5)
    return simulate(machine, rng, runs, max(LOOKS), truth, order)


@cache
def ratios_of(name: str, order: Order = "blocks") -> np.ndarray:
    """Log ratios of two equal variants: only these are kept, all samples would fill the memory."""
    return runs_of(name, order=order).log_ratios()


@pytest.fixture
def show(capsys):
    """Prints a simulated rate with its own exact (Clopper-Pearson) interval; returns the rate."""

    def printer(what: str, hits: np.ndarray) -> float:
        count, n = int(hits.sum()), len(hits)
        assert n >= RUNS
        own = binomtest(count, n).proportion_ci(0.95, method="exact")
        with capsys.disabled():
            print(
                f"\n  {what}: {count / n:.1%} of {n} runs ({own.low:.1%} to {own.high:.1%})", end=""
            )
        return count / n

    return printer


def stopped(log_ratios: np.ndarray, target: float, claims: int = 1) -> Stopped:
    level = stats.adjusted_level(claims)
    looks = stats.looks_from(LOOKS, stats.least_blocks(claims))
    return stop_by_width(log_ratios, target, looks, looks[0], level)


@pytest.mark.parametrize("runs", [RUNS, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", MACHINES)
def test_intervals_cover_the_truth(name, runs, show):
    truth = (0.0, float(np.log(1.1)))
    found = stopped(runs_of(name, truth, runs=runs).log_ratios(), TARGETS[name])
    assert len(set(found.blocks)) > 1, "the stopping rule never mattered"
    rate = show(f"{name}, covers the truth", found.covers(truth[1]).all(axis=1))
    assert rate >= 0.93


@pytest.mark.parametrize("target", [0.01, 0.015, 0.02, 0.025, 0.03, 0.05])
def test_no_target_width_costs_much_coverage(target, show):
    found = stopped(ratios_of("quiet"), target)
    assert show(f"quiet, stopped at {target}", found.covers(0.0).all(axis=1)) >= 0.93


def test_intervals_cover_when_one_variant_is_noisier(show):
    """Symmetric noise of different size is allowed; only one-sided skewness is not."""
    own_noise = np.random.default_rng(SEED).normal(0.0, 0.1, (RUNS, max(LOOKS), 1))
    found = stopped(ratios_of("flipping") + own_noise, 0.15)
    assert show("one variant noisier", found.covers(0.0).all(axis=1)) >= 0.93


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("claims", [1, 6])
def test_same_binary_twice_is_rarely_called_different(name, claims, show):
    found = stopped(ratios_of(name), TARGETS[name], claims)
    ends = zip(np.exp(found.lows[:, 0]), np.exp(found.highs[:, 0]), strict=True)
    failed = np.array([not stats.null_check(low, high) for low, high in ends])
    assert show(f"{name}, A/A called different at {claims} claims", failed) <= 0.07


@pytest.mark.parametrize("name", ["flipping", "rarely flipping"])
def test_equal_variants_on_a_flipping_machine(name, show):
    """The first thing that a flipping machine must not do: make one of two equals look faster."""
    found = stopped(ratios_of(name), 0.03)
    different = ~found.covers(0.0)[:, 0]
    assert show(f"{name}, equal variants called different", different) <= 0.07


@pytest.mark.parametrize("name", ["flipping", "rarely flipping"])
def test_negative_control_serial_order(name, show):
    """All of A, then all of B: the same analysis is wrong many times as often."""
    serial = ~stopped(ratios_of(name, order="serial"), 0.03).covers(0.0)[:, 0]
    random = ~stopped(ratios_of(name), 0.03).covers(0.0)[:, 0]
    rate = show(f"{name}, serial order calls equal variants different", serial)
    assert rate > 0.25
    assert rate > 4 * random.mean()


@pytest.mark.parametrize("name", ["quiet", "flipping"])
def test_negative_control_pooled_samples(name, show):
    """Pooling the samples of all invocations treats 15 correlated samples as 15 witnesses."""
    log_times = runs_of(name).log_times
    first, second = (log_times[:, :, point].reshape(RUNS, -1) for point in (0, 1))
    difference = second.mean(axis=1) - first.mean(axis=1)
    n = first.shape[1]
    error = np.sqrt((first.var(axis=1, ddof=1) + second.var(axis=1, ddof=1)) / n)
    covered = np.abs(difference) <= 1.96 * error
    assert show(f"{name}, pooled interval covers the truth", covered) < 0.80


@pytest.mark.parametrize("name", ["quiet", "flipping"])
def test_all_claims_of_a_figure_are_covered_together(name, show):
    truth = (0.0, 0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
    runs = runs_of(name, truth)
    found = stopped(runs.log_ratios(), 0.03 if name == "quiet" else 0.3, claims=6)
    together = found.covers(np.array(truth[1:])).all(axis=1)
    assert show(f"{name}, six claims covered together", together) >= 0.93


def test_verdicts_are_rarely_wrong_and_tight_true_claims_are_settled(show):
    low, high = np.log([0.95, 1.05])

    def verdicts(found, n):
        return np.array(
            [stats.decide(found.lows[i, 0], found.highs[i, 0], low, high) for i in range(n)]
        )

    for name in MACHINES:
        found = stopped(ratios_of(name), 0.018)
        outside, inside = shifted(found, high + 1e-9), shifted(found, high - 1e-9)
        rate = show(f"{name}, reproduced wrongly", verdicts(outside, RUNS) == "reproduced")
        assert rate <= 0.05
        rate = show(f"{name}, not reproduced wrongly", verdicts(inside, RUNS) == "not_reproduced")
        assert rate <= 0.05
    settled = verdicts(stopped(ratios_of("quiet"), 0.001), RUNS) == "reproduced"
    assert show("quiet, 24 blocks, a true claim of 5 % reproduced", settled) >= 0.95


def shifted(found: Stopped, by: float) -> Stopped:
    """The intervals of the same runs, had the true log ratio been `by`: everything shifts alike."""
    return Stopped(found.lows + by, found.highs + by, found.blocks)


def test_the_tables_give_the_simulated_intervals():
    """Samples -> summaries -> log ratios -> intervals is what the simulation computes in one go."""
    runs = runs_of("flipping")
    pairs = pd.DataFrame([{"comparison": "c", "numerator": "p1", "denominator": "p0"}])
    for run in (0, 1):
        summaries = stats.invocation_summaries(runs.samples_table(run))
        values = summaries.rename(columns={"median_ns": "value"})
        row = stats.ratio_intervals(stats.paired_log_ratios(values, pairs), claims=6).iloc[0]
        level = stats.adjusted_level(6)
        estimates, lows, highs, attained = stats.signed_rank_intervals(
            runs.log_ratios()[[run], :, 0], level
        )
        expected = [*np.exp([estimates[0], lows[0], highs[0]]), attained]
        assert row[["ratio", "low", "high", "attained"]].tolist() == pytest.approx(expected)


def test_simulated_machine_is_as_described():
    """Two states that persist, each half of the time, and correlated samples."""
    runs = runs_of("flipping")
    states = runs.states
    assert states.mean() == pytest.approx(0.5, abs=0.02)
    slow = runs.log_times[states == 1].mean() - runs.log_times[states == 0].mean()
    assert slow == pytest.approx(np.log(FLIPPING.state_factor), abs=0.02)
    flips = (np.diff(states, axis=3) != 0).mean() * FLIPPING.samples / FLIPPING.invocation_s
    assert flips == pytest.approx(1 / FLIPPING.dwell_s, rel=0.05)
    quiet = runs_of("quiet").log_times
    inside = quiet - quiet.mean(axis=3, keepdims=True)
    first, second = inside[..., :-1].ravel(), inside[..., 1:].ravel()
    assert np.corrcoef(first, second)[0, 1] > 0.5
