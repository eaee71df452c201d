"""`benchbook export --rocrate`: what was measured here as an archive that convinces elsewhere.

The archive has the layout of a checkout, so that the stages read it as they read their own. Names
of people and machines are taken out of every text first. Estimates and verdicts are then computed
out of what is really in the archive, and must be those of results/.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json, write_text
from benchbook.crate import contents, metadata
from benchbook.crate.contents import ArchivedRun, Index
from benchbook.crate.recompute import recompute
from benchbook.define import catalogue
from benchbook.host import facts
from benchbook.judge.paper_json import PAPER, read_paper
from benchbook.records import journal, seal
from benchbook.report import archive_text
from benchbook.report.anonymise import nameless

# The environment and the workflow; those that a checkout lacks are left out.
OF_CHECKOUT = (
    *("Snakefile", "LICENSE", "CITATION.cff", "pyproject.toml", "flake.nix", "flake.lock"),
    *("requirements.lock", "requirements-build.lock", "Dockerfile"),
)
FOLDERS = (
    "workflows/*.smk",
    *(f"config/{preset}.yaml" for preset in ("default", "tiny", "paper")),
)
# Texts that were made on this machine; all else is the checkout's own, or a page without names.
MEASURED = ("data/runs/", "results/", "build/")
ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the same archive has the same bytes whenever it is packed


@dataclass(frozen=True)
class Exported:
    """Where the archive is, how many files and bytes it has, and in which names were replaced."""

    path: Path
    files: int
    size: int
    renamed: list[str]


def export(root: Path, target: Path, names: list[str], host: str, preset: str) -> Exported:
    """Write an archive of these experiments and papers; of all that have results, if none is named.

    `target` ends with .zip, or is a folder that is not there yet. BenchbookError where results are
    missing, or are not what this version makes of their runs.
    """
    if target.exists():
        raise BenchbookError(f"{target} exists; name another place, or remove it first")
    index = _index(root, names, host, preset)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        top = draft / "archive"
        renamed = _collect(root, top, index)
        written = recompute(top, index)
        for path in written:
            _same_conclusions(root / path, top / path)
        for parquet in top.glob("results/**/*.parquet"):
            parquet.unlink()  # bytes of another version of Arrow; the journals hold all of it
        write_json(top / contents.INDEX, index.as_json())
        write_text(top / contents.README, archive_text.readme(index))
        write_text(top / contents.METADATA, metadata.metadata(top, index))
        digests = {name: contents.sha256((top / name).read_bytes()) for name in _files(top)}
        write_text(top / contents.SUMS, contents.sums_text(digests.items()))
        files = [*_files(top)]
        if target.suffix == ".zip":
            _pack(top, files, draft / "archive.zip")
            (draft / "archive.zip").replace(target)
        else:
            top.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    packed = [target] if target.is_file() else [target / name for name in files]
    return Exported(target, len(files), sum(path.stat().st_size for path in packed), renamed)


def _index(root: Path, names: list[str], host: str, preset: str) -> Index:
    """What is to be in the archive."""
    results = root / "results" / host / preset
    measured = [
        name
        for name in catalogue.experiments(root)
        if (results / name / contents.ANALYSIS).exists()
    ]
    judged = [name for name in catalogue.papers(root) if (results / name / PAPER).exists()]
    if not measured:
        raise BenchbookError(f"{results} has no results; run `snakemake` first, or name --preset")
    unknown = [name for name in names if name not in (*measured, *judged)]
    if unknown:
        there = ", ".join(judged + measured)
        raise BenchbookError(f"{results} has no results of {unknown[0]!r}; name one of {there}")
    papers = [name for name in judged if not names or name in names]
    behind = {name for paper in papers for name in catalogue.experiments_of(root, paper)}
    experiments = [name for name in measured if not names or name in names or name in behind]
    if missing := sorted(behind - set(experiments)):
        raise BenchbookError(f"{results} lacks {missing[0]}; run `snakemake` and export again")
    runs = [
        run
        for experiment in experiments
        for run in _runs(root, read_json(results / experiment / contents.CURRENT))
    ]
    commit = facts.commit(root)
    return Index(commit, host, preset, tuple(experiments), tuple(papers), tuple(runs))


def _runs(root: Path, pointer: dict[str, Any]) -> Iterator[ArchivedRun]:
    """The run that a pointer names, and the complete ones that settle a claim of it."""
    experiment, folder = pointer["experiment"], Path(pointer["folder"])
    if folder != Path("data/runs", pointer["host"], experiment, pointer["run"]):
        raise BenchbookError(f"{folder} is not where runs lie (data/runs); it cannot be exported")
    if not (root / folder / journal.MANIFEST).exists():
        raise BenchbookError(f"{folder} is gone or not complete; run `snakemake` and export again")
    seal.verify(root / folder)
    yield ArchivedRun(experiment, pointer["run"], str(folder), True)
    for manifest in sorted(
        (root / folder).parent.glob(f"*{catalogue.SETTLING}/{journal.MANIFEST}")
    ):
        run = manifest.parent
        settles = read_json(run / journal.PLAN).get("settle") or {}
        if settles.get("of") == pointer["run"] and not seal.damage(run):
            yield ArchivedRun(experiment, run.name, str(folder.with_name(run.name)), False)


def _collect(root: Path, top: Path, index: Index) -> list[str]:
    """Copy all that the archive is made of, without names; returns the files in which some were."""
    renamed = []
    for path in sorted(_sources(root, index)):
        target = top / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        name = str(path.relative_to(root))
        if name.startswith(MEASURED) and _copy_nameless(path, target):
            renamed.append(name)
        elif not target.exists():
            shutil.copyfile(path, target)
    for run in index.runs:
        if any(name.startswith(f"{run.folder}/") for name in renamed):
            manifest = read_json(top / run.folder / journal.MANIFEST)
            if seal.FILES in manifest:
                sealed = manifest | {seal.FILES: seal.sums(top / run.folder)}
                write_json(top / run.folder / journal.MANIFEST, sealed)
    return renamed


def _sources(root: Path, index: Index) -> set[Path]:
    """The files of the checkout that enter an archive."""
    results = root / index.results
    found = {root / name for name in OF_CHECKOUT}
    for pattern in FOLDERS:
        found |= set(root.glob(pattern))
    for experiment in (*index.experiments, catalogue.PROBE):
        found |= set((root / "kernels" / experiment).rglob("*"))
        found |= set(catalogue.source_files(root, experiment))
    for experiment in index.experiments:
        found |= {results / experiment / name for name in (contents.CURRENT, contents.EVIDENCE)}
        pointer = read_json(results / experiment / contents.CURRENT)
        found |= {root / folder / "variant.json" for folder in pointer["variants"].values()}
    for paper in index.papers:
        found |= set((root / "data/published" / paper).rglob("*"))
        found |= set((root / "reports/figures" / paper).rglob("*"))
        found |= {root / f"reports/{paper}{end}.html" for end in ("", "-details")}
        found.add(root / f"notebooks/{paper}.ipynb")
    for run in index.runs:
        found |= set((root / run.folder).rglob("*"))
    return {path for path in found if path.is_file() and "__pycache__" not in path.parts}


def _copy_nameless(path: Path, target: Path) -> bool:
    """Copy a file, a text line by line without names; returns whether any was in it."""
    content = path.read_bytes()
    try:
        lines = content.decode("utf-8").splitlines(keepends=True)
    except UnicodeDecodeError:  # samples, as whole numbers
        return False
    written = "".join(map(nameless, lines)).encode()
    target.write_bytes(written)
    return written != content


def _same_conclusions(stated: Path, made: Path) -> None:
    """Refuse results that are not what this version makes of the run."""
    if _conclusions(stated) != _conclusions(made):
        raise BenchbookError(
            f"{stated} is not what this version of Benchbook makes of its run; run `snakemake` and "
            "export again"
        )


def _conclusions(path: Path) -> list[Any]:
    """Estimates and findings of an analysis.json, verdicts of a paper.json."""
    if path.name == contents.ANALYSIS:
        analysis = read_json(path)
        points = [(point["point"], point.get("time_ns")) for point in analysis["points"]]
        return [points, [(found["artefact"], found["where"]) for found in analysis["findings"]]]
    if path.name == PAPER:
        claims = [claim for figure in read_paper(path)["figures"] for claim in figure["claims"]]
        keys = ("figure", "claim", "verdict", "estimate", "interval")
        return [[claim.get(key) for key in keys] for claim in claims]
    return []  # verdicts.json holds the same claims, of other papers too


def _files(top: Path) -> Iterable[str]:
    return sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file())


def _pack(top: Path, files: list[str], target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in files:
            about = zipfile.ZipInfo(name, ZIP_TIME)
            about.external_attr = 0o100644 << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(about, (top / name).read_bytes())
