"""Tables of counters that people make of what perf stat printed: one run in each column, or in each
row. They become runs of perf stat, so that the same rules ask them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common.perf_events import TOOL

_NAMES = {
    "cycles": "cycles", "cpu cycles": "cycles", "cpu-cycles": "cycles", "cycles:u": "cycles:u",
    "instructions": "instructions", "instrs": "instructions", "instr.": "instructions",
    "instructions:u": "instructions:u", "branches": "branches", "branches:u": "branches:u",
    "branch instructions": "branches", "branch-misses": "branch-misses",
    "branch misses": "branch-misses", "branch mispredictions": "branch-misses",
    "branch-misses:u": "branch-misses:u", "branch misses:u": "branch-misses:u",
    "cache-misses": "cache-misses", "cache misses": "cache-misses",
    "cache-references": "cache-references", "cache references": "cache-references",
    "cache refs": "cache-references", "llc-load-misses": "LLC-load-misses",
    "llc-loads": "LLC-loads", "l1-dcache-load-misses": "L1-dcache-load-misses",
    "l1-dcache-loads": "L1-dcache-loads", "dtlb-load-misses": "dTLB-load-misses",
    "dtlb-loads": "dTLB-loads", "page-faults": "page-faults", "page faults": "page-faults",
    "context-switches": "context-switches", "context switches": "context-switches",
    "task-clock": "task-clock", "cpu-clock": "cpu-clock", "faults": "page-faults",
}  # fmt: skip
_COUNT = late(
    r"(?P<value>\d{1,3}(?:[,_ ]\d{3})+|\d+(?:\.\d+)?(?:[eE]\+?\d+)?) ?(?P<size>[kKMGBT]?)"
    r"(?: ?(?:\(|±|\+[-/]).{0,40})?"
)
_SIZES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
_RULE = late(r"[|:\s+=-]*-{2,}[|:\s+=-]*")
_CHANGE = late(r"(?i)\b(?:change|diff|delta|ratio|speed-?up|improvement|%|Δ)")
_LEAST_EVENTS, _MOST_RUNS = 2, 64


def read(log: Log) -> list[Report]:
    """One report for each run of each table; none of what has fewer than two events."""
    table: list[tuple[Line, list[str]]] = []
    is_ruled = False
    reports: list[Report] = []
    if not log.has("|"):
        return []
    for line in (*log.printed_lines(), Line(0, "")):
        text = line.text.strip()
        if text.count("|") >= 1 and len(text) <= LONGEST:
            if _RULE.fullmatch(text):
                table, is_ruled = table[-1:], bool(table)
            else:
                table.append((line, [_bare(cell) for cell in text.strip("|").split("|")]))
            continue
        if is_ruled:
            reports += _runs(table)
        table, is_ruled = [], False
    return sorted(reports, key=lambda report: report.line)


def _bare(cell: str) -> str:
    return cell.strip().strip("*`_").strip()


def _event(name: str) -> str:
    return _NAMES.get(name.lower().removeprefix("# ").removeprefix("cpu_core/").rstrip("/"), "")


def _runs(table: Sequence[tuple[Line, list[str]]]) -> Iterator[Report]:
    """The runs of a table, in its columns or its rows; a table of both kinds of names has none."""
    if len(table) < 2:
        return
    (_, heads), rows = table[0], table[1:]
    of_rows = [(line, cells) for line, cells in rows if cells and _event(cells[0])]
    of_heads = [number for number, head in enumerate(heads) if _event(head)]
    if len(of_rows) >= _LEAST_EVENTS and not of_heads:
        for column, head in enumerate(heads[1:_MOST_RUNS], 1):
            if not _CHANGE.search(head):
                cells = [
                    (line, _event(own[0]), own[column])
                    for line, own in of_rows
                    if column < len(own)
                ]
                yield from _run(head, cells)
    elif len(of_heads) >= _LEAST_EVENTS and not of_rows:
        names = [_event(heads[number]) for number in of_heads]
        if len(set(names)) == len(names):
            for line, own in rows[:_MOST_RUNS]:
                cells = [
                    (line, _event(heads[number]), own[number])
                    for number in of_heads
                    if number < len(own)
                ]
                yield from _run(own[0] if own else "", cells)


def _run(program: str, cells: Sequence[tuple[Line, str, str]]) -> Iterator[Report]:
    results: list[Result] = []
    for line, event, cell in cells:
        found = _COUNT.fullmatch(cell)
        if found is None:
            continue
        digits = found["value"].replace(",", "").replace("_", "").replace(" ", "")
        value = float(digits) * _SIZES[found["size"]]
        of: dict[str, Any] = {"state": "ok", "kind": "event"}
        if event in ("task-clock", "cpu-clock"):
            results.append(Result(event, value, "ms", line.number, "", of))
        else:
            results.append(Result(event, value, "events", line.number, "", of))
    if len({result.name for result in results}) >= _LEAST_EVENTS:
        facts = {"program": program, "counted_in_part": True}
        yield Report(TOOL, results, results[0].line, "", facts)
