"""A checkout with results of one real run that was recorded, for tests of archives."""

from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path

from conftest import ROOT

from benchbook.core.files import read_json, write_json
from benchbook.judge.recorded_analysis import analysed
from benchbook.judge.stage import judge
from benchbook.records import archive

PAPER, EXPERIMENT, PRESET = "slocum2013-mbw", "mbw", "tiny"
RUN = max((ROOT / archive.FOLDER).glob("*/mbw/*"))
HOST = RUN.parts[-3]
OWN = (archive.SUMS, archive.VARIANTS, archive.ORIGIN)  # what recording adds to a run
CHECKOUT = ("Snakefile", "LICENSE", "pyproject.toml", "requirements.lock", "workflows", "config")


def make_lab(top: Path) -> Path:
    """The folder of the checkout: definitions, the run, its variants, and its results."""
    for name in CHECKOUT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, top / name)
    for name in ("common", "probe", EXPERIMENT):
        shutil.copytree(ROOT / "kernels" / name, top / "kernels" / name)
    shutil.copytree(ROOT / "data/published" / PAPER, top / "data/published" / PAPER)
    run = Path("data/runs", HOST, EXPERIMENT, RUN.name)
    shutil.copytree(RUN, top / run)
    results = Path("results", HOST, PRESET)
    with chdir(top):
        analysis = analysed(run, results / EXPERIMENT)
        pointer = read_json(analysis.with_name("current.json"))
        for name in OWN:
            (run / name).unlink()
        shutil.copytree(results / EXPERIMENT / "variants", f"build/{EXPERIMENT}")
        pointer["variants"] = {name: f"build/{EXPERIMENT}/{name}" for name in pointer["variants"]}
        write_json(analysis.with_name("current.json"), pointer | {"preset": PRESET})
        remake(top)
    pages = top / "reports"
    pages.mkdir()
    (pages / f"{PAPER}.html").write_text("<!doctype html><title>page</title>\n")
    return top


def remake(top: Path) -> None:
    """Analyse and judge again, as the workflow does."""
    from benchbook.analyse.stage import analyse
    from benchbook.analyse.tables import write_samples

    folder = Path("results", HOST, PRESET, EXPERIMENT)
    names = ("current.json", "samples.parquet", "evidence.json", "analysis.json")
    pointer, samples, evidence, analysis = (folder / name for name in names)
    with chdir(top):
        write_samples(pointer, samples)
        analyse(pointer, samples, evidence, analysis)
        judge(Path(), PAPER, "", [analysis], folder.parent / PAPER / "paper.json")
