"""How figures stand in text: one table of units, one form of a number, and what they are called.

All readers of this package use it, so that a figure means the same in a list and in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.table_columns import UNITS as _OF_TABLES
from benchbook.explain.units import TIMES

# What people and programs write in text besides the units that heads of tables have.
_WRITTEN = {
    "second": "s", "millisecond": "ms", "milliseconds": "ms", "msecs": "ms", "microsecond": "us",
    "microseconds": "us", "usecs": "us", "nanosecond": "ns", "nanoseconds": "ns", "nsec": "ns",
    "min": "min", "mins": "min", "minutes": "min",
    "cycles": "cycles", "clock cycles": "cycles", "cycles/byte": "cycles/byte",
    "cpb": "cycles/byte",
    "bits/s": "bit/s", "bits/sec": "bit/s", "bits per second": "bit/s",
    "bytes per second": "B/s",
    "read iops": "read operations/s", "read IOPS": "read operations/s",
    "write iops": "write operations/s", "write IOPS": "write operations/s",
    "bytes/s": "B/s", "bytes/sec": "B/s", "kB/sec": "kB/s", "KB/sec": "kB/s", "kBps": "kB/s",
    "KBytes/s": "kB/s", "KBytes/sec": "kB/s", "MBytes/sec": "MB/s",
    "MBytes/s": "MB/s", "GBytes/sec": "GB/s", "GBytes/s": "GB/s", "TB/sec": "TB/s",
    "MB per second": "MB/s", "GB per second": "GB/s", "KiB/sec": "KiB/s",
    "Kbits/sec": "kbit/s", "Mbits/s": "Mbit/s", "Mbits/sec": "Mbit/s", "Mbit/sec": "Mbit/s",
    "Gbits/s": "Gbit/s", "Gbits/sec": "Gbit/s", "Gbit/sec": "Gbit/s",
    "ops/ms": "operations/ms", "ops/us": "operations/us", "mflop/s": "Mflop/s",
    "mflops/s": "Mflop/s", "gflop/s": "Gflop/s", "gflops/s": "Gflop/s",
    "Mflops": "Mflop/s", "MFlops": "Mflop/s", "MFlop/s": "Mflop/s", "TFlops": "Tflop/s",
    "TFlop/s": "Tflop/s", "MH/s": "Mhashes/s", "nps": "nodes/s", "iops": "operations/s",
    "pps": "packets/s", "kpps": "thousand packets/s", "Mpps": "million packets/s",
    "img/s": "images/s", "tok/sec": "tokens/s", "tx/s": "transactions/s",
    "txs/s": "transactions/s", "txn/s": "transactions/s", "trans/sec": "transactions/s",
    # Bits or bytes: nobody knows which people mean by a small b.
    "kb/s": "kb/s", "mb/s": "mb/s", "gb/s": "gb/s", "kb/sec": "kb/s", "mb/sec": "mb/s",
    "msg/s": "messages/s",
    "reqs/sec": "requests/s", "msg/sec": "messages/s", "msgs/sec": "messages/s",
}  # fmt: skip
UNITS = {unit: own for unit, own in (_OF_TABLES | _WRITTEN).items() if unit != "%"}


def _any_of(units: Iterable[str]) -> str:
    """A pattern of these units; `min` in front of a colon or a number is the least of something."""
    own = (re.escape(unit) for unit in sorted(units, key=len, reverse=True))
    return "|".join(rf"{unit}(?! ?[=:\d])" if unit == "min" else unit for unit in own)


# What is counted each second, whatever it is: `38 million cache lookups per second`.
_PER_SECOND = r"(?:/s(?:ec(?:ond)?)?| (?:per|a) sec(?:ond)?)"
_COUNTED = rf"(?:[A-Za-z]{{2,14}} )?[a-z]{{2,14}}s{_PER_SECOND}(?![a-z])"
_CALLED = {"ops": "operations", "reqs": "requests", "msgs": "messages"}
UNIT = f"{_any_of(UNITS)}|{_COUNTED}"
SIZED_UNIT = f"{UNIT}|bytes"
LONG_UNIT = f"{_any_of(unit for unit in UNITS if len(unit) > 1)}|{_COUNTED}"
NUMBER = r"\d(?:[\d,]{0,19}\d)?(?:\.\d{1,18})?(?:[eE][-+]?\d{1,3})?"
MANY = r"(?: ?(?i:million|thousand|billion)| ?[kKM](?= ))"
_TIMES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9}
_OF_TIME = late(r"(?i)time|elapsed|laten|duration|took|total|wall|min|max|avg|mean|real|sec")
# Times of a clock, `1:06` and `1:02:03.5`, or in parts, `1m5s` and `2 h 41 min 24 s`.
CLOCK = late(
    r"(?<![\w:.])(?:(?:(?P<hours>\d{1,2}):)?(?P<minutes>\d{1,3}):(?P<seconds>[0-5]\d(?:\.\d{1,6})?)"
    r"(?![\w:])|(?:(?P<h>\d{1,3}) ?h(?:ours?)?,? ?)?(?P<m>\d{1,4}) ?m(?:in(?:utes?)?)?,? ?"
    r"(?P<s>\d{1,2}(?:\.\d{1,6})?) ?s(?:ec(?:onds?)?)?(?!\w))"
)
_RATE = late(rf"(?P<noun>\w+){_PER_SECOND}$")


def unit_of(text: str) -> str:
    """The unit that these words mean, as results have it; "" where they mean none."""
    if own := UNITS.get(text) or UNITS.get(text.lower()):
        return own
    if text == "bytes":
        return "B"
    found = _RATE.search(text)
    return f"{_CALLED.get(found['noun'], found['noun'])}/s" if found else ""


def in_seconds(clock: re.Match[str]) -> str:
    """A time of a clock, or in hours, minutes and seconds, as one in seconds."""
    hours, minutes, seconds = (
        float(clock[whole] or clock[part] or 0)
        for whole, part in (("hours", "h"), ("minutes", "m"), ("seconds", "s"))
    )
    return f"{3600 * hours + 60 * minutes + seconds:.10g} s"


def times_of(many: str | None) -> float:
    """What `million` behind a number multiplies it by; 1 where nothing stands there."""
    return _TIMES.get((many or "").strip().lower(), 1.0)


def kind_of(unit: str) -> str:
    """What a figure of this unit is called that has no name."""
    return "time" if unit in TIMES else "rate" if unit.endswith("/s") else "value"


def is_plural(text: str, label: str) -> bool:
    """Whether the (s) behind a label is that of a plural, as in `CPU(s): 56`, and no unit."""
    return f"{label}(s)" in text and not _OF_TIME.search(label)


_AROUND = " \t:,;|-`*_\"'"
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))


def as_label(words: str) -> str:
    """Words before a figure as the name of what it is of: without marks around them, and without
    brackets that are not closed."""
    label = words.strip(_AROUND).lstrip(")]}").rstrip("([{").strip(_AROUND)
    for opens, closes in _BRACKETS:
        if label.count(opens) != label.count(closes):
            label = label.split(opens)[0] if opens in label else label.split(closes)[-1]
            label = label.strip(_AROUND)
    return label
