"""`benchbook new`: what it makes is sound as it is, from the compiler to the page."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT, copy_checkout, in_env, run

from benchbook import crosscheck
from benchbook.audit import audit
from benchbook.commands.new import new_experiment, new_paper
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.define import catalogue, published
from benchbook.judge.paper_json import read_paper


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with an experiment, its paper, and papers of two experiments of ours: one of rates,
    one of times."""
    root = copy_checkout(tmp_path_factory.mktemp("new") / "checkout")
    new_experiment(root, "my-copy")
    new_paper(root, "my-paper", "my-copy")
    new_paper(root, "of-rates", "mbw")
    new_paper(root, "of-times", "syscall")
    return root


def test_what_is_made_is_sound_before_anything_runs(checkout: Path) -> None:
    crosscheck.check(checkout)
    assert "my-copy" in catalogue.experiments(checkout)
    for name in ("my-paper", "of-rates", "of-times"):
        assert name in catalogue.papers(checkout)
        cells = read_json(checkout / "data/published" / name / published.CELLS)["tables"]
        found = published.checksum(published.read_table(checkout, name, "table.csv"))
        assert cells == {"table.csv": list(found)}
        assert all(entry["consistent"] is not False for entry in audit(checkout, name))
        notebook = nbformat.read(checkout / "notebooks" / f"{name}.ipynb", as_version=4)
        nbformat.validate(notebook)
        assert not any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_kernel_has_no_warning_and_the_house_style(checkout: Path, compiler: str) -> None:
    source = checkout / "kernels/my-copy/my-copy.c"
    style = run(checkout, "clang-format", "--dry-run", "--Werror", str(source))
    assert style.returncode == 0, style.stdout
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not on PATH")
    flags = ("-std=c17", "-Wall", "-Wextra", "-Werror", "-Ikernels/common", "-c", "-o", "/dev/null")
    built = run(checkout, compiler, *flags, str(source))
    assert built.returncode == 0, built.stdout


def test_it_is_measured_and_has_a_page(checkout: Path) -> None:
    made = in_env(checkout, "snakemake", "my-paper", "--config", "preset=tiny")
    assert made.returncode == 0, made.stdout[-3000:]
    (paper,) = checkout.glob("results/*/tiny/my-paper/paper.json")
    (figure,) = read_paper(paper)["figures"]
    assert [row["state"] for row in figure["rows"]] == ["ok", "ok"]
    assert all(row["rerun"] > 0 for row in figure["rows"])
    (claim,) = figure["claims"]
    assert claim["verdict"] in ("reproduced", "not_reproduced", "inconclusive")
    page = (checkout / "reports/my-paper.html").read_text(encoding="utf-8")
    assert "first-against-second" in page


@pytest.mark.parametrize(
    "name", ["", "X", "a b", "../x", "a/b", "-a", "a-", "a--b", "1a", "a_b", "é", "a" * 41]
)
def test_a_bad_name_is_refused(tmp_path: Path, name: str) -> None:
    for begin in (new_experiment, lambda root, name: new_paper(root, name, "mbw")):
        with pytest.raises(BenchbookError, match="is no name"):
            begin(tmp_path, name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mbw", "kernels/mbw exists already"),
        ("common", "kernels/common exists already"),
        ("ssscore", "data/published/ssscore exists already"),
        ("machine", "is a rule of the workflow"),
        ("all", "is a rule of the workflow"),
    ],
)
def test_a_name_that_is_taken_is_refused_for_both(name: str, said: str) -> None:
    for begin in (new_experiment, lambda root, name: new_paper(root, name, "mbw")):
        with pytest.raises(BenchbookError, match=said):
            begin(ROOT, name)


def test_an_experiment_that_is_none_is_refused() -> None:
    with pytest.raises(BenchbookError, match="'nope' is no experiment; there are "):
        new_paper(ROOT, "for-nothing", "nope")
    assert not (ROOT / "data/published/for-nothing").exists()
