"""What findings say stands in one catalogue: rules and catalogue name the same kinds."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

from benchbook.explain import rules
from benchbook.explain.model import Result
from benchbook.explain.rules.common.findings import finding, kinds
from benchbook.findings import FORMATS

MODULES = sorted(Path(rules.__file__).parent.glob("*.py"))
BUILDERS = {"finding", "unequal"}
MEAN = Result("latency", 1.5, "us", 7, "mean")


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
    assert kinds().keys() <= strings


@pytest.mark.parametrize("name", kinds())
def test_words_can_be_filled(name: str) -> None:
    """Each place in the words has a name, and a format that exists."""
    for text in (kinds()[name].text, kinds()[name].remedy):
        for _, field, spec, _ in string.Formatter().parse(text):
            assert field is None or field[0].isalpha()
            assert not spec or spec in {*FORMATS, "unit"} or format(1.0, spec.replace("d", ""))


def test_a_finding_is_about_the_results_among_its_words() -> None:
    words = {"mean": MEAN, "count": 3, "least": MEAN, "most": MEAN, "side": "most", "bound": 2.0}
    found = finding("mean-beyond-extremes", words)
    assert found.where == [MEAN.where] * 3
    assert [row["source"] for row in found.evidence] == ["line 7"] * 3
    assert "1.5 us as the mean of 3 samples" in found.explanation
    assert finding("mean-beyond-extremes", words, about=["line 1"]).evidence == []


def test_a_kind_without_a_remedy_has_that_of_its_detector() -> None:
    from benchbook.detect.detectors import wall_clock_step

    found = finding("clock-back", {"seen": "so"}, about=["line 1"])
    assert found.remedy == wall_clock_step.ARTEFACT.remedy
