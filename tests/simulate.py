"""A simulated noisy machine: many whole runs at once, with known truth.

Time passes from invocation to invocation. The machine flips between a fast and a slow state that
persists, drifts slowly, and gives each invocation a factor of its own; the samples inside an
invocation are autocorrelated. All times are logs of ns around zero.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchbook.stats import next_look, signed_rank_intervals

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """The noise of a machine; spreads and drift in logs, times in seconds."""

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


# Two-thread bandwidth of a small virtual machine: 45-50 or 75-88 GB/s, for seconds to minutes.
FLIPPING = Machine()
RARELY_FLIPPING = Machine(dwell_s=30.0)
QUIET = Machine(state_factor=1.0, drift=0.0, spike_share=0.0)
DRIFTING = Machine(state_factor=1.0, drift=0.5)


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
    serial: bool = False,
) -> Runs:
    """`runs` runs of `blocks` invocations of each point; in random order within blocks, or serial.

    Serial: all invocations of the first point, then all of the second, and so on.
    """
    points, samples = len(log_truth), machine.samples
    shape = (runs, blocks, points, samples)
    states = _states(machine, runs, blocks * points * samples, rng)
    progress = np.linspace(-0.5, 0.5, blocks * points * samples)
    slope = machine.drift * rng.uniform(-1, 1, (runs, 1))
    in_time = states * np.log(machine.state_factor) + slope * progress
    if serial:
        in_time = in_time.reshape(runs, points, blocks, samples).swapaxes(1, 2)
        states = states.reshape(runs, points, blocks, samples).swapaxes(1, 2)
    else:
        in_time, states = in_time.reshape(shape), states.reshape(shape)
        order = rng.permuted(np.broadcast_to(np.arange(points), shape[:3]), axis=2)[..., None]
        in_time = np.take_along_axis(in_time, order, axis=2)
        states = np.take_along_axis(states, order, axis=2)
    times = in_time + _correlated(machine, shape, rng)
    times += machine.invocation_sd * rng.standard_normal((*shape[:3], 1))
    times += (rng.random(shape) < machine.spike_share) * np.log(machine.spike_factor)
    return Runs(times + np.asarray(log_truth)[:, None], states)


@dataclass(frozen=True)
class Stopped:
    """Simultaneous intervals (runs, comparisons) at the look where each run stopped."""

    lows: Floats
    highs: Floats
    blocks: NDArray[np.int64]

    def covers(self, log_truth: Floats | float) -> NDArray[np.bool_]:
        """Whether the interval holds the truth: (runs, comparisons)."""
        return (self.lows <= log_truth) & (log_truth <= self.highs)


def stop_by_width(
    log_ratios: Floats, target_half_width: float, looks: tuple[int, ...], least: int, level: float
) -> Stopped:
    """The stopping rule on every run, each asking `next_look` at each look."""
    runs, _, comparisons = log_ratios.shape
    lows, highs = np.empty((runs, comparisons)), np.empty((runs, comparisons))
    blocks = np.zeros(runs, dtype=np.int64)
    running = np.arange(runs)
    look = looks[0]
    while running.size:
        for c in range(comparisons):
            _, lows[running, c], highs[running, c], _ = signed_rank_intervals(
                log_ratios[running, :look, c], level
            )
        blocks[running] = look
        half_widths = (highs[running] - lows[running]) / 2
        goes_on = [
            next_look(look, looks, widths, target_half_width, least, True).action == "continue"
            for widths in half_widths
        ]
        running = running[np.array(goes_on, dtype=bool)]
        look = next((later for later in looks if later > look), look)
    return Stopped(lows, highs, blocks)
