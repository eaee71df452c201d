"""What readers get and give: the cleaned log, and what one run of a program printed."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from benchbook.explain.decimal_marks import number
from benchbook.explain.lazy_regex import late
from benchbook.explain.line_index import Kinds
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.results import Group, Key, Result, by_columns, grouped, groups_of
from benchbook.explain.sweeps import Sweep, sweeps_of

# Names of streams that stand for others: all of one direction, and both directions of a connection.
SUM, BOTH_WAYS = "SUM", "FD"


class Line(NamedTuple):
    """A line of the log without colours, quoting, stamps and indentation of what it was cut from
    (a prompt stays, `Log.commands` has what was typed); `number` counts from 1 in the file."""

    number: int
    text: str


@dataclass(frozen=True)
class Document:
    """A JSON value that begins in line `number`; not `whole` where its head or tail is missing.
    `text` is what it was read from, `lines` the numbers of the lines of that, `cut` what is
    missing, in words."""

    number: int
    value: Any
    whole: bool = True
    text: str = ""
    lines: Sequence[Line] = ()
    cut: str = ""

    @cached_property
    def places(self) -> dict[int, int]:
        """By id, the line in which each of its objects begins; empty where they cannot be told, as
        of what has lost its head. One pass over the text, made when it is first asked for."""
        if not self.text.startswith(("{", "[")):
            return {}
        begins, at, line = list[int](), 0, 0
        for token in _OBJECT.finditer(self.text):
            if token["begins"]:
                line += self.text.count("\n", at, token.start())
                at = token.start()
                begins.append(self.lines[line].number)
        objects = [id(own) for own in _objects(self.value)]
        # Of a document that was cut, what lies behind its last whole value was not read.
        fits = len(objects) == len(begins) if self.whole else len(objects) <= len(begins)
        return dict(zip(objects, begins, strict=False)) if fits else {}

    def line_of(self, value: Any) -> int:
        """The line in which one of its objects begins; its first one where that is not known."""
        return self.places.get(id(value), self.number) if len(self.lines) > 1 else self.number


_OBJECT = late(r'"(?:[^"\\]++|\\.)*+"|(?P<begins>\{)', re.S)


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """All objects of a JSON value in the order in which they begin."""
    left = [value]
    while left:
        current = left.pop()
        if isinstance(current, dict):
            yield current
            left += reversed([each for each in current.values() if isinstance(each, dict | list)])
        elif isinstance(current, list):
            left += reversed([each for each in current if isinstance(each, dict | list)])


@dataclass(frozen=True)
class Command:
    """A command line that the log shows behind a prompt, `words` as a shell splits them, with the
    variables set before it. `holds_to`: the last line that may be its output; what stands below
    contradicts it."""

    number: int
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    holds_to: float = math.inf


@dataclass(frozen=True)
class Log:
    """A text as importers see it, and what was found in it."""

    lines: tuple[Line, ...]
    documents: tuple[Document, ...] = ()
    commands: tuple[Command, ...] = ()
    decimal_comma: bool = False
    index: Kinds | None = field(default=None, repr=False, compare=False)

    @cached_property
    def kinds(self) -> Kinds:
        """Its lines by their kind."""
        return self.index or Kinds("\n".join(line.text for line in self.lines))

    @property
    def text(self) -> str:
        """All lines, cleaned, with line feeds."""
        return self.kinds.text

    def printed_lines(self) -> Iterator[Line]:
        """The lines that a tool may have printed: whatever is longer is no line of a table, and
        patterns would take long over it."""
        return (line for line in self.lines if len(line.text) <= LONGEST)

    def has(self, word: str) -> bool:
        """Whether it has this word."""
        return self.kinds.has(word)

    def having(self, *words: str) -> list[Line]:
        """Lines in which one of these words is found, in order."""
        return [self.lines[index] for index in self.kinds.lines_with(words)]

    def like(self, is_wanted: Callable[[str], object]) -> Iterator[Line]:
        """Lines, in order, of which this is true whatever their digits are: it is asked of each
        kind of line once, with zeros for digits."""
        return (self.lines[index] for index in self.kinds.lines_like(is_wanted))

    def marked(self, is_wanted: Callable[[str], object]) -> Iterator[tuple[Line, bool]]:
        """The lines that a tool may have printed, in order, each with whether this is true of it
        whatever its digits are."""
        wanted = set(self.kinds.lines_like(is_wanted))
        for index, line in enumerate(self.lines):
            if len(line.text) <= LONGEST:
                yield line, index in wanted

    def with_figures(self, figures_of: Callable[[Log, Line], Iterable[object]]) -> Iterator[Line]:
        """The lines that a tool may have printed in which this finds something, in order: it is
        asked of each kind of line once, with zeros for digits."""

        def has_any(text: str) -> bool:
            has_digit = len(text) <= LONGEST and ("0" in text or not text.isascii())
            return has_digit and any(True for _ in figures_of(self, Line(0, text)))

        return self.like(has_any)

    def matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[Line, re.Match[str]]]:
        """Lines in which the pattern is found, each with its first match."""
        for line in self.lines:
            if match := pattern.search(line.text):
                yield line, match

    def commands_above(self, line: int) -> int:
        """How many of its commands stand above a line."""
        return bisect_left(self.commands, line, key=lambda command: command.number)

    def number(self, text: str) -> float | None:
        """A number as this log writes numbers (`1,234.5`; `1.234,5` where it has decimal commas);
        None where it is none. `nan` and `inf` are numbers here: what was printed is not mended."""
        return number(text, decimal_comma=self.decimal_comma)


class Twice(NamedTuple):
    """A number that the log prints, and what others that it prints make of it; `slack` is what
    the digits of all of them leave open. readers/common/relations.py makes them."""

    name: str
    said: float
    unit: str
    line: int
    made: float
    made_of: str  # in words, with their lines
    slack: float


# Columns that make of one figure several.
SETTING = ("benchmark", "block_bytes", "array_bytes", "threads", "command", "region", "core")
_Keys = dict[str, list[Key]]
Kept = TypeVar("Kept")


def _finite(several: Group) -> Group:
    return Group([result for result in several if abs(result.value) < math.inf])


@dataclass
class Report:
    """One run of a tool as its output tells it.

    notes: sentences for people: what is missing (its head, its tail) or was not understood.
    twice: numbers that it tells twice, so that they can contradict each other.
    asked: the words of the last command above it, with what was set for that."""

    tool: str
    results: list[Result]
    line: int
    version: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    twice: list[Twice] = field(default_factory=list)
    asked: tuple[str, ...] = ()

    def column(self, result: Result, name: str) -> Any:
        """A column of one of its results, or the fact that holds for all; None if unknown."""
        return result.of.get(name, self.facts.get(name))

    def add(self, result: Result) -> None:
        """One more, after others were asked for."""
        self.results.append(result)
        for name, made in vars(type(self)).items():
            if isinstance(made, cached_property):
                vars(self).pop(name, None)

    @cached_property
    def groups(self) -> Mapping[Key, Group]:
        """Its results by name, statistic and unit, in their order: a log may have 100,000, and what
        a rule asks for are all of a group or none. Asked for when all of them are there."""
        return groups_of(self.results)

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that any of its results has."""
        return frozenset[str]().union(*self.settings)

    @cached_property
    def settings(self) -> list[Mapping[str, Any]]:
        """The `of` of its results, each once that several share."""
        return list({id(result.of): result.of for result in self.results}.values())

    @cached_property
    def series(self) -> list[tuple[Group, Result | None]]:
        """Repetitions 0 to n - 1 of each figure that it has without a gap, and the one mean that it
        prints of them, if any; a figure has one name, unit and setting."""
        samples: dict[tuple[object, ...], Group] = {}
        means: dict[tuple[object, ...], Group] = {}
        apart = [name for name in SETTING if name in self.columns]
        for (name, statistic, unit), several in self.groups.items():
            if statistic in ("sample", "mean"):
                by_setting = by_columns(several, apart) if apart else {(): several}
                for setting, own in by_setting.items():
                    by_figure = samples if statistic == "sample" else means
                    by_figure[name, unit, *setting] = _finite(own)
        return [
            (own, means[key][0] if len(means.get(key, ())) == 1 else None)
            for key, own in samples.items()
            if len(own) > 1 and own.column("repetition") == list(range(len(own)))
        ]

    @cached_property
    def sweeps(self) -> list[Sweep]:
        """Its means by the size of the message."""
        return sweeps_of(self.groups)

    def called(self, *names: str) -> Sequence[Result]:
        """Its results of these names, in their order."""
        return self._of(self._kinds[0], names)

    def being(self, *statistics: str) -> Sequence[Result]:
        """Its results that are one of these statistics, in their order."""
        return self._of(self._kinds[1], statistics)

    def only(self, name: str, statistic: str | None = None) -> Result | None:
        """Its one finite number of this name, and statistic; None where it has none or several. The
        error of a number is none of its own."""
        if (called := self._kinds[0].get(name)) is None:
            return None  # as most rules ask
        keys = [key for key in called if key[1] != "standard error" and statistic in (None, key[1])]
        own = [result for result in self._these(keys) if result.is_number]
        return own[0] if len(own) == 1 else None

    @cached_property
    def _kinds(self) -> tuple[_Keys, _Keys]:
        """The keys of its groups by name and by statistic: most rules ask for what it has not."""
        return grouped(self.groups, itemgetter(0)), grouped(self.groups, itemgetter(1))

    def has(self, name: str) -> bool:
        """Whether any of its results is called so."""
        return name in self._kinds[0]

    def of_keys(self, is_wanted: Callable[[Key], bool]) -> Sequence[Result]:
        """Its results whose name, statistic and unit are so, in their order."""
        return self._these(list(filter(is_wanted, self.groups)))

    def _of(self, kinds: _Keys, names: tuple[str, ...]) -> Sequence[Result]:
        if len(names) == 1:
            return self._these(kinds.get(names[0], ()))
        return self._these([key for name in names for key in kinds.get(name, ())])

    def _these(self, keys: Sequence[Key]) -> Sequence[Result]:
        if not keys:
            return []
        if len(keys) == 1:
            return self.groups[keys[0]]
        if (every := frozenset(keys)) not in self._asked:
            of_keys = map(self._places.__getitem__, dict.fromkeys(keys))
            places = sorted(chain.from_iterable(of_keys))
            self._asked[every] = [self.results[place] for place in places]
        return self._asked[every]

    @cached_property
    def _places(self) -> dict[Key, list[int]]:
        """Where the results of each group stand among all: many rules ask for a few of them."""
        places: dict[Key, list[int]] = {key: [] for key in self.groups}
        for place, result in enumerate(self.results):
            places[result.name, result.statistic, result.unit].append(place)
        return places

    @cached_property
    def _asked(self) -> dict[frozenset[tuple[str, str, str]], list[Result]]:
        """What was asked for before: rules ask for the same, and change no list."""
        return {}

    def kept(self, make: Callable[[Report], Kept]) -> Kept:
        """What this makes of it, made once: several rules ask for the same."""
        if make not in self._made:
            self._made[make] = make(self)
        kept: Kept = self._made[make]
        return kept

    @cached_property
    def _made(self) -> dict[Callable[[Report], Any], Any]:
        return {}

    def knowing(self, *names: str, of: Sequence[Result] | None = None) -> Sequence[Result]:
        """Its results, or these of them, of which one of these columns may be known."""
        several = self.results if of is None else of
        if any(name in self.facts for name in names):
            return several
        known_columns = self.columns.intersection(names)
        return (
            [result for result in several if not known_columns.isdisjoint(result.of)]
            if known_columns
            else []
        )
