"""impure-flags: a compiler wrapper changed the flags, so the binary is not the one asked for.

Decided by the command line that reached the compiler proper, against what that compiler makes of
the asked flags by itself.
"""

from __future__ import annotations

from statistics import median

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.findings import Finding

NEEDED = ("flags_asked", "flags_dropped", "flags_added")
ARTEFACT = artefact("impure-flags")
VISIBLE = 1.02


def detect(seen: Seen) -> Judged:
    """One finding for all points whose flags were changed alike; abstains where the command line
    was not seen (a foreign program)."""
    judged = Judged()
    clean: list[Row] = []
    changed: dict[str, list[Row]] = {}
    for row in seen.rows():
        missing = [name for name in NEEDED if not isinstance(row.get(name), list)]
        if missing:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed", what=missing[0])
        elif row["flags_dropped"] or row["flags_added"]:
            changed.setdefault(str([row[name] for name in NEEDED]), []).append(row)
        else:
            clean.append(row)
    judged.findings += [_finding(same, _factor(same, clean)) for same in changed.values()]
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _factor(rows: list[Row], clean: list[Row]) -> float | None:
    """Rate ÷ rate of the same work by the same compiler, asked for with the same flags, that no
    wrapper changed: the median over settings; None where nothing is that."""
    same = ("setting", "compiler", "flags_asked")
    ratios = [
        twin["time_ns"] / row["time_ns"]
        for row in rows
        for twin in clean
        if all(twin.get(name) == row.get(name) for name in same) and _timed(row) and _timed(twin)
    ]
    return float(median(ratios)) if ratios else None


def _timed(row: Row) -> bool:
    return is_known(row.get("time_ns")) and row["time_ns"] > 0


def _finding(rows: list[Row], factor: float | None) -> Finding:
    wanted, dropped, added = (" ".join(rows[0][name]) or None for name in NEEDED)
    changes = [
        f"{verb} {flags}" for verb, flags in (("dropped", dropped), ("added", added)) if flags
    ]
    isa = rows[0].get("isa")
    words = {
        "wanted": wanted,
        "wanted_or_none": wanted or "no flag",
        "dropped": dropped,
        "added": added,
        "changes": " and ".join(changes),
        "same": factor is not None and max(factor, 1 / factor) < VISIBLE,
        "vectors": ", ".join(isa) or "none" if isinstance(isa, list) else None,
    }
    is_certain = all(row.get("flags_decided_by") == "compiler" for row in rows)
    kind = "by-command-line" if is_certain else "by-meaning"
    return ARTEFACT.finding(rows, words, kind, factor=factor)
