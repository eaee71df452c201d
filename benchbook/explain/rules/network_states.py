"""What ethtool, ifconfig and tc show of an interface next to a benchmark: rings, drops, queues."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.rules import interface_counters, kernel_counts, socket_states
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

State = tuple[Report, Finding | None]
_MOST_LINES = 2000
_RING = late(r"^(?P<what>Pre-set maximums|Current hardware settings):$")
_SIZE = late(r"^(?P<way>RX|TX):\s+(?P<size>\d{1,7})$")
_RECEIVED = late(r"^RX packets[: ](?P<all>\d{1,18})\b(?:.*?\bdropped[: ](?P<dropped>\d{1,18})\b)?")
_DROPPED = late(r"^RX errors \d+ {1,4}dropped (?P<dropped>\d{1,18})\b")
_QUEUE = late(r"^qdisc (?P<kind>\w+) (?P<handle>\w+:) (?:dev (?P<device>\S+)|root)")
_SENT = late(
    r"^Sent (?P<bytes>\d{1,18}) bytes (?P<packets>\d{1,18}) pkt \(dropped (?P<dropped>\d{1,18}), "
    r"overlimits (?P<over>\d{1,18}) requeues \d+\)"
)
LEAST_DROPPED, SMALL_RING = 1e-4, 0.5  # of the packets; of the largest ring


def states(log: Log) -> Iterator[State]:
    """All of a log."""
    told = [*_rings(log), *_queues(log)]
    yield from told
    if not any(made and made.artefact == "lost-packets" for _, made in told):
        yield from interface_counters.states(log)
    yield from kernel_counts.states(log)
    yield from socket_states.states(log)


def _rings(log: Log) -> Iterator[State]:
    """Rings of an interface, and the packets that it dropped."""
    sizes: dict[tuple[str, str], Result] = {}
    part, received, dropped = "", list[Result](), list[Result]()
    words = ("Pre-set maximums", "Current hardware", "RX packets", "RX errors", "RX:", "TX:")
    for line in log.having(*words)[:_MOST_LINES]:
        text = line.text.strip()
        if len(text) > LONGEST:
            continue
        if found := _RING.match(text):
            part = "largest" if found["what"].startswith("Pre") else "current"
        elif part and (found := _SIZE.match(text)):
            name = f"{part} {found['way']} ring"
            result = Result(name, float(found["size"]), "packets", line.number)
            sizes.setdefault((part, found["way"]), result)
        elif found := _RECEIVED.match(text):
            count = float(found["all"])
            received.append(Result("packets received", count, "packets", line.number))
            if found["dropped"]:
                count = float(found["dropped"])
                dropped.append(Result("packets dropped", count, "packets", line.number))
        elif found := _DROPPED.match(text):
            count = float(found["dropped"])
            dropped.append(Result("packets dropped", count, "packets", line.number))
    now, most = sizes.get(("current", "RX")), sizes.get(("largest", "RX"))
    results = [*sizes.values(), *received, *dropped]
    if not (now and most):
        return
    report = Report("ethtool", results, min(result.line for result in results))
    pairs = list(zip(received, dropped, strict=False)) if len(received) == len(dropped) else []
    lossy = [
        (count, lost)
        for count, lost in pairs
        if count.value > 0 and lost.value >= LEAST_DROPPED * count.value
    ]
    if lossy and 0 < now.value <= SMALL_RING * most.value:
        got, lost = max(lossy, key=lambda pair: pair[1].value / pair[0].value)
        words_of = {"now": now, "most": most, "count": got, "lost": lost}
        share = lost.value / (lost.value + got.value)
        yield report, finding("small-ring", words_of, about=[lost], share=share)
    else:
        yield report, None


def _queues(log: Log) -> Iterator[State]:
    """Queues of tc -s, with what they sent and dropped."""
    results: list[Result] = []
    called = ""
    for line in log.having("qdisc ", "overlimits")[:_MOST_LINES]:
        text = line.text.strip()
        if found := _QUEUE.match(text):
            called = " ".join(filter(None, (found["kind"], found["handle"], found["device"])))
        elif called and (found := _SENT.match(text)):
            for name, value, unit in (
                ("sent", found["bytes"], "B"),
                ("packets", found["packets"], "packets"),
                ("dropped", found["dropped"], "packets"),
                ("over its limit", found["over"], "packets"),
            ):
                if float(value):
                    own = Result(f"{called}: {name}", float(value), unit, line.number)
                    results.append(own)
            called = ""
    if results:
        yield Report("tc", results, results[0].line), None
