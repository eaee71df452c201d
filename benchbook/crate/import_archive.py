"""`benchbook import ARCHIVE`: the runs of somebody else's archive, kept as recorded runs.

All of it is checked before a file is written, and nothing in it is executed. Its runs appear in
data/recorded whole or not at all, and no run that is there is changed.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.compare import compare
from benchbook.core import scratch
from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_json
from benchbook.crate import contents, safe_files
from benchbook.crate.contents import ArchivedRun, Index
from benchbook.crate.safe_files import SafeArchive, shown
from benchbook.define import catalogue
from benchbook.records import archive as recorded
from benchbook.records import journal, seal
from benchbook.report import compare_sentences

NEEDED = (journal.PLAN, journal.JOURNAL, journal.MANIFEST)
DRAFT = ".import-"  # what begins the name of a folder in data/ that becomes runs
LONGEST_REASON = 240  # letters
MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class Imported:
    """The folders of an archive's runs, relative to the checkout: those that were written, and
    those that had been here. `settling` is how many runs were left out that settle one claim."""

    host: str
    written: list[Path]
    present: list[Path]
    settling: int


@dataclass(frozen=True)
class _Run:
    """A run of an archive that was checked: the folder that it gets, relative to the checkout, its
    files with their checksums, its variants, and the facts of its host."""

    source: ArchivedRun
    folder: Path
    digests: dict[str, str]
    variants: list[dict[str, Any]]
    facts: dict[str, Any]


def import_archive(root: Path, path: Path) -> Imported:
    """Keep the runs of the archive in data/recorded/<host>/<experiment>/<run>.

    UnsafeArchiveError with the name of the file where anything in it is wrong; BenchbookError where
    another run has the name of one. Nothing is written then.
    """
    with safe_files.opened(path) as archive:
        digests = archive.verify_sums()
        index = archive.index()
        runs = [_checked(archive, index, digests, run) for run in index.runs if run.main]
        present = [run.folder for run in runs if _is_here(root, run)]
        new = [run for run in runs if run.folder not in present]
        if new:
            _write(root, archive, index, new)
    settling = len(index.runs) - len(runs)
    return Imported(index.host, [run.folder for run in new], present, settling)


def _checked(archive: SafeArchive, index: Index, digests: dict[str, str], run: ArchivedRun) -> _Run:
    """A run whose files are those of a complete run, of the host and experiment that it is under,
    in a format of this version."""
    start = f"{run.folder}/"
    own = {name.removeprefix(start): digests[name] for name in digests if name.startswith(start)}
    for name in own:
        if name not in (*NEEDED, journal.PROBES) and not journal.SAMPLES_FILE.fullmatch(name):
            raise archive.refuse(f"{start}{name} is no file of a run")
    for name in NEEDED:
        if name not in own:
            raise archive.refuse(f"{start}{name} is missing")
    plan = _versioned(archive, f"{start}{journal.PLAN}")
    manifest = _versioned(archive, f"{start}{journal.MANIFEST}")
    if (plan.get("host"), plan.get("experiment")) != (index.host, run.experiment):
        raise archive.refuse(f"{start}{journal.PLAN} is of another host or experiment")
    if manifest.get("experiment") != run.experiment:
        raise archive.refuse(f"{start}{journal.MANIFEST} is of another experiment")
    if run.run.endswith(catalogue.SETTLING):
        raise archive.refuse(f"{run.folder} settles one claim and is called a whole run")
    if not isinstance(plan.get("host_facts"), dict):
        raise archive.refuse(f"{start}{journal.PLAN} has no facts of its host")
    folder = recorded.FOLDER / index.host / run.experiment / run.run
    variants = _variants(archive, f"{index.results}/{run.experiment}/{contents.CURRENT}")
    return _Run(run, folder, own, variants, plan["host_facts"])


def _versioned(archive: SafeArchive, name: str) -> dict[str, Any]:
    """A JSON object of the format that this version reads."""
    content = archive.json(name)
    if not isinstance(content, dict) or content.get("version") != journal.VERSION:
        stated = content.get("version") if isinstance(content, dict) else None
        raise archive.refuse(
            f"{name} has format version {shown(repr(stated))}, and this Benchbook reads "
            f"{journal.VERSION}"
        )
    return content


def _variants(archive: SafeArchive, pointer: str) -> list[dict[str, Any]]:
    """What is recorded of each variant that was measured."""
    folders = _versioned(archive, pointer).get("variants")
    if not isinstance(folders, dict):
        raise archive.refuse(f"{pointer} names no variants")
    items = []
    for name, folder in folders.items():
        path = shown(f"{folder}/variant.json")
        built = _versioned(archive, f"{folder}/variant.json")
        binary = built.get("binary") or {}
        if not isinstance(binary, dict):
            raise archive.refuse(f"{path} has an odd 'binary'")
        items.append(recorded.recorded_variant(name, built | {"binary": binary}))
        if reason := recorded.odd_part(items[-1]):
            raise archive.refuse(f"{path} has an odd {reason}")
    return items


def _is_here(root: Path, run: _Run) -> bool:
    """Whether this very run is here; BenchbookError where another one has its name."""
    place = root / run.folder
    if not place.exists() and not place.is_symlink():
        return False
    with suppress(OSError):
        if all(
            contents.sha256((place / name).read_bytes()) == digest
            for name, digest in run.digests.items()
        ):
            return True
    raise BenchbookError(
        f"{run.folder} is here with other content, and runs are never overwritten; move that "
        "folder away, then import again"
    )


def _write(root: Path, archive: SafeArchive, index: Index, runs: list[_Run]) -> None:
    """Write these runs whole, or none of them."""
    home = root / recorded.FOLDER / index.host
    folders = {folder for run in runs for folder in (root / run.folder).parents}
    absent = [folder for folder in folders if not folder.exists()]
    data = (root / recorded.FOLDER).parent
    data.mkdir(parents=True, exist_ok=True)
    draft = scratch.new_folder(data, DRAFT)
    moved: list[Path] = []
    try:
        for run in runs:
            _unpack(archive, index, run, draft)
        for run in runs:
            place = root / run.folder
            place.parent.mkdir(parents=True, exist_ok=True)
            (draft / run.source.folder).rename(place)  # fails where a run has appeared meanwhile
            moved.append(place)
        if not (home / recorded.HOST).exists():
            write_json(home / recorded.HOST, runs[0].facts)
    except BaseException:
        for place in moved:
            shutil.rmtree(place, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        for folder in sorted(absent, reverse=True):
            with suppress(OSError):  # what was written is in it
                folder.rmdir()


def _unpack(archive: SafeArchive, index: Index, run: _Run, draft: Path) -> None:
    """Write a run below the draft as a recorded one, and compare it with itself."""
    archive.unpack(draft, iter(f"{run.source.folder}/{name}" for name in run.digests))
    place = draft / run.source.folder
    origin = {
        "recorded_at_commit": index.commit.rstrip("+") or "unknown",
        "changed": index.commit.endswith("+"),
        "command": "benchbook import",
    }
    recorded.complete(place, run.variants, origin)
    try:
        compare_sentences.as_text(compare(draft, run.source.folder, run.source.folder))
    except seal.DamagedRunError as error:
        reason = f"{run.source.folder}: {error.reason}"
    except BenchbookError as error:
        reason = str(error).replace(f"{draft}/", "").partition(";")[0]
    except MALFORMED as error:
        reason = f"{run.source.folder} is not understood by this version "
        reason += f"({type(error).__name__}: {error})"
    else:
        return
    raise archive.refuse(shown(reason, LONGEST_REASON))
