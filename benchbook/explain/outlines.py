"""Many reports of one shape, as rules see one report: names, units and columns that all of them
have, and values that stand for one of each.

A rule that reads an outline to its end without a word says nothing of any of these reports. Where
they differ in what it asks, the outline raises LookedError: then each report is asked.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from types import NoneType
from typing import Any, Never, TypeVar

from benchbook.explain.model import Report
from benchbook.explain.results import Result
from benchbook.explain.units import bytes_per_s


class LookedError(TypeError):
    """A question to which these reports have different answers."""


def _compared(operation: Callable[[Any, Any], Any]) -> Callable[[Each, Any], bool]:
    def compare(own: Each, other: Any) -> bool:
        if not isinstance(other, int | float):
            raise LookedError
        low, high = _bounds(other)
        answers = {operation(own.low, high), operation(own.high, low)}  # the two that are extreme
        if len(answers) > 1:
            answers = set(map(operation, own.values, _values(other)))
        return _only(answers)

    return compare


def _calculated(operation: Callable[..., Any], *, mirrored: bool = False) -> Callable[..., Each]:
    def calculate(own: Each, other: Any) -> Each:
        pair = (_values(other), own.values) if mirrored else (own.values, _values(other))
        return _made(map(operation, *pair))

    return calculate


class Each:
    """Numbers of one type, of each report one. A comparison has an answer where it is the same for
    all of them; none of them is a NaN."""

    __slots__ = ("high", "low", "values")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: list[Any]) -> None:
        self.values, self.low, self.high = values, min(values), max(values)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """That of the numbers: rules ask whether a value is one."""
        return type(self.low)

    __lt__, __le__ = _compared(operator.lt), _compared(operator.le)
    __gt__, __ge__ = _compared(operator.gt), _compared(operator.ge)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | float):
            return False
        low, high = _bounds(other)
        if self.high < low or high < self.low:
            return False
        return _only(set(map(operator.eq, self.values, _values(other))))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0

    __add__, __radd__ = _calculated(operator.add), _calculated(operator.add, mirrored=True)
    __sub__, __rsub__ = _calculated(operator.sub), _calculated(operator.sub, mirrored=True)
    __mul__, __rmul__ = _calculated(operator.mul), _calculated(operator.mul, mirrored=True)
    __truediv__ = _calculated(operator.truediv)
    __rtruediv__ = _calculated(operator.truediv, mirrored=True)

    def __abs__(self) -> Each:
        return self if self.low >= 0 else _made(map(abs, self.values))

    def __neg__(self) -> Each:
        return _made(map(operator.neg, self.values))

    def __trunc__(self) -> Each:
        return _made(map(math.trunc, self.values))

    def __round__(self, digits: int | None = None) -> Each:
        return _made(map(round, self.values, repeat(digits)))

    def __repr__(self) -> Never:
        raise LookedError

    __str__ = __repr__

    def __format__(self, _: str) -> Never:
        raise LookedError


class Place(Each):
    """Lines of reports, each as far behind the first line of its report as the others: those of one
    report can be compared and put into sets."""

    __slots__ = ("behind",)

    def __init__(self, values: list[int], behind: int) -> None:
        super().__init__(values)
        self.behind = behind

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.behind)

    def __eq__(self, other: object) -> bool:
        return self.behind == other.behind if type(other) is Place else Each.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other


def root(number: Any) -> Any:
    """The square root, of each where there are several."""
    if type(number) is not Each:
        return math.sqrt(number)
    if number.low < 0:
        raise LookedError
    return _made(map(math.sqrt, number.values))


def _bounds(number: Any) -> tuple[Any, Any]:
    return (number.low, number.high) if type(number) in (Each, Place) else (number, number)


def _values(number: Any) -> Iterable[Any]:
    if type(number) in (Each, Place):
        every: list[Any] = number.values
        return every
    if isinstance(number, int | float):
        return repeat(number)
    raise LookedError


def _made(values: Iterable[Any]) -> Each:
    try:
        every = list(values)
    except ArithmeticError:
        raise LookedError from None
    return Each(_same_kind(every))


def _same_kind(values: list[Any]) -> list[Any]:
    kinds = set(map(type, values))
    if len(kinds) > 1 or (float in kinds and any(map(math.isnan, values))):
        raise LookedError
    return values


def _only(answers: set[bool]) -> bool:
    if len(answers) > 1:
        raise LookedError
    return answers.pop()


def common(values: list[Any]) -> Any:
    """The value that all of these are, or one that stands for numbers that differ."""
    first, kind = values[0], type(values[0])
    _same_kind(values)
    if kind in (int, float):
        return first if min(values) == max(values) else Each(values)
    if kind in (str, bool, NoneType) or (kind is tuple and all(type(n) is str for n in first)):
        if all(value == first for value in values):
            return first
    elif kind is list and not any(values):
        return []
    raise LookedError


def _lines(lines: list[int], firsts: list[int]) -> Any:
    """Lines, of each report one, that are as far from its first."""
    behind = set(map(operator.sub, lines, firsts))
    return Place(lines, behind.pop()) if len(behind) == 1 else common(lines)


class _Columns(Mapping[str, Any]):
    """Columns or facts whose names all reports have; a value once it is asked for."""

    def __init__(self, every: Sequence[Mapping[str, Any]]) -> None:
        self._every, self._known = every, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            if name not in self._every[0]:
                raise KeyError(name)
            self._known[name] = common([each[name] for each in self._every])
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._every[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._every[0])

    def __len__(self) -> int:
        return len(self._every[0])


class _Common:
    """An attribute of an outline: what those of its reports or results have in common."""

    def __set_name__(self, _: type, name: str) -> None:
        self._name, self._kept = name, f"_{name}"

    def __get__(self, own: Any, _: type) -> Any:
        known = own.known
        if self._name not in known:
            known[self._name] = common([getattr(each, self._name) for each in own.every])
        return known[self._name]


class OutlinedResult(Result):
    """The results at one place of all reports of a shape."""

    __slots__ = ("every", "firsts", "known")
    __hash__ = None  # type: ignore[assignment]
    value: Any = _Common()
    half: Any = _Common()

    def __init__(self, every: Sequence[Result], of: Mapping[str, Any], firsts: list[int]) -> None:
        self.every, self.known, self.firsts = every, dict[str, Any](), firsts
        first = every[0]
        self.name, self.statistic, self.unit, self.of = first.name, first.statistic, first.unit, of

    @property
    def line(self) -> Any:  # type: ignore[override]
        """Where it stands in each report."""
        if "line" not in self.known:
            self.known["line"] = _lines([own.line for own in self.every], self.firsts)
        return self.known["line"]

    @property
    def rate(self) -> float | None:
        """As of a result; None without a look at values where its unit is none of a rate."""
        return None if bytes_per_s(1.0, self.unit) is None else super().rate


class OutlinedReport(Report):
    """Reports of one shape: each has results of these names, units and columns, in this order."""

    version: Any = _Common()
    notes: Any = _Common()
    twice: Any = _Common()
    asked: Any = _Common()

    def __init__(self, every: Sequence[Report]) -> None:
        self.every, self.known = every, dict[str, Any]()
        self.tool, self.facts = every[0].tool, _Columns([report.facts for report in every])  # type: ignore[assignment]
        firsts = [report.line for report in every]
        self.line = Place(firsts, 0)  # type: ignore[assignment]
        columns: dict[tuple[int, ...], _Columns] = {}  # those that results share, once
        self.results = []
        for results in zip(*(report.results for report in every), strict=True):
            of = [result.of for result in results]
            shared = columns.setdefault(tuple(map(id, of)), _Columns(of))
            self.results.append(OutlinedResult(results, shared, firsts))


class Runs(list[Report]):
    """The reports of a log with their outlines. `number_of` says for each report which is its own;
    -1 where it has none."""

    def __init__(self, reports: Iterable[Report]) -> None:
        super().__init__(reports)
        self.outlines: list[Any] = []
        self.number_of = [-1] * len(self)
        self._asked: dict[frozenset[int], Sequence[Report]] = {frozenset(): self}

    def asked(self, is_silent: Callable[[Any], bool]) -> Sequence[Report]:
        """The reports that have to be asked: not those whose outline is silent."""
        silent = frozenset(number for number, own in enumerate(self.outlines) if is_silent(own))
        if silent not in self._asked:
            pairs = zip(self, self.number_of, strict=True)
            self._asked[silent] = [report for report, number in pairs if number not in silent]
        return self._asked[silent]


Made = TypeVar("Made")


def telling(
    reports: Sequence[Report], make: Callable[[Report], Made | None]
) -> list[tuple[Report, Made]]:
    """The reports of which this makes anything, in their order, with what it makes."""
    asked: Sequence[Report] = reports
    if isinstance(reports, Runs):

        def is_silent(outline: Report) -> bool:
            try:
                return not make(outline)
            except Exception:  # it looked at a value, whatever it did with it
                return False

        asked = reports.asked(is_silent)
    return [(report, made) for report in asked if (made := make(report))]


def shape_of(report: Report) -> tuple[object, ...]:
    """What reports have to share so that one outline holds for all of them."""
    kinds = [(own.name, own.statistic, own.unit, tuple(own.of)) for own in report.results]
    return report.tool, frozenset(report.facts), tuple(kinds)
