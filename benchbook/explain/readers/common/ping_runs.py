"""Runs of ping, whichever program or language printed them: their replies, counts and times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST, as_float
from benchbook.explain.readers.common import line_reader

TOOL = "ping"
HOSTS = 64  # of which lines may stand between each other


@dataclass
class Run(line_reader.Run):
    """The lines of one start."""

    replies: int = 0
    ended: bool = False
    told: bool = False  # its minimum, mean and maximum
    parallel: bool = False  # with others, whose lines are between its own
    marks: dict[str, int] = field(default_factory=dict)  # lines without which others mean nothing
    numbers: dict[int, int] = field(default_factory=dict)  # of echoes, with the line of the reply

    def add(self, time: float, unit: str, line: Line) -> None:
        """A reply."""
        of = {"repetition": self.replies}
        self.replies += 1
        self.results.append(Result("round trip", time, unit, line.number, "sample", of))

    def add_total(self, name: str, value: float, unit: str, number: int) -> None:
        """A figure of the whole run, in the line of this number."""
        self.results.append(Result(name, value, unit, number, "total"))

    def add_counts(self, sent: int, got: int, line: Line) -> None:
        """Packets, which it says at its end."""
        self.ended = True
        self.add_total("packets sent", sent, "packets", line.number)
        self.add_total("packets received", got, "packets", line.number)

    def add_loss(self, share: float, number: int) -> None:
        """The share that was lost, in the line of this number."""
        self.add_total("loss", share, "%", number)

    def add_statistic(self, name: str, value: float, unit: str, line: Line) -> None:
        """What it says of all of its times."""
        got = [result.value for result in self.results if result.name == "packets received"]
        of = {"repetitions": round(got[-1])} if got else {}
        self.results.append(Result("round trip", value, unit, line.number, name, of))

    def count(self, fact: str) -> None:
        """One more line of a kind."""
        self.facts[fact] = self.facts.get(fact, 0) + 1

    def finish(self) -> bool:
        """Note what is missing; whether it has results."""
        if "head" in self.marks and not self.parallel:
            self.facts["has_head"] = True
        if not self.ended and not self.parallel:
            self._count_missing()
        if not self.ended:
            self.notes.append("its statistics are not in the log: the tail is missing")
        return bool(self.results)

    def _count_missing(self) -> None:
        """How many numbers of echoes have no reply, and the longest row of them."""
        known = sorted(self.numbers)
        if not known or known[-1] >= WRAPS:
            return
        # Some count from 0: a first number of 1 leaves none out.
        begin = 0 if "head" in self.marks and known[0] > 1 else known[0] - 1
        gaps = {after: after - before - 1 for before, after in pairwise([begin, *known])}
        if missing := sum(gaps.values()):
            longest = max(gaps, key=lambda number: gaps[number])
            self.facts |= {"missing_numbers": missing, "last_number": known[-1]}
            self.facts |= {"longest_gap": gaps[longest], "gap_line": self.numbers[longest]}


WRAPS = 65_000  # numbers begin again at 65,536
Finds = Callable[[str], re.Match[str] | None]
Takes = Callable[[list[Run], Line, re.Match[str]], object]
# Words, of which a line has one in which the pattern is found; what is done with that.
Taken = tuple[Sequence[str], Finds, Takes]


def read_by(log: Log, taken: Sequence[Taken], only_with: Mapping[Takes, str]) -> list[Report]:
    """One report for each start; without a head, a title or the sums end one. `only_with`: what
    means something only in a log that has that word, too."""
    runs: list[Run] = []
    # Patterns of which the log has no word are not tried, lines that have none are not looked at.
    asked: list[Taken] = [
        (present, find, take)
        for words, find, take in taken
        if (present := [word for word in words if log.has(word)])
        and (take not in only_with or log.has(only_with[take]))
    ]
    for line in log.having(*{word: None for words, *_ in asked for word in words}):
        if len(line.text) <= LONGEST:
            _take(runs, line, asked)
    return [run.report(TOOL) for run in runs if run.finish()]


def _take(runs: list[Run], line: Line, asked: Sequence[Taken]) -> None:
    """What the first of these patterns finds in a line."""
    text = line.text
    for words, find, take in asked:
        for word in words:
            if word in text:
                break
        else:
            continue
        if found := find(text):
            take(runs, line, found)
            break


def number_of(text: str) -> float | None:
    """A number as ping prints it: a comma in it is of decimals, for it groups no digits."""
    return as_float(text.replace(",", "."))


def begun(runs: list[Run], line: Line) -> Run:
    """A run that begins in this line."""
    runs.append(Run(line.number))
    return runs[-1]


def going(runs: list[Run], line: Line) -> Run:
    """The last run, or one that begins in this line where it has ended."""
    return begun(runs, line) if not runs or runs[-1].ended else runs[-1]


def untold(runs: list[Run], line: Line) -> Run:
    """The run whose minimum, mean and maximum these are: each has them once, and people make
    lists of such lines."""
    run = begun(runs, line) if not runs or runs[-1].told else runs[-1]
    run.ended = run.told = True
    return run


def opened(runs: list[Run], fact: str, value: str) -> Run | None:
    """The run of which this is true and which has not ended, made the last one: of several at the
    same time, each goes on between the others' lines."""
    for back, run in enumerate(reversed(runs[-HOSTS:]), 1):
        if not run.ended and run.facts.get(fact) == value:
            if back > 1:
                runs.append(runs.pop(-back))
            return run
    return None


def headed(runs: list[Run], line: Line, found: re.Match[str]) -> Run:
    """A run that begins with its head: whom it asks, with how much."""
    others = [started for started in runs[-HOSTS:] if not started.ended]
    run = begun(runs, line)
    for started in [*others, run] if others else []:
        started.parallel = True
    run.marks["head"] = line.number
    named = found.groupdict()
    run.facts["message_bytes"] = int(named["bytes"])
    run.facts["far_host"] = named["host"]
    run.facts["far_address"] = named.get("address") or named["host"]
    return run


def replied(
    runs: list[Run],
    line: Line,
    printed: str,
    unit: str,
    size: int | None,
    address: str,
    *,
    at_most: bool = False,
) -> None:
    """A reply, and what it tells of its run."""
    time = number_of(printed)
    if time is None:
        return
    run = opened(runs, "far_address", address) or going(runs, line)
    if size is not None:
        run.facts.setdefault("message_bytes", size)
    run.facts.setdefault("far_address", address)
    run.add(time, unit, line)
    if at_most:
        run.results[-1].of = {**run.results[-1].of, "at_most": True}


def answered(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    """A reply in whole ms, of which some say only that they are below so many."""
    name, size, less, time = found.group("from", "size", "less", "time")
    replied(runs, line, time, "ms", int(size) if size else None, name, at_most=less == "<")
