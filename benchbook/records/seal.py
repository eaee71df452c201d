"""What ties a complete run to its files: sizes and checksums in its manifest, verified when it is
read.

Runs of a Benchbook before 27 November 2026 have none; they are read, and pages say "not sealed".
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.records import journal

FILES = "files"
NAMED_BY_CONTENT = ".i64"  # sample files: the name is the checksum, checked when they are loaded
WHOLE_FILES = (journal.PLAN, journal.JOURNAL, journal.PROBES)
# Path -> what the file was when this process read it, and its checksum. A gigabyte takes a second,
# and one command opens the same run several times.
_READ: dict[Path, tuple[tuple[int, ...], str]] = {}


class DamagedRunError(BenchbookError):
    """A complete run is not what was measured; `run` is its folder."""

    def __init__(self, run: Path, reason: str) -> None:
        super().__init__(
            f"{run}: {reason}; the run is damaged. Restore it from a copy, or remove the "
            "current.json in results/ that names it and run again: Benchbook then leaves it out"
        )
        self.run, self.reason = run, reason


@dataclass(frozen=True)
class LeftOut:
    """A complete run that was not used, and why."""

    run: str
    reason: str

    def as_json(self) -> dict[str, str]:
        """The fields as they stand in files."""
        return {"run": self.run, "reason": self.reason}


def sums(run: Path) -> dict[str, dict[str, Any]]:
    """{bytes, sha256} of each file of a run, by name: what its manifest keeps as `files`."""
    whole = [run / name for name in WHOLE_FILES if (run / name).exists()]
    samples = sorted(run.glob(f"samples/*{NAMED_BY_CONTENT}"))
    return {
        str(path.relative_to(run)): {"bytes": path.stat().st_size, "sha256": _sha256(path)}
        for path in [*whole, *samples]
    }


def verify(run: Path) -> bool:
    """Whether a complete run has checksums; DamagedRunError where it does not match them.

    Sample files are checked by size and name here, and by content when they are loaded: so a run of
    10^8 samples costs a second for each gigabyte of its journal, and nothing is read twice.
    """
    try:
        manifest = read_json(run / journal.MANIFEST)
    except BenchbookError:
        raise DamagedRunError(run, f"{journal.MANIFEST} cannot be read") from None
    if FILES not in manifest:
        return False
    for reason in _damage(run, manifest, whole=False):
        raise DamagedRunError(run, reason)
    return True


def all_damage(run: Path) -> list[str]:
    """Each way in which a complete run is not what was measured, by its file; sample files are read
    whole. Of a run without checksums: what its journal and the names of its sample files show."""
    try:
        manifest = read_json(run / journal.MANIFEST)
        if FILES in manifest:
            return list(_damage(run, manifest, whole=True))
        progress(run)
    except DamagedRunError as error:
        return [error.reason]
    except BenchbookError as error:
        return [str(error).removeprefix(f"{run}/").partition(";")[0]]
    return [
        f"{path.relative_to(run)} is not what its name says"
        for path in sorted(run.glob(f"samples/*{NAMED_BY_CONTENT}"))
        if _sha256(path) != path.stem
    ]


def _damage(run: Path, manifest: dict[str, Any], *, whole: bool) -> Iterator[str]:
    """Why each file does not match its checksum in a manifest; `whole`: sample files by content as
    well, else by size and name."""
    try:
        stated = {name: (kept["bytes"], kept["sha256"]) for name, kept in manifest[FILES].items()}
    except (AttributeError, KeyError, TypeError):
        reason = f"the checksums in {journal.MANIFEST} cannot be read"
        raise DamagedRunError(run, reason) from None
    if missing := [name for name in WHOLE_FILES[:2] if name not in stated]:
        raise DamagedRunError(run, f"{journal.MANIFEST} has no checksum of {missing[0]}")
    for name, (size, digest) in stated.items():
        if reason := _file_damage(run, name, size, digest, whole=whole):
            yield reason


def damage(run: Path) -> LeftOut | None:
    """Why a complete run must be left out; None where it is sound or has no checksums."""
    try:
        verify(run)
    except DamagedRunError as error:
        return LeftOut(run.name, error.reason)
    return None


def progress(run: Path) -> journal.Progress:
    """What the journal of a complete run says was done; DamagedRunError where the manifest says
    otherwise, or an invocation occurs twice. This also finds damage of runs without checksums."""
    manifest, done = read_json(run / journal.MANIFEST), journal.progress(run)
    counted = {
        "blocks": len(done.complete),
        "abandoned": done.abandoned,
        "disturbed": done.disturbed,
    }
    for name, value in counted.items():
        if manifest.get(name, value) != value:
            reason = f"{journal.JOURNAL} has {_text(value)} {name}"
            reason += f", {journal.MANIFEST} {_text(manifest[name])}"
            raise DamagedRunError(run, reason)
    if done.repeated:
        reason = f"{journal.JOURNAL} has twice what {done.repeated} measured"
        raise DamagedRunError(run, reason)
    return done


def _text(value: Any) -> str:
    return f"{len(value)}" if isinstance(value, list) else str(value)


def _file_damage(run: Path, name: str, size: int, digest: str, *, whole: bool) -> str:
    """Why a file is not the one that was sealed; "" where it is."""
    path = run / name
    try:
        own_size = path.stat().st_size
        if own_size != size:
            return f"{name} has {own_size:,} bytes, and had {size:,} when the run ended"
        if not whole and path.suffix == NAMED_BY_CONTENT and path.stem == digest:
            return ""
        return "" if _sha256(path) == digest else f"{name} was changed after the run ended"
    except OSError as error:
        return f"{name}: {error.strerror}"


def _sha256(path: Path) -> str:
    """The checksum of a file, read again only where the file may have changed."""
    with path.open("rb") as stream:
        about = os.fstat(stream.fileno())
        state = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        known = _READ.get(path.absolute())
        if known is None or known[0] != state:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            known = _READ[path.absolute()] = (state, digest)
    return known[1]
