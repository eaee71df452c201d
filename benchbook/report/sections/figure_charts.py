"""The chart of each published table: what is printed and what was measured here, on one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.chart import GAP, Chart, Row, Scale, chart, scale_of
from benchbook.report.plots.palette import INK
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections import first_screen, grids, paper_panels
from benchbook.report.wording import Paper

Figure = dict[str, Any]
PANEL_LETTER = 3.2  # percent of a narrow panel that a letter below it takes
AROUND_PX = 185  # what a figure takes on a page beside its rows
PANEL_PX, EDGE_PX, LETTER_PX = 92, 8, 14  # heights: of a panel, left free at its edges, a number


@dataclass(frozen=True)
class Dot:
    """A mark of a panel, in percent of its width and pixels from its top."""

    x: float
    y: float
    low_y: float = 0.0
    high_y: float = 0.0
    hollow: bool = False
    text: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a table of sizes: its dots published, here, and of single runs."""

    label: str
    colour: str
    published: Sequence[Dot]
    here: Sequence[Dot]
    runs: Sequence[Dot]
    cells: Sequence[str]
    marks: Sequence[Any]
    tip: str


@dataclass(frozen=True)
class Panels:
    """A panel for each line of a table of several columns, all with one scale of ratios to the
    first column."""

    unit: str
    columns: Sequence[str]
    lines: Sequence[Line]
    sizes: Sequence[tuple[float, str]]
    ends: Sequence[tuple[float, str]]
    region: tuple[float, float] | None
    base: float
    height: int = PANEL_PX


def is_rerun(figure: Figure) -> bool:
    """Whether anything of a figure was measured here."""
    return any(row["state"] == "ok" for row in figure["rows"]) or any(
        row["rerun"] is not None for row in figure["ranges"]
    )


def of(paper: Paper, figure: Figure) -> Chart | Panels | None:
    """The chart of a figure; None of one that is only recomputed from its own numbers."""
    if figure["grid"]:
        return _panels(paper, figure) if grids.is_by_size(figure) else _methods(paper, figure)
    if figure["ranges"]:
        return _ranges(paper, figure)
    return _values(paper, figure) if figure["rows"] else None


def height(drawn: Chart | Panels | None) -> int:
    """About how many pixels a figure takes on a wide screen, with its title and what is below."""
    if drawn is None:
        return AROUND_PX
    rows = len(drawn.rows if isinstance(drawn, Chart) else drawn.lines)
    return AROUND_PX + rows * drawn.height


def _values(paper: Paper, figure: Figure) -> Chart:
    base = wording.row_name(figure, figure["rows"][0])
    comparable = figure.get("comparable", True)
    marks = findings_section.marks_of(paper)
    rows = []
    for number, row in enumerate(figure["rows"]):
        name = wording.row_name(figure, row)
        drawn = first_screen.value_row(paper, figure, row, wording.capitalised(name))
        ratio = row["ratio"]
        here = (
            number_format.number(ratio["ratio"], ratio["low95"], ratio["high95"]) if ratio else "–"
        )
        there = number_format.number(row["printed_ratio"])
        compared = "1" if number == 0 else f"{there} → {here}"
        rows.append(
            replace(
                drawn,
                cells=(*drawn.cells, *([compared] if comparable else [])),
                marks=marks.at(row["point"]) if row["state"] == "ok" else (),
                note=paper_panels.note(paper, row["point"]),
                imported=[
                    value["value"]
                    for value in figure["imported"]
                    if value["label"] in (row["group"], row["label"])
                ],
            )
        )
    columns = [*first_screen.COLUMNS]
    if comparable:
        columns.append(f"÷ {base}, paired: published → here")
    unit = f"{figure['quantity']}, {figure['y_unit']}"
    return chart(unit, columns, rows, label=figure["x"].replace("_", " "), words=figure["title"])


def _ranges(paper: Paper, figure: Figure) -> Chart:
    marks = findings_section.marks_of(paper)
    rows = []
    for row in figure["ranges"]:
        here = paper_panels.lacking_here(paper, row)
        if row["rerun"] is not None:
            here = number_format.with_interval(row["rerun"], row["low"], row["high"])
        alone = row["null"] and row["rerun"] is not None
        shown = f"published {row['printed']} %; here {here}"
        rows.append(
            Row(
                label=wording.capitalised(row["label"]),
                published=[float(row["printed"])],
                value=row["rerun"],
                low=row["low"],
                high=row["high"],
                bounds=(0.0, row["null"]["null_95"]) if alone else None,
                cells=(row["printed"], here),
                marks=marks.at(*row["points"]) if row["rerun"] is not None else (),
                colour=INK,
                tip=shown + (" %" if row["rerun"] is not None else ""),
            )
        )
    unit = "spread in percent; shaded: what equal values would show on this machine"
    return chart(
        unit, first_screen.COLUMNS, rows, zero=True, label=figure["x"], words=figure["title"]
    )


def _methods(paper: Paper, figure: Figure) -> Chart:
    """Of a table whose columns are methods: each ÷ the first of them, a row for each line."""
    marks = findings_section.marks_of(paper)
    others = grids.other_names(figure)
    rows = []
    for line, cells in grids.groups(figure).items():
        for row in cells[1:]:
            measured = row["state"] == "ok" and row["ratio"]
            ratio = row["ratio"] if measured else {"ratio": None, "low95": None, "high95": None}
            low, high = ratio["low95"], ratio["high95"]
            here = number_format.with_interval(ratio["ratio"], low, high)
            here = here if measured else paper_panels.lacking_here(paper, row)
            there = number_format.number(row["printed_ratio"])
            name = wording.line_name(figure, line)
            if len(others) > 1:
                name = f"{name}, {grids.column_name(row)}"
            runs = row["invocations"][: first_screen.MOST_RUNS] if measured else []
            rows.append(
                Row(
                    label=wording.capitalised(name),
                    published=[row["printed_ratio"]] if row["printed_ratio"] else [],
                    value=ratio["ratio"],
                    low=low,
                    high=high,
                    runs=[(run["ratio"], run["disturbed"]) for run in runs if run["ratio"]],
                    cells=(there, here),
                    marks=marks.at(row["point"]) if measured else (),
                    colour=paper_panels.colour_of(paper, row["point"]),
                    hollow=bool(row.get("emulates")),
                    tip=f"published {there}; here {here}",
                )
            )
    label = figure["x"].replace("_", " ")
    unit = grids.ratio_name(figure)
    return chart(unit, first_screen.COLUMNS, rows, ratio=True, label=label, words=figure["title"])


def _panels(paper: Paper, figure: Figure) -> Panels:
    """Cells as ratios to the first column, a panel for each line of the table."""
    places, marks = grids.places(figure), findings_section.marks_of(paper)
    amount = max(places.values()) + 1
    region = grids.region(figure)
    values = [row["printed_ratio"] for row in figure["rows"]]
    for row in grids.measured_cells(figure):
        if row["ratio"]:
            values += [row["ratio"][key] for key in ("ratio", "low95", "high95")]
    scale = scale_of([*values, *(region or ())], ratio=True)

    def at(place: int, shift: float = 0.0) -> float:
        return round(100 * (place + 0.5 + shift) / amount, 2)

    lines = []
    for name, rows in grids.groups(figure).items():
        measured = [row for row in grids.measured_cells({"rows": rows}) if row["ratio"]]
        runs = [
            Dot(at(places[row["column"]], 0.12), _y(scale, run["ratio"]), hollow=run["disturbed"])
            for row in measured
            for run in row["invocations"][: first_screen.MOST_RUNS]
            if run["ratio"] and not grids.is_itself(row)
        ]
        there = [row["printed_ratio"] for row in rows if row["printed_ratio"]]
        here = [row["ratio"]["ratio"] for row in measured]
        cells = (_span(there), _span(here))
        points = [row["point"] for row in measured]
        lines.append(
            Line(
                label=wording.capitalised(wording.line_name(figure, name)),
                colour=paper_panels.colour_of(
                    paper, next((row["point"] for row in rows if row["point"]), None)
                ),
                published=[
                    Dot(
                        at(places[row["column"]], -0.12),
                        _y(scale, row["printed_ratio"]),
                        text=f"published: {number_format.number(row['printed_ratio'])}",
                    )
                    for row in rows
                    if row["printed_ratio"]
                ],
                here=[_dot(scale, row, at(places[row["column"]], 0.12)) for row in measured],
                runs=runs,
                cells=cells,
                marks=marks.common(points),
                tip=f"published {cells[0]} times {grids.base_name(figure)}, here {cells[1]}",
            )
        )
    ends = [(_y(scale, value), number_format.number(value)) for value in _end_labels(scale, region)]
    return Panels(
        unit=grids.ratio_name(figure),
        columns=("published", "here"),
        lines=lines,
        sizes=_sizes([(at(k), label) for k, label in enumerate(grids.tick_labels(paper, figure))]),
        ends=ends,
        region=(_y(scale, region[1]), _y(scale, region[0])) if region else None,
        base=_y(scale, 1.0),
    )


def _sizes(labels: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Every n-th label, so that none runs into another where the panel is narrow."""
    longest = max(len(line) for _, label in labels for line in label.splitlines())
    apart = labels[1][0] - labels[0][0] if len(labels) > 1 else 100
    return labels[:: math.ceil((PANEL_LETTER * longest + GAP) / apart)]


def _end_labels(scale: Scale, region: tuple[float, float] | None) -> list[float]:
    """The values whose heights are named: 1, and the ends of the region or of the scale."""
    low, high = region or (scale.low, scale.high)
    return [
        value
        for value in (high, 1.0, low)
        if value == 1.0 or abs(_y(scale, value) - _y(scale, 1)) > 14
    ]


def _y(scale: Scale, value: float) -> float:
    """The height of a value, in pixels from the panel's top."""
    inside = PANEL_PX - 2 * EDGE_PX
    return round(EDGE_PX + inside * (1 - scale.at(value) / 100), 1)


def _dot(scale: Scale, row: dict[str, Any], x: float) -> Dot:
    ratio = row["ratio"]
    low, high = ratio["low95"], ratio["high95"]
    return Dot(
        x,
        _y(scale, ratio["ratio"]),
        low_y=_y(scale, scale.low if low is None else low),
        high_y=_y(scale, scale.high if high is None else high),
        hollow=bool(row["emulates"]),
        text=f"here: {number_format.with_interval(ratio['ratio'], low, high)}",
    )


def _span(values: list[float]) -> str:
    return wording.ratio_range(values) if values else number_format.NONE


def note(paper: Paper, figure: Figure) -> Any:
    """The gravest finding at the figure's points, as one short note; None without any."""
    points = [row["point"] for row in figure["rows"] if row["state"] == "ok"]
    points += [
        point for row in figure["ranges"] if row["rerun"] is not None for point in row["points"]
    ]
    notes = findings_section.marks_of(paper).notes(points)
    return notes[0] if notes else None
