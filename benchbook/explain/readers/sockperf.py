"""sockperf: ping-pong, under-load, throughput, at the client and at the server; 2.x and 3.x."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log, Report, Result
from benchbook.explain.printed_digits import decimals, half_digit
from benchbook.explain.readers.common import command_lines
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "sockperf"
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
_ASIDE = late(rf"\b(?P<name>mean-ad|median-ad|siqr|std-error)\s*=\s*(?P<us>{_NUMBER})")
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
class _Run(Run):
    """The lines of one start."""

    line: int = 1
    kind: str = "latency"
    rows: list[Result] = field(default_factory=list)
    means: set[float] = field(default_factory=set)  # of its latencies: a line may say one again
    has_rows: bool = False  # from here on
    has_percentiles: bool = False  # which are the last that a run prints
    mean_line: int = -_FAR

    def finish(self) -> bool:
        """Put rows behind statistics; the mean of all rows says that it is one of them."""
        if self.rows and self.facts.get("repetitions") == len(self.rows):
            whole = {"repetitions": len(self.rows)}
            self.results = [
                replace(result, of={**result.of, **whole}) if result.statistic == "mean" else result
                for result in self.results
            ]
        self.results += self.rows
        return bool(self.results or self.notes)

    def report(self, tool: str) -> Report:
        """What it printed; without a head above, from its first figure on."""
        self.line = 0 if self.line == 1 and self.results else self.line
        return super().report(tool)


def read(log: Log) -> list[Report]:
    """One report for each start."""
    runs = _READER.runs(log)
    calls = [
        command
        for command in log.commands
        if any(word.endswith("sockperf") for word in command.words)
    ]
    for run in runs:
        _learn(calls, run)
    return [run.report(TOOL) for run in runs]


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if run.has_rows and (found := _ROW.match(text)):
        of = {"repetition": int(found["number"])}
        number = reading.line.number
        run.rows.append(Result(run.kind, float(found["us"]), "us", number, "sample", of))
        return
    if found := _EACH.match(text):
        run.kind = "round trip" if found["kind"] == "rtt" else "latency"
        run.has_rows = True
        return
    if _FULL.match(text) and run.results:
        run = reading.begin()
    if "=" not in text and "sockperf" not in text and "Summary: " not in text:
        return
    if found := _START.search(text):
        if "sockperf" not in text:
            return
        reading.begin(version=found[1])
    elif found := _SUMMARY.search(text):
        if run.means and ("All servers" in text or reading.number(found["us"]) in run.means):
            return  # the mean once more
        if run.means and reading.line.number - run.mean_line > _NEAR:
            reading.begin()
    elif run.has_percentiles and ("====> avg-" in text or "[Total Run]" in text):
        reading.begin()  # of one without its head
    for pattern, take in _TAKEN:
        if found := pattern.search(text):
            take(reading, found)


def _learn(calls: list[Command], run: _Run) -> None:
    """What the command line tells, where the log shows it."""
    command = command_lines.last_above(calls, run.line + 2)
    words = {word.split("=")[0] for word in command.words} if command else set()
    modes = [_MODES[word] for word in command.words if word in _MODES] if command else []
    if modes and "mode" not in run.facts:
        run.facts["mode"] = modes[0]
        if modes[0] == "ping-pong" and _SEVERAL.isdisjoint(words):
            run.facts["one_at_a_time"] = True
    if command and (found := _PACE.search(" ".join(command.words))):
        run.facts |= {"asked_per_s": int(found[1]), "asked_in_line": command.number}
    if "--tcp" in words:
        run.facts.setdefault("protocol", "tcp")
    elif modes and words.isdisjoint({"-f", "--file"}):
        run.facts.setdefault("protocol", "udp")  # what it uses unless it is told
    size, address = (
        command_lines.option(command, "-m", "--msg-size"),
        command_lines.option(command, "-i", "--ip"),
    )
    if size.isdecimal() and len(size) <= LONGEST_SIZE:
        run.facts.setdefault("message_bytes", int(size))
    if address:
        listens = "server" in (run.facts.get("role"), run.facts.get("mode"))
        run.facts.setdefault("near_address" if listens else "far_address", address)


_Found = re.Match[str]


def _of_end(reading: Reading[_Run], found: _Found) -> None:
    facts = reading.run.facts
    facts["near_address" if facts.get("role") == "server" else "far_address"] = found["ip"]
    facts["protocol"] = found["protocol"].lower()


def _side(reading: Reading[_Run], found: _Found) -> None:
    reading.run.facts["role"] = "server" if "SERVER" in found[0] else "client"


def _of_run(reading: Reading[_Run], found: _Found) -> None:
    of = {"part": "all" if found["part"] == "Total Run" else "valid"}
    for name, key in (("messages sent", "sent"), ("messages received", "got")):
        reading.add(name, int(found[key]), "messages", "total", of)
    reading.add("run time", found["took"], "s", "", of)


def _of_mean(reading: Reading[_Run], found: _Found) -> None:
    run = reading.run
    run.kind = "round trip" if found["kind"] == "rtt" else "latency"
    run.mean_line = reading.line.number
    for statistic in ("mean", "sd"):
        _add(reading, found[statistic], statistic)
    for aside in _ASIDE.finditer(found.string, found.end()):
        reading.show(aside["name"], aside["us"], "us")
    variation = _VARIATION.search(found.string, found.end())
    interval = _INTERVAL.search(found.string, found.end())
    if variation and interval:
        numbers = [reading.number(text) for text in (*variation.groups(), *interval.groups())]
        if None not in numbers:
            names = ("variation", "interval_from_us", "interval_to_us")
            run.facts |= dict(zip(names, numbers, strict=True))


def _of_summary(reading: Reading[_Run], found: _Found) -> None:
    """Only where it is not that of the line above it."""
    again = {"said_again": True} if reading.run.means else {}
    reading.run.kind = found["kind"].lower()
    _add(reading, found["us"], "mean", again)


def _of_server(reading: Reading[_Run], found: _Found) -> None:
    """Each may answer each message."""
    facts = reading.run.facts
    facts["servers"] = max(facts.get("servers", 1), int(found[1]) + 1)


def _add(
    reading: Reading[_Run], text: str, statistic: str, of: Mapping[str, Any] | None = None
) -> None:
    if reading.add(reading.run.kind, text, "us", statistic, of) and statistic == "mean":
        reading.run.means.add(reading.run.results[-1].value)


def _of_lost(reading: Reading[_Run], found: _Found) -> None:
    for kind, text in zip(("dropped", "duplicated", "out-of-order"), found.groups(), strict=True):
        reading.add(f"{kind} messages", int(text), "messages", "total")


def _of_extreme(reading: Reading[_Run], found: _Found) -> None:
    _add(reading, found["us"], found["which"].lower())


def _of_percentile(reading: Reading[_Run], found: _Found) -> None:
    reading.run.has_percentiles = True
    which = reading.number(found["which"])
    if which is not None:
        _add(reading, found["us"], "median" if which == 50 else f"p{which:g}")


def _of_sent(reading: Reading[_Run], found: _Found) -> None:
    reading.run.facts.setdefault("mode", "throughput")
    reading.add("messages", int(found[1]), "messages", "total", {"end": "sender"})
    reading.add("run time", found[2], "s", "", {"elapsed_error_s": half_digit(found[2])})


def _of_rate(reading: Reading[_Run], found: _Found) -> None:
    for unit, text in zip(("messages", "packets"), found.groups(), strict=True):
        if text:
            reading.add(f"{unit[:-1]} rate", int(text), f"{unit}/s", "total", {"end": "sender"})


def _of_width(reading: Reading[_Run], found: _Found) -> None:
    """Its MBps and Mbps are of 2^20: messages of 1400 bytes at 78246 per second are 104.47. The
    GBps of --giga-size, of 3 decimals, are 1000 of them; those of --increase_output_precision, of
    9, are MBps that are only called so (both seen with version 3.7)."""
    giga = found[2] == "G" and decimals(found[1]) < _PRECISE
    for text, base in ((found[1], "B/s"), (found[3], "bit/s")):
        value = reading.number(text)
        if value is not None:
            value, prefix = (round(value * 1000 / 1024, 6), "Gi") if giga else (value, "Mi")
            of: dict[str, Any] = {"end": "sender"}
            if base == "bit/s" and not giga:  # whose digits are too few
                of["said_again"] = True
            reading.add("throughput", value, f"{prefix}{base}", "total", of)
    note = "sockperf's MBps and Mbps are 2^20 bytes and bits"
    if giga:
        note = "sockperf's GBps and Gbps are 1000 times 2^20 bytes and bits"
    elif found[2] == "G":
        note = "what sockperf calls GBps and Gbps with so many digits are MBps and Mbps, of 2^20"
    reading.run.notes.append(f"line {reading.line.number}: {note}")


def _of_size(reading: Reading[_Run], found: _Found) -> None:
    """Behind its own size stands the one that it advises, in a line of its own where mails wrap."""
    used, option, variable = found.groups()
    if option:
        reading.run.facts.setdefault("message_bytes", int(option))
    else:
        reading.run.facts["message_bytes"] = int(used or variable)


def _of_handled(reading: Reading[_Run], found: _Found) -> None:
    reading.run.facts["role"] = "server"
    reading.add("messages", int(found[1]), "messages", "total", {"end": "receiver"})


def _of_observations(reading: Reading[_Run], found: _Found) -> None:
    reading.run.facts["repetitions"] = int(found[1])
    if (each := reading.number(found[2])) is not None:
        reading.run.facts["per_cent_of_repetitions"] = each


def _of_error(reading: Reading[_Run], found: _Found) -> None:
    reading.run.notes.append(f"line {reading.line.number}: sockperf says: {found[1]}")


_TAKEN: tuple[tuple[re.Pattern[str], Callable[[Reading[_Run], _Found], None]], ...] = (
    *((_SIDE, _side), (_END, _of_end), (_RUN, _of_run), (_SERVER, _of_server), (_MEAN, _of_mean)),
    *((_LOST, _of_lost), (_SUMMARY, _of_summary), (_OBSERVATIONS, _of_observations)),
    *((_EXTREME, _of_extreme), (_PERCENTILE, _of_percentile), (_SENT, _of_sent), (_SIZE, _of_size)),
    *((_RATE, _of_rate), (_WIDTH, _of_width), (_HANDLED, _of_handled), (_ERROR, _of_error)),
)
_READER = LineReader(TOOL, _Run, _line, clean=str.rstrip)
