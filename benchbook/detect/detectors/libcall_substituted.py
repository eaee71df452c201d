"""libcall-substituted: a loop written in C became a call of memcpy, memmove or memset.

Decided by the calls and tail jumps of the timed function that it does not declare to make.
"""

from __future__ import annotations

import re
from statistics import median

from benchbook.build.instructions import WORD_BYTES
from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen, first_unknown, is_known
from benchbook.findings import Artefact, Finding, proof
from benchbook.stats.ratios import Ratio, time_ratio

_MOVES = re.compile(r"_*(?:w?mem(?:cpy|pcpy|move|set|set_pattern\d+)|bcopy|bzero)(?:_chk)?(?:@.*)?")
SAME = 1.05
ARTEFACT = Artefact(
    "libcall-substituted",
    "To compare what compilers make of the loop, keep it: -fno-tree-loop-distribute-patterns for "
    "GCC, -fno-builtin for Clang; else say that the figure is the C library's.",
)


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
            judged.abstained[row["where"]] = f"{missing} was not observed"
            continue
        judged_points.append(row["where"])
        made = sorted({_name(call) for call in row["library_calls"] if _MOVES.fullmatch(call)})
        if made and not is_known(row.get("library_calls_declared")):
            judged.abstained[row["where"]] = "what it is meant to call was not observed"
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
    against = [
        ratio
        for row in rows
        for twin in plain
        if twin["setting"] == row["setting"]
        and (ratio := time_ratio(seen.starts, twin["where"], row["where"]))
    ]
    text = (
        f"The compiler replaced the loop by {calls}, so the C library did the work: "
        f"{_count(rows)} of its code, whatever flags the loop was built with."
    )
    if against:
        text += f" {_beside_loops(against)}"
    return ARTEFACT.finding(
        effect="explains",
        factor=median(ratio.estimate for ratio in against) if against else None,
        where=sorted(row["where"] for row in rows),
        confidence=1.0,
        evidence=[
            proof("calls in the timed function", calls, "", "disassembly"),
            proof("calls that it is there to make", ", ".join(_declared(rows)) or "none", "",
                  "definition of the kernel"),
            *(
                proof("time of the loop ÷ time of the call", ratio.estimate, "1", "paired blocks")
                for ratio in sorted(against, key=lambda ratio: ratio.estimate)
            ),
        ],
        explanation=text,
    )  # fmt: skip


def _declared(rows: list[Row]) -> list[str]:
    return sorted({call for row in rows for call in row["library_calls_declared"]})


def _count(rows: list[Row]) -> str:
    if len(rows) > 1:
        return f"these {len(rows)} figures tell the speed"
    size = rows[0].get("bytes_per_call")
    of_size = f", of {format_bytes(int(size))} a call," if is_known(size) else ""
    return f"this figure{of_size} tells the speed"


def _beside_loops(against: list[Ratio]) -> str:
    """What builds that kept their loop say."""
    each = sorted(ratio.estimate for ratio in against)
    if each[-1] < SAME and each[0] > 1 / SAME:
        return "Builds that keep the loop take the same time here, within 5 %."
    times = f"{each[0]:.2f}"
    if f"{each[-1]:.2f}" != times:
        times += f" to {each[-1]:.2f}"
    return f"Where a build keeps the loop, the same work takes {times} times as long here."
