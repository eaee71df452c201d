"""report-errors: a tool printed values that no measurement can have.

Decided by the range of each printed value, and by the others of the same transfer: a loss below
none or above all, more received than sent, a jitter longer than the transfer, a first jitter that
has nothing to do with the later ones. The values stay as they were printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchbook.artefacts import Finding, Judged, Seen, is_known, proof
from benchbook.digits import count, listed, number, plural

ARTEFACT = "report-errors"
STATES = ("ok", "replayed", "imported")
# What a report of a transfer prints, by the names that its rows have here.
PRINTED = (
    "lost_percent",
    "lost_datagrams",
    "expected_datagrams",
    "sent_datagrams",
    "sent_bytes",
    "received_bytes",
    "jitter_ms",
    "first_jitter_ms",
    "receiving_s",
)
FIRST_TIMES = 100  # of the whole transfer's jitter: a start may be rough
ROUNDING = 1e-6
SHOWN, EVIDENCE = 3, 6
CERTAIN, BY_SIZE = 1.0, 0.9
OUT_OF_RANGE = (
    "Set these values aside, and compute the loss from the datagrams that the sender sent and the "
    "receiving program read, or from both hosts’ counters; try another version of the tool."
)
FIRST_JITTER = (
    "Leave the first interval out (iperf3 --omit), or take the jitter of the whole transfer; a "
    "mean over the intervals has the wrong one in it."
)
Row = dict[str, Any]


@dataclass(frozen=True)
class _Report:
    """One transfer as printed: rows by name and end."""

    rows: dict[tuple[str, str], Row]

    def value(self, name: str, end: str) -> float | None:
        row = self.rows.get((name, end))
        return None if row is None else float(row["value"])

    def ends(self) -> list[str]:
        return sorted({end for _, end in self.rows})

    def total(self, name: str) -> float | None:
        """What any end printed of it."""
        return next((value for end in self.ends() if (value := self.value(name, end))), None)


@dataclass(frozen=True)
class _Wrong:
    """A value that cannot be, and what it is in words."""

    row: Row
    words: str


def detect(seen: Seen) -> Judged:
    """One finding for all values out of their range, one for first jitters; where no report was
    read, the question does not arise."""
    judged = Judged()
    reports = _reports(seen)
    out = [wrong for report in reports for wrong in _out_of_range(report)]
    first = [wrong for report in reports for wrong in _first_jitter(report)]
    printed = sum(len(report.rows) for report in reports)
    if out:
        text = (
            f"{plural(len(out), 'value')} of {count(printed)} that {_tools(out)} printed of "
            f"{plural(len(reports), 'transfer')} cannot be true: {_shown(out)}. No loss or delay "
            "of a network makes such a value, so it is the report that is wrong."
        )
        judged.findings.append(_finding(out, text, OUT_OF_RANGE, CERTAIN))
    if first:
        text = (
            f"{_tools(first)} prints {_shown(first)}. Jitter is the smoothed change from one "
            "datagram’s way to the next, and the first has none before it: the offset between the "
            "two clocks stands in its place."
        )
        judged.findings.append(_finding(first, text, FIRST_JITTER, BY_SIZE))
    every = [row for report in reports for row in report.rows.values()]
    return judged.rest_is_clean(row["where"] or "host" for row in every)


def _reports(seen: Seen) -> list[_Report]:
    """Printed values by transfer, in an order of their own."""
    found: dict[str, dict[tuple[str, str], Row]] = {}
    for row in seen.evidence:
        value = row.get("value")
        is_printed = "transfer" in row and row["name"] in PRINTED and row.get("state") in STATES
        if is_printed and is_known(value) and isinstance(value, int | float):
            key = json.dumps([row["where"], str(row["source"]), row["transfer"]], sort_keys=True)
            found.setdefault(key, {})[row["name"], str(row.get("end", ""))] = row
    return [_Report(found[key]) for key in sorted(found)]


def _out_of_range(report: _Report) -> Iterator[_Wrong]:
    for (name, end), row in sorted(report.rows.items()):
        value = float(row["value"])
        if words := _impossible(report, name, end, value):
            yield _Wrong(row, words + (f" ({end} end)" if end else ""))


def _impossible(report: _Report, name: str, end: str, value: float) -> str:
    """What cannot be about a value, in words; empty where it can."""
    if name == "lost_percent" and not -ROUNDING <= value <= 100 + ROUNDING:
        return f"a loss of {number(value)} %"
    if value < -ROUNDING:
        return f"{number(value)} as {name}"
    if name == "lost_datagrams":
        most = report.value("expected_datagrams", end) or report.total("sent_datagrams")
        if most is not None and value > most:
            return f"{count(value)} datagrams lost of {count(most)}"
    if name == "received_bytes":
        sent = report.total("sent_bytes")
        if sent is not None and value > sent:
            return f"{count(value)} bytes received of {count(sent)} sent"
    if name == "jitter_ms":
        lasted = report.total("receiving_s")
        if lasted is not None and value > 1e3 * lasted:
            return f"a jitter of {number(value)} ms in {number(lasted)} s"
    return ""


def _first_jitter(report: _Report) -> Iterator[_Wrong]:
    for end in report.ends():
        first, whole = report.value("first_jitter_ms", end), report.value("jitter_ms", end)
        if first is None or whole is None or first <= FIRST_TIMES * max(whole, 0.0):
            continue
        beside = f"where the whole transfer has {number(whole)} ms"
        words = f"a jitter of {number(first)} ms for the first interval, {beside}"
        if whole > 0:
            yield _Wrong(report.rows["first_jitter_ms", end], words)


def _tools(wrong: list[_Wrong]) -> str:
    return listed(sorted({str(one.row["source"]) for one in wrong}))


def _shown(wrong: list[_Wrong]) -> str:
    words = list(dict.fromkeys(one.words for one in wrong))
    more = [f"{len(words) - SHOWN} more"] if len(words) > SHOWN else []
    return listed([*words[:SHOWN], *more])


def _finding(wrong: list[_Wrong], text: str, remedy: str, confidence: float) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=sorted({one.row["where"] for one in wrong} - {""}),
        confidence=confidence,
        evidence=[
            proof(
                str(one.row["name"]),
                one.row["value"],
                str(one.row.get("unit") or ""),
                str(one.row["source"]),
                str(one.row["state"]),
            )
            for one in wrong[:EVIDENCE]
        ],
        explanation=text,
        remedy=remedy,
    )
