"""What the source states of the difference between two of its series, against its own table."""

from __future__ import annotations

from typing import Any

from benchbook.audit.rounding import Interval
from benchbook.audit.tables import At, Item, Tables, place_name
from benchbook.core.errors import BenchbookError

RULE, KIND = "gap", "claim"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """One item for each row that is stated to differ less, or more, than the row `from`."""
    return [item for check in declared for item in _items(tables, check)]


def _items(tables: Tables, check: dict[str, Any]) -> list[Item]:
    first, second = (tables.column(check[side]) for side in ("first", "second"))
    stated = check["stated"]
    for label in (stated["from"], *stated["to"]):
        if label not in first or label not in second:
            raise BenchbookError(f"{check['first']['table']} has no row {label!r} in both series")

    def gap(label: str) -> tuple[Interval, tuple[At, At]]:
        """The difference of both series in one row, and its cells."""
        (text, cell), (second_text, beside) = first[label], second[label]
        a = tables.interval(check["first"]["table"], check["first"]["value"], text)
        b = tables.interval(check["second"]["table"], check["second"]["value"], second_text)
        return Interval(a.low - b.high, a.high - b.low), (cell, beside)

    before, _ = gap(stated["from"])
    smaller = stated["relation"] == "smaller"
    items = []
    for label in stated["to"]:
        here, cells = gap(label)
        holds = here.low < before.high if smaller else here.high > before.low
        where = f"the difference at {check['first']['label']} {label}"
        printed = f"{stated['relation']} {stated['when']}"
        both = " and ".join(place_name(check[side]) for side in ("first", "second"))
        compared = f"{float(here.middle):g} against {float(before.middle):g}"
        facts = {
            "both": both,
            "column": check["first"]["label"],
            "row": label,
            "from": stated["from"],
        }
        items.append(
            Item(
                check["first"]["table"],
                RULE,
                where,
                printed,
                compared,
                holds,
                float(here.half + before.half),
                facts,
                cells,
            )
        )
    return items
