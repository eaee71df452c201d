"""undecided-ratio: times of hyperfine that are no longer than the start of a process or a shell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.core.number_format import listed
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "hyperfine"
SHORT_S = 5e-3  # of a command: hyperfine itself knows the start of a shell no better
_MOST_LISTED = 8


def is_below_start(report: Report) -> bool:
    """Whether hyperfine subtracted all of the shortest run as the start of a shell: then the mean
    is of what is not known of that start."""
    mean, least = report.only("time", "mean"), report.only("time", "min")
    if report.tool != TOOL or mean is None or least is None:
        return False
    return least.value == 0 and 0 < mean.base_value < SHORT_S * 1e9


@rule
def below_start(reports: Sequence[Report]) -> Iterator[Finding]:
    """Commands whose shortest run hyperfine gives as 0, with the ratios that are made of them.

    Decided by the minimum: no process takes no time, so the start of a shell was subtracted too
    much, or the digits end before it.
    """
    for report in reports:
        if not is_below_start(report):
            continue
        mean, least, deviation = (report.only("time", own) for own in ("mean", "min", "stddev"))
        if mean is None or least is None or deviation is None:
            continue
        ratios = sorted(
            (other.facts["said_times_line"], other.facts["said_times"])
            for other in reports
            if other.facts.get("fastest_line") == mean.line
            and is_number(other.facts.get("said_times"))
        )
        words: dict[str, Any] = {"mean": mean, "least": least, "deviation": deviation}
        yield finding("below-start", words | _of_ratios(ratios))


def _of_ratios(ratios: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """The words for ratios to one command, by their lines."""
    single = ratios[0] if len(ratios) == 1 else (None, None)
    lines = [str(line) for line, _ in ratios]
    shown = lines if len(lines) <= _MOST_LISTED else [lines[0], lines[-1]]
    return {
        "ratios": (listed(shown) if shown is lines else " to ".join(shown))
        if len(ratios) > 1
        else None,
        "largest": max((times for _, times in ratios), default=None),
        "ratio_line": single[0],
        "single": single[1],
    }


@rule
def short_commands(reports: Sequence[Report]) -> Iterator[str]:
    """A note on commands that take no longer than a few starts of a process."""
    means = [mean for mean in map(_short, reports) if mean is not None]
    if not means:
        return
    shown = [str(mean.line) for mean in means[:_MOST_LISTED]]
    more = len(means) - len(shown)
    lines = listed([*shown, f"{more} more"] if more else shown)
    begin = (
        f"lines {lines}: these commands take"
        if len(means) > 1
        else f"line {lines}: the command takes"
    )
    yield f"{begin} less than 5 ms on average. The start of a process may be a large part of that"


def _short(report: Report) -> Result | None:
    means = [mean for mean in report.called("time") if mean.statistic == "mean"]
    is_short = report.tool == TOOL and means and 0 < means[0].base_value < SHORT_S * 1e9
    return means[0] if is_short else None
