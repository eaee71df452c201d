"""Tables of figures with units that no reader knows: in Markdown, and as CSV.

They are read where nothing else was recognised. A column counts if its head or its cells name a
unit; what has none is a label of the row.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.units import in_base

TOOL = "table"
LOOKS_FOR = "any table of Markdown or CSV whose heads or cells have units: `| n | time (ms) |`"
_UNITS = {
    "ns": "ns", "us": "us", "µs": "us", "usec": "us", "usec/xfer": "us", "ms": "ms", "msec": "ms",
    "s": "s",
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
    "ns/iter": "ns", "us/iter": "us", "µs/iter": "us", "ms/iter": "ms", "ms/t": "ms",
    "ms/token": "ms", "μs": "us", "Mops/s": "Mops/s", "Kops/s": "kops/s", "kops/s": "kops/s",
}  # fmt: skip
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
# Of a head that ends with it behind a space: none that is a word, or a letter alone.
_SURE = "|".join(
    re.escape(unit)
    for unit in sorted(_UNITS, key=len, reverse=True)
    if ("/" in unit and len(unit) > 3)
    or unit in ("IOPS", "t/s", "ms", "us", "µs", "ns", "Gbps", "Mbps")
)
_IN_HEAD = late(
    rf"[(\[] ?(?P<unit>{_UNIT}) ?[)\]]|(?:^|, ?| in |_)(?P<bare>{_UNIT})$| (?P<spaced>{_SURE})$"
    r"|(?<=[Tt]ime|ency|tion)/(?P<after>ns|us|µs|ms|s)$"
)
_NUMBER = r"[-+]?\d[\d.,']*(?:[eE][-+]?\d+)?"
_PLUS = r"(?:±|\+/-|\+-)"
_CELL = late(
    rf"(?P<value>{_NUMBER})(?: ?{_PLUS} ?(?P<error>\d[\d.,]*) ?(?P<percent>%)?)?"
    rf"(?: ?(?P<unit>{_UNIT}|[x×]))?"
    rf"(?: ?\(?{_PLUS} ?(?P<behind>\d[\d.,]*) ?(?P<behind_unit>{_UNIT})?\)?)?"
    rf"(?: ?\([^()]{{0,40}}\))?"
)
# A time in hours, minutes and seconds, as shells print it and as people write it.
_CLOCK = late(
    r"(?:(?P<h>\d{1,4}) ?h(?:ours?)?,? ?)?(?P<m>\d{1,6}) ?m(?:in(?:utes?)?)?,? ?"
    r"(?P<s>\d{1,2}(?:\.\d{1,6})?) ?s(?:ec(?:onds?)?)?"
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
# What a column is of several figures, by a word of its head.
_STATISTIC = late(
    r"(?:^|[\s_(])(?:(?P<min>min(?:imum)?)|(?P<max>max(?:imum)?)|(?P<mean>avg|average|mean)"
    r"|(?P<median>median)|(?P<p>[pP]\d{2}(?:\.\d+)?)"
    r"|(?P<stddev>std\.? ?dev\.?|std|standard deviation|σ))(?:$|[\s_)])",
    re.I,
)
# Rows that are repetitions: their first column counts them, and a last row may be their mean.
_RUNS = late(r"(?:runs?|iterations?|iter|trials?|attempts?|rep(?:etition)?s?|#|n(?:o|r)\.?|)", re.I)
_RUN = late(
    r"(?:(?:run|iteration|trial|attempt|rep(?:etition)?|test) ?)?#?(?P<number>\d{1,4})\.?", re.I
)
_MEAN = late(r"(?:avg|average|mean)\.?", re.I)
_LEAST_RUNS = 3
_PER_OPERATION = late(r"\b[nuµm]?s/(?:op|iter)\b")
_SECTION = late(r"^[#>*\s]*(?P<text>[^`|<>#*\s][^|<>]{0,79}?)[`:*\s]*$")
# Columns that count what a figure is of, by their heads.
_COUNTED = {
    "threads": "threads", "thread": "threads", "nthreads": "threads", "#threads": "threads",
    "num_threads": "threads", "omp_num_threads": "threads", "cores": "threads", "cpus": "threads",
    "processes": "processes", "procs": "processes", "ranks": "processes", "np": "processes",
    "nprocs": "processes", "gpus": "devices", "devices": "devices", "streams": "streams",
    "connections": "streams", "queue depth": "queue_depth", "qd": "queue_depth",
    "iodepth": "queue_depth", "io depth": "queue_depth", "depth": "queue_depth",
    "clients": "concurrency", "users": "concurrency", "concurrency": "concurrency",
    "vus": "concurrency", "runs": "repetitions", "samples": "repetitions",
    "requests": "repetitions", "rounds": "repetitions",
}  # fmt: skip
_SPACES = late(r"\t+| {2,}")
_LEAST_SPACED, _MOST_SPACED = 3, 30
# Heads of the bytes of a message or of a block, and such a cell.
_SIZED = {
    "size": "message_bytes", "bytes": "message_bytes", "#bytes": "message_bytes",
    "message size": "message_bytes", "msg size": "message_bytes", "size (b)": "message_bytes",
    "size (bytes)": "message_bytes", "message size (bytes)": "message_bytes",
    "block size": "block_bytes", "bs": "block_bytes", "blocksize": "block_bytes",
}  # fmt: skip
_SIZE = late(r"(?P<count>\d{1,12}) ?(?P<prefix>[KkMmGg]?)(?:i?B)?")
_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
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
_RULE = late(r"[|:\s-]*-{2,}[|:\s-]*|\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
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


class _Figure(NamedTuple):
    """What a cell says; an error in the unit of the value."""

    name: str
    value: float | None
    error: float | None
    unit: str
    statistic: str


def read(log: Log) -> list[Report]:
    """One report for each table; columns that only spaces part count where nothing else does."""
    return [*_markdown(log), *_separated(log)] or list(_spaced(log))


def _markdown(log: Log) -> Iterator[Report]:
    """Tables with bars, whose second line is a rule."""
    table: list[tuple[Line, list[str]]] = []
    is_ruled, title, section = False, "", ""
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        if len(table) == 1 and not is_ruled and _DASHES.fullmatch(text):
            is_ruled = True  # a rule without bars, as some programs draw it
            continue
        if text.count("|") >= _LEAST_COLUMNS - 1 and len(text) <= LONGEST and text:
            if not is_ruled and _RULE.fullmatch(text) and "|" in text:
                table, is_ruled = table[-1:], bool(table)
            else:
                table.append((line, [_bare(cell) for cell in text.strip("|").split("|")]))
            continue
        if is_ruled:
            yield from _report(log, table, title, section)
            section = ""
        if text:
            headed = _SECTION.match(text) if len(text) < 2 * _LONGEST_LABEL else None
            section = headed["text"] if headed else section
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


def _spaced(log: Log) -> Iterator[Report]:
    """Lines whose columns two spaces or more part, below heads of which one has a unit."""
    table: list[tuple[Line, list[str]]] = []
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        cells = _SPACES.split(text) if "  " in text or "\t" in text else []
        if table and len(cells) == len(table[0][1]) and any(map(_CELL.fullmatch, cells)):
            table.append((line, cells))
            continue
        if table and (not text or _DASHES.fullmatch(text)) and len(table) == 1:
            continue  # a rule below the heads
        if table:
            yield from _report(log, table)
        is_head = _LEAST_SPACED <= len(cells) <= _MOST_SPACED and any(map(_unit_of, cells))
        table = [(line, cells)] if is_head and not any(map(_CELL.fullmatch, cells)) else []


def _unit_of(head: str) -> str:
    found = _IN_HEAD.search(head) if len(head) <= _LONGEST_LABEL else None
    if found is None:
        return ""
    return _UNITS[found["unit"] or found["bare"] or found["spaced"] or found["after"]]


def _report(
    log: Log, table: Sequence[tuple[Line, list[str]]], title: str = "", section: str = ""
) -> Iterator[Report]:
    """A table with its head; nothing where no column has a unit. `title`: the unit of all columns
    without one, by what stands above; `section`: the last words above it."""
    if len(table) <= _LEAST_ROWS:
        return
    (head_line, heads), rows = table[0], table[1:]
    results = list(_by_count(log, heads, rows))
    for line, cells in rows if not results else ():
        label: list[str] = []
        compared: list[Result] = []
        counts: dict[str, int] = {}
        figures: list[_Figure] = []
        of_operations = set[str]()
        of_row = _unit_of(cells[0]) if cells else ""  # a row called `wall time (s)`
        for head, cell in zip(heads, cells, strict=False):
            if others := list(_of_comparison(line, head, cell)):
                compared += others
                continue
            if clock := _CLOCK.fullmatch(cell):
                parts = (clock["h"] or "0", clock["m"], clock["s"])
                seconds = sum(float(part) * 60 ** (2 - at) for at, part in enumerate(parts))
                figures.append(_Figure(_name(head), seconds, None, "s", _statistic(head)))
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
                figures.append(_read(log, found, name, unit, _statistic(head)))
                if _PER_OPERATION.search(f"{found['unit'] or ''} {head}"):
                    of_operations.add(name)
            elif (counted := _COUNTED.get(head.lower())) and cell.isdecimal() and len(cell) < 6:
                counts[counted] = int(cell)
                label.append(cell)
            elif (sized := _SIZED.get(head.lower())) and (size := _SIZE.fullmatch(cell)):
                counts[sized] = int(size["count"]) * _SIZES[size["prefix"].lower()]
                label.append(cell)
            elif cell:
                label.append(cell[:_LONGEST_LABEL])
        of: dict[str, Any] = {"label": " ".join(label)} if label else {}
        of |= counts
        for figure in figures:
            own = {"is_per_operation": True} if figure.name in of_operations else {}
            own |= _of_copy(figure.name, *label) if figure.unit.endswith("B/s") else {}
            results += _figures(line, figure, of | own)
        results += [replace(result, of={**of, **result.of}) for result in compared]
    results = list(_in_columns(heads, rows, _repeated(table, results)))
    if any(result.statistic not in _COMPARING for result in results):
        facts = {"section": section} if section else {}
        yield Report(TOOL, results, head_line.number, "", facts)


def _repeated(
    table: Sequence[tuple[Line, list[str]]], results: Sequence[Result]
) -> Iterator[Result]:
    """Its figures as samples with their mean, where the rows are runs that somebody counted."""
    (_, heads), rows = table[0], table[1:]
    labels = {line.number: cells[0] for line, cells in rows if cells}
    runs = {line: found for line, text in labels.items() if (found := _RUN.fullmatch(text))}
    numbers = [int(found["number"]) for found in runs.values()]
    is_counted = numbers in (list(range(len(runs))), list(range(1, len(runs) + 1)))
    called = _RUNS.fullmatch(heads[0]) or all(
        len(found[0]) > len(found["number"]) for found in runs.values()
    )
    if len(runs) < _LEAST_RUNS or not (is_counted and called):
        yield from results
        return
    places = {line: place for place, line in enumerate(runs)}
    for result in results:
        of: dict[str, Any] = {"benchmark": result.name}
        if result.statistic:
            yield result
        elif result.line in places:
            own = {**of, "repetition": places[result.line]}
            yield replace(result, statistic="sample", of=own)
        elif _MEAN.fullmatch(labels.get(result.line, "")):
            own = {**of, "repetitions": len(runs)}
            yield replace(result, statistic="mean", of=own)
        else:
            yield result


def _in_columns(
    heads: Sequence[str], rows: Sequence[tuple[Line, list[str]]], results: Iterable[Result]
) -> Iterator[Result]:
    """Its figures as samples of their row, where the columns are runs: `run 1 | run 2 | avg`."""
    runs = {_name(head): found for head in heads if (found := _RUN.fullmatch(_name(head)))}
    numbers = [int(found["number"]) for found in runs.values()]
    called = all(len(found[0]) > len(found["number"]) for found in runs.values())
    if len(runs) < _LEAST_RUNS or not called or numbers != list(range(numbers[0], numbers[-1] + 1)):
        yield from results
        return
    labels = {line.number: cells[0] or "row" for line, cells in rows if cells}
    for result in results:
        label = labels.get(result.line, "row")
        of: dict[str, Any] = {"benchmark": label}
        if result.name in runs and result.statistic in ("", "mean"):
            place = numbers.index(int(runs[result.name]["number"]))
            of |= {"repetition": place}
            yield replace(result, name=label, statistic="sample", of=of)
        elif _MEAN.fullmatch(result.name):
            own = {**of, "repetitions": len(runs)}
            yield replace(result, name=label, statistic="mean", of=own)
        else:
            yield result


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
                yield from _figures(line, _read(log, found, _name(cells[0]), unit, ""), of)


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


def _statistic(head: str) -> str:
    """What a column is of several figures: by one word of its head, where it has one."""
    found = list(_STATISTIC.finditer(_name(head))) if len(head) <= _LONGEST_LABEL else []
    if len(found) != 1:
        return ""
    return str(found[0]["p"] or found[0].lastgroup).lower()


def _read(log: Log, found: re.Match[str], name: str, unit: str, statistic: str) -> _Figure:
    """The figure of a cell with its error, in one unit; an error in per cent as what it is."""
    value = log.number(found["value"])
    error = log.number(found["error"] or found["behind"] or "0") or None
    is_share = found["percent"] or found["behind_unit"] == "%"
    is_zero = (found["error"] or found["behind"]) and error is None
    if error and is_share:
        error = None if value is None else abs(value) * error / 100
    elif error and found["behind_unit"] and found["behind_unit"] in _UNITS:
        (size, base), (own, of_value) = (
            in_base(1.0, each) for each in (_UNITS[found["behind_unit"]], unit)
        )
        error = error * size / own if base == of_value else None
    return _Figure(name, value, 0.0 if is_zero and not is_share else error, unit, statistic)


def _figures(line: Line, figure: _Figure, of: dict[str, Any]) -> Iterator[Result]:
    if figure.unit == "ns" and _ARITHMETIC.fullmatch(figure.name):
        of = of | {"arithmetic": figure.name}
    has_error = figure.error is not None
    statistic = figure.statistic or ("mean" if has_error else "")
    if figure.value is not None:
        yield Result(figure.name, figure.value, figure.unit, line.number, statistic, of)
    if figure.error is not None:
        yield Result(figure.name, figure.error, figure.unit, line.number, "error", of)
