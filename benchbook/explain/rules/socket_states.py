"""What ss -ti shows of connections: round trips, windows, what was sent again, what held them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

State = tuple[Report, Finding | None]
_MOST_LINES, _LONGEST = 500, 2000
_N = r"\d{1,15}(?:\.\d{1,6})?"
_FIELDS = {
    "round trip": (late(rf"\brtt:(?P<v>{_N})/{_N}\b"), "ms"),
    "congestion window": (late(r"\bcwnd:(?P<v>\d{1,9})\b"), "segments"),
    "sent": (late(r"\bbytes_sent:(?P<v>\d{1,18})\b"), "B"),
    "sent again": (late(r"\bbytes_retrans:(?P<v>\d{1,18})\b"), "B"),
    "segments sent again": (late(r"\bretrans:\d{1,9}/(?P<v>\d{1,12})\b"), "segments"),
    "segments sent": (late(r"\bsegs_out:(?P<v>\d{1,15})\b"), "segments"),
}
_RATE = late(rf"\bdelivery_rate (?P<v>{_N})(?P<prefix>[KMG]?)bps\b")
_HELD = late(rf"\b(?P<by>rwnd|sndbuf)_limited:{_N}m?s\((?P<share>{_N})%\)")
_IS_ONE = late(r"\brtt:\d.*\bcwnd:\d")
LEAST_AGAIN, LEAST_HELD = 1e-3, 20.0  # of what was sent; per cent of the time


def states(log: Log) -> Iterator[State]:
    """One report for all connections, and what holds the first that something holds."""
    results: list[Result] = []
    made: Finding | None = None
    for line in log.having(" cwnd:")[:_MOST_LINES]:
        if len(line.text) > _LONGEST or not _IS_ONE.search(line.text):
            continue
        own = {
            name: Result(name, float(found["v"]), unit, line.number)
            for name, (pattern, unit) in _FIELDS.items()
            if (found := pattern.search(line.text))
        }
        if rate := _RATE.search(line.text):
            unit = f"{rate['prefix'].replace('K', 'k')}bit/s"
            own["rate"] = Result("delivery rate", float(rate["v"]), unit, line.number)
        held = [
            Result(f"held by {found['by']}", float(found["share"]), "%", line.number)
            for found in _HELD.finditer(line.text)
        ]
        results += [*own.values(), *held]
        made = made or _finding(own, held)
    if results:
        yield Report("ss", results, results[0].line), made


def _finding(own: dict[str, Result], held: list[Result]) -> Finding | None:
    for again, every in (("sent again", "sent"), ("segments sent again", "segments sent")):
        lost, sent = own.get(again), own.get(every)
        if lost and sent and LEAST_AGAIN * sent.value <= lost.value < sent.value:
            words: dict[str, Any] = {"lost": lost, "sent": sent}
            words |= {"share": lost.value / sent.value, "window": own.get("congestion window")}
            return finding("connection-resends", words, about=[lost])
    long = [share for share in held if LEAST_HELD <= share.value <= 100]
    if long:
        most = max(long, key=lambda share: share.value)
        by = "receiver" if "rwnd" in most.name else "sender"
        return finding("connection-held", held=most, by=by, about=[most])
    return None
