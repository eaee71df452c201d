"""HPL (High-Performance Linpack): a row for each run, and the check of its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Twice
from benchbook.explain.printed_digits import half_digit
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "hpl"
_VERSION = late(r"^HPLinpack (?P<version>\d+(?:\.\d+)?)")
_HEAD = late(r"^T/V\s+N\s+NB\s+P\s+Q\s+Time\s+Gflops$")
_ROWS = late(
    r"(?:^|(?<= ))(?P<variant>W[RC]\w{5,8})\s+(?P<n>\d+)\s+(?P<nb>\d+)\s+(?P<p>\d+)\s+(?P<q>\d+)\s+"
    r"(?P<time>"
    r"\d+(?:\.\d+)?)\s+"
    r"(?P<gflops>\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
)
# |Ax - b| over what rounding allows; below 16 it passes.
_CHECK = late(
    r"^\|\|Ax-b\|\|.{0,100}= *(?P<residual>\d+(?:\.\d+)?(?:e[+-]?\d+)?) \.+ (?:PASSED|FAILED)"
)


@dataclass
class _Run(Run):
    """All rows of a log."""

    line: int = 0


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _VERSION.match(text):
        run = reading.begin(version=found["version"]) if run.results else run
        run.version = found["version"]
    elif _HEAD.match(text):
        run.line = run.line or reading.line.number
    elif "Ax-b" in text and (found := _CHECK.match(text)):
        reading.add("residual", found["residual"], "1")
    for found in _ROWS.finditer(text) if "W" in text else ():
        size, took = int(found["n"]), float(found["time"])
        of: dict[str, Any] = {"matrix_order": size, "block_rows": int(found["nb"])}
        of |= {"grid": f"{found['p']} x {found['q']}"}
        of |= {"processes": int(found["p"]) * int(found["q"]), "working_set_bytes": 8 * size * size}
        reading.add("time", found["time"], "s", "", of)
        reading.add("arithmetic rate", found["gflops"], "Gflop/s", "", of)
        if took > 0 and size:
            made = (2 / 3 * size**3 + 3 / 2 * size**2) / took / 1e9
            slack = made * (half_digit(found["time"]) / took + 2e-3) + half_digit(found["gflops"])
            words = f"2/3 N³ + 3/2 N² for N = {size:,}, over its time,"
            run.twice.append(
                Twice(
                    "the rate",
                    float(found["gflops"]),
                    "Gflop/s",
                    reading.line.number,
                    made,
                    words,
                    slack,
                )
            )


read = LineReader(TOOL, _Run, _line)
