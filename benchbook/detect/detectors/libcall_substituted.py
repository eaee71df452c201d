"""libcall-substituted: a loop written in C became a call of memcpy, memmove or memset.

Decided by the calls and tail jumps of the timed function that it does not declare to make.
"""

from __future__ import annotations

import re
from statistics import median

from benchbook.build.instructions import WORD_BYTES
from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.detect.inputs.comparisons import ratios
from benchbook.findings import Finding

_MOVES = re.compile(r"_*(?:w?mem(?:cpy|pcpy|move|set|set_pattern\d+)|bcopy|bzero)(?:_chk)?(?:@.*)?")
SAME = 1.05
ARTEFACT = artefact("libcall-substituted")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose loops became the same library calls.

    Abstains where the calls of a program, or what it declares to call, were not observed.
    """
    judged = Judged()
    groups: dict[str, list[Row]] = {}
    plain: list[Row] = []
    judged_points: list[str] = []
    for row in seen.rows():
        if missing := first_unknown(row, ("library_calls",)):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed", what=missing)
            continue
        judged_points.append(row["where"])
        made = sorted({_name(call) for call in row["library_calls"] if _MOVES.fullmatch(call)})
        if made and not is_known(row.get("library_calls_declared")):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("declaration-unknown")
            continue
        wanted = [_name(call) for call in row.get("library_calls_declared") or []] if made else []
        unasked = [call for call in made if call not in wanted]
        if unasked:
            groups.setdefault(" and ".join(unasked), []).append(row)
        elif not made and (row.get("widest_access_bytes") or 0) > WORD_BYTES:
            plain.append(row)  # a scalar loop would differ for another reason
    judged.findings += [_finding(seen, calls, groups[calls], plain) for calls in sorted(groups)]
    return judged.rest_is_clean(judged_points)


def _name(call: str) -> str:
    """Without what a hardened header or a version adds."""
    return call.partition("@")[0].strip("_").removesuffix("_chk")


def _finding(seen: Seen, calls: str, rows: list[Row], plain: list[Row]) -> Finding:
    pairs = ((twin, row) for row in rows for twin in plain if twin["setting"] == row["setting"])
    loops = sorted(ratio.estimate for ratio in ratios(seen, pairs))
    declared = sorted({call for row in rows for call in row["library_calls_declared"]})
    words = {
        "calls": calls,
        "declared": ", ".join(declared) or "none",
        "size": rows[0].get("bytes_per_call"),
        "loops": loops,
        "same": bool(loops) and loops[-1] < SAME and loops[0] > 1 / SAME,
    }
    return ARTEFACT.finding(rows, words, factor=median(loops) if loops else None)
