"""wall-clock-step: the clock that timed the samples was set while they ran.

Decided by what no clock that only goes forward can show: an interval below zero, a sample that
began before the one before it, or one that lasts longer than the whole start did by another clock.
A step that leaves no such trace, and a clock that merely runs a little fast, are not seen.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchbook.core.number_format import duration, plural
from benchbook.detect import Judged, Seen, is_known
from benchbook.detect.inputs.timed_work import number_of
from benchbook.findings import Artefact, Finding, proof

WILD = 1000.0  # sample ÷ median, from which on a forward step would look the same
LONGER, SLACK_NS = 1.5, 1e6  # than the start by the other clock, before the two contradict
ARTEFACT = Artefact(
    "wall-clock-step",
    "Time with a clock that nobody can set (CLOCK_MONOTONIC or CLOCK_MONOTONIC_RAW, "
    "time.perf_counter, std::chrono::steady_clock), and measure again: dropping the odd samples "
    "leaves those that were stepped by less.",
)


def detect(seen: Seen) -> Judged:
    """One finding per point with such a sample; abstains where one is 1,000 times the median and no
    second clock says how long its start lasted."""
    judged = Judged()
    for row in seen.rows():
        if not is_known(row.get("negative_samples")):
            judged.abstained[row["where"]] = "its samples were not looked at"
            continue
        lasted = _lasted(seen.starts_of(row["where"]), row)
        backward = row.get("backward_starts") if is_known(row.get("backward_starts")) else 0
        longest = row["longest_sample_ns"]
        beyond = lasted is not None and longest > LONGER * lasted + SLACK_NS
        if row["negative_samples"] or backward or beyond:
            judged.findings.append(_finding(row, int(backward or 0), lasted if beyond else None))
        elif lasted is None and longest > WILD * max(row["sample_ns"], 1.0):
            judged.abstained[row["where"]] = (
                f"a sample of {duration(longest)} is over {WILD:,.0f} times the median, and no "
                "second clock tells whether it really lasted so long"
            )
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _lasted(starts: pd.DataFrame, row: dict[str, Any]) -> float | None:
    """The longest start in ns by a clock of its own, which cannot be set."""
    lasted = starts["wall_ns"].dropna() if "wall_ns" in starts else starts[:0]
    if len(lasted):
        return float(lasted.max())
    return number_of(row, "wall_ns")


def _finding(row: dict[str, Any], backward: int, lasted: float | None) -> Finding:
    seen = []
    if row["negative_samples"]:
        seen.append(f"{plural(row['negative_samples'], 'sample')} took less than no time")
    if backward:
        seen.append(f"{plural(backward, 'sample')} began before the one before")
    if lasted is not None:
        seen.append(
            f"one lasted {duration(row['longest_sample_ns'])}, though its start was over after "
            f"{duration(lasted)} by a clock that cannot be set"
        )
    text = (
        f"The clock was set while these samples ran: {', '.join(seen)}. "
        f"The median is {duration(row['sample_ns'])}, so the step is in single samples, and in "
        "every mean and sum of them."
    )
    evidence = [
        proof("negative_samples", row["negative_samples"], "samples", "samples"),
        proof("backward_starts", backward, "samples", "samples"),
        proof("longest_sample_ns", row["longest_sample_ns"], "ns", "samples"),
    ]
    if lasted is not None:
        evidence.append(proof("wall_ns", lasted, "ns", "process times"))
    return ARTEFACT.finding(
        effect="invalidates",
        where=[row["where"]],
        confidence=1.0,
        evidence=evidence,
        explanation=text,
    )
