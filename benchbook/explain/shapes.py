"""Which reports of a log a rule has to be asked for: most rules look for what no run of it has.

A log may have 30,000 runs of one shape: the same tool, facts, columns and kinds of results. A rule
that looks at nothing else says of all of them what it says of the shape. So it is asked for the
shape first, and for each run only if it spoke or looked at a value. Runs with the same results in
the same order have an outline that knows bounds of their values too; others a coarser one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from benchbook.explain.model import Report
from benchbook.explain.outlines import OutlinedReport, Runs, shape_of
from benchbook.explain.results import grouped
from benchbook.explain.rules import Machine, Rule

_MANY = 8  # reports of a shape: of fewer, each is asked
_SHORT = 200  # results: what is longer takes its time for them, not for being asked


class Shapes:
    """The reports of a log by their shape."""

    def __init__(self, reports: Sequence[Report]) -> None:
        self.reports = Runs(reports)
        self._outline(OutlinedReport, shape_of, _SHORT)
        self._outline(_Outline, _shape)

    def _outline(
        self,
        outline: Callable[[Sequence[Report]], object],
        shape: Callable[[Report], Hashable],
        most: float = math.inf,
    ) -> None:
        """Give those that have no outline one for each shape that many of them have."""
        runs = self.reports
        left = [
            place
            for place, number in enumerate(runs.number_of)
            if number < 0 and len(runs[place].results) <= most
        ]
        if len(left) < _MANY:
            return
        for own in grouped(left, lambda place: shape(runs[place])).values():
            if len(own) >= _MANY:
                for place in own:
                    runs.number_of[place] = len(runs.outlines)
                runs.outlines.append(outline([runs[place] for place in own]))

    def to_ask(self, rule: Rule, machine: Machine) -> Sequence[Report]:
        """The reports that a rule may have something to say of, in their order."""
        if "reports" in rule.takes:
            return self.reports
        return self.reports.asked(lambda outline: _is_silent(rule, outline, machine))


def _shape(report: Report) -> tuple[object, ...]:
    return report.tool, frozenset(report.facts), report.columns, tuple(report.groups)


def _is_silent(rule: Rule, outline: object, machine: Machine) -> bool:
    """Whether a rule says nothing of all reports of a shape."""
    reports: Sequence[Any] = [outline]
    try:
        return next(rule.check(reports, machine), None) is None
    except Exception:  # it looked at a value, whatever it did with it
        return False


class _Values:
    """Results that a report has: to look at them is an error."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise TypeError(other)


class _Facts:
    """Facts that a report has: to look at their values is an error."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def get(self, name: str, default: object = None) -> object:
        """The default; an error where reports have this fact."""
        if name in self._names:
            raise LookupError(name)
        return default


class _Outline:
    """A report without values, as rules see it. What a rule may not ask it for, it lacks."""

    called, being, has, only = Report.called, Report.being, Report.has, Report.only
    of_keys, knowing, _of = Report.of_keys, Report.knowing, Report._of

    def __init__(self, reports: Sequence[Report]) -> None:
        report = reports[-1]
        self.tool, self.columns = report.tool, report.columns
        self.facts = _Facts(report.facts)
        self.groups = dict.fromkeys(report.groups, _Values())
        self.results: object = _Values() if report.results else []
        self._kinds = grouped(self.groups, itemgetter(0)), grouped(self.groups, itemgetter(1))

    def _these(self, keys: Sequence[object]) -> object:
        return _Values() if keys else []
