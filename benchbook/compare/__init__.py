"""`benchbook compare A B`: two runs, hosts or presets, point by point."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

from benchbook.compare.differing import differences
from benchbook.compare.matched import METHOD, compared
from benchbook.compare.sides import Side, read_side
from benchbook.core import number_format
from benchbook.core.errors import BenchbookError
from benchbook.core.files import storable

VERSION = 1
SAID = {
    "b_faster": "B faster",
    "a_faster": "A faster",
    "no_difference_shown": "no difference shown",
    "undecided": "undecided",
    "not_measured": "not measured",
}


def compare(root: Path, a: str, b: str) -> dict[str, Any]:
    """What the two sides have in common, point by point, and what differs besides."""
    ours, theirs = read_side(root, a), read_side(root, b)
    shared = [name for name in ours.experiments if name in theirs.experiments]
    if not shared:
        raise BenchbookError(
            f"{a} has {number_format.listed(list(ours.experiments))}, {b} has "
            f"{number_format.listed(list(theirs.experiments))}: no experiment is in both; "
            "measure one of "
            "them on the other side"
        )
    content = {
        "version": VERSION,
        "method": METHOD,
        "a": _about(ours),
        "b": _about(theirs),
        "items": [compared(ours.experiments[name], theirs.experiments[name]) for name in shared],
        "only_a": [name for name in ours.experiments if name not in theirs.experiments],
        "only_b": [name for name in theirs.experiments if name not in ours.experiments],
        "differences": differences(ours, theirs),
    }
    stored: dict[str, Any] = storable(content)
    return stored


def _about(side: Side) -> dict[str, Any]:
    runs = {name: experiment.run for name, experiment in side.experiments.items()}
    return {
        "label": side.label,
        "hosts": sorted({experiment.host for experiment in side.experiments.values()}),
        "runs": runs,
    }


def counts(content: dict[str, Any]) -> dict[str, int]:
    """Answer -> number of points of all experiments with it, in the order of SAID."""
    by_answer = Counter(row["said"] for item in content["items"] for row in item["points"])
    return {name: by_answer[name] for name in SAID if by_answer[name]}


def headline(content: dict[str, Any]) -> str:
    """The comparison's answer in one line."""
    found = counts(content)
    parts = [f"{words} at {found[name]}" for name, words in SAID.items() if name in found]
    total = number_format.plural(sum(found.values()), "point")
    return f"{total} in both: {number_format.listed(parts)}" if parts else "No point is in both"


def floor_said(compared: dict[str, Any]) -> str:
    """What limits the differences that can be told, in words."""
    if compared["failed"] or compared["unknown"]:
        return f"Nothing is called different here: {compared['failed'] or compared['unknown']}."
    part = max(compared["parts"], key=lambda part: float(part["log_effect"]))
    return (
        f"Nothing below a factor of {number_format.number(math.exp(compared['log_effect']))} is "
        "called "
        f"different: so far {part['name']} may lie apart."
    )
