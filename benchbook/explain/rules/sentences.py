"""inconsistent-report, undecided-ratio: what sentences say of the figures that they compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "text"
POINTS, SHARE = 3.0, 0.1  # how far a rounded claim may be from what its figures make


TIMES_SHARE = 0.25  # of a rounded ratio
_Claim = tuple[Result, Result, Result]  # what is said, and the figures before and after


def _claims(report: Report, statistic: str) -> Iterator[_Claim]:
    if report.tool != TOOL:
        return
    for own in grouped(report.knowing("benchmark"), lambda result: result.of["benchmark"]).values():
        sides = {result.name: result for result in own}
        old, new, said = (sides.get(name) for name in ("old", "new", "said"))
        if old is None or new is None or said is None or said.statistic != statistic:
            continue
        if old.is_positive and new.is_positive:
            yield said, old, new


def _both_ways(old: Result, new: Result) -> tuple[float, float]:
    return new.base_value / old.base_value, old.base_value / new.base_value


@rule
def percent_of_sentence(report: Report) -> Iterator[Finding]:
    """A change in per cent that neither direction of its two figures makes.

    Decided by the figures: less time, more speed, or one as a share of the other would do.
    """
    wrong = []
    for said, old, new in _claims(report, "change"):
        up, down = _both_ways(old, new)
        made = [abs(100 * (up - 1)), abs(100 * (down - 1)), 100 * up, 100 * down]
        if not any(abs(said.value - value) <= max(POINTS, SHARE * value) for value in made):
            wrong.append((said, old, new, made))
    if wrong:
        said, old, new, made = wrong[0]
        words: dict[str, Any] = {"printed": said, "old": old, "new": new}
        words |= {"change": made[0], "back": made[1], "left": len(wrong) - 1 or None}
        kind = "less" if new.base_value < old.base_value else "more"
        yield finding("percent-of-sentence", words, about=[entry[0] for entry in wrong], kind=kind)


@rule
def times_of_sentence(report: Report) -> Iterator[Finding]:
    """A ratio of a sentence that its two figures do not make in either direction."""
    wrong = []
    for said, old, new in _claims(report, "ratio"):
        made = _both_ways(old, new)
        allowed = [*made, *(value - 1 for value in made)]  # "2 times faster" of 3 to 1
        if not any(abs(said.value - value) <= TIMES_SHARE * value for value in allowed):
            wrong.append((said, old, new, max(made)))
    if wrong:
        said, old, new, most = wrong[0]
        words: dict[str, Any] = {"printed": said, "old": old, "new": new, "made": most}
        words["left"] = len(wrong) - 1 or None
        yield finding("times-of-sentence", words, about=[entry[0] for entry in wrong])


LEAST_OF_WAY = 0.02  # of the figures, by which they must differ


@rule
def way_of_sentence(report: Report) -> Iterator[Finding]:
    """ "Faster" or "slower" next to a time that goes the other way."""
    for statistic in ("change", "ratio"):
        for said, old, new in _claims(report, statistic):
            way = said.of.get("said_way")
            change = new.base_value / old.base_value - 1
            is_slower = change > 0 if old.is_time else change < 0
            told = way == "slower"
            if way and abs(change) >= LEAST_OF_WAY and told != is_slower:
                words: dict[str, Any] = {"printed": said, "old": old, "new": new, "way": way}
                words["other"] = "slower" if is_slower else "faster"
                yield finding("way-of-sentence", words, about=[said])
                return


@rule
def means_in_sentences(report: Report) -> Iterator[Finding]:
    """The only two means of a text, which differ by less than their deviations."""
    if report.tool != TOOL:
        return
    means, deviations = report.being("mean"), report.being("stddev")
    if len(means) == len(deviations) == 2 and _are_near(means, deviations):
        words: dict[str, Any] = {"first": means[0], "second": means[1]}
        words["widest"] = max(deviations, key=lambda own: own.base_value)
        words["apart"] = abs(means[0].base_value - means[1].base_value)
        yield finding("means-in-sentences", words, about=means)


def _are_near(means: Sequence[Result], deviations: Sequence[Result]) -> bool:
    apart = abs(means[0].base_value - means[1].base_value)
    spread = max(own.base_value for own in deviations)
    return 0 < apart <= spread and all(own.is_time for own in means)
