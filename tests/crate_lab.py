"""A checkout with results of one real run that was recorded, for tests of archives."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from zlib import crc32

from conftest import ROOT

from benchbook.core.files import read_json, write_json
from benchbook.crate import contents
from benchbook.crate.recompute import recompute
from benchbook.judge.recorded_analysis import analysed
from benchbook.judge.stage import judge
from benchbook.records import archive, journal, seal

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


def archive_of_other_host(
    crate: Path, target: Path, host: str = "other-cpu-4c-00112233", **change: Callable[[Path], None]
) -> Path:
    """A copy of an archive as another host would have measured it, in another run. `change` alters
    its folder before results are computed anew (`before`) or after (`after`)."""
    shutil.copytree(crate, target)
    run = f"20200101{RUN.name[8:-4]}{crc32(host.encode()) & 0xFFFF:04x}"
    for path in sorted(target.rglob("*"), key=lambda path: -len(path.parts)):
        if path.name in (HOST, RUN.name):
            path.rename(path.with_name(host if path.name == HOST else run))
    for path in target.rglob("*"):
        if path.suffix in (".json", ".jsonl", ".md"):
            path.write_text(path.read_text().replace(HOST, host).replace(RUN.name, run))
    change.get("before", lambda _: None)(target)
    for manifest in target.rglob(f"data/runs/**/{journal.MANIFEST}"):
        content = read_json(manifest)
        if seal.FILES in content:
            write_json(manifest, content | {seal.FILES: seal.sums(manifest.parent)})
    recompute(target, contents.Index.from_json(read_json(target / contents.INDEX)))
    for parquet in target.rglob("results/**/*.parquet"):
        parquet.unlink()
    change.get("after", lambda _: None)(target)
    sum_anew(target)
    return target


def sum_anew(crate: Path) -> None:
    """What somebody does who changes a file and hides it."""
    files = [path for path in crate.rglob("*") if path.is_file() and path.name != contents.SUMS]
    digests = [(str(file.relative_to(crate)), contents.sha256(file.read_bytes())) for file in files]
    (crate / contents.SUMS).write_text(contents.sums_text(digests))
