"""Rally of Elasticsearch and OpenSearch Benchmark: the summary, a report for each task."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import RATE, TIME

TOOL = "es-rally"
_ROW = late(
    r"^\|? *(?P<what>(?:Min|Mean|Median|Max) Throughput|error rate|"
    r"(?P<share>\d{1,3}(?:\.\d{1,4})?)(?:st|nd|rd|th) percentile "
    r"(?P<kind>latency|service time|processing time)) *\| *(?P<task>[^|]{1,120}?) *"
    r"\| *(?P<value>-?\d[\d,.]{0,20}) *\| *(?P<unit>docs/s|ops/s|pages/s|ms|%) *\|?$"
)
_UNITS = {"docs/s": "documents/s", "ops/s": "operations/s", "pages/s": "pages/s"}
_STATISTICS = {"Min": "min", "Mean": "mean", "Median": "median", "Max": "max"}


@dataclass
class _Run(Run):
    """One task."""


def _line(reading: Reading[_Run], text: str) -> None:
    found = _ROW.match(text) if "|" in text else None
    if found is None:
        return
    run, task = reading.run, found["task"]
    if run.facts.get("section") != task:
        run = reading.begin(facts={"section": task})
    what, unit = found["what"], _UNITS.get(found["unit"], found["unit"])
    if what == "error rate":
        reading.add("error rate", found["value"], unit)
    elif found["share"]:
        share = float(found["share"])
        statistic = {50.0: "median", 100.0: "max"}.get(share) or f"p{share:g}"
        name = TIME if found["kind"] == "latency" else found["kind"]
        reading.add(name, found["value"], unit, statistic)
    else:
        reading.add(RATE, found["value"], unit, _STATISTICS[what.partition(" ")[0]])


read = LineReader(TOOL, _Run, _line)
