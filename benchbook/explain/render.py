"""What `benchbook explain` prints for people: a table of each run, then what is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from benchbook.core import number_format
from benchbook.core.sizes import format_bytes
from benchbook.explain.figures.cells import columns_of, is_for_people, shown_as, visible, words
from benchbook.explain.figures.choice import named_lines
from benchbook.explain.figures.shapes import tables_of
from benchbook.explain.figures.short_runs import together
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.findings import Finding

if TYPE_CHECKING:
    from benchbook.explain.explanation import Explained
    from benchbook.explain.figures.unread_lines import Unread

MOST_RUNS = 20  # tables of one file; nobody reads more, and each takes a hundredth of a second
FEW_RUNS = 5  # those of a file with more
MOST_SAID = 40  # findings, and notes
_WIDTH = 100  # where nobody looks at a terminal
# What a finding means for the figures, by its effect.
MEANING = {
    "invalidates": "do not use these figures",
    "biases": "these figures may be off",
    "explains": "this may be why",
    "informs": "to be said with these figures",
}


def print_explained(explained: Explained, *, alone: bool) -> None:
    """One file; its name where there are several."""
    # Only a terminal has a width, and markup in a log is none of ours.
    width = None if sys.stdout.isatty() else _WIDTH
    console = Console(highlight=False, markup=False, emoji=False, width=width)
    if not alone and not explained.trouble:
        console.print(Text(visible(explained.called), style="bold"))
    marked = named_lines(explained.findings)
    several = together(explained.reports)
    shown = several if len(several) <= MOST_RUNS else several[:FEW_RUNS]
    for report, runs in shown:
        _print_report(console, report, runs, marked)
    _print_left(console, sum(runs for _, runs in several[len(shown) :]), "outputs")
    if explained.trouble:
        return
    _print_unread(console, explained.unread)
    for finding in explained.findings[:MOST_SAID]:
        _print_finding(console, finding)
    _print_left(console, len(explained.findings) - MOST_SAID, "findings")
    for ask in explained.asks:
        why = ask.why[:1].upper() + ask.why[1:]
        _say(console, "? ", f"{why} Tell it with {ask.option} ({ask.artefact}).", "cyan")
    for note in explained.notes[:MOST_SAID]:
        _say(console, "note: ", note, "dim")
    _print_left(console, len(explained.notes) - MOST_SAID, "notes")
    if not explained.findings and not explained.asks:
        about = "Apart from the notes, nothing" if explained.notes else "Nothing"
        console.print(f"{about} wrong was found in it.")


def _print_unread(console: Console, several: Sequence[Unread]) -> None:
    """The lines whose figures are in no table."""
    if not several:
        return
    console.print("other lines with figures, as they stand:")
    for own in several:
        text = f"line {own.line.number}: {' '.join(own.line.text.split())}"
        if own.more:
            text += f" … {own.more:,} more like it"
        console.print(Padding(Text(visible(text)), (0, 0, 0, 2)))


def _print_left(console: Console, more: int, what: str) -> None:
    if more > 0:
        console.print(f"and {more:,} more {what}: --json has all")


def _print_report(console: Console, report: Report, runs: int, marked: Collection[int]) -> None:
    version = f" {report.version}" if report.version else ""
    several = f", {runs} outputs" if runs > 1 else ""
    titled = f" ({report.facts['titled']})" if report.facts.get("titled") else ""
    tool = report.facts.get("printed_by") or report.tool
    head = f"{tool}{version}, from line {report.line}{several}{titled}"
    console.print(Text(visible(head), style="bold"))
    facts = {**report.facts, **columns_of(report.settings)[1]}
    said = [
        f"{words(name)} {shown}"
        for name, value in facts.items()
        if name != "interval" and (shown := shown_as(name, value)) and is_for_people(name, value)
    ]
    benchmark = str(report.facts.get("benchmark") or "")
    if benchmark and not any(benchmark in name for name, *_ in report.groups):
        said.insert(0, f"benchmark {benchmark}")
    moved = {of.get("bytes_moved") for of in report.settings}
    if len(moved) == 1 and is_number(count := moved.pop()):
        said.append(f"moved {_moved(int(count))}")
    if said:
        console.print(Padding(Text(visible("; ".join(said))), (0, 0, 0, 2)))
    if not facts.get("command") and (command := " ".join(report.asked)) and _DIGIT.search(command):
        cut = command if len(command) <= _LONGEST_COMMAND else f"{command[:_LONGEST_COMMAND]} …"
        source = report.facts.get("options_of") or "last command above"
        console.print(Padding(Text(visible(f"{source}: {cut}")), (0, 0, 0, 2)))
    for table in tables_of(report, console.width, marked):
        for line in table.text(console.width):
            console.print(Text(visible(line)), soft_wrap=True)


_DIGIT = late(r"\d")
_LONGEST_COMMAND = 200


def _moved(count: int) -> str:
    """A number of bytes with all of its digits, and in a unit that is easier to read."""
    exact, short = f"{count:,} B", format_bytes(count)
    return exact if exact == short else f"{exact} ({short})"


def _print_finding(console: Console, finding: Finding) -> None:
    """What it is in one sentence, then the rest, then where it shows, then what to do."""
    sentences = _first_sentence(finding.explanation)
    _say(console, "! ", sentences[0], "bold red")
    factor = f", by a factor of {number_format.number(finding.factor)}" if finding.factor else ""
    grade = f"{MEANING[finding.effect]}{factor} ({finding.artefact})"
    where = f"{places}: {grade}" if (places := _places(finding.where)) else grade
    for text in (*sentences[1:], where, f"→ {finding.remedy}" if finding.remedy else ""):
        if text:
            console.print(Padding(Text(visible(text)), (0, 0, 0, 2)))


def _first_sentence(text: str) -> list[str]:
    """The first sentence, and the rest where there is one; a quotation is not parted."""
    for end in _SENTENCE.finditer(text):
        if text.count("“", 0, end.start()) == text.count("”", 0, end.start()):
            return [text[: end.start()], text[end.end() :]]
    return [text]


_SENTENCE = late(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.) (?=[A-Z“])")
_PLACE = late(r"^lines? (?P<lines>\d+(?: to \d+)?)(?:: .*)?$")
SHOWN_PLACES = 8


def _places(where: Sequence[str]) -> str:
    """The lines of these places, each once."""
    found = [_PLACE.match(place) for place in where]
    lines = list(dict.fromkeys(match["lines"] for match in found if match))
    if not lines:
        return "; ".join(where[:SHOWN_PLACES])
    if len(lines) > SHOWN_PLACES and all(line.isdecimal() for line in lines):
        numbers = sorted(map(int, lines))
        return f"{len(numbers)} lines from {numbers[0]} to {numbers[-1]}"
    left = len(lines) - SHOWN_PLACES
    shown = [*lines[:SHOWN_PLACES], *([f"{left} more"] if left > 0 else [])]
    called = "line" if len(lines) == 1 and lines[0].isdecimal() else "lines"
    return f"{called} {number_format.listed(shown)}"


def _say(console: Console, head: str, text: str, style: str) -> None:
    console.print(Text.assemble((visible(head), style), visible(text)))
