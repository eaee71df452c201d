"""curl -w: the moments of a request, all counted from its start."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "curl"
TOTAL = "total time"
# What the moments are called by curl, and by a list of its options that is often copied.
NAMES = {
    "namelookup": "name found", "connect": "connected", "appconnect": "TLS ready",
    "pretransfer": "ready to send", "redirect": "redirects", "starttransfer": "first byte",
    "total": TOTAL, "lookup": "name found", "appcon": "TLS ready", "prexfer": "ready to send",
    "startxfer": "first byte",
}  # fmt: skip
_MOMENT = late(
    r"^[\"']?(?:time_(?P<name>[a-z]+)|(?P<words>Lookup|Connect|App[Cc]on|Pre[Xx]fer|Redirect|"
    r"Start[Xx]fer|Total) time)[\"']?\s*[:=]\s*[\"']?(?P<time>\d+(?:[.,]\d+)?) ?(?P<unit>s|ms)?"
    r"[\"']?,?$"
)


@dataclass
class _Run(Run):
    """One request."""

    seen: set[str] = field(default_factory=set)

    def finish(self) -> bool:
        """Whether it has the time of the whole, and a moment before it."""
        return len(self.results) > 1 and TOTAL in self.seen


def _line(reading: Reading[_Run], text: str) -> None:
    found = _MOMENT.match(text)
    name = NAMES.get((found["name"] or found["words"]).lower(), "") if found else ""
    if found and name:
        run = reading.run
        if name in run.seen or TOTAL in run.seen:
            run = reading.begin()
        run.line = run.line or reading.line.number
        run.seen.add(name)
        reading.add(name, found["time"], found["unit"] or "s")


read = LineReader(TOOL, _Run, _line)
