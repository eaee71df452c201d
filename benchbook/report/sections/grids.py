"""Tables of several columns, all cells rerun: small multiples, a matrix, and what they say. The
columns are sizes, and the lines methods, or the other way round."""

from __future__ import annotations

import re
from typing import Any

from benchbook.core.units import TIME
from benchbook.define.published import words_of
from benchbook.report import foreign_words, wording
from benchbook.report.plots.grid import Mark, Panel, panels
from benchbook.report.plots.style import Picture
from benchbook.report.sections import equivalence
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections.paper_panels import colour_of
from benchbook.report.wording import Paper

Row = dict[str, Any]
_NUMBER = re.compile(r"=\s*([\d ]+)$")
MOST_COLUMNS = 7  # of a table that a page is wide enough for; a wider one stands on its side
_PREFIXES = ((10**9, "G"), (10**6, "M"), (10**3, "k"))


def groups(figure: dict[str, Any]) -> dict[str, list[Row]]:
    """The table's lines: name -> its cells in the order of the columns."""
    lines: dict[str, list[Row]] = {}
    for row in figure["rows"]:
        lines.setdefault(row["group"], []).append(row)
    return lines


def places(figure: dict[str, Any]) -> dict[str, int]:
    """Column -> its place along the axis; columns of one size, which are repeats, share it."""
    first = next(iter(groups(figure).values()))
    sizes = [_bytes(row) or row["column"] for row in first]
    order = list(dict.fromkeys(sizes))
    return {row["column"]: order.index(size) for row, size in zip(first, sizes, strict=True)}


def _bytes(row: Row) -> int | None:
    size = wording.parts_of(row["point"]).get("bytes", "") if row["point"] else ""
    return int(size) if size.isdigit() else None


def is_by_size(figure: dict[str, Any]) -> bool:
    """Whether the columns are sizes, so that a line is one method over them; else they are methods,
    compared at each line."""
    first = next(iter(groups(figure).values()))
    parts = [wording.parts_of(row["point"]) for row in first if row["point"]]
    return not any(
        part.get(key) != parts[0].get(key)
        for part in parts
        for key in part.keys() | parts[0].keys()
        if key != "bytes"
    )


def base_name(figure: dict[str, Any]) -> str:
    """What all cells of a line are divided by: `the first size`, or the name of a column."""
    if is_by_size(figure):
        return "the first size"
    return column_name(next(iter(groups(figure).values()))[0])


def column_name(row: Row) -> str:
    """A column's heading, without the parts that are not English; our words where all are not."""
    parts = str(row["label"]).split(", ")
    english = [part for part in parts if not foreign_words.has_foreign(part)]
    return ", ".join(english) or words_of(row["column"])


def other_names(figure: dict[str, Any]) -> list[str]:
    """The headings of all columns but the first."""
    first = next(iter(groups(figure).values()))
    return list(dict.fromkeys(column_name(row) for row in first[1:]))


def ratio_name(figure: dict[str, Any]) -> str:
    """What the cells of a line are drawn as: `rate ÷ rate at the first size`; of two methods `time
    of MPICH ÷ time of ours`."""
    quantity = figure["quantity"]
    if is_by_size(figure):
        return f"{quantity} ÷ {quantity} at the first size"
    names = other_names(figure)
    of = f" of {names[0]}" if len(names) == 1 else ""
    return f"{quantity}{of} ÷ {quantity} of {base_name(figure)}"


def column_label(label: str) -> str:
    """A heading's number with a prefix: `as_1=1 4000 0000` as `140M`; else the heading."""
    match = _NUMBER.search(label)
    if not match:
        return label
    number = int(match[1].replace(" ", ""))
    factor, prefix = next((pair for pair in _PREFIXES if number >= pair[0]), (1, ""))
    return f"{number / factor:g}{prefix}"


def tick_labels(paper: Paper, figure: dict[str, Any]) -> list[str]:
    """For each place the printed size, and below it the multiple of the caches here."""
    total = (paper["sizing"] or {}).get("total_llc_bytes")
    ticks: dict[int, str] = {}
    place_of = places(figure)
    for row in next(iter(groups(figure).values())):
        size = _bytes(row)
        times = f"\n{_multiple(size / total)}×" if total and size else ""
        label = row["label"]
        if foreign_words.has_foreign(label):  # our words lead; the table has the source's own
            label = words_of(row["column"])
        ticks.setdefault(place_of[row["column"]], column_label(label) + times)
    return [ticks[k] for k in sorted(ticks)]


def _multiple(value: float) -> str:
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def region(figure: dict[str, Any]) -> tuple[float, float] | None:
    """What counts as 1, where the columns are sizes and all claims of the figure agree on it."""
    if not is_by_size(figure):
        return None
    regions = {
        tuple(claim["region"]) for claim in figure["claims"] if equivalence.claims_no_effect(claim)
    }
    if len(regions) != 1:
        return None
    low, high = regions.pop()
    return (low, high) if low is not None and high is not None else None


def measured_cells(figure: dict[str, Any]) -> list[Row]:
    """Cells with a rerun, each point once."""
    return list({row["point"]: row for row in figure["rows"] if row["state"] == "ok"}.values())


def picture(paper: Paper, figure: dict[str, Any]) -> Picture | None:
    """A panel per line of the table: its cells as ratios to the first, published and rerun."""
    place_of, marks = places(figure), findings_section.marks_of(paper)
    drawn = [
        Panel(
            label=wording.line_name(figure, name),
            colour=colour_of(paper, next((row["point"] for row in rows if row["point"]), None)),
            published=[
                (place_of[row["column"]], row["printed_ratio"])
                for row in rows
                if row["printed_ratio"]
            ],
            here=[
                _mark(row, place_of[row["column"]], marks.names(row["point"]))
                for row in _once(rows)
            ],
        )
        for name, rows in groups(figure).items()
    ]
    total = (paper["sizing"] or {}).get("total_llc_bytes")
    along = ("size" if is_by_size(figure) else "column") + " as printed"
    along += "; below: ÷ last-level caches here" if total else ""
    return panels(
        f"rates-{figure['id']}",
        f"{figure['title']}. {title(paper, figure)}. {_told(figure)}"
        + marks.in_words(row["point"] for row in measured_cells(figure)),
        drawn,
        tick_labels(paper, figure),
        unit=ratio_name(figure),
        along=along,
        region=region(figure),
    )


def _once(rows: list[Row]) -> list[Row]:
    return [row for row in measured_cells({"rows": rows}) if row["ratio"]]


def is_itself(row: Row) -> bool:
    """Whether a cell is the one of which all of its line are multiples: it has no spread of its
    own."""
    ratio = row["ratio"]
    return bool(ratio["low95"] == ratio["high95"] == ratio["ratio"])


def _mark(row: Row, place: int, names: list[str]) -> Mark:
    ratio = row["ratio"]
    dots = [
        (invocation["ratio"], invocation["disturbed"])
        for invocation in row["invocations"]
        if invocation["ratio"]
    ]
    ends = ratio["low95"], ratio["high95"]
    return Mark(place, ratio["ratio"], *ends, [] if is_itself(row) else dots, names)


def _told(figure: dict[str, Any]) -> str:
    """Each line's range over the sizes, published and here, for those who do not see it."""
    parts = []
    for name, rows in groups(figure).items():
        there = _span([row["printed_ratio"] for row in rows if row["printed_ratio"]])
        here = _span([row["ratio"]["ratio"] for row in _once(rows)])
        line = wording.line_name(figure, name)
        parts.append(f"{line}: published {there}, here {here}")
    return "; ".join(parts) + "."


def _span(values: list[float]) -> str:
    return wording.ratio_range(values) if values else "not rerun"


def title(paper: Paper, figure: dict[str, Any]) -> str:
    """How far the rates spread over the sizes, here and as published; of methods, how they compare
    with the first of them."""
    if not is_by_size(figure):
        return _of_methods(figure)
    rerun = _once(figure["rows"])
    sizes = len({_bytes(row) for row in rerun})
    if sizes < 2:
        printed = [row["printed_ratio"] for row in figure["rows"] if row["printed_ratio"]]
        return (
            f"Published {figure['quantity']}s are {_span(printed)} times that at the first size; "
            f"preset {paper['preset']} measured no such ratio here"
        )
    points = {row["point"] for row in rerun}
    beside = [row for row in figure["rows"] if row["point"] in points and row["printed_ratio"]]
    here = _span([row["ratio"]["ratio"] for row in rerun])
    return (
        f"Over {sizes} sizes {figure['quantity']}s are {here} times that at the first here, "
        f"published {_span([row['printed_ratio'] for row in beside])}"
    )


def _of_methods(figure: dict[str, Any]) -> str:
    """`MPICH takes 0.911 to 2.84 times as long as MPI/MBCF here, published 2.14 to 13.6`."""
    first = next(iter(groups(figure).values()))
    others = other_names(figure)
    base = first[0]["column"]
    rows = [row for row in figure["rows"] if row["column"] != base and row["printed_ratio"]]
    rerun = [row for row in rows if row["state"] == "ok" and row["ratio"]]
    there = _span([row["printed_ratio"] for row in rerun or rows])
    takes, shows = ("takes", "shows") if len(others) == 1 else ("take", "show")
    who = wording.capitalised(others[0]) if len(others) == 1 else "The other columns"
    if figure["quantity"] == TIME:
        verb, what = takes, f"times as long as {base_name(figure)}"
    else:
        verb, what = shows, f"times the {figure['quantity']} of {base_name(figure)}"
    if not rerun:
        return f"{who} {verb} {there} {what} in print; not rerun here"
    here = _span([row["ratio"]["ratio"] for row in rerun])
    return f"{who} {verb} {here} {what} here, published {there}"


def matrix(paper: Paper, figure: dict[str, Any]) -> dict[str, Any]:
    """columns: {label, size}; lines: name -> cells {row, mark}; notes: mark -> why no rerun."""
    lacking = [row for row in figure["rows"] if row["state"] != "ok"]
    notes = wording.by_reason((wording.why_not_measured(paper, row), row) for row in lacking)
    letters = {reason: chr(ord("a") + k) for k, reason in enumerate(notes)}
    of = {id(row): letters[reason] for reason, rows in notes.items() for row in rows}
    return {
        "columns": [
            {"label": row["label"], "size": wording.bytes_of(size) if (size := _bytes(row)) else ""}
            for row in next(iter(groups(figure).values()))
        ],
        "lines": {
            name: [{"row": row, "mark": of.get(id(row), "")} for row in rows]
            for name, rows in groups(figure).items()
        },
        "notes": {mark: reason for reason, mark in letters.items()},
    }
