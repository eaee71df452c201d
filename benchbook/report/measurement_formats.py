"""Measurements in the formats of other programs: pyperf, github-action-benchmark, Bencher,
OpenMetrics (Prometheus), ReFrame's performance logs, and Parquet."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_json, write_text
from benchbook.report.measurements import EVENTS, FIGURE, RATIO, TIME, Measurement

Values = Sequence[Measurement]


@dataclass(frozen=True)
class Export:
    """A file that is wanted, and its format, one of FORMATS."""

    format: str
    path: Path

    @classmethod
    def of(cls, text: str) -> Export:
        """Out of `FORMAT=FILE`. BenchbookError where that is not its form."""
        name, sign, path = text.partition("=")
        if name not in FORMATS or not sign or not path:
            raise BenchbookError(
                f"--export {text!r}: write FORMAT=FILE; the formats are {', '.join(FORMATS)}"
            )
        return cls(name, Path(path))

    def write(self, measurements: Values) -> None:
        """Write the file. BenchbookError where the format cannot hold these measurements."""
        FORMATS[self.format](measurements, self.path)


def pyperf(measurements: Values, path: Path) -> None:
    """Times in pyperf's JSON. Two programs are two files, NAME-a.json and NAME-b.json, which
    `pyperf compare_to` takes."""
    times = [item for item in measurements if item.quantity == TIME]
    if not times:
        raise BenchbookError(
            "--export pyperf: pyperf has times only, and none was measured; use another format"
        )
    for program in dict.fromkeys(item.program for item in times):
        own = [item for item in times if item.program == program]
        file = path.with_stem(f"{path.stem}-{program}") if program else path
        content = {
            "version": "1.0",
            "metadata": {"unit": "second"},
            "benchmarks": [
                {
                    "metadata": {"name": name},
                    "runs": [_pyperf_run(item, value) for item in items for value in item.values],
                }
                for name, items in _by_name(own)
            ],
        }
        write_json(file, content)


def _pyperf_run(measurement: Measurement, value_ns: float) -> dict[str, Any]:
    date = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(measurement.at_s))
    seconds = value_ns / 1e9
    return {"metadata": {"date": date, "duration": seconds}, "values": [seconds]}


def github_action_benchmark(measurements: Values, path: Path) -> None:
    """The last value of each quantity, for the tools `customSmallerIsBetter` and, where a printed
    figure is better when it is higher, `customBiggerIsBetter`: a file holds one kind only."""
    bigger = any(item.more_is_better for item in measurements)
    content = []
    for item in _latest(measurements):
        if item.more_is_better == bigger:
            entry = {"name": _title(item), "unit": item.unit or "figure", "value": item.value}
            if math.isfinite(item.low):
                entry["range"] = f"{item.low:.6g} to {item.high:.6g}"
            content.append(entry)
    write_json(path, content)


def bencher(measurements: Values, path: Path) -> None:
    """The last value of each quantity in Bencher Metric Format; its `latency` is in ns."""
    content: dict[str, dict[str, dict[str, float]]] = {}
    for item in _latest(measurements):
        measure = "latency" if item.quantity == TIME else item.quantity.replace(" ", "-")
        metric = {"value": item.value}
        if math.isfinite(item.low):
            metric |= {"lower_value": item.low, "upper_value": item.high}
        content.setdefault(item.label, {})[measure] = metric
    write_json(path, content)


FAMILIES = {  # of OpenMetrics: name, unit, help, and by what a value is divided
    TIME: ("benchbook_time_seconds", "seconds", "Median time of a run.", 1e9),
    FIGURE: ("benchbook_figure", "", "Median of the figure that the program prints.", 1.0),
    RATIO: ("benchbook_ratio", "", "Cost of b over that of a.", 1.0),
    EVENTS: ("benchbook_counted_events", "", "Median of events counted by cachegrind.", 1.0),
}


def openmetrics(measurements: Values, path: Path) -> None:
    """Gauges in OpenMetrics text; ends of intervals are gauges of their own (`_low`, `_high`).
    Values of several runs have their time."""
    dated = len({item.at_s for item in measurements}) > 1
    lines = []
    for key, (name, unit, text, divisor) in FAMILIES.items():
        own = [item for item in measurements if key in (item.quantity, item.unit)]
        ends = [item for item in own if math.isfinite(item.low)]
        for part, items in (("", own), ("low", ends), ("high", ends)):
            if not items:
                continue
            # A unit is the last word of its family's name.
            family = "_".join(filter(None, (name.removesuffix(f"_{unit}"), part, unit)))
            end = {"low": " Lower end of its interval.", "high": " Upper end of its interval."}
            lines.append(f"# TYPE {family} gauge")
            lines += [f"# UNIT {family} {unit}"] * bool(unit)
            lines.append(f"# HELP {family} {text}{end.get(part, '')}")
            for item in sorted(items, key=lambda item: (item.label, item.quantity)):
                value = getattr(item, part or "value") / divisor
                stamp = f" {item.at_s:.0f}" if dated else ""
                lines.append(f"{family}{{{_labels(item)}}} {value!r}{stamp}")
    write_text(path, "\n".join([*lines, "# EOF", ""]))


def _labels(measurement: Measurement) -> str:
    labels = {
        "host": measurement.host,
        "group": measurement.group,
        "name": measurement.name,
        "program": measurement.program,
    }
    if measurement.unit == EVENTS:
        labels["event"] = measurement.quantity
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    return ",".join(f'{key}="{text.translate(escapes)}"' for key, text in labels.items() if text)


def reframe(measurements: Values, path: Path) -> None:
    """A performance log of ReFrame 4: a line of heads, and a line for each time, with bars between
    the columns. A quantity has five columns; its thresholds are the ends of its interval."""
    titles = list(dict.fromkeys(map(_column, measurements)))
    ends = ("value", "unit", "ref", "lower_thres", "upper_thres")
    heads = [f"{title}_{end}" for title in titles for end in ends]
    lines = [["result", "job_completion_time", "name", "system", *heads]]
    ordered = sorted(measurements, key=lambda item: item.at_s)
    for at_s, items in groupby(ordered, key=lambda item: item.at_s):
        cells = {_column(item): item for item in items}
        completed = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s))
        line = ["pass", completed, ordered[0].group, ordered[0].host]
        for title in titles:
            item = cells.get(title)
            line += ["null"] * 5 if item is None else _reframe_cells(item)
        lines.append(line)
    texts = ("|".join(re.sub(r"[|\n]", " ", cell) for cell in line) for line in lines)
    write_text(path, "\n".join([*texts, ""]))


def _column(measurement: Measurement) -> str:
    return re.sub(r"[\s|]+", "_", _title(measurement))


def _reframe_cells(measurement: Measurement) -> list[str]:
    """Value, unit, reference, and the thresholds, which ReFrame has as shares of the reference."""
    value = measurement.value
    shares = (end / value - 1 if value else math.nan for end in (measurement.low, measurement.high))
    ends = (f"{share:.6g}" if math.isfinite(share) else "None" for share in shares)
    return [f"{value!r}", measurement.unit or "figure", f"{value!r}", *ends]


def parquet(measurements: Values, path: Path) -> None:
    """A row for each value, with the middle of its program's values and its interval."""
    import pandas as pd  # where it is needed: it takes a third of a second

    rows = [
        {**asdict(item), "values": value, "number": number}
        for item in measurements
        for number, value in enumerate(item.values)
    ]
    table = pd.DataFrame(rows).rename(columns={"value": "median", "values": "value"})
    table["at"] = pd.to_datetime(table.pop("at_s"), unit="s", utc=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path, index=False)


def _title(measurement: Measurement) -> str:
    """The label, with what is no time or printed figure."""
    plain = measurement.quantity in (TIME, FIGURE)
    return measurement.label if plain else f"{measurement.label} {measurement.quantity}"


def _latest(measurements: Values) -> Iterable[Measurement]:
    """The last measurement of each title."""
    return {_title(item): item for item in sorted(measurements, key=lambda i: i.at_s)}.values()


def _by_name(measurements: Values) -> Iterable[tuple[str, list[Measurement]]]:
    names = dict.fromkeys(item.name for item in measurements)
    return ((name, [item for item in measurements if item.name == name]) for name in names)


FORMATS: dict[str, Callable[[Values, Path], None]] = {
    "pyperf": pyperf,
    "github-action-benchmark": github_action_benchmark,
    "bencher": bencher,
    "openmetrics": openmetrics,
    "reframe": reframe,
    "parquet": parquet,
}
