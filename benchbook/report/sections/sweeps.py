"""What a page shows of the sweeps that a paper declares: times along a factor, and each step."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.plots.palette import PALETTE
from benchbook.report.plots.style import Picture
from benchbook.report.plots.sweep import RATIO, Curve, curves
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections.paper_panels import EMULATED
from benchbook.report.wording import Paper

Sweep = dict[str, Any]
Series = dict[str, Any]
CAPTION = (
    "Dots with a line: this machine, with pointwise 95\u00a0% intervals; faint dots: single "
    "invocations."
)
PUBLISHED = "Diamonds on dotted lines: as published."


def along(sweep: Sweep) -> str:
    """The factor in words, as below an axis."""
    name = str(sweep["over"])
    return f"{name.removesuffix('_bytes').replace('_', ' ')}{', bytes' * name.endswith('_bytes')}"


def picture(paper: Paper, sweep: Sweep) -> Picture | None:
    """Times along the factor, a line for each series."""
    found = findings_section.of(paper)
    lines = [
        Curve(
            label=series["label"],
            colour=PALETTE[k % len(PALETTE)],
            values=[
                (
                    one["at"],
                    one["rerun"],
                    one["low"],
                    one["high"],
                    [each["rerun"] for each in one["invocations"]],
                )
                for one in measured(series)
            ],
            published=[
                (one["at"], one["printed"])
                for one in series["values"]
                if one["printed"] is not None
            ],
            emulated=bool(series["emulates"]),
            published_label=series["printed_label"],
            marks=[found.names(one["point"]) for one in measured(series)],
        )
        for k, series in enumerate(sweep["series"])
    ]
    if not any(line.values for line in lines):
        return None
    told = [f"{line.label} from {_ends(line)}" for line in lines if line.values]
    alt = f"{sweep['title']}, in {sweep['unit']}: {'; '.join(told)}."
    alt += found.told(one["point"] for series in sweep["series"] for one in measured(series))
    return curves(f"sweep-{sweep['id']}", alt, lines, sweep["unit"], along(sweep))


def _ends(line: Curve) -> str:
    first, last = (number_format.number(line.values[k][1]) for k in (0, -1))
    return f"{first} to {last}"


def measured(series: Series) -> list[dict[str, Any]]:
    """The points of a line that were measured."""
    return [one for one in series["values"] if one["rerun"] is not None]


def points(sweep: Sweep) -> list[str]:
    """All measured points of a sweep."""
    return [one["point"] for series in sweep["series"] for one in measured(series)]


def title(sweep: Sweep) -> str:
    """What a step adds on the steepest line here, or from where to where the times go."""
    known = [one for one in sweep["series"] if one["slope"]]
    if not known:
        ends = [one["rerun"] for series in sweep["series"] for one in measured(series)]
        if not ends:
            return f"{sweep['title']}: nothing of it was measured"
        least, most = number_format.number(min(ends)), number_format.number(max(ends))
        span = least if least == most else f"from {least} to {most}"
        if sweep["unit"] != RATIO:
            return f"{sweep['title']}: {span} {sweep['unit']}"
        there = [one["printed"] for series in sweep["series"] for one in series["values"]]
        known = [one for one in there if one is not None]
        said = f", published {wording.ratios(known)}" if known else ""
        return f"{sweep['title']}: {span} times here{said}"
    least, most = (of(known, key=lambda one: float(one["slope"]["estimate"])) for of in (min, max))
    said = f"{_one_step(sweep)} adds {_number(most['slope'])} {sweep['unit']} with {most['label']}"
    if least is not most:
        said += f", {_number(least['slope'])} with {least['label']}"
    return wording.upper(said)


def _one_step(sweep: Sweep) -> str:
    name = str(sweep["over"])
    word = name.removesuffix("es") if name.endswith("ches") else name.removesuffix("s")
    return f"a {word}{', one way,' if sweep['ways'] == 2 else ''}"


def _number(found: dict[str, Any]) -> str:
    return number_format.number(found["estimate"], found["low95"], found["high95"])


def interval(found: dict[str, Any] | None) -> str:
    """`8.7 (8.6 to 8.9)`; a dash for none."""
    if not found:
        return number_format.NONE
    return number_format.with_interval(found["estimate"], found["low95"], found["high95"])


def caption(sweep: Sweep) -> str:
    """How to read the marks."""
    said = [CAPTION]
    if printed(sweep):
        said.append(PUBLISHED)
    emulated = {one["emulates"] for one in sweep["series"] if one["emulates"]}
    said += [EMULATED.format(one) for one in sorted(emulated)]
    return " ".join(said)


def printed(sweep: Sweep) -> bool:
    """Whether the source prints any of its points."""
    return any(one["printed"] is not None for series in sweep["series"] for one in series["values"])


def lacking(paper: Paper, sweep: Sweep) -> dict[str, list[str]]:
    """Why points of a sweep were not measured -> which."""
    found: dict[str, list[str]] = {}
    for series in sweep["series"]:
        places: dict[str, list[str]] = {}
        for one in series["values"]:
            if one["rerun"] is None:
                places.setdefault(wording.not_measured(paper, one), []).append(str(one["at"]))
        for reason, at in places.items():
            found.setdefault(reason, []).append(f"{series['label']} at {number_format.listed(at)}")
    return found


def sentences(sweep: Sweep) -> list[str]:
    """What a wire and the source say of a step, beside what was seen of one here."""
    said = []
    wires = {one["wire"]: one["label"] for one in sweep["series"] if one["wire"]}
    unit = sweep["unit"]
    if len(wires) == 1:
        said.append(
            f"A frame of this payload takes {number_format.number(next(iter(wires)))} {unit} "
            "on the wire: "
            "so much a switch adds at least that stores each frame whole before it forwards it."
        )
    if sweep["stated"]:
        stated = sweep["stated"]
        said.append(f"The source states about {stated['printed']} {unit} for {stated['text']}.")
    printed = [one for one in sweep["series"] if one["printed_slope"] is not None]
    if printed:
        each = number_format.listed(
            [f"{number_format.number(one['printed_slope'])} ({one['label']})" for one in printed]
        )
        which = (
            "slope of its own figures is" if len(printed) == 1 else "slopes of its own figures are"
        )
        said.append(f"The {which} {each} {unit}.")
    return said


def beside_wire(series: Series) -> str:
    """How much steeper a line is than the one that it stands above, and how that compares with what
    the frame takes on the wire: `4.6 (4.4 to 4.8), 99 % of …`; a dash for no such line."""
    if not series["above"]:
        return number_format.NONE
    text = interval(series["above"])
    if not series["wire"]:
        return text
    share = number_format.share(series["above"]["estimate"] / series["wire"])
    return f"{text}, {share} of the wire’s"
