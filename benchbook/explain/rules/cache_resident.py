"""cache-resident: arrays that the last-level caches hold, so that no figure of memory comes out.

Decided by the sizes that the log tells against the caches of its machine: as the caller or the log
says. Where nobody says, the size alone decides if every machine has such a cache, or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from benchbook.core.number_format import listed, share
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.results import Group, by_columns
from benchbook.explain.rules import Ask, Machine
from benchbook.explain.rules.common.devices import has_own_memory
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "cache-resident"
# What STREAM asks for, whose repetitions go over three arrays: each as large as so many times the
# last-level caches. What has fewer arrays meets it by all that it works on.
RULE, ARRAYS = 4, 3
# Caches of machines that people measure: all have as much, few have more.
SMALLEST, LARGEST = 256 << 10, 256 << 20
COPIED = 2  # a copy is of two arrays
CERTAIN, EVERYWHERE, BY_WALK, BY_RULE = 1.0, 0.95, 0.8, 0.6
SWEEP = 4  # sizes: who walks through the caches knows that they are there
WALK = 16  # largest ÷ smallest, of several starts
_SIZES = ("array_bytes", "working_set_bytes")
NEEDS = (*_SIZES, "device_cache_bytes", "stride_bytes", "access")
OF_MEMORY_NS = 40  # no memory answers a load that was not prefetched within less


class _Sized(NamedTuple):
    """Results of one report with the same arrays."""

    all_bytes: int
    array_bytes: int  # 0 where the tool speaks of no arrays
    rates: list[Group]

    @property
    def results(self) -> list[Result]:
        """In the order of the log."""
        return sorted(chain.from_iterable(self.rates), key=lambda one: one.line)

    @property
    def line(self) -> int:
        """The first of them."""
        return min(one[0].line for one in self.rates)

    @property
    def ruled_bytes(self) -> int:
        """What the rule is about."""
        return (
            self.array_bytes if self.all_bytes >= ARRAYS * self.array_bytes > 0 else self.all_bytes
        )

    def fits(self, llc: int | None) -> bool:
        """Whether the caches hold it all, of that machine or of any."""
        return self.all_bytes <= (llc or SMALLEST)


def _bytes(one: _Sized) -> tuple[int, int]:
    """What sizes are ordered by."""
    return one.all_bytes, one.array_bytes


def check(reports: list[Report], machine: Machine) -> Iterator[Finding | Ask]:
    """One finding for each report whose arrays fit, or may fit in part; an Ask where the size of
    the caches would decide."""
    asked: list[_Sized] = []
    every = [_sized(report) for report in reports]
    by_tool: dict[str, list[_Sized]] = {}
    for report, sized in zip(reports, every, strict=True):
        by_tool.setdefault(report.tool, []).extend(sized)
    walks: dict[tuple[str, int | None], bool] = {}
    for report, sized in zip(reports, every, strict=True):
        llc = machine.llc_bytes or _whole(report.facts.get("llc_bytes"))
        said_by = machine.source or "the caller"
        if not machine.llc_bytes:
            said_by = "the log"
        if report.facts.get("cached_on_purpose"):
            continue
        if has_own_memory(report) and machine.source != "--l3":
            llc = _whole(report.facts.get("device_cache_bytes"))  # not the host's
            said_by = "the log"
        elif llc:
            yield from _too_short(report, llc, said_by)
        if _is_sweep(sized, llc):
            continue
        key = report.tool, llc
        if key not in walks:
            walks[key] = _is_walk(by_tool[report.tool], llc)
        if walks[key]:
            continue
        fitting = [one for one in sized if one.fits(llc)]
        if fitting:
            yield _fits(fitting, llc, said_by)
            continue
        small = [one for one in sized if one.ruled_bytes < RULE * (llc or LARGEST)]
        least = min(small, key=_bytes) if small else None
        if small and llc:
            yield _by_rule(small, llc, said_by)
        elif least:
            asked.append(least)
    if asked:
        least = min(asked, key=_bytes)
        why = (
            f"With the {format_bytes(least.all_bytes)} that are worked on (line "
            f"{least.line}) this is a figure of memory only if all last-level caches of "
            f"that machine together have less than {format_bytes(least.ruled_bytes // RULE)}."
        )
        yield Ask(ARTEFACT, "--l3 SIZE", why)


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 < value < 1 << 62 else None


def _sized(report: Report) -> list[_Sized]:
    """The rates of the report by the arrays that they were measured with."""
    found: dict[tuple[int, int], list[Group]] = {}
    # Copies within a device are judged where the log says what it caches.
    for one in report.knowing("direction") if "device_cache_bytes" in report.facts else ():
        size = _whole(report.column(one, "message_bytes"))
        if size and report.column(one, "direction") == "device to device":
            found.setdefault((COPIED * size, size), []).append(Group((one,)))
    setting = (*_SIZES, "processes")
    rates = [
        several
        for (_, _, unit), several in report.groups.items()
        if bytes_per_s(1.0, unit) is not None
    ]
    if not report.columns.isdisjoint(setting):
        rates = [own for several in rates for own in by_columns(several, setting).values()]
    elif report.facts.keys().isdisjoint(_SIZES):
        rates = []
    for several in rates:
        array, every, processes = (_whole(report.column(several[0], name)) for name in setting)
        moved = several
        if not all(value > 0 for value in several.values):
            moved = Group(one for one in several if one.value > 0)  # not where nothing was
        if (array or every) and moved:
            times = processes or 1
            key = ((every or array or 0) * times, (array or 0) * times)
            found.setdefault(key, []).append(moved)
    return [_Sized(*key, results) for key, results in sorted(found.items())]


def _is_sweep(sized: list[_Sized], llc: int | None) -> bool:
    """Whether it walks through sizes on purpose: several, the largest well beyond the caches."""
    beyond = (llc or SMALLEST) * RULE
    return len(sized) >= SWEEP and sized[-1].all_bytes >= beyond


def _is_walk(sized: list[_Sized], llc: int | None) -> bool:
    """Whether the starts of a tool do so, each with a size of its own."""
    sizes = {one.all_bytes: one for one in sized}
    least, most = (min(sizes), max(sizes)) if sizes else (0, 0)
    return most >= WALK * least and _is_sweep([sizes[one] for one in sorted(sizes)], llc)


def _fits(fitting: list[_Sized], llc: int | None, said_by: str) -> Finding:
    largest = max(fitting, key=_bytes)
    of = (
        f"the last-level caches of {format_bytes(llc)} ({said_by})"
        if llc
        else "the caches of any machine"
    )
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=_where(fitting),
        confidence=CERTAIN if llc else EVERYWHERE,
        evidence=_evidence(largest, llc),
        explanation=(
            f"The {_sizes(fitting)} that are worked on fit in {of}: after the first pass they come "
            "from there, and the figure is one of a cache, not of memory."
        ),
        remedy=_remedy(llc),
    )


def _by_rule(small: list[_Sized], llc: int, said_by: str) -> Finding:
    least = min(small, key=_bytes)
    what = "Each array has" if least.ruled_bytes == least.array_bytes else "What is worked on has"
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=_where(small),
        confidence=BY_RULE,
        evidence=_evidence(least, llc),
        explanation=(
            f"{what} {format_bytes(least.ruled_bytes)}, less than {RULE} times the last-level "
            f"caches of {format_bytes(llc)} ({said_by}), which is STREAM's rule: up to "
            f"{share(llc / least.all_bytes)} of what is read may come from cache."
        ),
        remedy=_remedy(llc),
    )


def _too_short(report: Report, llc: int, said_by: str) -> Iterator[Finding]:
    """A walk of loads that ends before it leaves the caches: who reads its last latency as that of
    memory errs."""
    sets = [
        (size, one)
        for one in report.knowing("stride_bytes", "access")
        if one.unit == "ns" and (size := _whole(one.of.get("working_set_bytes")))
    ]
    largest, last = max(sets, key=lambda pair: pair[0], default=(0, None))
    if last is None or largest > llc or last.value >= OF_MEMORY_NS:
        return
    yield Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[last.where],
        confidence=BY_WALK,
        evidence=[
            proof("working_set_bytes", largest, "bytes", f"line {last.line}"),
            proof("latency", last.value, last.unit, f"line {last.line}"),
            proof("llc_bytes", llc, "bytes", "machine"),
        ],
        explanation=(
            f"The largest of the sizes that were walked through has {format_bytes(largest)} and "
            f"{last.value:g} ns (line {last.line}), and the last-level caches have "
            f"{format_bytes(llc)} ({said_by}): the walk ends in a cache, and none of its latencies "
            "is one of memory."
        ),
        remedy=f"For the latency of memory walk on to {format_bytes(RULE * llc)} at least.",
    )


def _sizes(several: list[_Sized]) -> str:
    sizes = sorted({one.all_bytes for one in several})
    if len(sizes) > 3:
        return f"{format_bytes(sizes[0])} to {format_bytes(sizes[-1])}"
    return listed([format_bytes(one) for one in sizes])


def _where(several: list[_Sized]) -> list[str]:
    return [result.where for one in several for result in one.results]


def _evidence(one: _Sized, llc: int | None) -> list[dict[str, object]]:
    line = f"line {one.line}"
    found = [
        proof("array_bytes", one.array_bytes, "bytes", line),
        proof("working_set_bytes", one.all_bytes, "bytes", line),
    ]
    return [*found, proof("llc_bytes", llc, "bytes", "machine")] if llc else found


def _remedy(llc: int | None) -> str:
    size = f" ({format_bytes(RULE * llc)})" if llc else ""
    return (
        f"For a figure of memory make each array at least {RULE} times as large as all last-level "
        f"caches together{size}; otherwise call it the figure of a cache."
    )
