"""wrk and wrk2: threads, connections, latencies, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import (
    COUNT,
    FAILED,
    NUMBER,
    RATE,
    TIME,
    TIME_UNIT,
    host_of,
    known,
    unit_of,
)

TOOL = "wrk"
_HEAD = late(r"^(?:Running \S+ test @|Making \d+ requests to) (?P<address>\S+)")
_SIZE = late(r"^(?P<threads>\d{1,6}) threads? and (?P<connections>\d{1,8}) connections?$")
_LATENCY = late(
    rf"^Latency\s+(?P<mean>{NUMBER})(?P<of_mean>{TIME_UNIT})\s+(?P<stddev>{NUMBER})"
    rf"(?P<of_stddev>{TIME_UNIT})\s+(?P<max>{NUMBER})(?P<of_max>{TIME_UNIT})"
    rf"(?:\s+(?P<within>{NUMBER})%)?(?:\s|$)"
)
_EACH = late(
    rf"^Req/Sec\s+(?P<mean>{NUMBER})(?P<of_mean>[kM]?)\s"
    rf"(?:\s*(?P<stddev>{NUMBER})(?P<of_stddev>[kM]?)\s+(?P<max>{NUMBER})(?P<of_max>[kM]?)"
    rf"(?:\s+(?P<within>{NUMBER})%)?)?"
)
_MANY = {"": 1.0, "k": 1e3, "M": 1e6}
_CALIBRATED = late(rf"^Thread calibration: mean lat\.: (?P<time>{NUMBER})(?P<unit>{TIME_UNIT}),")
_SHARE = late(rf"^(?P<share>\d{{1,3}}(?:\.\d{{1,5}})?)%\s+(?P<time>{NUMBER})(?P<unit>{TIME_UNIT})$")
_COUNTED = late(
    rf"^\*{{0,2}}(?P<count>\d{{1,15}})\*{{0,2}} requests in (?P<time>{NUMBER})"
    rf"(?P<unit>us|ms|s|m|h), (?:(?P<moved>{NUMBER})(?P<prefix>[KMGT]?)B|.*) read$"
)
_ERRORS = late(
    r"^Socket errors: connect \**(\d{1,15})\**, read \**(\d{1,15})\**, write \**(\d{1,15})\**, "
    r"timeout \**(\d{1,15})\**$"
)
_STATUS = late(r"^Non-2xx or 3xx responses: (\d{1,15})$")
_RATE = late(rf"^Requests/sec:\s+(?P<rate>{NUMBER})$")
_MOVED = late(rf"^Transfer/sec:\s+(?P<rate>{NUMBER})(?P<prefix>[KMG]?)B$")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_KINDS = ("failed connects", "broken reads", "broken writes", "timeouts")
_WITHIN = "within a deviation"  # of its mean: what it calls +/- Stdev
_BINARY = {"": "B/s", "K": "KiB/s", "M": "MiB/s", "G": "GiB/s"}


@dataclass
class _Run(Run):
    """One start, or one more row of figures below the same head."""

    counted: bool = False
    of_shares: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        reading.begin(facts=known(served_at=host_of(found["address"])))
    elif found := _SIZE.match(text):
        run = reading.begin() if run.results else run
        run.line = run.line or reading.line.number
        run.facts |= {"threads": int(found["threads"]), "concurrency": int(found["connections"])}
    elif found := _LATENCY.match(text):
        for statistic in ("mean", "stddev", "max"):
            reading.add(TIME, found[statistic], unit_of(found[f"of_{statistic}"]), statistic)
        reading.show(_WITHIN, found["within"], "%")
    elif (found := _EACH.match(text)) and run.facts.get("threads"):
        for statistic in ("mean", "stddev", "max"):
            if found[statistic]:
                each = round(float(found[statistic]) * _MANY[found[f"of_{statistic}"]], 6)
                add = reading.add if statistic == "mean" else reading.show
                add("rate of a thread", each, "requests/s", statistic)
        reading.show(f"{_WITHIN}, of the rate", found["within"], "%")
    elif found := _CALIBRATED.match(text):
        reading.show("time at calibration", found["time"], unit_of(found["unit"]))
        run.facts["is_paced"] = True  # wrk2, which takes times from when a request was due
    elif text.startswith("Latency Distribution"):
        run.of_shares = True
        if "HdrHistogram" in text:
            run.facts["is_paced"] = True
    elif run.of_shares and (found := _SHARE.match(text)):
        share = float(found["share"])
        statistic = "median" if share == 50 else "max" if share == 100 else f"p{share:g}"
        if statistic != "max":
            reading.add(TIME, found["time"], unit_of(found["unit"]), statistic)
    elif found := _COUNTED.match(text):
        run = _next(reading) if run.counted else run
        run.counted, run.of_shares = True, False
        run.facts["elapsed_s"] = float(found["time"]) * _SECONDS[found["unit"]]
        reading.add(COUNT, float(found["count"]), "requests", "total")
        if found["moved"]:
            unit = f"{found['prefix']}iB" if found["prefix"] else "B"
            reading.show("received", found["moved"], unit)
    elif found := _ERRORS.match(text):
        for kind, count in zip(_KINDS, found.groups(), strict=True):
            if int(count):
                reading.add(FAILED, float(count), "requests", "", {"failure": kind})
    elif found := _STATUS.match(text):
        reading.add(FAILED, float(found[1]), "requests", "", {"failure": "status"})
    elif (found := _RATE.match(text)) and (run.counted or "concurrency" in run.facts):
        reading.add(RATE, found["rate"], "requests/s", "mean")
    elif (found := _MOVED.match(text)) and run.counted:
        reading.add("throughput", found["rate"], _BINARY[found["prefix"]], "mean")


def _next(reading: Reading[_Run]) -> _Run:
    """Another run with the settings of the last one."""
    kept = ("threads", "concurrency", "served_at", "is_paced")
    facts = {name: reading.run.facts[name] for name in kept if name in reading.run.facts}
    return reading.begin(facts=facts)


read = LineReader(TOOL, _Run, _line)
