"""scaling: a parallel version that is slower than the sequential one, and tests of UnixBench of
which several copies together do less than one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

LISTS = ("figures",)
_ALONE = late(r"(?i)\b(?:sequential|serial|single[- ]thread(?:ed)?)\b")
_TOGETHER = late(r"(?i)\b(?:parallel|multi[- ]?thread(?:ed)?)\b")
SLOWER = 1.1  # times the sequential time
UNIXBENCH = "unixbench"
LESS = 0.9  # of what one copy does
LEAST_COPIES = 2


@rule
def slower_in_parallel(report: Report) -> Iterator[Finding]:
    """A time of a parallel version above that of the sequential one, by their names in a list."""
    if report.tool not in LISTS:
        return
    times = [time for time in report.results if time.is_time and time.is_positive]
    for own in times:
        if not _TOGETHER.search(own.name) or _ALONE.search(own.name):
            continue
        rest = _rest(_TOGETHER.sub("", own.name))
        alone = [
            time
            for time in times
            if _ALONE.search(time.name) and _rest(_ALONE.sub("", time.name)) == rest
        ]
        if len(alone) == 1 and own.base_value >= SLOWER * alone[0].base_value:
            ratio = own.base_value / alone[0].base_value
            yield finding("slower-in-parallel", own=own, alone=alone[0], ratio=ratio)
            return


def _rest(name: str) -> str:
    return " ".join(name.lower().split())


@rule
def copies_that_do_less(reports: Sequence[Report]) -> Iterator[Finding]:
    """The test of UnixBench that falls most from one copy to several at the same time."""
    runs = [report for report in reports if report.tool == UNIXBENCH]
    single = [report for report in runs if report.facts.get("copies") == 1]
    several = [report for report in runs if (report.facts.get("copies") or 0) >= LEAST_COPIES]
    if len(single) != 1 or len(several) != 1:
        return
    pairs: list[tuple[float, Result, Result]] = []
    for first in single[0].results:
        more = several[0].only(first.name)
        if first.unit != "points" and more is not None and first.is_positive:
            pairs.append((more.value / first.value, first, more))
    if pairs:
        part, first, more = min(pairs, key=lambda pair: pair[0])
        if 0 < part <= LESS:
            copies = several[0].facts["copies"]
            yield finding("copies-do-less", first=first, more=more, part=part, copies=copies)
