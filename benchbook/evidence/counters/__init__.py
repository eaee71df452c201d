"""Hardware and software counters as their tools print them, as tidy rows of one kind."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from benchbook.core.errors import BenchbookError


class NotUnderstoodError(BenchbookError):
    """A tool's output that is malformed, cut or foreign; says file, line and what is wrong."""

    def __init__(self, file: str, line: int, what: str) -> None:
        super().__init__(f"{file}, line {line}: {what}")


@dataclass(frozen=True)
class Count:
    """One event or metric of one region on one core, as a tool said it.

    value: in `unit` as the tool prints it (empty: a number of events); None unless state is ok, and
    never a 0 that nothing counted. core: None where the tool adds them up. calls: how often the
    region was entered. multiplexed: counted for a part of the time only, because others had the
    counters for the rest; running_fraction: which part, None where the tool does not say.
    """

    region: str
    core: int | None
    group: str
    kind: str  # event or metric
    name: str
    counter: str
    value: float | None
    unit: str
    run_time_s: float | None = None
    calls: int | None = None
    multiplexed: bool = False
    running_fraction: float | None = None
    state: str = "ok"  # or absent
    reason: str = ""


def write_counts(path: Path, counts: list[tuple[dict[str, str], Count]]) -> None:
    """A CSV file: the columns of each dictionary (the same in all), then those of the count."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = [*counts[0][0], *(field.name for field in fields(Count))]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(about | asdict(count) for about, count in counts)
