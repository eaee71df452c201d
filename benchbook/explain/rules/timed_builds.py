"""unequal-work: timed commands that build a program before they run it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.context.threads_of_commands import command_of
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.cpus_used import busy
from benchbook.findings import Finding

TOOLS = ("time", "hyperfine", "perf-stat")
_BUILDS = late(
    r"(?:^|[;&|]\s*|\bsudo |\benv )"
    r"(?P<what>cargo (?:\+\S+ )?(?:run|test|bench|r|t)|go (?:run|test)"
    r"|dotnet (?:run|test)|swift (?:run|test)|zig (?:build run|run|build test)"
    r"|nim (?:c|cpp) -r|nim r"
    r"|stack (?:run|test|bench)"
    r"|cabal (?:run|test|bench)|crystal run|dune exec|lake exe|sbt run"
    r"|mvn \S+|(?:\./)?gradlew? \S+|rustc \S+ && \S+|make (?:test|check|bench\w*|run))\b"
)
_BUILT_BEFORE = late(r"--no-build|--no-run|-c opt\b|--skip-build")
LARGE = 0.1  # of the elapsed time
TIMES = 2.0  # the CPU time of one run, against another one of the same command


@rule
def build_in_the_time(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """Commands that build first: what the log says of the building, or two runs of one command that
    took quite another CPU time; else a note."""
    timed = [
        (report, own, found["what"])
        for report in reports
        if report.tool in TOOLS and (own := busy(report))
        if (found := _BUILDS.search(command_of(report)))
        if not _BUILT_BEFORE.search(command_of(report))
    ]
    for report, own, what in timed:
        built = report.facts.get("built_s")
        if is_number(built) and LARGE * own.elapsed.base_value <= built * 1e9:
            words: dict[str, Any] = {"what": what, "elapsed": own.elapsed, "built": built}
            words["line"] = report.facts["built_line"]
            if built * 1e9 <= own.elapsed.base_value:
                yield finding("building-in-the-time", words, about=[own.elapsed])
                return
    if len(timed) == 2 and command_of(timed[0][0]) == command_of(timed[1][0]):
        large, small = sorted(
            (own for _, own, _ in timed), key=lambda own: own.on_cpus_ns, reverse=True
        )
        if large.on_cpus_ns >= TIMES * small.on_cpus_ns and large.cpus > 1.3 * small.cpus:
            words = {"what": timed[0][2], "large": large.elapsed, "small": small.elapsed}
            words |= {"large_ns": large.on_cpus_ns, "small_ns": small.on_cpus_ns}
            words |= {"large_cpus": large.cpus, "small_cpus": small.cpus}
            yield finding("builds-one-of-two", words)
            return
    if timed:
        _, own, what = timed[0]
        yield finding("builds-first", what=what, elapsed=own.elapsed).explanation
