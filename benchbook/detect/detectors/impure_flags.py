"""impure-flags: a compiler wrapper changed the flags, so the binary is not the one asked for.

Decided by the command line that reached the compiler proper, against what that compiler makes of
the asked flags by itself.
"""

from __future__ import annotations

from statistics import median

from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.findings import Artefact, Finding, proof

NEEDED = ("flags_asked", "flags_dropped", "flags_added")
ARTEFACT = Artefact(
    "impure-flags",
    "Tell the wrapper to leave flags alone and build again (under Nix: NIX_ENFORCE_NO_NATIVE=0 and "
    'hardeningDisable = [ "all" ] in the shell), or name the compiler without its wrapper; else '
    "read these figures as those of the flags that reached the compiler.",
)
CERTAIN, BY_MEANING = 1.0, 0.8
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
            judged.abstained[row["where"]] = f"{missing[0]} was not observed"
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
    wanted, dropped, added = (" ".join(rows[0][name]) for name in NEEDED)
    did = [f"{verb} {flags}" for verb, flags in (("dropped", dropped), ("added", added)) if flags]
    text = (
        f"Asked for was {wanted or 'no flag'}; a wrapper of the compiler {' and '.join(did)}. So "
        "these figures are not of the flags that they are named for."
    )
    if factor is not None and max(factor, 1 / factor) < VISIBLE:
        text += " Where the flags reached the compiler, that makes no difference here."
    elif factor is not None:
        text += (
            f" Where the flags reached the compiler, the same work takes {factor:.2f} times as "
            "long on this machine."
        )
    isa = rows[0].get("isa")
    evidence = {
        "flags asked for": wanted,
        "flags dropped": dropped,
        "flags added": added,
        "vector instructions": ", ".join(isa) or "none" if isinstance(isa, list) else "",
    }
    certain = all(row.get("flags_decided_by") == "compiler" for row in rows)
    return ARTEFACT.finding(
        effect="biases",
        factor=factor,
        where=sorted(row["where"] for row in rows),
        confidence=CERTAIN if certain else BY_MEANING,
        evidence=[
            proof(
                name,
                value,
                "",
                "disassembly" if name.startswith("vector") else "compiler’s command line",
            )
            for name, value in evidence.items()
            if value
        ],
        explanation=text,
    )
