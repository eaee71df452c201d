"""not-vectorised: the loop moves one element at a time, where the same work could be vector code.

Decided by the instructions of the loop: its widest access to memory is a word, and another build of
the same work has a vector loop. Their times tell by how much that matters.
"""

from __future__ import annotations

from statistics import median

from benchbook.build.disassembly import RUNTIME
from benchbook.build.instructions import WORD_BYTES
from benchbook.detect import Judged, Row, Seen, first_unknown, is_known
from benchbook.detect.inputs.timed_work import span, times
from benchbook.findings import Artefact, Effect, Finding, proof
from benchbook.stats.ratios import Ratio, time_ratio

NEEDED = ("widest_access_bytes", "string_instructions", "library_calls", "time_ns")
LEAST_FACTOR = 1.05  # that is called a bias
LEAST_BLOCKS = 6  # fewer have no interval
SLOWER, SAME, UNSURE, FEW = "slower", "same", "unsure", "few"
NO_TWIN = "no other build of the same work is a vector loop, so nothing tells whether it could be"
ARTEFACT = Artefact(
    "not-vectorised",
    "Build with flags that let the compiler use vectors (-O3, or -O2 -ftree-vectorize; with GCC 12 "
    "and -fopenmp, -O2 is not enough), and compare builds only where both loops are vector code.",
)


def detect(seen: Seen) -> Judged:
    """One finding for all slow points of a build, another for those whose time it does not show.

    Abstains where the program was not disassembled, or no vector loop does the same work. What
    leaves its work to a library or to one instruction has no loop to be judged.
    """
    judged = Judged()
    own: list[Row] = []
    for row in seen.rows():
        if missing := first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = f"{missing} was not observed"
        elif not row["string_instructions"] and not _calls(row) and row["widest_access_bytes"] > 0:
            own.append(row)
    groups: dict[tuple[Effect, str, str], list[tuple[Row, Row, Ratio | None]]] = {}
    for row in own:
        if row["widest_access_bytes"] > WORD_BYTES:
            continue
        twin = _twin(row, own)
        if twin is None:
            judged.abstained[row["where"]] = NO_TWIN
            continue
        ratio = time_ratio(seen.starts, row["where"], twin["where"])
        compared = _told(ratio)
        is_slowed = compared == SLOWER and not _is_beyond_caches(row, seen)
        effect: Effect = "biases" if is_slowed else "informs"
        key = (effect, compared, f"{row.get('compiler')} {row.get('flags_asked')}")
        groups.setdefault(key, []).append((row, twin, ratio))
    judged.findings += [_finding(key[0], key[1], groups[key]) for key in sorted(groups)]
    return judged.rest_is_clean(row["where"] for row in own)


def _calls(row: Row) -> list[str]:
    return [call for call in row["library_calls"] if not call.startswith(RUNTIME)]


def _twin(row: Row, own: list[Row]) -> Row | None:
    """A vector loop of the same setting, by the same compiler if any is; of several the median."""
    alike = [
        peer
        for peer in own
        if peer["setting"] == row["setting"] and peer["widest_access_bytes"] > WORD_BYTES
    ]
    same = [peer for peer in alike if peer.get("compiler") == row.get("compiler")]
    ranked = sorted(same or alike, key=lambda peer: peer["time_ns"])
    return ranked[len(ranked) // 2] if ranked else None


def _told(ratio: Ratio | None) -> str:
    """What the interval of time ÷ time of the vector loop says."""
    if ratio is None or len(ratio.each) < LEAST_BLOCKS:
        return FEW
    if ratio.low > LEAST_FACTOR:
        return SLOWER
    return SAME if 1 / LEAST_FACTOR <= ratio.low <= ratio.high <= LEAST_FACTOR else UNSURE


def _is_beyond_caches(row: Row, seen: Seen) -> bool:
    held = seen.host.get("total_llc_bytes")
    used = row.get("buffers_bytes") if is_known(row.get("buffers_bytes")) else None
    used = row.get("working_set_bytes") if used is None else used
    return held is not None and is_known(used) and used > held


def _finding(effect: Effect, compared: str, groups: list[tuple[Row, Row, Ratio | None]]) -> Finding:
    row, twin, _ = min(groups, key=lambda pair: (pair[0]["time_ns"], pair[1]["time_ns"]))
    ratios = [ratio for *_, ratio in groups if ratio is not None and compared != FEW]
    slower = sorted(ratio.estimate for ratio in ratios)
    width = f"{int(twin['widest_access_bytes'])} bytes"
    text = (
        f"The timed loop moves at most {WORD_BYTES} bytes at a time; {_how(row, twin)}, the same "
        f"work is done {width} at a time. "
    )
    if compared == FEW:
        text += f"Their times were not compared in enough blocks ({LEAST_BLOCKS} are needed)."
    elif compared == SAME:
        text += "Here both take the same time within the noise: something else is the limit."
    else:
        takes = span(slower, times)
        text += f"On this machine the loop without vectors takes {takes} times as long"
        if compared == UNSURE:
            low, high = min(ratio.low for ratio in ratios), max(ratio.high for ratio in ratios)
            text += f" (anything from {times(low)} to {times(high)} fits)"
        text += ", which is the build's doing." if effect == "biases" else "."
    return ARTEFACT.finding(
        effect=effect,
        factor=1 / median(slower) if compared == SLOWER else None,
        where=sorted(point["where"] for point, *_ in groups),
        confidence=1.0,
        evidence=[
            proof("widest access in its loop", int(row["widest_access_bytes"]), "bytes", _SOURCE),
            proof("widest access in the other loop", int(twin["widest_access_bytes"]), "bytes",
                  _SOURCE),
            *(
                proof("time ÷ time of the vector loop", factor, "1", "paired blocks")
                for factor in slower[:1] + slower[1:][-1:]
            ),
        ],
        explanation=text,
    )  # fmt: skip


_SOURCE = "disassembly"


def _how(row: Row, twin: Row) -> str:
    """What was asked of the compiler for the vector loop, as far as it differs."""
    mine, theirs = row.get("flags_asked"), twin.get("flags_asked")
    if row.get("compiler") != twin.get("compiler") and is_known(twin.get("compiler")):
        return f"built by {twin['compiler']}"
    if not isinstance(mine, list) or not isinstance(theirs, list):
        return "built otherwise"
    less = [flag for flag in mine if flag not in theirs]
    more = [flag for flag in theirs if flag not in mine]
    parts = [f"{word} {' '.join(flags)}" for word, flags in (("without", less), ("with", more))]
    kept = [part for part, flags in zip(parts, (less, more), strict=True) if flags]
    return f"built {' and '.join(kept)}" if kept else "built otherwise"
