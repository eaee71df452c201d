"""mbw: one line for each repetition, with its time in seconds, its MiB and its MiB/s."""

from __future__ import annotations

import re

from benchbook.peers.parsers import Measured, NotUnderstoodError

# An average, which has no number in front, is no repetition.
_LINE = re.compile(
    r"^(\d+)\tMethod: \w+\tElapsed: (\S+)\tMiB: (\S+)\tCopy: (\S+) MiB/s\s*$", re.MULTILINE
)
_DIGITS = 5  # of the seconds printed


def parse(text: str) -> Measured:
    """The samples of one test. Error: mbw's clock counts whole microseconds, at both ends."""
    rows = _LINE.findall(text)
    if not rows:
        raise NotUnderstoodError("no line of its output is a repetition")
    if [int(row[0]) for row in rows] != list(range(len(rows))):
        raise NotUnderstoodError("its repetitions are not those of one test, in order")
    try:
        times = [_time_us(*(float(word) for word in row[1:])) for row in rows]
        sizes = {float(row[2]) for row in rows}
    except (ValueError, ZeroDivisionError, OverflowError):
        raise NotUnderstoodError("a figure of its output is no number above 0") from None
    if len(sizes) != 1:
        raise NotUnderstoodError("its repetitions are of different sizes")
    return Measured([us * 1000 for us in times], round(sizes.pop() * 2**20))


def _time_us(seconds: float, mebibytes: float, rate: float) -> int:
    """The whole microseconds that were measured: the rate has more digits than the time."""
    us = round(mebibytes / rate * 1e6)
    if us < 1 or abs(us / 1e6 - seconds) > 10**-_DIGITS:
        raise ValueError(us)
    return us
