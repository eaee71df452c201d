"""seff, reportseff and sacct: what jobs of Slurm used of the cores and memory that they had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "slurm"
_LABELLED = late(r"^(?P<name>[A-Z][A-Za-z -]{3,20}): +(?P<value>\S.{0,80})$")
_TIME = late(
    r"(?:(?P<days>\d{1,5})-)?(?:(?P<hours>\d{1,4}):)?(?P<minutes>\d{1,4}):(?P<seconds>\d\d(?:\.\d+)?)"
)
_SHARE = late(r"(?P<share>\d{1,6}(?:\.\d+)?)%(?: of (?P<of>\S.{0,60}))?")
_SIZE = late(r"(?P<value>\d{1,12}(?:\.\d+)?) ?(?P<unit>[KMGT])(?:i?B|[nc])?")
_SIZE_UNITS = {"K": "KiB", "M": "MiB", "G": "GiB", "T": "TiB"}
_JOB = late(r"\d{1,12}(?:_\d{1,9})?(?:\.\w{1,20})?")
_STATE = late(r"[A-Z]{4,20}(?:_[A-Z_]{1,20})?")
_REPORT_HEAD = late(r"^JobID\s+State\s+Elapsed\s+.*\bCPUEff\b")
_REPORT_ROW = late(
    rf"^(?P<job>{_JOB.pattern})\s+(?P<state>{_STATE.pattern})\s+(?P<elapsed>{_TIME.pattern})\s+"
    r"(?P<time>\d[\d.]{0,8}%|-{3})\s+(?P<cpu>\d[\d.]{0,8}%|-{3})\s+(?P<memory>\d[\d.]{0,8}%|-{3})$"
)
_DASHES, _RULE = late(r"-+"), late(r"^-{3,}(?: +-+)+$")
_FORMAT = late(r"(?:-o|--format)[ =](?P<names>\w+(?:%-?\d+)?(?:,\w+(?:%-?\d+)?)+)")
_KNOWN = frozenset(
    {"jobid", "jobname", "state", "elapsed", "totalcpu", "alloccpus", "ncpus", "nnodes", "maxrss"}
    | {"reqmem", "exitcode", "partition", "account", "ntasks", "user", "cputime", "comment"}
    | {"allocnodes", "reqcpus", "usercpu", "systemcpu", "start", "end", "submit", "avecpu"}
    | {"averss", "nodelist", "timelimit", "jobidraw", "alloctres", "reqtres", "cputimeraw"}
)
_LEAST_KNOWN = 3
_TIMES = {"elapsed": "elapsed time", "totalcpu": "CPU time"}
_COUNTS = {"alloccpus": "cores", "ncpus": "cores", "nnodes": "nodes"}
_SIZES = {"maxrss": "memory used", "reqmem": "memory asked for"}


@dataclass
class _Run(Run):
    """The jobs of one call; `columns` are those of sacct, `is_parted` whether bars part them."""

    columns: tuple[str, ...] = ()
    is_parted: bool = False
    spans: list[tuple[int, int]] = field(default_factory=list)  # of the columns that blanks part
    labels: dict[str, str] = field(default_factory=dict)


def seconds(text: str) -> float | None:
    """How long `4-23:56:22`, `07:36:03` or `00:24.041` is, in s; None where it is no such time."""
    if (found := _TIME.fullmatch(text)) is None:
        return None
    days, hours = (int(found[name] or 0) for name in ("days", "hours"))
    return 86400 * days + 3600 * hours + 60 * int(found["minutes"]) + float(found["seconds"])


def _line(formats: Mapping[int, tuple[str, ...]], reading: Reading[_Run], text: str) -> None:
    run, padded = reading.run, text
    text = text.strip()
    if run.columns and not run.is_parted and _RULE.match(text):
        run.spans = [found.span() for found in _DASHES.finditer(padded)]
    elif columns := formats.get(reading.line.number):
        run = reading.begin()
        run.columns, run.is_parted = columns, True
    elif found := _LABELLED.match(text):
        _labelled(reading, found["name"], found["value"].strip())
    elif "CPUEff" in text and _REPORT_HEAD.match(text):
        reading.begin()
    elif "%" in text and (found := _REPORT_ROW.match(text)):
        of: dict[str, Any] = {"label": found["job"]}
        reading.show("elapsed time", seconds(found["elapsed"]), "s", of=of)
        for name, what in (("cpu", "CPU efficiency"), ("memory", "memory efficiency")):
            if found[name].endswith("%"):
                reading.show(what, found[name].rstrip("%"), "%", of=of)
    elif columns := _columns(text):
        run = reading.begin() if run.results else run
        run.columns, run.is_parted = columns, "|" in text
        run.line = run.line or reading.line.number
    elif run.columns:
        words = text.split("|") if run.is_parted else text.split()
        if len(run.spans) == len(run.columns):
            words = [padded[begin:end] for begin, end in run.spans]
        _row(reading, [word.strip() for word in words])


def _columns(text: str) -> tuple[str, ...]:
    """The columns of a head of sacct; none where it is not one."""
    words = text.lower().replace("|", " ").split()
    known = [word for word in words if word in _KNOWN]
    is_head = len(known) == len(words) >= _LEAST_KNOWN and "jobid" in words[:2]
    return tuple(words) if is_head else ()


def _labelled(reading: Reading[_Run], name: str, value: str) -> None:
    run = reading.run
    if name == "Job ID":
        run = reading.begin()
        run.labels["job"] = value
    if not run.labels:
        return
    of: dict[str, Any] = {"label": run.labels["job"]}
    share = _SHARE.match(value)
    if name in ("Nodes", "Cores per node", "Cores") and value.split()[0].isdecimal():
        reading.show(name.lower(), value.split()[0], "1", of=of)
    elif name in ("CPU Utilized", "Job Wall-clock time", "Wall-clock time"):
        what = "CPU time" if name == "CPU Utilized" else "elapsed time"
        reading.show(what, seconds(value), "s", of=of)
    elif name == "Memory Utilized" and (size := _SIZE.match(value)):
        reading.show("memory used", size["value"], _SIZE_UNITS[size["unit"]], of=of)
    elif name in ("CPU Efficiency", "Memory Efficiency") and share:
        what = name if name.startswith("CPU") else name.lower()
        reading.show(what.replace("Eff", "eff"), share["share"], "%", of=of)
        if size := _SIZE.match(share["of"] or ""):
            reading.show("memory asked for", size["value"], _SIZE_UNITS[size["unit"]], of=of)
    elif name == "State":
        run.facts["job_state"] = value.split()[0]


def _row(reading: Reading[_Run], words: Sequence[str]) -> None:
    run = reading.run
    if len(words) != len(run.columns) and not (run.is_parted and len(words) > len(run.columns)):
        return
    cells = dict(zip(run.columns, words, strict=False))
    if not _JOB.fullmatch(cells.get("jobid", "")):
        return
    of: dict[str, Any] = {"label": cells["jobid"]}
    for column, cell in cells.items():
        if column in _TIMES and cell:
            reading.show(_TIMES[column], seconds(cell), "s", of=of)
        elif column in _COUNTS and cell.isdecimal():
            reading.show(_COUNTS[column], cell, "1", of=of)
        elif column in _SIZES and (size := _SIZE.fullmatch(cell)):
            reading.show(_SIZES[column], size["value"], _SIZE_UNITS[size["unit"]], of=of)


def read(log: Log) -> list[Report]:
    """One report for each job of seff, and for each call of the others."""
    formats: dict[int, tuple[str, ...]] = {}
    for line in log.having("sacct"):
        is_headless = any(word in line.text.split() for word in ("-n", "--noheader"))
        if is_headless and (found := _FORMAT.search(line.text)):
            names = found["names"].lower().split(",")
            formats[line.number] = tuple(name.partition("%")[0] for name in names)
    reader: LineReader[_Run] = LineReader(
        TOOL, _Run, lambda reading, text: _line(formats, reading, text), clean=_unmarked
    )
    return [report for report in reader(log) if len(report.results) > 1]


def _unmarked(text: str) -> str:
    """A line without the marks that the epilogue of a job has in front of it."""
    return text.lstrip().lstrip("#").strip() if text.lstrip().startswith("#") else text.rstrip()
