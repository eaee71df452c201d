"""Rows or columns of a table that are runs of the same, with their mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Result
from benchbook.explain.readers.common.table_cells import CELL
from benchbook.explain.readers.common.table_columns import name_of, unit_of
from benchbook.explain.results import GIVEN

# Rows that are repetitions: their first column counts them, and a last row may be their mean.
_RUNS = late(r"(?:runs?|iterations?|iter|trials?|attempts?|rep(?:etition)?s?|#|n(?:o|r)\.?|)", re.I)
_RUN = late(
    r"(?:(?:run|iteration|trial|attempt|rep(?:etition)?|test) ?)?#?(?P<number>\d{1,4})\.?", re.I
)
_MEAN = late(r"(?:avg|average|mean)\.?", re.I)
COMPARING = ("change", "ratio", GIVEN)  # which alone make no table of figures
_PLAIN = late(r"[-+]?\d[\d,]*(?:\.\d+)?")
_LEAST_RUNS, _LEAST_NUMBERS = 3, 2


def in_rows(table: Sequence[tuple[Line, list[str]]], results: Sequence[Result]) -> Iterator[Result]:
    """Its figures as samples with their mean, where the rows are runs that somebody counted."""
    (_, heads), rows = table[0], table[1:]
    labels = {line.number: cells[0] for line, cells in rows if cells}
    runs = {line: found for line, text in labels.items() if (found := _RUN.fullmatch(text))}
    numbers = [int(found["number"]) for found in runs.values()]
    is_counted = numbers in (list(range(len(runs))), list(range(1, len(runs) + 1)))
    called = _RUNS.fullmatch(heads[0]) or all(
        len(found[0]) > len(found["number"]) for found in runs.values()
    )
    # Rows that have a name of their own beside the number are of different things.
    others = {
        str(own.of.get("label", ""))
        .removeprefix(f"{heads[0]} ")
        .removeprefix(labels[own.line])
        .strip()
        for own in results
        if own.line in runs
    }
    if len(runs) < _LEAST_RUNS or not (is_counted and called) or len(others) > 1:
        yield from results
        return
    places = {line: place for place, line in enumerate(runs)}
    for result in results:
        of: dict[str, Any] = {"benchmark": result.name}
        if result.statistic:
            yield result
        elif result.line in places:
            own = {**of, "repetition": places[result.line]}
            yield replace(result, statistic="sample", of=own)
        elif _MEAN.fullmatch(labels.get(result.line, "")):
            own = {**of, "repetitions": len(runs)}
            yield replace(result, statistic="mean", of=own)
        else:
            yield result


def in_columns(
    heads: Sequence[str], rows: Sequence[tuple[Line, list[str]]], results: Iterable[Result]
) -> Iterator[Result]:
    """Its figures as samples of their row, where the columns are runs: `run 1 | run 2 | avg`."""
    runs = {name_of(head): found for head in heads if (found := _RUN.fullmatch(name_of(head)))}
    numbers = [int(found["number"]) for found in runs.values()]
    called = all(len(found[0]) > len(found["number"]) for found in runs.values())
    if len(runs) < _LEAST_RUNS or not called or numbers != list(range(numbers[0], numbers[-1] + 1)):
        yield from results
        return
    labels = {line.number: cells[0] or "row" for line, cells in rows if cells}
    for result in results:
        label = labels.get(result.line, "row")
        of: dict[str, Any] = {"benchmark": label}
        if result.name in runs and result.statistic in ("", "mean"):
            place = numbers.index(int(runs[result.name]["number"]))
            of |= {"repetition": place}
            yield replace(result, name=label, statistic="sample", of=of)
        elif _MEAN.fullmatch(result.name):
            own = {**of, "repetitions": len(runs)}
            yield replace(result, name=label, statistic="mean", of=own)
        else:
            yield result


def with_bare_rows(
    log: Log,
    heads: Sequence[str],
    rows: Sequence[tuple[Line, list[str]]],
    results: Sequence[Result],
) -> list[Result]:
    """The results, and the numbers of rows without a unit next to rows that have one: shown as they
    stand, below the heads that have figures elsewhere."""
    own = {result.line for result in results if result.statistic not in COMPARING}
    bare = [(line, cells) for line, cells in rows if line.number not in own and len(cells) > 1]
    named = [cells for line, cells in rows if line.number in own]
    places = [
        at
        for at in range(1, len(heads))
        if heads[at]
        and any(at < len(cells) and CELL.fullmatch(cells[at]) for cells in named)
        and not any(map(unit_of, (heads[at],)))
    ]
    every = list(results)
    for line, cells in bare if named and len(places) > 1 else ():
        numbers = [
            (at, cells[at]) for at in places if at < len(cells) and _PLAIN.fullmatch(cells[at])
        ]
        if not cells[0] or _PLAIN.fullmatch(cells[0]) or len(numbers) < _LEAST_NUMBERS:
            continue
        for at, cell in numbers:
            if (value := log.number(cell)) is not None:
                of = {"label": cells[0]}
                every.append(Result(heads[at], value, "1", line.number, GIVEN, of))
        every = [_labelled(own, cells[0]) if own.line == line.number else own for own in every]
    return sorted(every, key=lambda own: own.line)


def _labelled(result: Result, label: str) -> Result:
    of = {name: value for name, value in result.of.items() if name != "label_parts"}
    return replace(result, of={**of, "label": label})
