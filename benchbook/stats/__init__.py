"""Statistics: small pure functions, table in, table out; each states its own error.

| module    | what                                                                   |
|-----------|------------------------------------------------------------------------|
| summaries | one summary per invocation and point                                   |
| processes | several processes of one invocation: their rates added                 |
| paired    | log ratios within blocks, ratios with intervals, also per state        |
| intervals | Hodges-Lehmann with signed-rank intervals, medians; the blocks needed   |
| stopping  | whether to add blocks, by width alone                                  |
| nulls     | A/A, smallest effect, the range of points that are equal               |
| verdicts  | interval against region, blocks to settle                              |
| states    | the machine's states from anchor and probe                             |
| warmup    | leading samples that are not steady                                    |
| shape     | modes, heavy tail, quantiles                                           |
| plateaus  | where a time stays along sizes, and where it rises                     |
| ticks     | how finely the clock divided what it timed                             |
| ratios    | time of one point over that of another, block by block                 |
| slopes    | straight lines through the points of each block                        |
| unpaired  | ratios of two runs, whose starts are not paired                        |
| simulated_machine | noisy runs with known truth, on which the others are tried     |
"""

import pandas as pd

from benchbook.stats.intervals import (
    Interval,
    adjusted_level,
    hodges_lehmann,
    least_blocks,
    median_interval,
    quotient_intervals,
    signed_rank_interval,
    signed_rank_intervals,
    signed_rank_probabilities,
)
from benchbook.stats.knee import Knee, last_knee
from benchbook.stats.nulls import (
    SmallestEffect,
    null_check,
    range_null,
    range_statistic,
    share_at_least,
    smallest_effect,
)
from benchbook.stats.paired import (
    pair_counts,
    paired_log_ratios,
    ratio_interval,
    ratio_intervals,
    ratio_intervals_by_state,
)
from benchbook.stats.plateaus import Levels, Plateau, Rise, levels
from benchbook.stats.processes import add_processes, add_rates, median_of_processes
from benchbook.stats.shape import Shape, parts, shape, two_groups
from benchbook.stats.slopes import slopes
from benchbook.stats.states import MIXED, assign_states, state_of
from benchbook.stats.stopping import Decision, looks_from, next_look
from benchbook.stats.summaries import invocation_summaries
from benchbook.stats.ticks import Ticks, ticks
from benchbook.stats.unpaired import rank_sum_probabilities, unpaired_ratio
from benchbook.stats.verdicts import Verdict, blocks_to_settle, decide, decide_all, settling_margin
from benchbook.stats.warmup import warm_up_length

# Arrow's strings are slow in small tables: with them the replays of four controls took 5.2 s of CPU
# instead of 4.3 s.
pd.options.mode.string_storage = "python"

__all__ = [
    "MIXED",
    "Decision",
    "Interval",
    "Knee",
    "Levels",
    "Plateau",
    "Rise",
    "Shape",
    "SmallestEffect",
    "Ticks",
    "Verdict",
    "add_processes",
    "add_rates",
    "adjusted_level",
    "assign_states",
    "blocks_to_settle",
    "decide",
    "decide_all",
    "hodges_lehmann",
    "invocation_summaries",
    "last_knee",
    "least_blocks",
    "levels",
    "looks_from",
    "median_interval",
    "median_of_processes",
    "next_look",
    "null_check",
    "pair_counts",
    "paired_log_ratios",
    "parts",
    "quotient_intervals",
    "range_null",
    "range_statistic",
    "rank_sum_probabilities",
    "ratio_interval",
    "ratio_intervals",
    "ratio_intervals_by_state",
    "settling_margin",
    "shape",
    "share_at_least",
    "signed_rank_interval",
    "signed_rank_intervals",
    "signed_rank_probabilities",
    "slopes",
    "smallest_effect",
    "state_of",
    "ticks",
    "two_groups",
    "unpaired_ratio",
    "warm_up_length",
]
