"""inconsistent-report, unequal-work: ratios to a baseline that is not one of the row's own."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

ONE = 0.02  # how far the ratio of a baseline may be from 1
SLACK = 0.02  # of a ratio, beyond its digits: it is the mean of ratios
_OF_JOB = late(r"(?:^|, )(?:Job|Runtime|Toolchain|Platform|Jit)\b")
Row = tuple[Result, Result]  # mean and ratio


@rule
def baseline_of_other_parameters(report: Report) -> Iterator[Finding]:
    """Ratios of rows that are made with the baseline of other parameters.

    Decided by the printed means: mean over the mean of the only row with a ratio of 1 is the
    printed ratio, and no row with the same parameters has one. Other methods have the same ones.
    """
    ratios = {ratio.line: ratio for ratio in report.being("to baseline") if ratio.is_number}
    rows = [
        (mean, ratios[mean.line])
        for mean in report.being("mean")
        if mean.line in ratios and mean.is_time and mean.is_positive and mean.of.get("parameters")
    ]
    baselines = [row for row in rows if abs(row[1].value - 1) <= ONE]
    if len(baselines) != 1:
        return
    (baseline,) = baselines
    if _OF_JOB.search(str(baseline[0].of["parameters"])):
        return  # runtimes and settings are compared on purpose
    groups = grouped(rows, lambda row: row[0].of["parameters"])
    others = [
        row
        for parameters, own in groups.items()
        if parameters != baseline[0].of["parameters"]
        for row in own
        if _is_of(row, baseline)
    ]
    if not others or len(others) != len(rows) - len(groups[baseline[0].of["parameters"]]):
        return
    first = others[0]
    same = next((row[0] for row in others if _method(row) == _method(baseline)), None)
    of_same = groups[same.of["parameters"]] if same is not None else []
    beside = next((row[0] for row in of_same if row[0] is not same), None)
    if same is None or beside is None:
        return  # of one method: it may be what the ratio is meant to compare, as two runtimes are
    made = beside.base_value / same.base_value
    words = {"mean": first[0], "ratio": first[1], "baseline": baseline[0]}
    words |= {"same": same, "beside": beside}
    about = [row[1] for row in others]
    yield finding("baseline-of-others", words, about=about, made=made)


def _is_of(row: Row, baseline: Row) -> bool:
    made = row[0].base_value / baseline[0].base_value
    return abs(made - row[1].value) <= max(row[1].half, 0.005) + SLACK * made


def _method(row: Row) -> str:
    return str(row[0].of.get("benchmark"))
