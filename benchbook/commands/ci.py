"""The command `benchbook ci`."""

from __future__ import annotations

import os
import random
import shlex
from pathlib import Path
from typing import Annotated

import typer

from benchbook.ab import counted, pull_request, revisions
from benchbook.ab.condition import FAILED, Condition
from benchbook.ab.counted import Count
from benchbook.ab.programs import Case, Metric
from benchbook.ab.rounds import Limits, measure
from benchbook.ab.runs import Place
from benchbook.commands.ab import announce
from benchbook.commands.options import (
    ROOT,
    Budget,
    Build,
    Cpus,
    Equal,
    Exports,
    FailIf,
    Higher,
    Pattern,
    RunLimit,
    cpu_numbers,
    say,
)
from benchbook.core.errors import BenchbookError
from benchbook.core.processes import measuring_lock
from benchbook.host import facts
from benchbook.report import ab_sentences, ci_report, measurements
from benchbook.report.measurement_formats import Export

SUMMARY = "GITHUB_STEP_SUMMARY"  # a file whose Markdown GitHub shows on the job's page


def command(
    words: Annotated[list[str], typer.Argument(metavar="-- COMMAND")],
    base: Annotated[
        str, typer.Option(help="the commit to compare with; else the system's variables name it")
    ] = "",
    build: Build = "",
    output: Annotated[Path, typer.Option(help="the folder to write")] = Path("benchbook-ci"),
    metric: Pattern = "",
    higher: Higher = False,
    budget: Budget = 30.0,
    limit: RunLimit = 600.0,
    equal: Equal = 1.0,
    cpus: Cpus = "",
    fail_if: FailIf = None,
    export: Exports = None,
) -> None:
    """Compare a pull request with its base: counted work first, time second."""
    # On GitHub Actions, on GitLab, or in a shell. Both commits are built and run here, so that no
    # runner is ever compared with another one.
    conditions = {text: Condition.of(text) for text in fail_if or []}
    exports = [Export.of(text) for text in export or []]
    printed = Metric(metric, higher) if metric else None
    limits = Limits(budget, limit, equal / 100, cpu_numbers(cpus))
    root, dice = ROOT.absolute(), random.Random()
    pair = pull_request.of_environment(os.environ, root, base)
    with revisions.of_revisions([pair.base, pair.head], build, words, root, printed) as case:
        counts, why = _counts(case, limits, dice)
        if why and any(condition.needs_counts for condition in conditions.values()):
            raise BenchbookError(f"--fail-if needs counted instructions: {why}")
        with measuring_lock("ci", root, say):
            measured = measure(case, limits, dice, announce)
    met = [text for text, rule in conditions.items() if rule.is_met(measured.outcome, counts)]
    checked = ci_report.Checked(pair, shlex.join(words), measured, counts, why, met)
    about = facts.facts()
    host = facts.host_id(about)
    ci_report.write_folder(checked, about | {"commit": facts.commit(ROOT)}, host, output)
    for wanted in exports:
        wanted.write(measurements.of_comparisons([(measured, counts)], host))
    if summary := os.environ.get(SUMMARY):
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(ci_report.comment(checked))
    print(ci_report.title(checked))
    print(ab_sentences.as_text(measured, counts))
    print(f"written: {output}")
    if met:
        raise typer.Exit(FAILED)


def _counts(case: Case, limits: Limits, dice: random.Random) -> tuple[list[Count], str]:
    """What cachegrind counts on one CPU, or why it counts nothing here."""
    usable = limits.cpus or sorted(os.sched_getaffinity(0))
    try:
        for program in case.arms.values():
            program.check()
        return counted.count(case, Place(usable[:1], limits.run_s), dice), ""
    except BenchbookError as error:
        return [], f"{error}"
