"""rustc-perf (rust-timer): what a change did to the benchmarks of the compiler, by kind."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "rustc-perf"
_HEAD = late(
    r"^\| *\(?(?P<what>[\w:-]*)\)? *\| *mean(?:\[\^1\])? *\| *(?:range|max) *"
    r"\| *count(?:\[\^\d\])? *\|$"
)
_PERCENT = r"-?\d+(?:\.\d+)?%"
_ROW = late(
    r"^\| *(?P<kind>Regressions|Improvements|All)\b[^|()]*\((?P<of>primary|secondary)\) *"
    rf"\| *(?P<mean>{_PERCENT}|-) *"
    rf"\| *(?:\[(?P<low>{_PERCENT}), (?P<high>{_PERCENT})\]|(?P<most>{_PERCENT})|-) *"
    r"\| *(?P<count>\d+) *\|$"
)


@dataclass
class _Run(Run):
    """A table; `what` is the quantity that its head names."""

    what: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    if "mean" in text and (found := _HEAD.match(text)):
        reading.begin(what=found["what"])
        return
    if not reading.run.line or (found := _ROW.match(text)) is None:
        return
    name = " ".join((reading.run.what, found["kind"].lower(), found["of"])).strip()
    count = int(found["count"])
    reading.add(f"{name} count", count, "benchmarks")
    for part, statistic in (("mean", "mean"), ("low", "min"), ("high", "max"), ("most", "max")):
        if found[part] and found[part] != "-":
            reading.add(f"{name} change", float(found[part].rstrip("%")), "%", statistic)


read = LineReader(TOOL, _Run, _line)
