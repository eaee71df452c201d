"""BenchmarkDotNet: its summary table, and what it warns of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Result
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "benchmarkdotnet"
_VERSION = late(r"^BenchmarkDotNet(?:=| )v?(?P<version>[\d.]+)")
_CPU = late(r"^(?P<cpu>.*(?:Intel|AMD|Apple|ARM).*), \d+ CPU")
_FIGURE = late(r"^(?P<value>[\d.,]+) (?P<unit>ns|us|μs|µs|ms|s|B|KB|MB)$")
_TIME = late(r"^\d[\d.,]* (?:ns|us|μs|µs|ms|s)$")  # which is measured, and no parameter
_RATIO = late(r"^(?P<value>\d+(?:[.,]\d+)?)$")
_UNITS = {"μs": "us", "µs": "us", "KB": "KiB", "MB": "MiB"}
# A column by its head: what it is called, and of what it is a statistic.
_COLUMNS = {
    "Mean": ("time", "mean"), "Error": ("time", "confidence 99.9 %"), "StdDev": ("time", "stddev"),
    "Median": ("time", "median"), "Min": ("time", "min"), "Max": ("time", "max"),
    "Allocated": ("allocated", ""), "Ratio": ("ratio", "to baseline"),
    "RatioSD": ("ratio", "deviation"), "Scaled": ("ratio", "to baseline"),
    "StdErr": ("time", "standard error"), "StdError": ("time", "standard error"),
    "Q1": ("time", "p25"), "Q3": ("time", "p75"), "P0": ("time", "min"), "P25": ("time", "p25"),
    "P50": ("time", "median"), "P67": ("time", "p67"), "P75": ("time", "p75"),
    "P80": ("time", "p80"), "P85": ("time", "p85"), "P90": ("time", "p90"), "P95": ("time", "p95"),
    "P99": ("time", "p99"), "P100": ("time", "max"),
}  # fmt: skip
_SETTINGS = (
    "Baseline",
    "MValue",
    "Alloc Ratio",
    "Gen0",
    "Gen1",
    "Gen2",
    "Gen 0",
    "Gen 1",
    "Gen 2",
    "Rank",
    "Code Size",
    # What it measured in other units, and what it says of the samples.
    "Op/s",
    "Ops/s",
    "Ops/sec",
    "Iterations",
    "Skewness",
    "Kurtosis",
    "CI99.9% Margin",
    "Completed Work Items",
    "Lock Contentions",
    "Exceptions",
    "Native allocated",
    "Allocated native memory",
    "Native memory leak",
    "Welch(1%)",
    "MannWhitney(5%)",
    "Gen0/1k Op",
    "Gen1/1k Op",
    "Gen2/1k Op",
)
# Of its detailed results, below a line with the class and the method.
_METHOD = late(r"^(?P<method>[A-Z]\w*(?:\.\w+)+): (?:DefaultJob|Job-\w+|\w+)")
_DETAILED = late(
    r"^Mean = (?P<mean>[\d.,]+) (?P<unit>ns|us|μs|µs|ms|s), StdErr = [^,]+, N = (?P<count>\d+), "
    r"StdDev = (?P<stddev>[\d.,]+) "
)
_ENDS = late(
    r"^Min = (?P<min>[\d.,]+) (?P<unit>\S+), Q1 = (?P<p25>[\d.,]+) \S+, Median = "
    r"(?P<median>[\d.,]+) \S+, Q3 = (?P<p75>[\d.,]+) \S+, Max = (?P<max>[\d.,]+) "
)
_MODES = late(r"^Skewness = .{1,60}, MValue = (?P<value>\d+(?:[.,]\d+)?)$")
_OPERATIONS = late(r"^WorkloadResult +\d{1,6}: (?P<count>\d{1,12}) op, ")
_BIN = late(
    r"^\[ *(?P<low>[\d.,]+) (?P<unit>ns|us|μs|µs|ms|s) ; *(?P<high>[\d.,]+) \S{1,2}\) "
    r"\|(?P<bar>[ @]*)$"
)
_DEBUG = late(r"\bDEBUG\b|without optimization enabled|non-optimized")
# What is read of a table whose head was cut off: the four columns that it has by default.
_DEFAULT = ("Method", "Mean", "Error", "StdDev", "Median")
_BIMODAL = late(
    r"^(?P<name>\S{1,80}): .{0,60}It seems that the distribution (?:is|can have) (?P<how>\w+) "
    r".{0,20}mValue = (?P<value>\d+(?:[.,]\d+)?)"
)
_WARNED = late(r"^(?P<what>MultimodalDistribution|Environment|MinIterationTime)$")
_WARNINGS = {
    "MultimodalDistribution": "the times of a method lie around several values",
    "Environment": "a debugger or another tool was attached, or the build was not optimised",
    "MinIterationTime": "an iteration is shorter than 100 ms, so the timer and single "
    "interruptions count; more operations in one iteration help",
}
_SHORT_JOB = late(r"\bShortRun\b|\bIterationCount=3\b")


@dataclass
class _Run(Run):
    """One summary."""

    heads: list[str] = field(default_factory=list)
    method: str = ""
    operations: int = 0  # in each iteration of the log above
    bins: list[tuple[float, float, int, str, int]] = field(default_factory=list)

    def finish(self) -> bool:
        """Keep its histogram, if it was printed."""
        self.keep_histogram()
        return bool(self.results)

    def keep_histogram(self) -> None:
        """Keep the bins so far, and the ends of all if nothing else is known of them."""
        if not self.bins:
            return
        self.facts.setdefault("histograms", []).append((self.method, self.bins))
        low, _, _, unit, line = self.bins[0]
        name = f"{self.method} time".strip()
        if not any(own.name == name for own in self.results):
            count = sum(own[2] for own in self.bins)
            of = {"benchmark": self.method, "repetitions": count}
            self.results.append(Result(name, low, unit, line, "histogram from", of))
            high, last = self.bins[-1][1], self.bins[-1][4]
            self.results.append(Result(name, high, unit, last, "histogram to", of))
        self.bins = []


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _VERSION.match(text):
        reading.begin(version=found["version"])
    elif found := _CPU.match(text):
        run.facts["cpu"] = found["cpu"]
    elif text.count("|") > 1:
        cells = [cell.strip().strip("*`") for cell in text.strip("|").split("|")]
        if "Method" in cells and "Mean" in cells:
            run = reading.begin(version=run.version) if run.heads else run
            run.line, run.heads = run.line or reading.line.number, cells
        elif not run.heads and _is_default(cells):
            rest = [f"column {number}" for number in range(len(_DEFAULT), len(cells))]
            run.heads, run.line = [*_DEFAULT, *rest], run.line or reading.line.number
            run.notes.append("The head of its table is missing: the default columns are assumed.")
            _row(reading, dict(zip(run.heads, cells, strict=True)))
        elif len(cells) == len(run.heads) and not set(cells[0]) <= set("-: "):
            _row(reading, dict(zip(run.heads, cells, strict=True)))
    elif run.results and (found := _BIMODAL.match(text)):
        run.facts |= {"said_modes": found["how"], "said_modes_line": reading.line.number}
        run.facts |= {"said_modes_of": found["name"], "said_modes_value": found["value"]}
    elif _SHORT_JOB.search(text) and "->" not in text:
        run.facts.setdefault("short_job_line", reading.line.number)
        run.facts.setdefault("is_short_run", "ShortRun" in text)
    elif found := _METHOD.match(text):
        run.keep_histogram()
        run.method = found["method"]
    elif found := _DETAILED.match(text) or _ENDS.match(text):
        figures = found.groupdict()
        unit = _UNITS.get(figures["unit"], figures["unit"])
        of: dict[str, Any] = {"benchmark": run.method}
        if figures.get("count"):
            of["repetitions"] = int(figures["count"])
        if run.operations:
            of["iterations"] = run.operations
        for statistic in ("mean", "stddev", "min", "p25", "median", "p75", "max"):
            if figures.get(statistic):
                reading.add(f"{run.method} time".strip(), figures[statistic], unit, statistic, of)
    elif found := _MODES.match(text):
        value = float(found["value"].replace(",", "."))
        run.facts.setdefault("modes", []).append((run.method, value, reading.line.number))
    elif text.startswith("[") and (found := _BIN.match(text)):
        low, high = (reading.number(found[end]) or 0.0 for end in ("low", "high"))
        unit = _UNITS.get(found["unit"], found["unit"])
        count = found["bar"].count("@")
        if run.bins and low < run.bins[-1][1] - (high - low):
            run.keep_histogram()
        run.bins.append((low, high, count, unit, reading.line.number))
    elif found := _OPERATIONS.match(text):
        run.operations = int(found["count"])
    elif _DEBUG.search(text) and run.line:
        run.facts.setdefault("debug_line", reading.line.number)
    elif (found := _WARNED.match(text)) and run.results:
        what = found["what"]
        run.notes.append(
            f"line {reading.line.number}: BenchmarkDotNet warned ({what}): {_WARNINGS[what]}."
        )


def _is_default(cells: list[str]) -> bool:
    """Whether a row has a name, and three times and a median in one unit, as by default."""
    found = [_FIGURE.match(cell) for cell in cells[1 : len(_DEFAULT)]]
    units = [figure["unit"] for figure in found if figure]
    is_whole = len(units) == len(_DEFAULT) - 1 and len(set(units)) == 1
    return is_whole and units[0] not in ("B", "KB", "MB")


def _row(reading: Reading[_Run], cells: dict[str, str]) -> None:
    settings = [
        f"{head} {cell}"
        for head, cell in cells.items()
        if head not in _COLUMNS
        and head not in _SETTINGS
        and head != "Method"
        and not head.endswith("/Op")
        and not _TIME.match(cell)
        and cell not in ("", "?")
    ]
    of: dict[str, Any] = {"benchmark": cells["Method"]}
    if settings:
        of["parameters"] = ", ".join(settings)
    if cells.get("Baseline") == "Yes":
        of["is_baseline"] = True
    for head, (what, statistic) in _COLUMNS.items():
        if what == "ratio":
            if found := _RATIO.match(cells.get(head, "")):
                reading.add(f"{cells['Method']} {what}", found["value"], "1", statistic, of)
        elif found := _FIGURE.match(cells.get(head, "")):
            unit = _UNITS.get(found["unit"], found["unit"])
            reading.add(f"{cells['Method']} {what}", found["value"], unit, statistic, of)


read = LineReader(TOOL, _Run, _line)
