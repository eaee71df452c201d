"""numastat: from which node pages came, since the machine was started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "numastat"
_HEAD = late(r"^(?:node\d{1,4}\s*){1,64}$")
_ROW = late(
    r"^(?P<name>numa_hit|numa_miss|numa_foreign|interleave_hit|local_node|other_node)\s+"
    r"(?P<counts>\d{1,18}(?:\s+\d{1,18}){0,63})$"
)


@dataclass
class _Run(Run):
    """One table; `nodes`: the names of its columns."""

    nodes: tuple[str, ...] = ()


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.startswith("node") and _HEAD.match(text):
        if run.results:
            run = reading.begin()
        run.nodes = tuple(text.split())
    elif "_" in text and (found := _ROW.match(text)):
        counts = found["counts"].split()
        if any(own.name == found["name"] for own in run.results):
            run = reading.begin(nodes=run.nodes)
        nodes = run.nodes or ("one node",)
        if len(counts) != len(nodes):
            return
        for node, count in zip(nodes, counts, strict=True):
            of: dict[str, Any] = {"label": node}
            reading.add(found["name"], float(count), "pages", GIVEN, of)


read = LineReader(TOOL, _Run, _line)
