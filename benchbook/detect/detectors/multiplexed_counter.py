"""multiplexed-counter: a counter counted for a part of the time only, and its value was scaled up.

A CPU has a few counters; asked for more events than that, the tool lets them take turns. Decided by
what the tool says: the time that each event had a counter, or several sets of events in one start.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.tools import COUNTERS, SHOWN, WITH_VALUE, first_names
from benchbook.findings import Finding, proof

ARTEFACT = artefact("multiplexed-counter")


def detect(seen: Seen) -> Judged:
    """One finding for all counts that were scaled; abstains where a tool does not say whether an
    event was counted all the time. Without counters the question does not arise."""
    judged = Judged()
    scaled, untold = [], []
    for row in counted(seen.evidence):
        if _is_scaled(row):
            scaled.append(row)
        elif not is_known(row.get("multiplexed")) and not is_known(row.get("running_fraction")):
            untold.append(row)
    multiplexed = {row["where"] for row in scaled}
    for row in [row for row in untold if row["where"] not in multiplexed]:
        judged.abstained[row["where"] or "host"] = ARTEFACT.cannot_tell(
            "not-recorded", event=row["name"]
        )
    if scaled:
        judged.findings.append(_finding(scaled))
    return judged.rest_is_clean(row["where"] or "host" for row in counted(seen.evidence))


def counted(evidence: list[Row]) -> list[Row]:
    """The counts of a tool that have a value, in an order of their own."""
    counts = [
        row
        for row in evidence
        if COUNTERS.match(str(row.get("source", "")))
        and row.get("state") in WITH_VALUE
        and is_known(row.get("value"))
    ]
    return sorted(counts, key=lambda row: (row["where"], str(row["name"]), str(row["source"])))


def _is_scaled(row: Row) -> bool:
    running = row.get("running_fraction")
    return bool(row.get("multiplexed")) or (is_known(running) and 0 < float(running) < 1)


def _running(row: Row) -> float:
    """Which part of the time it was counted; 1 where the tool does not say."""
    running = row.get("running_fraction")
    return float(running) if is_known(running) else 1.0


def _finding(scaled: list[Row]) -> Finding:
    least = min(scaled, key=lambda row: (_running(row), str(row["name"]), row["where"]))
    in_order = sorted(scaled, key=_running)
    running = _running(least)
    words = {
        "events": len({str(row["name"]) for row in scaled}),
        "names": first_names(in_order),
        "name": least["name"],
        "running": running if running < 1 else None,
        "scaled": 1 / running,
    }
    evidence = [
        proof(
            f"{row['name']}: share of the time counted",
            _running(row) if _running(row) < 1 else None,
            "1",
            str(row["source"]),
            str(row["state"]),
        )
        for row in sorted(scaled, key=lambda row: (_running(row), str(row["name"])))[:SHOWN]
    ]
    return ARTEFACT.finding(scaled, words, evidence=evidence)
