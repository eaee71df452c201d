"""queued-echoes: round trips of an idle line and of a full one in the same log."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TIMES, LEAST_NS = 3.0, 2e7  # of the idle round trip; above it
STEADY = 0.02  # of the slow round trip, between its shortest and its longest
_UNDER_LOAD = late(
    r"(?i)\b(?:load\w*|busy|(?:up|down)load\w*|transfer\w*|iperf3?|speed ?test\w*|saturat\w*"
    r"|during|full|traffic|stress\w*|copy\w*)\b"
)


@rule
def two_pings(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two pings of one host in a log, of which one takes far longer.

    What stands above them says which was made under load, where it says so.
    """
    pings = [
        (report, typical)
        for report in reports
        if report.tool == "ping" and report.facts.get("far_address")
        if (typical := _typical(report))
    ]
    for several in grouped(pings, lambda own: str(own[0].facts["far_address"])).values():
        if len(several) < 2:
            continue
        (calm, idle), (busy, loaded) = (
            choose(several, key=lambda own: own[1].base_value) for choose in (min, max)
        )
        waited = loaded.base_value - idle.base_value
        if waited < LEAST_NS or loaded.base_value < TIMES * idle.base_value:
            continue
        least, most = (busy.only("round trip", end) for end in ("min", "max"))
        if least and most and most.base_value - least.base_value < STEADY * loaded.base_value:
            continue  # a delay that never varies is that of the way, or was set, and no queue
        titles = [str(report.facts.get("titled") or "") for report in (calm, busy)]
        is_said = bool(_UNDER_LOAD.search(titles[1]) and not _UNDER_LOAD.search(titles[0]))
        words: dict[str, Any] = {"idle": idle, "loaded": loaded, "waited_ns": waited}
        words["why"] = "said" if is_said else "perhaps"
        yield finding("two-pings", words)
        return


def _typical(report: Report) -> Result | None:
    """Its mean, or the one in the middle of its replies."""
    if (mean := report.only("round trip", "mean")) and mean.is_positive:
        return mean
    times = _samples(report)
    return sorted(times, key=_ns)[len(times) // 2] if len(times) > 2 else None


def _samples(report: Report) -> list[Result]:
    return [
        own for own in report.called("round trip") if own.statistic == "sample" and own.is_positive
    ]


def _ns(own: Result) -> float:
    return own.base_value


CALM, STAYS, LEAST_LONG, LEAST_CALM = 1.6, 4e7, 4, 3


@rule
def round_trips_rise(report: Report) -> Iterator[Finding]:
    """Echoes of one ping that take many times as long for a while, one after the other.

    Decided by a row of long ones next to a row that is near the shortest of all.
    """
    times = _samples(report) if report.tool == "ping" else []
    if len(times) < LEAST_LONG + LEAST_CALM:
        return
    least = min(map(_ns, times))
    long = [own.base_value >= max(TIMES * least, least + STAYS) for own in times]
    calm = [own.base_value <= CALM * least for own in times]
    row, quiet = _longest(times, long), _longest(times, calm)
    if len(row) < LEAST_LONG or len(quiet) < LEAST_CALM or _falls(row):
        return
    middle = statistics.median(map(_ns, row))
    words: dict[str, Any] = {"first": row[0], "last": row[-1], "begin": quiet[0], "end": quiet[-1]}
    words |= {"count": len(row), "middle_ns": middle, "calm_ns": statistics.median(map(_ns, quiet))}
    yield finding("round-trips-rise", words, about=[row[0], row[-1]])


def _longest(times: Sequence[Result], kept: Sequence[bool]) -> list[Result]:
    """The longest row of those that are kept."""
    begin, length, best = 0, 0, (0, 0)
    for at, is_kept in enumerate(kept):
        begin, length = (begin if length else at, length + 1) if is_kept else (0, 0)
        best = max(best, (length, -begin))
    return list(times[-best[1] : best[0] - best[1]])


def _falls(row: Sequence[Result]) -> bool:
    """Whether each takes about a second less than the one before: all came back at one moment."""
    steps = [row[at].base_value - row[at + 1].base_value for at in range(len(row) - 1)]
    return statistics.median(steps) > 5e8
