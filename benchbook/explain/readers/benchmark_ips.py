"""benchmark-ips of Ruby, and what Crystal made after it: iterations a second of each block with
their deviation, and how they compare with the fastest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import scaled

TOOL = "benchmark-ips"
_ROW = late(
    r"^(?P<name>\S.{0,200}?):?\s+(?P<rate>\d[\d,]*(?:\.\d+)?)(?P<prefix>[kMBT]?) +"
    r"\(± *(?P<percent>\d+(?:\.\d+)?)%\) i/s(?: +\([^()]{1,30}\))?"
    r"(?: +- +(?P<count>\d[\d,]*(?:\.\d+)?)(?P<count_prefix>[kMBT]?)"
    r"(?: in +(?P<s>\d+(?:\.\d+)?) ?s)?)?$"
)
_COMPARED = late(
    r"^(?P<name>\S.{0,200}?) ?: +(?P<rate>\d[\d,]*(?:\.\d+)?) i/s"
    r"(?: - (?:(?P<times>\d+(?:\.\d+)?)x +(?:\(± *[\d.]+\) +)?(?:slower|faster)"
    r"|(?P<same>same-ish\b.*)))?$"
)
# Of Crystal: operations a second, their deviation (of versions before 0.25 not in per cent).
_CRYSTAL = late(
    r"^(?P<name>\S.{0,200}?)\s+(?P<rate>\d+(?:\.\d+)?)(?P<prefix>[kMG]?)(?: +\([^()±]{1,30}\))? "
    r"\(± *(?P<spread>\d+(?:\.\d+)?)(?P<percent>%?)\)(?: +[\d.]+[kM]?B/op)? +"
    r"(?:(?P<times>\d+(?:\.\d+)?)[×x] slower|fastest)$"
)


@dataclass
class _Run(Run):
    """All blocks between two comparisons."""

    line: int = 0
    names: frozenset[str] = frozenset()


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if " i/s" in text and (found := _ROW.match(text)):
        name = found["name"]
        if name in run.names:
            run = reading.begin()
        run.names |= {name}
        rate = scaled(_number(found["rate"]), found["prefix"])
        of: dict[str, Any] = {"benchmark": name}
        if found["s"]:
            of["elapsed_s"] = float(found["s"])
        if found["count"]:
            of["iterations"] = round(scaled(_number(found["count"]), found["count_prefix"]))
        _rate(reading, name, rate, rate * float(found["percent"]) / 100, of)
    elif " i/s" in text and (found := _COMPARED.match(text)):
        name = found["name"]
        name = name if name in run.names else name.removesuffix(":")  # older ones print two
        of = {"benchmark": name}
        if name not in run.names:
            reading.add(name, _number(found["rate"]), "operations/s", "mean", of)
        if found["times"]:
            reading.add(f"{name} ratio", found["times"], "1", "ratio", of)
        elif found["same"]:
            run.facts.setdefault("said_alike", []).append((name, reading.line.number))
    elif text.endswith(("slower", "fastest")) and (found := _CRYSTAL.match(text)):
        of = {"benchmark": found["name"]}
        rate = scaled(_number(found["rate"]), found["prefix"].replace("G", "B"))
        spread = float(found["spread"]) * (rate / 100 if found["percent"] else 1)
        _rate(reading, found["name"], rate, spread, of)
        if found["times"]:
            reading.add(f"{found['name']} ratio", found["times"], "1", "ratio", of)


def _rate(
    reading: Reading[_Run], name: str, rate: float, spread: float, of: dict[str, Any]
) -> None:
    reading.add(name, rate, "operations/s", "mean", of)
    reading.add(name, float(f"{spread:.6g}"), "operations/s", "stddev", of)


def _number(text: str) -> float:
    return float(text.replace(",", ""))


read = LineReader(TOOL, _Run, _line)
