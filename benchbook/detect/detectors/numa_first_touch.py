"""numa-first-touch: the pages lie on one node of memory while threads of several nodes use them.

A page is placed on the node of the thread that touches it first, so arrays that one thread fills
lie beside that thread only. Decided by where the pages are against where the CPUs are.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import rate_of
from benchbook.findings import Effect, Finding, proof

MOST = 0.9  # of the pages on one node: shared out among two, each has half of them
ARTEFACT = artefact("numa-first-touch")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose pages lie on one node while their CPUs are of several.

    `pages_per_node` (by node, or in their order) and `nodes_given` (of the CPUs that were used) are
    observations; abstains without them. With one node, or one thread, there is nothing to judge.
    """
    judged = Judged()
    nodes = seen.host.get("numa_nodes")
    if is_known(nodes) and nodes < 2:
        return judged
    one_sided: list[Row] = []
    judged_points = []
    rows = seen.rows()
    for row in rows:
        pages, used = _pages(row), row.get("nodes_given")
        workers = max(int(row[k]) if is_known(row.get(k)) else 1 for k in ("threads", "processes"))
        if workers < 2:
            continue
        judged_points.append(row["where"])
        if pages is None or not pages:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("pages-unknown")
        elif not isinstance(used, list):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("cpus-unknown")
        elif len(set(used)) > 1 and not _is_shared_out(row):
            one_sided.append(row)
    if one_sided:
        judged.findings.append(_finding(one_sided, rows))
    return judged.rest_is_clean(judged_points)


def _pages(row: Row) -> dict[int, int] | None:
    pages = row.get("pages_per_node")
    if isinstance(pages, Mapping):
        table = {int(node): int(count) for node, count in pages.items()}
    elif isinstance(pages, list | tuple):
        table = dict(enumerate(map(int, pages)))
    else:
        return None
    return table if sum(table.values()) > 0 else None


def _is_shared_out(row: Row) -> bool:
    pages = _pages(row)
    return pages is not None and max(pages.values()) < MOST * sum(pages.values())


def _finding(rows: list[Row], everyone: list[Row]) -> Finding:
    row = max(rows, key=lambda row: sorted((_pages(row) or {}).values(), reverse=True))
    pages = _pages(row) or {}
    node = max(pages, key=lambda node: (pages[node], -node))
    used = sorted(set(row["nodes_given"]))
    measured = [ratio for row in rows if (ratio := _against_spread(row, everyone))]
    factor = sum(measured) / len(measured) if measured else None
    words = {
        "on_node": pages[node],
        "all_pages": sum(pages.values()),
        "node": node,
        "nodes": len(used),
        "names": ", ".join(map(str, used)),
        "faster": None if factor is None else 1 / factor,
    }
    evidence = [
        *(proof(f"pages on node {n}", pages[n], "pages", "numa_maps") for n in sorted(pages)),
        proof("nodes of the CPUs", used, "", "topology"),
    ]
    effect: Effect = "informs" if factor is None else "biases"
    return ARTEFACT.finding(rows, words, effect=effect, evidence=evidence, factor=factor)


def _against_spread(row: Row, everyone: list[Row]) -> float | None:
    """Rate ÷ that of the fastest point of the same size and threads whose pages are shared out."""
    own = rate_of(row)
    rates = [
        rate
        for twin in everyone
        if (rate := rate_of(twin))
        and _is_shared_out(twin)
        and all(str(twin.get(k)) == str(row.get(k)) for k in ("bytes", "bytes_per_call", "threads"))
    ]
    return own / max(rates) if own and rates else None
