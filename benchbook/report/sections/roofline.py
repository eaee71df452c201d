"""Rates beyond all caches against what memory attained, declared and moved, as pages show them."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.plots.marks import text_of
from benchbook.report.plots.roofline import Bar, Mark, Pair, roof
from benchbook.report.plots.style import Picture, method_colour
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections.evidence import Experiment, Row, state_of
from benchbook.report.wording import Paper

GB = 1e9
MOST_PAIRS = 14  # drawn; the others stand in the table


def rows_drawn(experiment: Experiment) -> list[Row]:
    """The rows of the picture: those of which it is known what they moved first."""
    rows = experiment["evidence"]["roof"]["rows"]
    kept = sorted(rows, key=lambda row: row["moved"]["value"] is None)[:MOST_PAIRS]
    return [row for row in rows if row in kept]


def picture(paper: Paper, experiment: Experiment) -> Picture | None:
    """Declared and moved rates beyond all caches against what memory attained."""
    evidence = experiment["evidence"]["roof"]
    rows = rows_drawn(experiment)
    if not rows:
        return None
    methods, marks = list(experiment["definitions"]), findings_section.marks_of(paper)
    is_known = any(row["moved"]["value"] is not None for row in rows)
    pairs = [
        Pair(
            label=f"{wording.method_name(paper, row['point'])}, {row['variant']}"
            + (f" [{text_of(names)}]" if (names := marks.names(row["point"])) else ""),
            marks=names,
            colour=method_colour(methods, row["method"]),
            declared=Bar(row["rate_bytes_per_s"] / GB, f"{_rate(row)} declared"),
            low=wording.scaled(row["rate_low_bytes_per_s"], GB),
            high=wording.scaled(row["rate_high_bytes_per_s"], GB),
            moved=_moved_bar(row) if is_known else None,
        )
        for row in rows
    ]
    levels = [
        Mark(level["rate_bytes_per_s"] / GB, _mark_name(experiment, level))
        for level in sorted(evidence["levels"], key=lambda level: -float(level["rate_bytes_per_s"]))
    ]
    pairs_in_words = [
        f"{pair.label}: {pair.declared.text}" + (f", {pair.moved.text}" if pair.moved else "")
        for pair in pairs
    ]
    bounds = [f"{level.label} {number_format.number(level.value)}" for level in levels]
    alt = f"Rates beyond all caches, GB/s. {'; '.join([*pairs_in_words, *bounds])}."
    alt += marks.in_words(row["point"] for row in rows)
    return roof("what-moved", alt, pairs, levels, "GB/s")


def _rate(row: Row) -> str:
    names = ("rate_bytes_per_s", "rate_low_bytes_per_s", "rate_high_bytes_per_s")
    return number_format.number(*(wording.scaled(row[name], GB) for name in names))


def _moved_bar(row: Row) -> Bar:
    moved = row["moved_bytes_per_s"]
    if moved["value"] is None:
        return Bar(None, "moved: unknown")
    value = moved["value"] / GB
    state = "" if moved["state"] == "ok" else str(moved["state"])
    return Bar(value, f"{number_format.number(value)} moved, {state or 'counted'}", state)


def _mark_name(experiment: Experiment, level: dict[str, Any]) -> str:
    method = experiment["names"].get(level["method"], level["method"])
    if not level["traffic"]:
        return f"the best that delivers all: {method}"
    return (
        method if method.lower().startswith(level["traffic"]) else f"{level['traffic']}: {method}"
    )


def title(paper: Paper, experiment: Experiment) -> str:
    """What lies above all ceilings; else what moves more than it declares."""
    rows, levels = rows_drawn(experiment), experiment["evidence"]["roof"]["levels"]
    top = max((level["rate_bytes_per_s"] for level in levels), default=None)
    above = [
        row
        for row in rows
        if top is not None and row["rate_bytes_per_s"] > top and (row["done"] or 1) < 1
    ]
    if above:
        row = max(above, key=lambda row: row["rate_bytes_per_s"])
        best = number_format.number(top / GB) if top else number_format.NONE
        name = wording.capitalised(wording.method_name(paper, row["point"]))
        return f"{name} declares {_rate(row)} GB/s where nothing that delivers all passes {best}"
    with_traffic = [row for row in rows if row["moved_bytes_per_s"]["value"] is not None]
    if not with_traffic:
        return "Rates beyond all caches against what memory attained; what they moved is unknown"
    row = max(with_traffic, key=lambda row: row["moved_bytes_per_s"]["value"])
    name = wording.capitalised(wording.method_name(paper, row["point"]))
    moved = row["moved_bytes_per_s"]
    return (
        f"{name} declares {_rate(row)} GB/s and moves {number_format.number(moved['value'] / GB)} "
        f"({state_of(moved)})"
    )


def caption(experiment: Experiment) -> str:
    """How to read the bars and lines."""
    is_known = any(row["moved"]["value"] is not None for row in rows_drawn(experiment))
    text = "Declared bytes ÷ time, with the pointwise 95 % interval"
    if is_known:
        text = (
            f"Upper bar: {wording.lower_first(text)}. Lower bar: what moved to or from memory in "
            "that time (dark: counted; hatched where it was simulated and scaled to this size)"
        )
    else:
        text += "; what moved meanwhile is unknown at these sizes"
    return f"{text}. Dashed: {_levels(experiment)}."


def _levels(experiment: Experiment) -> str:
    roof_evidence = experiment["evidence"]["roof"]
    if not roof_evidence["levels"]:
        return "no ceiling was measured in this preset"
    threads = number_format.plural(roof_evidence["threads"], "thread")
    if roof_evidence["levels"][0]["traffic"]:
        return f"what memory attained with {threads}, in the bytes that its method declares"
    return f"the best of these rates, with {threads}, that delivers all that it declares"
