"""first-touch: memory is touched for the first time while the clock runs.

Decided by the page faults in the timed part of a start against the pages that the buffers have:
as many in the whole start as there are pages is a first repetition that pays for all; as many in
each repetition is a buffer that is new every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.timed_work import (
    factors_of,
    number_of,
    strongest,
    working_set_bytes,
)
from benchbook.findings import Finding

ARTEFACT = artefact("first-touch")
PAGE_BYTES, HUGE_PAGE_BYTES = 4096, 2 << 20
LEAST_FAULTS = 16  # fewer are the program's own, and cost microseconds
LEAST_SHARE = 0.2  # of the pages
NOTICED = 1.05
MAY_BE_BALANCING = 0.8  # a confidence, where the system moves pages between nodes of memory
FEW = 2  # repetitions, of which the first is a large part


@dataclass(frozen=True)
class _Touched:
    """A point whose pages were touched in the timed part of its starts."""

    row: dict[str, Any]
    faults: float  # in a start
    pages: float
    repetitions: float  # in a start
    mean_to_median: float  # 1 where it is not known

    @property
    def each_time(self) -> bool:
        return self.repetitions > 1 and self.faults >= LEAST_SHARE * self.pages * self.repetitions

    @property
    def first_to_later(self) -> float:
        """About, out of the mean: the later repetitions are taken to be as their median."""
        return self.mean_to_median * self.repetitions - (self.repetitions - 1)


def detect(seen: Seen) -> Judged:
    """One finding for points that touch fresh memory in each repetition, one for those that do in
    the first of few, one for those that do in the first of many.

    Abstains where page faults were not counted; what has no buffers has no pages.
    """
    judged = Judged()
    touched: list[_Touched] = []
    rows = seen.rows()
    for row in rows:
        size = working_set_bytes(row)
        if not size:
            continue
        # Between the samples there may be others, which only a kernel that counts them tells apart.
        faults = number_of(row, "timed_minor_faults")
        faults = number_of(row, "minor_faults") if faults is None else faults
        if faults is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-counted")
            continue
        pages = _pages(row, size, seen.host)
        if faults >= max(LEAST_FAULTS, LEAST_SHARE * pages):
            touched.append(_Touched(row, faults, pages, *_repetitions(seen, row)))
    each = [point for point in touched if point.each_time]
    if each:
        judged.findings.append(_finding("each-time", each, rows, seen.host))
    once = [point for point in touched if not point.each_time]
    for is_few in (True, False):
        alike = [point for point in once if (point.repetitions <= FEW) == is_few]
        if alike:
            judged.findings.append(_finding("once", alike, rows, seen.host))
    return judged.rest_is_clean(row["where"] for row in rows if working_set_bytes(row))


def _pages(row: Row, size: float, host: dict[str, Any]) -> float:
    """How many the buffers have: huge ones as far as the system gave them."""
    huge = min(number_of(row, "anon_huge_bytes") or 0, size)
    return huge / HUGE_PAGE_BYTES + (size - huge) / (host.get("page_bytes") or PAGE_BYTES)


def _repetitions(seen: Seen, row: dict[str, Any]) -> tuple[float, float]:
    """In a start, and mean ÷ median of their times: medians over the starts."""
    starts = seen.starts_of(row["where"])
    if not starts.empty and {"samples", "mean_ns", "median_ns"} <= set(starts.columns):
        ratio = float((starts["mean_ns"] / starts["median_ns"]).median())
        return float(starts["samples"].median()), ratio
    return (number_of(row, "samples") or 1) / (number_of(row, "blocks") or 1), 1.0


def _finding(
    kind: str, touched: list[_Touched], rows: list[dict[str, Any]], host: dict[str, Any]
) -> Finding:
    """A median over many repetitions does not hold the first one, so no factor is its own."""
    is_once = kind == "once"
    in_figure = not is_once or all(point.repetitions <= FEW for point in touched)
    own = [point.row for point in touched]
    factors = factors_of(own, rows, _is_quiet) if in_figure else {}
    slow = [point for point in touched if point.mean_to_median > NOTICED]
    most = max(
        touched, key=lambda point: (point.faults, point.pages, number_of(point.row, "time_ns") or 0)
    )
    words = {
        "faults": [point.faults for point in touched],
        "faults_each": [point.faults / point.repetitions for point in touched],
        "pages": [point.pages for point in touched],
        "first": [point.first_to_later for point in slow],
        "means": [point.mean_to_median for point in slow],
        "slower": [1 / factor for factor in factors.values()],
        "minor_faults": most.faults,
        "repetitions": most.repetitions,
        "pages_of_buffers": round(most.pages),
        "buffers_bytes": int(working_set_bytes(most.row) or 0),
    }
    may_be_balancing = is_once and (host.get("numa_nodes") or 1) > 1
    return ARTEFACT.finding(
        own,
        words,
        kind,
        effect="biases" if in_figure else "informs",
        confidence=MAY_BE_BALANCING if may_be_balancing else None,
        factor=strongest(factors.values()),
        factors=factors,
    )


def _is_quiet(row: Row) -> bool:
    faults = number_of(row, "minor_faults")
    return faults is not None and faults < LEAST_FAULTS
