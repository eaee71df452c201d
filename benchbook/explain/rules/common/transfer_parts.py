"""What rows of a transfer have to do with each other: numbers of one line, streams and their sum,
intervals and the whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from benchbook.explain.model import BOTH_WAYS, SUM, Report, Result
from benchbook.explain.results import grouped

LONGER = 0.2  # of the time: how far apart the ends of streams may be
GAP_S = 0.02  # between intervals that follow each other
Owner = tuple[object, ...]  # the stream, end and direction that a number is of


def numbers_of_lines(report: Report, *names: str) -> list[tuple[Result, ...]]:
    """Numbers of these names that one line has of one stream, where it has them all."""
    if not all(map(report.has, names)):
        return []
    lines: dict[tuple[object, ...], dict[str, Result]] = {}
    for result in report.called(*names):
        of = map(result.of.get, ("stream", "interval", "part"))
        key = result.line, result.statistic, *of
        lines.setdefault(key, {}).setdefault(result.name, result)
    return [
        tuple(line[name] for name in names) for line in lines.values() if len(line) == len(names)
    ]


def is_part(result: Result) -> bool:
    """Whether it is of one stream, and no sum."""
    return not str(result.of.get("stream")).startswith((SUM, BOTH_WAYS))


def complete(parts: Sequence[Result], count: int) -> bool:
    """Whether they are of each of so many streams once."""
    return len(parts) == len({part.of.get("stream") for part in parts}) == count


def as_long(whole: Result, parts: Sequence[Result]) -> bool:
    """Whether the parts ended with the whole, as far as they tell: else it is an interval whose
    whole was cut off."""
    end = whole.of.get("end_s", 0.0)
    return all(abs(part.of.get("end_s", end) - end) <= LONGER * end for part in parts)


def owner_of(result: Result) -> Owner:
    """The stream, end and direction that it is of."""
    return tuple(map(result.of.get, ("stream", "end", "direction")))


def intervals_of(report: Report, name: str) -> dict[Owner, list[Result]]:
    """Its intervals of this name, without omitted ones, by whose they are."""
    intervals = report.of_keys(lambda key: key[:2] == (name, "interval"))
    return grouped((each for each in intervals if not each.of.get("omitted")), owner_of)


def span_of(intervals: Sequence[Result]) -> tuple[float, float] | None:
    """From where to where they reach, where each follows another; in s."""
    if any("start_s" not in result.of or "end_s" not in result.of for result in intervals):
        return None
    ends = sorted((float(part.of["start_s"]), float(part.of["end_s"])) for part in intervals)
    joined = all(abs(first[1] - second[0]) < GAP_S for first, second in pairwise(ends))
    return (ends[0][0], ends[-1][1]) if joined else None


def covers(span: tuple[float, float], whole: Result) -> bool:
    """Whether that is from the start of the whole to its end."""
    if "start_s" not in whole.of or "end_s" not in whole.of:
        return False
    start, end = float(whole.of["start_s"]), float(whole.of["end_s"])
    return abs(span[0] - start) < GAP_S and abs(span[1] - end) <= 0.01 * end + GAP_S
