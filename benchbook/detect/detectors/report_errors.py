"""report-errors: a tool printed values that no measurement can have.

Decided by the range of each printed value, and by the others of the same transfer: a loss below
none or above all, more received than sent, a jitter longer than the transfer, a first jitter that
has nothing to do with the later ones. The values stay as they were printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchbook.core.number_format import count, listed, plural
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.evidence.throughput.ranges import CHECKED, Doubt, Ends, first_jitters, out_of_range
from benchbook.findings import Artefact, Finding, proof

ARTEFACT = Artefact(
    "report-errors",
)
STATES = ("ok", "replayed", "imported")
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


@dataclass(frozen=True)
class _Report:
    """One transfer as printed: its rows by end and name."""

    rows: dict[str, dict[str, Row]]

    def doubted(self, by: Callable[[Ends], Iterator[Doubt]]) -> Iterator[tuple[Row, str]]:
        """The rows whose values a check doubts, each with the value in words."""
        ends = {
            end: {name: row["value"] for name, row in own.items()}
            for end, own in sorted(self.rows.items())
        }
        for error in by(ends):
            whose = f" ({error.end} end)" if error.end else ""
            yield self.rows[error.end][error.name], error.words + whose


def detect(seen: Seen) -> Judged:
    """One finding for all values out of their range, one for first jitters; where no report was
    read, the question does not arise."""
    judged = Judged()
    reports = _reports(seen)
    every = [row for report in reports for own in report.rows.values() for row in own.values()]
    out = [interval for report in reports for interval in report.doubted(out_of_range)]
    first = [interval for report in reports for interval in report.doubted(first_jitters)]
    if out:
        text = (
            f"{plural(len(out), 'value')} of {count(len(every))} that {_tools(out)} printed of "
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
    return judged.rest_is_clean(row["where"] or "host" for row in every)


def _reports(seen: Seen) -> list[_Report]:
    """What was printed, by transfer, in an order of its own."""
    reports: dict[str, dict[str, dict[str, Row]]] = {}
    for row in seen.evidence:
        value = row.get("value")
        is_printed = "transfer" in row and row["name"] in CHECKED and row.get("state") in STATES
        if is_printed and is_known(value) and isinstance(value, int | float):
            key = json.dumps([row["where"], str(row["source"]), row["transfer"]], sort_keys=True)
            reports.setdefault(key, {}).setdefault(str(row.get("end", "")), {})[row["name"]] = row
    return [_Report(reports[key]) for key in sorted(reports)]


def _tools(doubted: list[tuple[Row, str]]) -> str:
    return listed(sorted({str(row["source"]) for row, _ in doubted}))


def _shown(doubted: list[tuple[Row, str]]) -> str:
    words = list(dict.fromkeys(text for _, text in doubted))
    more = [f"{len(words) - SHOWN} more"] if len(words) > SHOWN else []
    return listed([*words[:SHOWN], *more])


def _finding(doubted: list[tuple[Row, str]], text: str, remedy: str, confidence: float) -> Finding:
    return ARTEFACT.finding(
        effect="invalidates",
        where=sorted({row["where"] for row, _ in doubted} - {""}),
        confidence=confidence,
        evidence=[
            proof(
                str(row["name"]),
                row["value"],
                str(row.get("unit") or ""),
                str(row["source"]),
                str(row["state"]),
            )
            for row, _ in doubted[:EVIDENCE]
        ],
        explanation=text,
        remedy=remedy,
    )
