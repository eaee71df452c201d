"""What the disassembly of the timed functions shows."""

from __future__ import annotations

from typing import Any

from benchbook.evidence import Context, Row


def rows(context: Context) -> list[Row]:
    """Instruction set and library calls of every variant that was compiled here."""
    found = [_of_variant(context.experiment, record) for _, record in context.ours().values()]
    return [row for rows in found for row in rows]


def _of_variant(experiment: str, variant: dict[str, Any]) -> list[Row]:
    common = {
        "experiment": experiment,
        "point": "",
        "variant": variant["variant"],
        "unit": "",
        "source": "disassembly",
        "state": "ok" if variant["timed_functions"] else "absent",
        "reason": "" if variant["timed_functions"] else "objdump is not on PATH",
    }
    items = [{**common, "name": "isa", "value": variant["isa"]}]
    for function, facts in variant["timed_functions"].items():
        name = f"library calls in {function}"
        items.append({**common, "name": name, "value": facts["library_calls"]})
    return items
