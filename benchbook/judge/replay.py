"""A recorded run through analysis again: the paper.json and samples that it would have had here.

What needs the binaries or the machine that it was measured on (counters, simulation, disassembly)
is not replayed; what the run's own journal observed is.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.define import catalogue
from benchbook.judge.paper_json import PAPER
from benchbook.judge.recorded_analysis import analysed
from benchbook.records import archive, journal


def replay(root: Path, paper: str, recorded: Path, output: Path) -> Path:
    """Write paper.json below `output`, and <experiment>/samples.parquet (one row per sample, times
    in ns); returns paper.json.

    `recorded` is a run's folder, or a host's, of which the newest run of each experiment is taken.
    Checksums are verified first. BenchbookError names what was damaged, or which experiment of the
    paper's figures has no recorded run there.
    """
    from benchbook.judge.stage import judge

    wanted = list(
        dict.fromkeys(figure["experiment"] for figure in catalogue.paper(root, paper)["figures"])
    )
    runs = runs_of(root, recorded)
    lacking = [name for name in wanted if name not in runs]
    if lacking:
        raise BenchbookError(
            f"{recorded} has no run of {', '.join(lacking)}, which {paper} needs; name a recorded "
            f"host that has, or keep one by `benchbook record {lacking[0]}`"
        )
    output = output.absolute()
    with chdir(root):  # analysis reads definitions out of the working folder
        analyses = [analysed(_short(runs[name]), output / name) for name in wanted]
        judge(Path(), paper, "", analyses, output / PAPER)
    return output / PAPER


def runs_of(root: Path, recorded: Path) -> dict[str, Path]:
    """Experiment -> its recorded run, the newest; every one verified."""
    place = root.absolute() / recorded
    folders = sorted(
        manifest.parent
        for pattern in ("", "*/", "*/*/")
        for manifest in place.glob(pattern + journal.MANIFEST)
    )
    if not folders:
        raise BenchbookError(
            f"{recorded} holds no complete run; recorded ones are in {archive.FOLDER}/<host>/"
        )
    runs = {read_json(folder / journal.MANIFEST)["experiment"]: folder for folder in folders}
    for run in runs.values():
        archive.verify(run)
    return runs


def _short(run: Path) -> Path:
    """Relative to the checkout, where it is in it: pages say it, and need no name of a home."""
    here = Path.cwd()
    return run.relative_to(here) if run.is_relative_to(here) else run
