"""ucc_perftest: the time and the bandwidth of a collective operation at each size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "ucc_perftest"
_HEAD = late(r"^Count +Size +Time, us(?P<rate> +(?:Bus )?Bandwidth, GB/s)?$")
_NAMES = late(r"^(?:avg|min|max)(?: +(?:avg|min|max)){2,5}$")
_FIGURES = late(r"^\d{1,15} +\d{1,18}(?: +\d{1,12}\.\d{1,6}){3,6}$")
_FACT = late(r"^(?P<name>Collective|Memory type|Datatype): +(?P<value>[\w/-]{1,30})$")
_FACTS = {"Collective": "operation", "Memory type": "memory", "Datatype": "datatype"}
_STATISTICS = {"avg": "mean", "min": "min", "max": "max"}


@dataclass
class _Run(Run):
    """One table. `names`: of its columns behind the size."""

    has_rates: bool = False
    names: list[str] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _FACT.match(text):
        if found["name"] == "Collective":
            reading.above = {"facts": {}}
        reading.above.setdefault("facts", {})[_FACTS[found["name"]]] = found["value"]
    elif found := _HEAD.match(text):
        facts = dict(reading.above.get("facts", {}))
        reading.begin(has_rates=bool(found["rate"]), facts=facts)
    elif run.line and not run.names and _NAMES.match(text):
        names = text.split()
        run.names = names if len(names) == (6 if run.has_rates else 3) else []
    elif run.names and _FIGURES.match(text):
        _count, size, *figures = text.split()
        of: dict[str, Any] = {"message_bytes": int(size)}
        for place, (name, figure) in enumerate(zip(run.names, figures, strict=False)):
            what, unit = ("time", "us") if place < 3 else ("bandwidth", "GB/s")
            reading.show(what, figure, unit, _STATISTICS[name], of)


read = LineReader(TOOL, _Run, _line)
