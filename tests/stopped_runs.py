"""The stopping rule on simulated runs, and the intervals at which each of them stopped."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchbook.stats import next_look, signed_rank_intervals
from benchbook.stats.checks import Floats


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
