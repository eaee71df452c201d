"""fixed-cost: problems of HPL that are too small to say anything of the machine."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "hpl"
SHORT_S = 1.0
FEW_BLOCKS = 2  # of a row of the matrix, for each process of a row of the grid
DOUBLE_BYTES = 8


@rule
def small_problem(report: Report) -> Iterator[Finding]:
    """Solved within a second, or in blocks that do not suffice for the grid of processes.

    Decided by the largest problem of the log: smaller ones before it are a sweep.
    """
    times = report.called("time") if report.tool == TOOL else ()
    sized = [time for time in times if time.is_positive and time.of.get("matrix_order")]
    if not sized:
        return
    time = max(sized, key=lambda own: (own.of["matrix_order"], own.base_value))
    order, rows = time.of["matrix_order"], time.of.get("block_rows") or 0
    longest = max(map(int, str(time.of.get("grid", "1 x 1")).split(" x ")))
    blocks = order / rows if rows else 0.0
    is_coarse = 0 < blocks < FEW_BLOCKS * longest and longest > 1
    is_short = time.base_value < SHORT_S * 1e9
    if is_short or is_coarse:
        words = {"time": time, "order": order, "grid": time.of.get("grid", "1 x 1")}
        words |= {"blocks": blocks if is_coarse else None, "matrix": DOUBLE_BYTES * order**2}
        words["brief"] = "" if is_short else None
        yield finding("small-problem", words, about=[time])
