"""A paper's own numbers, recomputed by generic rules over its tables.

Each rule is a file of rules/ with RULE (its name, and its key in audit.yaml), KIND (what it can
find, see slips.py) and `check(tables, declared) -> items`: `declared` is that key's list, which
says what columns mean and never what is to be found. A check that holds is an item too, so that a
reader sees how many there were. Its sentence is written in report/audit_sentences.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from benchbook.audit.slips import slips
from benchbook.audit.tables import Item, Tables
from benchbook.core import plugins
from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_json
from benchbook.define import catalogue, published
from benchbook.define.audit_models import Audit
from benchbook.define.yaml_files import load

VERSION = 2
DECLARED = "audit.yaml"
RULES = "benchbook.audit.rules"


def all_rules() -> Iterator[ModuleType]:
    """All rule modules, by name."""
    yield from plugins.load_all(RULES)


def audit(root: Path, paper: str) -> list[dict[str, Any]]:
    """Every check of a paper's own numbers; none where its folder declares nothing.

    One that does not hold carries its `slip` (slips.py), which all checks of one slip share; the
    others carry None. BenchbookError where audit.yaml is broken or names
    what is not there.
    """
    path = root / "data" / "published" / paper / DECLARED
    if not path.exists():
        return []
    declared = load(path, Audit)
    tables = read_tables(root, paper, declared)
    items: list[Item] = []
    kinds: dict[str, str] = {}
    for rule in all_rules():
        kinds[rule.RULE] = rule.KIND
        try:
            for entry in declared.get(rule.RULE, []):
                items += _qualified(rule.check(tables, [entry]), entry.get("qualified"))
        except BenchbookError as error:
            raise BenchbookError(f"{path.relative_to(root)}: {error}") from None
        except ZeroDivisionError:
            raise BenchbookError(
                f"{path.relative_to(root)}: rule {rule.RULE} divides by a printed number that may "
                "be 0; leave its table out"
            ) from None
    records = [item.record(paper, tables) | {"slip": None} for item in items]
    for slip, group in slips(items, kinds):
        for k in group:
            records[k]["slip"] = slip
    return records


def _qualified(items: list[Item], words: str | None) -> list[Item]:
    """The items of one entry: where the source qualifies what it states, those that do not fit
    inform and are no disagreement."""
    if not words:
        return items
    return [
        item if item.consistent else replace(item, consistent=True, qualified=words)
        for item in items
    ]


def read_tables(root: Path, paper: str, declared: dict[str, Any]) -> Tables:
    """The paper's tables, with what audit.yaml says of their columns."""
    names = [path.name for path in (root / "data" / "published" / paper).glob("*.csv")]
    cells = {name: published.read_table(root, paper, name) for name in sorted(names)}
    headings = cells.pop(published.HEADINGS, [])
    return Tables(
        cells,
        {(row["table"], row["column"]): row["printed"] for row in headings},
        {(row["table"], row["column"]): row["printed_unit"] for row in headings},
        declared.get("exact", {}),
        declared.get("decimals", {}),
        declared.get("swept", {}),
        declared.get("tables", {}),
    )


def write(root: Path, output: Path) -> None:
    """audit.json over all papers."""
    items = [item for paper in catalogue.papers(root) for item in audit(root, paper)]
    write_json(output, {"version": VERSION, "items": items})
