"""The pictures of one paper, out of its paper.json: what goes into each, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchbook.core import number_format
from benchbook.core.units import RATE
from benchbook.report import wording
from benchbook.report.plots.forest import Row, forest
from benchbook.report.plots.marks import text_of
from benchbook.report.plots.palette import INK
from benchbook.report.plots.paper import Form, Line, sizes, strips
from benchbook.report.plots.style import Picture, colour
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections import recorded_runs
from benchbook.report.wording import Paper

MOST_MARKS = 12  # published values drawn of one claim
WHERE = (
    "Diamonds: as published. Dots with a line: this machine, with pointwise 95\u00a0% intervals. "
    "Faint dots: single invocations, hollow where their block was disturbed."
)

IMPORTED = "Hollow squares: imported, out of logs that were made elsewhere."

# Of lines whose points only stand for something else, on this page's pictures and sweeps.
EMULATED = "Hollow dots on dashed lines: {}, so that no claim rests on them."


def where_imported(figure: dict[str, Any]) -> str:
    """How to read the marks of imported values, in the pictures that have some."""
    return f" {IMPORTED}" if figure["imported"] and not figure["grid"] else ""


def where(figures: list[dict[str, Any]]) -> str:
    """How to read the marks; open intervals and hollow dots are explained where there are any."""
    rows = [row for figure in figures for row in figure["rows"] if row["rerun"]]
    said = [WHERE]
    if any(row["low"] is None or row["high"] is None for row in rows):
        said.append("A line from edge to edge: too few blocks for an interval.")
    said += [EMULATED.format(one) for one in sorted({row["emulates"] for row in rows} - {""})]
    return " ".join(said)


def colour_of(paper: Paper, point: str | None) -> str:
    """The colour of a point's method, the same on every page."""
    if not point:
        return INK
    methods = list(wording.experiment_of(paper, point)["definitions"])
    return colour(methods, wording.parts_of(point).get("method", ""))


def _note(paper: Paper, point: str | None) -> str:
    seen = wording.observations(paper, point)
    declared = seen.get("blocks_declared") or 0
    if not wording.mechanism(paper, point):
        return ""
    if declared > 1 and seen.get("distinct_source_blocks") == 1:
        return f"one source block, {number_format.count(declared)} times"
    return f"{number_format.share(seen['work_done_fraction'])} of the bytes arrive"


def _here(paper: Paper, row: dict[str, Any], text: str) -> str:
    if row["state"] == "ok":
        return text
    if row["state"] == "not_in_preset":
        return f"not in {paper['preset']}"
    return "on no host" if row["state"] == "beyond_host" else wording.state(row)


def _dots(row: dict[str, Any], key: str) -> list[tuple[float, bool]]:
    return [(one[key], one["disturbed"]) for one in row["invocations"] if one[key]]


def ratio_rows(paper: Paper, figure: dict[str, Any]) -> list[Row]:
    """The rows of a figure as ratios to its first one."""
    rows, found = [], findings_section.of(paper)
    for row in figure["rows"][1:]:
        ratio = row["ratio"] or {}
        value, low, high = (ratio.get(key) for key in ("ratio", "low95", "high95"))
        rows.append(
            Row(
                label=wording.row_name(figure, row),
                colour=colour_of(paper, row["point"]),
                published=[row["printed_ratio"]] if row["printed_ratio"] else [],
                value=value,
                low=low,
                high=high,
                dots=_dots(row, "ratio"),
                there=number_format.number(row["printed_ratio"]),
                here=_here(paper, row, number_format.number(value, low, high)),
                note=_note(paper, row["point"]),
                marks=found.names(row["point"]),
                emulated=bool(row["emulates"]),
            )
        )
    return rows


def overview(paper: Paper) -> Picture | None:
    """All figures as ratios to their first method, published beside rerun; grids are no such."""
    rows: list[Row] = []
    every = [one for one in paper["figures"] if one["rows"] and not one["grid"]]
    quantity = next((one["quantity"] for one in every), RATE)
    figures = [one for one in every if one["quantity"] == quantity]
    for figure in figures:
        base = figure["rows"][0]
        names = findings_section.of(paper).names(base["point"])
        name = wording.row_name(figure, base)
        # The words between brackets stay together where the heading is broken.
        aside = f"({name}: {text_of(names)})".replace(" ", number_format.FIXED)
        label = f"{figure['title']} {aside}" if names else figure["title"]
        rows += [Row(label=label, head=True), *ratio_rows(paper, figure)]
    bases = {wording.row_name(figure, figure["rows"][0]) for figure in figures}
    # Several do not fit above the line at 1.
    base, mark = (bases.pop(),) * 2 if len(bases) == 1 else ("the first of its table", "the first")
    told = [f"{row.label}: published {row.there}, here {row.here}" for row in rows if not row.head]
    alt = f"{wording.upper(quantity)}s as ratios to {base}, published and rerun. "
    alt += "; ".join(told) + "."
    alt += findings_section.of(paper).told(
        row["point"] for figure in figures for row in figure["rows"]
    )
    return forest("overview", alt, rows, unit=f"{quantity} ÷ {quantity} of {base}", one=mark)


def values(paper: Paper, figure: dict[str, Any]) -> Picture | None:
    """One figure's rates or times, published beside rerun."""
    found = findings_section.of(paper)
    theirs = [recorded_runs.values(figure, "rows", k) for k in range(len(figure["rows"]))]
    rows = [
        Row(
            label=wording.row_name(figure, row),
            colour=colour_of(paper, row["point"]),
            published=[value] if (value := wording.printed(row)) else [],
            value=row["rerun"],
            low=row["low"],
            high=row["high"],
            dots=_dots(row, "rerun"),
            there=_as_printed(row["printed"], value) if value else number_format.NONE,
            here=_here(paper, row, number_format.number(row["rerun"], row["low"], row["high"])),
            note=_note(paper, row["point"]),
            marks=found.names(row["point"]),
            emulated=bool(row["emulates"]),
            imported=[
                one["value"]
                for one in figure["imported"]
                if one["label"] in (row["group"], row["label"])
            ],
            recorded=recorded_runs.marks(found_there),
        )
        for row, found_there in zip(figure["rows"], theirs, strict=True)
    ]
    told = [
        f"{row.label}: published {row.there}, here {row.here}{_elsewhere(row.imported)}"
        f"{recorded_runs.told(found_there)}"
        for row, found_there in zip(rows, theirs, strict=True)
    ]
    alt = f"{figure['title']}, {figure['y_unit']}. " + "; ".join(told) + "."
    alt += found.told(row["point"] for row in figure["rows"])
    return forest(f"{figure['quantity']}s-{figure['id']}", alt, rows, unit=figure["y_unit"])


def _elsewhere(values: Sequence[float]) -> str:
    return (
        f", imported {number_format.listed([number_format.number(one) for one in values])}"
        if values
        else ""
    )


def _as_printed(text: str, value: float) -> str:
    """A printed number with a digit behind the point, or as printed where that is shorter."""
    return min(
        number_format.printed(text), number_format.number(value, value - 1, value + 1), key=len
    )


def ranges(paper: Paper, figure: dict[str, Any]) -> Picture | None:
    """Printed ranges beside those of the rerun, over what points of equal truth would show."""
    found = findings_section.of(paper)
    shown = [k for k, row in enumerate(figure["ranges"]) if row["rerun"] is not None]
    theirs = [recorded_runs.values(figure, "ranges", k) for k in shown]
    rows = [
        Row(
            label=row["label"],
            published=[float(row["printed"])],
            value=row["rerun"],
            low=row["low"],
            high=row["high"],
            there=row["printed"],
            here=number_format.number(row["rerun"], row["low"], row["high"]),
            bounds=(0.0, row["null"]["null_95"]) if row["null"] else None,
            marks=found.names(*row["points"]),
            recorded=recorded_runs.marks(found_there),
        )
        for row, found_there in zip((figure["ranges"][k] for k in shown), theirs, strict=True)
    ]
    told = [
        f"{row.label}: published {row.there} %, here {row.here} %{recorded_runs.told(there, ' %')}"
        for row, there in zip(rows, theirs, strict=True)
    ]
    alt = f"{figure['title']}, in percent. " + "; ".join(told) + "."
    alt += found.told(point for row in figure["ranges"] for point in row["points"])
    return forest(f"ranges-{figure['id']}", alt, rows, unit="%", linear=True) if rows else None


def claims(paper: Paper, figure: dict[str, Any]) -> Picture | None:
    """The claimed ratios' simultaneous intervals against their regions, over the twins'."""
    shown = [
        one
        for one in figure["claims"]
        if one["kind"] in claims_section.RATIOS and one["estimate"] is not None
    ]
    if not shown:
        return None
    rows = [claim_row(paper, one) for one in shown]
    null = figure["null"]
    for twin, text in (("again", "the same binary twice"), ("relinked", "relinked, other padding")):
        if found := null[twin]:
            ends = found["low"], found["high"]
            rows.append(
                Row(
                    label=text,
                    colour=INK,
                    value=found["ratio"],
                    low=ends[0],
                    high=ends[1],
                    here=number_format.number(found["ratio"], *ends),
                )
            )
    alt = " ".join(
        f"{one['text']} {claims_section.what(one)} {claims_section.value(one)}: {one['reason']}."
        for one in shown
    )
    units = list(dict.fromkeys(one["unit"] for one in shown))
    unit = units[0] if len(units) == 1 else "ratio"
    return forest(f"claims-{figure['id']}", alt, rows, unit=unit, one="1", above=True)


def claim_row(paper: Paper, one: dict[str, Any]) -> Row:
    """One claimed ratio with its simultaneous interval and region."""
    low, high = one["interval"]
    points = wording.points_of(one)
    return Row(
        label=claims_section.name(paper, one),
        colour=colour_of(paper, points[0]) if points else INK,
        published=one["published"][:MOST_MARKS],
        value=one["estimate"],
        low=low,
        high=high,
        there=claims_section.published(one)
        if len(one["published"]) < 2
        else _short(one["published"]),
        here=number_format.number(one["estimate"], low, high),
        bounds=tuple(one["region"]),
        marks=findings_section.of(paper).names(*points),
    )


def pair_name(paper: Paper, pair: dict[str, Any]) -> str:
    """`block copy 1.3.0 ÷ whole copy, 8 MiB`, or for sizes `whole copy, 8 MiB ÷ 32 MiB`."""
    top, bottom = pair["top"], pair["bottom"]
    names = [wording.method_name(paper, side) for side in (top, bottom)]
    if pair["kind"] == "sizes":
        return f"{names[0]}, {wording.size_of(top)} ÷ {wording.size_of(bottom)}"
    return f"{names[0]} ÷ {names[1]}, {wording.size_of(top)}"


def odd(paper: Paper, experiment: dict[str, Any]) -> Picture | None:
    """Pairs that do the same work and differ all the same."""
    rows, found = [], findings_section.of(paper)
    for pair in experiment["odd"]["pairs"]:
        rerun = pair["rerun"] or {}
        value, low, high = (rerun.get(key) for key in ("ratio", "low95", "high95"))
        rows.append(
            Row(
                label=pair_name(paper, pair),
                colour=colour_of(paper, pair["top"]),
                published=pair["published"],
                value=value,
                low=low,
                high=high,
                there=_short(pair["published"]),
                here=number_format.number(value, low, high),
                marks=found.names(pair["top"], pair["bottom"]),
            )
        )
    told = [f"{row.label}: published {row.there}, here {row.here}" for row in rows]
    alt = "Ratios of rates that should be near 1. " + "; ".join(told) + "."
    return forest("odd", alt, rows, unit="ratio of rates", one="the same rate", above=True)


def _short(values: list[float]) -> str:
    if not values:
        return number_format.NONE
    ends = (f"{one:.2f}" if one < 10 else f"{one:.0f}" for one in (min(values), max(values)))
    return "–".join(dict.fromkeys(ends))


def _read(distinct: float, declared: float) -> str:
    if distinct >= declared:
        return "all" if declared == 1 else f"all {number_format.count(declared)}"
    return f"{number_format.count(distinct)} of {number_format.count(declared)}"


def _written(written: float, done: float) -> str:
    if written < 1:
        rest = "rest untouched" if done == written else f"{number_format.share(done)} right"
        return f"{number_format.share(written)} written, {rest}"
    return (
        "all written, all right" if done >= 1 else f"all written, {number_format.share(done)} right"
    )


def forms(paper: Paper, experiment: dict[str, Any]) -> Picture | None:
    """What each form read and wrote."""
    drawn, found = [], findings_section.of(paper)
    for form in experiment["forms"]:
        seen = form["observations"]
        declared, done = seen.get("blocks_declared"), seen.get("work_done_fraction")
        distinct = seen.get("distinct_source_blocks")
        written = seen.get("destination_written_fraction")
        # What was not observed is not drawn: an empty bar would say that nothing was touched.
        if not declared or None in (done, distinct, written):
            continue
        drawn.append(
            Form(
                label=wording.method_name(paper, form["point"]),
                colour=colour_of(paper, form["point"]),
                read=distinct / declared,
                written=written,
                right=done,
                read_words=_read(distinct, declared),
                written_words=_written(written, done),
                marks=found.names(form["point"]),
            )
        )
    told = [f"{one.label}: source {one.read_words}, {one.written_words}" for one in drawn]
    alt = "What each form read and wrote. " + "; ".join(told) + "."
    alt += found.told(form["point"] for form in experiment["forms"])
    return strips("forms", alt, drawn)


def sweep(paper: Paper, experiment: dict[str, Any]) -> Picture | None:
    """Rate by size; forms that do not do all their work are dashed."""
    methods, found = list(experiment["definitions"]), findings_section.of(paper)
    liars = {
        one["factors"].get("method")
        for one in paper["points"]
        if one.get("observations", {}).get("work_done_fraction", 1) < 1
    }
    lines = [
        Line(
            label=experiment["names"].get(series["method"], series["method"]).replace(" copy", ""),
            colour=colour(methods, series["method"]),
            values=[
                (one["bytes"], one["rerun"], one["low"], one["high"], one["invocations"])
                for one in series["values"]
            ],
            dashed=series["method"] in liars,
            marks=[found.names(one["point"]) for one in series["values"]],
        )
        for series in experiment["sweep"]
    ]
    told = [
        f"{line.label} from {number_format.number(line.values[0][1])} to "
        f"{number_format.number(line.values[-1][1])}"
        for line in lines
    ]
    unit = experiment["sweep_unit"]
    alt = f"Rate by size in {unit}. " + "; ".join(told) + "."
    alt += found.told(one["point"] for curve in experiment["sweep"] for one in curve["values"])
    return sizes("size-sweep", alt, lines, experiment["caches"], experiment["buffers"], unit)
