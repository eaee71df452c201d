"""HPCG (High Performance Conjugate Gradients): its report, or lines of it that are left."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "hpcg"
_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_RATING = late(
    rf"HPCG result is (?P<verdict>VALID|INVALID)"
    rf"(?: with a GFLOP/s rating of[:=] ?(?P<rate>{_NUMBER}))?"
)
_RAW = late(
    r"^(?:(?P<kind>GB/s|GFLOP/s) Summary(?:::|: ?))?"
    r"(?P<name>(?:Raw|Total) [A-Za-z][A-Za-z/ ]{1,60}?)"
    rf"[:=] ?(?P<rate>{_NUMBER})$"
)
_SUMMARY = late(r"^(?P<kind>GB/s|GFLOP/s) Summary(?:[:=] ?)?$")
_COUNTS = {
    "Distributed Processes": "processes",
    "Threads per processes": "threads",
}
_COUNT = late(r"(?P<name>Distributed Processes|Threads per processes)[:=] ?(?P<count>\d{1,7})$")
_REFERENCE = late(r"Reference version of (?P<part>Compute\w+) used")
_TOOK = late(rf"execution time \(sec\) is[:=] ?(?P<took>{_NUMBER})")
_WANTED = late(rf"execution time \(sec\) must be at least[:=] ?(?P<wanted>{_NUMBER})")
_OF_TRAFFIC, _OF_FLOPS = "GB/s", "GFLOP/s"


@dataclass
class _Run(Run):
    """One report; `kind` is the unit of the summary that is being printed."""

    kind: str = ""

    def finish(self) -> bool:
        """Only with a figure."""
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _RATING.search(text):
        rated = any(result.name == "rating" for result in run.results)
        run = reading.begin() if rated else run
        run.facts["is_valid"] = found["verdict"] == "VALID"
        if found["rate"]:
            reading.add("rating", found["rate"], "Gflop/s")
    elif found := _COUNT.search(text):
        name = _COUNTS[found["name"]]
        run = reading.begin() if name in run.facts else run
        run.facts[name] = int(found["count"])
    elif found := _SUMMARY.match(text):
        run.kind = found["kind"]
    elif found := _RAW.match(text):
        kind = found["kind"] or run.kind
        name = found["name"].removeprefix("Raw ").strip()
        if kind == _OF_TRAFFIC:
            reading.add(f"traffic by its model: {name}", found["rate"], "GB/s")
        elif kind == _OF_FLOPS:
            reading.add(f"arithmetic rate: {name}", found["rate"], "Gflop/s")
    elif found := _REFERENCE.search(text):
        parts = run.facts.get("reference_parts", "").split()
        run.facts["reference_parts"] = " ".join(dict.fromkeys([*parts, found["part"]]))
        run.facts.setdefault("reference_line", reading.line.number)
    elif found := _TOOK.search(text):
        reading.add("execution time", found["took"], "s")
    elif found := _WANTED.search(text):
        run.facts["wanted_s"] = float(found["wanted"])


read = LineReader(TOOL, _Run, _line)
