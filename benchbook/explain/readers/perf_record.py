"""perf record and perf report: how many samples there are, and the shares of commands and
functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "perf-record"
_WRITTEN = late(
    r"\[ perf record: Captured and wrote (?P<size>\d[\d.]*) MB \S+"
    r"(?: \((?:~?(?P<samples>\d{1,12}) samples)?\))? ?\]"
)
_SAMPLES = late(
    r"^#? ?Samples: (?P<count>\d{1,12})(?P<size>[KMG]?)(?:\s+of event '?(?P<event>[^',]{1,80})'?)?"
    r"(?:.{0,80}Event count \(approx\.\): (?P<events>\d{1,19}))?"
)
_EVENTS = late(r"^#? ?Event count \(approx\.\): (?P<events>\d{1,19})$")
_LOST = late(r"^#? ?Total Lost Samples: (?P<count>\d{1,12})$")
_ROW = late(
    r"^[+-]?\s*(?P<share>\d{1,3}\.\d\d)%(?:\s+(?P<self>\d{1,3}\.\d\d)%)?\s+(?:\d+\s+)?"
    r"(?:(?P<command>\S(?:.{0,40}?\S)?)\s{1,40})?(?P<object>\[?[\w./+-]{2,80}\]?)\s+"
    r"\[(?P<level>[.kguH])\]\s+(?P<symbol>\S.{0,200})$"
)
# perf top of old kernels, and what perf diff has next to a share.
_OLD_ROW = late(
    r"^(?P<count>\d{1,12}\.\d\d) +(?P<share>\d{1,3}\.\d)% (?P<symbol>\S{1,200}) +"
    r"(?P<object>\[[\w.]{2,60}\]|/\S{1,200})$"
)
_DIFF_ROW = late(
    r"^(?P<share>\d{1,3}\.\d\d)%\s+(?P<change>[+-]\d{1,3}\.\d\d)%\s+(?P<object>\S{1,200})\s+"
    r"\[(?P<level>[.kguH])\]\s+(?P<symbol>\S.{0,200})$"
)
_TOP = late(
    r"^PerfTop: +(?P<rate>\d{1,9}) irqs/sec +kernel: ?(?P<kernel>\d{1,3}\.\d)%.{0,80}?"
    r"\[(?:\d+Hz )?(?P<event>[\w:-]{1,40})\]"
)
_LEAST_ROWS = 3  # of a list that has lost its head
_SIZES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}
_MOST_ROWS = 200


@dataclass
class _Run(Run):
    """One recording, or one report on it."""

    rows: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    has_head: bool = False

    def finish(self) -> bool:
        """Rows without a head have to be several."""
        return bool(self.results) and (self.has_head or self.rows >= _LEAST_ROWS)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _WRITTEN.search(text):
        run = reading.begin(has_head=True)
        reading.add("file size", found["size"], "MB")
        if found["samples"]:
            reading.add("samples", float(found["samples"]), "samples")
    elif found := _SAMPLES.match(text):
        if run.rows or run.facts.get("event"):
            run = reading.begin()
        run.has_head = True
        run.facts["event"] = (found["event"] or "").strip()
        # Rounded to thousands it does not tell how many there are.
        of: dict[str, Any] = {"rounded": True} if found["size"] else {}
        reading.add("samples", float(found["count"]) * _SIZES[found["size"]], "samples", "", of)
        if found["events"]:
            reading.add("event count", float(found["events"]), "events")
    elif found := _TOP.match(text):
        run = reading.begin(facts={"event": found["event"]}, has_head=True)
        reading.add("interrupts", found["rate"], "interrupts/s")
        reading.add("share of the kernel", found["kernel"], "%")
    elif found := _EVENTS.match(text):
        run.has_head = True
        reading.add("event count", float(found["events"]), "events")
    elif found := _LOST.match(text):
        reading.add("lost samples", float(found["count"]), "samples")
    elif "%" in text and run.rows < _MOST_ROWS and (found := _DIFF_ROW.match(text)):
        run.rows += 1
        of = {"label": found["object"], "level": found["level"]}
        symbol = found["symbol"].strip()
        reading.add(f"share of {symbol} before", found["share"], "%", GIVEN, of)
        reading.add(f"change of {symbol}", float(found["change"]), "%", GIVEN, of)
    elif "%" in text and run.rows < _MOST_ROWS and (found := _ROW.match(text)):
        run.rows += 1
        of = {
            "label": f"{found['command'] or ''} {found['object']}".strip(),
            "level": found["level"],
        }
        share = found["self"] or found["share"]
        reading.add(f"share of {found['symbol'].strip()}", share, "%", "", of)
    elif "%" in text and run.rows < _MOST_ROWS and (found := _OLD_ROW.match(text)):
        run.rows += 1
        of = {"label": found["object"]}
        reading.add(f"share of {found['symbol']}", found["share"], "%", "", of)


read = LineReader(TOOL, _Run, _line)
