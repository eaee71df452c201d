"""exceeds-memory: the arrays are larger than the memory, so the program is ended or refuses.

Decided by the bytes that it needs against the memory there is, and by how its start ended.
"""

from __future__ import annotations

import signal

from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.findings import Artefact, Finding, proof

TRIAL = "trial"
ENDED = ("failed", "cannot_run", "timeout")
CERTAIN = 1.0
ARTEFACT = Artefact(
    "exceeds-memory",
    "Take arrays that fit into the memory available with room to spare, or a machine with more of "
    "it; try a large size under a limit of address space first (prlimit --as), so that the host "
    "stays safe.",
)


def detect(seen: Seen) -> Judged:
    """One finding per start that memory did not suffice for, and one for all points that were not
    measured though their buffers alone exceed it; abstains where a trial could not be made."""
    judged = Judged()
    for row in sorted(_trials(seen), key=lambda trial: trial["where"]):
        needed, there = row.get("needed_bytes"), row.get("memory_bytes")
        if row.get("outcome") == "not_tried":
            judged.abstained[row["where"]] = str(row.get("reason") or "it was not tried")
        elif not is_known(needed) or not is_known(there):
            judged.abstained[row["where"]] = "what it needs, or the memory available, is unknown"
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
    end = "exit_status" if not is_known(row.get("signal")) else "signal"
    source = "trial under a limit of address space"
    facts = [
        ("needed_bytes", needed, "bytes"),
        ("memory_bytes", there, "bytes"),
        ("limit_bytes", row.get("limit_bytes"), "bytes"),
        (end, row.get(end), ""),
    ]
    text = (
        f"Its arrays need {format_bytes(needed)}, {needed / there:.1f} times the "
        f"{format_bytes(there)} of memory available here."
    )
    if is_known(row.get("limit_bytes")):
        text += f" Started once under a limit of {format_bytes(int(row['limit_bytes']))}, it "
    else:
        text += " Started once, it "
    return ARTEFACT.finding(
        effect="informs",
        where=[row["where"]],
        confidence=CERTAIN,
        evidence=[proof(*fact, source) for fact in facts if is_known(fact[1])],
        explanation=f"{text}{_end(row)}, so there is no figure for this size.",
    )


def _of_missing(rows: list[Row], there: int) -> Finding:
    needs = sorted({int(row["working_set_bytes"]) for row in rows})
    span = format_bytes(needs[0])
    if len(needs) > 1:
        span += f" to {format_bytes(needs[-1])}"
    points = "One point needs" if len(rows) == 1 else f"{len(rows)} points need"
    return ARTEFACT.finding(
        effect="informs",
        where=sorted(row["where"] for row in rows),
        confidence=CERTAIN,
        evidence=[
            proof("memory_bytes", there, "bytes", "operating system"),
            *(proof("working_set_bytes", need, "bytes", "definition") for need in needs),
        ],
        explanation=f"{points} {span} of buffers, and this machine has {format_bytes(there)} of "
        "memory. So they have no figure here.",
    )
