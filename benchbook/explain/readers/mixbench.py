"""mixbench: rates of arithmetic and of memory by how many operations there are for a byte, of each
kind of number."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import as_float, is_number
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "mixbench"
_VERSION = late(r"^mixbench(?:[-/\w]*)?.{0,40}?\(v(?P<version>\d[\w.-]*)\)")
_DEVICE = late(r"^(?:Device|CUDA device|HIP device):\s+(?P<name>\S.{0,100}?)$")
_BUFFER = late(r"^Buffer size:\s+(?P<size>\d{1,9})\s*MB$")
_TITLES = late(r"^Experiment ID\b(?P<titles>.+)$")
_HEAD = late(r"^Compute iters,(?P<cells>(?:\s*[\w./]++,?)++)$")
_ROW = late(r"^(?P<count>\d{1,6}),(?P<cells>(?:\s*(?:\d[\d.]*+|-?nan|inf),?){3,40}+)$")
_CELLS = 4  # of each kind of number: intensity, time, operations, bytes
# In the order that they stand in, where their titles are cut off.
_USUAL = ("Single precision", "Double precision", "Half precision", "Integer")


@dataclass
class _Run(Run):
    """One start; `titles` are those of its blocks, `blocks` how many a row has."""

    titles: tuple[str, ...] = ()
    blocks: int = 0

    def finish(self) -> bool:
        """Whether it has figures, or names figures that it could not measure."""
        return bool(self.results or "unmeasured" in self.facts)

    def report(self, tool: str) -> Report:
        """What it printed, which may be nothing that was measured."""
        line = self.line or (self.results[0].line if self.results else 0)
        line = line or int(self.facts.get("unmeasured_line", 0))
        own = self.results, line, self.version, self.facts, self.notes, self.twice
        return Report(tool, *own)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _DEVICE.match(text):
        run.facts["device"] = found["name"].partition("/")[0]
    elif found := _BUFFER.match(text):
        run.facts["working_set_bytes"] = int(found["size"]) << 20
    elif found := _TITLES.match(text):
        titles = [title.strip() for title in found["titles"].split(",")]
        run.titles = tuple(_title(title) for title in titles if title)
        run.blocks = 0
    elif (found := _HEAD.match(text)) and "Flops/byte" in text:
        if run.results:
            run = reading.begin(facts=dict(run.facts), titles=run.titles)
        run.line = run.line or reading.line.number
        run.blocks = len([cell for cell in found["cells"].split(",") if cell.strip()]) // _CELLS
        if len(run.titles) != run.blocks:
            whole = run.blocks == len(_USUAL)
            run.titles = _USUAL if whole else tuple(f"Block {n + 1}" for n in range(run.blocks))
    elif run.blocks and (found := _ROW.match(text)):
        _row(reading, int(found["count"]), found["cells"].split(","))


def _title(words: str) -> str:
    """What the operations are of, without the rest of the title."""
    return words.removesuffix(" ops").removesuffix(" operations").capitalize()


def _row(reading: Reading[_Run], count: int, cells: list[str]) -> None:
    run = reading.run
    values = [as_float(cell.strip()) for cell in cells if cell.strip()]
    for block, title in enumerate(run.titles[: run.blocks]):
        own = values[block * _CELLS : (block + 1) * _CELLS]
        if len(own) < _CELLS or any(value is None for value in own):
            return
        intensity, time, operations, moved = (value or 0.0 for value in own)
        of = {"compute_iterations": count, "operations_per_byte": intensity}
        if not is_number(operations) or time == 0:
            run.facts["unmeasured"] = run.facts.get("unmeasured", 0) + 1
            run.facts.setdefault("unmeasured_line", reading.line.number)
            run.facts.setdefault("unmeasured_kind", title)
            continue
        unit = "Gop/s" if title == "Integer" else "Gflop/s"
        reading.add(f"{title} time", time, "ms", "mean", of)
        reading.add(f"{title} operations", operations, unit, "mean", of)
        reading.add(f"{title} memory", moved, "GB/s", "mean", of)


read = LineReader(TOOL, _Run, _line, _VERSION)
