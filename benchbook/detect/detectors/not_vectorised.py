"""not-vectorised: the loop moves one element at a time, where the same work could be vector code.

Decided by the instructions of the loop: its widest access to memory is a word, and another build of
the same work has a vector loop. Their times tell by how much that matters.
"""

from __future__ import annotations

from statistics import median

from benchbook.build.disassembly import RUNTIME
from benchbook.build.instructions import WORD_BYTES
from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.detect.inputs.timed_work import used_bytes
from benchbook.findings import Effect, Finding
from benchbook.stats.ratios import Ratio, time_ratio

NEEDED = ("widest_access_bytes", "string_instructions", "library_calls", "time_ns")
LEAST_FACTOR = 1.05  # that is called a bias
LEAST_BLOCKS = 6  # fewer have no interval
SLOWER, SAME, UNSURE, FEW = "slower", "same", "unsure", "few"
NO_TWIN = (
    "no other build of the same work is a vector loop, so it is unknown whether this one could be"
)
ARTEFACT = artefact("not-vectorised")


def detect(seen: Seen) -> Judged:
    """One finding for all slow points of a build, another for those whose time it does not show.

    Abstains where the program was not disassembled, or no vector loop does the same work. What
    leaves its work to a library or to one instruction has no loop to be judged.
    """
    judged = Judged()
    own: list[Row] = []
    for row in seen.rows():
        if missing := first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed", what=missing)
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
    held, used = seen.host.get("total_llc_bytes"), used_bytes(row)
    return held is not None and used is not None and used > held


def _finding(effect: Effect, compared: str, groups: list[tuple[Row, Row, Ratio | None]]) -> Finding:
    row, twin, _ = min(groups, key=lambda pair: (pair[0]["time_ns"], pair[1]["time_ns"]))
    ratios = [ratio for *_, ratio in groups if ratio is not None and compared != FEW]
    slower = sorted(ratio.estimate for ratio in ratios)
    is_unsure = compared == UNSURE
    is_apart = compared not in (FEW, SAME)
    words = {
        "widest": WORD_BYTES,
        "how": _how(row, twin),
        "own_widest": int(row["widest_access_bytes"]),
        "other_widest": int(twin["widest_access_bytes"]),
        "few": compared == FEW,
        "least_blocks": LEAST_BLOCKS,
        "same": compared == SAME,
        "slower": slower if is_apart else None,
        "low": min(ratio.low for ratio in ratios) if is_unsure else None,
        "high": max(ratio.high for ratio in ratios) if is_unsure else None,
        "by_build": is_apart and effect == "biases",
        "elsewhere": is_apart and effect != "biases",
        "ends": slower[:1] + slower[1:][-1:],
    }
    factor = 1 / median(slower) if compared == SLOWER else None
    return ARTEFACT.finding([point for point, *_ in groups], words, effect=effect, factor=factor)


def _how(row: Row, twin: Row) -> str:
    """What was asked of the compiler for the vector loop, as far as it differs."""
    mine, theirs = row.get("flags_asked"), twin.get("flags_asked")
    if row.get("compiler") != twin.get("compiler") and is_known(twin.get("compiler")):
        return f"built by {twin['compiler']}"
    if not isinstance(mine, list) or not isinstance(theirs, list):
        return "built differently"
    less = [flag for flag in mine if flag not in theirs]
    more = [flag for flag in theirs if flag not in mine]
    parts = [f"{word} {' '.join(flags)}" for word, flags in (("without", less), ("with", more))]
    kept = [part for part, flags in zip(parts, (less, more), strict=True) if flags]
    return f"built {' and '.join(kept)}" if kept else "built differently"
