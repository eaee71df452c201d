"""fping: one host or many in turn, sums, times of -C, the whole of -s, and JSON."""

from __future__ import annotations

import re
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common import ping_runs
from benchbook.explain.readers.common.json_values import object_at
from benchbook.explain.readers.common.ping_runs import HOSTS, Run, begun, opened

TOOL = ping_runs.TOOL
# People put such a line into a sentence, in quotation marks.
_SUMS = late(
    r"(?<![^\s\"'`])(?P<host>[^\s\"'`]+)\s*: ?xmt/rcv/%loss(?:/outage\(ms\))? = "
    r"(?P<sent>\d+)/(?P<got>\d+)/(?P<lost>\d+)%(?:/(?P<outage>\d{1,9}))?"
    r"(?:, ?min/avg/max = (?P<values>\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?){2}))?"
)
_ALIVE = late(r"^\s*(?P<host>\S+)(?: \(\S+\))? is alive \((?P<time>\d+(?:\.\d+)?) ms\)")
# All times of a host, of -C; only where somebody says fping.
_TIMES = late(r"^\s*(?P<host>\S+)\s*: (?P<times>(?:-|\d+(?:\.\d+)?)(?: (?:-|\d+(?:\.\d+)?))+)$")
_REPLY = late(
    r"^\s*(?P<host>\S+)\s*: \[(?P<number>\d+)\], (?P<size>\d+) bytes, (?P<time>\d+(?:\.\d+)?) ms"
)
_COUNTED = late(
    r"^\s*(?P<count>\d+) (?P<what>targets|alive|unreachable|ICMP Echos sent"
    r"|ICMP Echo Replies received)$"
)
_SPREAD = late(
    r"^\s*(?P<value>\d+(?:\.\d+)?) (?:ms \((?P<which>min|avg|max) round trip time\)"
    r"|sec \(elapsed real time\))"
)
_COUNTS = {
    "targets": ("targets", "1"),
    "alive": ("targets alive", "1"),
    "unreachable": ("targets unreachable", "1"),
    "ICMP Echos sent": ("packets sent", "packets"),
    "ICMP Echo Replies received": ("packets received", "packets"),
}
_OBJECTS = ("resp", "summary", "intSum", "vSum")


def read(log: Log) -> list[Report]:
    """One report for each host, of -e for each answer."""
    reports = [*ping_runs.read_by(log, _TAKEN, _ONLY_WITH), *_of_json(log)]
    return sorted(reports, key=lambda report: report.line)


def _of_json(log: Log) -> list[Report]:
    """What -J prints: an object of one key in each line."""
    runs: list[Run] = []
    for document in log.documents:
        name = next(iter(document.value), "") if len(object_at(document.value)) == 1 else ""
        own = object_at(document.value, name) if name in _OBJECTS else {}
        if isinstance(own.get("host"), str):
            _object(runs, Line(document.number, ""), own)
    return [Report(TOOL, run.results, run.line, "", run.facts) for run in runs if run.results]


def _object(runs: list[Run], line: Line, own: dict[str, Any]) -> None:
    """A reply, the sums of a host, or all of its times, where it had no replies before."""
    run = _of_host(runs, line, own["host"])
    times = [own.get("rtt")]
    if isinstance(own.get("values"), list):
        times = [] if run.replies else own["values"]
        run.ended = True
    for time in times:
        if is_number(time):
            run.add(float(time), "ms", line)
    sent, got, lost = (own.get(name) for name in ("xmt", "rcv", "loss"))
    if is_number(sent) and is_number(got):
        run.add_counts(round(sent), round(got), line)
    if is_number(lost):
        run.add_loss(lost, line.number)
    for statistic, item in (("min", "rttMin"), ("mean", "rttAvg"), ("max", "rttMax")):
        if "xmt" in own and is_number(own.get(item)):
            run.add_statistic(statistic, float(own[item]), "ms", line)


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
    if found["outage"]:
        run.add_total("outage", int(found["outage"]), "ms", line.number)
    for name, part in zip(("min", "mean", "max"), (found["values"] or "").split("/"), strict=False):
        if part:
            run.add_statistic(name, float(part), "ms", line)


def _reply(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    run = _of_host(runs, line, found["host"])
    if found["number"] == "0" and not run.replies:
        run.marks["head"] = line.number
    run.add(float(found["time"]), "ms", line)


def _times(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    """Of a host whose replies are not in lines of their own."""
    host = found["host"]
    for run in runs[-HOSTS:]:
        run.ended |= run.facts.get("far_host") == host
    if not any(run.replies and run.facts.get("far_host") == host for run in runs[-HOSTS:]):
        _all_of(runs, line, host, found["times"].split())


def _alive(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    """One exchange, and nothing else."""
    _all_of(runs, line, found["host"], [found["time"]])


def _all_of(runs: list[Run], line: Line, host: str, times: list[str]) -> None:
    """A run that is printed on one line."""
    run = _named(begun(runs, line), host)
    run.ended = True
    for time in times:
        if time != "-":
            run.add(float(time), "ms", line)


def _whole(runs: list[Run], line: Line) -> Run:
    """What -s tells of all hosts together, in a block of its own."""
    if not runs or line.number - runs[-1].marks.get("whole", -9) > _NEAR:
        begun(runs, line)
    runs[-1].ended = True
    runs[-1].marks["whole"] = line.number
    return runs[-1]


def _counted(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    name, unit = _COUNTS[found["what"]]
    _whole(runs, line).add_total(name, float(found["count"]), unit, line.number)


def _spread(runs: list[Run], line: Line, found: re.Match[str]) -> None:
    run, value = _whole(runs, line), float(found["value"])
    if found["which"]:
        statistic = "mean" if found["which"] == "avg" else found["which"]
        run.add_statistic(statistic, value, "ms", line)
    else:
        run.results.append(Result("run time", value, "s", line.number))


_NEAR = 4  # lines between two that it tells of all
_WHOLE = "ICMP Echos sent"
_ONLY_WITH: dict[ping_runs.Takes, str] = {_times: "fping", _counted: _WHOLE, _spread: _WHOLE}
# Words, of which a line has one in which the pattern is found: change both together.
_TAKEN: tuple[ping_runs.Taken, ...] = (
    (("xmt/rcv",), _SUMS.search, _sums),
    (("is alive (",), _ALIVE.match, _alive),
    ((" : ", ": "), _TIMES.match, _times),
    ((" bytes, ",), _REPLY.match, _reply),
    (("ICMP Echo", "targets", "alive", "unreachable"), _COUNTED.match, _counted),
    (("round trip time)", "elapsed real time)"), _SPREAD.match, _spread),
)
