"""copy-path-switch: the C library copies in another way from some size on.

Decided by the same copy with a threshold of the library moved across its size: what then changes is
the path, for nothing else did. Whether it changes the figure is told by the times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations

from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.evidence.simulation.library import copies
from benchbook.findings import Finding
from benchbook.stats.ratios import Ratio, time_ratio

VARIABLE = "GLIBC_TUNABLES"
PATHS = {"non_temporal": "non-temporal stores", "rep_movsb": "the instruction rep movsb"}
LEAST_FACTOR = 1.05
LEAST_BLOCKS = 6
_TUNABLE = re.compile(r"glibc\.cpu\.x86_(\w+)_threshold=(0x[0-9a-fA-F]+|\d+)")
ARTEFACT = artefact("copy-path-switch")


def detect(seen: Seen) -> Judged:
    """One finding per two points of which only the path differs, and the time beyond noise.

    Abstains where blocks are too few, where the library's own threshold is not known, and where the
    sizes of one run lie on both sides of a threshold that no point has moved.
    """
    judged = Judged()
    rows = [row for row in seen.rows() if is_known(row.get("library_calls"))]
    rows = [row for row in rows if copies(row["library_calls"]) and _size(row) is not None]
    rows = [row for row in rows if is_known(row.get("time_ns"))]
    rows.sort(key=lambda row: row["time_ns"], reverse=True)
    moved: set[str] = set()
    for first, second in combinations(rows, 2):
        names = _moved(first, second)
        if not names:
            continue
        moved |= {first["where"], second["where"]}
        crossed = [name for name in names if _crosses(first, second, name)]
        unknown = [name for name in names if _crosses(first, second, name) is None]
        ratio = time_ratio(seen.starts, first["where"], second["where"])
        if unknown and not crossed:
            why = ARTEFACT.cannot_tell("threshold-unknown", path=PATHS[unknown[0]])
            judged.abstained |= dict.fromkeys((first["where"], second["where"]), why)
        elif crossed and (ratio is None or len(ratio.each) < LEAST_BLOCKS):
            why = ARTEFACT.cannot_tell("too-few-blocks", least=LEAST_BLOCKS)
            judged.abstained |= dict.fromkeys((first["where"], second["where"]), why)
        elif crossed and ratio and (ratio.low > LEAST_FACTOR or ratio.high < 1 / LEAST_FACTOR):
            judged.findings.append(_finding(first, second, crossed, ratio))
    others = [row for row in rows if row["where"] not in moved]
    return judged.rest_is_clean([*moved, *_unmoved(others, judged)])


def _size(row: Row) -> int | None:
    """Bytes that one call of the library copies."""
    if is_known(row.get("block_bytes")):
        return int(row["block_bytes"])
    if first_unknown(row, ("bytes",)):
        return None
    threads = row.get("threads")
    return int(row["bytes"]) // (int(threads) if is_known(threads) else 1)


def _tunables(row: Row) -> dict[str, int]:
    environment = row.get("environment")
    text = environment.get(VARIABLE, "") if isinstance(environment, Mapping) else ""
    tunables = {name: int(value, 0) for name, value in _TUNABLE.findall(text)}
    return {name: value for name, value in tunables.items() if name in PATHS}


def _moved(first: Row, second: Row) -> list[str]:
    """The thresholds in which two points differ, if they differ in nothing else."""
    same = ("setting", "compiler", "flags_asked", "library_calls")
    if any(str(first.get(name)) != str(second.get(name)) for name in same):
        return []
    left, right = _tunables(first), _tunables(second)
    return [name for name in PATHS if left.get(name) != right.get(name)]


def _threshold(row: Row, name: str) -> int | None:
    """What the library says is in force: another library may not know what was asked of it."""
    threshold = row.get(f"{name}_threshold_bytes")
    return int(threshold) if is_known(threshold) else None


def _crosses(first: Row, second: Row, name: str) -> bool | None:
    """Whether the size lies between the two thresholds; None where one is unknown."""
    size, ends = _size(first), [_threshold(row, name) for row in (first, second)]
    if size is None or None in ends:
        return None
    return len({size >= end for end in ends if end is not None}) > 1


def _finding(first: Row, second: Row, crossed: list[str], ratio: Ratio) -> Finding:
    slow, fast, longer = first, second, ratio.estimate
    if longer < 1:
        slow, fast, longer = second, first, 1 / longer
    faster, slower = (_threshold(row, crossed[0]) or 0 for row in (fast, slow))
    words = {
        "calls": " and ".join(sorted(call for call in first["library_calls"] if copies([call]))),
        "way": " and ".join(PATHS[name] for name in crossed),
        "longer": longer,
        "size": _size(first) or 0,
        "faster": faster,
        "slower": slower,
        "blocks": len(ratio.each),
    }
    return ARTEFACT.finding([first, second], words)


def _unmoved(rows: list[Row], judged: Judged) -> list[str]:
    """Abstain for points of the same calls whose sizes lie on both sides of a threshold; returns
    those of which another size was held against a threshold."""
    unmoved: list[str] = []
    for name in PATHS:
        sides: dict[str, dict[bool, list[str]]] = {}
        for row in rows:
            threshold = None if _tunables(row) else _threshold(row, name)
            if threshold is None:
                continue
            beyond = (_size(row) or 0) >= threshold
            place = sides.setdefault(str(row["library_calls"]), {})
            place.setdefault(beyond, []).append(row["where"])
        for both in sides.values():
            if len(both) > 1:
                why = ARTEFACT.cannot_tell("threshold-not-moved", path=PATHS[name])
                judged.abstained |= dict.fromkeys(both[True], why)
            same = [where for side in both.values() for where in side]
            unmoved += same if len(same) > 1 else []
    return unmoved
