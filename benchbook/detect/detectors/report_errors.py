"""report-errors: a tool printed values that no measurement can have.

Decided by the range of each printed value, and by the others of the same transfer: a loss below
none or above all, more received than sent, a jitter longer than the transfer, a first jitter that
has nothing to do with the later ones. The values stay as they were printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.tools import SHOWN, WITH_VALUE, proof_of
from benchbook.evidence.throughput.ranges import CHECKED, Doubt, Ends, first_jitters, out_of_range
from benchbook.findings import Finding

ARTEFACT = artefact("report-errors")
EVIDENCE = 6


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
    for kind, check in (("out-of-range", out_of_range), ("first-jitter", first_jitters)):
        if doubted := [pair for report in reports for pair in report.doubted(check)]:
            judged.findings.append(_finding(kind, doubted, reports, every))
    return judged.rest_is_clean(row["where"] or "host" for row in every)


def _reports(seen: Seen) -> list[_Report]:
    """What was printed, by transfer, in an order of its own."""
    reports: dict[str, dict[str, dict[str, Row]]] = {}
    for row in seen.evidence:
        value = row.get("value")
        is_printed = "transfer" in row and row["name"] in CHECKED and row.get("state") in WITH_VALUE
        if is_printed and is_known(value) and isinstance(value, int | float):
            key = json.dumps([row["where"], str(row["source"]), row["transfer"]], sort_keys=True)
            reports.setdefault(key, {}).setdefault(str(row.get("end", "")), {})[row["name"]] = row
    return [_Report(reports[key]) for key in sorted(reports)]


def _finding(
    kind: str, doubted: list[tuple[Row, str]], reports: list[_Report], every: list[Row]
) -> Finding:
    values = list(dict.fromkeys(text for _, text in doubted))
    more = [f"{len(values) - SHOWN} more"] if len(values) > SHOWN else []
    words = {
        "doubted": len(doubted),
        "printed": len(every),
        "tools": sorted({str(row["source"]) for row, _ in doubted}),
        "transfers": len(reports),
        "values": [*values[:SHOWN], *more],
    }
    evidence = [proof_of(row) for row, _ in doubted[:EVIDENCE]]
    return ARTEFACT.finding([row for row, _ in doubted], words, kind, evidence=evidence)
