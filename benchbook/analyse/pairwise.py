"""What a page lays side by side: ratios within a figure, forms of one copy, sizes, odd pairs.

"Odd" is found by generic rules, never by a typed expectation: two methods that did all their work
on the same bytes should not differ, and a smaller size should not be slower than a larger one.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, NamedTuple

import pandas as pd

from benchbook import stats
from benchbook.analyse.null_tests import null_of, ratio_interval, smallest_effect
from benchbook.analyse.tables import rate
from benchbook.core.units import RATE, TIME, UNITS, quantity_of

SIZE = "bytes"
SWEEP_SIZES = 4  # below this a line over sizes says nothing
Point = dict[str, Any]
Place = tuple[str, str, str]  # table, group and column (or label) of a published cell


def paired(
    summaries: pd.DataFrame,
    top: str | None,
    bottom: str | None,
    claims: int = 1,
    measure: str = "median_ns",
    quantity: str = RATE,
) -> dict[str, Any] | None:
    """Ratio of two points' rates, or times: pointwise ends low95, high95, simultaneous ones low,
    high."""
    if not top or not bottom or summaries.empty:
        return None
    if top == bottom:
        blocks = int((summaries["point"] == top).sum())
        return {"ratio": 1.0, "low": 1.0, "high": 1.0, "low95": 1.0, "high95": 1.0} | {
            "half_width": 0.0,
            "blocks": blocks,
        }
    return ratio_interval(summaries, top, bottom, quantity, measure, claims)


def invocations(
    summaries: pd.DataFrame,
    name: str | None,
    reference: str | None,
    per: float,
    quantity: str = RATE,
) -> Any:
    """Each invocation of a point: its rate in units of `per` bytes per second, or its time in
    units of `per` ns, and its ratio to the reference's in the same block (None where that is
    missing)."""
    if summaries.empty:
        return []
    own = summaries[summaries["point"].isin([name, reference])]
    times = own["median_ns"]
    values = own.reindex(columns=["point", "block", "disturbed", "machine_state"], fill_value="")
    values["value"] = times if quantity == TIME else rate(own["bytes_declared"], times)
    base = values[values["point"] == reference].set_index("block")["value"]
    return [
        {
            "block": int(row["block"]),
            "rerun": row["value"] / per,
            "ratio": row["value"] / base[row["block"]] if row["block"] in base.index else None,
            "disturbed": bool(row["disturbed"]),
            "machine_state": str(row["machine_state"]),
        }
        for row in values[values["point"] == name].to_dict("records")
    ]


def printed(row: dict[str, Any]) -> float | None:
    """The published value of a row as a number; None where the source prints none."""
    try:
        value = float(row["printed"])
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value > 0 else None


def add_ratios(rows: list[dict[str, Any]], summaries: pd.DataFrame, unit: str) -> None:
    """Add to each row of a figure its ratio to the first row of its group, printed and rerun; of
    rates or of times, as the figure's unit has it."""
    per, quantity = UNITS[unit], quantity_of(unit)
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        reference = first.setdefault(row["group"], row)
        base = printed(reference)
        value = printed(row)
        measured = row["state"] == reference["state"] == "ok"
        row["reference"] = reference["label"]
        row["printed_ratio"] = value / base if value and base else None
        sides = row["point"], reference["point"]
        row["ratio"] = paired(summaries, *sides, quantity=quantity) if measured else None
        row["invocations"] = invocations(summaries, *sides, per, quantity)


def setting(point: Point) -> tuple[Any, ...]:
    """All that makes a point but its size."""
    factors = {key: value for key, value in point["factors"].items() if key != SIZE}
    return (point["variant"], *sorted(factors.items()))


def usable(points: list[Point]) -> dict[str, Point]:
    """Measured points of ours by id, twins left out."""
    return {
        point["point"]: point
        for point in points
        if point["state"] == "ok" and not point["twin"] and not point.get("peer")
    }


def of_figures(figures: list[dict[str, Any]], points: dict[str, Point]) -> list[tuple[Any, ...]]:
    """The settings that the figures' rows use, in their order, each once."""
    names = [row["point"] for figure in figures for row in figure["rows"]]
    return list(dict.fromkeys(setting(points[name]) for name in names if name in points))


def _reference(figures: list[dict[str, Any]], points: dict[str, Point]) -> tuple[Any, ...] | None:
    first = [figure["rows"][0]["point"] for figure in figures]
    return next((setting(points[name]) for name in first if name in points), None)


def forms(
    figures: list[dict[str, Any]], points: list[Point], summaries: pd.DataFrame
) -> list[dict[str, Any]]:
    """One point per setting of the figures, at the size that most of them share, with its ratio to
    the figures' first method at that size."""
    measured = usable(points)
    wanted = of_figures(figures, measured)
    base = _reference(figures, measured)
    at: dict[tuple[tuple[Any, ...], int | None], str] = {
        (setting(point), point["factors"].get(SIZE)): name for name, point in measured.items()
    }
    sizes = sorted({size for _, size in at if size is not None})
    share = {
        size: len(
            {
                dict(method_setting[1:]).get("method")
                for method_setting in wanted
                if (method_setting, size) in at
            }
        )
        for size in sizes
    }
    order: list[int | None] = [*sorted(sizes, key=lambda size: (-share[size], size))] or [None]
    chosen: dict[str, dict[str, Any]] = {}
    for method_setting in wanted:
        size = next((size for size in order if (method_setting, size) in at), None)
        point = measured[at[(method_setting, size)]]
        method = str(point["factors"].get("method", point["variant"]))
        smaller = chosen.get(method, point)["factors"].get("block_bytes") or math.inf
        if method in chosen and (point["factors"].get("block_bytes") or math.inf) >= smaller:
            continue
        chosen[method] = {
            **{key: point[key] for key in ("point", "variant", "factors", "observations")},
            "ratio": paired(summaries, point["point"], at.get((base, size)) if base else None),
        }
    return list(chosen.values())


def sweep(
    figures: list[dict[str, Any]], points: list[Point], summaries: pd.DataFrame, per: float
) -> list[dict[str, Any]]:
    """Rate by size, one series per method: of its settings in the figures the one with most sizes.

    Empty where no method was measured at SWEEP_SIZES sizes.
    """
    measured = usable(points)
    best: dict[str, list[Point]] = {}
    for figure_setting in of_figures(figures, measured):
        same = [point for point in measured.values() if setting(point) == figure_setting]
        same = sorted((p for p in same if SIZE in p["factors"]), key=lambda p: p["factors"][SIZE])
        method = str(same[0]["factors"].get("method", "")) if same else ""
        if len(same) > len(best.get(method, [])):
            best[method] = same
    return [_curve(same, summaries, per) for same in best.values() if len(same) >= SWEEP_SIZES]


def curves(points: list[Point], summaries: pd.DataFrame, per: float) -> list[dict[str, Any]]:
    """Rate by size of every setting that was measured at SWEEP_SIZES sizes, with its last knee."""
    by_setting: dict[tuple[Any, ...], list[Point]] = {}
    for point in usable(points).values():
        if SIZE in point["factors"] and point["rate_bytes_per_s"]:
            by_setting.setdefault(setting(point), []).append(point)
    return [
        _curve(sorted(same, key=lambda point: point["factors"][SIZE]), summaries, per)
        for same in by_setting.values()
        if len(same) >= SWEEP_SIZES
    ]


def _curve(same: list[Point], summaries: pd.DataFrame, per: float) -> dict[str, Any]:
    """Points of one setting, by size: rates in units of `per` bytes per second."""
    sizes = [point["factors"][SIZE] for point in same]
    knee = stats.last_knee(sizes, [point["rate_bytes_per_s"] for point in same])
    return {
        "method": str(same[0]["factors"].get("method", "")),
        "factors": {k: v for k, v in same[0]["factors"].items() if k != SIZE},
        "variant": same[0]["variant"],
        "knee": knee and {"low_bytes": knee.low, "high_bytes": knee.high, "ratio": knee.ratio},
        "values": [
            {
                "point": point["point"],
                "bytes": point["factors"][SIZE],
                "rerun": point["rate_bytes_per_s"] / per,
                "low": _scaled(point["rate_low_bytes_per_s"], per),
                "high": _scaled(point["rate_high_bytes_per_s"], per),
                "invocations": [
                    invocation["rerun"]
                    for invocation in invocations(summaries, point["point"], None, per)
                ],
            }
            for point in same
        ],
    }


def _scaled(value: float | None, per: float) -> float | None:
    return None if value is None else value / per


def repeats(figures: list[dict[str, Any]]) -> dict[str, Any]:
    """How far the paper's own figures repeat: cells of one machine that name one point.

    `ratio` is the furthest, 1 or above; None where the paper prints nothing twice.
    """
    twice: dict[frozenset[Place], list[float]] = {}  # cells of one table count once
    for cells in _published(figures).values():
        for machine in {cell.machine for cell in cells}:
            own = [cell for cell in cells if cell.machine == machine]
            twice[frozenset(cell.place for cell in own)] = [cell.value for cell in own]
    furthest = [max(seen) / min(seen) for seen in twice.values() if len(seen) > 1]
    return {"points": len(furthest), "ratio": max(furthest, default=None)}


class Cell(NamedTuple):
    """A published value, and where it stands."""

    table: str
    place: Place
    machine: str
    value: float


def _published(figures: list[dict[str, Any]]) -> dict[str, list[Cell]]:
    """Point -> its published values; a table that two figures show counts once."""
    values: dict[str, dict[Place, Cell]] = {}
    for figure in figures:
        for row in figure["rows"]:
            value = printed(row)
            if value and row["point"]:
                place = (figure["table"], row["group"], row["column"] or row["label"])
                cell = Cell(figure["id"], place, figure["machine"], value)
                values.setdefault(row["point"], {}).setdefault(place, cell)
    return {name: list(cells.values()) for name, cells in values.items()}


def odd(
    figures: list[dict[str, Any]], points: list[Point], summaries: pd.DataFrame
) -> dict[str, Any]:
    """Pairs that differ though both sides did all their work; see the head of this module.

    Published ratios count beyond the paper's own repeats, reruns beyond their interval and the
    smallest effect. The intervals are pointwise: this looks for questions, it decides no claim.
    """
    measured = usable(points)
    wanted = set(of_figures(figures, measured))
    published = _published(figures)
    sizes = {measured[name]["factors"].get(SIZE) for name in published if name in measured}
    honest = [
        point
        for point in measured.values()
        if setting(point) in wanted
        and point["factors"].get(SIZE) in sizes
        and point["observations"].get("work_done_fraction") == 1
        and not point.get("emulates")
    ]
    pairs = [
        (kind, *sides)
        for first, second in combinations(honest, 2)
        for kind, *sides in [_kind(first, second)]
        if kind
    ]
    null = null_of(points, summaries, 1)
    again = repeats(figures)["ratio"]
    compared = []
    for kind, top, bottom in pairs:
        interval = paired(summaries, top["point"], bottom["point"])
        ratios = _printed_ratios(kind, published, top["point"], bottom["point"])
        smallest = smallest_effect(interval, null) if interval else None
        here = bool(
            interval
            and smallest
            and not interval["low95"] <= 1 <= interval["high95"]
            and abs(math.log(interval["ratio"])) > smallest.log_effect
        )
        there = [ratio for ratio in ratios if again is None or max(ratio, 1 / ratio) > again]
        if kind == "sizes":  # slower at the larger size is what caches do
            here = here and interval is not None and interval["ratio"] < 1
            there = [ratio for ratio in there if ratio < 1]
        compared.append(
            {
                "kind": kind,
                "top": top["point"],
                "bottom": bottom["point"],
                "published": ratios,
                "rerun": interval,
                "smallest_effect": smallest.ratio if smallest else None,
                "differs_published": bool(there),
                "differs_here": here,
            }
        )
    odd_ones = [pair for pair in compared if pair["differs_published"] or pair["differs_here"]]
    odd_ones.sort(key=_widest)
    return {"compared": len(compared), "repeats": repeats(figures), "pairs": odd_ones}


def _widest(pair: dict[str, Any]) -> tuple[bool, float]:
    """Methods before sizes, the widest published difference first."""
    widths = [abs(math.log(ratio)) for ratio in pair["published"]]
    return pair["kind"] != "methods", -max(widths, default=0.0)


def _kind(first: Point, second: Point) -> tuple[Any, ...]:
    """methods (the same bytes, other methods), sizes (one setting, the smaller on top), or none."""
    sizes = [point["factors"].get(SIZE) for point in (first, second)]
    if sizes[0] == sizes[1]:
        differ = first["factors"].get("method") != second["factors"].get("method")
        # An addition moves three arrays and a copy two: nothing says that their rates are one.
        differ = differ and first["bytes_per_call"] == second["bytes_per_call"]
        # The method that stands first in the figures is what the other is compared with.
        return ("methods", second, first) if differ else (None,)
    if setting(first) == setting(second) and None not in sizes:
        return ("sizes", *sorted((first, second), key=lambda point: point["factors"][SIZE]))
    return (None,)


def _printed_ratios(
    kind: str, published: dict[str, list[Cell]], top: str, bottom: str
) -> list[float]:
    """Printed ratios: within one table for methods, over all tables of a machine for sizes."""
    return [
        row.value / base.value
        for row in published.get(top, [])
        for base in published.get(bottom, [])
        if row.machine == base.machine and (kind == "sizes" or row.table == base.table)
    ]
