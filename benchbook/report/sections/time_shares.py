"""Where the time of programs went: the parts that they measured themselves, as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.plots.palette import PALETTE, variable
from benchbook.report.wording import Paper

# Observed share -> its name. The parts of a group are all of the time of its programs.
OF_RANKS = {
    "busy_fraction": "computing",
    "waiting_fraction": "waiting for messages",
    "sending_fraction": "handing them over",
    "collective_fraction": "in collective calls",
}
OF_SHARED_PAGES = {
    "task_fraction": "the program's own work",
    "messages_fraction": "messages",
    "faulting_fraction": "page faults",
    "writing_fraction": "handling of writes",
    "sync_fraction": "synchronisation",
}
GROUPS = (OF_RANKS, OF_SHARED_PAGES)
# A program that has no one to wait for is all work: such bars show nothing.
ALL_WORK = 0.99
WRITTEN_FROM = 0.1  # a narrower part has no room for its number
COLOURS = (PALETTE[6], PALETTE[0], PALETTE[1], PALETTE[2], PALETTE[3])
Point = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """One part of a bar. `share` of the whole, from 0 to 1, and the same in words; `text` is what
    stands in the bar, empty where it has no room."""

    name: str
    share: float
    in_words: str
    text: str
    colour: str


@dataclass(frozen=True)
class Bar:
    """One measurement: its name and setting, its median time as text, and its parts."""

    label: str
    time: str
    parts: tuple[Part, ...]


def bars(paper: Paper, experiment: str) -> list[Bar]:
    """A bar for each measured point of an experiment all of whose parts were observed. Control
    builds and programs that only work are left out."""
    shown = [
        (point, group)
        for point in paper["points"]
        for group in GROUPS
        if _is_shown(point, experiment, group)
    ]
    return [_bar(paper, point, group) for point, group in shown]


def legend(shown: list[Bar]) -> list[Part]:
    """The parts of these bars, in their order."""
    return list(shown[0].parts) if shown else []


def _is_shown(point: Point, experiment: str, group: Mapping[str, str]) -> bool:
    shares = [point.get("observations", {}).get(name) for name in group]
    return (
        point["experiment"] == experiment
        and point["state"] == "ok"
        and not point["twin"]
        and all(share is not None for share in shares)
        and shares[0] < ALL_WORK
    )


def _bar(paper: Paper, point: Point, group: Mapping[str, str]) -> Bar:
    seen = point["observations"]
    parts = (
        Part(
            name,
            seen[column],
            number_format.share(seen[column]),
            number_format.share(seen[column]) if seen[column] >= WRITTEN_FROM else "",
            variable(colour),
        )
        for (column, name), colour in zip(group.items(), COLOURS, strict=False)
    )
    label = wording.point_name(paper, point["point"])
    return Bar(label, number_format.duration(point["time_ns"]), tuple(parts))
