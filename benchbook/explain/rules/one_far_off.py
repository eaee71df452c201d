"""load-imbalance: one rank, node or device among several that is far off all the others."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import GIVEN
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOLS = ("figures", "table", "text")
LINES = "lines alike"
LEAST, MOST = 4, 512  # places
ALIKE, OFF = 1.1, 1.2  # times the median, or a part of it: all others; the one
# What people number: ranks, nodes and devices, and hosts whose numbers are padded.
_PLACE = late(
    r"(?i)^(?:(?:MPI |compute )?(?:rank|node|gpu|device|core|proc(?:ess)?|socket|server|host|worker"
    r"|cpu|gcd|card|cuda|hip|npu|xpu|tpu|blade|instance)[ _:#-]{0,2}\d{1,5}"
    r"|[a-z][a-z-]{0,24}?[-_]?(?:node|gpu|host|srv|cn|compute)s?[-_]?\d{1,5}"
    r"|(?!run|test|case|step|iter|trial|sample|bench|exp|query|job|part|round|try|size|[vqnkptl]\d)"
    r"[a-z]{1,10}[-_]?0\d{1,4})(?:\.[a-z.-]{2,40})?$"
)
_DIGITS = late(r"\d+")
_PER_SECOND = ("/s", "flops", "ops")


@rule
def one_far_off(report: Report) -> Iterator[Finding | str]:
    """One of four places and more whose figure is far off, while all others are alike; a note where
    lines do not say what they are of, and where it is the first of them and slower.

    Decided by the median: nine tenths to eleven tenths of it for the others.
    """
    if report.tool in TOOLS:
        groups: dict[tuple[str, ...], list[tuple[str, Result]]] = {}
        for own in report.results:
            if (place := _place_of(own)) and _is_figure(own):
                name = _DIGITS.sub("#", own.name)
                key = name, own.statistic, own.unit, _DIGITS.sub("#", place)
                groups.setdefault(key, []).append((place, own))
        for several in groups.values():
            if len({place for place, _ in several}) != len(several):
                continue  # each has several figures of this name
            if words := _off([own for _, own in several]):
                words["place"] = next(place for place, own in several if own is words["far"])
                yield finding("one-far-off", words, about=[words["far"]])
                return
    if report.tool in (LINES, "figures"):
        named = [own for own in report.groups.values() if report.tool != LINES]
        for alike in [*named, *(own for own, _ in report.series)]:
            is_of_lines = len({own.line for own in alike}) == len(alike)
            words = _off(alike) if is_of_lines and _is_figure(alike[0]) else {}
            if not words:
                continue
            if words["far"] is not alike[0]:
                yield finding("one-line-far-off", words).explanation
                return
            if (words["times"] > 1) == words["far"].is_time:  # as what is done once
                words["all"] = len(alike)
                yield finding("first-line-far-off", words).explanation
                return


def _place_of(own: Result) -> str:
    """The place that a figure is of, by its label or its name; "" where it is of none."""
    for text in (own.of.get("label"), own.name):
        if isinstance(text, str) and len(text) <= 80 and _PLACE.match(text.strip()):
            return text.strip()
    return ""


def _is_figure(own: Result) -> bool:
    is_rate = own.rate is not None or own.unit.lower().endswith(_PER_SECOND)
    return own.is_positive and own.statistic != GIVEN and (own.is_time or is_rate)


def _off(several: Sequence[Result]) -> dict[str, Any]:
    """The words for the only one that is far off the others; none where there is none."""
    if not LEAST <= len(several) <= MOST or not all(own.is_positive for own in several):
        return {}
    middle = statistics.median(own.value for own in several)
    ratios = [(max(own.value / middle, middle / own.value), own) for own in several]
    far = [own for ratio, own in ratios if ratio >= OFF]
    others = [own for ratio, own in ratios if ratio <= ALIKE]
    if len(far) != 1 or len(others) != len(several) - 1:
        return {}
    least, most = (pick(own.value for own in others) for pick in (min, max))
    words: dict[str, Any] = {"far": far[0], "least": least, "most": most, "count": len(others)}
    return words | {"times": far[0].value / middle}
