"""Labels that name the same rows in several tables: one spelling, one order."""

from __future__ import annotations

from typing import Any

from benchbook.audit.tables import At, Item, Tables, place_name
from benchbook.core.number_format import listed

RULE, KIND = "labels", "label"
ASKS = "labels of rows, from table to table"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each column of labels against the first."""
    return [
        _item(tables, check["columns"][0], second)
        for check in declared
        for second in check["columns"][1:]
    ]


def _item(tables: Tables, first: dict[str, Any], second: dict[str, Any]) -> Item:
    expected, found = (
        [
            row[column["label"]]
            for row in tables.rows(column["table"], column.get("where"), column["label"])
        ]
        for column in (first, second)
    )
    by_lower = {label.lower(): label for label in expected}
    other_case = [label for label in found if label.lower() in by_lower and label not in expected]
    faults = []
    if other_case:
        faults.append(
            f"{listed(other_case)} for {listed([by_lower[o.lower()] for o in other_case])}"
        )
    absent = [
        label for label in expected if label.lower() not in {label.lower() for label in found}
    ]
    extra = [label for label in found if label.lower() not in by_lower]
    faults += [f"{listed(absent)} missing"] if absent else []
    faults += [f"{listed(extra)} in addition"] if extra else []
    common = [label.lower() for label in found if label.lower() in by_lower]
    if common != [label for label in by_lower if label in common]:
        faults.append(f"another order ({listed(found)})")
    names = [tables.name(column["table"]) for column in (second, first)]
    rows = f"Rows of {names[0]}" + (f" ({place_name(second)})" if second.get("where") else "")
    words = f"{rows} are labelled as those of {names[1]}"
    if faults:
        words += f", except: {'; '.join(faults)}"
    column = f"column ‘{tables.heading(second['table'], second['label'])}’"
    return Item(
        second["table"],
        RULE,
        ", ".join(filter(None, [column, place_name(second)])),
        listed(found),
        listed(expected),
        not faults,
        None,
        f"{words}.",
        (At(second["table"], None, second["label"]),),
    )
