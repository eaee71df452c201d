"""Benchee of Elixir: the statistics of each function, its memory, and how it compares with the
fastest one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, scaled, time_of

TOOL = "benchee"
_HEAD = late(r"^Name\s+(?P<columns>ips\s+average\s+deviation\b.*)$")
_TIME = rf"\d+(?:\.\d+)? ?{UNIT}"
_ROW = late(
    r"^(?P<name>\S.{0,200}?)\s+(?P<ips>\d+(?:\.\d+)?)(?: (?P<prefix>[KMBT]))?\s+"
    rf"(?P<mean>{_TIME})\s+\(?±(?P<percent>\d+(?:\.\d+)?)%\)?(?:\s+(?P<median>{_TIME}))?"
    rf"(?:\s+(?P<share>{_TIME}))?$"
)
_COMPARED = late(
    r"^(?P<name>\S.{0,200}?)\s+\d+(?:\.\d+)?(?: [KMBT])? - "
    r"(?P<times>\d+(?:\.\d+)?)x (?:slower|faster)(?: [+-].*)?$"
)
_BYTES = late(
    r"^(?P<name>\S.{0,200}?)\s{2,}(?P<value>\d+(?:\.\d+)?) (?P<unit>[KMG]?B)"
    r"(?: - (?:\d+(?:\.\d+)?|∞)x memory usage.*)?$"
)
_SHARE = late(r" (?P<percent>\d{1,2}(?:\.\d{1,3})?)th ?%$")
_UNITS = {"B": "B", "KB": "KiB", "MB": "MiB", "GB": "GiB"}  # powers of 1,024, as its code has it


@dataclass
class _Run(Run):
    """The functions of one input; `names` those that have been seen."""

    names: frozenset[str] = frozenset()
    share: str = "p99"  # which percentile its last column is, as its head says


def _line(reading: Reading[_Run], text: str) -> None:
    if _HEAD.match(text):
        share = _SHARE.search(text)
        reading.begin(share=f"p{share['percent']}" if share else "")
        return
    run = reading.run
    if "±" in text and (found := _ROW.match(text)):
        name = found["name"]
        run.names |= {name}
        of: dict[str, Any] = {"benchmark": name}
        ips = scaled(float(found["ips"]), found["prefix"] or "")
        reading.add(f"{name} rate", ips, "operations/s", "mean", of)
        value, unit = _time(found["mean"])
        reading.add(name, value, unit, "mean", of)
        spread = float(f"{value * float(found['percent']) / 100:.6g}")
        reading.add(name, spread, unit, "stddev", of)
        if found["median"]:
            reading.add(name, *_time(found["median"]), "median", of)
        if found["share"] and run.share:
            reading.add(name, *_time(found["share"]), run.share, of)
    elif " - " in text and (found := _COMPARED.match(text)) and found["name"] in run.names:
        of = {"benchmark": found["name"]}
        reading.add(f"{found['name']} ratio", found["times"], "1", "ratio", of)
    elif run.names and (found := _BYTES.match(text)) and found["name"] in run.names:
        of = {"benchmark": found["name"]}
        unit = _UNITS[found["unit"]]
        reading.add(f"{found['name']} memory", found["value"], unit, "", of)


def _time(text: str) -> tuple[float, str]:
    value = text.rstrip("abcdefghijklmnopqrstuvwxyzµμ")
    return time_of(float(value), text[len(value) :])


read = LineReader(TOOL, _Run, _line)
