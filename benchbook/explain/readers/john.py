"""John the Ripper's benchmark: guesses a second, in real time and in CPU time, by threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "john"
_TEST = late(r"^Benchmarking: (?P<test>\S.{0,120}?)\.\.\.(?: \((?P<threads>\d{1,4})xOMP\))?")
_RATES = late(
    r"^(?P<kind>Raw|Many salts|Only one salt|Short|Long)(?: salts?)?:\s+(?P<real>\d{1,9}[KMG]?) c/s"
    r"(?: real, (?P<cpu>\d{1,9}[KMG]?) c/s virtual)?"
)
_SIZES = {"K": 1e3, "M": 1e6, "G": 1e9}


@dataclass
class _Run(Run):
    """One format."""

    test: str = ""
    threads: int = 1


def _line(reading: Reading[_Run], text: str) -> None:
    if text.startswith("Benchmarking: ") and (found := _TEST.match(text)):
        reading.begin(test=found["test"], threads=int(found["threads"] or 1))
    elif reading.run.test and (found := _RATES.match(text)):
        run = reading.run
        run.facts |= {"threads": run.threads, "test": run.test}
        of: dict[str, Any] = {"mode": found["kind"]}
        for name, key in (("rate", "real"), ("rate by CPU time", "cpu")):
            if found[key]:
                reading.add(name, _number(found[key]), "guesses/s", "", of)


def _number(text: str) -> float:
    return float(text.rstrip("KMG")) * _SIZES.get(text[-1], 1.0)


read = LineReader(TOOL, _Run, _line)
