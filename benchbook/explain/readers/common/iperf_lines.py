"""Lines of iperf and iperf3, which look alike: an interval, what was moved, a rate, the rest."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Result
from benchbook.explain.printed_digits import HALVES, LONGEST, half_digit, only

_NUMBER = r"-?(?:nan|inf|\d[\d.,]*)"
# What both print of an interval. The stream: a number, SUM, or of iperf 2 `*2`, `FD1`, `SUM-3`.
ROW = late(
    rf"\[\s*(?P<stream>[*\w-]*\d|SUM)\](?:\[(?P<role>[TR]X-[CS])\])?\s+"
    rf"(?P<start>\d+[.,]\d+)\s*-\s*(?P<end>\d+[.,]\d+)(?P<gap>\s+)sec\s+"
    rf"(?P<moved>{_NUMBER})\s*(?P<moved_unit>[KMGT]?)Bytes?\s+"
    rf"(?P<rate>{_NUMBER})\s*(?P<rate_unit>[KMGT]?(?:bits|Bytes?))/s(?:ec)?\b(?P<rest>.*)"
)
LOST = late(
    rf"(?:(?<![\d.,])(?P<jitter>{_NUMBER})\s*ms\s+)?(?<![\d.,/(])(?P<lost>-?\d+)\s*/\s*(?P<all>-?\d+)"
    rf"(?:\s*\((?P<percent>-?(?:nan|inf|[\d.,]+(?:e[+-]?\d+)?))\s*%\))?"
)
CONNECTED = late(
    r"\[\s*[*\w-]*\d\]\s*local\s+(?P<near>[^\s%]+)(?:%(?P<device>\S+))?\s+port\s+\d+\s+connected\s+"
    r"(?P<how>to|with)\s+(?P<far>[^\s%]+)(?:%\S+)?\s+port\s+\d+(?P<rest>.*)"
)
_LATE = late(
    r"\[\s*(?P<stream>[*\w-]*\d|SUM)\]\s+(?P<start>\d+[.,]\d+)\s*-\s*(?P<end>\d+[.,]\d+)\s+sec\s+"
    r"(?P<late>\d+) datagrams received out-of-order"
)
# Losses that a line ends inside of, and what is left of them in the next.
_BROKEN = late(r"\d ?/ ?\d*(?: \([\d.]*%?)?$")
_BROKEN_OFF = late(r" ?\d* ?\(?[\d.]*(?:e[+-]?\d+)?%?\)[ \t]*(?:sender|receiver|\(omitted\))?\s*")
_LOSSES = late(
    r"[ \t]*-?\d{1,12}/\d{1,12} \(-?[\d.]+(?:e[+-]?\d+)?%\)[ \t]*"
    r"(?:sender|receiver|\(omitted\))?\s*"
)
_SPEED = late(r"^[ \t]*Speed: (\d{1,7})Mb/s", re.MULTILINE)
# Of ibstat, and of ibstatus.
_IB_RATE = late(r"^[ \t]*(?:Rate: (\d{1,4})|rate:[ \t]+(\d{1,4}) Gb/sec.*)$", re.MULTILINE)
# Of ibv_devinfo -v.
_IB_ACTIVE = late(
    r"active_width:[ \t]+(?P<lanes>\d{1,2})X\b[^\n]*\n[ \t]*active_speed:[ \t]+"
    r"(?P<speed>\d{1,3}(?:\.\d)?) Gbps"
)
# Its data rate in Gbit/s, of four lanes, by the name that people give it. Not of old ones: DDR and
# SDR are memory as well.
_IB_NAMES = {"QDR": 32, "FDR": 56, "EDR": 100, "HDR100": 100, "HDR": 200, "NDR200": 200}
_IB_NAMES |= {"NDR": 400, "XDR": 800}
_IB_NAMED = late(rf"\b({'|'.join(_IB_NAMES)})\b")
_IB = late(r"\b(?:InfiniBand|Infiniband|ConnectX|HCA|IB)\b")
_IB_SEVERAL = late(r"\b(?:dual|two|four|[248] ?[x×]|rails?|ports|multi|NICs|HCAs)\b|-rail", re.I)
# Where messages may go by another way the name of the network tells nothing of them.
_WITHIN = late(
    r"\bintra|\b(?:same|one|single|within a) (?:node|host|socket)|shared.memory|NVLink|\b[vs]ader\b"
    r"|map-by (?:core|socket|slot)|\bpairs: (?!1 )\d|\bosu_\w+ D\b|\bD D\b",
    re.I,
)
_HEAD_2 = late(
    r"^\W*(?:Client connecting to \S+, (?:TCP|UDP) port|Server listening on (?:TCP|UDP) port)"
)
_HEAD_3 = late(
    r"Connecting to host \S+, port \d+|Server listening on \d+\b|Accepted connection from \S+, port"
    r"|^\s*iperf 3\.\d|\[ ID\]\[Role\]|^Server output:"
)
ENDS = ("sender", "receiver")
_LAST = (*ENDS, "(omitted)")
_BROKEN_ENDS = {entry[:at]: entry[at:] for entry in _LAST for at in range(1, len(entry))}
_WIDE = "]   0.00-"
_ENDED = late(r"\b(?:sender|receiver)$")
_BEHIND = " \t`|*"  # spaces, and what Markdown puts behind a line that it shows
# Bytes are counted in powers of 2, bits in powers of 10.
BINARY = {"": ("B", 1), "K": ("KiB", 2**10), "M": ("MiB", 2**20), "G": ("GiB", 2**30)}
BINARY |= {"T": ("TiB", 2**40)}
_DECIMAL = {"": "bit", "K": "kbit", "M": "Mbit", "G": "Gbit", "T": "Tbit"}


def link_speed(log: Log) -> dict[str, int]:
    """The speed of the link where the log has it of ethtool, once and of one link, or of ibstat, of
    one port: MPI shares its messages among all that there are."""
    text = log.text
    if log.has("Speed:"):
        return _link(only(set(_SPEED.findall(text))), 10**6)
    if any(map(log.has, ("ibstat", "Physical state", "phys state"))):
        return _link(only([rate or of_status for rate, of_status in _IB_RATE.findall(text)]), 10**9)
    if log.has("active_width:"):
        ports = [int(match["lanes"]) * float(match["speed"]) for match in _IB_ACTIVE.finditer(text)]
        return _link(only(ports), 10**9)
    return _named_speed(log)


def _link(speed: str | float | None, unit: int) -> dict[str, int]:
    """The fact of a speed in bit/s; none where it is not known, or 0."""
    bits_per_s = round(float(speed or 0) * unit)
    return {"link_bits_per_s": bits_per_s} if bits_per_s else {}


def _named_speed(log: Log) -> dict[str, int]:
    """The speed of InfiniBand that somebody names beside the tables, once and of one port."""
    names: set[str] = set()
    for line in log.having(*_IB_NAMES):
        if len(line.text) < LONGEST and _IB.search(line.text):
            names |= set(_IB_NAMED.findall(line.text))
            if _IB_SEVERAL.search(line.text):
                return {}
    name = only(names)
    return _link(_IB_NAMES[name], 10**9) if name and not _WITHIN.search(log.text) else {}


class Row(NamedTuple):
    """One line, as printed: a log may have 100,000. `stream` is the number of the connection, or
    SUM, `rest` what follows the rate, `ended` the end whose total it is, as iperf3 says behind it
    ("" where it says nothing)."""

    line: Line
    start_s: float
    end_s: float
    stream: str
    role: str | None
    start: str
    end: str
    gap: str
    moved: str
    moved_unit: str
    rate: str
    rate_unit: str
    rest: str
    ended: str


@dataclass
class Family:
    """Which of the two programs wrote the lines from here on, as far as they tell."""

    log: Log
    name: str = ""

    def of(self, line: Line) -> str:
        """`iperf`, `iperf3`, or "" where nothing has told so far."""
        text = line.text
        if self.name and "/sec" in text and not text.endswith(ENDS):
            return self.name  # a row, which is no head
        if _HEAD_2.search(text):
            self.name = "iperf"
        elif _HEAD_3.search(text):
            self.name = "iperf3"
        elif found := CONNECTED.search(text):
            self.name = "iperf3" if found["how"] == "to" else "iperf"
        elif text.endswith(ENDS) and _ENDED.search(text) and ROW.search(text):
            self.name = "iperf3"
        elif not self.name and (found := ROW.search(text)):
            # iperf3 sets both ends of an interval in six columns, the second one to the left.
            two = re.search(r"[.,]\d\d$", found["end"])
            wide = (
                bool(two) and len(found["end"]) + len(found["gap"]) >= 7 and len(found["gap"]) > 1
            )
            from_0 = two and found["start"] == "0.00" and _WIDE in text
            wide = bool(wide or found["role"] or from_0)
            self.name = "iperf3" if wide or (two and self._ends_as_3(line.number)) else "iperf"
        return self.name

    def _ends_as_3(self, number: int) -> bool:
        """Whether the first line after this one that tells is a total as only iperf3 prints it:
        where somebody changed the spaces, nothing before tells."""
        for line in self.log.having("sender", "receiver", "connect", "Connect", "listening"):
            if line.number > number and ROW.search(line.text):
                return line.text.rstrip(_BEHIND).endswith(ENDS)
            if line.number > number and (_HEAD_2.search(line.text) or _HEAD_3.search(line.text)):
                return False
        return False


def row_of(log: Log, line: Line) -> Row | None:
    """What a line says of an interval; None where it is another."""
    found = ROW.search(line.text) if "]" in line.text and "/s" in line.text else None
    if found is None:
        return None
    rest = found["rest"].rstrip()
    if rest[-1:] != ")" and not rest.endswith(ENDS) and (whole := _unbroken(log, line, rest)):
        found = ROW.search(whole) or found
    fields = found.groupdict()
    fields["rest"] = fields["rest"].rstrip(_BEHIND)
    ended = next((end for end in ENDS if fields["rest"].endswith(end)), "")
    return Row(line, _seconds(fields["start"]), _seconds(fields["end"]), **fields, ended=ended)


def _unbroken(log: Log, line: Line, rest: str) -> str:
    """The line with what a window of 80 columns broke off inside of its last numbers or word; ""
    where it is whole."""
    last = rest.rpartition(" ")[2]
    left, ends_in_jitter = _BROKEN_ENDS.get(last), last == "ms"
    if not left and not ends_in_jitter and not ("/" in rest and _BROKEN.search(rest)):
        return ""
    at = bisect_right(log.lines, line.number, key=lambda line: line.number)
    following = log.lines[at].text if at < len(log.lines) else ""
    if ends_in_jitter:
        return f"{line.text.rstrip()}  {following.strip()}" if _LOSSES.fullmatch(following) else ""
    fits = following.strip() == left if left else _BROKEN_OFF.fullmatch(following)
    return line.text.rstrip() + following if fits else ""


def _seconds(text: str) -> float:
    return float(text if "," not in text else text.replace(",", "."))


def moved_unit(prefix: str) -> str:
    """`MiB` for the M of MBytes."""
    return BINARY[prefix][0]


@cache
def rate_unit(text: str) -> str:
    """`Mbit/s` for Mbits, `MiB/s` for MBytes."""
    prefix = text[0] if text[0] in "KMGT" else ""
    return f"{moved_unit(prefix) if 'Byte' in text else _DECIMAL[prefix]}/s"


def timed(
    columns: dict[str, Any], start_s: float, end_s: float, start: str, end: str, moved: float | None
) -> dict[str, Any]:
    """These columns, and those on an interval and on what was moved in it. The start of a transfer
    is exact, other times are as good as the digits that were printed of them."""
    told = {**columns, "start_s": start_s, "end_s": end_s}
    if moved is not None:
        told["elapsed_s"] = round(end_s - start_s, 6)
        told["elapsed_error_s"] = _half(end) + (_half(start) if start_s else 0.0)
        told["bytes_moved"] = moved
    return told


def _half(text: str) -> float:
    """Half of the last digit of a time, which nearly always has a point and few behind it."""
    decimals = len(text) - text.find(".") - 1
    return HALVES[decimals] if decimals < min(len(text), len(HALVES)) else half_digit(text)


def figures(log: Log, row: Row, statistic: str, columns: dict[str, Any]) -> list[Result]:
    """What was moved and the rate of one line, with these columns and those on its time."""
    number = row.line.number
    moved, rate = log.number(row.moved), log.number(row.rate)
    unit, size = BINARY[row.moved_unit]
    of_bytes = None if moved is None else moved * size
    columns = timed(columns, row.start_s, row.end_s, row.start, row.end, of_bytes)
    found = []
    if moved is not None:
        found.append(Result("transferred", moved, unit, number, statistic, columns))
    if rate is not None:
        unit = rate_unit(row.rate_unit)
        found.append(Result("throughput", rate, unit, number, statistic, columns))
    return found


# What LOST finds, in its order: our names and units.
OF_LOSSES = {
    "jitter": ("jitter", "ms"),
    "lost": ("lost datagrams", "datagrams"),
    "all": ("datagrams", "datagrams"),
    "percent": ("loss", "%"),
}


def losses(log: Log, row: Row, statistic: str, columns: dict[str, Any]) -> list[Result]:
    """Jitter and lost datagrams of one line of UDP; nothing where it has none."""
    if (found := LOST.search(row.rest)) is None:
        return []
    number, printed = row.line.number, found.groups()
    if found["percent"] is None and found.end() == len(row.rest) and _is_last(log, row.line):
        printed = found["jitter"], found["lost"], None, None  # the log may end inside of a number
    return [
        Result(name, value, unit, number, statistic, columns)
        for (name, unit), text in zip(OF_LOSSES.values(), printed, strict=True)
        if text is not None and (value := log.number(text)) is not None
    ]


def out_of_order(line: Line) -> Result | None:
    """Datagrams that came behind later ones, which both print in a line of its own."""
    if "out-of-order" not in line.text or (found := _LATE.search(line.text)) is None:
        return None
    columns: dict[str, Any] = {"stream": found["stream"], "end": "receiver"}
    columns |= {name + "_s": _seconds(found[name]) for name in ("start", "end")}
    return Result("out of order", int(found["late"]), "datagrams", line.number, "", columns)


def _is_last(log: Log, line: Line) -> bool:
    """Whether no more than a blank line follows."""
    last = log.lines[-1]
    return line.number >= last.number - (not last.text.strip())


@dataclass
class Shown:
    """The streams of a run whose first interval was printed: the next from 0 is its total."""

    begun: set[tuple[str, str]] = field(default_factory=set)
    omitted: set[tuple[str, str]] = field(default_factory=set)

    def is_total(self, row: Row, after_rule: bool) -> bool:
        """Whether a line without a word of its own is of the whole transfer."""
        key = row.stream, row.role or ""
        if "(omitted)" in row.rest:
            self.omitted.add(key)
        if row.start_s > 0 or "(omitted)" in row.rest:
            return False
        # Of several streams a rule follows each interval, so also the last one that is omitted.
        total = key in self.begun or (after_rule and key not in self.omitted)
        self.begun.add(key)
        return total
