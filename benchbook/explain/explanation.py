"""`benchbook explain`: files -> what they say, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchbook.core.number_format import listed, plural
from benchbook.explain import general_readers, readers, sample_detectors
from benchbook.explain.clean.pipeline import log_of, panes_of
from benchbook.explain.context import (
    best_of_runs,
    builds_of_runs,
    claims,
    contradicted_commands,
    cpu_quotas,
    error_messages,
    file_systems,
    headings,
    job_files,
    machine_facts,
    own_errors,
    printed_help,
    process_totals,
    program_names,
    quoted_rates,
    said_above,
    said_links,
    said_rates,
    said_same,
    said_trips,
    same_runs,
    threads_of_commands,
    titles,
    truncated_end,
)
from benchbook.explain.figures.unread_lines import Unread, unread
from benchbook.explain.input_limits import (
    CPU_LIMIT_S,
    MOST_BYTES,
    MOST_LINES,
    STDIN,
    TooLongError,
    content_of,
    cpu_limit,
    uncollected,
)
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.outlines import Runs
from benchbook.explain.readers.common import (
    device_states,
    graphics_rates,
    jmeter_lines,
    kernel_metrics,
    loop_reports,
    model_rates,
    serving_rates,
    torch_reports,
)
from benchbook.explain.readers.common.text import sentences
from benchbook.explain.rules import (
    Ask,
    Machine,
    Statement,
    commands_of_runs,
    machine_states,
    rules,
)
from benchbook.explain.to_json import of_report, plain
from benchbook.findings import Finding

VERSION = 1
NOT_RECOGNISED = 2  # exit code


@dataclass(frozen=True)
class Explained:
    """One file: what all importers read in it, and what rules and detectors say of that.

    `trouble`: why there is nothing, in one sentence; "" where there is something."""

    file: str
    reports: list[Report] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    trouble: str = ""
    content: bytes = field(default=b"", repr=False, compare=False)

    @property
    def called(self) -> str:
        """What people call the file."""
        return "standard input" if self.file == STDIN else self.file

    def record(self) -> dict[str, Any]:
        """As --json prints it: `tool` is None where nothing was recognised."""
        record: dict[str, Any] = plain(self.raw_record())
        return record

    def raw_record(self) -> dict[str, Any]:
        """The record before values that JSON cannot hold become null or words."""
        reports, tools = self.reports, tools_of(self.reports)
        return {
            "version": VERSION,
            "file": self.file,
            "tool": tools[0] if tools else None,
            "tools": tools,
            "results": [result for report in reports for result in of_report(report)],
            "findings": [finding.record(", ".join(tools)) for finding in self.findings],
            "asks": [asdict(ask) for ask in self.asks],
            "notes": self.notes,
            "unread": [
                {"line": own.line.number, "text": own.line.text, "more": own.more}
                for own in self.unread
            ],
            **({"error": self.trouble} if self.trouble else {}),
        }


def of_file(file: Path, machine: Machine) -> Explained:
    """One file or standard input; what cannot be read is told, never raised."""
    name = str(file)
    called = "standard input" if name == STDIN else name if name.isprintable() else repr(name)
    try:
        content = content_of(file)
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        return Explained(name, trouble=f"{called} cannot be read: {why}")
    except ValueError:  # a name with a NUL in it
        return Explained(name, trouble=f"{called} cannot be read: its name is none")
    if len(content) > MOST_BYTES:
        trouble = (
            f"{called} is longer than {MOST_BYTES >> 20} MiB, which is more than is read: cut the "
            "lines of one benchmark out of it"
        )
        return Explained(name, trouble=trouble)
    if (lines := content.count(b"\n")) > MOST_LINES:
        trouble = (
            f"{called} has {lines:,} lines, and {MOST_LINES:,} is the most that is read: cut the "
            "lines of one benchmark out of it"
        )
        return Explained(name, trouble=trouble)
    if not content.strip(b"\x00 \t\r\n"):
        return Explained(name, trouble=f"{called} is empty: there is nothing to explain")
    try:
        with uncollected(), cpu_limit():
            return of_content(name, content, machine)
    except TooLongError:
        trouble = f"{called} takes more than {CPU_LIMIT_S:g} s to read"
    except MemoryError:
        trouble = f"{called} takes more memory than this process may use (ulimit -v)"
    return Explained(name, trouble=f"{trouble}: cut the lines of one benchmark out of it")


def of_content(name: str, content: bytes, machine: Machine) -> Explained:
    """What the content of a file says."""
    notes: list[str] = []
    log = log_of(content)
    parts = [(log, read(log, notes))]
    of_panes: list[str] = []
    apart = [(pane, read(pane, of_panes)) for pane in panes_of(content)]
    if _results(apart) >= max(1, _results(parts)):
        parts, notes = apart, of_panes
    contradicted: list[Finding] = []
    with _guarded("comparison of commands with counts", notes):
        parts = list(_without_contradicted(parts, contradicted))
    reports = sorted((report for _, own in parts for report in own), key=_line)
    messages = [message for log_part, _ in parts for message in error_messages.messages(log_part)]
    failures = [message for message in messages if not message.entry.is_note]
    if not reports:
        with _guarded("reading of states of devices", notes):
            parts = [(log_part, device_states.read(log_part)) for log_part, _ in parts]
        reports = sorted((report for _, own in parts for report in own), key=_line)
    states = [state for log_part, _ in parts for state in machine_states.states(log_part)]
    if not reports and states:
        reports = [state.report for state in states]
        parts = [(log, reports)]
    if not reports:
        # What a shell or a kernel says is of the program that the others name.
        named = [message for message in failures if message.entry.tool not in ("shell", "kernel")]
        reports = [message.report for message in (named or failures)[:1]]
    if not reports:
        with _guarded("reading of figures in text", notes):
            parts = [(log_part, sentences.read(log_part)) for log_part, _ in parts]
        reports = sorted((report for _, own in parts for report in own), key=_line)
    if not reports:
        own_messages = own_errors.own_errors(log) or printed_help.printed_help(log)
        messages += own_messages
        reports = [message.report for message in own_messages]
    if not reports:
        called = "standard input" if name == STDIN else name if name.isprintable() else repr(name)
        return Explained(name, trouble=_unknown(called, log), notes=notes)
    for log_part, own in parts:
        same_runs.tell_commands(log_part.commands, own)
        for telling in (
            truncated_end.drop,
            job_files.tell,
            process_totals.tell,
            builds_of_runs.tell,
            best_of_runs.tell,
            quoted_rates.tell,
            machine_facts.tell,
            file_systems.tell,
            said_trips.tell,
            said_links.tell,
            said_rates.tell,
            said_same.tell,
            cpu_quotas.tell,
            headings.tell,
            titles.tell,
            threads_of_commands.tell,
            claims.tell,
            said_above.tell,
            program_names.tell,
        ):
            with _guarded(f"reading of {telling.__module__}", notes):
                telling(log_part, own)
    statements: list[Statement] = [
        message.note if message.entry.is_note else message.finding for message in messages
    ]
    runs = Runs(reports)
    statements += [state.finding for state in states if state.finding]
    statements += contradicted
    for rule in rules():
        with _guarded(f"rule {rule.name}", notes):
            statements += list(rule.check(runs, machine))
    places = {
        (statement.artefact, where)
        for statement in statements
        if isinstance(statement, Finding)
        for where in statement.where
    }
    with _guarded("shape of samples", notes):
        statements += list(sample_detectors.findings(reports, places))
    findings = [statement for statement in statements if isinstance(statement, Finding)]
    asks = list(dict.fromkeys(each for each in statements if isinstance(each, Ask)))
    notes += [note for report in reports for note in report.notes]
    notes += [statement for statement in statements if isinstance(statement, str)]
    if all(report.tool in general_readers.TOOLS for report in reports):
        notes += own_errors.own_warnings(log, messages)
    elif not findings:
        notes += own_errors.warnings_of_results(log, messages, notes)
    notes[:] = dict.fromkeys(notes)
    if not any(own for _, own in parts):
        parts = [(log, reports)]  # of messages alone
        program_names.tell_failed(log, reports)
    left: list[Unread] = []
    with _guarded("search for lines that were not read", notes):
        said = [*notes, *(finding.explanation for finding in findings)]
        has_failed = bool(failures) or not any(report.results for report in reports)
        left = [
            own
            for log_part, each in parts
            for own in unread(log_part, each, said, has_failed=has_failed)
        ]
    return Explained(name, reports, findings, asks, notes, left, content=content)


def _without_contradicted(
    parts: list[tuple[Log, list[Report]]], findings: list[Finding]
) -> Iterator[tuple[Log, list[Report]]]:
    """Logs with what was read in them, once more where a command is not of the output below it:
    readers take nothing from it then."""
    for log, reports in parts:
        if found := contradicted_commands.contradictions(log, reports):
            findings += commands_of_runs.of_other_commands([own for own in found if own.is_last])
            limited = contradicted_commands.limited(log, found)
            yield limited, read(limited)
        else:
            yield log, reports


def _results(parts: list[tuple[Log, list[Report]]]) -> int:
    return sum(len(report.results) for _, own in parts for report in own)


def _line(report: Report) -> tuple[bool, int]:
    """Its place: what shows the whole machine meanwhile stands behind what was measured."""
    return report.tool in MONITORS, report.line


MONITORS = ("top", "mpstat", "vmstat")
# Of programs that are mostly posted alone; each module reads some of a kind.
_SEVERAL = (
    graphics_rates,
    serving_rates,
    model_rates,
    torch_reports,
    kernel_metrics,
    loop_reports,
    jmeter_lines,
)
OF_SEVERAL = (*_SEVERAL, device_states)  # each reads several tools


def read(log: Log, notes: list[str] | None = None) -> list[Report]:
    """What all importers find in a log, in its order."""
    reports: list[Report] = []
    for name, sign in readers.signs().items():
        if any(map(log.has, sign.words)):
            with _guarded(f"importer {name}", notes):
                reports += readers.importer(name).read(log)
    if not reports:
        for several in _SEVERAL:
            with _guarded(f"reading by {several.__name__.rpartition('.')[2]}", notes):
                reports += several.read(log)
    with _guarded("reading of tables", notes):
        reports += (
            general_readers.read_timed(log, reports)
            if reports
            else general_readers.read_shapes(log)
        )
    with _guarded("reading of titles", notes):
        reports = titles.parted(log, reports)
    return sorted(reports, key=_line)


def explained(name: str, content: bytes, machine: Machine) -> dict[str, Any]:
    """One file as `explain --json` prints it."""
    return of_content(name, content, machine).record()


def looked_for() -> dict[str, str]:
    """What each tool's output is known by; some tools have several importers."""
    signs: dict[str, str] = {}
    for name, sign in readers.signs().items():
        tool = readers.importer(name).TOOL
        signs[tool] = f"{signs[tool]}; {sign.looks_for}" if tool in signs else sign.looks_for
    for several in OF_SEVERAL:
        signs |= several.LOOKS_FOR
    for other in general_readers.EVERY:
        tool, sign = other.TOOL, other.LOOKS_FOR
        signs[tool] = f"{signs[tool]}; {sign}" if tool in signs else sign
    return signs


def tools_of(reports: Iterable[Report]) -> list[str]:
    """The tools of a file, in its order."""
    return list(dict.fromkeys(report.tool for report in reports))


def _unknown(called: str, log: Log) -> str:
    """A refusal of two lines: what the text looks like, and how to see what can be read."""
    lines = sum(bool(line.text.strip()) for line in log.lines)
    names = {name.lower(): name for name in _NAMES}
    found = {names[match.lower()] for match in _NAMED.findall(log.text[:_LOOKED_AT])}
    started = (_program(word) for command in log.commands for word in command.words[:_FEW])
    found |= {program for program in started if program.replace("-", "_") in readers.signs()}
    named = listed(sorted(found))
    looks = (
        f"it names {named}, so this looks like a part of such output that is too short, or like "
        "words about it"
        if found
        else "nothing in it looks like one that is known"
    )
    return (
        f"{called}: no output of a benchmark was recognised in its "
        f"{plural(lines, 'line')} of text; {looks}.\n  `benchbook explain --formats` lists what "
        "can be read; put in more of the output, with its head and its command line."
    )


_FEW = 4  # words of a command in which its program stands


def _program(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").lower()


# What people call the programs, as they write it in a text.
_NAMES = (
    "BabelStream", "bandwidthTest", "clpeak", "fping", "ping", "Google Benchmark", "hyperfine",
    "IMB", "iperf", "iperf3", "likwid-bench", "likwid-perfctr", "lmbench", "lat_mem_rd", "mbw",
    "mlc", "nccl-tests", "netperf", "nvbandwidth", "osu_bw", "osu_latency", "perf stat", "pyperf",
    "sockperf", "STREAM", "sysbench", "tinymembench", "fio", "ib_write_bw", "ib_send_lat",
    "ib_read_bw", "criterion", "BenchmarkDotNet", "JMH", "HPL", "hdparm", "ioping", "NPB", "wrk",
    "ApacheBench", "redis-benchmark", "memtier_benchmark", "pgbench", "qperf", "iozone",
    "CrystalDiskMark", "iostat", "mtr", "rados bench",
)  # fmt: skip
_NAMED = late(rf"(?<![\w-])(?:{'|'.join(_NAMES)})(?![\w-])", re.I)
_LOOKED_AT = 1 << 20  # characters


@contextmanager
def _guarded(what: str, notes: list[str] | None) -> Iterator[None]:
    """A fault of one importer or rule must not keep from a reader what the others say."""
    try:
        yield
    except Exception as error:
        if notes is None:
            raise
        notes.append(f"The {what} failed on this log ({type(error).__name__}): please report.")
