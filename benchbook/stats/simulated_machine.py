"""A simulated noisy machine: many whole runs at once, with known truth.

Time passes from invocation to invocation, or from turn to turn. The machine flips between a fast
and a slow state that persists, drifts slowly, works for neighbours now and then, and gives each
invocation a factor of its own; the samples inside an invocation are autocorrelated, and may be
skewed. All times are logs of ns around zero.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchbook.stats.checks import Floats

Order = Literal["blocks", "serial", "turns"]


@dataclass(frozen=True)
class Machine:
    """The noise of a machine; spreads and drift in logs, times in seconds.

    `neighbour_share` is the share of time in which a neighbour slows everything down by
    `neighbour_factor`, for `neighbour_s` each. `skew` is the mean of a one-sided (exponential) part
    of each sample's log.
    """

    samples: int = 15
    invocation_s: float = 0.5
    sample_sd: float = 0.03
    autocorrelation: float = 0.7
    invocation_sd: float = 0.02
    state_factor: float = 1.8
    dwell_s: float = 2.0
    drift: float = 0.1
    spike_share: float = 0.01
    spike_factor: float = 3.0
    neighbour_share: float = 0.0
    neighbour_factor: float = 1.3
    neighbour_s: float = 0.2
    skew: float = 0.0


# Two-thread bandwidth of a small virtual machine: 45-50 or 75-88 GB/s, for seconds to minutes.
FLIPPING = Machine()
RARELY_FLIPPING = Machine(dwell_s=30.0)
QUIET = Machine(state_factor=1.0, drift=0.0, spike_share=0.0)
DRIFTING = Machine(state_factor=1.0, drift=0.5)
SHARED = Machine(state_factor=1.0, neighbour_share=0.3)
SKEWED = Machine(state_factor=1.0, drift=0.0, skew=0.1)


@dataclass(frozen=True)
class Runs:
    """Log times (runs, blocks, points, samples) and the machine's state at each sample."""

    log_times: Floats
    states: NDArray[np.int8]

    def medians(self) -> Floats:
        """One summary per invocation: (runs, blocks, points)."""
        return np.median(self.log_times, axis=3)

    def log_ratios(self, over: int = 0) -> Floats:
        """Of each other point over point `over`: (runs, blocks, points - 1)."""
        medians = self.medians()
        others = np.delete(medians, over, axis=2)
        return others - medians[:, :, [over]]

    def samples_table(self, run: int) -> pd.DataFrame:
        """One run as a table of samples, for the functions that take tables; points p0, p1, ..."""
        log_times = self.log_times[run]
        block, point, sample = (index.ravel() for index in np.indices(log_times.shape))
        return pd.DataFrame(
            {
                "block": block,
                "invocation": block * log_times.shape[1] + point,
                "point": [f"p{number}" for number in point],
                "sample": sample,
                "warm_up": False,
                "time_ns": 1e6 * np.exp(log_times.ravel()),
                "bytes_declared": 4096,
            }
        )


def _states(machine: Machine, runs: int, steps: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """A two-state chain, 0 or 1, that stays `dwell_s` on average in each state: (runs, steps)."""
    step_s = machine.invocation_s / machine.samples
    flips = rng.random((runs, steps)) < 1 - np.exp(-step_s / machine.dwell_s)
    flips[:, 0] = rng.random(runs) < 0.5
    return (np.cumsum(flips, axis=1, dtype=np.int32) % 2).astype(np.int8)


def _neighbours(machine: Machine, runs: int, steps: int, rng: np.random.Generator) -> Floats:
    """Log of the factor by which a neighbour slows each step down: (runs, steps)."""
    if not machine.neighbour_share:
        return np.zeros((1, 1))
    span = max(1, round(machine.neighbour_s * machine.samples / machine.invocation_s))
    busy = rng.random((runs, steps // span + 1)) < machine.neighbour_share
    return np.log(machine.neighbour_factor) * np.repeat(busy, span, axis=1)[:, :steps]


def _correlated(machine: Machine, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Stationary first-order autoregression along the last axis, standard deviation sample_sd."""
    noise = rng.standard_normal(shape) * machine.sample_sd
    for i in range(1, shape[-1]):
        keep = machine.autocorrelation
        noise[..., i] = keep * noise[..., i - 1] + np.sqrt(1 - keep**2) * noise[..., i]
    return noise


def simulate(
    machine: Machine,
    rng: np.random.Generator,
    runs: int,
    blocks: int,
    log_truth: tuple[float, ...] = (0.0, 0.0),
    order: Order = "blocks",
) -> Runs:
    """`runs` runs of `blocks` invocations of each point.

    Order: "blocks", one invocation of each point after the other, in random order; "serial", all
    invocations of the first point, then all of the second, and so on; "turns", the points of a
    block start together and take turns of one sample.
    """
    points, samples = len(log_truth), machine.samples
    shape = (runs, blocks, points, samples)
    states = _states(machine, runs, blocks * points * samples, rng)
    progress = np.linspace(-0.5, 0.5, blocks * points * samples)
    slope = machine.drift * rng.uniform(-1, 1, (runs, 1))
    in_time = states * np.log(machine.state_factor) + slope * progress
    in_time = in_time + _neighbours(machine, runs, states.shape[1], rng)
    if order == "serial":
        in_time = in_time.reshape(runs, points, blocks, samples).swapaxes(1, 2)
        states = states.reshape(runs, points, blocks, samples).swapaxes(1, 2)
    elif order == "turns":
        in_time = in_time.reshape(runs, blocks, samples, points).swapaxes(2, 3)
        states = states.reshape(runs, blocks, samples, points).swapaxes(2, 3)
    else:
        in_time, states = in_time.reshape(shape), states.reshape(shape)
        shuffled = rng.permuted(np.broadcast_to(np.arange(points), shape[:3]), axis=2)[..., None]
        in_time = np.take_along_axis(in_time, shuffled, axis=2)
        states = np.take_along_axis(states, shuffled, axis=2)
    times = in_time + _correlated(machine, shape, rng)
    times += machine.invocation_sd * rng.standard_normal((*shape[:3], 1))
    times += (rng.random(shape) < machine.spike_share) * np.log(machine.spike_factor)
    if machine.skew:
        times += machine.skew * rng.exponential(size=shape)
    return Runs(times + np.asarray(log_truth)[:, None], states)
