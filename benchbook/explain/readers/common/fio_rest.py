"""What fio prints around the figures that rules judge: its CPU, its samples, the flushes behind
writes, what it issued, its groups, and how busy the devices were."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import Reading

_NUMBER = r"\d+(?:\.\d+)?"
_CPU = late(
    rf"^cpu\s*: usr=(?P<user>{_NUMBER})%, sys=(?P<system>{_NUMBER})%, ctx=(?P<switches>\d+)"
    r"(?:, majf=(?P<major>\d+), minf=(?P<minor>\d+))?"
)
_OF_CPU = {
    "user": ("CPU user", "%"), "system": ("CPU system", "%"), "switches": ("switches", "switches"),
    "major": ("major faults", "faults"), "minor": ("minor faults", "faults"),
}  # fmt: skip
_SAMPLED = late(
    r"^(?P<what>bw|iops)\s*(?:\( *(?P<unit>[KMGT]?i?B) */s\))?\s*: min= *(?P<min>[\d.]+), "
    r"max= *(?P<max>[\d.]+)(?:, per=[\d.]+%)?, avg= *(?P<mean>[\d.]+), stdev= *(?P<stddev>[\d.]+)"
)
_ISSUED = late(
    r"^issued (?:rwts?|rwtd?s?) *: total=(?P<read>\d+),(?P<write>\d+),(?P<trim>\d+)(?:,\d*)? "
    r"short=(?P<short>\d+(?:,\d+)*)"
)
_GROUP = late(
    r"^(?P<way>READ|WRITE|TRIM): bw=.{1,120}?, io=(?P<io>[\d.]+)(?P<io_unit>[KMGT]?i?B) "
    r"\(.{1,20}\), run=(?P<least>\d+)-(?P<most>\d+)msec"
)
_OLD_GROUP = late(
    r"^(?P<way>READ|WRITE|TRIM): io=(?P<io>[\d.]+)(?P<io_unit>[KMGT]?B), aggrb=.{1,80}?, "
    r"mint=(?P<least>\d+)msec, maxt=(?P<most>\d+)msec"
)
_DISK = late(
    r"^(?P<device>[\w/!.-]{2,40}): ios=(?P<reads>\d+)/(?P<writes>\d+),? .{0,160}?"
    rf"\bin_queue=(?P<queued>\d+),? util=(?P<use>{_NUMBER})%"
)
_FLUSHES = late(r"^sync percentiles \((?P<unit>nsec|usec|msec)\)")
_SHARE = late(r"(?P<share>\d+\.\d+)th=\[ *(?P<time>\d+)\]")
_UNITS = {"nsec": "ns", "usec": "us", "msec": "ms"}


def begins_flushes(text: str) -> str:
    """The unit of the percentiles of flushes that follow this line; "" where none do."""
    found = _FLUSHES.match(text)
    return _UNITS[found["unit"]] if found else ""


def flushes(reading: Reading[Any], text: str, unit: str, of: dict[str, Any]) -> None:
    """Add the percentiles of flushes in a line."""
    for found in _SHARE.finditer(text):
        reading.add("sync", found["time"], unit, f"p{float(found['share']):g}", of)


def add(reading: Reading[Any], text: str, way: str) -> None:
    """Add the figures of a line, to be shown and not judged; `way`: what its job did above it."""
    if found := _CPU.match(text):
        for key, (name, unit) in _OF_CPU.items():
            reading.show(name, found[key], unit)
    elif way and (found := _SAMPLED.match(text)):
        unit = f"{_binary(found['unit'] or 'KB')}/s" if found["what"] == "bw" else "operations/s"
        name = "bandwidth" if found["what"] == "bw" else "operation rate"
        for statistic in ("min", "max", "mean", "stddev"):
            reading.show(f"{way} {name} of samples", found[statistic], unit, statistic)
    elif found := _ISSUED.match(text):
        for kind in ("read", "write", "trim"):
            if count := int(found[kind]):
                reading.show(f"{kind}s issued", float(count), "operations")
        if short := sum(map(int, found["short"].split(","))):
            reading.show("short of them", float(short), "operations")
    elif found := _GROUP.match(text) or _OLD_GROUP.match(text):
        kind = found["way"].lower()
        reading.show(f"{kind} in all", found["io"], _binary(found["io_unit"]))
        reading.show(f"{kind} time of its jobs", found["most"], "ms")
    elif found := _DISK.match(text):
        own = {"device": found["device"]}
        reading.show("device reads", float(found["reads"]), "operations", of=own)
        reading.show("device writes", float(found["writes"]), "operations", of=own)
        reading.show("device use", found["use"], "%", of=own)


def _binary(unit: str) -> str:
    """Version 2 writes KB for 2^10 bytes, version 3 KiB."""
    return unit if "i" in unit or unit == "B" else unit.replace("B", "iB")
