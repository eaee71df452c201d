"""Labels that name the same rows in several tables: one spelling, one order."""

from __future__ import annotations

from typing import Any

from benchbook.audit.reasons import Reason
from benchbook.audit.tables import At, Item, Tables, place_name
from benchbook.core.number_format import listed

RULE, KIND = "labels", "label"


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """Each column of labels against the first."""
    return [
        _item(tables, check["columns"][0], second)
        for check in declared
        for second in check["columns"][1:]
    ]


def _item(tables: Tables, first: dict[str, Any], second: dict[str, Any]) -> Item:
    expected, printed = (
        [
            row[column["label"]]
            for row in tables.rows(column["table"], column.get("where"), column["label"])
        ]
        for column in (first, second)
    )
    by_lower = {label.lower(): label for label in expected}
    other_case = [label for label in printed if label.lower() in by_lower and label not in expected]
    faults: list[Reason] = []
    if other_case:
        spelled = [by_lower[label.lower()] for label in other_case]
        faults.append(Reason("other-case", {"labels": other_case, "spelled": spelled}))
    absent = [
        label for label in expected if label.lower() not in {label.lower() for label in printed}
    ]
    extra = [label for label in printed if label.lower() not in by_lower]
    faults += [Reason("missing", {"labels": absent})] if absent else []
    faults += [Reason("in-addition", {"labels": extra})] if extra else []
    common = [label.lower() for label in printed if label.lower() in by_lower]
    if common != [label for label in by_lower if label in common]:
        faults.append(Reason("another-order", {"labels": printed}))
    facts = {
        "place": place_name(second) if second.get("where") else None,
        "first": tables.name(first["table"]),
        "faults": faults,
    }
    column = f"column ‘{tables.heading(second['table'], second['label'])}’"
    return Item(
        second["table"],
        RULE,
        ", ".join(filter(None, [column, place_name(second)])),
        listed(printed),
        listed(expected),
        not faults,
        None,
        facts,
        (At(second["table"], None, second["label"]),),
    )
