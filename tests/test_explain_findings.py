"""What findings say stands in one catalogue: rules and catalogue name the same kinds."""

from __future__ import annotations

import ast
import string
import tomllib
from functools import cache
from pathlib import Path

import pytest

from benchbook.explain import rules
from benchbook.explain.model import Result
from benchbook.explain.rules import signs
from benchbook.explain.rules.common.findings import CATALOGUE, Clause, finding, kinds, listing
from benchbook.explain.rules.common.findings import FORMATS as OWN
from benchbook.findings import FORMATS, merged

MODULES = sorted(Path(rules.__file__).parent.glob("*.py"))
BUILDERS = {"ask", "finding", "listing", "unequal"}
MEAN = Result("latency", 1.5, "us", 7, "mean")


@cache
def words_in(module: Path) -> tuple[set[str], set[str]]:
    """The kinds that a module builds by name, and all its strings."""
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    built = [
        call.args[0].value
        for call in calls
        if getattr(call.func, "id", getattr(call.func, "attr", "")) in BUILDERS
        if isinstance(call.args[0], ast.Constant)
    ]
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return set(built), {value for value in constants if isinstance(value, str)}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_each_kind_that_a_rule_builds_is_in_the_catalogue(module: Path) -> None:
    assert words_in(module)[0] <= kinds().keys()


def test_each_kind_of_the_catalogue_is_built_somewhere() -> None:
    strings = set[str]().union(*(words_in(module)[1] for module in MODULES))
    named = {sign.kind for several in signs.catalogue().values() for sign in several}
    assert kinds().keys() <= strings | named
    assert named <= kinds().keys()


@pytest.mark.parametrize("name", kinds())
def test_words_can_be_filled(name: str) -> None:
    """Each place in the words has a name, and a format that exists."""
    kind = kinds()[name]
    for text in (kind.text, kind.remedy, *kind.phrases.values()):
        for _, field, spec, _ in string.Formatter().parse(text):
            assert field is None or field[0].isalpha()
            is_own = spec in {*OWN, *FORMATS, "unit", "rate", "phrase"} or (spec or "").startswith(
                "plural "
            )
            assert not spec or is_own or format(1.0, spec.replace("d", ""))


@pytest.mark.parametrize("name", kinds())
def test_each_phrase_is_said_somewhere(name: str) -> None:
    """A phrase stands in the text, in another phrase, or is chosen by a rule."""
    kind = kinds()[name]
    texts = " ".join((kind.text, kind.remedy, *kind.phrases.values()))
    strings = set[str]().union(*(words_in(module)[1] for module in MODULES))
    for phrase in kind.phrases:
        assert f"{{{phrase}}}" in texts or phrase in {*strings, "more"}


def test_a_finding_is_about_the_results_among_its_words() -> None:
    words = {"first": MEAN, "again": MEAN}
    found = finding("said-again", words)
    assert found.where == [MEAN.where] * 2
    assert [row["source"] for row in found.evidence] == ["line 7"] * 2
    assert found.explanation.startswith("Line 7 gives 1.5 us for latency (mean), but")
    assert finding("said-again", words, about=["line 1"]).evidence == []


def test_evidence_stands_in_the_catalogue_and_leaves_out_what_is_not_known() -> None:
    words = {"test": MEAN, "count": 3.0, "wrong": "a third"}
    words |= {"whose": "printed"}
    found = finding("few-ticks", words, resolution=1e6)
    assert [row["name"] for row in found.evidence] == ["clock_ticks", "clock_resolution_ns"]
    assert [row["source"] for row in found.evidence] == ["line 7", "log"]
    assert "3.00 ticks of 1.00 ms of the tool's clock" in found.explanation
    unsure = finding("few-ticks", words, resolution=None)
    assert [row["name"] for row in unsure.evidence] == ["clock_ticks"]
    assert "3.00 ticks of the tool's clock" in unsure.explanation
    with pytest.raises(KeyError):
        finding("few-ticks", words)  # a word that nobody gave is no unknown one


def test_what_lists_several_says_how_many_more_there_are() -> None:
    clauses = [Clause("order", {"low": MEAN, "high": MEAN})] * 5
    (found,) = listing("order-of-statistics", clauses)
    assert found.explanation.count("is above its") == 3
    assert found.explanation.endswith(
        "and 2 more of that kind. No set of samples has such statistics."
    )
    assert found.where == [MEAN.where]
    assert list(listing("order-of-statistics", [])) == []


def test_a_kind_without_a_remedy_has_that_of_its_detector() -> None:
    from benchbook.detect.detectors import wall_clock_step

    found = finding("clock-back-told", about=["line 1"], step=1e6, line=1)
    assert found.remedy == wall_clock_step.ARTEFACT.remedy


def test_no_two_artefacts_have_a_kind_of_one_name() -> None:
    catalogue = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    names = [name for entry in catalogue.values() for name in merged(entry)[1]]
    assert sorted(names) == sorted(kinds())
