"""sockperf: the full log of a ping-pong, a line for each round trip, behind what it says of them.

Its own warm-up, the first 400 ms, and its last 50 ms are not in the log.
"""

from __future__ import annotations

import re

from benchbook.peers.parsers import Measured, NotUnderstoodError

# Of round trips only: without --full-rtt the last column is half of each.
_HEAD = "packet, txTime(sec), rxTime(sec), rtt(usec)\n"
_ROW = re.compile(r"(\d+), (\d+)\.(\d{9}), (\d+)\.(\d{9}), (\d+)\.(\d{3})")
_LOST = re.compile(
    r"# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+)"
)
_COUNT = re.compile(r"\[Valid Duration\] .*; ReceivedMessages=(\d+)\n")
_ROUNDING_NS = 2  # seconds are printed from a double


def parse(text: str) -> Measured:
    """Every round trip in ns, each of one message's bytes."""
    said, head, log = text.partition(_HEAD)
    if not head:
        words = re.search(r"^sockperf: (No .*)$", said, re.MULTILINE)
        raise NotUnderstoodError(words[1] if words else "its output has no log of round trips")
    size = re.search(r"--msg-size=(\d+) ", said)
    count, lost = _COUNT.search(said), _LOST.search(said)
    if size is None or count is None or lost is None:
        raise NotUnderstoodError("it does not tell the size, number and loss of its messages")
    if any(map(int, lost.groups())):
        raise NotUnderstoodError(
            "{} of its messages were lost, {} came twice and {} late".format(*lost.groups())
        )
    rows = log.partition("---")[0].splitlines()
    if len(rows) != int(count[1]):
        raise NotUnderstoodError(f"its log has {len(rows)} of {count[1]} round trips")
    return Measured([_time_ns(row, number) for number, row in enumerate(rows)], int(size[1]))


def _time_ns(row: str, number: int) -> int:
    found = _ROW.fullmatch(row)
    if found is None or int(found[1]) != number:
        raise NotUnderstoodError(f"line {number} of its log is {row[:80]!r}")
    sent, back = (int(found[group]) * 10**9 + int(found[group + 1]) for group in (2, 4))
    time_ns = int(found[6]) * 1000 + int(found[7])
    if time_ns < 1 or abs(back - sent - time_ns) > _ROUNDING_NS:
        raise NotUnderstoodError(f"line {number} of its log contradicts itself: {row!r}")
    return time_ns
