"""The pictures of one paper, out of its paper.json: what goes into each, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchbook.core import number_format
from benchbook.core.units import RATE
from benchbook.report import reasons, wording
from benchbook.report.plots.forest import Row, forest, interval_row
from benchbook.report.plots.marks import text_of
from benchbook.report.plots.palette import INK
from benchbook.report.plots.paper import Form, Line, sizes, strips
from benchbook.report.plots.style import Picture, method_colour
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections import recorded_runs
from benchbook.report.wording import Paper

MOST_MARKS = 12  # published values drawn of one claim
WHERE = (
    "Diamonds: as published. Dots with a line: this machine, with pointwise 95\u00a0% intervals. "
    "Small dots: single runs (hollow: other programs were active)."
)

IMPORTED = "Hollow squares: imported, out of logs that were made elsewhere."

# Of lines whose points only stand for something else, on this page's pictures and sweeps.
EMULATED = "Hollow dots on dashed lines: {}, so that no claim rests on them."


def how_to_read_imported(figure: dict[str, Any]) -> str:
    """How to read the marks of imported values, in the pictures that have some."""
    return f" {IMPORTED}" if figure["imported"] and not figure["grid"] else ""


def how_to_read(figures: list[dict[str, Any]]) -> str:
    """How to read the marks; open intervals and hollow dots are explained where there are any."""
    rows = [row for figure in figures for row in figure["rows"] if row["rerun"]]
    text = [WHERE]
    if any(row["low"] is None or row["high"] is None for row in rows):
        text.append("A line from edge to edge: too few rounds for an interval.")
    text += [
        EMULATED.format(emulated) for emulated in sorted({row["emulates"] for row in rows} - {""})
    ]
    return " ".join(text)


def colour_of(paper: Paper, point: str | None) -> str:
    """The colour of a point's method, the same on every page."""
    if not point:
        return INK
    methods = list(wording.experiment_of(paper, point)["definitions"])
    return method_colour(methods, wording.parts_of(point).get("method", ""))


def note(paper: Paper, point: str | None) -> str:
    """What a point does less than it declares, in a few words; else empty."""
    seen = wording.observations(paper, point)
    declared = seen.get("blocks_declared") or 0
    if not wording.mechanism(paper, point):
        return ""
    if declared > 1 and seen.get("distinct_source_blocks") == 1:
        return f"one source block, {number_format.count(declared)} times"
    return f"{number_format.share(seen['work_done_fraction'])} of the bytes arrive"


def _here(paper: Paper, row: dict[str, Any], text: str) -> str:
    return text if row["state"] == "ok" else lacking_here(paper, row)


def lacking_here(paper: Paper, row: dict[str, Any]) -> str:
    """What stands in place of a value that was not measured here."""
    if row["state"] == "not_in_preset":
        return f"not in {paper['preset']}"
    return "on no host" if row["state"] == "beyond_host" else wording.state_in_words(row)


def _dots(row: dict[str, Any], key: str) -> list[tuple[float, bool]]:
    return [
        (invocation[key], invocation["disturbed"])
        for invocation in row["invocations"]
        if invocation[key]
    ]


def ratio_rows(paper: Paper, figure: dict[str, Any]) -> list[Row]:
    """The rows of a figure as ratios to its first one."""
    rows, marks = [], findings_section.marks_of(paper)
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
                note=note(paper, row["point"]),
                marks=marks.names(row["point"]),
                emulated=bool(row["emulates"]),
            )
        )
    return rows


def overview(paper: Paper) -> Picture | None:
    """All figures as ratios to their first method, published beside rerun; grids are no such."""
    rows: list[Row] = []
    every = [figure for figure in paper["figures"] if figure["rows"] and not figure["grid"]]
    quantity = next((figure["quantity"] for figure in every), RATE)
    figures = [figure for figure in every if figure["quantity"] == quantity]
    for figure in figures:
        base = figure["rows"][0]
        names = findings_section.marks_of(paper).names(base["point"])
        name = wording.row_name(figure, base)
        # The words between brackets stay together where the heading is broken.
        aside = f"({name}: {text_of(names)})".replace(" ", number_format.FIXED)
        label = f"{figure['title']} {aside}" if names else figure["title"]
        rows += [Row(label=label, head=True), *ratio_rows(paper, figure)]
    bases = {wording.row_name(figure, figure["rows"][0]) for figure in figures}
    # Several do not fit above the line at 1.
    base, mark = (bases.pop(),) * 2 if len(bases) == 1 else ("the first of its table", "the first")
    rows_in_words = [
        f"{row.label}: published {row.there}, here {row.here}" for row in rows if not row.head
    ]
    alt = f"{wording.capitalised(quantity)}s as ratios to {base}, published and rerun. "
    alt += "; ".join(rows_in_words) + "."
    alt += findings_section.marks_of(paper).in_words(
        row["point"] for figure in figures for row in figure["rows"]
    )
    return forest("overview", alt, rows, unit=f"{quantity} ÷ {quantity} of {base}", label_at_1=mark)


def values(paper: Paper, figure: dict[str, Any]) -> Picture | None:
    """A figure's rates or times, published beside rerun."""
    marks = findings_section.marks_of(paper)
    theirs = [recorded_runs.recorded_values(figure, "rows", k) for k in range(len(figure["rows"]))]
    rows = [
        Row(
            label=wording.row_name(figure, row),
            colour=colour_of(paper, row["point"]),
            published=[value] if (value := wording.printed_value(row)) else [],
            value=row["rerun"],
            low=row["low"],
            high=row["high"],
            dots=_dots(row, "rerun"),
            there=as_printed(row["printed"], value) if value else number_format.NONE,
            here=_here(paper, row, number_format.number(row["rerun"], row["low"], row["high"])),
            note=note(paper, row["point"]),
            marks=marks.names(row["point"]),
            emulated=bool(row["emulates"]),
            imported=[
                value["value"]
                for value in figure["imported"]
                if value["label"] in (row["group"], row["label"])
            ],
            recorded=recorded_runs.plot_marks(found_there),
        )
        for row, found_there in zip(figure["rows"], theirs, strict=True)
    ]
    rows_in_words = [
        f"{row.label}: published {row.there}, here {row.here}{_elsewhere(row.imported)}"
        f"{recorded_runs.in_words(found_there)}"
        for row, found_there in zip(rows, theirs, strict=True)
    ]
    alt = f"{figure['title']}, {figure['y_unit']}. " + "; ".join(rows_in_words) + "."
    alt += marks.in_words(row["point"] for row in figure["rows"])
    return forest(f"{figure['quantity']}s-{figure['id']}", alt, rows, unit=figure["y_unit"])


def _elsewhere(values: Sequence[float]) -> str:
    return (
        f", imported {number_format.listed([number_format.number(value) for value in values])}"
        if values
        else ""
    )


def as_printed(text: str, value: float) -> str:
    """A printed number with a digit behind the point, or as printed where that is shorter."""
    return min(
        number_format.printed(text), number_format.number(value, value - 1, value + 1), key=len
    )


def ranges(paper: Paper, figure: dict[str, Any]) -> Picture | None:
    """Printed ranges beside those of the rerun, over what points of equal truth would show."""
    marks = findings_section.marks_of(paper)
    shown = [k for k, row in enumerate(figure["ranges"]) if row["rerun"] is not None]
    theirs = [recorded_runs.recorded_values(figure, "ranges", k) for k in shown]
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
            marks=marks.names(*row["points"]),
            recorded=recorded_runs.plot_marks(found_there),
        )
        for row, found_there in zip((figure["ranges"][k] for k in shown), theirs, strict=True)
    ]
    rows_in_words = [
        f"{row.label}: published {row.there} %, here {row.here} %"
        f"{recorded_runs.in_words(there, ' %')}"
        for row, there in zip(rows, theirs, strict=True)
    ]
    alt = f"{figure['title']}, in percent. " + "; ".join(rows_in_words) + "."
    alt += marks.in_words(point for row in figure["ranges"] for point in row["points"])
    return forest(f"ranges-{figure['id']}", alt, rows, unit="%", linear=True) if rows else None


def claims(paper: Paper, figure: dict[str, Any]) -> Picture | None:
    """The claimed ratios' simultaneous intervals against their regions, over the twins'."""
    shown = [
        claim
        for claim in figure["claims"]
        if claim["kind"] in claims_section.RATIOS and claim["estimate"] is not None
    ]
    if not shown:
        return None
    rows = [claim_row(paper, claim) for claim in shown]
    rows += [
        interval_row(text, figure["null"][twin])
        for twin, text in (
            ("again", "the same binary twice"),
            ("relinked", "relinked, other padding"),
        )
        if figure["null"][twin]
    ]
    alt = " ".join(
        f"{claim['text']} {claims_section.what(claim)} {claims_section.value(claim)}: "
        f"{reasons.sentence(claim)}."
        for claim in shown
    )
    units = list(dict.fromkeys(claim["unit"] for claim in shown))
    unit = units[0] if len(units) == 1 else "ratio"
    return forest(f"claims-{figure['id']}", alt, rows, unit=unit, label_at_1="1", above=True)


def claim_row(paper: Paper, claim: dict[str, Any]) -> Row:
    """A claimed ratio with its simultaneous interval and region, as a row of a picture."""
    low, high = claim["interval"]
    points = wording.points_of(claim)
    return Row(
        label=claims_section.name(paper, claim),
        colour=colour_of(paper, points[0]) if points else INK,
        published=claim["published"][:MOST_MARKS],
        value=claim["estimate"],
        low=low,
        high=high,
        there=claims_section.published(claim)
        if len(claim["published"]) < 2
        else _short(claim["published"]),
        here=number_format.number(claim["estimate"], low, high),
        bounds=tuple(claim["region"]),
        marks=findings_section.marks_of(paper).names(*points),
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
    rows, marks = [], findings_section.marks_of(paper)
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
                marks=marks.names(pair["top"], pair["bottom"]),
            )
        )
    rows_in_words = [f"{row.label}: published {row.there}, here {row.here}" for row in rows]
    alt = "Ratios of rates that should be near 1. " + "; ".join(rows_in_words) + "."
    return forest("odd", alt, rows, unit="ratio of rates", label_at_1="the same rate", above=True)


def _short(values: list[float]) -> str:
    if not values:
        return number_format.NONE
    ends = (f"{end:.2f}" if end < 10 else f"{end:.0f}" for end in (min(values), max(values)))
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
    drawn, marks = [], findings_section.marks_of(paper)
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
                marks=marks.names(form["point"]),
            )
        )
    forms_in_words = [
        f"{form.label}: source {form.read_words}, {form.written_words}" for form in drawn
    ]
    alt = "What each form read and wrote. " + "; ".join(forms_in_words) + "."
    alt += marks.in_words(form["point"] for form in experiment["forms"])
    return strips("forms", alt, drawn)


def sweep(paper: Paper, experiment: dict[str, Any]) -> Picture | None:
    """Rate by size; forms that do not do all their work are dashed."""
    methods, marks = list(experiment["definitions"]), findings_section.marks_of(paper)
    liars = {
        point["factors"].get("method")
        for point in paper["points"]
        if point.get("observations", {}).get("work_done_fraction", 1) < 1
    }
    lines = [
        Line(
            label=experiment["names"].get(series["method"], series["method"]).replace(" copy", ""),
            colour=method_colour(methods, series["method"]),
            values=[
                (value["bytes"], value["rerun"], value["low"], value["high"], value["invocations"])
                for value in series["values"]
            ],
            dashed=series["method"] in liars,
            marks=[marks.names(value["point"]) for value in series["values"]],
        )
        for series in experiment["sweep"]
    ]
    lines_in_words = [
        f"{line.label} from {number_format.number(line.values[0][1])} to "
        f"{number_format.number(line.values[-1][1])}"
        for line in lines
    ]
    unit = experiment["sweep_unit"]
    alt = f"Rate by size in {unit}. " + "; ".join(lines_in_words) + "."
    alt += marks.in_words(
        value["point"] for curve in experiment["sweep"] for value in curve["values"]
    )
    return sizes("size-sweep", alt, lines, experiment["caches"], experiment["buffers"], unit)
