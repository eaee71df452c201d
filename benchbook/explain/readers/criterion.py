"""criterion (Rust): `time: [low middle high]` of each benchmark, its change and its outliers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "criterion"
_PART = r"(?P<{0}>\d+(?:\.\d+)?) (?P<{0}_unit>[pnµm]?s|us)"
_TIME = late(
    rf"^(?P<name>\S.*?)?\s*time:"
    rf"\s+\[{_PART.format('low')} {_PART.format('mean')} {_PART.format('high')}\]"
)
# What somebody left of it: the middle alone.
_ALONE = late(r"^(?P<name>\S.*?)\s+time:\s+\[(?P<mean>\d+(?:\.\d+)?) (?P<mean_unit>[pnµm]?s|us)\]")
_CHANGE = late(
    r"^(?:change:|time:)\s*(?:time:)?\s*\[(?P<low>[+\u2212-]\d+(?:\.\d+)?)% "
    r"(?P<mean>[+\u2212-]\d+(?:\.\d+)?)% (?P<high>[+\u2212-]"
    r"\d+(?:\.\d+)?)%\]"
    r"(?: \(p = (?P<p>\d+(?:\.\d+)?))?"
)
_THROUGHPUT = late(
    r"^thrpt:\s+\[\d+(?:\.\d+)? [\w/]+ (?P<rate>\d+(?:\.\d+)?) (?P<unit>[KMG]?(?:iB|B|elem)/s) "
)
_OUTLIERS = late(r"^Found (?P<count>\d+) outliers among (?P<all>\d+) measurements")
# critcmp: a row has for each baseline how many times as long, mean and deviation, and the rate.
_COMPARED = late(
    r"(?P<times>\d{1,9}\.\d\d) +(?P<mean>\d{1,9}(?:\.\d{1,6})?)"
    r"±(?P<deviation>\d{1,9}(?:\.\d{1,6})?)(?P<unit>ns|µs|us|ms|s) +"
    r"(?:\? \?/sec|(?P<rate>\d{1,9}(?:\.\d{1,6})?) (?P<of>[KMG]?(?:i?B|Elem)/sec))"
)
_GROUPS = late(r"^group +(?P<names>\S.{0,200})$")
_VERDICTS = ("No change in performance detected", "Change within noise threshold")


_MANY = 0.1  # of the measurements
_DISTURBED = ": other work or a clock that changes may be why"


def _is_many(found: re.Match[str]) -> bool:
    return int(found["count"]) >= _MANY * int(found["all"])


@dataclass
class _Run(Run):
    """All benchmarks of a log."""

    line: int = 0
    last: str = ""
    name: str = ""
    compared: tuple[str, ...] = ()  # the baselines of critcmp


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "time:" in text and (found := _TIME.match(text)):
        run.name = found["name"] or run.last or "benchmark"
        of: dict[str, Any] = {"benchmark": run.name}
        for part, statistic in (
            ("low", "confidence low"),
            ("mean", "mean"),
            ("high", "confidence high"),
        ):
            unit = found[f"{part}_unit"].replace("µ", "u")
            scale, unit = (1e-3, "ns") if unit == "ps" else (1.0, unit)
            reading.add(run.name, float(found[part]) * scale, unit, statistic, of)
    elif found := _ALONE.match(text):
        unit = found["mean_unit"].replace("µ", "u")
        scale, unit = (1e-3, "ns") if unit == "ps" else (1.0, unit)
        of = {"benchmark": found["name"]}
        reading.add(found["name"], float(found["mean"]) * scale, unit, "mean", of)
    elif found := _CHANGE.match(text):
        low, mean, high = (
            float(found[part].replace("\u2212", "-")) for part in ("low", "mean", "high")
        )
        of = {"benchmark": run.name, "change_low_percent": low, "change_high_percent": high}
        if found["p"]:
            of["p_value"] = float(found["p"])
        reading.add(f"{run.name} change", mean, "%", "mean", of)
    elif found := _THROUGHPUT.match(text):
        unit = found["unit"].replace("elem", "items")
        reading.add(f"{run.name} throughput", found["rate"], unit, "mean", {"benchmark": run.name})
    elif (found := _OUTLIERS.match(text)) and run.results:
        if _is_many(found):
            run.notes.append(
                f"line {reading.line.number}: criterion found {found['count']} outliers among "
                f"{found['all']} measurements of {run.name}{_DISTURBED}"
            )
    elif found := _GROUPS.match(text):
        run.compared = tuple(found["names"].split())
    elif "±" in text and (rows := list(_COMPARED.finditer(text))):
        _compared(reading, text[: rows[0].start()].strip(), rows)
    else:
        run.last = text if len(text) < 100 and not text.startswith("```") else ""


def _compared(reading: Reading[_Run], name: str, rows: list[re.Match[str]]) -> None:
    """A row of critcmp: the figures of each baseline."""
    names = reading.run.compared
    names = names if len(names) == len(rows) else ("",) * len(rows)
    for build, found in zip(names, rows, strict=True):
        of: dict[str, Any] = {"benchmark": name, "build": build} if build else {"benchmark": name}
        unit = found["unit"].replace("µ", "u")
        reading.add(name, found["mean"], unit, "mean", of)
        reading.add(name, found["deviation"], unit, "stddev", of)
        if found["rate"]:
            rate = found["of"].replace("sec", "s").replace("Elem", "items").replace("KB", "kB")
            reading.add(f"{name} throughput", found["rate"], rate, "mean", of)


read = LineReader(TOOL, _Run, _line)
