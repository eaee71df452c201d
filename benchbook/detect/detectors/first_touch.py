"""first-touch: memory is touched for the first time while the clock runs.

Decided by the page faults in the timed part of a start against the pages that the buffers have:
as many in the whole start as there are pages is a first repetition that pays for all; as many in
each repetition is a buffer that is new every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.core.number_format import count
from benchbook.detect import Judged, Row, Seen
from benchbook.detect.inputs.timed_work import (
    number_of,
    span,
    speed_up,
    strongest,
    times,
    twins_of,
    working_set_bytes,
)
from benchbook.findings import Artefact, Effect, Finding, proof

ARTEFACT = Artefact(
    "first-touch",
)
PAGE_BYTES, HUGE_PAGE_BYTES = 4096, 2 << 20
LEAST_FAULTS = 16  # fewer are the program's own, and cost microseconds
LEAST_SHARE = 0.2  # of the pages
NOTICED = 1.05
CERTAIN, MAY_BE_BALANCING = 1.0, 0.8
FEW = 2  # repetitions, of which the first is a large part
EACH_TIME = (
    "Take the buffer once, write to every page of it before the clock starts, and use it in all "
    "repetitions; or say that the figure is that of fresh memory."
)
ONCE = (
    "Write to every page of every buffer before the clock starts, or leave the first repetition "
    "out; a median over many repetitions does not show it, a mean does."
)


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
            judged.abstained[row["where"]] = "page faults in the timed part were not counted"
            continue
        pages = _pages(row, size, seen.host)
        if faults >= max(LEAST_FAULTS, LEAST_SHARE * pages):
            touched.append(_Touched(row, faults, pages, *_repetitions(seen, row)))
    each = [point for point in touched if point.each_time]
    if each:
        judged.findings.append(_each_time(each, rows))
    once = [point for point in touched if not point.each_time]
    for is_few in (True, False):
        alike = [point for point in once if (point.repetitions <= FEW) == is_few]
        if alike:
            judged.findings.append(_once(alike, rows, seen.host))
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


def _each_time(touched: list[_Touched], rows: list[dict[str, Any]]) -> Finding:
    factors = _factors(touched, rows)
    faults = [point.faults / point.repetitions for point in touched]
    text = (
        f"Each repetition takes {span(faults, count)} page faults, and the buffers have "
        f"{_pages_of(touched)} pages: they are new every time, and the clock also counts how the "
        "system finds and clears them."
    )
    return _finding(touched, factors, "biases", text + _beside(factors), CERTAIN)


def _factors(touched: list[_Touched], rows: list[dict[str, Any]]) -> dict[str, float]:
    """Rates ÷ rates of the same work in memory that was touched before, by point."""
    return {
        point.row["where"]: factor
        for point in touched
        if (factor := speed_up(point.row, twins_of(point.row, rows, _is_quiet))) is not None
    }


def _beside(factors: dict[str, float]) -> str:
    if not factors:
        return ""
    slower = span([1 / factor for factor in factors.values()], times)
    return (
        f" It takes {slower} times as long as the same work on this machine in memory that was "
        "touched before."
    )


def _once(touched: list[_Touched], rows: list[dict[str, Any]], host: dict[str, Any]) -> Finding:
    """A median over many repetitions does not hold the first one, so no factor is its own."""
    text = (
        f"{span([point.faults for point in touched], count)} page faults fall into the timed part "
        f"of a start of the program, and the buffers have {_pages_of(touched)} pages: the first "
        "repetition touches memory for the first time while the clock runs."
    )
    slow = [point for point in touched if point.mean_to_median > NOTICED]
    if slow:
        first = [point.first_to_later for point in slow]
        means = [point.mean_to_median for point in slow]
        text += (
            f" It takes about {span(first, lambda factor: f'{factor:.0f}')} times as long as the "
            f"later ones, which makes the mean {span(means, times)} times the median."
        )
    is_few = all(point.repetitions <= FEW for point in touched)
    factors = _factors(touched, rows) if is_few else {}
    return _finding(
        touched,
        factors,
        "biases" if is_few else "informs",
        text + _beside(factors),
        MAY_BE_BALANCING if (host.get("numa_nodes") or 1) > 1 else CERTAIN,
    )


def _pages_of(touched: list[_Touched]) -> str:
    return span([point.pages for point in touched], count)


def _finding(
    touched: list[_Touched],
    factors: dict[str, float],
    effect: Effect,
    text: str,
    confidence: float,
) -> Finding:
    most = max(
        touched, key=lambda point: (point.faults, point.pages, number_of(point.row, "time_ns") or 0)
    )
    size = int(working_set_bytes(most.row) or 0)
    return ARTEFACT.finding(
        effect=effect,
        factor=strongest(factors.values()),
        factors=factors,
        where=sorted(point.row["where"] for point in touched),
        confidence=confidence,
        evidence=[
            proof("minor_faults", most.faults, "faults", "operating system"),
            proof("repetitions", most.repetitions, "repetitions", "samples"),
            proof("pages_of_buffers", round(most.pages), "pages", "harness"),
            proof("buffers_bytes", size, "bytes", "harness"),
        ],
        explanation=text,
        remedy=EACH_TIME if most.each_time else ONCE,
    )


def _is_quiet(row: Row) -> bool:
    faults = number_of(row, "minor_faults")
    return faults is not None and faults < LEAST_FAULTS
