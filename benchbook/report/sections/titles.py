"""Titles of pictures: what each shows, as a finding with its figures, not the names of its axes."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.core.units import TIME
from benchbook.report import wording
from benchbook.report.wording import Paper

HARDLY = 1.05  # first ÷ last rate of a sweep, below which the rate is not said to fall
LISTED = 3  # published ratios; of more only the ends are told


def _span(values: list[float]) -> str:
    ends = list(dict.fromkeys(f"{end:.2g}" for end in (min(values), max(values))))
    return " to ".join(ends)


def _to_tell(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that do not emulate; all of them where all emulate."""
    return [row for row in rows if not row["emulates"]] or rows


def _simulated(row: dict[str, Any]) -> str:
    return " (simulated)" if row["emulates"] else ""


def overview(paper: Paper) -> str:
    """Rows that do less than they declare against those that do all, here and as published."""
    stuck: list[dict[str, Any]] = []
    honest: list[dict[str, Any]] = []
    # What the first picture shows: the figures of one quantity.
    every = [figure for figure in paper["figures"] if figure["rows"]]
    drawn = [figure for figure in every if figure["quantity"] == every[0]["quantity"]]
    for row in _to_tell([row for figure in drawn for row in figure["rows"][1:] if row["ratio"]]):
        (stuck if wording.mechanism(paper, row["point"]) else honest).append(row)
    if not stuck and not honest:
        return "Only the first method was rerun"
    if drawn[0]["quantity"] == TIME:
        return _slowest(drawn)
    base = next(figure["rows"][0]["label"] for figure in paper["figures"] if figure["rows"])
    parts = []
    kinds = [(stuck, "What copies less than it declares"), (honest, "what copies all")]
    if not stuck:
        kinds = [(honest, "the last row" if len(honest) == 1 else "each other row")]
        base = "the first of its table"
    for rows, who in kinds:
        if rows:
            here = _span([row["ratio"]["ratio"] for row in rows])
            there = [row["printed_ratio"] for row in rows if row["printed_ratio"]]
            notes = ["simulated"] if rows[0]["emulates"] else []
            notes += [f"published {_span(there)}"] if there else []
            aside = f" ({'; '.join(notes)})" if notes else ""
            parts.append(f"{who} shows {here} times {base} here{aside}")
    return wording.capitalised("; ".join(parts))


def _slowest(figures: list[dict[str, Any]]) -> str:
    """The row of figures of times that takes longest compared with the first of its figure."""
    every = [row for figure in figures for row in figure["rows"][1:] if row["ratio"]]
    row = max(_to_tell(every), key=lambda row: row["ratio"]["ratio"])
    of = next(figure for figure in figures if any(row is candidate for candidate in figure["rows"]))
    ratio = row["ratio"]
    here = number_format.number(ratio["ratio"], ratio["low95"], ratio["high95"])
    there = (
        f", published {number_format.number(row['printed_ratio'])}" if row["printed_ratio"] else ""
    )
    name, base = (wording.row_name(of, named) for named in (row, of["rows"][0]))
    text = f"{name} {_verb(name, 'takes')} up to {here} times as long as {base} here"
    return wording.capitalised(f"{text}{_simulated(row)}{there}")


def _verb(name: str, of_one: str) -> str:
    """The verb as it agrees with a row's name: `one socket takes`, `4 switches take`."""
    first = name.split()[0]
    if not first.isdigit() or first == "1":
        return of_one
    return "are" if of_one == "is" else of_one.removesuffix("s")


def _is_faster(row: dict[str, Any]) -> bool:
    """Whether a time is shorter than that of the first row, here and in print."""
    ratio, printed = row["ratio"], row["printed_ratio"]
    return ratio["ratio"] > 0 and max(ratio["ratio"], printed or 0) < 1


def figure(paper: Paper, figure: dict[str, Any]) -> str:
    """The figure's most telling row: the one that copies least, else the last one measured. Where
    its rows do not do the same work, how far they lie apart."""
    if not figure.get("comparable", True):
        return _of_unlike_rows(figure)
    base, *rows = figure["rows"]
    of_base = wording.row_name(figure, base)
    measured = _to_tell([row for row in rows if row["ratio"]])
    if not measured:
        printed = [row for row in rows if row["printed_ratio"]]
        if figure["quantity"] == TIME and len(printed) == 1 and printed[0]["printed_ratio"] < 1:
            name = wording.row_name(figure, printed[0])
            fast = number_format.number(1 / printed[0]["printed_ratio"])
            text = f"{name} {_verb(name, 'is')} {fast} times as fast as {of_base} in print"
            return f"{wording.capitalised(text)}; {_lacking(figure)}"
        ratios_in_words = [
            f"{wording.row_name(figure, row)} {number_format.number(row['printed_ratio'])}"
            for row in printed
        ]
        if len(ratios_in_words) > LISTED:
            ratios = [row["printed_ratio"] for row in printed]
            ratios_in_words = [
                f"{number_format.number(min(ratios))} to {number_format.number(max(ratios))}"
            ]
        there = number_format.listed(ratios_in_words)
        return f"Published: {there} times {of_base}; {_lacking(figure)}"
    row = next((row for row in measured if wording.mechanism(paper, row["point"])), measured[-1])
    name, ratio = wording.row_name(figure, row), row["ratio"]
    here = number_format.number(ratio["ratio"], ratio["low95"], ratio["high95"])
    because = wording.mechanism(paper, row["point"])
    there = (
        f", published {number_format.number(row['printed_ratio'])}" if row["printed_ratio"] else ""
    )
    there = _simulated(row) + there
    if figure["quantity"] == TIME and _is_faster(row):
        here = number_format.number(
            1 / ratio["ratio"], *(end and 1 / end for end in (ratio["high95"], ratio["low95"]))
        )
        there = _simulated(row)
        if row["printed_ratio"]:
            there += f", published {number_format.number(1 / row['printed_ratio'])}"
        text = f"{name} {_verb(name, 'is')} {here} times as fast as {of_base} here{there}"
    elif figure["quantity"] == TIME:
        text = f"{name} {_verb(name, 'takes')} {here} times as long as {of_base} here{there}"
    else:
        text = f"{name} {_verb(name, 'shows')} {here} times {of_base} here{there}"
    return wording.capitalised(text + (f": it {because}" if because else ""))


def _of_unlike_rows(figure: dict[str, Any]) -> str:
    """`Times of 5 rows from 0.00931 to 0.0623 s here, of 7 from 4.81 to 232 s in print`."""
    here = [row["rerun"] for row in figure["rows"] if row["state"] == "ok" and row["rerun"]]
    values = (wording.printed_value(row) for row in figure["rows"])
    there = [value for value in values if value]
    parts = [
        f"{len(numbers)} from {wording.ratio_range(numbers)} {figure['y_unit']} {where}"
        for numbers, where in ((here, "here"), (there, "in print"))
        if numbers
    ]
    return wording.capitalised(f"{figure['quantity']}s: {number_format.listed(parts)}")


def _lacking(figure: dict[str, Any]) -> str:
    """Why a figure has no ratio of this machine."""
    of_base = wording.row_name(figure, figure["rows"][0])
    if not any(row["state"] == "ok" for row in figure["rows"]):
        return "not rerun"
    done = figure["rows"][0]["state"] == "ok"
    return f"only {of_base} was rerun" if done else f"{of_base} was not rerun"


def ranges(figure: dict[str, Any]) -> str:
    """The widest range of the rerun beside the widest that is printed."""
    measured = [row for row in figure["ranges"] if row["rerun"] is not None]
    printed = max(float(row["printed"]) for row in figure["ranges"])
    widest = max(measured, key=lambda row: row["rerun"])
    here = number_format.number(widest["rerun"], widest["low"], widest["high"])
    return (
        f"The rates spread by up to {here} % over the sizes here, by up to {printed:g} % in print"
    )


def forms(paper: Paper, experiment: dict[str, Any]) -> str:
    """Which forms deliver less than they declare, and which deliver all."""
    names: dict[bool, list[str]] = {True: [], False: []}
    for form in experiment["forms"]:
        less = bool(wording.mechanism(paper, form["point"]))
        names[less].append(wording.method_name(paper, form["point"]))
    if not names[True]:
        return "Every form delivers all that it declares"
    text = f"{number_format.listed(names[True])} copy the same source block every time"
    if len(names[True]) == 1:
        text = text.replace(" copy one ", " copies one ")
    return wording.capitalised(
        text + (f"; {number_format.listed(names[False])} do not" if names[False] else "")
    )


def odd(paper: Paper, experiment: dict[str, Any]) -> str:
    """The widest of the pairs."""
    pair = experiment["odd"]["pairs"][0]
    top, bottom = (wording.method_name(paper, pair[side]) for side in ("top", "bottom"))
    if pair["kind"] == "sizes":
        sizes = [wording.size_of(pair[side]) for side in ("top", "bottom")]
        text = f"{top} at {sizes[0]} shows {{}} times its rate at {sizes[1]}"
    else:
        text = f"{top} shows {{}} times the rate of {bottom} for the same bytes"
    there = wording.ratio_range(pair["published"])
    here = ""
    if pair["rerun"]:
        ends = pair["rerun"]["low95"], pair["rerun"]["high95"]
        here = f", here {number_format.number(pair['rerun']['ratio'], *ends)}"
    return wording.capitalised(text.format(there)) + f" in the paper{here}"


def sweep(experiment: dict[str, Any]) -> str:
    """How much the first method and the least falling one slow down from end to end."""
    falls = {}
    for series in experiment["sweep"]:
        name = experiment["names"].get(series["method"], series["method"])
        falls[name] = series["values"][0]["rerun"] / series["values"][-1]["rerun"]
    first = next(iter(falls))
    least = min(falls, key=lambda name: falls[name])
    ends = [experiment["sweep"][0]["values"][k]["bytes"] for k in (0, -1)]
    text = (
        f"From {wording.bytes_of(ends[0])} to {wording.bytes_of(ends[1])} the rate of "
        f"{first} falls "
    )
    text += f"{falls[first]:.2g}-fold"
    if least == first:
        return text
    hardly = falls[least] < HARDLY
    return f"{text}, that of {least} {'hardly' if hardly else f'{falls[least]:.2g}-fold'}"
