"""scaling: speed-ups and efficiencies that a table prints, without the number of what took part."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.scaling import COUNTS, TABLE
from benchbook.findings import Finding

_SPEED_UP = late(r"(?i)\bspeed-?\s?up")
_EFFICIENCY = late(r"(?i)\beffic")
_SHARE = late(r"(\d{1,3}(?:\.\d{1,4})?)( ?%)?")
LOW, FITS = 0.4, 0.12  # an efficiency; how far the number may be from a whole one, of rounding


@rule
def low_efficiency(report: Report) -> Iterator[Finding]:
    """A table that has a speed-up and its share of the ideal, and no column of how many took part.

    Decided by both: their ratio is the number of threads, processes or devices.
    """
    if report.tool != TABLE or any(kind in own.of for own in report.results for kind in COUNTS):
        return
    shares = {own.line: own for own in report.results if _EFFICIENCY.search(own.name)}
    rows = []
    for faster in report.results:
        is_way = faster.is_positive and _SPEED_UP.search(faster.name)
        share = _share(faster, shares.get(faster.line)) if is_way else None
        if share:
            count = round(faster.value / share)
            if count > 1 and abs(faster.value / share - count) <= FITS * count:
                rows.append((count, share, faster))
    if len(rows) < 2:
        return
    most = max(count for count, *_ in rows)
    alike = [row for row in rows if row[0] >= (1 - FITS) * most]
    count, share, faster = max(alike, key=lambda row: row[2].value)
    if share <= LOW:
        yield finding("low-efficiency", faster=faster, count=count, share=share)


def _share(result: Result, printed: Result | None) -> float | None:
    """The efficiency in the same row, as a share of 1: a figure, or a part of the row's name."""
    if printed is not None:
        value = printed.value / (100 if printed.unit == "%" else 1)
        return value if 0 < value <= 1 else None
    parts = result.of.get("label_parts") or {}
    for name, text in parts.items():
        found = _SHARE.fullmatch(str(text).strip()) if _EFFICIENCY.search(str(name)) else None
        if found:
            value = float(found[1]) / (100 if found[2] else 1)
            return value if is_number(value) and 0 < value <= 1 else None
    return None
