"""iperf3's text: TCP and UDP, either end, streams beside each other, both ways, sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report, Result
from benchbook.explain.printed_digits import is_left_out
from benchbook.explain.readers.common import command_lines
from benchbook.explain.readers.common.iperf_lines import (
    CONNECTED,
    LOST,
    Family,
    Row,
    Shown,
    figures,
    link_speed,
    losses,
    moved_unit,
    out_of_order,
    row_of,
)
from benchbook.explain.readers.common.line_reader import Run

TOOL = "iperf3"
_MORE_THAN_WAITS = 5e6  # bytes; a socket of the kernel holds 4 MB of TCP by default
_CLIENT = late(r"Connecting to host (?P<host>\S+), port \d+")
_SERVER = late(r"Server listening on \d+\b|Accepted connection from \S+, port|^Server output:")
_VERSION = late(r"^\s*iperf (3\.\S+)")
_REVERSE = late(r"Reverse mode, remote host")
_TEST = late(r"Starting Test: protocol: (?P<protocol>TCP|UDP), .* (?P<block>\d+) byte blocks")
_MSS = late(r"(?:TCP MSS:|connection MSS)\s+(\d+)")
# Of --debug, behind each interval.
_KERNEL = late(r"tcpi_snd_cwnd \d{1,9} tcpi_snd_mss (?P<mss>\d{1,6}) tcpi_rtt (?P<trip>\d{1,9})\b")
_ERROR = late(r"iperf3: (?:error - (.+)|interrupt - (.+)|(the .+))")
_CPU = late(r"CPU Utilization: local/(\w+) ([\d.,]+)%.*remote/(\w+) ([\d.,]+)%")
# A member of an object, or a bracket; there the server's text is one string.
_OF_JSON = late(r'^\s*(?:"\w+":|[{}\]])|"server_output_text"')
_RULE = late(r"^(?:.*\s)?- - - - -")
_SENT = late(r"\bRetr\b|\bCwnd\b")
_RETRANSMITS = late(
    r"^\s+(\d+)(?:\s+([\d.,]+) ?([KMGT]?)Bytes?)?\s*(?:(?:\(omitted\)|sender)\s*)?$"
)
_COUNT = late(r"^\s+(\d+)\s*(?:\(omitted\)\s*)?$")
_WRAPPED = late(r"^\s*(?:\([\d.e+-]+%\)\s+)?(sender|receiver)\b")  # the end of a row, in mails
_COUNTED = late(r"\[\s*\d+\] Sent \d+ datagrams")


_NEARLY = 0.95  # of the sender's time: the receiver's is longer, if anything
_AS_LONG = 1.5  # times the first interval: an interval again, and no total


@dataclass
class _Run(Run):
    """The lines of one test at one end."""

    client: bool | None = None
    rows: list[tuple[Row, bool]] = field(default_factory=list)  # behind a line of dashes?
    reverse: bool = False
    done: set[str] = field(default_factory=set)  # streams whose end was told
    told: set[tuple[str, str, str]] = field(default_factory=set)  # and which end, of which way
    counted: bool = False  # an old client ends with what was sent
    old: bool = False  # such a one was seen above
    headed: bool = False  # what is over its first row is there
    connected: set[str] = field(default_factory=set)
    gaps: bool = False  # somebody left rows out
    is_over: bool = False  # its last line was there
    ended_in_line: int = 0  # by an error
    torn_in_line: int = 0  # a row without its begin

    _columns: dict[tuple[object, ...], dict[str, Any]] = field(default_factory=dict)

    def columns_of(
        self, stream: str, end: str | None, role: str | None, omitted: bool
    ) -> dict[str, Any]:
        """What tells a row from others: the same object for all that are alike."""
        key = stream, end, role, omitted
        if key not in self._columns:
            told = {"stream": stream, "end": end, "direction": role, "omitted": omitted}
            self._columns[key] = {name: fact for name, fact in told.items() if fact}
        return self._columns[key]

    def took(self) -> bool:
        return bool(self.rows or self.notes or self.ended_in_line)


def read(log: Log) -> list[Report]:
    """One report for each test; that of a server's output within a client's is another."""
    speed = link_speed(log)
    starts = command_lines.starts_of(log, TOOL)
    reports = [
        _report(log, run, command_lines.last_above(starts, run.line + 2))
        for run in _runs(log, {command.number for command in starts})
        if run.took()
    ]
    for report in reports:
        report.facts |= speed
    return reports


def _runs(log: Log, starts: set[int]) -> list[_Run]:
    """All runs; `starts` are the lines of the commands that start them."""
    family, runs = Family(log), [_Run(1)]
    ruled = closing = False  # after dashes; after the head of columns that follows them
    headed = False  # the last head of columns has no rows yet
    wrapped = _wrapped(log)
    for line in log.printed_lines():
        # Nearly all lines are rows, which begin nothing.
        if line.number in starts and runs[-1].done:
            _next(runs, line)
        usual = family.name == TOOL and "/sec" in line.text and line.text[0] == "["
        if not usual and (_is_of_json(line.text) or family.of(line) == "iperf"):
            continue
        run = runs[-1] if usual else _begun(line, runs)
        row = row_of(log, line)
        if row is not None and not row.ended and line.number in wrapped:
            row = row._replace(ended=wrapped[line.number])
        if row is not None:
            if not row.ended and row.start_s == 0 and _is_cut_total(row, run):
                row = row._replace(ended="receiver")
            total = row.stream, row.role or "", row.ended
            is_told = total in run.told if row.ended else row.stream in run.done
            if row.start_s == 0 and (is_told or run.is_over or (headed and _restarts(row, run))):
                run = _next(runs, line)
                run.headed = headed  # what stands over it was read before it began
                if headed and "protocol" in runs[-2].facts:
                    run.facts["protocol"] = runs[-2].facts["protocol"]
            if row.ended:
                run.done.add(row.stream)
                run.told.add(total)
            run.line = line.number if not run.rows and run.client is None else run.line
            run.rows.append((row, closing or run.counted))
            ruled = headed = False
        elif "[ ID]" in line.text:
            if run.counted or (run.done and not ruled):
                run = _next(runs, line)  # of which only this head is left
            _says(log, run, line)
            run.headed = run.headed or not run.rows
            closing, ruled, headed = ruled, False, True
        else:
            _says(log, run, line)
            run.is_over = run.is_over or line.text.strip() == "iperf Done."
            if "Summary Results:" in line.text or _RULE.search(line.text):
                closing, ruled = False, True
    return runs


def _restarts(row: Row, run: _Run) -> bool:
    """Whether a row below another head is as short as the first row of a run that has no totals."""
    first = run.rows[0][0] if run.rows else None
    return (
        first is not None
        and not (run.done or row.ended)
        and (first.start_s, first.stream) == (0, row.stream)
        and row.end_s <= _AS_LONG * first.end_s
        and run.rows[-1][0].start_s > 0
    )


def _is_cut_total(row: Row, run: _Run) -> bool:
    """Whether it is the receiver's total, whose last word was lost: right below the sender's, and
    as long."""
    above = run.rows[-1][0] if run.rows else None
    return (
        above is not None
        and (above.ended, above.stream, above.role) == ("sender", row.stream, row.role)
        and above.line.number == row.line.number - 1
        and above.end_s > above.start_s
        and row.end_s >= _NEARLY * above.end_s
    )


def _is_of_json(text: str) -> bool:
    may_be = '"' in text or text.lstrip().startswith(("{", "}", "]"))
    return may_be and _OF_JSON.search(text) is not None


def _wrapped(log: Log) -> dict[int, str]:
    """By line, the word that was wrapped from its end to the next."""
    starts = ((line, _WRAPPED.match(line.text)) for line in log.having("sender", "receiver"))
    return {line.number - 1: found[1] for line, found in starts if found}


def _next(runs: list[_Run], line: Line) -> _Run:
    """Another run, unless the last one has nothing yet."""
    if runs[-1].took():
        runs.append(_Run(line.number, old=runs[-1].counted or runs[-1].old))
    return runs[-1]


def _begun(line: Line, runs: list[_Run]) -> _Run:
    """The run that a line belongs to: it may begin one."""
    text = line.text
    if "/sec" in text:
        return runs[-1]  # a row, which begins none
    if "Connecting" in text and (found := _CLIENT.search(text)):
        run = _next(runs, line)
        run.line, run.client = (line.number if run.client is None else run.line), True
        run.facts["far_host"] = found["host"]
        return run
    if ("Server" in text or "Accepted" in text) and _SERVER.search(text):
        run = _next(runs, line)
        run.line, run.client = (line.number if run.client is None else run.line), False
        return run
    if "iperf 3." in text and (found := _VERSION.search(text)):
        run = _next(runs, line)
        run.version = found[1]
        return run
    if runs[-1].done and (found := CONNECTED.search(text)) and found["how"] == "to":
        return _next(runs, line)
    return runs[-1]


def _says(log: Log, run: _Run, line: Line) -> None:
    """What another line tells of its run."""
    text = line.text
    if "%)" in text and "/sec" in text and LOST.search(text):
        run.torn_in_line = line.number  # a row that was wrapped, so that its stream is lost
    elif "connected" in text and (found := CONNECTED.search(text)) and found["how"] == "to":
        run.connected.add(text[text.find("[") + 1 : text.find("]")].strip())
        run.facts |= {"near_address": found["near"], "far_address": found["far"]}
    elif _REVERSE.search(text):
        run.reverse = True
    elif "Starting" in text and (found := _TEST.search(text)):
        run.facts["protocol"] = found["protocol"].lower()
        key = "message_bytes" if found["protocol"] == "UDP" else "write_bytes"
        run.facts[key] = int(found["block"])
    elif "MSS" in text and (found := _MSS.search(text)):
        run.facts["mss_bytes"] = int(found[1])
    elif "tcpi_rtt" in text and (found := _KERNEL.search(text)):
        run.facts.setdefault("mss_bytes", int(found["mss"]))
        trip = int(found["trip"])
        if trip:
            run.results.append(Result("round trip", trip, "us", line.number, "sample", {}))
    elif ("Jitter" in text and "Lost/Total" in text) or "Total Datagrams" in text:
        run.facts["protocol"] = "udp"
    elif "[ ID]" in text and _SENT.search(text):
        run.facts["protocol"] = "tcp"
    elif "iperf3: " in text and (found := _ERROR.search(text)):
        run.ended_in_line = line.number
        if not found[1]:  # else the failure has a finding of its own
            words = (found[2] or found[3]).strip()
            run.notes.append(f"line {line.number}: iperf3 says: {words}")
    elif " Sent " in text and _COUNTED.search(text):
        run.counted = True
        if run.rows and run.rows[-1][0].line.number == line.number - 1:
            run.rows[-1] = run.rows[-1][0], True
    elif late := out_of_order(line):
        run.results.append(late)
    elif is_left_out(text):
        run.gaps = True
    elif "CPU" in text and (found := _CPU.search(text)):
        for end, share in ((found[1], found[2]), (found[3], found[4])):
            value = log.number(share)
            if value is not None:
                run.results.append(Result("CPU", value, "%", line.number, "", {"end": end}))


def _report(log: Log, run: _Run, command: Command | None) -> Report:
    _learn(run, command)
    shown, totals = Shown(), False
    for row, after_rule in run.rows:
        ended = row.ended
        by_place = shown.is_total(row, after_rule)
        is_total = bool(ended) or by_place
        totals = totals or is_total
        run.results += _results(log, run, row, "total" if is_total else "interval")
    notes = run.notes
    if run.torn_in_line:
        run.facts["torn_in_line"] = run.torn_in_line
    elif run.rows and not totals:
        notes = [*notes, "its totals are not in the log: the tail is missing"]
    notes = [*notes, *_ends_without_count(run.results)]
    facts = {key: value for key, value in run.facts.items() if value is not None}
    return Report(TOOL, run.results, run.line, run.version, facts, notes)


def _ends_without_count(results: list[Result]) -> Iterator[str]:
    """Notes on totals of 0 bytes of an end whose count was not known, as data was moved.

    A receiver's zero is one over TCP only, where a sender learns what arrived.
    """
    # Where both ways ran at once, an interval may be of the other one.
    moved = [own for own in results if own.name == "transferred" and "direction" not in own.of]
    handed = sum(own.base_value for own in moved if own.statistic == "interval")
    ends = {own.of.get("end"): own for own in moved if own.statistic == "total"}
    sender, receiver = ends.get("sender"), ends.get("receiver")
    if handed and sender is not None and sender.value == 0:
        yield (
            f"line {sender.line}: 0 B of the sender is no measurement, as data was moved in the "
            "intervals above. Mostly a server prints 0 for what only the client knows"
        )
    is_tcp = any(own.name == "retransmits" for own in results)
    is_sent = sender is not None and sender.base_value >= _MORE_THAN_WAITS
    if is_tcp and is_sent and receiver is not None and receiver.value == 0:
        yield (
            f"line {receiver.line}: 0 B of the receiver is most likely no measurement: TCP sends "
            "that much only where it is acknowledged. So the other end's count did not come"
        )


def _learn(run: _Run, command: Command | None) -> None:
    """Protocol, way and ends from all that was seen."""
    words = command.words if command else ()
    if run.client is None and ("-c" in words or "-s" in words):  # and not for `iperf3 -v`
        run.client = "-c" in words
    run.reverse = run.reverse or "-R" in words or "--reverse" in words
    if run.reverse:
        run.facts["reverse"] = True  # as its JSON says it
    if "protocol" not in run.facts:
        if "-u" in words or any("/" in row.rest and LOST.search(row.rest) for row, _ in run.rows):
            run.facts["protocol"] = "udp"
        elif any("Bytes" in row.rest for row, _ in run.rows):
            run.facts["protocol"] = "tcp"
    streams = {row.stream for row, _ in run.rows} - {"SUM"}
    are_all = run.headed and not run.connected and not run.gaps
    if streams and (streams <= run.connected or are_all):
        run.facts["streams"] = len(run.connected or streams)  # else some may be cut off
    if run.client is not None:
        run.facts["role"] = "client" if run.client else "server"


def _end(run: _Run, row: Row, statistic: str) -> str | None:
    """Whose figure a line is: what it shows tells more than who printed it, for a log seldom says
    that a server sends."""
    if ended := row.ended:
        return ended
    if row.role:
        return "sender" if row.role.startswith("TX") else "receiver"
    rest = row.rest
    if "Bytes" in rest:
        return "sender"  # it shows its window
    if run.facts.get("protocol") == "udp":
        if "ms" in rest and statistic == "interval":
            return "receiver"  # who sends knows of no losses
        if ("ms" in rest and (run.counted or run.old)) or _COUNT.search(rest):
            return "sender"  # old ones print what was sent beside what was lost of it
    elif rest and _RETRANSMITS.search(rest):
        return "sender"
    if run.client is not None:
        return "sender" if run.client != run.reverse else "receiver"
    return None


def _results(log: Log, run: _Run, row: Row, statistic: str) -> list[Result]:
    end, rest = _end(run, row, statistic), row.rest
    columns = run.columns_of(row.stream, end, row.role, "(omitted)" in rest)
    results = figures(log, row, statistic, columns)
    if run.facts.get("protocol") == "udp":
        # Older ones print the sender's bytes beside what the receiver told of losses.
        far = end if end != "sender" else "receiver"
        others = run.columns_of(row.stream, far, row.role, "(omitted)" in rest)
        results += _of_datagrams(log, row, statistic, columns, others)
    elif found := _RETRANSMITS.search(rest):
        number = row.line.number
        again, size, prefix = found.groups()
        results.append(Result("retransmits", int(again), "segments", number, statistic, columns))
        if size and (window := log.number(size)) is not None:
            unit = moved_unit(prefix)
            results.append(Result("congestion window", window, unit, number, statistic, columns))
    return results


def _of_datagrams(
    log: Log, row: Row, statistic: str, columns: dict[str, Any], of_receiver: dict[str, Any]
) -> list[Result]:
    """What a sender prints of losses stands for nothing where it is zero: it cannot know them."""
    if "ms" not in row.rest and (found := _COUNT.search(row.rest)):
        sent, number = int(found[1]), row.line.number
        return [Result("datagrams", sent, "datagrams", number, statistic, columns)]
    if row.ended == "sender":
        own = losses(log, row, statistic, columns)
        if not any(result.value for result in own if result.name == "lost datagrams"):
            return [part for part in own if part.name == "datagrams"]
    return losses(log, row, statistic, of_receiver)
