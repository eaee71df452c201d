"""iperf 2: its text with and without -e, the server's report of UDP, -d, -r, sums, and -y C."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import is_left_out, only
from benchbook.explain.readers.common.iperf_lines import (
    BINARY,
    CONNECTED,
    OF_LOSSES,
    Family,
    Row,
    figures,
    link_speed,
    losses,
    out_of_order,
    row_of,
    timed,
)
from benchbook.explain.readers.common.line_reader import Run
from benchbook.explain.results import GIVEN

TOOL = "iperf"
_HEAD = late(
    r"(?:(?P<client>Client connecting to (?P<host>[^\s,]+),)|Server listening on) "
    r"(?P<protocol>TCP|UDP) port (?P<port>\d+)"
)
_BUFFER = late(r"(?P<kind>TCP window|UDP buffer) size:\s*([\d.,]+) ?([KMG]?)Byte")
# A server says the same of what it reads at once, whatever its clients send.
_DATAGRAM = late(r"Sending (\d+) byte datagrams")
_SENT = late(r"\[\s*([*\w-]*\d|SUM[\w-]*)\] Sent (\d+) datagrams")
_REPORT = late(r"\[\s*([*\w-]*\d)\] Server Report:")
_MSS = late(r"\bMSS=(\d+)|mss/irtt=\d+/(\d+)/")
_MSS_ALONE = late(r"\] MSS size (\d+) bytes")  # of -m, in a line of its own
_PORT = late(r"port\s+(\d+)")
_LOSING = late(r"\d ms\s|%\)")
_LOST = late(r"\d ms +-?\d+ */ *-?\d")
_WARNING = late(r"WARNING: .*|connect failed: .*")
_ENHANCED = late(
    r"^\s+(?P<writes>\d+)/-?\d+\s+(?P<again>\d+)"
    r"(?:\s+(?P<window>-?\d+|NA)K?/(?P<rtt>\d+)(?:\(\d+\))? us)?"
)
_BOUNCED = late(
    r"(?<!\d)(\d+)=(\d+\.\d+)/(\d+\.\d+)/(\d+\.\d+)/(\d+\.\d+) ms"
    r"(?:\s+(?P<again>\d+)\s+(?P<window>-?\d+|NA)K?/(?P<rtt>\d+) us)?"
)
# One way, by the clocks of both hosts: where they differ it is off by that, and may be negative.
_DELAYED = late(r"\s(-?\d+\.\d+)/ *(-?\d+\.\d+)/ *(-?\d+\.\d+)/ *(-?\d+\.\d+) ms\s+\d+ pps")
_PACKETS = late(r"(?<![\d.])(\d+) pps\b")
_CSV = late(
    r"^(?P<time>\d{14}\S*),(?P<near>[\w.:%-]+),(?P<port>\d+),(?P<far>[\w.:%-]+),(?P<far_port>\d+),"
    r"(?P<id>-?\d+),(?P<start>\d+\.\d+)[-,](?P<end>\d+\.\d+),(?P<bytes>-?\d+),(?P<rate>-?\d+)"
    r"(?:,(?P<jitter>-?\d+(?:\.\d+)?),(?P<lost>-?\d+),(?P<all>-?\d+),(?P<percent>-?\d+(?:\.\d+)?|-?nan)"
    r"(?:,(?P<late>-?\d+))?)?\s*$"
)
_FEW, _ALL = "interval", "total"
# Its rows and heads have one of these.
_WORDS = ("Byte", " byte ", "connecting to", "listening on", "connected with", "MSS size")
_DELAY = "one-way delay"
_OF_SAMPLES = ("mean", "min", "max", "sd")


@dataclass
class _Run(Run):
    """The lines of one start of the program."""

    rows: list[tuple[Row, str, bool]] = field(default_factory=list)  # its end, in a server's report
    near_ports: dict[str, str] = field(default_factory=dict)  # by stream
    reversed: set[str] = field(default_factory=set)  # of -R, where the server sends
    both_ways: bool = False  # on one connection
    headed: bool = False  # what is over its first row is there
    gaps: bool = False  # somebody left rows out
    ports: set[str] = field(default_factory=set)
    end: str = ""  # as the last head of columns tells
    streams: set[str] = field(default_factory=set)
    going: set[str] = field(default_factory=set)  # those whose last row is not of the whole
    reported: str = ""  # the stream whose server's report follows


def read(log: Log) -> list[Report]:
    """One report for each start; lines of -y C are one together."""
    family, runs = Family(log), [_Run(1)]
    for line in log.printed_lines() if any(map(log.has, _WORDS)) else ():
        if family.of(line) == "iperf3":
            continue
        if (row := row_of(log, line)) is None:
            if runs[-1].rows and " port " in line.text and _HEAD.search(line.text):
                runs.append(_Run(line.number))
            if _connects_again(runs[-1], line):
                runs.append(_after(runs[-1], line))
            _says(log, runs[-1], line)
            continue
        run = runs[-1]
        if not run.rows and not run.facts:
            run.line = line.number
        _goes_on(run, row)
        run.rows.append((row, _printed_end(run, row), _is_reported(run, row)))
    reports = [_report(log, run) for run in runs if run.rows or (run.notes and run.facts)]
    speed = link_speed(log)
    for report in reports:
        report.facts |= speed
    return [*reports, *_separated(log)]


def _connects_again(run: _Run, line: Line) -> bool:
    """Whether a server takes the next client: it gives the number of a finished stream to it, or
    all streams have ended."""
    may_be = run.rows and "connected with" in line.text
    if not may_be or (found := CONNECTED.search(line.text)) is None:
        return False
    stream = found[0][1 : found[0].find("]")].strip()
    return stream in run.streams or not run.going


def _goes_on(run: _Run, row: Row) -> None:
    """Whether the stream of this row does; the whole is from 0, behind others or of an odd time."""
    is_whole = row.start_s == 0 and (row.stream in run.streams or row.end_s % 1 > 0)
    run.streams.add(row.stream)
    (run.going.discard if is_whole else run.going.add)(row.stream)


def _after(run: _Run, line: Line) -> _Run:
    """The next test of the same server."""
    kept = ("protocol", "role", "message_bytes", "socket_buffer_bytes")
    facts = {name: run.facts[name] for name in kept if name in run.facts}
    return _Run(line.number, facts=facts, ports=set(run.ports))


def _says(log: Log, run: _Run, line: Line) -> None:
    """What a line without an interval tells."""
    text = line.text
    if " port " in text and (found := _HEAD.search(text)):
        if not run.facts:
            run.line = line.number
        run.ports.add(found["port"])
        run.facts["protocol"] = found["protocol"].lower()
        role = "client" if found["client"] else "server"
        run.facts["role"] = role if run.facts.get("role", role) == role else "both"
        if found["host"]:
            run.facts["far_host"] = found["host"]
    elif "connected" in text and (found := CONNECTED.search(text)) and found["how"] == "with":
        _connected(run, text, found)
    elif "size" in text and (found := _BUFFER.search(text)):
        size = log.number(found[2])
        if size and "(default)" in text:
            run.facts.setdefault("default_buffer_bytes", round(size * BINARY[found[3]][1]))
        elif size:
            is_udp = found["kind"] == "UDP buffer"
            name = "socket_buffer_bytes" if is_udp else "tcp_window_bytes"
            run.facts[name] = round(size * BINARY[found[3]][1])
    elif " byte " in text and (found := _DATAGRAM.search(text)):
        run.facts["message_bytes"] = int(found[1])
    elif " Sent " in text and (found := _SENT.search(text)):
        columns = {"stream": found[1], "end": "sender"}
        sent = Result("datagrams", int(found[2]), "datagrams", line.number, _ALL, columns)
        run.results.append(sent)
    elif "] MSS size" in text and (found := _MSS_ALONE.search(text)):
        run.facts.setdefault("mss_bytes", int(found[1]))
    elif "Server Report" in text and (found := _REPORT.search(text)):
        run.reported = found[1]
    elif "Interval" in text and "Transfer" in text:
        run.headed = run.headed or not run.rows
        of_receiver = "Reads" in text or "Jitter" in text
        run.end = "sender" if "Write" in text else "receiver" if of_receiver else ""
    elif late := out_of_order(line):
        run.results.append(late)
    elif is_left_out(text):
        run.gaps = True
    elif run.facts and (found := _WARNING.search(text)):
        run.notes.append(f"line {line.number}: iperf says: {found[0]}")


def _connected(run: _Run, text: str, found: re.Match[str]) -> None:
    stream = text[text.find("[") + 1 : text.find("]")].strip()
    run.facts.setdefault("near_address", found["near"])
    run.facts.setdefault("far_address", found["far"])
    if found["device"]:
        run.facts.setdefault("device", found["device"])
    if mss := _MSS.search(text):
        run.facts.setdefault("mss_bytes", int(mss[1] or mss[2]))
    if port := _PORT.search(text):
        run.near_ports[stream] = port[1]
    run.both_ways = run.both_ways or "(full-duplex)" in text
    if "(reverse)" in text and not stream.startswith("*"):
        run.reversed.add(stream)


def _is_reported(run: _Run, row: Row) -> bool:
    """Whether it is of the server's report that a line before it announced, without a star."""
    return bool(run.reported) and run.reported == row.stream.removeprefix("*")


def _printed_end(run: _Run, row: Row) -> str:
    """Whose figure a row is by what is printed in it and over it."""
    if _is_reported(run, row) or (" ms " in row.rest and _LOST.search(row.rest)):
        return "receiver"
    return run.end


def _ends(run: _Run) -> dict[str, str]:
    """By stream, whose figures it has: who listens receives, who says what it sent has sent it."""
    sent = {
        str(result.of["stream"]): "sender" for result in run.results if result.name == "datagrams"
    }
    return sent | {
        item: "receiver" if (port in run.ports) != (item in run.reversed) else "sender"
        for item, port in (run.near_ports.items() if run.ports else ())
    }


def _end(run: _Run, ends: dict[str, str], stream: str) -> str:
    """Whose figures a stream or a sum has."""
    if run.both_ways and stream.startswith("SUM"):
        return ""
    if stream not in ends and stream.removeprefix("*") in run.reversed:
        stream = stream.removeprefix("*")  # the client marks what comes, not its connection
    if stream.startswith("SUM"):
        return only(set(ends.values())) or ""
    return ends.get(stream, "")


def _report(log: Log, run: _Run) -> Report:
    longest: dict[tuple[str, bool], int] = {}
    for index, (row, _, reported) in enumerate(run.rows):
        key = row.stream, reported
        if row.start_s == 0 and row.end_s >= run.rows[longest.get(key, index)][0].end_s:
            longest[key] = index
    alone, ends = _without_intervals(run), _ends(run)
    latest: dict[tuple[str, bool], float] = {}
    for row, _, reported in run.rows:
        key = row.stream, reported
        latest[key] = max(latest.get(key, 0.0), row.start_s)
    whose = {item: _end(run, ends, item) for item in {row.stream for row, _, _ in run.rows}}
    for index, (row, end, reported) in enumerate(run.rows):
        key = row.stream, reported
        # Where intervals follow what it ends with, it is the first of them.
        last = longest.get(key) == index and not latest[key] >= row.end_s > 0
        statistic = _ALL if last or key in alone else _FEW
        run.results += _results(log, row, statistic, end or whose[row.stream])
    early = next((item for item in run.results if item.name == _DELAY and item.value < 0), None)
    if early is not None:
        run.notes.append(
            f"line {early.line}: what arrives {-early.value:g} {early.unit} before it was sent "
            "shows that the clocks of the two hosts differ. Delays of one way are off by that"
        )
    streams = {row.stream for row, _, _ in run.rows if not row.stream.startswith(("SUM", "FD"))}
    facts = run.facts | ({"streams": count} if (count := _count(run, streams)) else {})
    if run.reversed:
        facts["reverse"] = True
    if "protocol" not in facts and any(result.name == "jitter" for result in run.results):
        facts["protocol"] = "udp"
    return Report(TOOL, run.results, run.line, "", facts, run.notes)


def _count(run: _Run, streams: set[str]) -> int:
    """How many streams it had; 0 where some may be cut off."""
    if run.near_ports:
        count = len(run.near_ports) * (2 if run.both_ways else 1)
        return count if len(streams) <= count else 0
    are_all = run.headed and not run.gaps and not any("*" in stream for stream in streams)
    return len(streams) if are_all else 0


def _without_intervals(run: _Run) -> set[tuple[str, bool]]:
    """The streams of which several runs printed their totals, which somebody put together: an
    interval may be as long as the whole, but not three of them."""
    counted: dict[tuple[str, bool], int] = {}
    for row, _, reported in run.rows:
        key = row.stream, reported
        counted[key] = -1 if row.start_s > 0 or counted.get(key, 0) < 0 else counted.get(key, 0) + 1
    return {key for key, count in counted.items() if count > 2}


def _results(log: Log, row: Row, statistic: str, end: str) -> Iterator[Result]:
    number = row.line.number
    columns = {"stream": row.stream, "end": end} if end else {"stream": row.stream}
    yield from figures(log, row, statistic, columns)
    when = {"start_s": row.start_s, "end_s": row.end_s}  # statistics of other samples each time
    if not (rest := row.rest):
        return
    if "pps" in rest and (found := _PACKETS.search(rest)):
        yield Result("packet rate", int(found[1]), "packets/s", number, statistic, columns)
    if "=" in rest and " ms" in rest and (bounced := _BOUNCED.search(rest)):
        of = columns | when | {"repetitions": int(bounced[1])}
        for name, value in zip(_OF_SAMPLES, bounced.groups()[1:5], strict=True):
            yield Result("round trip", float(value), "ms", number, name, of)
        if bounced["again"]:
            yield from _of_connection(bounced, number, statistic, columns)
    elif (" ms" in rest or "%)" in rest) and _LOSING.search(rest):
        yield from losses(log, row, statistic, columns)
        if "pps" in rest and (delayed := _DELAYED.search(rest)):
            for name, value in zip(_OF_SAMPLES, delayed.groups(), strict=True):
                yield Result(_DELAY, float(value), "ms", number, name, columns | when)
    elif "pps" not in rest and (found := _ENHANCED.search(rest)):
        yield from _of_connection(found, number, statistic, columns)


def _of_connection(
    found: re.Match[str], number: int, statistic: str, columns: dict[str, Any]
) -> Iterator[Result]:
    """Retransmits, window and round trip, as the kernel tells them."""
    if writes := found.groupdict().get("writes"):
        yield Result("writes", int(writes), "writes", number, GIVEN, columns)
    yield Result("retransmits", int(found["again"]), "segments", number, statistic, columns)
    if found["window"] and found["window"] not in ("NA", "-1"):
        window = int(found["window"])
        yield Result("congestion window", window, "KiB", number, statistic, columns)
    if found["rtt"]:
        yield Result("round trip", int(found["rtt"]), "us", number, "sample", columns)


def _separated(log: Log) -> list[Report]:
    """Lines of -y C; the interval from 0 that ends last is the total of its stream."""
    rows = [(line, found) for line in log.having(",") if (found := _CSV.match(line.text))]
    if not rows:
        return []
    ends: dict[str, float] = {}
    for _, found in rows:
        if float(found["start"]) == 0:
            ends[found["id"]] = max(ends.get(found["id"], 0.0), float(found["end"]))
    results: list[Result] = []
    for line, found in rows:
        start, end = float(found["start"]), float(found["end"])
        total = start == 0 and end == ends[found["id"]]
        stream = "SUM" if found["id"] == "-1" else found["id"]
        results += _of_csv(line, found, _ALL if total else _FEW, stream)
    first = rows[0][1]
    facts = {"near_address": first["near"], "far_address": first["far"]}
    if any(found["jitter"] for _, found in rows):
        facts["protocol"] = "udp"
    return [Report(TOOL, results, rows[0][0].number, "", facts)]


def _of_csv(line: Line, found: re.Match[str], statistic: str, stream: str) -> Iterator[Result]:
    columns: dict[str, Any] = {"stream": stream}
    arrived = found["all"] is not None and int(found["all"]) >= 0
    if found["all"] is not None:
        columns["end"] = "receiver" if arrived else "sender"
    moved = int(found["bytes"])
    start, end = found["start"], found["end"]
    of = timed(columns, float(start), float(end), start, end, moved)
    yield Result("transferred", moved, "B", line.number, statistic, of)
    yield Result("throughput", int(found["rate"]), "bit/s", line.number, statistic, of)
    if not arrived:
        return
    for key, (name, unit) in OF_LOSSES.items():
        yield Result(name, float(found[key]), unit, line.number, statistic, columns)
