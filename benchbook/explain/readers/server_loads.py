"""Programs that load a server and print a few lines: bombardier, autocannon, warp, and
clickhouse-benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, FAILED

TOOL = "bombardier"
_N = r"\d{1,15}(?:[.,]\d{1,9})?"
_T = rf"{_N}(?:us|ms|s|m|h)"
_BOMBS = late(r"^Statistics +Avg +Stdev +Max$")
_RATES = late(rf"^Reqs/sec +(?P<mean>{_N}) +(?P<stddev>{_N}) +(?P<max>{_N})$")
_TIMES = late(rf"^Latency +(?P<mean>{_T}) +(?P<stddev>{_T}) +(?P<max>{_T})$")
_SHARE = late(rf"^(?P<share>\d{{2}}(?:\.\d+)?)% +(?P<time>{_T})(?: +\([-+\d.,]{{1,20}} ?%\))?$")
_CODES = late(r"(?P<code>\dxx|others) - (?P<count>\d{1,15})")
_THROUGH = late(rf"^Throughput: +(?P<rate>{_N}) ?(?P<unit>[KMG]?B)/s$")
_TIME = late(rf"^(?P<value>{_N})(?P<unit>us|ms|s|m|h)$")
_TIME_UNITS = {
    "us": ("us", 1.0),
    "ms": ("ms", 1.0),
    "s": ("s", 1.0),
    "m": ("s", 60.0),
    "h": ("s", 3600.0),
}


class _Bombs(Run):
    """One start of bombardier; `answered`: how many requests have a status, or none."""

    answered: int = 0


def _time(reading: Reading[_Bombs], name: str, text: str, statistic: str) -> None:
    if (found := _TIME.match(text)) and (value := reading.number(found["value"])) is not None:
        unit, times = _TIME_UNITS[found["unit"]]
        reading.show(name, value * times, unit, statistic)


def _answers(reading: Reading[_Bombs], text: str) -> None:
    """A line of answers by class of status; `others` had none, mostly for an error."""
    counts = {code["code"]: int(code["count"]) for code in _CODES.finditer(text)}
    for code, count in counts.items():
        if count and code[0] not in "45o":
            reading.show(f"answers {code}", count, "answers")
    if bad := sum(count for code, count in counts.items() if code[0] in "45"):
        reading.add(FAILED, bad, "answers", "", {"failure": "status"})
    if others := counts.get("others", 0):
        reading.add(FAILED, others, "requests", "", {"failure": "others, without a status"})
    run = reading.run
    run.answered += sum(counts.values())
    if "others" in counts and run.answered:
        run.facts["failed_are_counted"] = True
        reading.add(COUNT, run.answered, "requests", "total")


def _bombardier(reading: Reading[_Bombs], text: str) -> None:
    run = reading.run
    if _BOMBS.match(text):
        run = reading.begin()
    elif not run.line:
        return
    elif found := _RATES.match(text):
        for statistic, value in found.groupdict().items():
            reading.show("requests", value, "requests/s", statistic)
    elif found := _TIMES.match(text):
        for statistic, value in found.groupdict().items():
            _time(reading, "latency", value, statistic)
    elif found := _SHARE.match(text):
        _time(reading, "latency", found["time"], f"p{found['share']}")
    elif "2xx - " in text or text.startswith("others - "):
        _answers(reading, text)
    elif found := _THROUGH.match(text):  # of 1024: its prefixes are binary
        unit = {"B": "B/s", "KB": "KiB/s", "MB": "MiB/s", "GB": "GiB/s"}[found["unit"]]
        reading.show("throughput", found["rate"], unit, "mean")


_BARS = late(r"[│|┌┐└┘├┤┬┴┼─]+")
_CELL = late(
    r"(?<![\w.])(?P<value>\d[\d,]*(?:\.\d{1,6})?|NaN)(?: (?P<unit>k?B|[MG]B|ms|s|us|µs)(?!\w))?"
)
_TESTED = late(r"^Running .{1,200} @ .{1,300}$")
_CONNECTIONS = late(r"^(?P<count>\d{1,9}) connections\b")
_STATISTICS = {"avg": "mean", "stdev": "stddev", "max": "max", "min": "min"}
_ROWS = {"Latency (ms)": ("latency", "ms"), "Latency": ("latency", "")} | {
    "Req/Sec": ("requests", "requests/s"), "Bytes/Sec": ("bytes", ""),
}  # fmt: skip


@dataclass
class _Shots(Run):
    """One start of autocannon. `heads`: of the table that is being read."""

    heads: list[str] = field(default_factory=list)


def _autocannon(reading: Reading[_Shots], text: str) -> None:
    run = reading.run
    words = " ".join(_BARS.sub(" ", text).split())
    row = next((label for label in _ROWS if words.startswith(f"{label} ")), "")
    if _TESTED.match(text):
        reading.begin()
    elif found := _CONNECTIONS.match(text):
        run.facts["connections"] = int(found["count"])
    elif words.startswith("Stat "):
        run.heads = words.split()[1:]
    elif row:
        name, own = _ROWS[row]
        cells = list(_CELL.finditer(words.removeprefix(row)))
        if len(cells) != len(run.heads):
            return
        if any(result.name == name for result in run.results):
            run = reading.begin(heads=run.heads, facts=dict(run.facts))
        for head, cell in zip(run.heads, cells, strict=True):
            statistic = _STATISTICS.get(head.lower(), f"p{head.removesuffix('%')}")
            unit = own or (cell["unit"] or "").replace("µs", "us")
            unit = f"{unit}/s" if name == "bytes" and unit else unit
            if unit and cell["value"] != "NaN":
                reading.show(name, cell["value"].replace(",", ""), unit, statistic)


_OPERATION = late(r"^Operation: (?P<operation>[A-Z]{3,20})\b(?P<rest>.{0,120})$")
_CONCURRENT = late(r"\bConcurrency: (?P<count>\d{1,7})")
_AVERAGE = late(
    rf"^\* (?:Average|Throughput): (?:(?P<rate>{_N}) (?P<unit>[KMG]i?B)/s, )?"
    rf"(?P<objects>{_N}) obj/s"
)
_PART = late(
    rf"^\* (?P<what>Fastest|50% Median|Slowest): (?:(?P<rate>{_N}) ?(?P<unit>[KMG]i?B)/s, )?"
    rf"(?P<objects>{_N}) obj/s"
)
_CLUSTER = late(
    rf"^(?:Cluster )?Total: +(?P<rate>{_N}) (?P<unit>[KMG]i?B)/s, (?P<objects>{_N}) obj/s"
)
_PARTS = {"Fastest": "best", "50% Median": "median", "Slowest": "worst"}


class _Warp(Run):
    """One operation of warp."""


def _warp(reading: Reading[_Warp], text: str) -> None:
    run = reading.run
    if found := _OPERATION.match(text):
        concurrent = _CONCURRENT.search(found["rest"])
        facts = {"operation": found["operation"]}
        more = {"concurrency": int(concurrent["count"])} if concurrent else {}
        reading.begin(facts={**facts, **more})
        return
    if found := _CLUSTER.match(text):
        reading.begin(facts={"operation": "all"})
        statistic = "mean"
    elif run.line and (found := _AVERAGE.match(text)):
        statistic = "mean"
    elif run.line and (found := _PART.match(text)):
        statistic = _PARTS[found["what"]]
    else:
        return
    if found["rate"]:
        reading.show("rate", found["rate"], f"{found['unit']}/s", statistic)
    reading.show("objects", found["objects"], "objects/s", statistic)


_QUERIES = late(
    rf"^\S{{1,200}}, queries:? (?P<count>\d{{1,12}}), (?:.{{0,60}}, )?QPS: (?P<qps>{_N}), "
    rf"RPS: (?P<rps>{_N}), MiB/s: (?P<rate>{_N}), result RPS: {_N}, result MiB/s: {_N}\."
)
_QUANTILE = late(rf"^(?P<share>\d{{1,2}}\.\d{{1,4}})%\s+(?P<time>{_N}) sec\.")


class _Queries(Run):
    """One report of clickhouse-benchmark, which it prints again and again."""


def _clickhouse(reading: Reading[_Queries], text: str) -> None:
    if found := _QUERIES.match(text):
        reading.begin(facts={"queries": int(found["count"])})
        reading.show("queries", found["qps"], "queries/s", "mean")
        reading.show("rows read", found["rps"], "rows/s", "mean")
        reading.show("data read", found["rate"], "MiB/s", "mean")
    elif reading.run.line and (found := _QUANTILE.match(text)):
        reading.show("time of a query", found["time"], "s", f"p{float(found['share']):g}")


_READERS = (
    ("Reqs/sec", LineReader("bombardier", _Bombs, _bombardier)),
    ("Stat ", LineReader("autocannon", _Shots, _autocannon)),
    ("obj/s", LineReader("warp", _Warp, _warp)),
    (", QPS: ", LineReader("clickhouse-benchmark", _Queries, _clickhouse)),
)


def read(log: Log) -> list[Report]:
    """One report for each start of each of the programs."""
    return [report for word, reader in _READERS if log.has(word) for report in reader(log)]
