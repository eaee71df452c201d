"""How many cores a machine has by what somebody says of it: `a node with 40 cores`, `two processors
with 20 cores each`. They are looked for where figures are of processes and threads."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

_NUMBERS = {"two": 2, "dual": 2, "four": 4, "quad": 4, "single": 1, "one": 1}
_EACH = late(
    r"(?i)\b(?P<sockets>[1248]|two|dual|four|quad|single|one)[ -]?(?:x |\u00d7 |sockets?"
    r"|processors?|CPUs?)[^.;\n]{0,60}?\b(?P<each>\d{1,3})[ -]?(?:\(?physical\)? )?cores? "
    r"(?:each|per (?:CPU|socket|processor))\b"
)
_OF_MACHINE = r"machine|server|node|workstation|box|VM|host|laptop|desktop"
_ALL = late(
    rf"(?i)\b(?:(?P<before>\d{{1,4}})[ -](?:physical[ -])?cores? (?:{_OF_MACHINE})\b"
    rf"|(?:{_OF_MACHINE}) (?:has|with|of) (?P<behind>\d{{1,4}}) (?:physical )?cores?\b"
    r"(?! (?:each|per)))"
)
_LONGEST = 1500  # characters of a line


def tell(log: Log, reports: Sequence[Report]) -> None:
    """Give figures of processes and threads the cores that the text names, if it is one number."""
    counted = [own for own in reports if {"processes", "threads"} & own.columns]
    if not counted or not (log.has("core") or log.has("cores")):
        return
    found: dict[int, int] = {}
    for line in log.having("core"):
        if len(line.text) > _LONGEST:
            continue
        if each := _EACH.search(line.text):
            sockets = each["sockets"].lower()
            count = int(each["each"]) * (_NUMBERS.get(sockets) or int(sockets))
            found.setdefault(count, line.number)
        elif whole := _ALL.search(line.text):
            found.setdefault(int(whole["before"] or whole["behind"]), line.number)
    for report in counted if len(found) == 1 else ():
        if report.facts.get("cores") is None:
            ((count, number),) = found.items()
            report.facts |= {"cores_in_words": count, "cores_in_words_line": number}
