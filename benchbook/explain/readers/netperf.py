"""netperf: the tables of its stream and request/response tests, and what -- -k, -o and -O print."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import as_float, decimals, half_digit
from benchbook.explain.readers.common.iperf_lines import link_speed
from benchbook.explain.readers.common.line_reader import Run
from benchbook.explain.results import GIVEN

TOOL = "netperf"
_TITLE = late(
    r"(?:MIGRATED )?(?P<protocol>TCP|UDP|SCTP|STREAM|DG)\S*(?: UNIX DOMAIN)? "
    r"(?P<kind>STREAM|MAERTS|REQUEST/RESPONSE|CONNECT/REQUEST/RESPONSE|Connect/Request/Response"
    r"|SENDFILE|UNIDIRECTIONAL SEND)"
    r"(?: TEST| \(\w+\)){1,2}(?:(?: from (?P<near>\S+) .*?)? to (?P<far>\S+))?"
)
_OMNI = late(r"OMNI [\w|]+ TEST from (?P<near>\S+) .{0,80}? to (?P<far>\S+)")
_WRAPPED = late(r"^\s*(?:\(\S*\) )?port \d+ AF_\w+ to (?P<far>\S+)")  # a long title, in mails
_BURST = late(r": first burst (\d{1,6})\b")  # what is sent before the first answer
# The interval that -I asked for, as a title has it: its half width in per cent.
_WANTED = late(r"\+/-(\d{1,3}(?:\.\d{1,6})?)% @ +(\d{1,3})% conf\.")
_NOWHERE = ("0.0.0.0", "::0", "::", "(null)")  # what it has of an end that it was not told
_COUNTED = late(r"secs?\.?\s+#\s+#\s")  # messages sent and refused: of datagrams only
_WHOLE = 5  # cells of a line that is not the second of its test
_ENDS = ("local", "remote")
_OF_CPUS = 4  # more with -c or -C: the use of either end's, and what that is for each unit
_WITH_CPUS = 8  # cells of a sender of datagrams then
_UNKNOWN = -1.0  # what stands for a figure that was not taken
_UNIT = late(r"(?:10\^(?P<power>[0369])bits|\b(?P<bytes>[KMG]?Bytes)) *\/ ?s(?:ec)?\b")
_RATED = late(r"secs\. +per sec\b")  # the last of the heads of exchanges
_INTERIM = late(
    r"Interim result: +(?P<rate>\d+(?:\.\d+)?) (?P<unit>\S+) over (?P<seconds>\d+\.\d+) sec"
)
_ROW = late(r"^(?P<cells>\s*-?\d+(?:\s+-?\d+(?:\.\d+)?){1,12}\s*)$")
# Behind what somebody calls it, as under one head for several kernels.
_CALLED = late(r"^\s*[A-Za-z][\w ./+-]{0,40}:\s(?P<cells>\s*\d+\s+\d+\s+\d+(?:\s+\d+\.\d+){2}\s*)$")
# With -P 0 there is no title and no head: the command tells. A loop may run it several times.
_SILENT = late(
    r"\bnetperf\s(?=.*-P ?0\b)"
    r"(?:(?=.*-t ?(?P<protocol>TCP|UDP|SCTP)_(?P<kind>RR|CRR|STREAM|MAERTS)\b)|(?!.*\s-t))"
)
# The first line of heads of -O, which stand above each other: words of these alone.
_MEASURED = frozenset(
    ("Throughput", "Transaction", "Minimum", "Mean", "Maximum", "Stddev", "50th", "90th", "99th")
)
_SET = frozenset(("Local", "Remote", "Elapsed", "Protocol", "Direction", "Request", "Response"))
_STACKED = late(rf"\s*(?:{'|'.join(sorted(_MEASURED | _SET))})\s")
_NUMBER = late(r"-?\d+(?:\.\d+)?$")
_QUOTES = " \t\"',"  # around a line that is a string of somebody's own
# Sizes, then a time and a rate with their decimals: without heads nothing else tells such a line.
_TIMED = late(r"^\s*\d+(?:\s+\d+){2,3}\s+\d+\.\d\d\s+\d+\.\d\d\s*$")
_DEEPEST = 8  # lines of such heads
# Of -I, where the repetitions did not come as near to each other as was asked.
_UNSURE = late(r"!!! Confidence intervals: Throughput +: +(\d+(?:\.\d+)?)%")
_KEY = late(r"^\s*(?P<key>[A-Z][A-Z0-9_]+)=(?P<value>(?:.*\S)?)\s*$")
# Of a build that asks the kernel about its connection at the end (DUMP_TCP_INFO).
_TCP_INFO = late(r"\b(?:tcpi|tpci)_(?P<name>[a-z_]{2,20}) (?P<value>\d{1,18})\b")
_OF_TCP = {
    "rtt": "us", "rttvar": "us", "rto": "us", "pmtu": "B", "snd_cwnd": "segments",
    "total_retrans": "segments", "snd_ssthresh": "segments",
}  # fmt: skip
_CLASS_WIDTH = 0.1  # its percentiles come out of a histogram of 90 classes for each power of ten
_BITS = {"0": "bit/s", "3": "kbit/s", "6": "Mbit/s", "9": "Gbit/s"}
_FORMAT = late(r"\s-f ?(\S)")
_FORMATS = {"b": "bit/s", "k": "kbit/s", "m": "Mbit/s", "g": "Gbit/s", "x": "transactions/s"}
_FORMATS |= {"B": "B/s", "K": "KiB/s", "M": "MiB/s", "G": "GiB/s"}
_WAYS = (("LOCAL_BYTES_SENT", "REMOTE_BYTES_RECVD"), ("REMOTE_BYTES_SENT", "LOCAL_BYTES_RECVD"))
_APART = 0.03  # of what was sent: what was still on its way at the end
_BYTES = {"Bytes": "B/s", "KBytes": "KiB/s", "MBytes": "MiB/s", "GBytes": "GiB/s"}
_LATENCIES = {
    "MIN_LATENCY": "min", "MEAN_LATENCY": "mean", "P50_LATENCY": "median", "P90_LATENCY": "p90",
    "P99_LATENCY": "p99", "MAX_LATENCY": "max", "STDDEV_LATENCY": "sd",
    "RT_LATENCY": "mean",  # what the rate makes of it
}  # fmt: skip
_OF_ENDS = {
    f"{side}_{does}_THROUGHPUT": end
    for side in ("LOCAL", "REMOTE")
    for does, end in (("SEND", "sender"), ("RECV", "receiver"))
}
_RATE_KEYS = {"THROUGHPUT", *_OF_ENDS}


# What -o has above its values, parted by commas, and -O in lines.
_HEADS = {
    "Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS", "Protocol": "PROTOCOL",
    "Transaction Rate Tran/s": "TRANSACTION_RATE",
    "Throughput Confidence Width (%)": "THROUGHPUT_CONFID",
    "Elapsed Time (sec)": "ELAPSED_TIME",
    "Local Bytes Sent": "LOCAL_BYTES_SENT", "Local Bytes Received": "LOCAL_BYTES_RECVD",
    "Remote Bytes Sent": "REMOTE_BYTES_SENT", "Remote Bytes Received": "REMOTE_BYTES_RECVD",
    "Local CPU Util %": "LOCAL_CPU_UTIL", "Remote CPU Util %": "REMOTE_CPU_UTIL",
    "Minimum Latency Microseconds": "MIN_LATENCY", "Mean Latency Microseconds": "MEAN_LATENCY",
    "50th Percentile Latency Microseconds": "P50_LATENCY",
    "90th Percentile Latency Microseconds": "P90_LATENCY",
    "99th Percentile Latency Microseconds": "P99_LATENCY",
    "Maximum Latency Microseconds": "MAX_LATENCY",
    "Stddev Latency Microseconds": "STDDEV_LATENCY",
    "Round Trip Latency usec/tran": "RT_LATENCY",
}  # fmt: skip


@dataclass
class _Run(Run):
    """One test."""

    protocol: str = ""
    kind: str = ""
    silent: bool = False
    row: str = ""  # the first one
    cells: int = 0  # of the sender's line
    unit: str = ""
    format: str = ""  # as -f asks
    keys: dict[str, tuple[str, int]] = field(default_factory=dict)
    interim: list[Result] = field(default_factory=list)

    def again(self, line: Line) -> _Run:
        """The next of several under one title."""
        own = {name: getattr(self, name) for name in ("protocol", "kind", "silent", "unit")}
        return _Run(line.number, **own, facts=dict(self.facts))

    def meets(self, found: re.Match[str]) -> None:
        """Keep the addresses that a title has."""
        for name, end in found.groupdict().items():
            if name in ("near", "far") and end and end not in _NOWHERE:
                self.facts[f"{name}_address"] = end

    def number(self, key: str) -> float | None:
        """What a key has, if it is a number."""
        text = self.keys.get(key, ("", 0))[0]
        return float(text) if _NUMBER.match(text) else None

    def add(
        self, name: str, value: float | None, unit: str, key: str, statistic: str = "", **of: Any
    ) -> None:
        """Add the figure that a key has."""
        if value is not None:
            self.results.append(Result(name, value, unit, self.keys[key][1], statistic, of))


def read(log: Log) -> list[Report]:
    """One report for each test."""
    runs: list[_Run] = []
    heads: list[str] = []
    asked = dict(_asked(log))
    stacked: list[str] = []
    for line in log.printed_lines():
        if line.number in asked:
            heads = asked[line.number]
            continue
        if _begins_heads(line.text):
            stacked = [line.text]
            continue
        if stacked and (keys := _under(stacked, line)):
            _tabled(runs, line, keys)
            stacked = []
            continue
        if stacked and len(stacked) < _DEEPEST and not any(map(_NUMBER.match, line.text.split())):
            stacked.append(line.text)
            continue
        if "netperf" in line.text and (found := _SILENT.search(line.text)):
            runs.append(_silent(line, found))
            continue
        if "," in line.text and _are_heads(named := _separated(line.text)):
            heads = named
        elif heads and len(cells := _separated(line.text)) == len(heads):
            values = [(cell, line.number) for cell in cells]
            named = [_HEADS.get(head, head) for head in heads]
            _tabled(runs, line, dict(zip(named, values, strict=True)))
        elif found := _TITLE.search(line.text):
            runs.append(_begun(line, found))
        elif "OMNI" in line.text and (found := _OMNI.search(line.text)):
            runs.append(_Run(line.number, kind="OMNI"))
            runs[-1].meets(found)
        elif runs and runs[-1].line == line.number - 1 and (found := _WRAPPED.match(line.text)):
            runs[-1].meets(found)
        elif runs and "tcpi_" in line.text:
            runs[-1].interim += _of_tcp(line)
        elif runs and "!!!" in line.text and (found := _UNSURE.search(line.text)):
            width = float(found[1])
            runs[-1].interim.append(Result("confidence interval", width, "%", line.number))
        elif "Interim" in line.text and (found := _INTERIM.search(line.text)):
            if not runs or runs[-1].results:
                runs.append(_Run(line.number))
            runs[-1].interim += _interim(line, found)
        elif "per sec" in line.text and _RATED.search(line.text):
            if not runs or runs[-1].results:
                runs.append(_Run(line.number, kind="REQUEST/RESPONSE"))
        elif "secs" in line.text and (found := _UNIT.search(line.text)):
            if not runs or runs[-1].results:
                runs.append(_Run(line.number, kind="STREAM"))
            runs[-1].unit, runs[-1].kind = _unit(found), runs[-1].kind or "STREAM"
            if not runs[-1].protocol and _COUNTED.search(line.text):
                runs[-1].protocol = runs[-1].facts["protocol"] = "udp"
        elif (found := _KEY.match(line.text)) and found["key"].isupper():
            if not runs or found["key"] in runs[-1].keys:
                runs.append(_Run(line.number))
            runs[-1].keys[found["key"]] = found["value"], line.number
        elif runs and runs[-1].silent and not _TIMED.match(line.text):
            continue
        elif runs and (row := _ROW.match(line.text) or _called_row(line, runs[-1])):
            numbers = Line(line.number, row["cells"])
            if runs[-1].results and _is_next(runs[-1], numbers):
                runs.append(runs[-1].again(line))
            _row(runs[-1], numbers)
    formats = list(_formats(log))
    for above, run in zip([0, *(run.line for run in runs)], runs, strict=False):
        if not run.keys.keys().isdisjoint(_RATE_KEYS) or (run.kind and run.keys):
            before = bisect_left(formats, (run.line, ""))
            if before and formats[before - 1][0] > above:
                run.format = formats[before - 1][1]
            _keyed(run)
    speed = link_speed(log) if runs else {}
    return [
        Report(TOOL, run.interim + run.results, run.line, "", speed | run.facts, run.notes)
        for run in runs
        if run.interim or run.results
    ]


def _asked(log: Log) -> Iterator[tuple[int, list[str]]]:
    """By line, what a command names behind -o: with -P 0 nothing else heads its values."""
    for command in log.commands:
        words = command.words
        if words[0].endswith("netperf") and "-o" in words[:-1]:
            yield command.number, words[words.index("-o") + 1].upper().split(",")


def _formats(log: Log) -> Iterator[tuple[int, str]]:
    """By line, the unit that a command asks for with -f: ? where it does not."""
    for command in log.commands:
        begin = next(
            (at for at, word in enumerate(command.words) if word.endswith("netperf")), None
        )
        if begin is not None:
            own = " ".join(takewhile(lambda item: item != "--", command.words[begin:]))
            found = _FORMAT.search(own)
            yield command.number, found[1] if found else "?"


def _separated(text: str) -> list[str]:
    return [word.strip() for word in text.strip(_QUOTES).split(",")]


def _are_heads(cells: list[str]) -> bool:
    return len(cells) > 1 and not _HEADS.keys().isdisjoint(cells)


def _tabled(runs: list[_Run], line: Line, keys: dict[str, tuple[str, int]]) -> None:
    """The values of -o or -O are those of the title above them, if any."""
    if not runs or runs[-1].results or runs[-1].keys:
        runs.append(_Run(line.number))
    runs[-1].keys = keys
    runs[-1].kind = runs[-1].kind or "OMNI"


def _begins_heads(text: str) -> bool:
    if not _STACKED.match(text):
        return False
    words = set(text.split())
    return words <= _MEASURED | _SET and not words.isdisjoint(_MEASURED)


def _silent(line: Line, found: re.Match[str]) -> _Run:
    protocol, kind = found["protocol"] or "TCP", found["kind"] or "STREAM"
    kind = "REQUEST/RESPONSE" if kind.endswith("RR") else kind
    run = _Run(line.number, protocol=protocol.lower(), kind=kind, silent=True)
    run.facts |= {"protocol": run.protocol, "test": f"{protocol} {kind}"}
    if kind != "REQUEST/RESPONSE" and not re.search(r"\s-f\b", line.text):
        run.unit = _BITS["6"]
    return run


def _under(heads: list[str], line: Line) -> dict[str, tuple[str, int]]:
    """The cells of a line by what stands above each, word under word; none where it is no line of
    values."""
    cells = list(re.finditer(r"\S+", line.text))
    begins = [match.start() for match in re.finditer(r"\S+", heads[0])]
    if [item.start() for item in cells] != begins or not any(
        _NUMBER.match(item[0]) for item in cells
    ):
        return {}
    ends = [item.start() for item in cells[1:]] + [max(map(len, heads), default=0)]
    keys = {}
    for cell, end in zip(cells, ends, strict=True):
        head = " ".join(" ".join(item[cell.start() : end].split()) for item in heads).strip()
        head = re.sub(r" {2,}", " ", head)
        keys[_HEADS.get(head, head)] = cell[0], line.number
    return keys


def _begun(line: Line, found: re.Match[str]) -> _Run:
    kind = "STREAM" if found["kind"] == "UNIDIRECTIONAL SEND" else found["kind"].upper()
    run = _Run(line.number, protocol=found["protocol"].lower(), kind=kind)
    run.facts["protocol"] = run.protocol
    run.facts["test"] = f"{found['protocol']} {kind}"
    run.meets(found)
    if wanted := _WANTED.search(line.text):
        run.facts["wanted_half_percent"] = float(wanted[1])
    if burst := _BURST.search(line.text):
        run.facts["outstanding"] = 1 + int(burst[1])
    return run


def _interim(line: Line, found: re.Match[str]) -> Iterator[Result]:
    """What -D prints while a test runs."""
    name, unit = "throughput", ""
    if known := _UNIT.match(found["unit"]):
        unit = _unit(known)
    elif found["unit"].startswith("Trans"):
        name, unit = "transaction rate", "transactions/s"
    if unit:
        of = {"elapsed_s": float(found["seconds"])}
        yield Result(name, float(found["rate"]), unit, line.number, "interval", of)


def _of_tcp(line: Line) -> Iterator[Result]:
    """What the kernel says of the connection: round trips, resent segments, windows."""
    for found in _TCP_INFO.finditer(line.text):
        if unit := _OF_TCP.get(found["name"]):
            yield Result(f"TCP {found['name']}", float(found["value"]), unit, line.number, GIVEN)


def _unit(found: re.Match[str]) -> str:
    return _BITS[found["power"]] if found["power"] else _BYTES[found["bytes"]]


def _called_row(line: Line, run: _Run) -> re.Match[str] | None:
    """A row behind a name, below the heads of a stream."""
    return _CALLED.match(line.text) if run.unit and ":" in line.text else None


def _is_next(run: _Run, line: Line) -> bool:
    """Whether the row is of another test: without heads each whole one is; else somebody put it
    under those of one, with as many numbers, of as many decimals each."""
    if run.silent and len(line.text.split()) >= _WHOLE:
        return True
    return bool(run.row) and _shape(line.text) == _shape(run.row)


def _shape(text: str) -> list[int]:
    return [decimals(cell) for cell in text.split()]


def _row(run: _Run, line: Line) -> None:
    cells = line.text.split()
    run.row = run.row or line.text
    if "RESPONSE" in run.kind:
        if len(cells) < 6 or run.results:
            return
        size = {"request_bytes": int(float(cells[2])), "response_bytes": int(float(cells[3]))}
        rate = float(cells[5])
        of = {**size, "elapsed_s": float(cells[4])}
        run.results.append(Result("transaction rate", rate, "transactions/s", line.number, "", of))
        run.results += _of_cpus(line, cells, 6, "us/transaction")
    elif run.protocol == "udp" and run.unit:
        _datagrams(run, line, cells)
    elif run.unit and len(cells) >= 5 and not run.results:
        elapsed = {"elapsed_s": float(cells[3]), "elapsed_error_s": half_digit(cells[3])}
        of = {**elapsed, "write_bytes": int(float(cells[2]))}
        value = float(cells[4])
        run.results.append(Result("throughput", value, run.unit, line.number, "total", of))
        run.results += _of_cpus(line, cells, 5, "us/KiB")
        for name, cell in zip(("receive socket", "send socket"), cells, strict=False):
            run.results.append(Result(name, float(cell), "B", line.number, GIVEN))


def _of_cpus(line: Line, cells: list[str], begin: int, unit: str) -> Iterator[Result]:
    """How busy the CPUs of both ends were, and for how long for each unit of what was measured."""
    if len(cells) == begin + _OF_CPUS:
        for end, cell in zip(_ENDS, cells[begin:], strict=False):
            yield from _cpu(line.number, end, cell)
        for end, cell in zip(_ENDS, cells[begin + len(_ENDS) :], strict=True):
            yield from _demand(line.number, end, cell, unit)


def _cpu(number: int, end: str, cell: str) -> Iterator[Result]:
    if (use := float(cell)) != _UNKNOWN:
        yield Result("CPU", use, "%", number, "", {"end": end})


def _demand(number: int, end: str, cell: str, unit: str) -> Iterator[Result]:
    if (demand := float(cell)) != _UNKNOWN:
        yield Result("service demand", demand, unit, number, "", {"end": end})


def _datagrams(run: _Run, line: Line, cells: list[str]) -> None:
    """The sender's line, and the receiver's below it, which lacks size and errors; both have two
    more where CPUs are looked at."""
    if len(cells) in (6, _WITH_CPUS) and not run.results:
        run.cells = len(cells)
        run.facts["message_bytes"] = int(float(cells[1]))
        of: dict[str, Any] = {"end": "sender", **_elapsed(cells[2])}
        sent, rate = int(float(cells[3])), float(cells[5])
    elif len(cells) == run.cells - 2 and all(
        result.of["end"] != "receiver" for result in run.results
    ):
        of = {"end": "receiver", **_elapsed(cells[1])}
        sent, rate = int(float(cells[2])), float(cells[3])
    else:
        return
    moved = {"bytes_moved": sent * run.facts["message_bytes"]}
    run.results += [
        Result("datagrams", sent, "datagrams", line.number, "total", of),
        Result("throughput", rate, run.unit, line.number, "total", of | moved),
    ]
    if run.cells == _WITH_CPUS:
        end = "local" if of["end"] == "sender" else "remote"
        run.results += _cpu(line.number, end, cells[-2])
        run.results += _demand(line.number, end, cells[-1], "us/KiB")


def _elapsed(cell: str) -> dict[str, float]:
    return {"elapsed_s": float(cell), "elapsed_error_s": half_digit(cell)}


def _asked_unit(run: _Run) -> str:
    """The unit by the command line; "" where it is not there, or does not tell."""
    if run.format != "?":
        return _FORMATS.get(run.format, "")
    return "transactions/s" if "RESPONSE" in run.kind else _BITS["6"] if run.kind else ""


def _moved(run: _Run) -> dict[str, Any]:
    """What was moved in which time, where it went one way, and both ends agree or one tells."""
    elapsed = run.keys.get("ELAPSED_TIME", ("", 0))[0]
    there, back = ([moved for key in way if (moved := run.number(key))] for way in _WAYS)
    own = there or back
    if not own or (there and back) or not _NUMBER.match(elapsed):
        return {}
    alike = min(own) >= (1 - _APART) * max(own)
    return {**_elapsed(elapsed), "bytes_moved": own[-1]} if alike else {}


def _keyed(run: _Run) -> None:
    """What -- -k prints: a name and a value on each line."""
    text, number = run.keys.get("THROUGHPUT", ("", 0))
    units = run.keys.get("THROUGHPUT_UNITS", ("", 0))[0]
    found = _UNIT.search(units)
    unit = _unit(found) if found else "transactions/s" if units.startswith("Trans") else ""
    unit = unit if units else _asked_unit(run)
    if (value := as_float(text or "0")) is None:
        return
    if text and not unit:
        run.notes.append(f"line {number}: THROUGHPUT={text} has no unit without THROUGHPUT_UNITS")
    elif text and unit == "transactions/s":
        run.add("transaction rate", value, unit, "THROUGHPUT", "total")
    elif text:
        run.add("throughput", value, unit, "THROUGHPUT", "total", **_moved(run))
    else:
        rate = run.number("TRANSACTION_RATE")
        run.add("transaction rate", rate, "transactions/s", "TRANSACTION_RATE", "total")
    for key, end in _OF_ENDS.items() if found else ():
        # What this side does not do is 0, or -1.
        if (rate := run.number(key)) is not None and rate > 0:
            run.add("throughput", rate, unit, key, "total", end=end)
    for key, statistic in _LATENCIES.items():
        if key in run.keys and not (key == "RT_LATENCY" and "MEAN_LATENCY" in run.keys):
            latency = as_float(run.keys[key][0])
            of = {"class_width": _CLASS_WIDTH} if key.startswith("P") else {}
            if latency != _UNKNOWN:
                run.add("round trip", latency, "us", key, statistic, **of)
    if (width := run.number("THROUGHPUT_CONFID")) not in (_UNKNOWN, 0.0):  # nobody asked for one
        run.add("confidence interval", width, "%", "THROUGHPUT_CONFID")
    for end in _ENDS:
        key = f"{end.upper()}_CPU_UTIL"
        if (use := run.number(key)) != _UNKNOWN:
            run.add("CPU", use, "%", key, end=end)
    if "PROTOCOL" in run.keys:
        run.facts["protocol"] = run.keys["PROTOCOL"][0].lower()
