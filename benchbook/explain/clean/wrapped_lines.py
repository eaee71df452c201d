"""Lines that a mail program or a terminal broke in front of a unit or within brackets."""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line

# What ends a line that goes on: a bracket that has a number and no end, or a number.
_OPEN = late(r"\((?:\*\*)?[^()]{0,60}\d[^()]{0,60}$")
_NUMBER = late(r"(?<![\w.=:])\d[\d,.]{0,18}(?: (?:million|thousand|billion))?$")
_CLOSED = late(r"[^\s()][^()]{0,29}\)")
_UNIT = late(
    r"(?:bytes/s(?:ec)?|[kKMGT]i?B(?:/s(?:ec)?|ps)|[KMG]?bits?/s(?:ec)?|[kMG]bps|IOPS|iops|ms|µs|us|"
    r"ns|msec|usec|secs?|seconds|milliseconds|[a-z]{2,14}/s(?:ec)?|"
    r"(?:million|thousand|billion)(?: [a-z]+(?:/s(?:ec)?| per sec(?:ond)?))?|"
    r"[a-z]{2,14} per sec(?:ond)?|per sec(?:ond)?)(?=$|[,;.)*]| (?:[a-z(-]|$))(?! *[:=|])"
)
_PER = late(r"\d(?: (?:million|thousand|billion))? [a-z]{2,14} per$")
_SECOND = late(r"sec(?:ond)?(?=[\s,;.:)*]|$)")
_NARROWEST, _WIDEST = 40, 120  # characters of a line that was broken


def rejoined(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines, those that were broken as one, with the number of the first."""
    joined: list[Line] = []
    for line in lines:
        if joined and line.text and _goes_on(joined[-1].text, line.text):
            joined[-1] = Line(joined[-1].number, f"{joined[-1].text} {line.text.lstrip()}")
        else:
            joined.append(line)
    return tuple(joined) if len(joined) < len(lines) else lines


def _goes_on(text: str, behind: str) -> bool:
    if not _NARROWEST <= len(text) <= _WIDEST:
        return False
    own = behind.lstrip()
    if not own or not own[0].isalpha() or len(behind) - len(own) > len(text) - len(text.lstrip()):
        return False
    behind = own
    if "(" in text and text.rfind("(") > text.rfind(")") and _OPEN.search(text):
        return bool(_CLOSED.match(behind))
    if text.endswith(" per"):
        return bool(_PER.search(text) and _SECOND.match(behind))
    is_number = text[-1].isdecimal() or text.endswith(("million", "thousand", "billion"))
    return is_number and bool(_NUMBER.search(text) and _UNIT.match(behind))
