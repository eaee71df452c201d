"""YCSB and go-ycsb: rate, and latencies of each kind of operation, of the whole run and of its
intervals; operations that failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report, Result
from benchbook.explain.readers.common.command_lines import last_above, option
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import (
    COUNT,
    FAILED,
    NUMBER,
    RATE,
    TIME,
    known,
    whole,
)

TOOL = "ycsb"
_N = r"(?:NaN|\d+(?:\.\d+)?(?:[eE]\d{1,3})?)"
_ROW = late(
    rf"^\[?(?P<kind>[A-Z][A-Z0-9_-]{{2,40}})\], ?(?P<what>\w[^,]{{1,40}}), (?P<value>{_N})$"
)
_RETURN = late(
    r"^\[?(?P<kind>[A-Z][A-Z_-]{2,40})\], ?Return=(?P<code>[\w-]{1,40}), (?P<count>\d+)$"
)
_STATUS = late(
    rf"(?:^|\s)(?P<end>\d{{1,9}}) sec: (?P<count>\d{{1,15}}) operations; (?:(?P<rate>{NUMBER}) "
    r"current ops/sec;)?(?P<rest>.*)$"
)
_OF_STATUS = late(
    rf"\[(?P<kind>[A-Z_-]{{3,40}})(?:: Count=(?P<count>\d+),[^\]]{{0,200}}?\bAvg=(?P<mean>{_N})"
    rf"[^\]]{{0,200}}| AverageLatency\(us\)=(?P<old>{_N}))\]"
)
_GO = late(
    rf"^(?P<kind>[A-Z][A-Z_-]{{2,30}}) +- Takes\(s\): (?P<took>{_N}), "
    rf"Count: (?P<count>\d{{1,15}}), OPS: (?P<rate>{_N}), (?P<rest>Avg\(us\): .*)$"
)
_OF_GO = late(rf"(?P<what>Avg|Min|Max|\d{{2}}(?:\.\d{{1,3}})?th)\(us\): (?P<time>{_N})")
_TIMED = late(
    r"^(?P<what>AverageLatency|MinLatency|MaxLatency|(?P<share>\d{2}(?:\.\d{1,3})?)"
    r"(?:th)?PercentileLatency)\((?P<unit>us|ms)\)$"
)
_STATISTICS = {"AverageLatency": "mean", "MinLatency": "min", "MaxLatency": "max"}
_STATISTICS |= {"Avg": "mean", "Min": "min", "Max": "max"}
_LONGEST = 4000  # characters of a line
_OTHERS = ("CLEANUP", "OVERALL")
_GOOD = ("OK", "0")
_FAILS = "-FAILED"


@dataclass
class _Run(Run):
    """One start."""

    done: dict[str, tuple[float, int]] = field(default_factory=dict)
    named: set[tuple[str, str]] = field(default_factory=set)
    intervals: int = 0
    last: dict[str, list[Result]] = field(default_factory=dict)  # of go-ycsb, by kind

    def finish(self) -> bool:
        """Count all operations; of those that are printed several times the last count."""
        self.results += [own for several in self.last.values() for own in several]
        self._count_failed()
        good = {kind: own for kind, own in self.done.items() if not kind.endswith(_FAILS)}
        count = sum(own for own, _ in good.values())
        failed = [own for own in self.results if own.name == FAILED]
        every = count + sum(own.value for own in failed) if count else 0.0
        if count and self._is_all(count):
            every = count  # the failed ones are in it
        known = not any(own.name == COUNT for own in self.results)
        if good and known and (not count or self._is_all(every)):
            line = next(iter(good.values()))[1]
            self.results.append(Result(COUNT, every, "operations", line, "total"))
            if failed:
                self.facts["failed_are_counted"] = True
        return bool(self.results)

    def _count_failed(self) -> None:
        """Kinds that failed, where no line says what they returned."""
        said = [str(own.of.get("failure")) for own in self.results if own.name == FAILED]
        for kind, (count, line) in self.done.items():
            if kind.endswith(_FAILS) and count:
                known = f"{kind.removesuffix(_FAILS)} returned "
                if not any(own.startswith((known, f"{kind} ")) for own in said):
                    of = {"failure": kind}
                    self.results.append(Result(FAILED, count, "operations", line, "", of))
                    good = self.done.get(kind.removesuffix(_FAILS), (None, 0))[0]
                    if good == 0:
                        self.facts["none_succeeded"] = kind.removesuffix(_FAILS)

    def _is_all(self, count: float) -> bool:
        """Whether these are all operations: of some kinds the lines may be missing."""
        rate = next((own.value for own in self.results if own.name == RATE and not own.of), 0.0)
        made = rate * self.facts.get("elapsed_s", 0.0)
        return made > 0 and abs(count / made - 1) <= ALL


ALL = 0.02  # how far all operations may be from rate times time


def read(log: Log) -> list[Report]:
    """One report for each start."""
    started = [own for own in log.commands if any(word.endswith("ycsb") for word in own.words)]
    return LineReader(TOOL, _Run, partial(_line, started), lines=_lines)(log)


def _lines(log: Log) -> list[Line]:
    """Lines that may be of such a tool, which are longer than those of tables."""
    several = log.having("],", "] | ", " operations; ", "Takes(s):")
    return [line for line in several if len(line.text) <= _LONGEST]


def _line(commands: Sequence[Command], reading: Reading[_Run], text: str) -> None:
    text = text.replace(" | ", ", ") if text.startswith("[") else text  # in a table of Markdown
    if "]," in text:
        if found := _RETURN.match(text):
            _failed(reading, found)
        elif found := _ROW.match(text):
            _row(commands, reading, found)
    elif " operations; " in text and (found := _STATUS.search(text)):
        _status(commands, reading, found)
    elif "Takes(s):" in text and (found := _GO.match(text)):
        _go(commands, reading, found)


def _begun(commands: Sequence[Command], reading: Reading[_Run]) -> _Run:
    run = reading.run
    if not run.results and not run.line:
        run.line = reading.line.number
        run.facts |= _asked(commands, reading)
    return run


def _failed(reading: Reading[_Run], found: re.Match[str]) -> None:
    """Operations by what they returned."""
    if found["code"] not in _GOOD and not found["kind"].startswith(_OTHERS) and int(found["count"]):
        of: dict[str, Any] = {"failure": f"{found['kind']} returned {found['code']}"}
        reading.add(FAILED, float(found["count"]), "operations", "", of)


def _row(commands: Sequence[Command], reading: Reading[_Run], found: re.Match[str]) -> None:
    kind, what, value = found["kind"], found["what"], found["value"]
    run = _begun(commands, reading)
    if kind == "OVERALL":
        if what.startswith("RunTime"):
            if "elapsed_s" in run.facts:
                run = reading.begin(facts=_asked(commands, reading))
            run.facts["elapsed_s"] = float(value) / 1e3
        elif what.startswith("Throughput"):
            reading.add(RATE, value, "operations/s", "mean")
        return
    if kind.startswith("TOTAL_GC") or kind in _OTHERS or value == "NaN":
        return
    if what == "Operations":
        is_first = kind not in run.done
        run.done.setdefault(kind, (float(value), reading.line.number))
        if float(value) and is_first:
            reading.add(f"{kind.lower()} operations", float(value), "operations", "total")
        return
    timed = _TIMED.match(what)
    count = run.done.get(kind, (1.0, 0))[0]
    if timed and count and (kind, what) not in run.named:
        run.named.add((kind, what))
        share = timed["share"]
        statistic = f"p{float(share):g}" if share else _STATISTICS[timed["what"]]
        reading.add(f"{kind.lower()} {TIME}", float(value), timed["unit"], statistic)


def _status(commands: Sequence[Command], reading: Reading[_Run], found: re.Match[str]) -> None:
    """A line that is printed while it runs."""
    run = _begun(commands, reading)
    of: dict[str, Any] = {"interval": run.intervals, "interval_end_s": float(found["end"])}
    run.intervals += 1
    if found["rate"]:
        reading.add(RATE, found["rate"], "operations/s", "interval", of)
    for part in _OF_STATUS.finditer(found["rest"][:4000]):
        kind, mean = part["kind"], part["mean"] or part["old"]
        if kind.startswith(_OTHERS) or mean == "NaN":
            continue
        reading.add(f"{kind.lower()} {TIME}", float(mean), "us", "interval", of)
        if kind.endswith(_FAILS):
            run.facts.setdefault("failing_kind", kind)
            run.facts.setdefault("failing_line", reading.line.number)
            if part["count"]:
                run.facts["failing_count"] = run.facts.get("failing_count", 0) + int(part["count"])


def _go(commands: Sequence[Command], reading: Reading[_Run], found: re.Match[str]) -> None:
    """A line of go-ycsb: all of one kind so far; the last one counts."""
    run, kind = _begun(commands, reading), found["kind"]
    if kind in _OTHERS:
        return
    line, of = reading.line.number, dict[str, Any]()
    count, rate = float(found["count"]), float(found["rate"])
    if kind.endswith(("_ERROR", _FAILS)):
        of = {"failure": kind}
        run.last[kind] = [Result(FAILED, count, "operations", line, "", of)]
        return
    if kind == "TOTAL":
        run.last[kind] = [
            Result(RATE, rate, "operations/s", line, "mean", of),
            Result(COUNT, count, "operations", line, "total", of),
        ]
        run.facts["elapsed_s"] = float(found["took"])
        return
    several = [Result(f"{kind.lower()} rate", rate, "operations/s", line, "mean", of)]
    for part in _OF_GO.finditer(found["rest"]):
        what = part["what"]
        statistic = _STATISTICS.get(what) or f"p{float(what.removesuffix('th')):g}"
        name = f"{kind.lower()} {TIME}"
        several.append(Result(name, float(part["time"]), "us", line, statistic, of))
    run.last[kind] = several


def _asked(commands: Sequence[Command], reading: Reading[_Run]) -> dict[str, Any]:
    command = last_above(commands, reading.line.number)
    if command is None:
        return {}
    pace = whole(option(command, "-target", "--target"))
    facts = known(
        concurrency=whole(option(command, "-threads", "--threads")),
        asked_per_s=pace or None,
        is_paced=bool(pace) or None,
    )
    return facts | ({"asked_in_line": command.number} if pace else {})
