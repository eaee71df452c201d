"""dead-code: a loop takes as long for far more work, and less than any work takes.

Decided by a time too short for the empty loop itself, or by the same benchmark at several sizes
whose work it counts itself (in bytes or items): its time must grow with them, unless the compiler
removed the work and left the empty loop. Without such a count it may be an operation that takes as
long at any size.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import listed, number
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.above_ceiling import CORE_BYTES_PER_S
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding, proof

ARTEFACT = "dead-code"
NEEDS = ("benchmark", "arithmetic")
NO_LOOP_NS = 0.02  # for an iteration: a tenth of a cycle of any core
SURELY_ROUNDED = 10**11  # iterations; a time that was not nothing would have been long
MOST_NS = 1.0  # for an iteration over the largest size; a cycle or three
LEAST_SIZE = 1000  # units of work that no core does in that time
LEAST_GROWTH = 8  # largest ÷ smallest size
BATCHED_BYTES = 2  # for an iteration that has no loop of its own
SAME = 1.25  # slowest ÷ fastest
SURE = 0.95
REMEDY = (
    "Use the result where the compiler cannot see through it (DoNotOptimize and ClobberMemory in "
    "Google Benchmark), look for the loop in the disassembly, and measure two sizes again: twice "
    "the work must take longer."
)
OF_ARITHMETIC = (
    "Set these figures aside: look for the operation in the disassembly, keep its result where the "
    "compiler cannot see through it, and take the latency from one that depends on the last."
)
SHOWN = 3
_SIZED = late(r"(.+?)/(\d{1,15})(/.*)?")


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each benchmark whose time does not know how much there is to do."""
    del machine
    for report in reports:
        yield from _arithmetic(report)
        yield from _without_loop(report)
        for family, sizes in _families(report).items():
            times = [in_base(one.value, one.unit)[0] for one in sizes.values()]
            least, most = min(sizes), max(sizes)
            grows = most >= LEAST_SIZE and most >= LEAST_GROWTH * max(1, least)
            if len(sizes) > 1 and grows and max(times) <= MOST_NS and _alike(times):
                yield _finding(family, sizes)


def _arithmetic(report: Report) -> Iterator[Finding]:
    """Operations of arithmetic that took no time, as many of them as a loop was to hold."""
    none = [
        one
        for one in report.knowing("arithmetic")
        if in_base(1.0, one.unit)[1] == "ns" and 0 <= in_base(one.value, one.unit)[0] < NO_LOOP_NS
    ]
    if none:
        first = none[0]
        names = listed([one.name for one in none[:SHOWN]])
        more = f" and {len(none) - SHOWN} more" if len(none) > SHOWN else ""
        yield Finding(
            artefact=ARTEFACT,
            effect="invalidates",
            where=[one.where for one in none],
            confidence=SURE,
            evidence=[proof(first.name, first.value, first.unit, f"line {first.line}")],
            explanation=(
                f"{names}{more} took {number(first.value)} {first.unit} (line {first.line}): less "
                "than a tenth of a cycle, in which no core does anything. The compiler removed the "
                "operations, or what was left of their loop was taken away as its overhead."
            ),
            remedy=OF_ARITHMETIC,
        )


def _without_loop(report: Report) -> Iterator[Finding]:
    """Iterations that took no time: not even the loop around the work is left."""
    few: list[Result] = []
    for one in report.knowing("benchmark"):
        if "iterations" not in one.of or one.of.get("threads", 1) != 1 or not is_number(one.value):
            continue
        value, unit = in_base(one.value, one.unit)
        if unit != "ns" or not one.name.endswith(" cpu time") or not 0 <= value < NO_LOOP_NS:
            continue
        rounded = one.of["iterations"] < SURELY_ROUNDED
        if value == 0 and rounded and one.of.get("below_ns", NO_LOOP_NS) >= NO_LOOP_NS:
            continue
        few.append(one)
    in_batches = _in_batches(report) if few else set()
    for one in few:
        if one.of["benchmark"] in in_batches:
            continue
        yield Finding(
            artefact=ARTEFACT,
            effect="invalidates",
            where=[one.where],
            confidence=SURE,
            evidence=[proof(one.name, one.value, one.unit, f"line {one.line}")],
            explanation=(
                f"{one.name} is {number(one.value)} {one.unit} an iteration (line {one.line}): "
                "less than a tenth of a cycle, in which no core does anything. The compiler "
                "removed the work and the loop around it."
            ),
            remedy=REMEDY,
        )


def _in_batches(report: Report) -> set[object]:
    """Benchmarks whose iteration is a byte or two at a rate that cores have: their loop is run for
    many at a time (KeepRunningBatch), and its own share of each is small."""
    rates = {
        one.of["benchmark"]: rate
        for one in report.knowing("benchmark")
        if (rate := bytes_per_s(one.value, one.unit)) and rate <= CORE_BYTES_PER_S
    }
    return {
        one.of["benchmark"]
        for one in report.knowing("benchmark")
        if one.name.endswith(" cpu time") and one.of["benchmark"] in rates
        if rates[one.of["benchmark"]] * in_base(one.value, one.unit)[0] / 1e9 <= BATCHED_BYTES
    }


def _families(report: Report) -> dict[str, dict[int, Result]]:
    """Times of an iteration by the number in the benchmark's name; several threads share one."""
    found: dict[str, dict[int, Result]] = {}
    own = [one for one in report.knowing("benchmark") if "iterations" in one.of]
    counting = {one.of["benchmark"] for one in own if _is_rate(one)}
    for one in own:
        if one.of["benchmark"] not in counting or one.name.endswith(" cpu time"):
            continue
        if in_base(1.0, one.unit)[1] != "ns" or not is_number(one.value) or one.value <= 0:
            continue
        sized = _SIZED.fullmatch(str(one.of["benchmark"]))
        if sized and (one.of.get("threads") or 1) == 1:
            title = f"{sized[1]}/…{sized[3] or ''}{one.name.removeprefix(one.of['benchmark'])}"
            found.setdefault(title, {}).setdefault(int(sized[2]), one)
    return found


def _is_rate(one: Result) -> bool:
    return one.unit == "items/s" or bytes_per_s(one.value, one.unit) is not None


def _alike(times: list[float]) -> bool:
    return max(times) <= SAME * min(times)


def _finding(family: str, sizes: dict[int, Result]) -> Finding:
    least, most = min(sizes), max(sizes)
    small, large = sizes[least], sizes[most]
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in sizes.values()],
        confidence=SURE,
        evidence=[
            proof(one.name, one.value, one.unit, f"line {one.line}") for one in (small, large)
        ],
        explanation=(
            f"{family} takes {number(small.value)} {small.unit} for {least:,} (line {small.line}) "
            f"and {number(large.value)} {large.unit} for {most:,} (line {large.line}): "
            f"{number(most / max(1, least))} times the work in the same cycle or two. The compiler "
            "removed the work, and the time is that of an empty loop."
        ),
        remedy=REMEDY,
    )
