"""`benchbook verify`: is an archive whole, and do its verdicts follow from its raw samples?"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.crate import safe_files
from benchbook.crate.contents import Index
from benchbook.crate.recompute import recompute
from benchbook.crate.safe_files import SafeArchive
from benchbook.judge.paper_json import PAPER
from benchbook.records import seal


@dataclass(frozen=True)
class Difference:
    """A file of results that the raw samples do not lead to: its path, where in it, what it states
    there, and what was computed."""

    file: str
    place: str
    stated: str
    computed: str

    def sentence(self) -> str:
        """In words."""
        return (
            f"{self.file} is not what its raw samples lead to: {self.place or 'it'} is "
            f"{self.stated} there, and {self.computed} computed anew"
        )


@dataclass(frozen=True)
class Verified:
    """The index of a whole archive, how many files it has, which were computed anew, and those that
    differ."""

    index: Index
    files: int
    recomputed: list[str]
    differences: list[Difference]


def verify(path: Path) -> Verified:
    """Check every checksum and seal, and compute estimates, findings and verdicts anew.

    UnsafeArchiveError, with the name of the file, where a checksum is wrong.
    """
    with recomputed(path) as (verified, _):
        return verified


@contextmanager
def recomputed(path: Path) -> Iterator[tuple[Verified, Path]]:
    """What `verify` returns, and the folder in which the archive is unpacked meanwhile; its
    results/ holds what was computed anew, and nothing of the archive's own."""
    with safe_files.opened(path) as archive:
        archive.verify_sums()
        index = archive.index()
        with tempfile.TemporaryDirectory(prefix="benchbook-verify-") as scratch:
            top = Path(scratch)
            archive.unpack(top)
            yield Verified(index, len(archive.entries), *_compared(archive, top, index)), top


def _compared(archive: SafeArchive, top: Path, index: Index) -> tuple[list[str], list[Difference]]:
    for run in index.runs:
        try:
            seal.verify(top / run.folder)
        except seal.DamagedRunError as error:
            raise archive.refuse(f"{run.folder}: {error.reason}") from None
    shutil.move(top / "results", top / "stated")
    for experiment in index.experiments:
        for name in ("current.json", "evidence.json"):
            target = top / index.results / experiment / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(_stated(top, index, experiment) / name, target)
    try:
        written = recompute(top, index)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        reason = f"it is not understood by this version ({type(error).__name__}: {error})"
        raise archive.refuse(reason) from None
    pairs = [(name, top / "stated" / Path(name).relative_to("results")) for name in written]
    return written, [
        difference
        for name, stated in pairs
        if (difference := _difference(name, stated, top / name)) is not None
    ]


def _stated(top: Path, index: Index, name: str) -> Path:
    return top / "stated" / index.host / index.preset / name


def _difference(name: str, stated: Path, computed: Path) -> Difference | None:
    """How two files differ, to the byte; None where they do not."""
    if not stated.exists():
        return Difference(name, "", "missing", "written")
    before, after = stated.read_bytes(), computed.read_bytes()
    if before == after:
        return None
    place = _first(json.loads(before), json.loads(after), "") or ("its layout", "other", "ours")
    return Difference(name, *place)


def _first(stated: Any, computed: Any, place: str) -> tuple[str, str, str] | None:
    """Where two JSON values differ first, and the two values there, shortened."""
    if isinstance(stated, dict) and isinstance(computed, dict):
        pairs = [(key, stated.get(key), computed.get(key)) for key in {**stated, **computed}]
    elif isinstance(stated, list) and isinstance(computed, list) and len(stated) == len(computed):
        pairs = [(str(at), *both) for at, both in enumerate(zip(stated, computed, strict=True))]
    else:
        same = type(stated) is type(computed) and stated == computed
        return None if same else (place, _short(stated), _short(computed))
    places = (_first(a, b, f"{place}/{key}".lstrip("/")) for key, a, b in pairs)
    return next((found for found in places if found), None)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def claims_of(archive: SafeArchive, index: Index) -> list[dict[str, Any]]:
    """The claims of all papers of an archive, by its own files."""
    found = []
    for paper in index.papers:
        content = archive.json(f"{index.results}/{paper}/{PAPER}")
        try:
            found += [claim for figure in content["figures"] for claim in figure["claims"]]
        except (KeyError, TypeError):
            raise BenchbookError(f"{archive.path}: {paper}/{PAPER} has no claims") from None
    return found
