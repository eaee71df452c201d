"""perf bench: how many calls a loop made, and the microseconds of one, with six digits."""

from __future__ import annotations

import math
import re

from benchbook.peers.parsers import Measured, NotUnderstoodError

_CALLS = re.compile(r"^# Executed ([\d,]+) \w+\(\) calls\s*$", re.MULTILINE)
_EACH = re.compile(r"^\s*(\S+) usecs/op\s*$", re.MULTILINE)


def parse(text: str) -> Measured:
    """One sample, which loops over all calls; no bytes. Error: its clock counts whole microseconds
    for all of them, at both ends."""
    calls, each = _CALLS.search(text), _EACH.search(text)
    if calls is None:
        raise NotUnderstoodError("its output does not say how many calls it executed")
    if each is None:
        raise NotUnderstoodError("its output has no line of usecs/op")
    try:
        each_us, number = float(each[1]), int(calls[1].replace(",", ""))
    except ValueError:
        each_us, number = math.nan, 0
    if not (math.isfinite(each_us) and each_us > 0 and number > 0):
        raise NotUnderstoodError(f"{each[1]} usecs/op of {calls[1]} calls are no time of any call")
    return Measured([round(each_us * number) * 1000], 0, loops=number)
