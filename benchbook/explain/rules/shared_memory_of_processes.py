"""scaling, far-below-memory: what HPC Challenge shows of one process and of all at once."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "hpcc"
SHARED = 1.4  # one process alone ÷ each of all
FAR_BELOW = 0.5  # of what DGEMM of all processes does


@rule
def all_and_one(report: Report) -> Iterator[Finding]:
    """STREAM of one process that is faster than that of each of all, and HPL far below DGEMM."""
    if report.tool != TOOL:
        return
    processes = report.facts.get("processes")
    star, single = (report.only(f"{kind}STREAM_Triad") for kind in ("Star", "Single"))
    if star is not None and single is not None and single.value >= SHARED * star.value > 0:
        together = processes * star.value if is_number(processes) else None
        words = {"star": star, "single": single, "processes": processes, "together": together}
        yield finding("memory-of-all", words, part=star.value / single.value)
    solved, each = report.only("HPL_Tflops"), report.only("StarDGEMM_Gflops")
    if solved is not None and each is not None and is_number(processes) and each.is_positive:
        possible = processes * each.value
        part = 1000 * solved.value / possible
        if 0 < part < FAR_BELOW:
            words = {"solved": solved, "each": each, "processes": processes, "part": part}
            yield finding("below-its-products", words, possible=possible)
    if lines := report.facts.get("failed_lines"):
        yield finding("part-failed", line=lines[0], about=[f"line {lines[0]}"])
