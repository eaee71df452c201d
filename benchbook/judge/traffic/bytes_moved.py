"""Bytes and lines by point, as counters or a simulation tell them.

A value is {value, state, source, reason}; what was neither counted nor simulated has no value, and
what is made of two values has the state of the weaker.
"""

from __future__ import annotations

from typing import Any

from benchbook.define.points import COUNTS, Point

READ, WRITTEN = "bytes_read_from_memory", "bytes_written_to_memory"
LINES_READ, LINES_WRITTEN = "lines_read", "lines_written"
NAMES = (READ, WRITTEN, LINES_READ, LINES_WRITTEN)
TOTAL = "bytes_moved_by_memory"  # of a processor that counts no direction
# What is there comes before what is not, and what was counted here before all else.
STATES = ("ok", "replayed", "imported", "simulated", "denied", "absent")
KNOWN = STATES[:4]
NOTHING = {"value": None, "state": "absent", "source": "", "reason": "not looked at"}
Value = dict[str, Any]
Items = list[dict[str, Any]]


def by_point(items: Items, content: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per point that was counted or simulated, or should have been, by method.

    `main` is False where a larger size of the same stands in the table too.
    """
    seen: dict[str, Items] = {}
    for item in items:
        if item["point"] and item["name"] in (*NAMES, TOTAL):
            seen.setdefault(item["point"], []).append(item)
    order = list(content["definitions"])
    rows = [_row(point, own) for point, own in seen.items()]
    rows.sort(key=lambda row: _place(row["factors"].get("method"), order))
    largest: dict[Any, int] = {}
    for row in rows:
        key = same(row, content)
        largest[key] = max(largest.get(key, 0), row["factors"].get("bytes", 0))
    return [
        row | {"main": row["factors"].get("bytes", 0) == largest[same(row, content)]}
        for row in rows
    ]


def _place(method: str | None, order: list[str]) -> int:
    return order.index(method) if method in order else len(order)


def _of_one_source(items: Items, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Name -> item, of the source that knows most of these: two sources look at two sizes."""
    by_source: dict[str, dict[str, dict[str, Any]]] = {}
    for item in items:
        if item["name"] in names:
            by_source.setdefault(item["source"], {})[item["name"]] = item

    def worst(rows: dict[str, dict[str, Any]]) -> list[int]:
        ranks = (STATES.index(rows.get(name, NOTHING)["state"]) for name in names)
        return sorted(ranks, reverse=True)

    return min(by_source.values(), key=worst, default={})


def _row(point: str, items: Items) -> dict[str, Any]:
    traffic = _of_one_source(items, (READ, WRITTEN))
    lines = _of_one_source(items, (LINES_READ, LINES_WRITTEN))
    values = {name: value_of((traffic | lines).get(name)) for name in NAMES}
    factors = Point.of_id(point).factors
    moved, touched = _looked_at(traffic, factors), _looked_at(lines, factors)
    return {
        "point": point,
        "variant": Point.of_id(point).variant,
        "factors": factors,
        "of_bytes": moved,
        "of_lines": touched,
        **values,
        "moved": _moved(values, moved["declared_bytes"], items),
        "allocated": _allocated(values, moved, touched),
        "buffers_read": _buffers(values[LINES_READ], touched),
        "buffers_written": _buffers(values[LINES_WRITTEN], touched),
    }


def _moved(values: dict[str, Value], declared: float | None, items: Items) -> Value:
    """Moved ÷ declared: of both directions, or of their sum where only that was counted."""
    both = combined(values[READ], values[WRITTEN], declared)
    for item in items:
        total = value_of(item) if item["name"] == TOTAL else NOTHING
        better = STATES.index(total["state"]) < STATES.index(both["state"])
        if total["value"] is not None and item.get("declared_bytes") and better:
            return {**total, "value": total["value"] / item["declared_bytes"]}
    return both


def _looked_at(rows: dict[str, dict[str, Any]], factors: dict[str, Any]) -> dict[str, Any]:
    """At which size, with which caches, and what the same call declares there."""
    item: dict[str, Any] = next(iter(rows.values()), {})
    return {
        "declared_bytes": item.get("declared_bytes"),
        "bytes": item.get("simulated_bytes") or factors.get("bytes"),
        "line_bytes": item.get("line_bytes"),
        "geometry": item.get("geometry", ""),
        "host_geometry": item.get("host_geometry", ""),
    }


def value_of(item: dict[str, Any] | None) -> Value:
    """The value of an evidence row; never one of a state that has none."""
    if item is None:
        return NOTHING
    value = item["value"] if item["state"] in KNOWN else None
    return {"value": value, **{key: item[key] for key in ("state", "source", "reason")}}


def combined(first: Value, second: Value, declared: float | None) -> Value:
    """(first + second) ÷ declared; its state, source and reason are those of the weaker."""
    weaker = max((first, second), key=lambda value: STATES.index(value["state"]))
    if first["value"] is None or second["value"] is None or not declared:
        reason = weaker["reason"] if weaker["value"] is None else "what it declares is unknown"
        return {**weaker, "value": None, "state": _lost(weaker["state"]), "reason": reason}
    return {**weaker, "value": (first["value"] + second["value"]) / declared}


def _lost(state: str) -> str:
    return "absent" if state in KNOWN else state


def _allocated(values: dict[str, Value], moved: dict[str, Any], touched: dict[str, Any]) -> Value:
    """÷ declared: lines that are read only because they are to be stored to."""
    read, lines = values[READ], values[LINES_READ]
    line = touched["line_bytes"]
    if read["value"] is None:
        return {**read, "value": None, "state": _lost(read["state"])}
    if lines["value"] is None or line is None or lines["source"] != read["source"]:
        reason = "bytes alone do not tell why a line was read"
        return {**read, "value": None, "state": "absent", "reason": reason}
    return combined(read, {**lines, "value": -lines["value"] * line}, moved["declared_bytes"])


def _buffers(lines: Value, touched: dict[str, Any]) -> Value:
    """Distinct lines in buffers' worth of lines: 2 of Triad, which reads two arrays."""
    line, buffer = touched["line_bytes"], touched["bytes"]
    if lines["value"] is None or not line or not buffer:
        return {**lines, "value": None, "state": _lost(lines["state"])}
    return {**lines, "value": lines["value"] * line / buffer}


def same(row: dict[str, Any], content: dict[str, Any]) -> Any:
    """All that makes a point but the sizes of its buffers and how many there are at work."""
    kept = {
        key: value
        for key, value in row["factors"].items()
        if key not in COUNTS
        and not (key in content["starts"] and content["factors"][key].get("unit") == "bytes")
    }
    return row["variant"], *sorted(kept.items())
