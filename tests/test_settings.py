"""Sizes, settings and YAML files: what is taken, what is refused, in which words."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from benchbook.commands import main
from benchbook.core.errors import BenchbookError
from benchbook.core.sizes import format_bytes, parse_bytes
from benchbook.define import catalogue, schemas
from benchbook.define.models import Control, Experiment, Paper, Probe, Settings
from benchbook.define.settings import load_settings
from benchbook.define.yaml_files import load, read_yaml

CACHES = {"L1d": 48 * 1024, "L2": 2 * 2**20, "LLC": 105 * 2**20}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (4096, 4096),
        ("4096", 4096),
        ("4 KiB", 4096),
        ("32 MiB", 33554432),
        ("32 MB", 32_000_000),
        ("0.5 GiB", 2**29),
        ("3 x LLC", 315 * 2**20),
        ("0.5 x L1d", 24 * 1024),
        ("0.3 x L1d", 12 * 1024),
    ],
)
def test_sizes_are_read(text: str | int, count: int) -> None:
    assert parse_bytes(text, CACHES) == count


@pytest.mark.parametrize("text", ["32 mib", "MiB", "-4 KiB", "4 x L4", "", "1e3", "4 KiB x"])
def test_unknown_sizes_are_refused(text: str) -> None:
    with pytest.raises(BenchbookError, match="not understood"):
        parse_bytes(text, CACHES)


def test_unknown_cache_gives_none_not_zero() -> None:
    assert parse_bytes("4 x LLC", {"LLC": None}) is None
    assert parse_bytes("4 x LLC") is None


def test_sizes_are_written() -> None:
    assert [format_bytes(n) for n in (64, 4096, 33554432, 2**30, 1500 * 1024)] == [
        "64 B",
        "4 KiB",
        "32 MiB",
        "1 GiB",
        "1.5 MiB",
    ]


def test_order_of_layers(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    local = tmp_path / "config/local.yaml"
    local.unlink(missing_ok=True)
    assert load_settings(tmp_path, {}).preset == "quick"
    assert load_settings(tmp_path, {"preset": "tiny"}).budget_s == 10
    local.write_text("preset: paper\nbudget_s: 7\ndisturbed: {repeats: 0}\n")
    settings = load_settings(tmp_path, {})
    assert settings.preset == "paper"
    assert settings.budget_s == 7
    assert settings.disturbed.repeats == 0
    assert settings.disturbed.steal_fraction == 0.02
    assert load_settings(tmp_path, {"preset": "tiny", "budget_s": 9}).budget_s == 9


@pytest.mark.parametrize(
    ("local", "sentence"),
    [
        ("budgets: 7", "key 'budgets' is unknown; allowed: again"),
        ("disturbed: {stolen: 1}", "key 'stolen' in 'disturbed' is unknown"),
        ("again: 0", "key 'again' is 0; it must be at least 1"),
        ("looks: [8, twelve]", "key 'looks.1' is 'twelve'; it must be a whole number"),
        ("figure: mbw", "key 'figure' is 'mbw'; allowed: text that matches"),
        ("- 1", "must be a mapping"),
        ("a: [", "is not valid YAML at line"),
        ("a: 2013-13-45", "is not valid YAML"),
        ("again: 2.0", "key 'again' is 2.0; it must be a whole number"),
        ("1.3: 7", "key 1.3 at line 1 is a number to YAML, and keys are text; put it in quotes"),
        ("again: 1\non: 7", "key on at line 2 is true or false to YAML, and keys are text; put it"),
        ("null: 7", "key null at line 1 is null to YAML"),
        ("2013-10-16: 7", "key 2013-10-16 at line 1 is a date to YAML"),
        ("? [a]\n: 7", "the key at line 1 is a list or mapping; write text"),
        ("disturbed: {7: 1, stolen: 1}", "key 7 at line 1 is a number"),
        ("again: 1\nagain: 2", "key 'again' at line 2 stands twice in one mapping"),
        ("budget_s: .inf", "key 'budget_s' is not a finite number"),
        ("budget_s: .nan", "key 'budget_s' is not a finite number"),
        ("looks: [8, -.inf]", "key 'looks.1' is not a finite number"),
        ("again: &a [*a]", "key 'again' is nested too deeply"),
        pytest.param(f"again: {'[' * 100_000}", "is not valid YAML", id="brackets"),
        pytest.param(f"again:\n{'- ' * 100_000}1", "is not valid YAML", id="lists"),
        ("samples_least: 60", "key 'samples_least' is 60, above 'samples_most' (50); lower the"),
        ("samples_least: 9\nsamples_most: 8", "key 'samples_least' is 9, above 'samples_most'"),
        ("looks: [8, 12, 12]", "key 'looks' is [8, 12, 12]; its numbers must rise: [8, 12]"),
        ("looks: [12, 8]", "key 'looks' is [12, 8]; its numbers must rise: [8, 12]"),
        ("figure: " + 99 * "x", "xxx…; allowed"),
    ],
)
def test_wrong_files_are_one_sentence(tmp_path: Path, local: str, sentence: str) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "config/local.yaml").write_text(local)
    with pytest.raises(BenchbookError) as caught:
        load_settings(tmp_path, {})
    assert sentence in str(caught.value)
    assert "local.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"samples_least": 60}, "--config: key 'samples_least' is 60, above 'samples_most' (50)"),
        ({"looks": [9, 8]}, "--config: key 'looks' is [9, 8]; its numbers must rise"),
        ({"budget_s": float("inf")}, "--config: key 'budget_s' is not a finite number"),
        ({"again": 10**20}, "--config: key 'again' is not a finite number below 2^63"),
        ({"disturbed": {1: 2}}, "--config: key 1 in 'disturbed' is not text; put it in quotes"),
        ({True: 2, "b": 1}, "--config: key True is not text; put it in quotes"),
    ],
)
def test_wrong_words_are_one_sentence(tmp_path: Path, given: dict, sentence: str) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "config/local.yaml").unlink(missing_ok=True)
    with pytest.raises(BenchbookError) as caught:
        load_settings(tmp_path, given)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_layers_are_judged_together_only_when_all_are_laid_on(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "config/local.yaml").write_text("samples_least: 60\n")
    assert load_settings(tmp_path, {"samples_most": 60}).samples_least == 60


@pytest.mark.parametrize("pair", ["a=[", "a=2013-13-45", "a={b: [}", "a"])
def test_config_that_is_no_yaml_is_one_sentence(
    pair: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchbook", "plan", "--config", pair])
    with pytest.raises(SystemExit, match="1"):
        main.main()
    said = capsys.readouterr().err
    assert said.startswith("benchbook: --config")
    assert "'a'" in said
    assert said.count("\n") == 1


def test_schemas_are_those_of_the_models() -> None:
    schemas.write(check=True)


def test_every_definition_in_the_checkout_fits_its_model() -> None:
    for name in catalogue.experiments(ROOT):
        Experiment.model_validate(read_yaml(catalogue.definition_file(ROOT, name)))
    for name in catalogue.controls(ROOT):
        control = Control.model_validate(read_yaml(catalogue.definition_file(ROOT, name)))
        assert name == f"controls/{control.artefact}"
    Probe.model_validate(read_yaml(catalogue.definition_file(ROOT, catalogue.PROBE)))
    for name in catalogue.papers(ROOT):
        paper = Paper.model_validate(read_yaml(ROOT / "data/published" / name / "paper.yaml"))
        assert paper.id == name
        assert {figure.experiment for figure in paper.figures} <= set(catalogue.experiments(ROOT))
    for preset in ("default",):
        Settings.model_validate(read_yaml(ROOT / "config" / f"{preset}.yaml"))


def test_unknown_experiment_names_the_known_ones() -> None:
    with pytest.raises(BenchbookError, match=r"known: .*hostdev, .*mbw"):
        catalogue.definition(ROOT, "nothing")


def test_unknown_key_in_a_paper_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data/published/p"
    folder.mkdir(parents=True)
    text = (ROOT / "data/published/slocum2013-mbw/paper.yaml").read_text()
    (folder / "paper.yaml").write_text(text + "colour: red\n")
    with pytest.raises(BenchbookError, match="key 'colour' is unknown"):
        catalogue.paper(tmp_path, "p")


def test_an_empty_definition_says_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text("# nothing yet\n")
    with pytest.raises(BenchbookError, match="key 'version' is missing; add it"):
        load(path, Experiment)
