"""Tables of figures with units that no reader knows: in Markdown, and as CSV.

They are read where nothing else was recognised. A column counts if its head or its cells name a
unit; what has none is a label of the row.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST

TOOL = "table"
LOOKS_FOR = "any table of Markdown or CSV whose heads or cells have units: `| n | time (ms) |`"
_UNITS = {
    "ns": "ns", "us": "us", "µs": "us", "usec": "us", "ms": "ms", "msec": "ms", "s": "s",
    "sec": "s", "secs": "s", "seconds": "s", "%": "%",
    "B/s": "B/s", "kB/s": "kB/s", "KB/s": "kB/s", "MB/s": "MB/s", "GB/s": "GB/s", "TB/s": "TB/s",
    "KiB/s": "KiB/s", "MiB/s": "MiB/s", "GiB/s": "GiB/s", "kbit/s": "kbit/s", "Mbit/s": "Mbit/s",
    "Gbit/s": "Gbit/s", "Mb/s": "Mbit/s", "Gb/s": "Gbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s",
    "MBps": "MB/s", "GBps": "GB/s", "MB/sec": "MB/s", "GB/sec": "GB/s", "ns/op": "ns",
    "us/op": "us", "ms/op": "ms", "ops/s": "operations/s", "op/s": "operations/s",
    "OP/s": "operations/s", "TPS": "transactions/s", "tps": "transactions/s",
    "ops/sec": "operations/s", "IOPS": "operations/s", "req/s": "requests/s",
    "GFLOPS": "Gflop/s", "GFLOP/s": "Gflop/s", "GFlops": "Gflop/s", "MFLOPS": "Mflop/s",
    "TFLOPS": "Tflop/s", "TFLOP/s": "Tflop/s", "tok/s": "tokens/s", "tokens/s": "tokens/s",
    "tokens/sec": "tokens/s", "t/s": "tokens/s", "q/s": "queries/s", "QPS": "queries/s",
    "qps": "queries/s", "RPS": "requests/s", "rps": "requests/s", "req/sec": "requests/s",
    "fps": "frames/s", "FPS": "frames/s", "it/s": "iterations/s", "rows/s": "rows/s",
}  # fmt: skip
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
# Of a head that ends with it behind a space: none that is a word, or a letter alone.
_SURE = "|".join(
    re.escape(unit)
    for unit in sorted(_UNITS, key=len, reverse=True)
    if ("/" in unit and len(unit) > 3) or unit in ("IOPS", "ms", "us", "µs", "ns", "Gbps", "Mbps")
)
_IN_HEAD = late(
    rf"[(\[] ?(?P<unit>{_UNIT}) ?[)\]]|(?:^|, ?| in |_)(?P<bare>{_UNIT})$| (?P<spaced>{_SURE})$"
)
_NUMBER = r"[-+]?\d[\d.,']*(?:[eE][-+]?\d+)?"
_CELL = late(
    rf"(?P<value>{_NUMBER})(?: ?(?:±|\+/-|\+-) ?(?P<error>\d[\d.,]*) ?(?P<percent>%)?)?"
    rf"(?: ?(?P<unit>{_UNIT}|[x×]))?(?: ?\([^()]{{0,40}}\))?"
)
# A change in per cent, with its interval where it has one; whatever sign stands before it.
_SIGNED = r"[+\u2212-]?\d+(?:\.\d+)?"
_CHANGE = late(
    rf"(?:[^\w\s+\u2212-]{{1,2}} ?)?(?P<value>{_SIGNED}) ?%"
    rf"(?: ?[\[(](?P<low>{_SIGNED}) ?%?, ?(?P<high>{_SIGNED}) ?%?[\])])?"
)
_NOISE = late(r"(?:±|\+/-|\+-) ?(?P<value>\d+(?:\.\d+)?) ?%")
_TIMES = late(r"(?P<value>\d+(?:\.\d+)?) ?[x×](?: (?:faster|slower))?(?: ?\([^()]{0,40}\))?")
_COMPARING = ("change", "ratio")  # which alone make no table of figures
# Columns that count what a figure is of, by their heads.
_COUNTED = {
    "threads": "threads", "thread": "threads", "nthreads": "threads", "#threads": "threads",
    "num_threads": "threads", "omp_num_threads": "threads", "cores": "threads", "cpus": "threads",
    "processes": "processes", "procs": "processes", "ranks": "processes", "np": "processes",
    "nprocs": "processes", "gpus": "devices", "devices": "devices", "streams": "streams",
    "connections": "streams", "queue depth": "queue_depth", "qd": "queue_depth",
    "iodepth": "queue_depth", "io depth": "queue_depth", "depth": "queue_depth",
    "clients": "concurrency", "users": "concurrency", "concurrency": "concurrency",
    "vus": "concurrency",
}  # fmt: skip
_DASHES = late(r"[-=\u2500]{10,400}")
# Copies between host and device, by what heads and labels call them.
_HOST, _CARD, _TO = r"(?:H(?:ost)?|CPU)", r"(?:D(?:ev(?:ice)?)?|GPU)", r" ?(?:2|to|->|→) ?"
_WAYS = {
    "host to device": late(rf"(?i)\b(?:{_HOST}{_TO}{_CARD}|HtoD)\b"),
    "device to host": late(rf"(?i)\b(?:{_CARD}{_TO}{_HOST}|DtoH)\b"),
    "device to device": late(rf"(?i)\b(?:{_CARD}{_TO}{_CARD}|DtoD)\b"),
}
_PINNED = late(r"(?i)\b(?:pinned|page-?locked)\b")
_PAGEABLE = late(r"(?i)\b(?:pageable|paged|non-?pinned|unpinned|malloc(?:ed)?)\b")
_SIZED = late(r"(?<![\w.])(?P<count>\d{1,5}(?:\.\d+)?) ?(?P<prefix>[KMG])i?B(?![\w/])")
_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30}
_RULE = late(r"[|:\s-]*-{2,}[|:\s-]*")
_SEPARATORS = (",", ";", "\t")
# Of tables whose heads have no units: what stands above them, as in a summary of lmbench.
_IN_TITLE = late(
    r"\b(?:times?|latenc(?:y|ies)|bandwidths?|rates?)\b.{0,40}\bin "
    r"(?P<unit>nanoseconds|microseconds|milliseconds|seconds|[KMG]i?B/s)\b",
    re.I,
)
_IN_WORDS = {"nanoseconds": "ns", "microseconds": "us", "milliseconds": "ms", "seconds": "s"}
_ARITHMETIC = late(r"(?:intgr|u?int64|float|double) (?:bit|add|mul|div|mod)")
_LEAST_ROWS, _LEAST_COLUMNS, _LONGEST_LABEL = 2, 2, 80


def read(log: Log) -> list[Report]:
    """One report for each table."""
    return [*_markdown(log), *_separated(log)]


def _markdown(log: Log) -> Iterator[Report]:
    """Tables with bars, whose second line is a rule."""
    table: list[tuple[Line, list[str]]] = []
    is_ruled, title = False, ""
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        if len(table) == 1 and not is_ruled and _DASHES.fullmatch(text):
            is_ruled = True  # a rule without bars, as some programs draw it
            continue
        if text.count("|") >= _LEAST_COLUMNS - 1 and len(text) <= LONGEST and text:
            if _RULE.fullmatch(text) and "|" in text:
                table, is_ruled = table[-1:], bool(table)
            else:
                table.append((line, [_bare(cell) for cell in text.strip("|").split("|")]))
            continue
        if is_ruled:
            yield from _report(log, table, title)
        if text:
            titled = _IN_TITLE.search(text) if len(text) <= LONGEST and "in " in text else None
            title = _IN_WORDS.get(titled["unit"].lower(), titled["unit"]) if titled else ""
        table, is_ruled = [], False


def _bare(cell: str) -> str:
    return cell.strip().strip("*`_").strip()


def _separated(log: Log) -> Iterator[Report]:
    """Lines that are parted alike, below one that names units."""
    table: list[tuple[Line, list[str]]] = []
    separator = ""
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        if table and separator in text:
            cells = next(csv.reader([text], delimiter=separator), [])
            if len(cells) == len(table[0][1]):
                table.append((line, [_bare(cell) for cell in cells]))
                continue
        if table:
            yield from _report(log, table)
        table, separator = [], ""
        for mark in _SEPARATORS if "|" not in text else ():
            cells = [_bare(cell) for cell in text.split(mark)]
            if len(cells) >= _LEAST_COLUMNS and any(_unit_of(cell) for cell in cells):
                table, separator = [(line, cells)], mark
                break


def _unit_of(head: str) -> str:
    found = _IN_HEAD.search(head) if len(head) <= _LONGEST_LABEL else None
    return _UNITS[found["unit"] or found["bare"] or found["spaced"]] if found else ""


def _report(log: Log, table: Sequence[tuple[Line, list[str]]], title: str = "") -> Iterator[Report]:
    """A table with its head; nothing where no column has a unit. `title`: the unit of all columns
    without one, by what stands above."""
    if len(table) <= _LEAST_ROWS:
        return
    (head_line, heads), rows = table[0], table[1:]
    results = list(_by_count(log, heads, rows))
    for line, cells in rows if not results else ():
        label: list[str] = []
        compared: list[Result] = []
        counts: dict[str, int] = {}
        figures: list[tuple[str, str, str, str]] = []
        of_row = _unit_of(cells[0]) if cells else ""  # a row called `wall time (s)`
        for head, cell in zip(heads, cells, strict=False):
            if others := list(_of_comparison(line, head, cell)):
                compared += others
                continue
            found = _CELL.fullmatch(cell)
            unit = (found["unit"] if found else "") or ""
            unit = _UNITS.get(unit, "") or ("" if unit else _unit_of(head))
            if found and not (unit or found["unit"] or head.lower() in _COUNTED):
                unit = _clock_or(title, head)
            name = _name(head)
            if found and not unit and of_row and not found["unit"]:
                unit, name = of_row, f"{_name(cells[0])} {name}"
            if found and unit:
                error = "" if found["percent"] else found["error"] or ""
                figures.append((name, found["value"], error, unit))
            elif (counted := _COUNTED.get(head.lower())) and cell.isdecimal() and len(cell) < 6:
                counts[counted] = int(cell)
                label.append(cell)
            elif cell:
                label.append(cell[:_LONGEST_LABEL])
        of: dict[str, Any] = {"label": " ".join(label)} if label else {}
        of |= counts
        for name, value, error, unit in figures:
            of_copy = _of_copy(name, *label) if unit.endswith("B/s") else {}
            results += _figures(log, line, (name, value, error, unit), {**of, **of_copy})
        results += [replace(result, of={**of, **result.of}) for result in compared]
    if any(result.statistic not in _COMPARING for result in results):
        yield Report(TOOL, results, head_line.number)


def _by_count(
    log: Log, heads: Sequence[str], rows: Sequence[tuple[Line, list[str]]]
) -> Iterator[Result]:
    """The figures of a table whose heads are numbers of threads, clients or requests, and whose
    rows have names with units: `Queue Depth | 1 | 2 | 4`, `AIO (us) | 59.7 | 59.5 | 61.0`."""
    counted = _COUNTED.get(heads[0].lower())
    if not counted or not all(head.isdecimal() and len(head) < 7 for head in heads[1:]):
        return
    for line, cells in rows:
        unit = _unit_of(cells[0]) or _last_word(cells[0])
        for head, cell in zip(heads[1:], cells[1:], strict=False):
            found = _CELL.fullmatch(cell)
            if found and unit and not found["unit"]:
                of = {counted: int(head)}
                yield from _figures(log, line, (_name(cells[0]), found["value"], "", unit), of)


def _last_word(text: str) -> str:
    return _UNITS.get(text.rpartition(" ")[2], "")


def _of_comparison(line: Line, head: str, cell: str) -> Iterator[Result]:
    """A cell that compares others of its row: a change, a ratio, or the noise of both."""
    if found := _NOISE.fullmatch(cell):
        yield Result(_name(head), float(found["value"]), "%", line.number, "noise")
    elif (found := _CHANGE.fullmatch(cell)) and not _unit_of(head):
        of: dict[str, Any] = {}
        ends = [found["low"], found["high"]]
        if all(ends):
            low, high = sorted(float(end.replace("\u2212", "-")) for end in ends)
            of = {"change_low_percent": low, "change_high_percent": high}
        value = float(found["value"].replace("\u2212", "-"))
        yield Result(_name(head), value, "%", line.number, "change", of)
    elif (found := _TIMES.fullmatch(cell)) and not _unit_of(head):
        yield Result(_name(head), float(found["value"]), "1", line.number, "ratio")


def _clock_or(unit: str, head: str) -> str:
    """The unit of a column without one: that of the title, or of a clock."""
    return {"mhz": "MHz", "ghz": "GHz"}.get(head.lower(), unit) if unit else ""


def _name(head: str) -> str:
    return _IN_HEAD.sub("", head).strip(" ,:_-") or head


def _of_copy(*words: str) -> dict[str, Any]:
    """What head and labels say of a copy between host and device: its direction, the kind of the
    host's memory, its size; nothing where they name no direction."""
    text = " ".join(words)
    ways = [way for way, pattern in _WAYS.items() if pattern.search(text)]
    if len(ways) != 1:
        return {}
    of: dict[str, Any] = {"direction": ways[0]}
    pinned, paged = _PINNED.search(text), _PAGEABLE.search(text)
    if "host" in ways[0] and bool(pinned) != bool(paged):
        of["host_memory"] = "pageable" if paged else "pinned"
    sizes = list(_SIZED.finditer(text))
    if len(sizes) == 1:
        of["message_bytes"] = int(float(sizes[0]["count"]) * _SIZES[sizes[0]["prefix"]])
    return of


def _figures(
    log: Log, line: Line, figure: tuple[str, str, str, str], of: dict[str, Any]
) -> Iterator[Result]:
    name, printed, error, unit = figure
    if unit == "ns" and _ARITHMETIC.fullmatch(name):
        of = of | {"arithmetic": name}
    if (value := log.number(printed)) is not None:
        yield Result(name, value, unit, line.number, "mean" if error else "", of)
    if error and (spread := log.number(error)) is not None:
        yield Result(name, spread, unit, line.number, "error", of)
