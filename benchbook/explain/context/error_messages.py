"""What programs, linkers and kernels say when they fail, what tools say of the machine's state, and
words that tell where a log was made: what each of these means stands in files next to this one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report
from benchbook.explain.printed_digits import LONGEST
from benchbook.findings import Effect, Finding, proof

# In this order: what is special comes first.
CATALOGUES = (
    "build_messages.toml",
    "limit_messages.toml",
    "start_messages.toml",
    "device_messages.toml",
    "system_messages.toml",
    "run_messages.toml",
    "error_messages.toml",
)
ARTEFACT = "run-failed"
_MOST_LINES = 200  # of one message; a loop prints it very often
_QUOTED = 160  # characters of a line
_FOLLOWING = 6  # lines of a message of several
# No message, though it has the words of one: a line of source that a compiler shows, a command that
# looks for the words or prints them, and code that would print or raise them.
_NO_MESSAGE = late(
    r"^\s{0,20}\d{1,6} \|\s"
    r"|(?:^|[|$#>;&] ?|\bsudo )(?:[ef]?grep|zgrep|rg|echo|printf) +[-\"'\w]"
    r"|\b(?:[fs]?n?printf|perror|f?puts|e?println!?) ?\(|\b(?:cerr|cout) <<|\bthrow std::"
)
# What somebody writes before the words of a message that did not come.
_TALK = late(
    r"(?i)\b(?:avoid(?:s|ing)?|prevents?|gets? rid of|fix(?:es|ed)|in case of"
    r"|if (?:you|it) (?:gets?|sees?|encounters?))\b[^:]{0,80}$"
)
_FILLED = late(r"\{(\w{1,20})\}")


@dataclass(frozen=True)
class Entry:
    """A message by the words that it has, or their pattern. `only_with`: a word of the log without
    which it means something else; `unless`: one with which it does. `across`: whether its pattern
    goes on over the lines that follow; `least`: how many lines have to have it; `is_note`: it is no
    error, but a fact about the machine. `where`: a pattern that some line of the log has to fit;
    `unless_where`: one that none may fit. `also`: pairs of a pattern and of a sentence that is
    added where a line of the log fits. Named groups of these patterns fill {name} in their
    sentences, and {line} is the line that fits. `covers`: entries that only follow from it, and are
    not said then.
    `sums`: a pattern of which {sum} is the sum of what it calls count, over lines that differ."""

    name: str
    tool: str
    words: Sequence[str]
    means: str
    remedy: str
    pattern: str = ""
    only_with: Sequence[str] = ()
    unless: Sequence[str] = ()
    effect: Effect = "invalidates"
    across: bool = False
    least: int = 1
    artefact: str = ARTEFACT
    is_note: bool = False
    where: str = ""
    unless_where: str = ""
    also: Sequence[Sequence[str]] = ()
    covers: Sequence[str] = ()
    sums: str = ""

    @property
    def finds(self) -> re.Pattern[str] | None:
        """Its pattern, compiled when it is needed."""
        return late(self.pattern) if self.pattern else None


@dataclass(frozen=True)
class Message:
    """One kind of message in a log, and the lines that have it."""

    entry: Entry
    lines: Sequence[Line]
    words: Mapping[str, str] = field(default_factory=dict)
    added: str = ""

    @property
    def means(self) -> str:
        """What it means, with what other lines of the log say of it."""
        return " ".join(filter(None, (_filled(self.entry.means, self.words), self.added)))

    @property
    def remedy(self) -> str:
        """What the person who posted it can do."""
        return _filled(self.entry.remedy, self.words)

    @property
    def report(self) -> Report:
        """A run that printed nothing else."""
        return Report(self.entry.tool, [], self.lines[0].number)

    @property
    def note(self) -> str:
        """What it means, in a sentence that names its first line."""
        return f"line {self.lines[0].number}: {self.means} {self.remedy}"

    @property
    def finding(self) -> Finding:
        """What it means, as a finding."""
        first, numbers = self.lines[0], [line.number for line in self.lines]
        text = " ".join(first.text.split())
        quoted = text if len(text) <= _QUOTED else f"{text[:_QUOTED]} …"
        least = "at least " if len(numbers) >= _MOST_LINES else ""
        more = f" ({least}{len(numbers)} such lines)" if len(numbers) > 1 else ""
        return Finding(
            artefact=self.entry.artefact,
            effect=self.entry.effect,
            where=[f"line {number}" for number in numbers],
            confidence=0.95,
            evidence=[proof("message", quoted, "", f"line {first.number}")],
            explanation=f"Line {first.number} says: “{quoted}”{more}. {self.means}",
            remedy=self.remedy,
        )


@cache
def entries() -> list[Entry]:
    """All messages that are known."""
    texts = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in CATALOGUES]
    return [Entry(name, **entry) for text in texts for name, entry in tomllib.loads(text).items()]


def messages(log: Log) -> list[Message]:
    """Those of a log, in the order of their first lines; the first that fits a line takes it."""
    taken: set[int] = set()
    kept = []
    for entry in entries():
        if not any(map(log.has, entry.words)):
            continue
        if entry.only_with and not any(map(log.has, entry.only_with)):
            continue
        if any(map(log.has, entry.unless)):
            continue
        lines = list(_lines(log, entry, taken))
        if not lines or len(lines) < entry.least:
            continue
        words = _words_of(log, entry, lines[0])
        if words is None:
            continue
        taken |= {line.number for line in lines}
        added = [_filled(says, own) for pattern, says in entry.also if (own := _fits(log, pattern))]
        kept.append(Message(entry, lines, words, " ".join(added)))
    covered = {name for message in kept for name in message.entry.covers}
    said = [message for message in kept if message.entry.name not in covered]
    return sorted(said, key=lambda message: message.lines[0].number)


def _words_of(log: Log, entry: Entry, first: Line) -> Mapping[str, str] | None:
    """What the patterns of an entry name; None where other lines of the log rule it out."""
    if entry.unless_where and _fits(log, entry.unless_where):
        return None
    there = _fits(log, entry.where) if entry.where else {}
    if there is None:
        return None
    finds = entry.finds
    match = finds.search(first.text) if finds else None
    words = {**there, **_groups(match)}
    if entry.sums:
        rows = {own[0]: int(own["count"]) for _, own in log.matches(late(entry.sums))}
        words["sum"] = str(sum(rows.values()))
    return words


def _fits(log: Log, pattern: str) -> Mapping[str, str] | None:
    """The groups of the first line that a pattern fits, and its number; None where none does."""
    finds = late(pattern)
    for line in log.printed_lines():
        if match := finds.search(line.text):
            return {**_groups(match), "line": str(line.number)}
    return None


def _groups(match: re.Match[str] | None) -> dict[str, str]:
    return {name: own for name, own in match.groupdict().items() if own} if match else {}


def _filled(text: str, words: Mapping[str, str]) -> str:
    return _FILLED.sub(lambda match: words.get(match[1], match[0]), text) if words else text


def _lines(log: Log, entry: Entry, taken: set[int]) -> Iterator[Line]:
    finds = entry.finds
    count = 0
    for index in log.kinds.lines_with(entry.words):
        line = log.lines[index]
        if len(line.text) > LONGEST or line.number in taken:
            continue
        if not entry.is_note and _is_talk(line.text, entry):
            continue
        text = line.text
        if entry.across:
            following = log.lines[index + 1 : index + 1 + _FOLLOWING]
            text = "\n".join((text, *(own.text[:LONGEST] for own in following)))
        match = finds.search(text) if finds else None
        if finds is None or (match and match.start() < len(line.text)):
            yield Line(line.number, match[0]) if match and entry.across else line
            count += 1
            if count == _MOST_LINES:
                return


def _is_talk(text: str, entry: Entry) -> bool:
    """Whether a line only looks for the words of an entry, or speaks of them."""
    if _NO_MESSAGE.search(text):
        return True
    places = [at for word in entry.words if (at := text.find(word)) >= 0]
    return bool(places) and _TALK.search(text, 0, min(places)) is not None
