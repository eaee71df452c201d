"""lspci -vv: speed and lanes of links, as they are and as the device could have them."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "lspci"
_DEVICE = late(r"^(?:[0-9a-f]{4}:)?(?P<bus>[0-9a-f]{2}:[0-9a-f]{2}\.\d) (?P<name>[A-Z].{3,160})$")
_CAN = late(r"LnkCap:.*?Speed (?P<speed>\d{1,2}(?:\.\d)?)GT/s, Width x(?P<lanes>\d{1,2})\b")
_IS = late(
    r"LnkSta:.*?Speed (?P<speed>\d{1,2}(?:\.\d)?)GT/s(?: \(\w+\))?, Width x(?P<lanes>\d{1,2})\b"
)
# After the coding of bits, MB/s for a lane, by GT/s.
MB_PER_S = {2.5: 250.0, 5.0: 500.0, 8.0: 984.6, 16.0: 1969.2, 32.0: 3938.5, 64.0: 7877.0}


@dataclass
class _Run(Run):
    """One device; what its link could be stands above what it is."""

    could: tuple[float, int] | None = None

    def finish(self) -> bool:
        """Whether its link was shown."""
        self.line = self.line or (self.results[0].line if self.results else 0)
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _DEVICE.match(text):
        reading.begin(facts={"device": found["name"]})
    elif found := _CAN.search(text):
        if run.results:
            run = reading.begin()
        run.could = float(found["speed"]), int(found["lanes"])
    elif found := _IS.search(text):
        if "(downgraded)" in text:
            run.facts["marked_line"] = reading.line.number
        reading.add("link speed", found["speed"], "GT/s", "sample")
        reading.add("PCIe lanes", found["lanes"], "1", "sample")
        if run.could:
            reading.add("most link speed", run.could[0], "GT/s", "sample")
            reading.add("most PCIe lanes", float(run.could[1]), "1", "sample")
        run.could = None


def carries(speed: float, lanes: float) -> float:
    """What a link carries one way, in MB/s; 0 where its speed is none of PCIe."""
    return MB_PER_S.get(speed, 0.0) * lanes


read = LineReader(TOOL, _Run, _line)
