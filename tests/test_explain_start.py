"""A log is explained within a second of start: what only detectors of runs need is not loaded."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchbook import explain as explain_package
from benchbook.commands import app, explain_start
from benchbook.explain import lazy_regex, readers
from benchbook.explain.lazy_regex import late

LOGS = Path(__file__).parent / "logs"
HEAVY = ("scipy", "pandas", "matplotlib")


@pytest.mark.parametrize("log", ["stream/c-5.10-openmp", "mbw/2.0-clean", "ping/busybox"])
def test_a_clean_log_loads_no_tables_and_no_statistics(log: str) -> None:
    file = LOGS / f"{log}.log"
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from benchbook.explain.api import explained\nfrom benchbook.explain.rules import Machine\n"
        f"explained('x', Path({str(file)!r}).read_bytes(), Machine(llc_bytes=1 << 20))\n"
        f"print([module for module in {HEAVY!r} if module in sys.modules])\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "words",
    [["a", "-", "--json"], ["--l3", "32 MiB", "a"], ["--l3=1 MiB", "--host", "here", "a", "b"]],
)
def test_what_explain_is_called_with_is_what_typer_would_tell(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = dict[str, object]()

    def show(files: list[Path], machine: object, *, as_json: bool) -> None:
        told.update(files=files, as_json=as_json, machine=machine)

    monkeypatch.setattr("benchbook.commands.explain_start.show", show)
    monkeypatch.setattr("benchbook.commands.explain_start.machine_of", lambda root, *given: given)
    asked = explain_start.explain_asked(words)
    assert asked
    explain_start.explain(**asked)
    at_once, told = told, {}
    CliRunner().invoke(app.app, ["explain", *words])
    assert told == at_once


@pytest.mark.parametrize(
    "words", [[], ["--json"], ["--help"], ["a", "--l3"], ["a", "--l3="], ["--", "a"], ["a", "-x"]]
)
def test_what_explain_cannot_tell_typer_does(words: list[str]) -> None:
    assert explain_start.explain_asked(words) is None


def test_explain_starts_without_what_it_does_not_need() -> None:
    code = (
        "import sys\nfrom benchbook.commands.main import main\n"
        f"sys.argv = ['benchbook', 'explain', {str(LOGS / 'mbw/2.0-clean.log')!r}]\n"
        "main()\nprint([module for module in ('pydantic', 'typer') if module in sys.modules])\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "[]"


def test_a_late_pattern_is_the_same_as_one_at_once() -> None:
    late_pattern, other = late(r"(?P<word>[a-z]+)\d", re.I), re.compile(r"(?P<word>[a-z]+)\d", re.I)
    text = "x1 Yz2 3"
    assert late_pattern.pattern == other.pattern
    assert late_pattern.findall(text) == other.findall(text)
    found = late_pattern.search(text, 2)
    assert found
    assert found["word"] == "Yz"
    assert late_pattern.sub("-", text) == other.sub("-", text)
    with pytest.raises(AttributeError):
        late_pattern.no_such_method  # type: ignore[attr-defined]  # noqa: B018


def late_ones(value: object) -> Iterator[lazy_regex.Late]:
    if isinstance(value, lazy_regex.Late):
        yield value
    elif isinstance(value, dict):
        yield from late_ones([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple | set):
        yield from (each for pattern in value for each in late_ones(pattern))


def modules_in(package: object) -> Iterable[str]:
    where = package.__path__, f"{package.__name__}."  # type: ignore[attr-defined]
    return (module_info.name for module_info in pkgutil.walk_packages(*where))


@pytest.mark.parametrize("package", [readers, explain_package], ids=["readers", "explain"])
def test_every_late_pattern_can_be_compiled(package: object) -> None:
    modules = map(importlib.import_module, modules_in(package))
    found = [
        pattern
        for module in modules
        for value in vars(module).values()
        for pattern in late_ones(value)
    ]
    assert len(found) > 100
    for pattern in found:
        assert pattern.pattern  # which compiles it
