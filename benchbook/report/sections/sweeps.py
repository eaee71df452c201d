"""What a page shows of the sweeps that a paper declares: times along a factor, and each step."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.plots.palette import PALETTE
from benchbook.report.plots.style import Picture
from benchbook.report.plots.sweep import AUTOMATIC, RATIO, SPEEDUP, Curve, curves
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections.paper_panels import EMULATED
from benchbook.report.wording import Paper

Sweep = dict[str, Any]
Series = dict[str, Any]
CAPTION = (
    "Dots with a line: this machine, with pointwise 95\u00a0% intervals; small dots: single runs."
)
PUBLISHED = "Diamonds on dotted lines: as published."
PUBLISHED_ALONE = "Diamonds: as published. Grey line: a speed-up equal to the number of ranks."


def axis_label(sweep: Sweep) -> str:
    """The factor in words, as below an axis."""
    name = str(sweep["over"])
    return f"{name.removesuffix('_bytes').replace('_', ' ')}{', bytes' * name.endswith('_bytes')}"


def picture(paper: Paper, sweep: Sweep) -> Picture | None:
    """Times along the factor, a line for each series."""
    marks = findings_section.marks_of(paper)
    lines = [
        Curve(
            label=series["label"],
            colour=PALETTE[k % len(PALETTE)],
            values=[
                (
                    value["at"],
                    value["rerun"],
                    value["low"],
                    value["high"],
                    [each["rerun"] for each in value["invocations"]],
                )
                for value in drawn_values(sweep, series)
            ],
            published=[
                (value["at"], value["printed"])
                for value in series["values"]
                if value["printed"] is not None
            ],
            emulated=bool(series["emulates"]),
            published_label=series["printed_label"],
            marks=[marks.names(value["point"]) for value in drawn_values(sweep, series)],
        )
        for k, series in enumerate(sweep["series"])
    ]
    if not any(line.values for line in lines):
        return None
    lines_in_words = [f"{line.label} from {_ends(line)}" for line in lines if line.values]
    alt = f"{sweep['title']}, in {sweep['unit']}: {'; '.join(lines_in_words)}."
    alt += marks.in_words(
        value["point"] for series in sweep["series"] for value in measured_values(series)
    )
    scale = SPEEDUP if is_speedup(sweep) else AUTOMATIC
    unit = scale if is_speedup(sweep) else sweep["unit"]
    return curves(f"sweep-{sweep['id']}", alt, lines, unit, axis_label(sweep), scale)


def is_speedup(sweep: Sweep) -> bool:
    """Whether its ratios are how many times as fast a program is as at one point."""
    return bool(sweep.get("speedup"))


def _ends(line: Curve) -> str:
    first, last = (number_format.number(line.values[k][1]) for k in (0, -1))
    return f"{first} to {last}"


def measured_values(series: Series) -> list[dict[str, Any]]:
    """The points of a line that were measured."""
    return [value for value in series["values"] if value["rerun"] is not None]


def drawn_values(sweep: Sweep, series: Series) -> list[dict[str, Any]]:
    """The measured points of a line in the picture; none where a speed-up has only what it is
    compared with."""
    values = measured_values(series)
    return [] if is_speedup(sweep) and len(values) < 2 else values


def points(sweep: Sweep) -> list[str]:
    """All measured points of a sweep."""
    return [value["point"] for series in sweep["series"] for value in measured_values(series)]


def title(sweep: Sweep) -> str:
    """What a step adds on the steepest line here, or from where to where the times go."""
    sloped = [series for series in sweep["series"] if series["slope"]]
    if not sloped:
        ends = [
            value["rerun"]
            for series in sweep["series"]
            for value in measured_values(series)
            # A program is as fast as itself.
            if not (is_speedup(sweep) and value["rerun"] == value["low"] == value["high"] == 1)
        ]
        if not ends:
            return f"{sweep['title']}: nothing of it was measured"
        span = wording.ratio_range(ends)
        span = f"from {span}" if " to " in span else span
        if sweep["unit"] != RATIO:
            return f"{sweep['title']}: {span} {sweep['unit']}"
        there = [value["printed"] for series in sweep["series"] for value in series["values"]]
        sloped = [value for value in there if value is not None]
        there_in_words = f", published {wording.ratio_range(sloped)}" if sloped else ""
        return f"{sweep['title']}: {span} times here{there_in_words}"
    least, most = (
        of(sloped, key=lambda series: float(series["slope"]["estimate"])) for of in (min, max)
    )
    there_in_words = (
        f"{_one_step(sweep)} adds {_number(most['slope'])} {sweep['unit']} with {most['label']}"
    )
    if least is not most:
        there_in_words += f", {_number(least['slope'])} with {least['label']}"
    return wording.capitalised(there_in_words)


def _one_step(sweep: Sweep) -> str:
    name = str(sweep["over"])
    word = name.removesuffix("es") if name.endswith("ches") else name.removesuffix("s")
    return f"a {word}{', one way,' if sweep['ways'] == 2 else ''}"


def _number(slope: dict[str, Any]) -> str:
    return number_format.number(slope["estimate"], slope["low95"], slope["high95"])


def slope_with_interval(slope: dict[str, Any] | None) -> str:
    """`8.7 (8.6 to 8.9)`; a dash for none."""
    if not slope:
        return number_format.NONE
    return number_format.with_interval(slope["estimate"], slope["low95"], slope["high95"])


def caption(sweep: Sweep) -> str:
    """How to read the marks."""
    text = [CAPTION]
    if has_published_values(sweep):
        text.append(PUBLISHED_ALONE if is_speedup(sweep) else PUBLISHED)
    emulated = {series["emulates"] for series in sweep["series"] if series["emulates"]}
    text += [EMULATED.format(what) for what in sorted(emulated)]
    return " ".join(text)


def has_published_values(sweep: Sweep) -> bool:
    """Whether the source prints any of its points."""
    return any(
        value["printed"] is not None for series in sweep["series"] for value in series["values"]
    )


def lacking(paper: Paper, sweep: Sweep) -> dict[str, list[str]]:
    """Why points of a sweep were not measured -> which."""
    places_by_reason: dict[str, list[str]] = {}
    for series in sweep["series"]:
        places: dict[str, list[str]] = {}
        for value in series["values"]:
            if value["rerun"] is None:
                places.setdefault(wording.why_not_measured(paper, value), []).append(
                    str(value["at"])
                )
        for reason, at in places.items():
            places_by_reason.setdefault(reason, []).append(
                f"{series['label']} at {number_format.listed(at)}"
            )
    return places_by_reason


def sentences(sweep: Sweep) -> list[str]:
    """What a wire and the source say of a step, beside what was seen of one here."""
    text = []
    wires = {series["wire"]: series["label"] for series in sweep["series"] if series["wire"]}
    unit = sweep["unit"]
    if len(wires) == 1:
        text.append(
            f"A frame of this payload takes {number_format.number(next(iter(wires)))} {unit} "
            "on the wire: "
            "a store-and-forward switch must add at least this much."
        )
    if sweep["stated"]:
        stated = sweep["stated"]
        text.append(f"The source states about {stated['printed']} {unit} for {stated['text']}.")
    printed = [series for series in sweep["series"] if series["printed_slope"] is not None]
    if printed:
        each = number_format.listed(
            [
                f"{number_format.number(series['printed_slope'])} ({series['label']})"
                for series in printed
            ]
        )
        which = (
            "slope of its own figures is" if len(printed) == 1 else "slopes of its own figures are"
        )
        text.append(f"The {which} {each} {unit}.")
    return text


def excess_over_wire(series: Series) -> str:
    """How much steeper a line is than the one that it stands above, and how that compares with what
    the frame takes on the wire: `4.6 (4.4 to 4.8), 99 % of …`; a dash for no such line."""
    if not series["above"]:
        return number_format.NONE
    text = slope_with_interval(series["above"])
    if not series["wire"]:
        return text
    share = number_format.share(series["above"]["estimate"] / series["wire"])
    return f"{text}, {share} of the wire’s"
