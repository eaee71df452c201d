"""buffer-reuse: every message is from the same buffers, and to the same, which a cache holds.

Decided by the bytes of all buffers against the last-level cache, and by the same messages from
buffers that rotate beyond the largest size of it that anything names: a virtual machine may be told
of a tenth of what it uses. Where those take no longer, nothing is said.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.messages import ROTATION, SIZE, groups, messages
from benchbook.detect.inputs.timed_work import number_of, strongest
from benchbook.findings import Finding
from benchbook.stats.ratios import Ratio, time_ratio

VISIBLE = 1.05  # times as long: what lies nearer is no bias
NAMED = ("llc_sysfs_bytes", "llc_sysconf_bytes")
ARTEFACT = artefact("buffer-reuse")


def detect(seen: Seen) -> Judged:
    """One finding for points that are faster than their twins with rotating buffers; abstains where
    there is no such twin, where the two vary too much to be told apart, where the twin is faster,
    where not each size of the cache that is named holds the buffers, and where cache or buffers are
    unknown."""
    judged = Judged()
    named = [size for name in NAMED if (size := seen.host.get(name))]
    rows = messages(seen)
    reused: list[tuple[Row, Row, Ratio]] = []
    for group in groups(rows, but=["rotation_bytes"]):
        for row in group:
            held = number_of(row, ROTATION)
            if held is None or not named:
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell("sizes-unknown")
            elif held <= min(named):
                _judge(seen, judged, reused, row, _beyond(row, group, max(named)))
            elif held <= max(named):
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell(
                    "sizes-disagree", least=min(named), most=max(named)
                )
    if reused:
        judged.findings.append(_finding(reused, named))
    return judged.rest_is_clean(row["where"] for row in rows)


def _beyond(row: Row, group: list[dict[str, Any]], llc: int) -> Row | None:
    """The same message from buffers that no cache holds; the one with the most of them."""
    twins = [
        twin for twin in group if twin[SIZE] == row[SIZE] and (number_of(twin, ROTATION) or 0) > llc
    ]
    return max(twins, key=lambda twin: float(twin[ROTATION]), default=None)


def _judge(
    seen: Seen, judged: Judged, pairs: list[tuple[Row, Row, Ratio]], row: Row, twin: Row | None
) -> None:
    if twin is None:
        judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-twin")
        return
    ratio = time_ratio(seen.starts, twin["where"], row["where"])
    if ratio is None:
        judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-common-block")
    elif ratio.low > VISIBLE:
        pairs.append((row, twin, ratio))
    elif ratio.high > VISIBLE:
        judged.abstained[row["where"]] = ARTEFACT.cannot_tell("too-noisy")
    elif ratio.high < 1 / VISIBLE:
        judged.abstained[row["where"]] = ARTEFACT.cannot_tell("longer-than-twin")


def _finding(pairs: list[tuple[Row, Row, Ratio]], named: list[int]) -> Finding:
    row, twin, _ = pairs[0]
    slower = [ratio.estimate for *_, ratio in pairs]
    words = {
        "held": float(row[ROTATION]),
        "rotated": float(twin[ROTATION]),
        "smallest": min(named),
        "largest": max(named),
        "slower": slower,
    }
    return ARTEFACT.finding([row for row, *_ in pairs], words, factor=strongest(slower))
