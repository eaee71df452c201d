"""above-ceiling: more than memory attained here by honest means, whatever the cause.

Decided by time: beyond the caches, a rate above the best that this run's own ceilings attained with
as many threads, block by block.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.caches import is_beyond_caches
from benchbook.detect.inputs.timed_work import used_bytes
from benchbook.findings import Finding
from benchbook.stats.ratios import Ratio, time_ratio

# Another mixture of reads and writes, or another code, may beat the ceilings' own by this much.
MARGIN = 1.15
LEAST_BLOCKS = 6
ARTEFACT = artefact("above-ceiling")


def detect(seen: Seen) -> Judged:
    """One finding per point above the ceiling of its number of threads.

    The ceilings are those that the experiment declares; where it declares none, the best point that
    did all that it declares. Abstains where there is none, or not enough blocks beside it. What
    fits in the caches is no matter of memory and is not judged.
    """
    judged = Judged()
    held = seen.host.get("total_llc_bytes")
    if held is None:
        why = ARTEFACT.cannot_tell("caches-unknown")
        judged.abstained = {row["where"]: why for row in seen.rows()}
        return judged
    timed = [row for row in seen.rows() if is_known(row.get("rate_bytes_per_s"))]
    beyond = [row for row in timed if is_beyond_caches(row, seen.host)]
    for row in beyond:
        bounds = _declared(row, beyond, seen.host)
        if not bounds and row.get("work_done_fraction") == 1:
            continue  # it is itself what others are held against
        bounds = bounds or _honest(row, beyond)
        ratios = [
            (bound, time_ratio(seen.starts, bound["where"], row["where"])) for bound in bounds
        ]
        if not bounds:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-ceiling")
        elif any(ratio is None or len(ratio.each) < LEAST_BLOCKS for _, ratio in ratios):
            why = ARTEFACT.cannot_tell("too-few-blocks", least=LEAST_BLOCKS)
            judged.abstained[row["where"]] = why
        else:
            scaled = [
                (bound, ratio.scaled(row["bytes_per_call"] / bound["bytes_per_call"]))
                for bound, ratio in ratios
                if ratio
            ]
            if min(rate.low for _, rate in scaled) > MARGIN:
                best, rate = min(scaled, key=lambda pair: pair[1].estimate)
                judged.findings.append(_finding(seen.host, row, best, rate))
    return judged.rest_is_clean(row["where"] for row in beyond)


def _workers(row: Row) -> tuple[int, ...]:
    return tuple(
        int(row[name]) if is_known(row.get(name)) else 1 for name in ("threads", "processes")
    )


def _declared(row: Row, beyond: list[Row], host: dict[str, Any]) -> list[Row]:
    """The best points of each kind of traffic, with as many threads."""
    named = {ceiling.get("point") for ceiling in host.get("ceilings") or []}
    return [peer for peer in beyond if peer["where"] in named and _workers(peer) == _workers(row)]


def _honest(row: Row, beyond: list[Row]) -> list[Row]:
    """The fastest point that did all its work; none where nobody looked."""
    whole = [
        peer
        for peer in beyond
        if peer.get("work_done_fraction") == 1 and _workers(peer) == _workers(row)
    ]
    return sorted(whole, key=lambda peer: peer["rate_bytes_per_s"])[-1:]


def _finding(host: dict[str, Any], row: Row, best: Row, over: Ratio) -> Finding:
    words = {
        "rate": row["rate_bytes_per_s"],
        "ceiling": best["rate_bytes_per_s"],
        # The ratio of these two; the factor is paired, and so may be another.
        "times": row["rate_bytes_per_s"] / best["rate_bytes_per_s"],
        "at least": over.low,
        "used": used_bytes(row),
        "caches": host["total_llc_bytes"],
    }
    return ARTEFACT.finding([row], words, factor=over.estimate)
