"""Checks that disagree for one reason, put together: one slip of the source, told once.

Of one kind and about one cell; or one number that two tables print, wrong in both; or exchanged
numbers; or one cause all down a column. Generic: a rule says what its items are about.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from benchbook.audit.tables import Item

# What a rule can find, the gravest first.
KINDS = ("claim", "number", "outcome", "plan", "unit", "label", "digits")
NUMBER = "number"
# What a further item of a slip is to its lead: of one cause, the same number again, or more of it.
LIKEWISE, SAME_NUMBER, MORE = "likewise", "same-number", "more"
Slip = dict[str, Any]


def slips(items: list[Item], kinds: dict[str, str]) -> list[tuple[Slip, list[int]]]:
    """Each slip, the gravest first, with the indices of its items; `kinds`: of each rule.

    A slip is {slip: its number from 1, kind, lead: the item that shows it, exchanged: the one whose
    number was swapped with that of the lead, or None, causes: of all its items, further: what
    others add, [code, item]}.
    """
    entries = []
    for group in _groups(items, kinds):
        # Two tables that differ do not tell which is wrong: what is recomputed goes first.
        members = sorted(group, key=lambda k: len(items[k].cells) > 1)
        entries.append((_slip(items, members, kinds[items[members[0]].rule]), group))
    entries.sort(
        key=lambda entry: (
            KINDS.index(entry[0]["kind"]),
            -_difference([items[k] for k in entry[1]]),
        )
    )
    return [({"slip": k, **slip}, group) for k, (slip, group) in enumerate(entries, 1)]


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


def _slip(items: list[Item], members: list[int], kind: str) -> Slip:
    lead, *others = members
    partner = next((k for k in others if exchanged(items[lead], items[k])), None)
    others = [k for k in others if k != partner]
    in_order = [lead, *([] if partner is None else [partner]), *others]
    causes = [cause.record() for k in in_order if (cause := items[k].cause)]
    return {
        "kind": kind,
        "lead": lead,
        "exchanged": partner,
        "causes": [cause for k, cause in enumerate(causes) if cause not in causes[:k]],
        "further": list(_further(items, lead, partner, others, kind)),
    }


def _further(
    items: list[Item], lead: int, partner: int | None, others: list[int], kind: str
) -> Iterator[tuple[str, int]]:
    """What the other items add: more cells, or another view of a matter that is no number."""
    covered = {cell for k in (lead, partner) if k is not None for cell in items[k].cells}
    for k in others:
        item = items[k]
        if kind == NUMBER and covered & set(item.cells):
            continue
        covered |= set(item.cells)
        if _one_cause(items[lead], item):
            yield LIKEWISE, k
        elif kind == NUMBER and item.printed == items[lead].printed:
            yield SAME_NUMBER, k
        else:
            yield MORE, k
