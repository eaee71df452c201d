"""Rates that somebody writes of another run: `I reach ~10GB/s with -mca pml ^ucx`."""

from __future__ import annotations

from benchbook.explain.context.same_runs import lines_of_results
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

_SAID = late(
    r"(?i)\b(?:reach|get|got|achiev|see|saw|measur|obtain|have|had|runs? at|gives?|gave|was|is)\w*"
    r"\b[^.\d\n|]{0,40}?(?<![\w.,-])(?P<value>\d[\d,]*(?:\.\d+)?) ?"
    r"(?P<unit>[KMG]i?B(?:/s|ps)|(?:tokens?|tok|t)/s(?:ec)?)\b(?P<rest>[^\n]{3,160})$"
)
_WAY = late(r"(?i)^[^.;]{0,20}\b(?:with|without|using|when|after|under|by)\b")
# What was not measured, and what is no other run.
_NOT = late(
    r"(?i)\b(?:expect\w*|should|theor\w*|up to|at least|want\w*|could|would|spec\w*|advertis\w*"
    r"|limit\w*|link|nic|ideal\w*|max(?:imum)?|claim\w*|only|suppos\w*|not|n't|each|per|sum|total"
    r"|together|read|cache\w*|if)\b"
)
_WORDS = ("B/s", "Bps", "t/s", "tok/s", "tokens/s", "token/s")
_LONGEST, _MOST = 300, 200


def tell(log: Log, reports: list[Report]) -> None:
    """Give the first report the one rate of another run that the text names: its value, its unit,
    its line and the words."""
    if not reports or any(report.tool in ("text", "figures") for report in reports):
        return
    taken = lines_of_results(reports)
    found = []
    for line in log.having(*_WORDS)[:_MOST]:
        text = line.text.replace("`", "")
        if line.number in taken or len(text) > _LONGEST or (match := _SAID.search(text)) is None:
            continue
        if _WAY.search(match["rest"]) and not _NOT.search(text):
            found.append((match, line.number, text.strip()))
    if len(found) == 1:
        match, number, text = found[0]
        if value := log.number(match["value"]):
            said = {"value": value, "unit": _unit(match["unit"]), "line": number, "words": text}
            reports[0].facts["said_rate"] = said


def _unit(text: str) -> str:
    if text[0] in "tT" and text.lower()[:3] in ("tok", "t/s"):
        return "tokens/s"
    return text[0].upper().replace("K", "k") + text[1:].replace("ps", "/s").replace("b/s", "B/s")
