"""The factor by which a program makes its printed unit of bytes per microsecond: is it that unit's?

Whether it made the printed rates is seen from them: time was counted in whole microseconds.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from benchbook.audit.reasons import Reason
from benchbook.audit.rounding import Interval, exactly, shown
from benchbook.audit.rules.units import unit_of
from benchbook.audit.tables import At, Item, Tables, cell_name
from benchbook.core.errors import BenchbookError
from benchbook.core.number_format import listed
from benchbook.core.units import RATE_UNITS

RULE, KIND = "conversion", "unit"
PER_S = 10**6  # bytes per second in one byte per microsecond
SINGLE = Fraction(1, 2**24)  # relative error of a quotient in single precision


def check(tables: Tables, declared: list[dict[str, Any]]) -> list[Item]:
    """One item per program."""
    return [_item(tables, check) for check in declared]


def _item(tables: Tables, check: dict[str, Any]) -> Item:
    place = check["factor"]
    row = tables.row(place)
    text, factor = row[place["value"]], tables.cell(place)
    unit = unit_of(tables, place["table"], place["value"])
    wanted = {name: exactly(Fraction(PER_S, size)) for name, size in RATE_UNITS.items()}
    fits = [name for name, value in wanted.items() if factor.meets(value)]
    consistent = unit in fits
    is_other = bool(not consistent and fits)
    theories = check.get("theory", []) if unit in wanted and is_other else []
    facts = {
        "factor": text,
        "wanted": shown(wanted[unit], text) if unit in wanted else None,
        "fits": fits if is_other else [],
        **_made(tables, check, factor, unit, wanted),
        "theories": [_shares(tables, theory, unit, fits[0]) for theory in theories],
    }
    label = row.get("program", "")
    return Item(
        place["table"],
        RULE,
        cell_name(tables, {**place, "where": None}, label) if label else place["value"],
        unit or "no unit",
        listed(fits) or "no known unit",
        consistent,
        None,
        facts,
        (At(place["table"], tables.at(place["table"], row, place["value"]).row, place["value"]),),
    )


def _made(
    tables: Tables,
    check: dict[str, Any],
    factor: Interval,
    unit: str,
    wanted: dict[str, Interval],
) -> dict[str, int | None]:
    """Of how many printed rates the time would be whole microseconds, by either factor."""
    bytes_moved = tables.cell(check["bytes"])
    rates = [
        tables.interval(table, column, row[column])
        for table, columns in check["rates"].items()
        for row in tables.rows(table, None, *columns)
        for column in columns
    ]
    used = exactly(factor.middle)
    whole = sum(_is_whole(bytes_moved * used / rate) for rate in rates)
    elsewhere = None
    if unit in wanted and not factor.meets(wanted[unit]):
        elsewhere = sum(_is_whole(bytes_moved * wanted[unit] / rate) for rate in rates)
    return {"whole": whole, "rates": len(rates), "elsewhere": elsewhere}


def _shares(tables: Tables, theory: dict[str, Any], unit: str, fit: str) -> Reason:
    """How near each column's fastest rate comes to the theoretical one, in either unit."""
    place = theory["most"]
    own = unit_of(tables, place["table"], place["value"])
    if own not in RATE_UNITS:
        raise BenchbookError(
            f"{place['table']}: {place['value']} has no unit of rates; name one of "
            f"{', '.join(RATE_UNITS)} for it"
        )
    most = tables.cell(place).middle * RATE_UNITS[own]
    columns_shown = []
    for table, columns in theory["rates"].items():
        rows = tables.rows(table, None, *columns)
        for column in columns:
            text = max(
                (row[column] for row in rows),
                key=lambda cell: tables.interval(table, column, cell).middle,
            )
            rate = tables.interval(table, column, text).middle
            printed, real = (float(rate * RATE_UNITS[name] / most) for name in (unit, fit))
            shares = {"printed": printed, "real": real}
            named = {"rate": text, "column": tables.heading(table, column), "unit": fit}
            columns_shown.append(Reason("share-of-most", named | shares))
    most_printed = f"{tables.row(place)[place['value']]} {own}"
    return Reason("of-theoretical", {"most": most_printed, "columns": columns_shown})


def _is_whole(time: Interval) -> bool:
    slack = time.middle * SINGLE
    nearest = round(time.middle)
    return time.low - slack <= nearest <= time.high + slack
