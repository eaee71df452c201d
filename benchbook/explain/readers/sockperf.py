"""sockperf: ping-pong, under-load, throughput, at the client and at the server; 2.x and 3.x."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report, Result
from benchbook.explain.printed_digits import decimals, half_digit, printed_lines

TOOL = "sockperf"
LOOKS_FOR = "sockperf: `Summary: Latency is 6.3 usec`, `---> percentile 99.000 = 7.0`"
WORDS = ("sockperf", "---> percentile", "---> <M", "====> avg-", "packet, txTime")
LONGEST_SIZE = 9  # digits of an option: more are no size
_START = late(r"==\s*version #\s*(\S+?)(?:-\S*)?\s*==")
_END = late(r"^\s*\[\s*\d+\] IP = (?P<ip>\S+)\s+PORT =\s*\d+\s*#\s*(?P<protocol>TCP|UDP)")
_SIDE = late(r"sockperf: ?\[SERVER\]|sockperf\[SERVER\]|sockperf(?:: )?\[CLIENT\]")
_NUMBER = r"-?[\d.,]*\d"  # a comma may follow it
_RUN = late(
    rf"\[(?P<part>Total Run|Valid Duration)\] RunTime\s*=\s*(?P<took>{_NUMBER}) sec;"
    r".*?SentMessages\s*=\s*(?P<sent>\d+); ReceivedMessages\s*=\s*(?P<got>\d+)"
)
_MEAN = late(
    rf"====> avg-(?P<kind>lat\w*|rtt)\s*=\s*(?P<mean>{_NUMBER}) \(std-dev\s*=\s*(?P<sd>{_NUMBER})"
)
# What 3.8 and later tell of these once more.
_VARIATION = late(rf", cv\s*=\s*({_NUMBER})")
_INTERVAL = late(rf"% ci\s*=\s*\[({_NUMBER}), ({_NUMBER})\]")
_LOST = late(
    r"# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+)"
)
_SUMMARY = late(
    r"Summary: (?:All servers )?(?P<kind>Latency|Round trip) (?:of .* )?is\s+"
    r"(?P<us>-?[\d.,]+) usec"
)
_OBSERVATIONS = late(
    rf"Total (\d+) observations(?:; each percentile contains ({_NUMBER}) observations)?"
)
_SERVER = late(r"Printing statistics for Server No: (\d{1,6})")
_EXTREME = late(r"---> <?(?P<which>MAX|MIN)>? observation\s*=\s*\**(?P<us>-?[\d.,]+)")
_PERCENTILE = late(r"---> percentile\s+(?P<which>[\d.,]+)\s*=\s*\**(?P<us>-?[\d.,]+)")
_SENT = late(r"Total of (\d+) messages sent in ([\d.,]+) sec")
_SIZE = late(r"using msg-size=(\d+)|--msg-size[= ](\d+)|\bmsg_size = (\d+)")
_RATE = late(
    r"Summary: Message Rate is (\d+) \[msg/sec\](?:, Packet Rate is about (\d+) \[pkt/sec\])?"
)
_WIDTH = late(r"Summary: BandWidth is ([\d.,]+) ([MG])Bps(?: \(([\d.,]+) [MG]bps\))?")
_PACE = late(r"(?<!\S)--[mp]ps[= ](\d{1,9})(?!\S)")
_PRECISE = 9  # decimals
# With these, several messages are on their way at the same time.
_SEVERAL = {"-b", "--burst", "-f", "--file", "--threads-num"}
_HANDLED = late(r"Total (\d+) messages received and handled")
_ERROR = late(r"sockperf: ((?:ERROR|No messages).*)")
# The file of --full-log: what was asked, the statistics, each exchange.
_FULL = late(r"^test was performed using the following parameters: --mps")
_EACH = late(r"^packet, txTime\(\w+\), rxTime\(\w+\), (?P<kind>latency|rtt)\(usec\)$")
_ROW = late(r"^(?P<number>\d{1,12}), \d+\.\d+, \d+\.\d+, (?P<us>-?\d+\.\d+)$")
_MODES = {
    "pp": "ping-pong", "ping-pong": "ping-pong", "ul": "under-load", "under-load": "under-load",
    "tp": "throughput", "throughput": "throughput", "pb": "playback", "playback": "playback",
    "sr": "server", "server": "server",
}  # fmt: skip


_NEAR = 3  # lines from the mean to the same in its summary
_FAR = 10**9


@dataclass
class _Run:
    """The lines of one start."""

    line: int
    version: str = ""
    results: list[Result] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    kind: str = "latency"
    rows: list[Result] = field(default_factory=list)
    means: set[float] = field(default_factory=set)  # of its latencies: a line may say one again
    has_rows: bool = False  # from here on
    has_percentiles: bool = False  # which are the last that a run prints
    mean_line: int = -_FAR


def read(log: Log) -> list[Report]:
    """One report for each start."""
    runs: list[_Run] = [_Run(1)]
    for line in printed_lines(log):
        if runs[-1].has_rows and (found := _ROW.match(line.text)):
            _of_row(runs[-1], line, found)
            continue
        if found := _EACH.match(line.text):
            runs[-1].kind = "round trip" if found["kind"] == "rtt" else "latency"
            runs[-1].has_rows = True
            continue
        if _FULL.match(line.text) and runs[-1].results:
            runs.append(_Run(line.number))
        if "=" not in line.text and "sockperf" not in line.text:
            continue
        if found := _START.search(line.text):
            if "sockperf" not in line.text:
                continue
            runs.append(_Run(line.number, found[1]))
        elif found := _SUMMARY.search(line.text):
            means = runs[-1].means
            if means and ("All servers" in line.text or log.number(found["us"]) in means):
                continue  # the mean once more
            if means and line.number - runs[-1].mean_line > _NEAR:
                runs.append(_Run(line.number))
        elif runs[-1].has_percentiles and ("====> avg-" in line.text or "[Total Run]" in line.text):
            runs.append(_Run(line.number))  # of one without its head
        for pattern, taken in _TAKEN:
            if found := pattern.search(line.text):
                taken(log, runs[-1], line, found)
    calls = [one for one in log.commands if any(map(_is_sockperf, one.words))]
    for run in runs:
        _learn(calls, run)
        run.results = [*_counted(run), *run.rows]
    return [
        Report(TOOL, run.results, run.results[0].line if run.line == 1 else run.line,
               run.version, run.facts, run.notes)
        if run.results else Report(TOOL, [], run.line, run.version, run.facts, run.notes)
        for run in runs
        if run.results or run.notes
    ]  # fmt: skip


def _of_row(run: _Run, line: Line, found: re.Match[str]) -> None:
    of = {"repetition": int(found["number"])}
    run.rows.append(Result(run.kind, float(found["us"]), "us", line.number, "sample", of))


def _counted(run: _Run) -> list[Result]:
    """Its statistics; the mean of all rows says that it is one of them."""
    if not run.rows or run.facts.get("repetitions") != len(run.rows):
        return run.results
    whole = {"repetitions": len(run.rows)}
    return [
        replace(one, of={**one.of, **whole}) if one.statistic == "mean" else one
        for one in run.results
    ]


def _is_sockperf(word: str) -> bool:
    return word.endswith("sockperf")


def _learn(calls: list[Command], run: _Run) -> None:
    """What the command line tells, where the log shows it."""
    at = bisect_right(calls, run.line + 1, key=lambda one: one.number)
    words = [
        part
        for word in (calls[at - 1].words if at else ())
        for part in (word.split("=", 1) if word.startswith("--") else [word])
    ]
    modes = [_MODES[word] for word in words if word in _MODES]
    if modes and "mode" not in run.facts:
        run.facts["mode"] = modes[0]
        if modes[0] == "ping-pong" and _SEVERAL.isdisjoint(words):
            run.facts["one_at_a_time"] = True
    if found := _PACE.search(" ".join(words)):
        run.facts |= {"asked_per_s": int(found[1]), "asked_in_line": calls[at - 1].number}
    if "--tcp" in words:
        run.facts.setdefault("protocol", "tcp")
    elif modes and not {"-f", "--file"} & set(words):
        run.facts.setdefault("protocol", "udp")  # what it uses unless it is told
    for option in ("-m", "--msg-size", "-i", "--ip"):
        if option in words[:-1]:
            value = words[words.index(option) + 1]
            if value.isdecimal() and len(value) <= LONGEST_SIZE:
                run.facts.setdefault("message_bytes", int(value))
            elif option in ("-i", "--ip"):
                listens = "server" in (run.facts.get("role"), run.facts.get("mode"))
                run.facts.setdefault("near_address" if listens else "far_address", value)


def _of_end(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    server = run.facts.get("role") == "server"
    run.facts["near_address" if server else "far_address"] = found["ip"]
    run.facts["protocol"] = found["protocol"].lower()


def _side(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    run.facts["role"] = "server" if "SERVER" in found[0] else "client"


def _of_run(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    part = "all" if found["part"] == "Total Run" else "valid"
    for name, key in (("messages sent", "sent"), ("messages received", "got")):
        value = int(found[key])
        run.results.append(Result(name, value, "messages", line.number, "total", {"part": part}))
    took = log.number(found["took"])
    if took is not None:
        run.results.append(Result("run time", took, "s", line.number, "", {"part": part}))


def _of_mean(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    run.kind = "round trip" if found["kind"] == "rtt" else "latency"
    run.mean_line = line.number
    for statistic in ("mean", "sd"):
        _add(log, run, line, found[statistic], statistic)
    told = [_VARIATION.search(line.text, found.end()), _INTERVAL.search(line.text, found.end())]
    parts = [
        None if part is None else log.number(part) for one in told if one for part in one.groups()
    ]
    if None not in told and None not in parts:
        names = ("variation", "interval_from_us", "interval_to_us")
        run.facts |= dict(zip(names, parts, strict=True))


def _of_summary(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    """Only where it is not that of the line above it."""
    again = {"said_again": True} if run.means else {}
    run.kind = found["kind"].lower()
    _add(log, run, line, found["us"], "mean", again)


def _of_server(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    """Each may answer each message."""
    run.facts["servers"] = max(run.facts.get("servers", 1), int(found[1]) + 1)


def _add(
    log: Log,
    run: _Run,
    line: Line,
    text: str,
    statistic: str,
    of: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    value = log.number(text)
    if value is not None:
        run.results.append(Result(run.kind, value, "us", line.number, statistic, of))
        if statistic == "mean":
            run.means.add(value)


def _of_lost(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    names = ("dropped messages", "duplicated messages", "out-of-order messages")
    for name, text in zip(names, found.groups(), strict=True):
        run.results.append(Result(name, int(text), "messages", line.number, "total"))


def _of_extreme(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    _add(log, run, line, found["us"], found["which"].lower())


def _of_percentile(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    run.has_percentiles = True
    which = log.number(found["which"])
    if which is not None:
        _add(log, run, line, found["us"], "median" if which == 50 else f"p{which:g}")


def _of_sent(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    run.facts.setdefault("mode", "throughput")
    of = {"end": "sender"}
    run.results.append(Result("messages", int(found[1]), "messages", line.number, "total", of))
    took = log.number(found[2])
    if took is not None:
        exact = {"elapsed_error_s": half_digit(found[2])}
        run.results.append(Result("run time", took, "s", line.number, "", exact))


def _of_rate(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    of = {"end": "sender"}
    run.results.append(
        Result("message rate", int(found[1]), "messages/s", line.number, "total", of)
    )
    if found[2]:
        run.results.append(
            Result("packet rate", int(found[2]), "packets/s", line.number, "total", of)
        )


def _of_width(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    """Its MBps and Mbps are of 2^20: messages of 1400 bytes at 78246 per second are 104.47. The
    GBps of --giga-size, of 3 decimals, are 1000 of them; those of --increase_output_precision, of
    9, are MBps that are only called so (both seen with version 3.7)."""
    giga = found[2] == "G" and decimals(found[1]) < _PRECISE
    for text, base in ((found[1], "B/s"), (found[3], "bit/s")):
        value = log.number(text) if text else None
        if value is not None:
            value, prefix = (round(value * 1000 / 1024, 6), "Gi") if giga else (value, "Mi")
            unit, of = f"{prefix}{base}", dict[str, Any](end="sender")
            if base == "bit/s" and not giga:  # whose digits are too few
                of["said_again"] = True
            run.results.append(Result("throughput", value, unit, line.number, "total", of))
    said = "sockperf's MBps and Mbps are 2^20 bytes and bits"
    if giga:
        said = "sockperf's GBps and Gbps are 1000 times 2^20 bytes and bits"
    elif found[2] == "G":
        said = "what sockperf calls GBps and Gbps with so many digits are MBps and Mbps, of 2^20"
    run.notes.append(f"line {line.number}: {said}")


def _of_size(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    """Behind its own size stands the one that it advises, in a line of its own where mails wrap."""
    used, asked, said = found.groups()
    if asked:
        run.facts.setdefault("message_bytes", int(asked))
    else:
        run.facts["message_bytes"] = int(used or said)


def _of_handled(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    run.facts["role"] = "server"
    of = {"end": "receiver"}
    run.results.append(Result("messages", int(found[1]), "messages", line.number, "total", of))


def _of_observations(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    run.facts["repetitions"] = int(found[1])
    if found[2] and (each := log.number(found[2])) is not None:
        run.facts["per_cent_of_repetitions"] = each


def _of_error(log: Log, run: _Run, line: Line, found: re.Match[str]) -> None:
    run.notes.append(f"line {line.number}: sockperf says: {found[1]}")


_TAKEN: tuple[tuple[re.Pattern[str], Callable[[Log, _Run, Line, re.Match[str]], None]], ...] = (
    (_SIDE, _side),
    (_END, _of_end),
    (_RUN, _of_run),
    (_SERVER, _of_server),
    (_MEAN, _of_mean),
    (_LOST, _of_lost),
    (_SUMMARY, _of_summary),
    (_OBSERVATIONS, _of_observations),
    (_EXTREME, _of_extreme),
    (_PERCENTILE, _of_percentile),
    (_SENT, _of_sent),
    (_SIZE, _of_size),
    (_RATE, _of_rate),
    (_WIDTH, _of_width),
    (_HANDLED, _of_handled),
    (_ERROR, _of_error),
)
