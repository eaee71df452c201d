"""What the kernel's network and captures count as lost: netstat -s, nstat and tcpdump."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

State = tuple[Report, Finding | None]
_MOST_LINES = 5000
_COUNT = r"\d{1,20}"


def states(log: Log) -> Iterator[State]:
    """All of a log."""
    yield from _of_protocols(log)
    yield from _of_captures(log)


_OF_TCP = {
    "sent": late(rf"^(?P<count>{_COUNT}) segments sen[dt] out$|^TcpOutSegs +(?P<n>{_COUNT})\b"),
    "again": late(
        rf"^(?P<count>{_COUNT}) segments retransmit+ed$|^TcpRetransSegs +(?P<n>{_COUNT})\b"
    ),
    "full": late(
        rf"^(?P<count>{_COUNT}) receive buffer errors$|^UdpRcvbufErrors +(?P<n>{_COUNT})\b"
    ),
    "listen": late(
        rf"^(?P<count>{_COUNT}) times the listen queue of a socket overflowed$|"
        rf"^TcpExtListenOverflows +(?P<n>{_COUNT})\b"
    ),
    "late": late(
        rf"^(?P<count>{_COUNT}) other TCP timeouts$|^TCPTimeouts: (?P<m>{_COUNT})$|"
        rf"^TcpExtTCPTimeouts +(?P<n>{_COUNT})\b"
    ),
}
_WORDS = (
    *("segments ", "TcpOutSegs", "TcpRetransSegs", "receive buffer errors", "listen queue"),
    *("UdpRcvbufErrors", "TcpExtListenOverflows", "TCPTimeouts", "TCP timeouts"),
)
_NAMES_OF_TCP = {
    "sent": "TCP segments sent", "again": "TCP segments sent again",
    "full": "datagrams without room", "listen": "connections without room",
    "late": "timeouts of TCP",
}  # fmt: skip
LEAST_AGAIN = 1e-3  # of the segments


def _of_protocols(log: Log) -> Iterator[State]:
    """What netstat -s and nstat count of TCP and UDP."""
    own: dict[str, Result] = {}
    for line in log.having(*_WORDS)[:_MOST_LINES]:
        text = line.text.strip()
        for name, pattern in _OF_TCP.items():
            if len(text) <= LONGEST and (found := pattern.match(text)):
                count = float(next(filter(None, found.groups())))
                unit = "segments" if name in ("sent", "again") else "events"
                own.setdefault(name, Result(_NAMES_OF_TCP[name], count, unit, line.number))
    if not own.keys() & {"sent", "again", "listen", "late"}:
        return
    results = sorted(own.values(), key=lambda result: result.line)
    report = Report("netstat", results, results[0].line)
    sent, again = own.get("sent"), own.get("again")
    share = again.value / sent.value if again and sent and sent.value > 0 else 0.0
    words_of: dict[str, Any] = {name: own.get(name) for name in ("full", "listen", "late")}
    words_of = {name: each if each and each.value > 0 else None for name, each in words_of.items()}
    if again and sent and LEAST_AGAIN <= share < 1:
        yield report, finding("segments-again", words_of, again=again, sent=sent, share=share)
    else:
        yield report, None


_CAPTURED = late(
    rf"^(?:\^C)?(?P<count>{_COUNT}) packets? (?P<what>captured|received by filter|"
    r"dropped by kernel|dropped by interface)$"
)
BELOW_NONE = 2.0**32 - 1e6, 2.0**32


def _of_captures(log: Log) -> Iterator[State]:
    """The last lines of tcpdump, which count what it missed."""
    own: dict[str, Result] = {}
    for line in log.having("packets captured", "packet captured", "by filter", "dropped by"):
        text = line.text.strip()
        if len(text) > LONGEST or not (found := _CAPTURED.match(text)):
            continue
        what = found["what"]
        if what in own:
            yield _capture(own)
            own = {}
        name = f"packets {what}"
        own[what] = Result(name, float(found["count"]), "packets", line.number)
    if "captured" in own and len(own) > 1:
        yield _capture(own)


def _capture(own: dict[str, Result]) -> State:
    results = sorted(own.values(), key=lambda result: result.line)
    report = Report("tcpdump", results, results[0].line)
    captured = own.get("captured")
    for what in ("dropped by kernel", "dropped by interface"):
        lost = own.get(what)
        if lost is None or lost.value <= 0:
            continue
        if BELOW_NONE[0] <= lost.value <= BELOW_NONE[1]:
            words = {"lost": lost, "below": BELOW_NONE[1] - lost.value}
            return report, finding("capture-wrapped", words)
        both = lost.value + (captured.value if captured else 0.0)
        words = {"lost": lost, "captured": captured, "share": lost.value / both}
        return report, finding("capture-drops", words, about=[lost])
    return report, None
