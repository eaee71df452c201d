"""iperf3's JSON: whole, cut, one object for each event (`--json-stream`), several tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchbook.explain.model import Document, Log, Report, Result
from benchbook.explain.readers.common.json_values import Object, number_at, object_at, objects_at

TOOL = "iperf3"
# Their key -> our name and unit.
_FIGURES = {
    "bytes": ("transferred", "B"),
    "bits_per_second": ("throughput", "bit/s"),
    "retransmits": ("retransmits", "segments"),
    "jitter_ms": ("jitter", "ms"),
    "lost_packets": ("lost datagrams", "datagrams"),
    "packets": ("datagrams", "datagrams"),
    "lost_percent": ("loss", "%"),
    "out_of_order": ("out of order", "datagrams"),
    "snd_cwnd": ("congestion window", "B"),
    "rtt": ("round trip", "us"),
    "mean_rtt": ("round trip", "us"),
    "min_rtt": ("round trip", "us"),
    "max_rtt": ("round trip", "us"),
}
_RTT = {"mean_rtt": "mean", "min_rtt": "min", "max_rtt": "max"}
_DEEPEST = 6  # levels of somebody's own around a test
_OF_STREAM = ("sender", "receiver", "udp")
_SUMS = ("sum", "sum_sent", "sum_received")
_FIGURED = {"start", "end", "seconds", "bytes", "bits_per_second"}  # of one stream or of all
_OF_RECEIVER = ("jitter_ms", "lost_packets", "lost_percent", "out_of_order")


class _Places(NamedTuple):
    """Where a document begins, and its objects by id."""

    number: int
    places: Mapping[int, int]

    def line(self, own: Object) -> int:
        """The line in which an object begins; that of the document where it is not known."""
        return self.places.get(id(own), self.number)


def read(log: Log) -> list[Report]:
    """One report for each object; the events of a stream are one test together."""
    reports: list[Report] = []
    events: list[tuple[Document, Object]] = []
    for document in log.documents:
        if (event := _event(document)) is not None:
            if event[1]["event"] == "start" and events:
                reports.append(_streamed(events))
                events = []
            events.append((document, event[1]))
        else:
            for value in _tests(document.value):
                places = document.places
                number = next(
                    (places[id(item)] for item in (value, value.get("end")) if id(item) in places),
                    document.number,
                )
                reports.append(_report(_Places(number, places), value, document.cut))
    if events:
        reports.append(_streamed(events))
    return reports


def _event(document: Document) -> tuple[int, Object] | None:
    value = document.value
    known = ("start", "interval", "end", "error", "server_output_text", "server_output_json")
    if isinstance(value, dict) and value.get("event") in known and "data" in value:
        return document.number, value
    return None


def _tests(value: Any, depth: int = 0) -> Iterator[Object]:
    """The tests in a document: itself, its `end` or its intervals alone, or those that lists and
    objects of somebody's own have inside."""
    if isinstance(value, dict) and _is_test(value):
        yield value
    elif isinstance(value, dict) and _is_end(value):
        yield {"end": value}
    elif isinstance(value, dict) and (end := _of_end(value)):
        yield {"end": end}
    elif isinstance(value, list) and any(map(_is_interval, value)):
        yield {"intervals": [item for item in value if _is_interval(item)]}
    elif isinstance(value, list) and (streams := list(filter(_is_stream, value))):
        yield {"end": {"streams": streams}}
    elif depth < _DEEPEST and isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            if isinstance(entry, dict | list):
                yield from _tests(entry, depth + 1)


def _is_end(value: Object) -> bool:
    """Whether it is what `jq .end` leaves."""
    has_sums = not value.keys().isdisjoint(_SUMS)
    return has_sums and {"streams", "cpu_utilization_percent"} <= value.keys()


def _of_end(value: Object) -> Object:
    """What a cut has left of an `end`: its sums, or the ends of one stream."""
    sums = {key: value[key] for key in _SUMS if _is_whole(value.get(key))}
    streams = objects_at(value, "streams") or ([value] if _is_stream(value) else [])
    return {"streams": streams} | sums if sums or _is_stream(value) else {}


def _is_stream(value: Any) -> bool:
    """Whether it has the ends of one stream."""
    return isinstance(value, dict) and any(_is_whole(value.get(key)) for key in _OF_STREAM)


def _is_whole(value: Any) -> bool:
    """Whether it has the figures of a whole test; those of an interval say if they are omitted."""
    return isinstance(value, dict) and value.keys() >= _FIGURED and "omitted" not in value


def _is_interval(value: Any) -> bool:
    """Whether it is one of those that a cut has left of a test, or `jq .intervals`."""
    return _FIGURED | {"omitted"} <= object_at(value, "sum").keys()


def _is_test(value: Object) -> bool:
    if value.keys().isdisjoint(("start", "end")):
        return False
    if {"start", "intervals", "end"} <= value.keys() or {"start", "error"} <= value.keys():
        start = object_at(value, "start")
        ours = str(start.get("version", "")).startswith("iperf")  # others' JSON has versions, too
        return ours or any(key in start for key in ("connected", "test_start"))
    parts = [object_at(value, key) for key in ("start", "end")]
    ends = (object_at(item, key) for item in objects_at(parts[1], "streams") for key in _OF_STREAM)
    if any("bits_per_second" in item for item in (object_at(parts[1], "sum"), *ends)):
        return True
    return any("test_start" in part or "sum_sent" in part for part in parts)


def _streamed(events: list[tuple[Document, Object]]) -> Report:
    """The events put together as one object."""
    whole: Object = {"start": {}, "intervals": [], "end": {}}
    for _, event in events:
        name, data = event["event"], event["data"]
        if name == "interval":
            whole["intervals"].append(data)
        else:
            whole[name] = data
    places = {place: line for document, _ in events for place, line in document.places.items()}
    cut = "" if whole["end"] else _NO_END
    return _report(_Places(events[0][0].number, places), whole, cut)


_NO_END = "what follows is missing"


def _report(at: _Places, value: Object, cut: str) -> Report:
    number = at.number
    start, end = object_at(value, "start"), object_at(value, "end")
    test, intervals = object_at(start, "test_start"), objects_at(value, "intervals")
    facts = _facts(start, test)
    if "protocol" not in facts and (protocol := _protocol(end)):
        facts["protocol"] = protocol
    notes = []
    if isinstance(value.get("error"), str):
        notes.append(f"line {number}: iperf3 says: {value['error']}")
    if cut or (intervals and not end):
        notes.append(f"its JSON is cut: {cut or _NO_END}")
    both_ways = test.get("bidir") or any("bidir_reverse" in key for key in end)
    forward = facts.get("role") != "server" if both_ways else None
    results = [
        result
        for index, interval in enumerate(intervals)
        for result in _interval(at, interval, index, forward)
    ]
    moved = any(result.name == "transferred" and result.value for result in results)
    results += (
        total for total in _totals(at, end, facts, forward) if not (moved and _blind(total, facts))
    )
    version = str(start.get("version", "")).removeprefix("iperf ")
    return Report(TOOL, results, number, version, facts, notes)


def _protocol(end: Object) -> str:
    """What only one of them has among its sums; of a stream that was cut it may be missing."""
    sums = [item for key, item in end.items() if key.startswith("sum") and isinstance(item, dict)]
    of_streams = (object_at(item, "udp") for item in objects_at(end, "streams"))
    if any("jitter_ms" in total for total in sums) or any(
        "lost_percent" in stream for stream in of_streams
    ):
        return "udp"
    return "tcp" if any("retransmits" in total for total in sums) else ""


def _way(own: Object, forward: bool | None) -> dict[str, Any]:
    """Of --bidir, the direction of a stream; `forward`: whether this end sends in the first one,
    None where there is only one."""
    if forward is None or not isinstance(own.get("sender"), bool):
        return {}
    return {} if own["sender"] == forward else {"direction": "reverse"}


def _blind(result: Result, facts: dict[str, Any]) -> bool:
    """Whether a server's zero stands for what its client did not tell it."""
    return (
        facts.get("role") == "server"
        and result.name in ("transferred", "throughput")
        and not result.value
    )


def _facts(start: Object, test: Object) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    protocol = str(test.get("protocol", "")).lower()
    if protocol:
        facts["protocol"] = protocol
    size = test.get("blksize")
    if isinstance(size, int):
        facts["message_bytes" if protocol == "udp" else "write_bytes"] = size
    connected = objects_at(start, "connected")
    if connected:
        for name, key in (("near_address", "local_host"), ("far_address", "remote_host")):
            if isinstance(connected[0].get(key), str):
                facts[name] = connected[0][key]
        facts["streams"] = len(connected)
    for key in ("tcp_mss", "tcp_mss_default"):
        if isinstance(start.get(key), int) and start[key] > 0:
            facts["mss_bytes"] = start[key]
    if "connecting_to" in start or "accepted_connection" in start:
        facts["role"] = "client" if "connecting_to" in start else "server"
    if test.get("reverse"):
        facts["reverse"] = True
    if isinstance(start.get("sock_bufsize"), int) and start["sock_bufsize"] > 0:
        facts["socket_buffer_bytes"] = start["sock_bufsize"]
    return facts


def _interval(at: _Places, interval: Object, index: int, forward: bool | None) -> Iterator[Result]:
    streams = objects_at(interval, "streams")
    for stream in streams:
        yield from _figures(at, stream, "interval", _columns(stream, index) | _way(stream, forward))
    for key in ("sum", "sum_bidir_reverse"):
        own = object_at(interval, key)
        if own and (len(streams) > 1 or not streams):
            columns = _columns(own, index, "SUM") | _way(own, forward)
            yield from _figures(at, own, "interval", columns)


def _columns(own: Object, index: int, stream: str = "") -> dict[str, Any]:
    columns: dict[str, Any] = {"stream": stream or str(own.get("socket", ""))}
    if isinstance(own.get("sender"), bool):
        columns["end"] = "sender" if own["sender"] else "receiver"
    if own.get("omitted") is True:
        columns["omitted"] = True
    return columns | {"interval": index}


def _is_sent(own: Object, facts: dict[str, Any]) -> bool:
    """Whether these bytes are the sender's: of UDP with -R the client says that they are not, and
    counts those of the lost datagrams all the same."""
    if own.get("sender") is not False:
        return True
    packets, lost = number_at(own, "packets"), number_at(own, "lost_packets")
    size, moved = number_at(facts, "message_bytes"), number_at(own, "bytes")
    if not (lost and packets and moved and packets > lost):
        return False
    if size:
        return moved == packets * size
    # Where the head is cut off: all datagrams are of one size.
    return moved % packets == 0 and moved % (packets - lost) != 0


def _totals(
    at: _Places, end: Object, facts: dict[str, Any], forward: bool | None
) -> Iterator[Result]:
    streams = objects_at(end, "streams")
    for stream in streams:
        for key in ("sender", "receiver"):
            own = object_at(stream, key)
            columns = {"stream": str(own.get("socket", "")), "end": key} | _way(own, forward)
            yield from _figures(at, own, "total", columns)
        # Of UDP the sender's bytes stand beside what the receiver told of losses.
        own = object_at(stream, "udp")
        sent = _is_sent(own, facts)
        columns = {"stream": str(own.get("socket", "")), "end": "sender" if sent else "receiver"}
        yield from _figures(at, own, "total", columns | _way(own, forward))
    for key, own in end.items():
        if not key.startswith("sum") or not isinstance(own, dict):
            continue
        sent = "sent" in key or ("received" not in key and _is_sent(own, facts))
        columns = {"stream": "SUM", "end": "sender" if sent else "receiver"}
        if "bidir_reverse" in key:
            columns["direction"] = "reverse"
        yield from _figures(at, own, "total", columns)
    use = object_at(end, "cpu_utilization_percent")
    for key in ("host_total", "remote_total"):
        if (value := number_at(use, key)) is not None:
            yield Result("CPU", value, "%", at.line(use), "", {"end": key.removesuffix("_total")})


def _figures(at: _Places, own: Object, statistic: str, columns: dict[str, Any]) -> Iterator[Result]:
    timed = dict(columns)
    lasted, moved = number_at(own, "seconds"), number_at(own, "bytes")
    begun, ended = number_at(own, "start"), number_at(own, "end")
    if begun is not None and ended is not None:
        timed |= {"start_s": begun, "end_s": ended}
        if columns.get("end") == "receiver" and statistic == "total" and ended > begun:
            lasted = ended - begun  # a stream's `seconds` may be those of its sender
    if lasted is not None and lasted > 0 and moved is not None:
        timed |= {"elapsed_s": lasted, "bytes_moved": moved}
    blind = columns.get("end") == "sender" and not (own.get("lost_packets") or own.get("jitter_ms"))
    for key, (name, unit) in _FIGURES.items():
        value = number_at(own, key)
        if value is None or (blind and key in _OF_RECEIVER) or (not value and _unknown(own, key)):
            continue
        of = timed if name in ("transferred", "throughput") else columns
        if key in _OF_RECEIVER:
            of = columns | {"end": "receiver"}
        yield Result(name, value, unit, at.line(own), _RTT.get(key, statistic), of)


def _unknown(own: Object, key: str) -> bool:
    """Whether its zero stands for what this end cannot know, as those of a server's sums."""
    if key.endswith("rtt") or key == "out_of_order":  # clients do not ask their servers for it
        return True
    packets, lost = number_at(own, "packets"), number_at(own, "lost_packets")
    if packets is None or own.get("bytes") != 0:
        return False
    if key in ("bytes", "bits_per_second", "packets"):
        return packets == 0 or packets != lost
    return key == "lost_percent" and bool(lost)
