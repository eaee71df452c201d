"""The runs that are stored in this checkout: what was measured, recorded or imported.

A run lies in data/runs or data/recorded, in <host>/<experiment>/<id>; its id is the folder's name.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.define import catalogue
from benchbook.records import archive, journal, seal

MEASURED = Path("data/runs")
CONTROLS = "controls"
_ID = re.compile(r"\d{8}T\d{6}Z-[\w.+-]+", re.ASCII)
_OWN_FILES = (*seal.WHOLE_FILES, journal.MANIFEST)


class State(StrEnum):
    """How far a run came."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class StoredRun:
    """One run. `folder` is relative to the checkout; `begun` is in UTC; `settles` is the claim that
    it alone settles, "" of a whole run; `samples` counts all in its journal; `reason` says why it
    is unreadable; `shown_by` are the folders of results/ that show it."""

    folder: Path
    host: str
    experiment: str
    preset: str
    begun: datetime
    state: State
    reason: str
    settles: str
    rounds: int
    samples: int
    size_bytes: int
    commit: str
    shown_by: tuple[str, ...]

    @property
    def id(self) -> str:
        """The name by which commands find it."""
        return self.folder.name

    @property
    def is_recorded(self) -> bool:
        """Whether `record` or `import` put it here."""
        return self.folder.is_relative_to(archive.FOLDER)


def stored_runs(root: Path) -> list[StoredRun]:
    """All runs of this checkout, by place, host, experiment and time."""
    return _read(root, _folders(root))


def chosen(root: Path, names: Sequence[str]) -> list[StoredRun]:
    """The runs of these ids or folders, each once; BenchbookError where a name means none, or
    several."""
    folders = _folders(root)
    wanted = []
    for name in names:
        meant = [each for each in folders if name.rstrip("/") in (each.name, str(each))]
        if not meant:
            raise BenchbookError(f"no run has the id {name!r}; see `benchbook run list`")
        if len(meant) > 1:
            places = " or ".join(map(str, meant))
            raise BenchbookError(f"{name} is stored more than once; name {places}")
        wanted += meant
    return _read(root, wanted)


def _folders(root: Path) -> list[Path]:
    """The folders of all runs, relative to the checkout."""
    return [
        folder.relative_to(root)
        for place in (MEASURED, archive.FOLDER)
        for pattern in ("*/*/*", f"*/{CONTROLS}/*/*")
        for folder in (root / place).glob(pattern)
        if _begun(folder.name) and folder.is_dir()
    ]


def _begun(name: str) -> datetime | None:
    """When the run of this id began; None where it is no id."""
    if not _ID.fullmatch(name):
        return None
    try:
        return datetime.strptime(name[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _read(root: Path, folders: Iterable[Path]) -> list[StoredRun]:
    shown = _shown(root)
    runs = [_stored_run(root, folder, shown) for folder in dict.fromkeys(folders)]
    return sorted(runs, key=lambda run: (run.is_recorded, run.host, run.experiment, run.id))


def _shown(root: Path) -> dict[str, list[str]]:
    """Folder of a run -> the folders of results/ whose pointer names it. Recorded runs are shown
    without a pointer."""
    shown: dict[str, list[str]] = {}
    for pointer in sorted((root / "results").glob("*/*/**/current.json")):
        place = pointer.parent.relative_to(root)
        if place.parts[1] == archive.FOLDER.name:
            continue
        with suppress(BenchbookError):  # a damaged pointer shows nothing
            shown.setdefault(str(read_json(pointer)["folder"]), []).append(str(place))
    return shown


def _stored_run(root: Path, folder: Path, shown: dict[str, list[str]]) -> StoredRun:
    path = root / folder
    plan: dict[str, Any] = {}
    reason, rounds, samples = "", 0, 0
    state = State.COMPLETE if (path / journal.MANIFEST).exists() else State.INCOMPLETE
    try:
        plan = read_json(path / journal.PLAN)
        if state is State.COMPLETE:
            read_json(path / journal.MANIFEST)
        for record in journal.read_lines(path / journal.JOURNAL):
            rounds += record["kind"] == "block_end"
            if record["kind"] == "invocation":
                times = record.get("time_ns")
                samples += record.get("samples", len(times) if isinstance(times, list) else 0)
    except (BenchbookError, OSError) as error:
        state = State.UNREADABLE
        reason = str(error).removeprefix(f"{path}/").removeprefix(f"{path}: ").partition(";")[0]
    settles = _text(plan, "settle", "claim")
    files = (file.stat().st_size for file in path.rglob("*") if file.is_file())
    return StoredRun(
        folder=folder,
        host=folder.parts[2],
        experiment="/".join(folder.parts[3:-1]),
        preset=_text(plan, "settings", "preset"),
        begun=_begun(folder.name) or datetime.min.replace(tzinfo=UTC),
        state=state,
        reason=reason,
        settles=settles or ("a claim" if folder.name.endswith(catalogue.SETTLING) else ""),
        rounds=rounds,
        samples=samples,
        size_bytes=sum(files),
        commit=_text(plan, "benchbook", "commit"),
        shown_by=tuple(shown.get(str(folder), ())),
    )


def _text(plan: dict[str, Any], part: str, key: str) -> str:
    """A text of an object in a plan; "" where it has none, as in runs of older versions."""
    content = plan.get(part)
    value = content.get(key) if isinstance(content, dict) else None
    return value if isinstance(value, str) else ""


def damage(root: Path, run: StoredRun) -> list[str]:
    """Each way in which a run is not what was measured or recorded, by its file."""
    path = root / run.folder
    if (path / archive.SUMS).exists():
        return [f"{name} is not what was recorded" for name in archive.changed_files(path)]
    reasons = seal.all_damage(path) if (path / journal.MANIFEST).exists() else []
    return reasons or [reason for reason in (run.reason,) if reason]


def is_sealed(root: Path, run: StoredRun) -> bool:
    """Whether a run has checksums, as complete ones have."""
    path = root / run.folder
    manifest = path / journal.MANIFEST
    return (path / archive.SUMS).exists() or (
        manifest.exists() and seal.FILES in read_json(manifest)
    )


def prune(root: Path, runs: Sequence[StoredRun]) -> None:
    """Remove these runs; BenchbookError where one must stay, and then none is removed.

    The last complete run of an experiment on a host stays, and so does a run that results/ show.
    """
    for run in runs:
        if run.shown_by:
            raise BenchbookError(
                f"{run.id} is what {run.shown_by[0]} shows; remove {run.shown_by[0]}/current.json "
                "first, or keep the run"
            )
        if (root / run.folder).is_symlink():
            raise BenchbookError(f"{run.folder} is a link; remove the link itself")
    going = {run.folder for run in runs}
    parents = {folder.parent for folder in going}
    others = [each for each in _folders(root) if each.parent in parents and each not in going]
    staying = {
        run.folder.parent for run in _read(root, others) if _is_whole(run) and not damage(root, run)
    }
    for run in runs:
        if _is_whole(run) and run.folder.parent not in staying:
            raise BenchbookError(
                f"{run.id} is the last complete run of {run.experiment} on {run.host}; measure "
                f"another one first, or remove {run.folder} yourself"
            )
    for run in runs:
        # Without a plan it is no run that a measurement goes on with, whenever this is killed.
        for name in _OWN_FILES:
            (root / run.folder / name).unlink(missing_ok=True)
        shutil.rmtree(root / run.folder)


def _is_whole(run: StoredRun) -> bool:
    """Whether it is a complete run of the whole experiment."""
    return run.state is State.COMPLETE and not run.settles
