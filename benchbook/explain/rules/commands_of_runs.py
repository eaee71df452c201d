"""not-run, mislabelled, page-cache: what a command line shows about the run below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from benchbook.explain.context.contradicted_commands import Contradiction
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Report
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.disk_limits import fio_options
from benchbook.findings import Finding

_OF_SHELL = late(r"(?<!\S)(?:\|\|?|&&|>>?|2>&1|;)(?!\S)|\$\(|;(?: |$)")
_SYNCED = ("fsync", "fdatasync", "end_fsync", "sync", "fsync_on_close")
_WITHOUT_CACHE = (
    *("null", "rdma", "net", "netsplice", "cpuio", "rbd", "rados", "libiscsi", "nbd", "dfs"),
    *("io_uring_cmd", "xnvme", "libblkio", "libzbc", "sg", "dev-dax", "libpmem", "libcufile"),
    *("http", "nfs", "gfapi", "gfapi_async", "libhdfs", "mtd"),
)
_OUTSIDE = ("external", "spdk")  # engines that others wrote
_READS, _WRITES = late(r"\bread(?:s|ing)?\b", re.I), late(r"\bwrit(?:e|es|ing)\b", re.I)


def of_other_commands(contradictions: Sequence[Contradiction]) -> Iterator[Finding]:
    """Command lines above outputs that contradict them, each kind once."""
    for several in grouped(
        contradictions, lambda own: (own.program, own.option, own.counted)
    ).values():
        own, more = several[0], len(several) - 1 or None
        words = {"line": own.command.number, "program": own.program, "option": own.option}
        words |= {"asked": float(own.asked), "counted": float(own.counted), "what": own.what}
        words |= {"counted_in": own.result.line if own.result else None, "more": more}
        name = "count-of-another-command" if own.option else "form-of-another-program"
        yield finding(name, words, about=[own.result] if own.result else own.report.results[:1])


@rule
def without_shell(reports: list[Report]) -> Iterator[Finding]:
    """Commands that need a shell, timed by hyperfine without one.

    Decided by -N (or --shell=none) in the command line, and by what only a shell understands in the
    timed command: without it a pipe is an argument of the first program.
    """
    timed = [report for report in reports if report.tool == "hyperfine" and _has_none(report)]
    wrong = [
        (report, sign)
        for report in timed
        if report.results and (sign := _OF_SHELL.search(str(report.facts.get("command", ""))))
    ]
    if wrong:
        report, sign = wrong[0]
        command = str(report.facts["command"])
        words = {"first": report.results[0], "sign": sign[0].strip(), "count": len(wrong)}
        words |= {"program": command.split(maxsplit=1)[0], "left": len(wrong) - 1 or None}
        yield finding("without-shell", words, about=[own.results[0] for own, _ in wrong])


def _has_none(report: Report) -> bool:
    words = report.asked
    if "hyperfine" not in words[:8]:
        return False
    return "-N" in words or "--shell=none" in words or option(_asked(report), "-S") == "none"


def _asked(report: Report) -> Command:
    return Command(report.line, report.asked)


@rule
def buffered_requests(report: Report) -> Iterator[Finding]:
    """Requests of fio that go through the page cache: its command does not ask for direct=1.

    Decided by the command line above the run: without --direct=1, reads may come from memory and
    writes end there, unless it asks to flush them.
    """
    options = fio_options(report)
    if not {"rw", "readwrite"} & options.keys() or options.get("buffered") == "0":
        return  # of a job file that the log does not show
    direct, engine = options.get("direct", ""), options.get("ioengine")
    named = str(engine or report.facts.get("engine"))
    if direct not in ("", "0") or named in _WITHOUT_CACHE or named.startswith(_OUTSIDE):
        return
    if not direct and any(word.endswith((".fio", ".ini", ".job")) for word in report.asked):
        return  # which may ask for it, and is not shown
    rates = [rate for rate in report.being("mean") if rate.name.endswith("bandwidth")]
    is_read = any(rate.name.startswith("read") for rate in rates)
    is_synced = any(options.get(name, "0") != "0" for name in _SYNCED)
    if rates and (is_read or not is_synced):
        how = "asked" if direct else "not_asked"
        yield finding("buffered-requests", about=rates, first=rates[0], how=how)


@rule
def another_operation(report: Report) -> Iterator[Finding]:
    """A run below a heading that calls it a read, and that wrote, or the other way round.

    Decided by the heading above the run and the operation that the tool itself prints.
    """
    heading, operation = str(report.facts.get("heading", "")), report.facts.get("operation")
    reads, writes = bool(_READS.search(heading)), bool(_WRITES.search(heading))
    if report.results and reads != writes and operation in ("read", "write"):
        called = "read" if reads else "write"
        if called != operation:
            words = {"called": called, "operation": operation}
            words |= {"heading": heading, "line": report.facts["heading_line"]}
            yield finding("another-operation", words, first=report.results[0])
