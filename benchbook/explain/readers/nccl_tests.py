"""nccl-tests and rccl-tests: time, algbw and busbw of a collective for each size, out of place and
in place; of all versions that have a head above their table."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result, Twice
from benchbook.explain.printed_digits import half_digit, is_number
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.units import BASE, in_base

TOOL = "nccl-tests"
_VERSION = late(r"^[\s#]*nccl-tests version (?P<version>\d[\w.]*)")
_ASKED = late(
    r"^[\s#]*nThread \d+ nGpus \d+ minBytes (?P<least>\d{1,18}) maxBytes (?P<most>\d{1,18}) "
    r"step: (?P<step>\d{1,18})\((?P<how>factor|bytes)\)"
    r"(?:.*?\bwarmup iters: (?P<warm>\d{1,9}))?(?:.*? iters: (?P<count>\d{1,9}))?"
)
_TEST = late(
    r"\b(?P<test>all_?reduce|all_?gather|reduce_scatter|all_?to_?allv?|sendrecv|broadcast|reduce"
    r"|gather|scatter|hypercube)_perf\b"
)
_RANK = late(
    r"^[\s#]*Rank +(?P<rank>\d{1,6}) .{0,60}?\bon +(?P<host>\S{1,120}) +device +\d+ "
    r"\[[^]]{1,20}\] (?P<name>\S.*?)\s*$"
)
_LIBRARY = late(r"^[\s#]*[RN]CCL version (?P<version>\d[\w.]*)")
_HEAD = late(r"^[\s#]*(?P<head>(?:size|bytes)\s.*\balgbw\s+busbw\b.*)$")
_UNITS = late(r"^[\s#]*\(B\)\s.*?\((?P<time>us|ms|s)\)\s+\((?P<rate>\w+/s)\)")
_AVERAGE = late(
    r"^[\s#]*Avg bus bandwidth\s*: *(?P<value>\d+(?:\.\d+)?(?:e[+-]?\d+)?|-?nan)(?![\w.])"
    r"(?: *(?P<unit>[KMGT]i?B/s))?(?P<rest>.*)$"
)
_WRONG = late(r"^[\s#]*Out of bounds values\s*: *(?P<count>\d{1,18})(?: +(?P<verdict>\w+))?")
# What the library says, on lines of its own or behind what was printed of a row so far.
_NOISE = late(
    r"(?:\[[\d :.T-]{8,30}\] )?[A-Za-z][\w.-]{0,80}:\d{1,9}:\d{1,9}"
    r"(?: \[[\d :.T-]{8,30}\])? \[\d{1,4}\] (?:\S+:\d+ )?[RN]CCL .*$"
)
_STAMP = late(r"\s\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
_PREFIX = late(r"(?<=\d)\[\d{1,5}\](?= )")
_NUMBER = late(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?|-?nan|inf")
_WORD = late(r"[a-z]\w{0,15}")
_WHOLE = late(r"\d{1,18}")
_ROOT = late(r"-?\d{1,9}")
# How the head calls what rows begin with, and what a label of that kind looks like.
_LABELS = {
    "size": _WHOLE, "bytes": _WHOLE, "count": _WHOLE, "N": _WHOLE, "type": _WORD,
    "redop": _WORD, "op": _WORD, "root": _ROOT,
}  # fmt: skip
_CHECKS = ("#wrong", "wrong", "error", "res")  # only the first two count elements
_TIMES = ("time", "cputime")
_RATES = ("algbw", "busbw")
# Of single iterations, by another clock than `time`.
_OF_ITERATIONS = {"i_min": "min", "i_max": "max", "i_p99": "p99", "i_cv%": "cv"}
_CELLS = (*_CHECKS, *_TIMES, *_RATES, *_OF_ITERATIONS)
_PLACES = ("out-of-place", "in-place")
_BODY = ("time", "algbw", "busbw", "#wrong")
# Of a table whose head was cut out, by how many labels its rows have: all versions since 2.12 have
# five; before that, root or operation stood only where the test has one.
_USUAL = {
    5: ("size", "count", "type", "redop", "root", *_BODY, *_BODY),
    4: ("size", "count", "type", "redop", *_BODY, *_BODY),
    3: ("size", "count", "type", *_BODY, *_BODY),
}
_TYPES = {
    "half": 2, "float": 4, "double": 8, "bfloat16": 2, "int8": 1, "uint8": 1, "int32": 4,
    "uint32": 4, "int64": 8, "uint64": 8, "char": 1, "int": 4,
}  # fmt: skip
_TELLS = 0.1  # half of the last digit ÷ a rate: 0.01 GB/s is as well half as much as twice
_EXACT = 0.01  # the same, of what tells a ratio
_LEAST_RATIOS = 4
_NEAR = 0.02
_FEWEST_RANKS = 2


@dataclass
class _Row:
    """One line of a table, as far as it was printed; `place` is what its next cells are of."""

    line: int
    of_what: tuple[str, str, str]  # type, operation and root, as printed
    at: int  # how many of the columns are filled
    of: dict[str, Any]
    place: int = -1
    time: Result | None = None
    time_error_s: float = 0.0
    algbw: tuple[Result, float] | None = None


@dataclass
class _Run(Run):
    """One start of a test."""

    line: int = 1
    test: str = ""  # as the last command above it names it
    asked: bool = False  # whether its line with minBytes is there
    sizes_asked: int = 0
    ranks: set[str] = field(default_factory=set)
    first_ranks: int = 0  # lines of a rank 0: processes that know nothing of each other
    hosts: set[str] = field(default_factory=set)
    columns: tuple[str, ...] = ()
    is_headless: bool = False  # whether its columns were told from a row
    time_unit: str = "us"
    rate_unit: str = "GB/s"
    row: _Row | None = None
    sizes: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    both: list[tuple[Result, float, Result, float]] = field(default_factory=list)
    busbw: list[Result] = field(default_factory=list)
    averages: list[tuple[Result, float]] = field(default_factory=list)
    wrong: bool = False

    def finish(self) -> bool:
        """Whether it has figures, or at least says which ranks were to take part."""
        if not self.results and self.asked and self.ranks:
            self.notes.append("No whole row of its table is in the log.")
            return True
        return bool(self.results)

    @property
    def begun(self) -> bool:
        """Whether it has more than what stands above its first line."""
        return bool(self.results or self.columns or self.averages)


def read(log: Log) -> list[Report]:
    """One report for each start; what a library or a launcher says in between is passed over."""
    last = log.lines[-1] if log.lines and log.lines[-1].text.strip() else None
    return [_report(run, last.number if last else 0) for run in _READER.runs(log)]


def _line(reading: Reading[_Run], text: str) -> None:
    if "CCL" in text:
        if found := _LIBRARY.match(text):
            reading.run.facts.setdefault("library_version", found["version"])
            return
        text = _NOISE.sub("", text)
    if "[" in text:
        text = _PREFIX.sub(" ", text)  # of a launcher, before each piece that it was handed
    if "|" in text:
        text = text.replace("|", " ")  # a table that somebody made one of Markdown
    if "_perf" in text and (found := _TEST.search(text)):
        reading.above["test"] = found["test"]
    if not _of_head(reading, text):
        _of_table(reading, text)


_READER = LineReader(TOOL, _Run, _line, clean=str.rstrip)


def _of_head(reading: Reading[_Run], text: str) -> bool:
    """Whether it is a line above or below a table, which may begin another run."""
    run, number, test = reading.run, reading.line.number, reading.above.get("test")
    if "nThread" in text and (found := _ASKED.match(text)):
        if run.asked or run.begun:
            run = reading.begin()
        elif not run.version:
            run.line = number
        _asked(run, found)
        if test:
            run.facts["test"] = test
    elif "nccl-tests version" in text and (found := _VERSION.match(text)):
        if run.asked or run.begun:
            run = reading.begin()
        run.version, run.line = found["version"], number
    elif "busbw" in text and (found := _HEAD.match(text)):
        words = _words_of_head(found["head"])
        if any(word not in _LABELS and word not in _CELLS for word in words):
            return False
        if run.results or run.averages:
            run = reading.begin()
        elif not run.asked and not run.version:
            run.line = number
        run.columns, run.row = words, None
        run.time_unit = "ms" if words[0] == "bytes" else "us"  # versions before 2.0
        if test and words[0] == "size":
            run.facts.setdefault("test", test)
    elif "busbw" in text and run.columns and not run.sizes and _is_rest(run, text):
        run.columns += _words_of_head(text)
    elif "(B)" in text and (found := _UNITS.match(text)):
        if in_base(1.0, found["rate"])[1] == "B/s" and found["rate"] in BASE:
            run.time_unit, run.rate_unit = found["time"], found["rate"]
    elif "Rank" in text and (found := _RANK.match(text)):
        run.ranks.add(found["rank"])
        run.first_ranks += found["rank"] == "0"
        run.hosts.add(found["host"])
        run.facts.setdefault("device", found["name"])
    elif "Avg bus" in text and (found := _AVERAGE.match(text)):
        unit = found["unit"] or run.rate_unit
        if len(run.averages) == len(run.results) > 0:
            run = reading.begin()  # as `grep Avg` leaves of many logs
        if reading.add("bus bandwidth", found["value"], unit, "mean"):
            run.averages.append((run.results[-1], half_digit(found["value"])))
            if "FAILED" in found["rest"]:
                run.notes.append(f"line {number}: less than the test was set to expect")
        run.row = None
    elif "Out of bounds" in text and (found := _WRONG.match(text)):
        run.wrong = run.wrong or int(found["count"]) > 0 or found["verdict"] == "FAILED"
        run.row = None
    else:
        return False
    return True


def _words_of_head(text: str) -> tuple[str, ...]:
    words = text.replace("timestamp", "").split()
    return tuple(words[1:] if words[:1] == ["#"] else words)


def _is_rest(run: _Run, text: str) -> bool:
    """Whether it is what a narrow page put below a head: columns of the second place."""
    words = _words_of_head(text)
    known = all(word in _CELLS for word in words)
    return known and (*run.columns, *words).count("busbw") == len(_PLACES)


def _asked(run: _Run, found: re.Match[str]) -> None:
    """What it was told to measure."""
    run.asked = True
    least, most, step = (int(found[name]) for name in ("least", "most", "step"))
    if found["how"] == "bytes" and step > 0:
        run.sizes_asked = max(most - least, -step) // step + 1
    elif step > 1:
        while 0 < least <= most:
            run.sizes_asked += 1
            least *= step
    if found["count"]:
        run.facts["iterations"] = int(found["count"])
    if found["warm"]:
        run.facts["warm_up_iterations"] = int(found["warm"])


def _of_table(reading: Reading[_Run], text: str) -> None:
    """A row, or more of the one that was begun."""
    run = reading.run
    words = _STAMP.sub("", text).replace("*", " ").split()
    if words[:1] == ["#"]:
        words = words[1:]
    usual = _usual_columns(words) if run.is_headless or not run.columns else ()
    run.is_headless = run.is_headless or bool(usual)
    columns = usual or run.columns
    if not words or not columns:
        return
    labels = [name for name in columns if name in _LABELS]
    if _begins(words, labels) and len(words) <= len(columns):
        cells = _figures(columns[len(labels) :], words[len(labels) :])
        if "type" in columns or len(cells) == len(words) - len(labels) > 0:
            row = _row(reading.line.number, dict(zip(labels, words, strict=False)))
            run.columns, run.row = columns, row
            run.sizes.setdefault(row.of_what, []).append(row.of["message_bytes"])
            _cells(reading, row, cells)
    elif run.row is not None and _continues(run, run.row, words):
        _cells(reading, run.row, words)
    elif "type" not in columns:
        run.columns, run.row = (), None  # rows may follow that another tool printed


def _usual_columns(words: list[str]) -> tuple[str, ...]:
    """The columns of a row without its head, whose bytes are those of its elements; () of what is
    none."""
    labels = len(words) - 2 * len(_BODY)
    columns = _USUAL.get(labels, ())
    if labels == 4 and _ROOT.fullmatch(words[3]):
        columns = (*columns[:3], "root", *columns[4:])
    if not columns or not _begins(words, list(columns[:labels])):
        return ()
    if _figures(columns[labels:], words[labels:]) != words[labels:]:
        return ()
    size, count, width = int(words[0]), int(words[1]), _TYPES.get(words[2], 0)
    fits = width > 0 and count > 0 and size > 0 and size % (count * width) == 0
    return columns if fits else ()


def _begins(words: list[str], labels: list[str]) -> bool:
    return len(words) >= len(labels) and all(
        _LABELS[label].fullmatch(word) for label, word in zip(labels, words, strict=False)
    )


def _figures(columns: tuple[str, ...], words: list[str]) -> list[str]:
    """The first of these words, as far as they may be cells of such columns."""
    fits = (
        _NUMBER.fullmatch(word) or (word == "N/A" and column in _CHECKS)
        for column, word in zip(columns, words, strict=False)
    )
    return [word for word, _ in zip(words, takewhile(bool, fits), strict=False)]


def _continues(run: _Run, row: _Row, words: list[str]) -> bool:
    """Whether these are cells that the row still lacks, all of a place or all that are left: so the
    tool prints them, and so they go on below where a narrow terminal ends."""
    left = run.columns[row.at :]
    whole = left[len(words) : len(words) + 1] in ((), *((name,) for name in _TIMES))
    return whole and len(words) <= len(left) and _figures(left, words) == words


def _row(number: int, labels: dict[str, str]) -> _Row:
    """A row by its labels."""
    of: dict[str, Any] = {"message_bytes": int(labels.get("size", labels.get("bytes", "0")))}
    kind, operation = labels.get("type", ""), labels.get("redop", labels.get("op", ""))
    root = labels.get("root", "")
    of |= {"data_type": kind} if kind else {}
    of |= {"operation": operation} if operation not in ("", "none") else {}
    of |= {"root": int(root)} if root and int(root) >= 0 else {}
    return _Row(number, (kind, operation, root), len(labels), of)


def _cells(reading: Reading[_Run], row: _Row, words: list[str]) -> None:
    for column, word in zip(reading.run.columns[row.at :], words, strict=False):
        value = reading.number(word) if word != "N/A" else None
        row.at += 1
        if column in _TIMES:
            row.place += 1
            row.time = row.algbw = None
        if value is not None:
            _cell(reading, row, column, value, half_digit(word))


def _cell(reading: Reading[_Run], row: _Row, column: str, value: float, half: float) -> None:
    """One figure of a row; its rates know of which bytes and time they are made. `half`: of its
    last digit."""
    run = reading.run
    several = sum(name in _TIMES for name in run.columns) > 1
    before = f"{_PLACES[min(row.place, 1)]} " if several and row.place >= 0 else ""
    if column in _TIMES:
        name = "time" if column == "time" else "time of the CPU"
        reading.add(f"{before}{name}", value, run.time_unit, "mean", row.of)
        if column == "time":  # rates are not of the other one
            row.time, row.time_error_s = run.results[-1], in_base(half, run.time_unit)[0] / 1e9
    elif column in _RATES:
        of = row.of
        if column == "algbw" and row.time and half <= _TELLS * value and is_number(row.time.value):
            took_s = in_base(row.time.value, run.time_unit)[0] / 1e9
            of = of | {"bytes_moved": of["message_bytes"], "elapsed_s": took_s}
            of["elapsed_error_s"] = row.time_error_s
        reading.add(f"{before}{column}", value, run.rate_unit, "mean", of)
        figure = run.results[-1]
        if column == "algbw":
            row.algbw = figure, half
        else:
            run.busbw.append(figure)
            if row.algbw:
                run.both.append((*row.algbw, figure, half))
    elif column in _OF_ITERATIONS:
        statistic = _OF_ITERATIONS[column]
        unit = "%" if statistic == "cv" else "us"
        reading.add(f"{before}iteration time", value, unit, statistic, row.of)
    elif column in ("#wrong", "wrong") and value > 0:
        _mark(run, row)
        reading.add(f"{before}wrong elements", value, "elements", "", dict(row.of))


def _mark(run: _Run, row: _Row) -> None:
    """Note that what was computed at this place of the row is wrong."""
    for result in reversed(run.results):
        if result.of.get("message_bytes") != row.of["message_bytes"] or result.line < row.line:
            break
        if result.name.startswith(_PLACES[min(row.place, 1)]) or row.place == 0:
            result.of = {**result.of, "validated": False}


def _report(run: _Run, cut: int) -> Report:
    """`cut`: the line in which the log ends without an end of the line, 0 where there is one."""
    if run.ranks:
        run.facts["ranks"] = len(run.ranks)
        if len(run.ranks) == 1 and run.first_ranks > 1:
            run.facts["ranks_alone"] = run.first_ranks
        run.facts["hosts"] = len(run.hosts)
    if run.wrong and not any("validated" in result.of for result in run.results):
        run.facts["validated"] = False
    _without_other_bytes(run)
    run.twice = [*_of_average(run, cut), *_of_ranks(run)]
    run.line = run.line if run.line > 1 or run.asked else 0
    return run.report(TOOL)


def _without_other_bytes(run: _Run) -> None:
    """Of some tests (hypercube) algbw leaves out a rank's own part: then it is not of all bytes of
    the size in any row, and the same share of them in all."""
    shares = [
        item.value * in_base(1.0, item.unit)[0] * item.of["elapsed_s"] / item.of["bytes_moved"]
        for item, half, *_ in run.both
        if item.of.get("bytes_moved") and half < _EXACT * item.value
    ]
    if len(shares) < _LEAST_RATIOS or max(shares) > (1 + _NEAR) * min(shares) or min(shares) <= 0:
        return
    ranks = round(1 / (1 - shares[0])) if 0 < shares[0] < 1 - 1e-4 else 0
    own = len(run.ranks) or ranks
    if own >= _FEWEST_RANKS and math.isclose(shares[0], 1 - 1 / own, rel_tol=_NEAR / 4):
        made = ("bytes_moved", "elapsed_s", "elapsed_error_s")
        for result in run.results:
            if "bytes_moved" in result.of:
                result.of = {name: value for name, value in result.of.items() if name not in made}


def _of_average(run: _Run, cut: int) -> Iterator[Twice]:
    """The average of all busbw, both columns, where the table is known to be whole."""
    places = sum(name == "busbw" for name in run.columns)
    rows = sum(map(len, run.sizes.values()))
    whole = run.sizes and all(len(size) == run.sizes_asked for size in run.sizes.values())
    if (
        places != len(_PLACES)
        or len(run.averages) != 1
        or not whole
        or len(run.busbw) != rows * places
    ):
        return
    said, half = run.averages[0]
    values = [result.value for result in run.busbw]
    if said.line == cut or not all(map(is_number, (said.value, *values))):
        return
    first, last = run.busbw[0].line, run.busbw[-1].line
    words = f"the {len(values)} busbw of lines {first} to {last}, on average,"
    digits = max(half_of for *_, half_of in run.both) if run.both else half
    made = statistics.fmean(values)
    yield Twice("the average bus bandwidth", said.value, said.unit, said.line, made, words,
                half + digits)  # fmt: skip


def _of_ranks(run: _Run) -> Iterator[Twice]:
    """busbw that is not algbw times what the test and its ranks make of it, one factor for all."""
    known = [
        bus.value / alg.value
        for alg, half, bus, _ in run.both
        if is_number(alg.value) and is_number(bus.value) and half < _EXACT * alg.value
    ]
    if len(known) < _LEAST_RATIOS:
        return
    factor = statistics.median(known)
    alike = sum(abs(part - factor) <= _NEAR * factor for part in known)
    if 2 * alike <= len(known) or not 0 < factor <= 2 + _NEAR:
        return
    for alg, half, bus, half_of in run.both:
        if is_number(alg.value) and is_number(bus.value):
            words = f"{factor:.4g} times the {alg.name} of it, as in the other rows,"
            yield Twice(bus.name, bus.value, bus.unit, bus.line, factor * alg.value, words,
                        half_of + factor * half)  # fmt: skip
