"""What benchmarks of models that serve requests print: vLLM's and SGLang's serving benchmarks, and
the summary of MLPerf's load generator.

They are read where no benchmark with a reader of its own was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

SERVING, MLPERF = "serving-benchmark", "mlperf"
LOOKS_FOR = {
    SERVING: "vLLM, SGLang: `Serving Benchmark Result`, `Mean TTFT (ms): 157.75`",
    MLPERF: "MLPerf's load generator: `MLPerf Results Summary`, `Result is : VALID`",
}
_N = r"\d[\d,]{0,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?"
_BEGINS = late(r"=+ (?:Offline Throughput |Serving |Online )?Benchmark Result =+")
_COUNTS = {
    "successful requests": ("requests", "requests"),
    "failed requests": ("failed requests", "requests"),
    "total input tokens": ("input tokens", "tokens"),
    "total generated tokens": ("generated tokens", "tokens"),
    "request throughput (req/s)": ("request rate", "requests/s"),
    "input token throughput (tok/s)": ("input token rate", "tokens/s"),
    "output token throughput (tok/s)": ("output token rate", "tokens/s"),
    "total token throughput (tok/s)": ("token rate", "tokens/s"),
    "concurrency": ("requests under way", "requests"),
    "peak output token throughput (tok/s)": ("output token rate at most", "tokens/s"),
    "peak concurrent requests": ("requests under way at most", "requests"),
    "total input text tokens": ("input text tokens", "tokens"),
    "total input vision tokens": ("input vision tokens", "tokens"),
}
_COUNT = late(rf"^(?P<name>[A-Za-z][\w /()]{{1,50}}?):\s+(?P<value>{_N}|inf|not set)$")
_TIMES = {
    "TTFT": "time to first token", "TPOT": "time per output token",
    "ITL": "time between tokens", "E2E Latency": "latency", "E2EL": "latency",
}  # fmt: skip
_TIME = late(
    r"^(?P<statistic>Mean|Median|Std|Min|Max|P\d{1,2}(?:\.\d{1,3})?) "
    rf"(?P<what>TTFT|TPOT|ITL|E2E Latency|E2EL) \(ms\):\s+(?P<value>{_N})$"
)
_STATISTICS = {"std": "stddev"}


@dataclass
class _Serving(Run):
    """One run of the benchmark."""


def _served(reading: Reading[_Serving], text: str) -> None:
    run = reading.run
    if found := _TIME.match(text):
        statistic = found["statistic"].lower()
        name = _TIMES[found["what"]]
        reading.add(name, found["value"], "ms", _STATISTICS.get(statistic, statistic))
    elif found := _COUNT.match(text):
        name, value = found["name"].lower(), found["value"]
        if name in _COUNTS and value[0].isdecimal():
            called, unit = _COUNTS[name]
            if name.startswith("peak ") or " text " in name or " vision " in name:
                reading.show(called, value, unit)
            else:
                reading.add(called, value, unit, "mean" if unit.endswith("/s") else "total")
        elif name.startswith("benchmark duration") and value[0].isdecimal():
            run.facts["elapsed_s"] = reading.number(value)
            reading.add("duration", value, "s")
        elif name in ("traffic request rate", "request rate configured (rps)"):
            run.facts["asked_per_s"] = float("inf") if value == "inf" else reading.number(value)


# Of vLLM's first version.
_FIRST = {
    "total time": ("duration", "s", ""),
    "throughput": ("request rate", "requests/s", "mean"),
    "average latency": ("latency", "s", "mean"),
    "average latency per token": ("latency per token", "s", "mean"),
    "average latency per output token": ("time per output token", "s", "mean"),
}
_OLD = late(
    rf"^(?P<name>Total time|Throughput|Average latency[a-z ]{{0,20}}): (?P<value>{_N}) ?\S+"
)


def _served_first(reading: Reading[_Serving], text: str) -> None:
    found = _OLD.match(text)
    if found is None or (known := _FIRST.get(found["name"].lower())) is None:
        return
    name, unit, statistic = known
    if name == "duration":
        reading.begin().facts["elapsed_s"] = reading.number(found["value"])
    reading.add(name, found["value"], unit, statistic)


_SUMMARY = late(r"^MLPerf Results Summary$")
_RATES = {
    "samples per second": ("rate", "samples/s", "mean"),
    "tokens per second": ("token rate", "tokens/s", "mean"),
    "scheduled samples per second": ("rate asked for", "samples/s", ""),
    "completed samples per second": ("rate", "samples/s", "mean"),
    "qps w/ loadgen overhead": ("rate", "samples/s", "mean"),
}
_FIELD = late(rf"^(?P<name>[\w][\w ./()-]{{1,60}}?)\s*:\s+(?P<value>{_N}|[A-Za-z]\w{{0,30}})$")
_LATENCY = late(
    r"^(?P<statistic>Min|Max|Mean|\d{1,2}(?:\.\d{1,3})? ?(?:th )?percentile) latency \(ns\)$"
)
_ERRORS = late(r"^(?P<count>\d{1,9}|No) (?P<what>ERROR|error|warning|WARNING)s? encountered")


@dataclass
class _Loadgen(Run):
    """One summary; `recommends` whether its recommendations come."""

    recommends: bool = False


def _summary(reading: Reading[_Loadgen], text: str) -> None:
    run = reading.run
    if not run.line:
        return
    if found := _ERRORS.match(text):
        if found["count"] != "No" and found["what"].lower() == "error":
            run.facts |= {"load_errors": int(found["count"])}
            run.facts["load_errors_line"] = reading.line.number
    elif text.startswith("Recommendations"):
        run.recommends = True
    elif text.startswith("* ") and run.recommends:
        run.facts.setdefault("recommended", text[2:].strip()[:120])
    elif found := _FIELD.match(text):
        _field(reading, found)


def _field(reading: Reading[_Loadgen], found: re.Match[str]) -> None:
    facts, name, value = reading.run.facts, found["name"], found["value"]
    if (latency := _LATENCY.match(name)) and value[0].isdecimal():
        statistic = latency["statistic"].lower()
        number = statistic.split()[0].removesuffix("th")
        if number[0].isdecimal():
            statistic = f"p{float(number):g}"
        reading.add("latency", value, "ns", statistic)
    elif (known := _RATES.get(name.lower())) and value[0].isdecimal():
        reading.add(known[0], value, known[1], known[2])
    elif name == "Result is":
        facts |= {"verdict": value.lower(), "verdict_line": reading.line.number}
    elif value == "NO" and name.endswith("satisfied"):
        facts.setdefault("unsatisfied", []).append(name.removesuffix(" satisfied").lower())
    elif name == "Scenario":
        facts["mode"] = value
    elif name == "samples_per_query" and value.isdecimal():
        facts["samples_per_query"] = int(value)


_PROGRESS = late(r"^100%.*\b(?P<count>\d{1,7})/(?P=count) \[\d")
_ASKED = late(r"\brequest_rate=(?P<rate>inf|\d{1,9}(?:\.\d{1,6})?)\b")

_serving = LineReader(SERVING, _Serving, _served, _BEGINS)
_serving_first = LineReader(SERVING, _Serving, _served_first)
_loadgen = LineReader(MLPERF, _Loadgen, _summary, _SUMMARY)


def read(log: Log) -> list[Report]:
    """One report for each run."""
    every: list[Report] = []
    if log.has("Benchmark Result ="):
        every += _serving(log)
    if not every and log.has("Average latency per output token"):
        every += _serving_first(log)
    if log.has("MLPerf Results Summary"):
        every += _loadgen(log)
    for line in log.having("request_rate=") if every else ():
        if found := _ASKED.search(line.text):
            of_log = [report for report in every if report.tool == SERVING]
            for report in of_log:
                report.facts.setdefault("asked_per_s", float(found["rate"]))
    for line in log.having("100%") if len(every) == 1 and every[0].tool == SERVING else ():
        if (found := _PROGRESS.match(line.text)) and line.number < every[0].line:
            every[0].facts |= {"sent": int(found["count"]), "sent_line": line.number}
    return sorted(every, key=lambda report: report.line)
