"""What rows of a transfer have to do with each other: numbers of one line, streams and their sum,
intervals and the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

from benchbook.explain.model import BOTH_WAYS, SUM, Report, Result
from benchbook.explain.results import Group, are_rows, by_columns
from benchbook.explain.units import in_base

_WHOSE = ("stream", "end", "direction")
LONGER = 0.2  # of the time: how far apart the ends of streams may be


def beside(report: Report, *names: str) -> Iterable[tuple[Result, ...]]:
    """Numbers of these names that one line has of one stream, where it has them all."""
    if not all(map(report.has, names)):
        return ()
    columns = [report.called(name) for name in names]
    if _are_rows(columns):
        return zip(*columns, strict=True)
    lines: dict[tuple[object, ...], dict[str, Result]] = {}
    for one in report.called(*names):
        of = one.of
        key = one.line, one.statistic, of.get("stream"), of.get("interval"), of.get("part")
        lines.setdefault(key, {}).setdefault(one.name, one)
    return [tuple(own[name] for name in names) for own in lines.values() if len(own) == len(names)]


_OF_ROW = ("stream", "interval", "part")


def groups_beside(report: Report, *names: str) -> list[tuple[Group, ...]] | None:
    """The same by statistic, in groups of which the first ones stand beside each other, the second
    ones, and so on, as nearly always; None where some do not."""
    found = []
    for statistic in dict.fromkeys(key[1] for key in report.groups if key[0] in names):
        several = [report.alike(name, statistic) for name in names]
        if any(len(own) != 1 for own in several):
            return None
        beside = tuple(own[0][1] for own in several)
        if not are_rows(beside, _OF_ROW):
            return None
        found.append(beside)
    return found


def _are_rows(columns: list[Sequence[Result]]) -> bool:
    """Whether the first ones are of one line and stream, and the second, and so on."""
    first, *others = columns
    return all(
        len(other) == len(first)
        and all(
            a.line == b.line and a.of == b.of and a.statistic == b.statistic
            for a, b in zip(first, other, strict=True)
        )
        for other in others
    ) and len({one.line for one in first}) == len(first)


def is_part(one: Result) -> bool:
    """Whether it is of one stream, and no sum."""
    return not str(one.of.get("stream")).startswith((SUM, BOTH_WAYS))


def complete(parts: dict[Any, list[Result]], count: int) -> dict[Any, list[Result]]:
    """Those that have each of so many streams once."""
    return {
        key: some
        for key, some in parts.items()
        if len(some) == len({one.of.get("stream") for one in some}) == count
    }


def as_long(whole: Result, parts: list[Result]) -> bool:
    """Whether the parts ended with the whole, as far as they tell: else it is an interval whose
    whole was cut off."""
    end = whole.of.get("end_s", 0.0)
    return all(abs(one.of.get("end_s", end) - end) <= LONGER * end for one in parts)


def whose(one: Result) -> tuple[object, ...]:
    """The stream, end and direction that it is of."""
    return tuple(map(one.of.get, _WHOSE))


@dataclass
class Intervals:
    """Those of one stream, end and direction, by their unit; omitted ones are not there."""

    several: list[tuple[str, Group]] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(len(own) for _, own in self.several)

    def values(self) -> list[float]:
        """In B, B/s or bit/s."""
        sizes = [(in_base(1.0, unit)[0], own) for unit, own in self.several]
        return [value * size for size, own in sizes for value in own.values]

    def rows(self) -> list[Result]:
        """In the order of `values`."""
        return [one for _, own in self.several for one in own]

    def span(self) -> tuple[float, float] | None:
        """As `span_of`."""
        own = [one for _, one in self.several]
        starts, ends = (
            [*chain(*(one.column(name) for one in own))] for name in ("start_s", "end_s")
        )
        if None in starts or None in ends:
            return None
        parts = sorted(zip(map(float, starts), map(float, ends), strict=True))
        return _span(parts)


def intervals_of(report: Report, name: str) -> dict[tuple[object, ...], Intervals]:
    """Its intervals of this name, by whose they are."""
    found: dict[tuple[object, ...], Intervals] = {}
    for unit, several in report.alike(name, "interval"):
        for (*key, omitted), own in by_columns(several, (*_WHOSE, "omitted")).items():
            if not omitted:
                found.setdefault(tuple(key), Intervals()).several.append((unit, own))
    return found


def span_of(own: list[Result]) -> tuple[float, float] | None:
    """From where to where they reach, where each follows another; in s."""
    if any("start_s" not in one.of or "end_s" not in one.of for one in own):
        return None
    return _span(sorted((float(one.of["start_s"]), float(one.of["end_s"])) for one in own))


def _span(parts: list[tuple[float, float]]) -> tuple[float, float] | None:
    joined = all(abs(one[1] - two[0]) < 0.02 for one, two in pairwise(parts))
    return (parts[0][0], parts[-1][1]) if joined else None


def covers(span: tuple[float, float], whole: Result) -> bool:
    """Whether that is from the start of the whole to its end."""
    if "start_s" not in whole.of or "end_s" not in whole.of:
        return False
    start, end = float(whole.of["start_s"]), float(whole.of["end_s"])
    return abs(span[0] - start) < 0.02 and abs(span[1] - end) <= 0.01 * end + 0.02
