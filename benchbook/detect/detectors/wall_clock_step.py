"""wall-clock-step: the clock that timed the samples was set while they ran.

Decided by what no clock that only goes forward can show: an interval below zero, a sample that
began before the one before it, or one that lasts longer than the whole start did by another clock.
A step that leaves no such trace, and a clock that merely runs a little fast, are not seen.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchbook.core.number_format import duration, plural
from benchbook.detect import Judged, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import columns, number_of
from benchbook.findings import Finding

WILD = 1000.0  # sample ÷ median, from which on a forward step would look the same
LONGER, SLACK_NS = 1.5, 1e6  # than the start by the other clock, before the two contradict
ARTEFACT = artefact("wall-clock-step")


def detect(seen: Seen) -> Judged:
    """One finding per point with such a sample; abstains where one is 1,000 times the median and no
    second clock says how long its start lasted."""
    judged = Judged()
    for row in seen.rows():
        if not is_known(row.get("negative_samples")):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
            continue
        lasted = _lasted(seen.starts_of(row["where"]), row)
        backward = row.get("backward_starts") if is_known(row.get("backward_starts")) else 0
        longest = row["longest_sample_ns"]
        beyond = lasted is not None and longest > LONGER * lasted + SLACK_NS
        if row["negative_samples"] or backward or beyond:
            judged.findings.append(_finding(row, int(backward or 0), lasted if beyond else None))
        elif lasted is None and longest > WILD * max(row["sample_ns"], 1.0):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell(
                "no-second-clock", longest=longest, wild=WILD
            )
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _lasted(starts: pd.DataFrame, row: dict[str, Any]) -> float | None:
    """The longest start in ns by a clock of its own, which cannot be set."""
    lasted = starts["wall_ns"].dropna() if "wall_ns" in starts else starts[:0]
    if len(lasted):
        return float(lasted.max())
    return number_of(row, "wall_ns")


def _finding(row: dict[str, Any], backward: int, lasted: float | None) -> Finding:
    traces = []
    if row["negative_samples"]:
        traces.append(f"{plural(row['negative_samples'], 'sample')} had a negative duration")
    if backward:
        traces.append(f"{plural(backward, 'sample')} began before the previous sample")
    if lasted is not None:
        traces.append(
            f"one took {duration(row['longest_sample_ns'])}, but its run ended after "
            f"{duration(lasted)} by a clock that nobody can set"
        )
    words = {
        **columns(row, "negative_samples", "longest_sample_ns", "sample_ns"),
        "traces": ", ".join(traces),
        "backward_starts": backward,
        "wall_ns": lasted,
    }
    return ARTEFACT.finding([row], words)
