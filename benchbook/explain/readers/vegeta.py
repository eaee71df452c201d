"""vegeta: requests at a fixed rate, their times and the status of the answers."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, NUMBER, RATE, TIME

TOOL = "vegeta"
_ROW = late(
    r"^(?P<what>Requests|Duration|Latencies|Bytes In|Bytes Out|Success|Status Codes)\s+"
    r"\[(?P<heads>[\w, :]{4,60})\]"
    r"\s+(?P<rest>\S.*)$"
)
_DURATION = late(
    rf"^(?:(?P<h>\d{{1,5}})h)?(?:(?P<m>\d{{1,5}})m(?=\d))?(?P<value>{NUMBER})"
    r"(?P<unit>ns|µs|μs|us|ms|s)$"
)
_UNITS = {"ns": 1e-9, "µs": 1e-6, "μs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_CODE = late(r"(?P<code>\d{1,3}):(?P<count>\d{1,12})")
_STATISTICS = {"mean": "mean", "min": "min", "max": "max", "50": "median"}


@dataclass
class _Run(Run):
    """One report."""

    def finish(self) -> bool:
        """Whether it has a time, of a request or of all; a rate is sent as it was asked for."""
        self.facts["is_paced"] = True
        is_counted = any(own.name == COUNT for own in self.results)
        return any(own.name == TIME for own in self.results) or (
            is_counted and "elapsed_s" in self.facts
        )


def _line(reading: Reading[_Run], text: str) -> None:
    found = _ROW.match(text)
    if found is None:
        return
    heads = [head.strip() for head in found["heads"].split(",")]
    cells = [cell.strip() for cell in found["rest"].split(",")]
    own = dict(zip(heads, cells, strict=False))
    if found["what"] == "Requests":
        reading.begin()
        reading.add(COUNT, own.get("total"), "requests", "total")
        reading.add(RATE, own.get("rate"), "requests/s", "mean")
        reading.add("answered rate", own.get("throughput"), "requests/s", "mean")
    elif found["what"] == "Duration":
        seconds = _seconds(own.get("attack") or own.get("total") or "")
        if seconds is not None:
            reading.run.facts["elapsed_s"] = seconds
        for head in ("total", "wait"):
            reading.show(f"duration: {head}", _seconds(own.get(head, "")), "s")
    elif found["what"] == "Latencies":
        for head, cell in own.items():
            seconds = _seconds(cell)
            if seconds is not None:
                statistic = _STATISTICS.get(head) or f"p{head}"
                reading.add(TIME, round(seconds * 1e3, 9), "ms", statistic)
    elif found["what"].startswith("Bytes "):
        for head, cell in own.items():
            reading.show(found["what"].lower(), cell, "B", head)
    elif found["what"] == "Success":
        reading.add("success rate", found["rest"].rstrip("%"), "%")
    else:
        _answers(reading, found["rest"])


def _answers(reading: Reading[_Run], text: str) -> None:
    """Answers by status; 0 is none at all."""
    counts = {found["code"]: int(found["count"]) for found in _CODE.finditer(text)}
    none = counts.pop("0", 0)
    others = sum(count for code, count in counts.items() if code[0] not in "23")
    for code, count in counts.items():
        reading.add("responses", float(count), "responses", "", {"status": code})
    if others:
        reading.add(FAILED, float(others), "requests", "", {"failure": "status"})
    if none:
        reading.run.facts["failed_are_counted"] = True
        reading.add(FAILED, float(none), "requests", "", {"failure": "no answer"})


def _seconds(text: str) -> float | None:
    """A duration as Go writes it: `21m47.89s`, `653.597µs`."""
    if text == "0s":
        return 0.0
    found = _DURATION.match(text)
    if found is None:
        return None
    small = float(found["value"]) * _UNITS[found["unit"]]
    return 3600 * int(found["h"] or 0) + 60 * int(found["m"] or 0) + small


read = LineReader(TOOL, _Run, _line)
