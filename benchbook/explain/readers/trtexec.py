"""trtexec of TensorRT: queries a second, and the times of a query and of its parts."""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "trtexec"
_N = r"\d{1,9}(?:\.\d{1,9})?"
_STAMP = late(r"^\[\d\d/\d\d/\d{4}-[\d:]{8}\] \[[IWEV]\] ?")
_VERSION = late(r"RUNNING TensorRT\.trtexec \[TensorRT v(?P<version>\d{4,7})\]")
_BEGINS = late(r"^=== Performance summary ===$")
_THROUGH = late(rf"^Throughput: (?P<rate>{_N}) qps$")
_TIMES = late(
    r"^(?P<what>Latency|End-to-End Host Latency|Enqueue Time|H2D Latency|GPU Compute Time"
    r"|D2H Latency): (?P<rest>min = .{1,300})$"
)
_TIME = late(
    rf"\b(?P<what>min|max|mean|median|percentile\((?P<share>\d{{1,2}}(?:\.\d+)?)%\)) = "
    rf"(?P<v>{_N}) ms"
)
_TOTAL = late(rf"^(?P<what>Total (?:Host Walltime|GPU Compute Time)): (?P<time>{_N}) s$")


def _clean(text: str) -> str:
    return _STAMP.sub("", text.strip()).strip()


class _Run(Run):
    """One summary."""


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _VERSION.search(text):
        reading.above["version"] = found["version"]
    elif _BEGINS.match(text):
        reading.begin()
    elif found := _THROUGH.match(text):
        if not run.line or run.results:
            reading.begin()
        reading.show("throughput", found["rate"], "queries/s")
    elif run.line and (found := _TIMES.match(text)):
        for time in _TIME.finditer(found["rest"]):
            statistic = f"p{time['share']}" if time["share"] else time["what"]
            reading.show(found["what"], time["v"], "ms", statistic)
    elif run.line and (found := _TOTAL.match(text)):
        reading.show(found["what"].lower().replace("gpu", "GPU"), found["time"], "s")


read = LineReader(TOOL, _Run, _line, clean=_clean)
