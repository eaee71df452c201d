"""Times along one factor, as paper.yaml declares them: printed and rerun, and what each step adds,
compared with what a wire takes and what the source states."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchbook import stats
from benchbook.analyse import pairwise
from benchbook.core.units import TIME, TIME_UNITS, VALUES
from benchbook.define.models import Setting, Sweep, SweepSeries
from benchbook.define.points import NOT_IN_PRESET, Point, expand
from benchbook.define.published import read_table
from benchbook.estimands import POINTWISE, Known, names_of, slope
from benchbook.judge.figures import cell
from benchbook.judge.resolved_claim import logs_of

LEAST_STEPS = 2  # values of the factor, below which nothing is said of a step
WIRE_BITS = 8
KEPT = ("id", "title", "experiment", "over", "text", "ways", "slopes", "speedup")
LACKING = {"state": "not_in_preset", "reason": NOT_IN_PRESET}


class Context(NamedTuple):
    """One paper's folder and the run of the experiment that a sweep names."""

    root: Path
    paper: str
    content: dict[str, Any]
    analysis: dict[str, Any]
    summaries: pd.DataFrame

    @property
    def known(self) -> Known:
        """The points by id."""
        return {point["point"]: point for point in self.analysis["points"]}


def sweep(declared: Sweep, context: Context) -> dict[str, Any]:
    """One sweep: {id, title, text, experiment, over, unit, ways, slopes, series, stated}.

    series: {id, label, emulates, values, slope, above, wire, printed_slope}. values: {at, point,
    state, reason, rerun, low, high, printed, invocations}, in the sweep's unit. slope, above:
    {estimate, low95, high95, blocks} of one way over one step, None where that cannot be told;
    `above` is how much steeper the series is than the one that it names. wire: what a frame takes.
    """
    own = {series.id: _points(series.points, declared, context) for series in declared.series}
    return {
        **{key: getattr(declared, key) for key in KEPT},
        "unit": declared.unit + (f" per {declared.per.word}" if declared.per else ""),
        "series": [_series(series, declared, own, context) for series in declared.series],
        "stated": _stated(declared, context),
    }


def _points(settings: list[Setting], declared: Sweep, context: Context) -> list[Point]:
    """The points of these settings on this host, in the order of the factor."""
    points, _ = expand(context.content, settings, context.analysis["sizes"])
    return sorted(points, key=lambda point: float(point.factors[declared.over]))


def _series(
    series: SweepSeries, declared: Sweep, own: dict[str, list[Point]], context: Context
) -> dict[str, Any]:
    points, printed = own[series.id], _printed(series, declared, context)
    if series.against:
        below = _points(series.against, declared, context)
        if declared.speedup:
            values = [
                _ratio(point, (below[0], point), printed, declared, context) for point in points
            ]
        else:
            pairs = zip(points, below, strict=True)
            values = [_ratio(pair[0], pair, printed, declared, context) for pair in pairs]
    else:
        values = [_value(point, declared, printed, context) for point in points]
    if declared.speedup:
        values += _printed_alone(values, printed)
    above = next((line for line in declared.series if line.id == series.above), None)
    lines = [points, own[above.id]] if above else []
    return {
        "id": series.id,
        "label": series.label,
        "printed_label": (series.printed and series.printed.label) or series.label,
        "emulates": next((value["emulates"] for value in values if value["emulates"]), ""),
        "values": values,
        "slope": _slope([points], declared, context) if declared.slopes else None,
        "above": _slope(lines, declared, context) if above else None,
        "above_label": above and above.label,
        "wire": _wire(declared, points),
        "printed_slope": _printed_slope(declared, printed) if declared.slopes else None,
    }


def _value(
    point: Point, declared: Sweep, printed: dict[float, float], context: Context
) -> dict[str, Any]:
    """One point of a line, in the sweep's unit."""
    seen = context.known.get(point.id, LACKING)
    at = point.factors[declared.over]
    per = TIME_UNITS[declared.unit] * _parts(at, declared)
    names = VALUES[TIME]
    return {
        "at": at,
        "point": point.id,
        "state": seen["state"],
        "reason": seen["reason"],
        "emulates": seen.get("emulates", ""),
        **{
            key: seen[name] / per if seen.get(name) is not None else None
            for key, name in names.items()
        },
        "printed": printed.get(float(at)),
        "invocations": pairwise.invocations(context.summaries, point.id, None, per, TIME),
    }


def _parts(at: float, declared: Sweep) -> float:
    """How many parts of the factor a point has, where times are told of one."""
    return at / declared.per.size if declared.per else 1.0


def _ratio(
    point: Point,
    sides: tuple[Point, Point],
    printed: dict[float, float],
    declared: Sweep,
    context: Context,
) -> dict[str, Any]:
    """The value at a point: the ratio of the times of two points, paired within blocks."""
    top, bottom = sides
    both = [context.known.get(side.id, LACKING) for side in sides]
    seen = next((measured for measured in both if measured["state"] != "ok"), both[0])
    paired = pairwise.paired(context.summaries, top.id, bottom.id, quantity=TIME)
    ratio = paired if paired and seen["state"] == "ok" else {}
    at = point.factors[declared.over]
    starts = pairwise.invocations(context.summaries, top.id, bottom.id, 1, TIME)
    return {
        "at": at,
        "point": point.id,
        "state": seen["state"],
        "reason": seen["reason"],
        "emulates": next(
            (measured["emulates"] for measured in both if measured.get("emulates")), ""
        ),
        "rerun": ratio.get("ratio"),
        "low": ratio.get("low95"),
        "high": ratio.get("high95"),
        "printed": printed.get(float(at)),
        "invocations": [start | {"rerun": start["ratio"]} for start in starts if start["ratio"]],
    }


def _printed_alone(
    values: list[dict[str, Any]], printed: dict[float, float]
) -> list[dict[str, Any]]:
    """Values of the source at which a line has no point."""
    places = {float(value["at"]) for value in values}
    nothing = dict.fromkeys(("rerun", "low", "high")) | {"emulates": "", "invocations": []}
    return [
        {
            "at": int(at) if at.is_integer() else at,
            "point": "",
            **LACKING,
            **nothing,
            "printed": value,
        }
        for at, value in sorted(printed.items())
        if at not in places
    ]


def _slope(lines: list[list[Point]], declared: Sweep, context: Context) -> dict[str, Any] | None:
    """What each step adds on the first of one or two lines, less that on the second, with its
    pointwise interval; None below LEAST_STEPS steps, or where no block holds all the points."""
    by_block = []
    for points in lines:
        points_by_id = context.known
        measured = [
            point for point in points if points_by_id.get(point.id, {}).get("state") == "ok"
        ]
        if len({point.factors[declared.over] for point in measured}) < LEAST_STEPS:
            return None
        keys = {key: getattr(declared, key) for key in ("unit", "over", "ways")}
        estimand = {"kind": "slope", "quantity": TIME, "points": [], **keys}
        roles = {"points": measured}
        logs = logs_of(estimand, names_of(roles), context.summaries, "median_ns")
        if logs is None or logs.dropna().empty:
            return None
        by_block.append(slope.of_blocks(estimand, roles, logs)[0])
    values = by_block[0] if len(by_block) == 1 else (by_block[0] - by_block[1]).dropna()
    if values.empty:
        return None
    interval = stats.signed_rank_interval(values.to_numpy(float), POINTWISE)
    return {
        "estimate": interval.estimate,
        "low95": interval.low,
        "high95": interval.high,
        "blocks": len(values),
    }


def _wire(declared: Sweep, points: list[Point]) -> float | None:
    """What a frame with this payload takes on the declared wire, in the sweep's unit."""
    wire = declared.wire
    if not wire:
        return None
    link = wire.link
    frames = {
        (
            point.factors.get(wire.payload),
            point.factors.get(link) if isinstance(link, str) else link,
        )
        for point in points
    }
    payload, bits_per_s = frames.pop()
    if frames or payload is None or not bits_per_s:
        return None
    bits = WIRE_BITS * (payload + wire.overhead_bytes)
    return float(bits / bits_per_s * 1e9 / TIME_UNITS[declared.unit])


def _printed(series: SweepSeries, declared: Sweep, context: Context) -> dict[float, float]:
    """The source's numbers for a line, by the factor's value."""
    named = series.printed
    if not named:
        return {}
    return {
        float(row[named.x]): float(row[named.y])
        / (float(row[named.against]) if named.against else _parts(float(row[named.x]), declared))
        for row in read_table(context.root, context.paper, named.table)
        if all(row[key] == str(value) for key, value in named.where.items())
    }


def _printed_slope(declared: Sweep, printed: dict[float, float]) -> float | None:
    if len(printed) < LEAST_STEPS:
        return None
    slopes = stats.slopes(list(printed), [list(printed.values())])
    return float(slopes[0]) / declared.ways


def _stated(declared: Sweep, context: Context) -> dict[str, str] | None:
    """What the source says that a step takes, as printed."""
    if declared.stated is None:
        return None
    named = declared.stated.cell
    table = read_table(context.root, context.paper, named.table)
    printed = cell(table, named.row, named.column, f"{context.paper}/{named.table}")
    return {"text": declared.stated.text, "printed": printed}
