"""fping: one host or many in turn, sums, and times of -C."""

from __future__ import annotations

import re

from benchbook.importers import Line, Log, Report
from benchbook.logs import echoes
from benchbook.logs.echoes import HOSTS, Run, begun, opened

TOOL = echoes.TOOL
LOOKS_FOR = "fping: `10.0.0.1 : xmt/rcv/%loss = 3/3/0%`, `10.0.0.1 is alive (0.24 ms)`"
_SUMS = re.compile(
    r"^\s*(?P<host>\S+)\s*: xmt/rcv/%loss = (?P<sent>\d+)/(?P<got>\d+)/(?P<lost>\d+)%"
    r"(?:, min/avg/max = (?P<values>\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?){2}))?"
)
_ALIVE = re.compile(r"^\s*(?P<host>\S+)(?: \(\S+\))? is alive \((?P<time>\d+(?:\.\d+)?) ms\)")
# All times of a host, of -C; only where somebody says fping.
_TIMES = re.compile(
    r"^\s*(?P<host>\S+)\s*: (?P<times>(?:-|\d+(?:\.\d+)?)(?: (?:-|\d+(?:\.\d+)?))+)$"
)
_REPLY = re.compile(
    r"^\s*(?P<host>\S+)\s*: \[(?P<number>\d+)\], (?P<size>\d+) bytes, (?P<time>\d+(?:\.\d+)?) ms"
)
WORDS = ("xmt/rcv", "is alive (", "fping", " bytes, ")
SIGNS = re.compile(r"xmt/rcv|is alive \(|fping|: \[\d+\], \d+ bytes, \d")


def read(log: Log) -> list[Report]:
    """One report for each host, of -e for each answer."""
    return echoes.read_by(log, _TAKEN, _ONLY_WITH)


def _of_host(runs: list[Run], line: Line, host: str) -> Run:
    """It asks many hosts in turn: the run of this one among the last ones."""
    return opened(runs, "far_host", host) or _named(begun(runs, line), host)


def _named(run: Run, host: str) -> Run:
    run.facts |= {"far_host": host, "far_address": host}
    return run


def _sums(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    run = _of_host(runs, line, found["host"])
    run.add_counts(int(found["sent"]), int(found["got"]), line)
    run.add_loss(int(found["lost"]), line.number)
    for name, part in zip(("min", "mean", "max"), (found["values"] or "").split("/"), strict=False):
        if part:
            run.add_statistic(name, float(part), "ms", line)


def _reply(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    _of_host(runs, line, found["host"]).add(float(found["time"]), "ms", line)


def _times(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    """Of a host whose replies are not in lines of their own."""
    host = found["host"]
    if any(run.replies and run.facts.get("far_host") == host for run in runs[-HOSTS:]):
        return
    run = _named(begun(runs, line), host)
    run.ended = True
    for time in found["times"].split():
        if time != "-":
            run.add(float(time), "ms", line)


def _alive(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    """One exchange, and nothing else."""
    run = _named(begun(runs, line), found["host"])
    run.ended = True
    run.add(float(found["time"]), "ms", line)


_ONLY_WITH: dict[echoes.Takes, str] = {_times: "fping"}
# Words, of which a line has one in which the pattern is found: change both together.
_TAKEN: tuple[echoes.Taken, ...] = (
    (("xmt/rcv",), _SUMS.match, _sums),
    (("is alive (",), _ALIVE.match, _alive),
    ((" : ", ": "), _TIMES.match, _times),
    ((" bytes, ",), _REPLY.match, _reply),
)
