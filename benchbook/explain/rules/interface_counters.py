"""What interfaces count as lost or damaged: ethtool -S, ip -s link and ifconfig."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from benchbook.core.number_format import listed
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

State = tuple[Report, Finding | None]
_MOST_LINES, _MOST_GROUPS, _MOST_SHOWN = 5000, 200, 4
FEW = 5e-5  # of the packets: what hardly matters
_COUNT = r"\d{1,20}"

_NO_ROOM = "no-room"

# What counters of ethtool -S mean, by parts of their names; the first that fits takes it.
_NOT_BAD = late(
    r"(?i)filter(?:ed)?$|no_?err|err(?:or)?_?(?:free|corrected)|(?:^|_)(?:alloc|recycle|reuse)_|"
    r"xdp_drop|rx_address_filtered|driver_filtered|tso_|dropped_smbus|aggregat|corrected_bits|"
    r"temperature|timeout_(?:cnt|ms)$"
)
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("other", late(r"(?i)dropped_(?:too|tcp|header|runt)")),
    ("no-room", late(
        r"(?i)missed|no_?buf|out_of_buf|fifo|over(?:run|flow)|(?:rx|port)_?\w*discard|no_dma|"
        r"no_pbuf|buf(?:fer)?_err|rx_\w*drop|rx_over_err|no_desc|no_mem|post_fail"
    )),
    ("damaged", late(r"(?i)crc|fcs|align|symbol|jabber|fragment_err|undersize_err|phy_err")),
    ("checksum", late(r"(?i)(?:checksum|csum)\w*err|csum_bad")),
    ("collided", late(r"(?i)collision|late_?col|exc\w*_?col|single_?col|multi\w*_?col|abort_late")),
    ("other", late(r"(?i)err|drop|discard|timeout|fail|abort|lost")),
)  # fmt: skip
_HEAD = late(r"^NIC statistics:")
_PAIR = late(rf"^(?P<queue>\S+: )?(?P<name>[A-Za-z][\w.\[\]-]{{2,60}}): (?P<count>{_COUNT})$")
_PACKETS = late(
    r"(?i)^(?:rx|tx)_(?:packets|pkts|packets_phy|frames|framecount_gb)$|_framecount_gb$"
)


def states(log: Log) -> Iterator[State]:
    """All of a log."""
    for groups in (_of_ethtool(log), _of_ip(log), _of_ifconfig(log)):
        if results := [own for group in groups for own in group.results]:
            yield _state(groups, results)


@dataclass
class _Group:
    """The counters of one interface, and those of what went wrong, by their meaning."""

    name: str = ""  # of the interface
    results: list[Result] = field(default_factory=list)
    kinds: dict[str, list[Result]] = field(default_factory=dict)
    is_of_queues: bool = False  # its packets are those of some queues, maybe not of all
    dropped_of_queues: list[Result] = field(default_factory=list)
    whole: set[str] = field(default_factory=set)  # names of its counters that are of all queues

    def add(self, counter: Result, kind: str) -> None:
        """A counter of what went wrong."""
        self.results.append(counter)
        self.kinds.setdefault(kind, []).append(counter)

    @cached_property
    def packets(self) -> dict[str, float]:
        """All packets of each way, once its counters are there. Queues add up."""
        sums: dict[str, float] = {}
        for own in self.results:
            if _is_all(own.name):
                sums[own.name] = sums.get(own.name, 0.0) + own.value
        ways: dict[str, float] = {}
        for name, value in sums.items():
            ways[name[:2].lower()] = max(value, ways.get(name[:2].lower(), 0.0))
        return ways

    def every(self, counter: Result) -> float:
        """All packets of the way of a counter; 0 where they are not shown."""
        way = counter.name[:2].lower()
        return max(self.packets.get(way, 0.0), self.packets.get("mm", 0.0))

    def share(self, counter: Result) -> float:
        """A counter as a share of all packets of its way; 1 where these are not shown."""
        every = self.every(counter)
        return counter.value / (counter.value + every) if every > 0 else 1.0

    def worst(self) -> float:
        """The largest share of what went wrong."""
        bad = [own for each in self.kinds.values() for own in each]
        return max(map(self.share, bad), default=0.0)


def _of_ethtool(log: Log) -> list[_Group]:
    """The counters of ethtool -S that count packets, or what went wrong."""
    groups: list[_Group] = []
    is_below = False
    for line in log.printed_lines() if log.has("NIC statistics:") else ():
        text = line.text.strip()
        if _HEAD.match(text):
            is_below = True
            groups.append(_Group(is_of_queues=True))
        elif is_below and (found := _PAIR.match(text)):
            name, count = found["name"], float(found["count"])
            queue = (found["queue"] or "").strip(": ")
            of = {"queue": queue} if queue else {}
            counter = Result(name, count, "packets", line.number, of=of)
            # What is counted of the whole interface holds its queues' counts already.
            is_new = not queue or name not in groups[-1].whole
            groups[-1].whole |= set() if queue else {name}
            if _PACKETS.search(name):
                groups[-1].results.append(counter)
                groups[-1].is_of_queues &= bool(queue)
            elif count and is_new and not _NOT_BAD.search(name):
                kind = next((kind for kind, pattern in _KINDS if pattern.search(name)), "")
                if kind and not found["queue"]:
                    groups[-1].add(counter, kind)
                elif kind == _NO_ROOM:
                    groups[-1].dropped_of_queues.append(counter)
        elif text and not _NUMBERED.search(text):
            is_below = False
        if len(groups) > _MOST_GROUPS:
            break
    for group in groups:
        # Where no counter of the whole card is about it, those of its queues are no parts of one.
        for counter in group.dropped_of_queues if _NO_ROOM not in group.kinds else ():
            group.add(counter, _NO_ROOM)
    return groups


_NUMBERED = late(r":\s*-?\d")
_WAY = late(r"^(?P<way>RX|TX)(?P<errors> errors)?: +(?P<heads>[a-z][a-z ]+)$")
_NUMBERS = late(rf"^{_COUNT}(?: +{_COUNT}){{1,9}}$")
_LINK = late(r"^\d{1,5}: (?P<name>\S+): <")
_IP_KINDS = {
    "dropped": "no-room", "overrun": "no-room", "missed": "no-room", "fifo": "no-room",
    "crc": "damaged", "frame": "damaged", "carrier": "damaged", "collsns": "collided",
    "aborted": "other", "window": "other", "heartbeat": "other", "length": "other",
    "errors": "other",
}  # fmt: skip


def _of_ip(log: Log) -> list[_Group]:
    """The counters of ip -s link."""
    groups: list[_Group] = []
    heads: list[str] = []
    way = ""
    for line in _near(log, "RX: ", "TX: ", "RX errors: ", "TX errors: ", ": <"):
        text = line.text.strip()
        if found := _LINK.match(text):
            groups.append(_Group(found["name"]))
        elif found := _WAY.match(text):
            way, heads = found["way"], found["heads"].split()
        elif heads and _NUMBERS.match(text):
            cells = text.split()
            groups = groups or [_Group()]
            if "packets" in heads:
                _begin_other(groups, way)
            for head, cell in zip(heads, cells, strict=False) if len(cells) <= len(heads) else ():
                _counter(groups[-1], (way, head, float(cell), line.number), _IP_KINDS)
            heads = []
        elif text:
            heads = []
    return groups


def _counter(group: _Group, own: tuple[str, str, float, int], meanings: dict[str, str]) -> None:
    """A counter of one way of an interface."""
    way, name, value, line = own
    of = {"interface": group.name} if group.name else {}
    if name in ("packets", "bytes"):
        unit = "packets" if name == "packets" else "B"
        group.results.append(Result(f"{way} {name}", value, unit, line, of=of))
    elif value > 0 and name in meanings:
        kind = "sent" if way == "TX" and meanings[name] == "no-room" else meanings[name]
        group.add(Result(f"{way} {name}", value, "packets", line, of=of), kind)


def _begin_other(groups: list[_Group], way: str) -> None:
    """Begin a group where the last one has its packets of this way: an interface whose head is not
    there, or not known."""
    if groups and any(own.name == f"{way} packets" for own in groups[-1].results):
        groups.append(_Group())


def _near(log: Log, *words: str) -> Iterator[Line]:
    """Lines with one of these words, and the one behind each."""
    places = [line.number for line in log.having(*words)[:_MOST_LINES]]
    wanted = {number + further for number in places for further in (0, 1)}
    yield from (line for line in log.printed_lines() if line.number in wanted)


_OLD = late(
    rf"^(?P<way>RX|TX) packets: ?(?P<packets>{_COUNT}) errors: ?(?P<errors>{_COUNT}) "
    rf"dropped: ?(?P<dropped>{_COUNT}) overruns: ?(?P<overruns>{_COUNT}) "
    rf"(?:frame: ?(?P<frame>{_COUNT})|carrier: ?(?P<carrier>{_COUNT}))$"
)
_NEW = late(rf"^(?P<way>RX|TX) packets (?P<packets>{_COUNT}) +bytes (?P<bytes>{_COUNT})\b")
_NEW_ERRORS = late(
    rf"^(?P<way>RX|TX) errors (?P<errors>{_COUNT}) +dropped (?P<dropped>{_COUNT}) +overruns "
    rf"(?P<overruns>{_COUNT}) +(?:frame (?P<frame>{_COUNT})|carrier (?P<carrier>{_COUNT}))\b"
)
# French: Lien encap; Portuguese: Encapsulamento do Link.
_INTERFACE = late(r"^(?P<old>\S{1,40}) +(?:\S.{0,12})?[Ee]ncap|^(?P<new>\S{1,40}): flags=")
_IFCONFIG_KINDS = {
    "errors": "other", "dropped": "no-room", "overruns": "no-room", "frame": "damaged",
    "carrier": "damaged",
}  # fmt: skip


def _of_ifconfig(log: Log) -> list[_Group]:
    """The counters of ifconfig, old and new."""
    groups: list[_Group] = []
    words = ("RX packets", "TX packets", "RX errors", "TX errors", "ncap", ": flags=")
    for line in log.having(*words)[:_MOST_LINES]:
        text = line.text.strip()
        if len(text) > LONGEST:
            continue
        if started := _INTERFACE.match(text):
            groups.append(_Group(started["old"] or started["new"]))
        found = _OLD.match(text) or _NEW.match(text) or _NEW_ERRORS.match(text)
        if found and "packets" in found.groupdict():
            _begin_other(groups, found["way"])
        for name, count in found.groupdict().items() if found else ():
            if found and count and name != "way":
                groups = groups or [_Group()]
                own = found["way"], name, float(count), line.number
                _counter(groups[-1], own, _IFCONFIG_KINDS)
    return groups


# Which of the meanings is said first, where there are several.
_ORDER = ("no-room", "damaged", "checksum", "collided", "sent", "other")


def _state(groups: Sequence[_Group], results: Sequence[Result]) -> State:
    """What all of them show, and what is wrong with the interface that lost the largest share."""
    report = Report("interface counters", list(results), results[0].line)
    group = max(groups, key=_Group.worst)
    if not group.kinds:
        return report, None
    most = {kind: max(own, key=_value) for kind, own in group.kinds.items()}
    large = [kind for kind in _ORDER if kind in most and group.share(most[kind]) >= FEW]
    kind = max(large, key=lambda own: most[own].value) if large else ""
    bad = sorted((own for each in group.kinds.values() for own in each), key=_value, reverse=True)
    names = [_named(own, groups) for own in bad[:_MOST_SHOWN]]
    words: dict[str, Any] = {"names": listed(names), "left": len(bad) - _MOST_SHOWN}
    words["left"] = words["left"] if words["left"] > 0 else None
    is_whole = group.every(bad[0]) and not group.is_of_queues
    words["share"] = group.share(bad[0]) if is_whole else None
    words["every"] = group.every(bad[0]) if is_whole else None
    words["lines"] = _lines_of_others(groups, group)
    words["of_first"] = "first" if len(bad) > 1 else "alone"
    if not kind:
        report.notes.append(finding("counted-few", words, why="other").explanation)
        return report, None
    return report, finding("counted-lost", words, about=bad[:_MOST_SHOWN], why=kind)


def _named(counter: Result, groups: Sequence[_Group]) -> str:
    """A counter with its interface, where there are several."""
    interface = counter.of.get("interface") if len({group.name for group in groups}) > 1 else None
    of_it = f" of {interface}" if interface else ""
    return f"{counter.value:,.0f} {counter.name}{of_it} (line {counter.line})"


def _lines_of_others(groups: Sequence[_Group], worst: _Group) -> str | None:
    """Where further groups count no few of what went wrong, in words; None where none does."""
    lines = [
        max((own for each in group.kinds.values() for own in each), key=_value).line
        for group in groups
        if group is not worst and group.worst() >= FEW
    ][:_MOST_SHOWN]
    if not lines:
        return None
    return f"{'line' if len(lines) == 1 else 'lines'} {listed(list(map(str, lines)))}"


def _is_all(name: str) -> bool:
    return bool(_PACKETS.search(name)) or name in ("RX packets", "TX packets")


def _value(own: Result) -> float:
    return own.value
