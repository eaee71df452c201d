"""Checks that disagree for one reason, put together: one slip of the source, told once.

Of one kind and about one cell; or one number that two tables print, wrong in both; or exchanged
numbers; or one cause all down a column. Generic: a rule says what its items are about.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from benchbook.audit.rounding import shown
from benchbook.audit.tables import Item, Tables, slack

# What a rule can find, the gravest first.
KINDS = ("claim", "number", "outcome", "plan", "unit", "label", "digits")
NUMBER = "number"
Slip = dict[str, Any]


def slips(items: list[Item], kinds: dict[str, str], tables: Tables) -> list[tuple[Slip, list[int]]]:
    """Each slip, the gravest first, with the indices of its items; `kinds`: of each rule.

    A slip is {slip: its number from 1, kind, title, brief, words}: where, in few words, in full.
    """
    entries = []
    for group in _groups(items, kinds):
        # Two tables that differ do not tell which is wrong: what is recomputed goes first.
        members = sorted((items[k] for k in group), key=lambda item: len(item.cells) > 1)
        entries.append((_told(members, kinds[members[0].rule], tables), group, members))
    entries.sort(key=lambda entry: (KINDS.index(entry[0]["kind"]), -_difference(entry[2])))
    return [({"slip": k, **slip}, group) for k, (slip, group, _) in enumerate(entries, 1)]


def _difference(members: list[Item]) -> float:
    """The largest relative difference between a printed number and what it should be."""
    both = [[float(bound.middle) for bound in item.allowed] for item in members if item.allowed]
    sizes = [abs(a - b) / abs(b) if b else float("inf") for a, b in both]
    return max(sizes, default=0)


def _groups(items: list[Item], kinds: dict[str, str]) -> list[list[int]]:
    odd = [k for k, item in enumerate(items) if not item.consistent]
    group = {k: [k] for k in odd}
    repeated = {
        frozenset(item.cells)
        for item in items
        if item.consistent and kinds[item.rule] == NUMBER and len(item.cells) > 1
    }
    for first, second in combinations(odd, 2):
        a, b = items[first], items[second]
        if kinds[a.rule] != kinds[b.rule] or group[first] is group[second]:
            continue
        if _one_cell(a, b) or _one_cause(a, b) or exchanged(a, b) or _repeated(a, b, repeated):
            group[first] += group[second]
            for k in group[second]:
                group[k] = group[first]
    return list({id(members): sorted(members) for members in group.values()}.values())


def _one_cell(a: Item, b: Item) -> bool:
    return bool(set(a.cells) & set(b.cells))


def _one_cause(a: Item, b: Item) -> bool:
    """One thing went wrong all down a column."""
    if not a.cause or (a.rule, a.cause) != (b.rule, b.cause):
        return False
    columns = [{(cell.table, cell.column) for cell in item.cells} for item in (a, b)]
    return bool(columns[0] & columns[1])


def _repeated(a: Item, b: Item, repeated: set[frozenset[Any]]) -> bool:
    """Whether both are one number, which two tables print alike."""
    return any({x, y} == cells for cells in repeated for x in a.cells for y in b.cells)


def exchanged(a: Item, b: Item) -> bool:
    """Whether each prints what the other should be: two numbers of one row or column, swapped."""
    if a.rule != b.rule or not a.allowed or not b.allowed:
        return False
    first, second = a.cells[0], b.cells[0]
    if first.table != second.table or (first.row != second.row and first.column != second.column):
        return False
    return a.allowed[0].meets(b.allowed[1]) and b.allowed[0].meets(a.allowed[1])


def _told(members: list[Item], kind: str, tables: Tables) -> Slip:
    lead, *others = members
    partner = next((item for item in others if exchanged(lead, item)), None)
    if partner:
        others.remove(partner)
        title, brief, words = _swap(lead, partner, others, tables)
    else:
        title, brief, words = _title(lead, tables), _brief(lead, kind, tables), lead.words
        if kind == "claim":
            title = f"stated of {lead.where}: {lead.printed}"
    words = " ".join([words, *_further(lead, partner, others, kind, tables)])
    return {"kind": kind, "title": title, "brief": brief, "words": words}


def _title(item: Item, tables: Tables) -> str:
    named = [tables.title(table) for table in item.table.split(", ")]
    return f"{', '.join(named)}: {item.where}" if len(named) == 1 else item.where


def _brief(item: Item, kind: str, tables: Tables) -> str:
    if kind == "claim":
        stated = f"of {item.where} it states {item.printed}"
        return f"{stated}, and its own tables give {item.recomputed}"
    if item.allowed:
        label = f" for ‘{item.label}’" if item.label else ""
        where = f"{label} in {tables.name(item.table)}"
        return f"{item.printed} is printed{where}, and recomputed it is {_value(item)}"
    first = item.words.partition(". ")[0]  # what follows it is evidence
    return first[:1].lower() + first[1:].rstrip(".")


def _value(item: Item) -> str:
    return shown(item.allowed[1], item.printed) if item.allowed else str(item.recomputed)


def _swap(a: Item, b: Item, others: list[Item], tables: Tables) -> tuple[str, str, str]:
    """Title, brief and words of two numbers that are exchanged."""
    cells = a.cells[0], b.cells[0]
    where = f"{a.where} and {b.where}"
    if cells[0].column == cells[1].column:
        column = tables.heading(cells[0].table, cells[0].column)
        where = f"rows ‘{a.label}’ and ‘{b.label}’, column ‘{column}’"
    title = f"{tables.title(a.table)}: {where}"
    words = (
        f"{a.printed} is printed for {a.label} and {b.printed} for {b.label}, recomputed are "
        f"{_value(a)} and {_value(b)} ({slack(a.tolerance or 0)}): the two numbers are exchanged"
    )
    causes = dict.fromkeys(item.cause for item in (a, b, *others) if item.cause)
    words = "; ".join([words, *causes]) + "."
    brief = f"the numbers of {a.label} and {b.label} are exchanged in {tables.name(a.table)}"
    return title, brief, words


def _further(
    lead: Item, partner: Item | None, others: list[Item], kind: str, tables: Tables
) -> Iterator[str]:
    """What the other items add: more cells, or another view of a matter that is no number."""
    cells_shown = {cell for item in (lead, partner) if item for cell in item.cells}
    for item in others:
        if kind == NUMBER and cells_shown & set(item.cells):
            continue
        cells_shown |= set(item.cells)
        if _one_cause(lead, item):
            more = f": {item.printed} is printed, {_value(item)} recomputed" if item.allowed else ""
            yield f"Likewise {item.where if more else f'‘{item.printed}’'}{more}."
        elif kind == NUMBER and item.printed == lead.printed:
            yield f"The same number stands in {_title(item, tables)}."
        else:
            yield item.words
