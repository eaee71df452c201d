"""Which files decide what is said of the controls, and what a change of them leaves of a count.

A detector decides what it says itself, a kernel what is seen of its controls, and a replay what is
seen in that replay; any other file decides all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from benchbook.controls.campaign_counts import REPLAYED, Line
from benchbook.define import catalogue
from benchbook.define.models import Control
from benchbook.define.yaml_files import load

# All that builds, measures, observes and judges, and what is replayed.
DECIDING = ("benchbook", "kernels/common", "kernels/controls", "tests/counter_outputs")
NOT_DECIDING = (
    "benchbook/controls/campaign",
    "benchbook/define/schemas",
    # What the judging of a play never loads.
    *(
        f"benchbook/{name}/"
        for name in ("audit", "commands", "compare", "crosscheck", "explain", "judge", "report")
    ),
    "benchbook/records/archive.py",
)
DETECTORS, KERNELS, COMMON = "benchbook/detect/detectors", "kernels", "common"

Files = dict[str, str]  # path -> what names its content


@dataclass(frozen=True)
class Change:
    """What two versions differ in: all, or what is seen of some controls, what of some when they
    are replayed, and what is said by some detectors."""

    all: bool
    controls: frozenset[str]
    replays: frozenset[str]
    artefacts: frozenset[str]

    def left(self, lines: Iterable[Line]) -> Iterable[Line]:
        """What stands of lines counted at the other version."""
        for line in lines:
            changed = self.controls | (self.replays if line.load == REPLAYED else set())
            if not self.all and line.control not in changed:
                said = [
                    outcome for outcome in line.outcomes if outcome.artefact not in self.artefacts
                ]
                yield replace(line, outcomes=said)


def files(root: Path) -> Files:
    """All files that decide what is said, those of kernels that controls borrow included."""
    borrowed = {kernel for kernel, _ in _controls(root).values()}
    borrowed &= set(catalogue.experiments(root))
    places = [*DECIDING, *(f"{KERNELS}/{name}" for name in borrowed)]
    found = {str(path.relative_to(root)): path for place in places for path in _in(root / place)}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for name, path in sorted(found.items())
        if not name.startswith(NOT_DECIDING)
    }


def digest(deciding: Files) -> str:
    """A name for a version."""
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()[:16]


def change(root: Path, before: Files, now: Files) -> Change:
    """What a count at the version `before` says nothing of any more at that of `root`."""
    changed = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
    owners = {_owner(PurePosixPath(name)) for name in changed}
    kernels = {name for folder, name in owners if folder == KERNELS}
    replays = {name for folder, name in owners if folder == catalogue.REPLAY}
    artefacts = {name for folder, name in owners if folder == DETECTORS}
    known = _controls(root)
    controls = {
        name
        for name, (kernel, artefact) in known.items()
        if kernel in kernels or artefact in artefacts
    }
    # Also those that are gone: their own folder has changed.
    controls |= kernels
    everything = ("", "") in owners
    return Change(everything, frozenset(controls), frozenset(replays), frozenset(artefacts))


def _owner(path: PurePosixPath) -> tuple[str, str]:
    """Whose file that is: a detector's (by artefact), a kernel's or a replay's (by control); empty
    where all is decided."""
    if str(path.parent) == DETECTORS and path.stem != "__init__":
        return DETECTORS, path.stem.replace("_", "-")
    folders = path.parts[1:-1]
    if path.parts[0] == KERNELS and folders and folders[0] != COMMON:
        kernel = "/".join(folders[:2] if f"{folders[0]}/" == catalogue.CONTROLS else folders[:1])
        if kernel != catalogue.CONTROLS.rstrip("/"):
            return catalogue.REPLAY if path.name == catalogue.REPLAY else KERNELS, kernel
    return "", ""


def _in(path: Path) -> Iterable[Path]:
    if path.is_file():
        return [path]
    return [file for file in path.rglob("*") if file.is_file() and file.suffix != ".pyc"]


def _controls(root: Path) -> dict[str, tuple[str, str]]:
    """Each control's kernel (what is only replayed is its own) and artefact."""
    return {
        name: (definition.get("kernel") or name, definition["artefact"])
        for name in catalogue.controls(root)
        for definition in [load(catalogue.definition_file(root, name), Control)]
    }
