"""A printed spread: (max − min) ÷ max of a row's numbers, in percent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from benchbook.audit.reasons import Reason
from benchbook.audit.rounding import Interval, compare, plain
from benchbook.audit.tables import At, Item, Tables, cell_name, checked

RULE, KIND = "spread", "number"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each printed spread whose row is found, labels compared without regard to case."""
    items = []
    for check in declared:
        rows = {label.lower(): cells for label, cells in numbers(tables, check["of"]).items()}
        place = check["printed"]
        for label, (text, cell) in tables.column(place).items():
            cells = rows.get(label.lower())
            if cells:
                others = {key: values for key, values in rows.items() if key != label.lower()}
                items.append(_item(tables, check, label, (text, cell), cells, others))
    return items


def numbers(tables: Tables, of: dict[str, str]) -> dict[str, list[tuple[str, Interval]]]:
    """Label -> (cell as printed, what its digits allow) of all numbers in its row."""
    table = of["table"]
    return {
        label: [
            (cell, tables.interval(table, column, cell))
            for column, cell in row.items()
            if column != of["label"] and plain(cell) is not None
        ]
        for label, row in tables.by_label(table, of["label"]).items()
    }


def spread(cells: list[Interval], over: str) -> Interval:
    """(max − min) ÷ `over` in percent; ends taken together, so that no width counts twice."""
    top = Interval(max(cell.low for cell in cells), max(cell.high for cell in cells))
    bottom = Interval(min(cell.low for cell in cells), min(cell.high for cell in cells))
    ends = []
    for high, low in ((top.low, bottom.high), (top.high, bottom.low)):
        below = {"max": high, "min": low, "mean": sum(_middles(cells), Fraction()) / len(cells)}[
            over
        ]
        ends.append(100 * (high - low) / below)
    return Interval(min(ends), max(ends))


def _middles(cells: list[Interval]) -> list[Fraction]:
    return [cell.middle for cell in cells]


def _item(
    tables: Tables,
    check: dict[str, Any],
    label: str,
    printed: tuple[str, At],
    cells: list[tuple[str, Interval]],
    other_rows: dict[str, list[tuple[str, Interval]]],
) -> Item:
    (text, cell), place, over = printed, check["printed"], check.get("over", "max")
    value = spread([seen for _, seen in cells], over)
    top = max(cells, key=lambda cell: cell[1].middle)
    bottom = min(cells, key=lambda cell: cell[1].middle)
    facts = {
        "of": tables.name(check["of"]["table"]),
        "least": bottom[0],
        "most": top[0],
        "over": over,
    }
    hint = _slip(text, top, [seen for seen in cells if seen != bottom], other_rows, over)
    where, decimals = cell_name(tables, place, label), tables.decimals.get(place["table"])
    more = {"decimals": decimals, "label": label, "hint": hint}
    return checked(RULE, cell, where, text, value, facts, **more)


def _slip(
    text: str,
    top: tuple[str, Interval],
    rest: list[tuple[str, Interval]],
    other_rows: dict[str, list[tuple[str, Interval]]],
    over: str,
) -> Reason | None:
    """A slip that would give the printed spread: another row's, or another number as smallest."""
    for label, cells in other_rows.items():
        if compare(text, spread([seen for _, seen in cells], over)).consistent:
            return Reason("spread-of", {"label": label})
    for cell, seen in rest:
        if over == "max" and compare(text, spread([top[1], seen], over)).consistent:
            return Reason("another-smallest", {"cell": cell})
    return None
