"""dead-code: a benchmark that takes next to no time where its neighbours take long, and benchmarks
that take no longer than one that does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.micro_benchmarks import LEAST_NS, LIBRARIES, MEANS
from benchbook.findings import Finding

TABLES = ("table",)
OTHERS = ("vitest-bench", "pytest-benchmark", "benchmark.js", "google-benchmark")
FAR = 1e4  # times as long, all the others
MOST_NS = 10.0  # of a call with a check
LEAST_OTHERS = 2
_NOT_ONE = late(r"(?i)cpu time|error|overhead|empty|noop|baseline|nothing|per[ _]|clock|tick|/op\b")


def _times(report: Report) -> list[Result]:
    """One time of each benchmark or row."""
    times: dict[tuple[str, str, int], Result] = {}
    for own in report.being(*MEANS):
        if own.is_time and own.is_positive and not own.name.endswith("cpu time"):
            times.setdefault((own.name, str(own.of.get("label", "")), own.line), own)
    return list(times.values())


def _called(own: Result) -> str:
    return str(own.of.get("label") or own.of.get("benchmark") or own.name)


@rule
def next_to_no_time(report: Report) -> Iterator[Finding]:
    """One benchmark of a few nanoseconds where all others take ten thousand times as long.

    Decided by the times alone: a few cycles are a call and a check.
    """
    if report.tool not in (*LIBRARIES, *TABLES, *OTHERS):
        return
    times = report.kept(_times)
    if len({own.line for own in times}) < len(times) or len(times) <= LEAST_OTHERS:
        return
    least, *others = sorted(times, key=lambda own: own.base_value)
    if not LEAST_NS <= least.base_value <= MOST_NS or _NOT_ONE.search(_called(least)):
        return
    if others[0].base_value >= FAR * least.base_value:
        words = {"least": least, "what": _called(least), "next": others[0]}
        words |= {"count": len(others), "times": others[0].base_value / least.base_value}
        yield finding("next-to-no-time", words, about=[least])


_NOTHING = late(
    r"(?i)^(?:bm_?|bench_?)?(?:no_?op|empty|do_?nothing|nothing|empty_?loop)(?: real time| time)?$"
)
NEAR = 1.15  # times the empty one


@rule
def no_more_than_nothing(report: Report) -> Iterator[Finding]:
    """Benchmarks of at most ten nanoseconds that take no longer than one that does nothing by its
    name."""
    if report.tool not in (*LIBRARIES, *OTHERS):
        return
    times = report.kept(_times)
    empty = [own for own in times if _NOTHING.search(str(own.of.get("benchmark", own.name)))]
    if not empty:
        return
    reference = max(empty, key=lambda own: own.base_value)
    near = [
        own
        for own in times
        if own not in empty and own.base_value <= MOST_NS * 2
        if own.base_value <= NEAR * reference.base_value
    ]
    if near:
        first = near[0]
        words = {"first": first, "what": _called(first), "empty": reference}
        words |= {"called": _called(reference), "left": len(near) - 1 or None}
        yield finding("no-more-than-nothing", words, about=near)
