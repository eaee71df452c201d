"""likwid-perfctr: the groups that answer a question, its command line, and its CSV (`-O`)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NoReturn, TypeVar

from benchbook.evidence.counters import Count, NotUnderstoodError

PROGRAM = "likwid-perfctr"
REGION = "p{}"  # the marker region of a start's n-th point, as kernels/common/markers.h names it
TRAFFIC = "memory traffic"

# What a question may be answered with, best first; a CPU that has no group of a name has no such
# answer. Groups that stand together are needed together (Zen 3 counts four channels at a time).
QUESTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    TRAFFIC: (("MEM",), ("MEM1", "MEM2"), ("MEM_FREERUN",), ("CACHES",)),
    "cache traffic": (("CACHES",), ("L2", "L3"), ("L2",), ("L3",), ("CACHE",)),
    "loads and stores": (("DATA",),),
    "clock": (("CLOCK",),),
    "energy": (("ENERGY",),),
    "arithmetic": (("FLOPS_DP",),),
}

N = TypeVar("N", int, float)

_RUN_TIME = "Runtime (RDTSC) [s]"
_RULE = re.compile(r"-{10,}")
_NO_NUMBER = ("-", "nan", "-nan", "inf", "-inf")
_TABLE = re.compile(
    r"TABLE,(?:Region (?P<region>.*),)?Group (?P<index>\d+) (?P<kind>Raw|Metric)(?P<stat> STAT)?,"
    r"(?P<group>[^,]*),(?P<rows>\d+),*"
)
_CORE = re.compile(r"(?:HWThread|Core) (\d+)")  # Core: before version 5
_OF_CORE = re.compile(r"PMC\d|FIXC\d|TMA\d")  # counters that each core has for itself
_OF_TRAFFIC = {
    "bytes_read_from_memory": re.compile(r"Memory (read|load) bandwidth"),
    "bytes_written_to_memory": re.compile(r"Memory (write|evict|writeback) bandwidth"),
    "bytes_moved_by_memory": re.compile(r"Memory bandwidth( \(channels .*\))?"),
}


def region(index: int) -> str:
    """The marker region of the index-th point of a start."""
    return REGION.format(index)


def command(
    program: list[str], cpus: list[int], group: str, access_mode: int | None = None
) -> list[str]:
    """Count one group in the marker regions of a program that is pinned to these CPUs.

    access_mode: 0 direct, 1 through likwid's daemon, None as likwid is set up.
    """
    mode = [] if access_mode is None else ["-M", str(access_mode)]
    where = ",".join(map(str, cpus))
    return [PROGRAM, "-C", where, "-g", group, "-m", "-O", *mode, *program]


def parse_groups(text: str) -> list[str]:
    """The names that `likwid-perfctr -a` lists; none where it says nothing of groups.

    It ends with 0 on processors that it does not support, so its output alone counts.
    """
    lines = iter(text.splitlines())
    if not any(re.match(r"(PerfMon g|G)roup name\s+Description", line.strip()) for line in lines):
        return []
    next(lines, None)
    names = []
    for line in lines:
        found = re.match(r"\s*([A-Z][A-Z0-9_]*)\t", line)
        if found is None:
            break  # groups of a GPU follow
        names.append(found[1])
    return names


def choose(here: list[str]) -> dict[str, tuple[str, ...]]:
    """Question -> the groups that answer it, of those that this CPU has; () where none does."""
    return {
        question: next((wanted for wanted in ways if set(wanted) <= set(here)), ())
        for question, ways in QUESTIONS.items()
    }


def traffic(counts: list[Count]) -> dict[str, float]:
    """Bytes that the memory of the whole socket moved in a region, from its counts of one start
    for each group: name -> bytes. Only names for which something counted.

    From bandwidth and run time: the volumes are printed with four digits of a gigabyte.
    """
    found: dict[str, float] = {}
    for count in counts:
        if count.state != "ok" or count.unit != "MBytes/s" or count.run_time_s is None:
            continue
        for name, pattern in _OF_TRAFFIC.items():
            if pattern.fullmatch(count.name):
                moved = (count.value or 0.0) * 1e6 * count.run_time_s
                found[name] = found.get(name, 0.0) + moved
    if len(found) == len(_OF_TRAFFIC):
        del found["bytes_moved_by_memory"]  # it is their sum
    return found


def parse(text: str, file: str) -> list[Count]:
    """All counts of what `likwid-perfctr -O` printed, in their order; statistics over cores are
    read and left out. What a program printed before the first table is skipped.

    NotUnderstoodError names `file` and the line.
    """
    blocks: dict[tuple[str, int], _Block] = {}
    lines = _Lines(text, file)
    for head in lines.tables():
        key = head["region"] or "", int(head["index"])
        _read_table(lines, head, blocks.setdefault(key, _Block(head["group"])))
    for (name, _), block in blocks.items():
        if not block.complete:
            where = f"region {name!r}" if name else "the program"
            lines.refuse(f"the metrics of group {block.group} in {where} are missing")
    groups = Counter(name for name, _ in blocks)
    counts = [
        replace(
            count,
            run_time_s=block.run_time_s.get(core),
            calls=block.calls.get(core),
            multiplexed=groups[count.region] > 1,
        )
        for block in blocks.values()
        for core, count in block.counts
    ]
    # A cell without a number is true of nothing, and nan would count as one.
    live = [count for count in counts if count.value and not math.isnan(count.value)]
    alive = {_what(count) for count in live}
    alive_here = {(count.region, *_what(count)) for count in live}
    return [_judged(count, alive, alive_here) for count in counts]


@dataclass
class _Block:
    """One region in one group, collected from its tables."""

    group: str
    run_time_s: dict[int, float] = field(default_factory=dict)
    calls: dict[int, int] = field(default_factory=dict)
    counts: list[tuple[int, Count]] = field(default_factory=list)  # nan where the tool had none
    complete: bool = False  # a group with metrics has a second table


def _what(count: Count) -> tuple[str, ...]:
    """The event or metric and its counter, which every region and every core share."""
    return count.group, count.name, count.unit, count.counter


class _Lines:
    """The lines of a file, read once from the top."""

    def __init__(self, text: str, file: str) -> None:
        self.lines = text.splitlines()
        self.cut = not text.endswith("\n")
        self.file = file
        self.at = 0  # lines taken

    def refuse(self, what: str) -> NoReturn:
        raise NotUnderstoodError(self.file, max(1, min(self.at, len(self.lines))), what)

    def take(self, due: str) -> str:
        """The next line, of a table that is not at its end."""
        self.at += 1
        if self.at > len(self.lines):
            self.refuse(f"the file ends where {due} should stand; it was cut")
        if self.cut and self.at == len(self.lines):
            self.refuse("the last line has no end; the file was cut")
        return self.lines[self.at - 1]

    def tables(self) -> Iterator[dict[str, str]]:
        """The heads of all tables; their lines are taken by the caller."""
        begun = False
        while self.at < len(self.lines):
            line = self.take("a table")
            if line.startswith("STRUCT,"):
                begun = True
                size = line.rstrip(",").rpartition(",")[2]
                if not size.isdecimal():
                    self.refuse(f"{line[:60]!r} does not say how many lines follow")
                for _ in range(int(size)):
                    self.take("a line about the CPU")
            elif line.startswith("TABLE,"):
                begun = True
                head = _TABLE.fullmatch(line)
                if head is None:
                    self.refuse(f"{line[:60]!r} is no head of a table that is known")
                yield head.groupdict()
            elif begun and line.strip() and not _RULE.fullmatch(line):
                self.refuse(f"{line[:60]!r} stands where a table should begin")
        if not begun:
            self.at = 1
            self.refuse(f"there is no table of {PROGRAM} in it")

    def cells(self, due: str, lead: int, columns: int | None = None) -> tuple[list[str], list[str]]:
        """The first `lead` cells of a line and the `columns` behind; what pads it is empty."""
        line = self.take(due)
        cells = line.split(",")
        if columns is None:
            columns = len(line.rstrip(",").split(",")) - lead
        if len(cells) < lead + columns or any(cells[lead + columns :]):
            self.refuse(f"{line[:60]!r} does not have the {lead + columns} cells of its table")
        return cells[:lead], cells[lead : lead + columns]


def _read_table(lines: _Lines, head: dict[str, str], block: _Block) -> None:
    raw = head["kind"] == "Raw"
    lead = 2 if raw else 1
    title, columns = lines.cells("the head of the columns", 1)
    if title[0] == "Region Info" and raw:
        cores = _cores(lines, columns)
        block.run_time_s |= _of_region(lines, "RDTSC Runtime [s]", cores, _number)
        block.calls |= _of_region(lines, "call count", cores, _count_of_calls)
        title, columns = lines.cells("the head of the columns", 1)
    if title[0] != ("Event" if raw else "Metric"):
        lines.refuse(f"{title[0]!r} heads the columns of a {head['kind']} table")
    columns = columns[lead - 1 :]
    cores = [] if head["stat"] else _cores(lines, columns)
    own_time = False
    for _ in range(int(head["rows"])):
        (printed, *counter), values = lines.cells("a row of the table", lead, len(columns))
        numbers = [_number(lines, value) for value in values]
        own_time = own_time or (raw and printed == _RUN_TIME)
        name, unit = _unit(printed)
        for core, number in zip(cores, numbers, strict=False):
            if printed == _RUN_TIME:
                block.run_time_s.setdefault(core, number)
            count = Count(
                region=head["region"] or "",
                core=core,
                group=block.group,
                kind="event" if raw else "metric",
                name=name,
                counter="".join(counter),
                value=number,
                unit=unit,
            )
            block.counts.append((core, count))
    # Only a set of events without metrics has its run time among them.
    block.complete = block.complete or own_time or not raw


def _cores(lines: _Lines, columns: list[str]) -> list[int]:
    found = [_CORE.fullmatch(column) for column in columns]
    if not all(found):
        lines.refuse(f"{columns!r} are no hardware threads")
    return [int(match[1]) for match in found if match]


def _of_region(
    lines: _Lines, due: str, cores: list[int], read: Callable[[_Lines, str], N]
) -> dict[int, N]:
    """The row of a region that is due, by core."""
    (name,), values = lines.cells(due, 1, len(cores))
    if name != due:
        lines.refuse(f"{name!r} stands where {due!r} should")
    return {core: read(lines, value) for core, value in zip(cores, values, strict=True)}


def _number(lines: _Lines, text: str) -> float:
    """nan for what likwid prints where it has no number."""
    if text in _NO_NUMBER:
        return math.nan
    try:
        return float(text)
    except ValueError:
        lines.refuse(f"{text[:60]!r} is no number")


def _count_of_calls(lines: _Lines, text: str) -> int:
    if not text.isdecimal():
        lines.refuse(f"{text[:60]!r} is no number")
    return int(text)


def _judged(count: Count, alive: set[tuple[str, ...]], alive_here: set[tuple[str, ...]]) -> Count:
    """The count, absent where it has no number or is a 0 that nothing counted. `alive`: what is
    above 0 anywhere; `alive_here`: that with its region before it."""
    what = _what(count)
    if count.value is None or math.isnan(count.value):
        reason = "likwid has no number for it"
    elif count.value == 0 and what not in alive:
        reason = "0 in every region and on every core: nothing shows that it counts here"
    elif (
        count.value == 0
        and (count.region, *what) in alive_here
        and not _OF_CORE.match(count.counter)
    ):
        reason = "counted on another core, for all that share the counter"
    else:
        return count
    return replace(count, value=None, state="absent", reason=reason)


def _unit(name: str) -> tuple[str, str]:
    """`Memory bandwidth [MBytes/s]` -> its name, its unit."""
    found = re.fullmatch(r"(.*?)\s*\[([^\]]*)\](.*)", name)
    return (found[1] + found[3], found[2]) if found else (name, "")
