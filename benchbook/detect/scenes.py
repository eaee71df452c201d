"""The scenes of a control: which of its points provoke the artefact, and which are judged apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.define import catalogue
from benchbook.define.models import Control
from benchbook.define.points import expand
from benchbook.define.yaml_files import load
from benchbook.detect.inputs.run_table import trial_id


@dataclass(frozen=True)
class Scene:
    """What is told to provoke or not: points judged among others, or a table judged apart."""

    provoked: bool
    where: list[str]


def scenes_of(root: Path, name: str, sizes: dict[str, Any]) -> tuple[list[Scene], bool]:
    """All scenes of a played control, in order, and whether each is judged apart.

    Judged together, each point (and each trial) is a scene of its own. What host sizes leave out
    is in none.
    """
    control = load(catalogue.definition_file(root, name), Control)
    content = catalogue.definition(root, name)
    apart = bool(control.get("apart"))
    scenes = []
    for side in catalogue.SIDES:
        for cross in catalogue.crosses_of_control(control, side):
            points = [point.id for point in expand(content, [cross], sizes)[0]]
            for where in [points] if apart else [[point] for point in points]:
                scenes.append(Scene(side == "provoked", where))
    for trial in control.get("trials") or []:
        scenes.append(Scene(trial["provoked"], [trial_id(trial["text"])]))
    return scenes, apart


def groups(root: Path, name: str, plan: dict[str, Any]) -> list[set[str]] | None:
    """The sets of points that detectors see apart from each other; None: all together."""
    if not name.startswith(catalogue.CONTROLS):
        return None
    scenes, apart = scenes_of(root, name, plan["sizes"])
    return [set(scene.where) for scene in scenes] if apart else None
