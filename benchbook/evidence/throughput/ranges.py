"""Printed values of a transfer that none can have, by their range or beside its other values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchbook.core.number_format import count

CHECKED = (
    "sent_bytes",
    "sent_datagrams",
    "received_bytes",
    "receiving_s",
    "expected_datagrams",
    "lost_datagrams",
    "lost_percent",
    "jitter_ms",
    "first_jitter_ms",
)
# Of the first interval: times the whole transfer's, for a start may be rough, and more than a
# program that had to wait for its CPU makes (a 16th of its wait).
FIRST_TIMES, FIRST_LEAST_MS = 100, 50
ROUNDING = 1e-6
Ends = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Doubt:
    """A value as `end` printed it under `name`, and in words, with its unit."""

    end: str
    name: str
    words: str


def out_of_range(ends: Ends) -> Iterator[Doubt]:
    """By end, the values by name (None: not printed) -> those that cannot be true."""
    for end, own in ends.items():
        for name in CHECKED:
            value = own.get(name)
            if value is not None and (words := _impossible(ends, own, name, value)):
                yield Doubt(end, name, words)


def first_jitters(ends: Ends) -> Iterator[Doubt]:
    """The first intervals' jitters that have nothing to do with that of the whole transfer."""
    for end, own in ends.items():
        first, whole = own.get("first_jitter_ms"), own.get("jitter_ms")
        if first and whole and whole > 0 and first > max(FIRST_TIMES * whole, FIRST_LEAST_MS):
            beside = f"where the whole transfer has {_plain(whole)} ms"
            words = f"a jitter of {_plain(first)} ms for the first interval, {beside}"
            yield Doubt(end, "first_jitter_ms", words)


def _impossible(ends: Ends, own: Mapping[str, Any], name: str, value: float) -> str:
    """The value in words; nothing where it can be."""
    if name == "lost_percent":
        is_share = -ROUNDING <= value <= 100 + ROUNDING
        return "" if is_share else f"a loss of {_plain(value)} %"
    if name == "lost_datagrams":
        most = own.get("expected_datagrams")
        if value < 0:
            return f"{_plain(value)} lost datagrams"
        is_part = most is None or value <= most
        return "" if is_part else f"{_plain(value)} lost datagrams of {_plain(most)}"
    if name.endswith("jitter_ms"):
        lasted = own.get("receiving_s")
        if value < 0:
            return f"a jitter of {_plain(value)} ms"
        # The first interval's is another matter.
        is_within = name != "jitter_ms" or lasted is None or value <= 1e3 * lasted
        return "" if is_within else f"a jitter of {_plain(value)} ms in {_plain(lasted)} s"
    if name == "received_bytes":
        sent = next((end["sent_bytes"] for end in ends.values() if end.get("sent_bytes")), None)
        if sent is not None and value > sent:
            return f"{_plain(value)} bytes received of {_plain(sent)} sent"
    return f"{_plain(value)} as {name}" if value < 0 else ""


def _plain(value: Any) -> str:
    """With all digits that matter: 100.04 is not 100."""
    return count(value) if abs(value) >= 1e5 or float(value).is_integer() else f"{value:.6g}"
