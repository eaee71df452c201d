"""Which files decide what is said of the controls, and what a change of them leaves of a count.

A detector decides what it says itself, a kernel what is seen of its controls, and a replay what is
seen in that replay; any other file decides all. Which modules decide is computed from what they
import, so that no list is kept by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from benchbook.controls.campaign_counts import REPLAYED, Line
from benchbook.core import import_closure
from benchbook.define import catalogue
from benchbook.define.models import Control
from benchbook.define.yaml_files import load

# What plays a control and judges it; replays name further modules themselves.
PLAYING = (
    "benchbook.controls.background_load",
    "benchbook.controls.run",
    "benchbook.controls.score",
)
PACKAGE = "benchbook"
# What is measured and replayed, with that of kernels that controls borrow.
DECIDING = ("kernels/common", "kernels/controls", "tests/counter_outputs")
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
        """Lines counted at the other version, without what the change says nothing of any more."""
        for line in lines:
            changed = self.controls | (self.replays if line.load == REPLAYED else set())
            if not self.all and line.control not in changed:
                standing = [
                    outcome for outcome in line.outcomes if outcome.artefact not in self.artefacts
                ]
                yield replace(line, outcomes=standing)


def files(root: Path) -> Files:
    """All files that decide what is said of the controls -> the begin of their SHA-256.

    Those of kernels that controls borrow are among them, and all modules that playing and judging
    a control, or a replay, imports.
    """
    borrowed = {kernel for kernel, _ in _controls(root).values()}
    borrowed &= set(catalogue.experiments(root))
    places = [*DECIDING, *(f"{KERNELS}/{name}" for name in borrowed)]
    names = {str(path.relative_to(root)) for place in places for path in _in(root / place)}
    return {
        name: hashlib.sha256((root / name).read_bytes()).hexdigest()[:16]
        for name in sorted(names | set(_modules(root)))
    }


def _modules(root: Path) -> list[str]:
    replays = sorted((root / KERNELS / catalogue.CONTROLS).rglob(catalogue.REPLAY))
    named = [name for replay in replays for name in import_closure.of_file(root, PACKAGE, replay)]
    return import_closure.closure(root, PACKAGE, [*PLAYING, *named])


def digest(deciding: Files) -> str:
    """A name for the version that these files make."""
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()[:16]


def change(root: Path, before: Files, now: Files) -> Change:
    """What a count at the version `before` says nothing of any more at that of `root`."""
    changed = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
    owners = {_owner(PurePosixPath(name)) for name in changed}
    kernels = {name for folder, name in owners if folder == KERNELS}
    replays = {name for folder, name in owners if folder == catalogue.REPLAY}
    artefacts = {name for folder, name in owners if folder == DETECTORS}
    by_control = _controls(root)
    controls = {
        name
        for name, (kernel, artefact) in by_control.items()
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
