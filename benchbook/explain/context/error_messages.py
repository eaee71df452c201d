"""What programs, linkers and kernels say when they fail, what tools say of the machine's state, and
words that tell where a log was made: what each of these means stands in files next to this one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report
from benchbook.explain.printed_digits import LONGEST
from benchbook.findings import Effect, Finding, proof

# In this order: what is special comes first.
CATALOGUES = ("device_messages.toml", "system_messages.toml", "error_messages.toml")
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


@dataclass(frozen=True)
class Entry:
    """A message by the words that it has, or their pattern. `only_with`: a word of the log without
    which it means something else; `unless`: one with which it does. `across`: whether its pattern
    goes on over the lines that follow; `least`: how many lines have to have it; `is_note`: it is no
    error, but a fact about the machine."""

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

    @property
    def finds(self) -> re.Pattern[str] | None:
        """Its pattern, compiled when it is needed."""
        return late(self.pattern) if self.pattern else None


@dataclass(frozen=True)
class Message:
    """One kind of message in a log, and the lines that have it."""

    entry: Entry
    lines: Sequence[Line]

    @property
    def report(self) -> Report:
        """A run that printed nothing else."""
        return Report(self.entry.tool, [], self.lines[0].number)

    @property
    def note(self) -> str:
        """What it means, in a sentence that names its first line."""
        return f"line {self.lines[0].number}: {self.entry.means} {self.entry.remedy}"

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
            explanation=f"Line {first.number} says: “{quoted}”{more}. {self.entry.means}",
            remedy=self.entry.remedy,
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
        if len(lines) >= entry.least:
            taken |= {line.number for line in lines}
            kept.append(Message(entry, lines))
    return sorted(kept, key=lambda message: message.lines[0].number)


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
