"""What `explain --json` prints: each number with its unit, and all that is known of it.

A log may have 400,000 numbers: what is the same for all of a report is made once."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.units import in_base

_AS_IT_IS = {str, int, bool, type(None)}


def of_report(report: Report) -> Iterator[dict[str, Any]]:
    """Its results in their order: a result's own columns go before the facts of the report. A fact
    that is a list stands with the first result only: with all of them, the text of many runs would
    grow with the square of their number."""
    facts = _known(report.facts)
    of_all = {key: value for key, value in facts.items() if not isinstance(value, list)}
    tool = report.tool
    for result in report.results:
        value, unit = in_base(result.value, result.unit)
        record = {
            "tool": tool,
            "name": result.name,
            "value": result.value,
            "unit": result.unit,
            "statistic": result.statistic,
            "line": result.line,
            "base_value": value,
            "base_unit": unit,
        }
        if not is_number(result.value):
            record["printed"] = str(value)
        if None in result.of.values():  # what is not known of this one though it is of the report
            record.update(_known({**facts, **result.of}))
        else:
            record.update(facts)
            record.update(result.of)
        facts = of_all
        yield record


def _known(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in columns.items() if value is not None}


def plain(value: Any) -> Any:
    """As JSON has it: what is no number is none, what has no form there is words."""
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        # Most values are what they are: without a call for each of very many.
        return {
            str(key): item if type(item) in _AS_IT_IS else plain(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return float(value) if isinstance(value, float) else str(value)


_ENCODER = json.JSONEncoder(allow_nan=False)


def _encoded(value: Any) -> str:
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError):  # seldom: then each of its values is looked at
        return _ENCODER.encode(plain(value))


def as_text(record: Mapping[str, Any]) -> str:
    """A record as JSON, each result in a line of its own: there may be very many, and Python's own
    indenting takes seconds for them."""
    parts = []
    for name, value in record.items():
        if isinstance(value, list) and value:
            lines = ",\n  ".join(map(_encoded, value))
            parts.append(f"{_encoded(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f"{_encoded(name)}: {_encoded(value)}")
    return "{\n " + ",\n ".join(parts) + "\n}"
