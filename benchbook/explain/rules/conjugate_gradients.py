"""reference-kernels, short-run, modelled-traffic: what HPCG says of its own result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.core.number_format import listed
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "hpcg"
TRAFFIC = "traffic by its model: "
SHOWN = 4


@rule
def result_of_gradients(report: Report) -> Iterator[Finding | str]:
    """A result with the kernels of the reference, of a short run, or that is not valid."""
    if report.tool != TOOL:
        return
    rate = report.only("rating") or next(iter(report.results), None)
    if rate is None:
        return  # of messages alone
    if report.facts.get("is_valid") is False:
        yield finding("gradients-invalid", rate=rate)
    if parts := str(report.facts.get("reference_parts", "")).split():
        names = listed([part.removeprefix("Compute") for part in parts[:SHOWN]])
        words = {"rate": rate, "names": names, "line": report.facts["reference_line"]}
        yield finding("reference-kernels", words, about=[rate])
    took, wanted = report.only("execution time"), report.facts.get("wanted_s")
    if took is not None and is_number(wanted) and took.value < wanted:
        yield finding("short-for-list", took=took, wanted=wanted).explanation


@rule
def modelled_traffic(reports: Sequence[Report]) -> Iterator[str]:
    """A note on rates of memory that HPCG makes of a model."""
    modelled = [
        result
        for report in reports
        if report.tool == TOOL
        for result in report.results
        if result.name.startswith(TRAFFIC)
    ]
    if modelled:
        most = max(modelled, key=lambda result: result.value)
        yield finding("modelled-traffic", most=most).explanation
