"""The words that somebody wrote right above a run: "with TLS", "The actual container is fast:"."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report

_MOST_REPORTS, _NEAR_LINES, _LONGEST, _SHOWN = 12, 12, 220, 80
_MOST_OF_TITLE, _ENDS = 8, (".", ":", "!", "?", ")", "`")
_FENCE = late(r"^(?:```|~~~)")
_COMMAND = late(r"^(?:\S{0,60}[$#%>] \S|[$>%] ?\S|`[^`]+`[ :.]*$)")
_HEADING = late(r"^(?:#{1,6} \S|\*\*\S|__\S)|:(?:\*\*|__)?$")
_MARKS = late(r"^(?:#{1,6} +|[-*+] +|\d{1,2}[.)] +|//+ *|>+ *)|[*_`]{1,3}")


def tell(log: Log, reports: Sequence[Report]) -> None:
    """Give each of a few reports the words above it, where these differ.

    They stand outside of the fence around the run, end with a colon, are a heading, or are a short
    line right above the command. Nothing but the command and blank lines is between, and no figures
    of another run."""
    if not 2 <= len(reports) <= _MOST_REPORTS:
        return
    numbers = [line.number for line in log.lines]
    commands = [command.number for command in log.commands]
    above = 0
    told: list[str] = []
    for report in sorted(reports, key=lambda each: each.line):
        before = bisect_left(commands, report.line + 1)
        own = commands[before - 1] if before else 0
        begin = own if own > above else report.line
        first, last = bisect_left(numbers, above + 1), bisect_left(numbers, begin)
        lines = log.lines[max(first, last - _NEAR_LINES) : last]
        is_of_last = 0 < own <= above  # one command, of which two tools report
        words = _words(lines, set(commands), is_command=begin == own)
        told.append(told[-1] if is_of_last and told else words)
        above = max([report.line, *(result.line for result in report.results)])
    if len(set(told)) > 1:
        for report, words in zip(sorted(reports, key=lambda each: each.line), told, strict=True):
            if words:
                report.facts["said_above"] = words


def _words(lines: Sequence[Line], commands: set[int], *, is_command: bool) -> str:
    fences, is_apart = 0, is_command
    for at in range(len(lines) - 1, -1, -1):
        text = lines[at].text.strip()
        if _FENCE.match(text):
            fences += 1
            is_apart = True
            if fences > 1:
                return ""  # the end of what stands above
        elif not text:
            is_apart = True
        elif is_apart and not (lines[at].number in commands or _COMMAND.match(text)):
            above = lines[at - 1].text.strip() if at else ""
            count = len(text.split())
            is_title = is_command and not above and text[0].isupper() and count <= _MOST_OF_TITLE
            is_own = fences or is_title or _HEADING.search(text)
            if not is_own or len(text) > _LONGEST or "  " in text:
                return ""
            if above and text[0].islower() and not above.endswith(_ENDS):
                return ""  # the rest of a sentence
            words = _MARKS.sub("", text).strip(" :.")
            return f"{words[:_SHOWN].rstrip()}…" if len(words) > _SHOWN else words
    return ""
