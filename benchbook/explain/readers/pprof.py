"""pprof: the list of the functions with the largest shares, as `go tool pprof -top` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "pprof"
_UNITS = {"ns": "ns", "us": "us", "µs": "us", "ms": "ms", "s": "s", "min": "min", "mins": "min"}
_UNITS |= {"hrs": "h", "B": "B", "kB": "KiB", "MB": "MiB", "GB": "GiB"}
_UNIT = r"ns|us|µs|ms|s|mins?|hrs|[kMG]?B"
_TOTAL = late(
    rf"^(?:Showing nodes accounting for )?(?P<shown>\d+(?:\.\d+)?)(?P<unit>{_UNIT})?"
    rf"(?:, \d{{1,3}}(?:\.\d+)?%)? of (?P<whole>\d+(?:\.\d+)?)(?P<whole_unit>{_UNIT})? total\b"
)
_SAMPLES = late(
    r"^Duration: (?P<took>\d+(?:\.\d+)?)(?P<unit>ms|s|mins), Total samples = "
    r"(?P<all>\d+(?:\.\d+)?)(?P<all_unit>ms|s|mins)"
)
_ROW = late(
    rf"^(?P<flat>\d+(?:\.\d+)?)(?P<unit>{_UNIT})?\s+(?P<share>\d{{1,3}}(?:\.\d+)?)%\s+"
    rf"\d{{1,3}}(?:\.\d+)?%\s+(?P<cum>\d+(?:\.\d+)?)(?P<cum_unit>{_UNIT})?\s+"
    r"(?P<all>\d{1,4}(?:\.\d+)?)%\s+(?P<name>\S.{0,300})$"
)
_HEAD = late(r"^flat\s+flat%\s+sum%\s+cum\s+cum%$")


@dataclass
class _Run(Run):
    """One list; `has_head`: whether its head was seen."""

    has_head: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _HEAD.match(text):
        if run.has_head:
            run = reading.begin()
        run.has_head, run.line = True, run.line or reading.line.number
    elif run.has_head and (found := _ROW.match(text)):
        of: dict[str, Any] = {"benchmark": found["name"]}
        # A 0 stands there without the unit that the other figure of its row has.
        unit = _UNITS.get(found["unit"] or found["cum_unit"], "samples")
        reading.add(f"{found['name']} own", found["flat"], unit, GIVEN, of)
        reading.add(f"{found['name']} own share", found["share"], "%", GIVEN, of)
        unit = _UNITS.get(found["cum_unit"], "samples")
        reading.add(f"{found['name']} with calls", found["cum"], unit, GIVEN, of)
        reading.add(f"{found['name']} share with calls", found["all"], "%", GIVEN, of)
    elif found := _TOTAL.match(text):
        run = reading.begin() if run.has_head else run
        reading.add("total", found["whole"], _UNITS.get(found["whole_unit"], "samples"), GIVEN)
    elif found := _SAMPLES.match(text):
        run = reading.begin() if run.has_head else run
        reading.add("duration", found["took"], _UNITS[found["unit"]], GIVEN)


read = LineReader(TOOL, _Run, _line)
