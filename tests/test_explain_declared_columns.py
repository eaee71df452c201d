"""Names of columns and facts: what readers write and rules read is declared in columns.toml."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_explain_corpus import read_sample

from benchbook import explain
from benchbook.explain import readers
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine, rules

LOGS = Path(__file__).parent / "logs"
SOURCE = Path(explain.__file__).parent
RESULT_COLUMNS = tomllib.loads((SOURCE / "columns.toml").read_text(encoding="utf-8"))
HOLDERS = {"of", "facts", "columns"}  # attributes that have columns or facts by name
ASKING = {"get", "setdefault", "pop"}  # methods of these, whose first argument is a name
OF_REPORT = {"column", "each", "knowing"}  # methods of Report and Group, all of whose texts are


class Recorded(dict[str, Any]):
    """Columns or facts that keep which names they were asked for."""

    names: set[str] = set()  # noqa: RUF012 (one for all of them)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)


def recorded(report: Report) -> Report:
    """A copy whose columns and facts keep what they are asked for."""
    results = [
        Result(r.name, r.value, r.unit, r.line, r.statistic, Recorded(r.of)) for r in report.results
    ]
    facts = Recorded(report.facts)
    return Report(
        report.tool, results, report.line, report.version, facts, [], report.twice, report.asked
    )


@pytest.mark.parametrize("tool", readers.names())
def test_what_readers_write_and_rules_ask_for_is_declared(tool: str) -> None:
    written = set[str]()
    Recorded.names.clear()
    for sample in sorted((LOGS / tool).glob("*.log")):
        reports = read_sample(sample).reports
        written = written.union(*(report.columns | report.facts.keys() for report in reports))
        watched = [recorded(report) for report in reports]  # rules change nothing
        for rule in rules():
            list(rule.check(watched, Machine()))
    assert written - RESULT_COLUMNS.keys() == set()
    assert Recorded.names - RESULT_COLUMNS.keys() == set()


def texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def names_in(tree: ast.AST) -> Iterator[str]:
    """Names of columns and facts that stand in source as texts."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=holder), attr=method)):
                if holder in HOLDERS and method in ASKING:
                    yield from texts(node.args[0])
            case ast.Call(func=ast.Attribute(attr=method), args=arguments):
                if method in OF_REPORT:
                    for argument in arguments:
                        yield from texts(argument)
            case ast.Subscript(value=ast.Attribute(attr=holder), slice=name):
                if holder in HOLDERS:
                    yield from texts(name)
            case ast.Compare(left=name, comparators=[ast.Attribute(attr=holder)]):
                if holder in HOLDERS:
                    yield from texts(name)


def test_names_in_the_source_are_declared() -> None:
    """Those too that no sample of the corpus leads to; readers have names of their own in what they
    keep while they read."""
    names = {
        (name, path.name)
        for path in SOURCE.rglob("*.py")
        if "readers" not in path.parts
        for name in names_in(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(names) > 100
    assert {(name, file) for name, file in names if name not in RESULT_COLUMNS} == set()


def test_a_misspelt_name_is_seen() -> None:
    source = 'a.of.get("x"); b.facts["y"]; c.knowing("z", of=d); "v" in e.of; f.column(g, "w")'
    assert sorted(names_in(ast.parse(source))) == ["v", "w", "x", "y", "z"]
