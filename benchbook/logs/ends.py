"""What the two ends of a transfer told, beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchbook.importers import Report, Result

SUM, BOTH_WAYS = "SUM", "FD"


@dataclass
class Told:
    """The whole transfer of one stream, or of all (SUM), in one direction: by end and name."""

    stream: str
    by_end: dict[str, dict[str, Result]] = field(default_factory=dict)

    def of(self, end: str, name: str) -> Result | None:
        """A printed number of one end."""
        return self.by_end.get(end, {}).get(name)


def wholes(report: Report) -> list[Told]:
    """The totals of all streams together where both ends printed them, else of each stream."""
    found: dict[tuple[str, str], Told] = {}
    for one in report.being("total"):
        stream, direction = str(one.of.get("stream", "")), str(one.of.get("direction", ""))
        key = (SUM if stream.startswith(SUM) else stream, direction)
        told = found.setdefault(key, Told(key[0]))
        told.by_end.setdefault(str(one.of.get("end", "")), {})[one.name] = one
    found = {key: told for key, told in found.items() if not key[0].startswith(BOTH_WAYS)}
    sums = [told for (stream, _), told in found.items() if stream == SUM]
    apart = [told for (stream, _), told in found.items() if stream != SUM]
    in_sums, in_parts = (any("receiver" in told.by_end for told in some) for some in (sums, apart))
    return sums if sums and (in_sums or not in_parts) else apart


def over_udp(reports: list[Report]) -> Iterator[Report]:
    """The reports of datagrams."""
    yield from (one for one in reports if one.facts.get("protocol") == "udp")
