"""gatling: the global information at the end, with the answers that were as expected (OK) and
those that were not (KO)."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import as_float
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, RATE, TIME

TOOL = "gatling"
_NUMBER = r"[\d,. ]*\d|-"
_ROW = late(
    rf"^(?:> )?(?P<what>[a-z0-9/ ]+?(?: \([a-z/]+\))?) +(?:\|\s*)?(?P<all>\d[\d,.]*|-)\s*"
    rf"(?:\(OK=(?P<ok>{_NUMBER})\s*KO=(?P<ko>{_NUMBER})\s*\)|\|\s*(?P<ok_cell>{_NUMBER})\s*\|"
    rf"\s*(?P<ko_cell>{_NUMBER}))$"
)
_TIMES = {
    "min response time": "min", "max response time": "max", "mean response time": "mean",
    "std deviation": "stddev", "response time std deviation": "stddev",
}  # fmt: skip
_SHARE = late(r"^response time (?P<share>\d{1,2})(?:st|nd|rd|th) percentile$")
_RATES = ("mean requests/sec", "mean throughput")


@dataclass
class _Run(Run):
    """One summary."""

    def finish(self) -> bool:
        """Whether it has a count and a time."""
        return {COUNT, TIME} <= {own.name for own in self.results}


def _line(reading: Reading[_Run], text: str) -> None:
    found = _ROW.match(text)
    if found is None:
        return
    run, what = reading.run, found["what"].strip()
    what = what.removesuffix(" (ms)").removesuffix(" (rps)")
    every, failed = _number(found["all"]), _number(found["ko"] or found["ko_cell"])
    well = _number(found["ok"] or found["ok_cell"])
    if what == "request count" and every is not None:
        run = reading.begin(facts={"failed_are_counted": True})
        reading.add(COUNT, every, "requests", "total")
        reading.show(f"{COUNT} answered as expected", well, "requests")
        if failed:
            reading.add(FAILED, failed, "requests", "", {"failure": "failed"})
    elif not run.results:
        return
    elif what in _RATES:
        reading.add(RATE, every, "requests/s", "mean")
        reading.add(f"{RATE} of answers as expected", well, "requests/s", "mean")
    elif what in _TIMES or _SHARE.match(what):
        share = _SHARE.match(what)
        statistic = f"p{share['share']}" if share else _TIMES[what]
        statistic = "median" if statistic == "p50" else statistic
        reading.add(TIME, every, "ms", statistic)
        reading.add(f"{TIME} of answers as expected", well, "ms", statistic)
        if failed:
            reading.show(f"{TIME} of failures", failed, "ms", statistic)


def _number(text: str | None) -> float | None:
    """A number with its thousands parted; a comma before two digits or fewer is a decimal one."""
    digits = (text or "").replace(" ", "")
    if not digits or digits == "-":
        return None
    head, comma, tail = digits.rpartition(",")
    if comma and len(tail) != 3:
        return as_float(f"{head.replace(',', '')}.{tail}")
    return as_float(digits.replace(",", ""))


read = LineReader(TOOL, _Run, _line)
