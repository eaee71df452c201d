"""likwid-bench: one time for all iterations, in seconds, and the data volume of all of them."""

from __future__ import annotations

import math
import re

from benchbook.peers.parsers import Measured, NotUnderstoodError

_CPU = re.compile(r"^Group: \d+ Thread \d+ .* running on hwthread (\d+) ", re.MULTILINE)


def parse(text: str) -> Measured:
    """One sample, which loops over the iterations of a thread; bytes loaded and stored."""
    time_s = _number(text, "Time", " sec")
    iterations = _number(text, "Iterations per thread")
    volume_bytes = _number(text, "Data volume (Byte)")
    return Measured(
        [round(time_s * 1e9)],
        round(volume_bytes),
        loops=round(iterations),
        cpus=[int(cpu) for cpu in _CPU.findall(text)],
    )


def _number(text: str, name: str, unit: str = "") -> float:
    found = re.search(rf"^{re.escape(name)}:\s+(\S+){unit}\s*$", text, re.MULTILINE)
    if found is None:
        raise NotUnderstoodError(f"its output has no line {name!r}")
    try:
        value = float(found[1])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise NotUnderstoodError(f"its line {name!r} says {found[1]}, which is no number above 0")
    return value
