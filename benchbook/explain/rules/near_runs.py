"""few-repetitions: two single runs of a log that are nearly equal, as runs of one program are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchbook.explain.context.same_runs import MEASURED
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOLS = ("time", "go-bench", "google-benchmark", "sysbench")
NAMES = ("time elapsed", "event rate", "operation rate")  # of tools that print other figures too
NEAR = 0.05  # of the figure
LEAST_APART = 0.001  # what is nearer ran for a time that it was given
WHOLE = ("",)
SETTINGS = ("benchmark", "label", "parameters", "threads", "block_bytes", "array_bytes")
OWN = MEASURED | {"command", "events", "load_average", "load_line", "section", "said_same"}
OWN |= {"said_same_line", "cpu_clock_hz"}


@rule
def near_single_runs(reports: Sequence[Report]) -> Iterator[str]:
    """A note on the only two runs of a tool, each done once, with figures that are within 5 %.

    Decided by what both have and no spread is printed of. Where a text says that both are the same
    code, that is told instead.
    """
    for several in grouped(reports, lambda report: report.tool).values():
        if len(several) != 2 or several[0].tool not in TOOLS or _told(several):
            continue
        first, second = (_figures(report) for report in several)
        pairs = [(first[key], second[key]) for key in first if key in second]
        if not pairs or _settings(several[0]) != _settings(several[1]):
            continue
        apart, pair = max(((_apart(*pair), pair) for pair in pairs), key=lambda entry: entry[0])
        if LEAST_APART <= apart <= NEAR:
            words = {"first": pair[0], "second": pair[1], "apart": apart}
            yield finding("near-single-runs", words).explanation


SHORT_NS = 2e7  # of a repetition: the clock and an interruption count
UNSURE = 0.3  # between two best ones


@rule
def best_of_one_start(reports: Sequence[Report]) -> Iterator[str]:
    """A note on the only two bests of timeit that are near each other: each is of one process."""
    bests = [best for report in reports if report.tool == "timeit" for best in report.being("best")]
    if len(bests) != 2 or not all(best.is_positive for best in bests):
        return
    first, second = bests
    apart = _apart(first, second)
    lengths = [best.base_value * float(best.of.get("iterations") or 0) for best in bests]
    if 0 < apart <= UNSURE and all(is_number(best.of.get("repetitions")) for best in bests):
        words = {"first": first, "second": second, "apart": apart, "runs": first.of["repetitions"]}
        words["short"] = max(lengths) if 0 < max(lengths) < SHORT_NS else None
        yield finding("best-of-one-start", words).explanation


def _told(several: Sequence[Report]) -> bool:
    return any(
        "said_same_line" in report.facts
        or "build" in report.columns
        or report.being("sample", "stddev", "error", "range")
        for report in several
    )


def _figures(report: Report) -> Mapping[object, Result]:
    figures: dict[object, Result] = {}
    for result in report.results:
        is_wanted = result.is_time or result.name in NAMES
        if report.tool in ("time", "sysbench"):
            is_wanted = result.name in NAMES
        if is_wanted and result.statistic in WHOLE and result.is_positive:
            key = result.name, *(str(report.column(result, name)) for name in SETTINGS)
            figures.setdefault(key, result)
    return figures


def _settings(report: Report) -> dict[str, str]:
    return {name: repr(fact) for name, fact in report.facts.items() if name not in OWN}


def _apart(first: Result, second: Result) -> float:
    values = first.base_value, second.base_value
    return max(values) / min(values) - 1


LEAST_CALL_NS = 1e4  # of the slowest repetition: what is shorter may be the clock's own time
WARMED = 4.0  # slowest ÷ fastest repetition, of which timeit warns


@rule
def slowest_of_loops(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """Bests of timeit, where it warns that the slowest repetition took far longer."""
    warned = [
        (report.facts["slowest_over_fastest"], best, report.facts["warned_in_line"])
        for report in reports
        if report.tool == "timeit" and "slowest_over_fastest" in report.facts
        for best in report.being("best")
    ]
    warned = [entry for entry in warned if is_number(entry[0]) and entry[0] >= WARMED]
    if warned and all(times * best.base_value < LEAST_CALL_NS for times, best, _ in warned):
        times, best, line = warned[0]
        yield (
            f"line {line}: the slowest repetition took {times:,.6g} times as long as the fastest "
            f"({best.value:,.6g} {best.unit}). IPython counts its own trial of a single call too, "
            "and to read the clock takes about as long. So this warning says little of so short "
            "a statement"
        )
    elif warned:
        times, best, line = max(warned, key=lambda entry: float(entry[0]))
        words = {"best": best, "times": times, "line": line}
        yield finding("slowest-of-loops", words)
