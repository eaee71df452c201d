"""Printed numbers: one by one, or as columns where very many lines are alike.

A log may have 400,000 of them. Of nearly all nobody asks more than their values: what is in columns
is made into results only where somebody asks for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, groupby
from typing import Any, TypeGuard, overload


@dataclass(slots=True)  # frozen it would be, but each of 100,000 then takes three times as long
class Result:
    """One printed number; nobody changes it. `unit` is explicit, whatever the tool wrote
    (logs/units.py has all): MB/s is 10^6 bytes per second, MiB/s 2^20, Gbit/s 10^9 bits, us, ms, s,
    %, or a noun in the plural (datagrams). `statistic`: what the number is of several (best, mean,
    median, max, p99, sample, sum, ...); "" where there is one. `of`: the settings and physical
    columns of this number, units in their names: bytes (the working set's arrays: see
    RESULT_COLUMNS), ..."""

    name: str
    value: float
    unit: str
    line: int
    statistic: str = ""
    of: Mapping[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """What findings call it."""
        return f"line {self.line}: {' '.join(filter(None, (self.name, self.statistic)))}"


Key = tuple[str, str, str]  # name, statistic, unit
ALIKE = 4  # lines below each other, from which on more of them may be columns
LONG = 16  # those, from which on they are
_FEW = 8  # results, for which the others are not made


class _Several(Sequence[Result]):
    """A sequence of results of which others make a list when somebody asks for one."""

    def _made(self) -> list[Result]:
        raise NotImplementedError

    def one(self, at: int) -> Result:
        """That of one place."""
        return self._made()[at]

    def __iter__(self) -> Iterator[Result]:
        return iter(self._made())

    @overload
    def __getitem__(self, at: int) -> Result: ...
    @overload
    def __getitem__(self, at: slice) -> list[Result]: ...
    def __getitem__(self, at: int | slice) -> Result | list[Result]:
        if not isinstance(at, slice):
            return self.one(at)
        places = range(len(self))[at]
        return list(map(self.one, places)) if len(places) < _FEW else self._made()[at]


class Group(list[Result]):
    """Results of one name, statistic and unit, in their order. `values` and others as a Column has
    them, asked for when all are there."""

    __slots__ = ("_values",)  # most are short, and very many

    @property
    def values(self) -> list[float]:
        try:
            return self._values
        except AttributeError:
            self._values = [one.value for one in self]
            return self._values

    @property
    def lines(self) -> list[int]:
        return [one.line for one in self]

    def column(self, name: str) -> list[Any]:
        return [one.of.get(name) for one in self]

    @property
    def settings(self) -> list[Mapping[str, Any]]:
        return [one.of for one in self]


class Settings:
    """The `of` of many results: `shared`, and columns of their own, as long as they are many."""

    def __init__(self, shared: Mapping[str, Any], own: Mapping[str, Sequence[Any]]) -> None:
        self.shared, self.own = shared, own
        self._ones: dict[int, Mapping[str, Any]] = {}

    @cached_property
    def every(self) -> list[Mapping[str, Any]]:
        """All of them, each an object."""
        names = tuple(self.own)
        rows = zip(*self.own.values(), strict=True)
        found = [{**self.shared, **dict(zip(names, row, strict=True))} for row in rows]
        for at, one in self._ones.items():
            found[at] = one
        return found

    def one(self, at: int) -> Mapping[str, Any]:
        """That of one place: always the same object."""
        if "every" in vars(self):
            return self.every[at]
        if at not in self._ones:
            own = {name: column[at] for name, column in self.own.items()}
            self._ones[at] = {**self.shared, **own}
        return self._ones[at]

    @cached_property
    def few(self) -> list[Mapping[str, Any]]:
        """Two that differ in what any two of them differ in."""
        first = {name: column[0] for name, column in self.own.items()}
        other = {
            name: next((one for one in column if one != first[name]), first[name])
            for name, column in self.own.items()
        }
        return [{**self.shared, **one} for one in (first, other)]


class Column(_Several):
    """Results of one name, statistic and unit that stand one below the other."""

    def __init__(
        self,
        key: Key,
        values: list[float],
        lines: Sequence[int],
        of: Settings | Mapping[str, Any],
    ) -> None:
        self.key, self.values, self.lines, self.of = key, values, lines, of
        self._ones: dict[int, Result] = {}

    def __len__(self) -> int:
        return len(self.values)

    def column(self, name: str) -> Sequence[Any]:
        """What each has of that name; None where it has it not."""
        if isinstance(self.of, Settings) and name in self.of.own:
            return self.of.own[name]
        return [self.alike.get(name)] * len(self)

    @property
    def alike(self) -> Mapping[str, Any]:
        """The columns in which they do not differ."""
        return self.of.shared if isinstance(self.of, Settings) else self.of

    def knowing(self, more: Mapping[str, Any]) -> Column:
        """The same with more that all of them have alike."""
        own = self.of.own if isinstance(self.of, Settings) else {}
        return Column(self.key, self.values, self.lines, Settings({**self.alike, **more}, own))

    def differs(self, *names: str) -> bool:
        """Whether some may be another's in one of these columns."""
        return isinstance(self.of, Settings) and not self.of.own.keys().isdisjoint(names)

    @property
    def settings(self) -> list[Mapping[str, Any]]:
        """As few as differ in what any two of them differ in."""
        return self.of.few if isinstance(self.of, Settings) else [self.of]

    @cached_property
    def every(self) -> list[Result]:
        name, statistic, unit = self.key
        several = self.of.every if isinstance(self.of, Settings) else [self.of] * len(self)
        found = [
            Result(name, value, unit, line, statistic, of)
            for value, line, of in zip(self.values, self.lines, several, strict=True)
        ]
        for at, one in self._ones.items():
            found[at] = one
        return found

    def _made(self) -> list[Result]:
        return self.every

    def one(self, at: int) -> Result:
        """That of one place, always the same object: the others need not be made for it."""
        if "every" in vars(self):
            return self.every[at]
        at = range(len(self))[at]
        if at not in self._ones:
            name, statistic, unit = self.key
            of = self.of.one(at) if isinstance(self.of, Settings) else self.of
            self._ones[at] = Result(name, self.values[at], unit, self.lines[at], statistic, of)
        return self._ones[at]


class Joined(_Several):
    """Results of one name, statistic and unit, some of them in columns."""

    def __init__(self, parts: list[Group | Column]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @cached_property
    def values(self) -> list[float]:
        return list(chain.from_iterable(one.values for one in self.parts))

    @property
    def lines(self) -> list[int]:
        return list(chain.from_iterable(one.lines for one in self.parts))

    def column(self, name: str) -> list[Any]:
        return list(chain.from_iterable(one.column(name) for one in self.parts))

    @property
    def settings(self) -> list[Mapping[str, Any]]:
        return list(chain.from_iterable(one.settings for one in self.parts))

    @cached_property
    def every(self) -> list[Result]:
        return list(chain.from_iterable(self.parts))

    def _made(self) -> list[Result]:
        return self.every

    def __iter__(self) -> Iterator[Result]:
        return chain.from_iterable(self.parts)  # who looks at the first ones needs no others

    def one(self, at: int) -> Result:
        """That of one place."""
        at = range(len(self))[at]
        for part in self.parts:
            if at < len(part):
                return part[at]
            at -= len(part)
        raise IndexError


Alike = Group | Column | Joined


def parts_of(several: Alike) -> list[Group | Column]:
    """What they are joined of."""
    return several.parts if isinstance(several, Joined) else [several]


def joined(parts: list[Group | Column]) -> Alike:
    """These one behind the other."""
    return parts[0] if len(parts) == 1 else Joined(parts) if parts else Group()


def by_columns(several: Alike, names: Sequence[str]) -> dict[tuple[Any, ...], Alike]:
    """Those together that have the same in each of these columns."""
    found: dict[tuple[Any, ...], list[Group | Column]] = {}
    for part in parts_of(several):
        if _share(part, names):
            key = tuple([part.alike.get(name) for name in names])
            found.setdefault(key, []).append(part)
            continue
        own: dict[tuple[Any, ...], Group] = {}
        for one in part:
            key = tuple([one.of.get(name) for name in names])
            if key in own:
                own[key].append(one)
            else:
                own[key] = Group((one,))
        for key, group in own.items():
            found.setdefault(key, []).append(group)
    return {key: joined(parts) for key, parts in found.items()}


def are_beside(several: Sequence[Alike], names: Sequence[str]) -> bool:
    """Whether the first ones of all stand in one line and have the same in these columns, and the
    second ones, and so on, in another line each."""
    parts = [parts_of(one) for one in several]
    if len({*map(len, parts)}) > 1:
        return False
    lines = several[0].lines
    return len(set(lines)) == len(lines) and all(
        _are_rows(first, other, names)
        for first, *others in zip(*parts, strict=True)
        for other in others
    )


def _share(one: Group | Column, names: Sequence[str]) -> TypeGuard[Column]:
    """Whether it is a column of results that are alike in these."""
    return isinstance(one, Column) and not one.differs(*names)


def _are_rows(one: Group | Column, other: Group | Column, names: Sequence[str]) -> bool:
    if one.lines is not other.lines and list(one.lines) != list(other.lines):
        return False
    if _share(one, names) and _share(other, names):
        return all(one.alike.get(name) == other.alike.get(name) for name in names)
    return all(list(one.column(name)) == list(other.column(name)) for name in names)


class Block(list[Column]):
    """Columns that stand beside each other, all as long: a line has one result of each, or lines
    of a few kinds take turns."""

    def rows(self) -> Iterator[Result]:
        """Its results in the order of the log."""
        return chain.from_iterable(zip(*self, strict=True))


class Results(_Several):
    """All results of a report in the order of the log, many of them in blocks."""

    def __init__(self, parts: Sequence[Result | Block]) -> None:
        self.parts: list[list[Result] | Block] = []
        for kind, several in groupby(parts, key=type):
            own = list(several)
            self.parts += own if kind is Block else [own]
        self._every: list[Result] | None = None

    def __len__(self) -> int:
        return sum(sum(map(len, one)) if isinstance(one, Block) else len(one) for one in self.parts)

    def _made(self) -> list[Result]:
        if self._every is None:
            own = (one.rows() if isinstance(one, Block) else one for one in self.parts)
            self._every = list(chain.from_iterable(own))
        return self._every

    def one(self, at: int) -> Result:
        """That of one place; the first and the last need no others to be made."""
        end = self.parts[at] if at in (0, -1) else None
        return self._made()[at] if end is None or isinstance(end, Block) else end[at]

    def of(self, keys: Set[Key]) -> list[Result]:
        """Those of these groups, in their order."""
        found = list[Result]()
        for part in self.parts:
            if isinstance(part, Block):
                columns = [one for one in part if one.key in keys]
                found += chain.from_iterable(zip(*columns, strict=True))
            else:
                found += [one for one in part if (one.name, one.statistic, one.unit) in keys]
        return found

    def column(self, name: str) -> list[Any]:
        """What each has of that name, in their order; None where it has it not."""
        found = list[Any]()
        for part in self.parts:
            if isinstance(part, Block):
                rows = zip(*(one.column(name) for one in part), strict=True)
                found += chain.from_iterable(rows)
            else:
                found += [one.of.get(name) for one in part]
        return found

    def append(self, one: Result) -> None:
        """One more behind all."""
        self.parts.append([one])
        self._every = None

    def pop(self) -> Result:
        """The last one, which then is none of it."""
        every = self._made()
        self.parts = [every]
        return every.pop()

    def groups(self) -> dict[Key, Alike]:
        """By name, statistic and unit, in their order."""
        found: dict[Key, list[Group | Column]] = {}
        for part in self.parts:
            if isinstance(part, Block):
                for column in part:
                    found.setdefault(column.key, []).append(column)
                continue
            for key, own in groups_of(part).items():
                found.setdefault(key, []).append(own)
        return {key: joined(parts) for key, parts in found.items()}


def groups_of(results: Sequence[Result]) -> dict[Key, Group]:
    """Results by name, statistic and unit, in their order."""
    found: dict[Key, Group] = {}
    for one in results:
        key = one.name, one.statistic, one.unit
        if key in found:
            found[key].append(one)
        else:
            found[key] = Group((one,))
    return found


def results_of(parts: list[Result | Block]) -> list[Result] | Results:
    """These, a mere list where all are single ones."""
    if any(type(one) is Block for one in parts):
        return Results(parts)
    return [one for one in parts if isinstance(one, Result)]
