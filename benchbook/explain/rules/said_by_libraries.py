"""undecided-ratio, few-repetitions, unequal-work: what libraries of benchmarks say of their own
rows, told as what it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding


@rule
def alike_by_the_tool(report: Report) -> Iterator[Finding]:
    """Rows that the tool itself calls the same as the fastest one."""
    said = report.facts.get("said_alike")
    if said:
        name, line = said[0]
        words = {"name": name, "line": line, "left": len(said) - 1 or None}
        yield finding("same-by-tool", words)


@rule
def regressions_by_the_tool(report: Report) -> Iterator[Finding]:
    """Counts that the tool itself calls a regression."""
    said = report.facts.get("said_regressions")
    if said:
        first = max(said, key=lambda own: float(own["change"]))
        words = {**first, "left": len(said) - 1 or None}
        yield finding("more-by-count", words)


@rule
def unstable_by_the_tool(report: Report) -> Iterator[str]:
    """A note on rows that nanobench itself calls unstable."""
    said = report.facts.get("said_unstable_rows")
    if said:
        name, line = said[0]
        words = {"name": name, "line": line, "left": len(said) - 1 or None}
        yield finding("unstable-row", words).explanation


MUCH = 0.1  # deviation ÷ mean
DEVIATING = (
    "benchmark-ips", "phpbench", "benchee", "tasty-bench", "catch2", "nanobench", "xctest",
)  # fmt: skip


@rule
def wide_rows(report: Report) -> Iterator[Finding]:
    """Rows whose runs deviate from their mean by a tenth of it or more."""
    if report.tool not in DEVIATING:
        return
    spreads = {(own.name, own.line): own for own in report.being("stddev", "error")}
    wide: dict[tuple[str, int], tuple[Result, Result]] = {}
    for figure in report.being("mean", "mode", "median"):
        own = _spread(spreads, figure)
        if own is not None and figure.is_positive and own.base_value >= MUCH * figure.base_value:
            wide.setdefault((figure.name, figure.line), (figure, own))
    if wide:
        figure, own = max(wide.values(), key=lambda pair: pair[1].base_value / pair[0].base_value)
        share = own.base_value / figure.base_value
        words: dict[str, Any] = {"figure": figure, "spread": own, "share": share, "runs": None}
        runs = figure.of.get("repetitions")
        words |= {"left": len(wide) - 1 or None, "runs": runs if is_number(runs) else None}
        yield finding("wide-rows", words, about=[each for each, _ in wide.values()])


def _spread(spreads: dict[tuple[str, int], Result], figure: Result) -> Result | None:
    # Catch2 has the deviation in the line below.
    own = spreads.get((figure.name, figure.line)) or spreads.get((figure.name, figure.line + 1))
    return own if own is not None and own.is_number and own.is_time == figure.is_time else None


OF_ERRORS = ("benchmark.js", "tinybench", "vitest-bench")  # which print the error of the mean
LARGE = 0.1  # error ÷ mean


@rule
def errors_of_means(report: Report) -> Iterator[Finding]:
    """Means whose printed error is a tenth of them or more."""
    if report.tool not in OF_ERRORS:
        return
    errors = {(own.name, own.line): own for own in report.being("error")}
    wide = [
        (error.base_value / mean.base_value, mean, error)
        for mean in report.being("mean")
        if (error := errors.get((mean.name, mean.line))) and mean.is_positive and error.is_number
        if error.base_value >= LARGE * mean.base_value
    ]
    if wide:
        share, mean, error = max(wide, key=lambda entry: entry[0])
        words: dict[str, Any] = {"mean": mean, "share": share, "left": len(wide) - 1 or None}
        yield finding("mean-known-to", words, about=[mean, error])


NEARLY_NONE = 1e4  # per cent slower than a baseline


@rule
def baseline_of_nothing(report: Report) -> Iterator[Finding]:
    """A benchmark that takes over a hundred times as long as its baseline."""
    if report.tool != "tasty-bench":
        return
    means = {own.line: own for own in report.being("mean")}
    far = [own for own in report.being("change") if own.value >= NEARLY_NONE and own.line in means]
    if far:
        change = max(far, key=lambda own: own.value)
        mean = means[change.line]
        made = mean.base_value / (1 + change.value / 100)
        words = {"mean": mean, "change": change, "made": made}
        yield finding("baseline-of-nothing", words, about=[mean, change])


LAUNCH = 1.2  # GPU time ÷ the same in a batch


@rule
def isolated_kernels(report: Report) -> Iterator[Finding | str]:
    """Kernels of nvbench that take longer alone than in a batch, rows of one sample, and a host
    whose times deviate by half."""
    if report.tool != "nvbench":
        return
    times = [own for own in report.being("mean") if own.name.endswith(" GPU time")]
    batched = {own.line: own for own in times if own.name.endswith(" batched GPU time")}
    alone = {own.line: own for own in times if not own.name.endswith(" batched GPU time")}
    slow = [
        (own, batched[line])
        for line, own in alone.items()
        if line in batched and own.base_value >= LAUNCH * batched[line].base_value > 0
    ]
    if slow:
        own, batch = max(slow, key=lambda pair: pair[0].base_value / pair[1].base_value)
        rate = next((r for r in report.results if r.line == own.line and r.rate), None)
        words: dict[str, Any] = {"alone": own, "batch": batch}
        words |= {"rate": rate, "times": own.base_value / batch.base_value}
        yield finding("launch-in-time", words, about=[own, batch])
    single = [own for own in alone.values() if own.of.get("repetitions") == 1]
    if single:
        first, last = (pick(single, key=lambda own: own.base_value) for pick in (max, min))
        words = {"first": first, "left": len(single) - 1 or None, "cold": None, "least": last}
        if first is single[0] and first.base_value >= COLD * last.base_value:
            words["cold"] = first
        yield finding("one-sample", words).explanation


COLD = 5.0  # first single sample ÷ shortest of the others


@rule
def same_by_noise(report: Report) -> Iterator[str]:
    """A note on comparisons of nvbench whose figures all differ by less than their noise."""
    if report.tool != "nvbench":
        return
    changes = [own for own in report.being("change") if own.is_number]
    noise: dict[int, float] = {}
    means = {(own.name, own.line): own for own in report.being("mean")}
    for spread in report.being("stddev"):
        mean = means.get((spread.name, spread.line))
        if mean is not None and mean.is_positive:
            share = 100 * spread.base_value / mean.base_value
            noise[spread.line] = min(share, noise.get(spread.line, share))
    within = [own for own in changes if abs(own.value) <= noise.get(own.line, 0.0)]
    if within:
        words = {"count": len(changes), "near": len(within), "first": within[0]}
        words["noise"] = noise[within[0].line]
        yield finding("within-noise", words).explanation
