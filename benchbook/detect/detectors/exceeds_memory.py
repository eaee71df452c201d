"""exceeds-memory: the arrays are larger than the memory, so the program is ended or refuses.

Decided by the bytes that it needs against the memory there is, and by how its start ended.
"""

from __future__ import annotations

import signal

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import columns
from benchbook.findings import Finding

TRIAL = "trial"
ENDED = ("failed", "cannot_run", "timeout")
ARTEFACT = artefact("exceeds-memory")


def detect(seen: Seen) -> Judged:
    """One finding per start that memory did not suffice for, and one for all points that were not
    measured though their buffers alone exceed it; abstains where a trial could not be made."""
    judged = Judged()
    for row in sorted(_trials(seen), key=lambda trial: trial["where"]):
        needed, there = row.get("needed_bytes"), row.get("memory_bytes")
        if row.get("outcome") == "not_tried":
            judged.abstained[row["where"]] = str(
                row.get("reason") or ARTEFACT.cannot_tell("not-tried")
            )
        elif not is_known(needed) or not is_known(there):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("sizes-unknown")
        elif needed > there and row.get("outcome") in ENDED:
            judged.findings.append(_of_trial(row))
    there = seen.host.get("memory_bytes")
    if is_known(there):
        large = [row for row in seen.missing if is_known(row.get("working_set_bytes"))]
        large = [row for row in large if row["working_set_bytes"] > there]
        if large:
            judged.findings.append(_of_missing(large, int(there)))
    sized = [row for row in seen.rows() if is_known(row.get("working_set_bytes"))] if there else []
    concerned = [*_trials(seen), *sized]
    return judged.rest_is_clean(row["where"] for row in concerned)


def _trials(seen: Seen) -> list[Row]:
    return [row for row in seen.evidence if row.get("name") == TRIAL and row.get("where")]


def _end(row: Row) -> str:
    if is_known(row.get("signal")):
        number = int(row["signal"])
        signal_names = {number.value: number.name for number in signal.Signals}
        return f"was ended by signal {number} ({signal_names.get(number, 'unknown')})"
    if row.get("outcome") == "cannot_run":
        return f"gave up ({str(row.get('reason')).split(';')[0]})"
    return f"ended with exit status {row.get('exit_status')}"


def _of_trial(row: Row) -> Finding:
    needed, there = int(row["needed_bytes"]), int(row["memory_bytes"])
    words = {
        **columns(row, "limit_bytes", "signal"),
        "needed_bytes": needed,
        "memory_bytes": there,
        "exit_status": None if is_known(row.get("signal")) else row.get("exit_status"),
        "times": needed / there,
        "end": _end(row),
    }
    return ARTEFACT.finding([row], words, "trial")


def _of_missing(rows: list[Row], there: int) -> Finding:
    needs = sorted({int(row["working_set_bytes"]) for row in rows})
    return ARTEFACT.finding(rows, {"needs": needs, "memory_bytes": there}, "not-measured")
