"""The command `benchbook ab`."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from benchbook.ab import counted, revisions
from benchbook.ab.case_files import read_cases
from benchbook.ab.condition import FAILED, Condition
from benchbook.ab.programs import Case, Metric, of_commands
from benchbook.ab.rounds import Limits, Measured, measure
from benchbook.commands.options import (
    ROOT,
    AsJson,
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
from benchbook.report import ab_sentences, measurements
from benchbook.report.ab_page import make_page
from benchbook.report.measurement_formats import Export


def command(
    words: Annotated[list[str], typer.Argument(metavar="-- COMMAND_A -- COMMAND_B | CASES.yaml")],
    rev: Annotated[
        list[str] | None,
        typer.Option(help="a commit; given twice, one COMMAND is compared in both"),
    ] = None,
    build: Build = "",
    metric: Pattern = "",
    higher: Higher = False,
    budget: Budget = 20.0,
    limit: RunLimit = 600.0,
    equal: Equal = 1.0,
    cpus: Cpus = "",
    count: Annotated[
        bool, typer.Option("--count", help="count instructions and cache misses too (valgrind)")
    ] = False,
    fail_if: FailIf = None,
    keep: Annotated[
        str, typer.Option(help="add the outcome to data/ab/NAME.jsonl, for `benchbook history`")
    ] = "",
    html: Annotated[Path | None, typer.Option(help="write a page to this file")] = None,
    export: Exports = None,
    as_json: AsJson = False,
) -> None:
    """Which of two commands is faster, and can this machine tell?"""
    conditions = [Condition.of(text) for text in fail_if or []]
    if not count and any(condition.needs_counts for condition in conditions):
        raise BenchbookError("--fail-if is about counted instructions here; add --count")
    exports = [Export.of(text) for text in export or []]
    printed = Metric(metric, higher) if metric else None
    limits = Limits(budget, limit, equal / 100, cpu_numbers(cpus))
    dice = random.Random()
    results = []
    commits = tuple(revisions.commit_of(ROOT.absolute(), name) for name in rev or [])
    with _cases(words, rev or [], build, printed) as cases:
        for case in cases:
            with measuring_lock(f"ab {case.name}", ROOT.absolute(), say):
                measured = measure(case, limits, dice, announce)
            counts = counted.count(case, measured.place, dice) if count else []
            results.append((measured, counts))
            if not as_json:
                heading = f"{case.name}\n" if len(cases) > 1 else ""
                print(f"{heading}{ab_sentences.as_text(measured, counts)}")
    content = [ab_sentences.as_json(*result) for result in results]
    if as_json:
        print(json.dumps(content if len(content) > 1 else content[0], allow_nan=False))
    if html:
        make_page(results, html)
    if exports:
        values = measurements.of_comparisons(results, facts.host_id(facts.facts()))
        for wanted in exports:
            wanted.write(values)
    if keep:
        compared = {"commits": commits, "build": build, "command": words} if rev else None
        _keep(keep, content, compared)
    if any(
        condition.is_met(measured.outcome, counts)
        for condition in conditions
        for measured, counts in results
    ):
        raise typer.Exit(FAILED)


@contextmanager
def _cases(
    words: list[str], rev: list[str], build: str, metric: Metric | None
) -> Iterator[list[Case]]:
    if rev:
        with revisions.of_revisions(rev, build, words, ROOT.absolute(), metric) as case:
            yield [case]
    elif build:
        raise BenchbookError("--build is for commits; name two of them with --rev")
    elif len(words) == 1 and Path(words[0]).suffix in (".yaml", ".yml"):
        yield read_cases(Path(words[0]))
    else:
        yield [of_commands(words, ROOT.absolute(), metric)]


def _keep(
    name: str, outcomes: list[dict[str, Any]], compared: dict[str, Any] | None = None
) -> None:
    """Add the outcomes to the history of that name; of several cases each has its own. `compared`:
    the commits, if commits were compared, and what builds and runs them."""
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise BenchbookError(f"--keep {name!r}: a name has letters, digits, dots and dashes")
    folder = ROOT / "data" / "ab"
    folder.mkdir(parents=True, exist_ok=True)
    about = facts.facts() | {"commit": facts.commit(ROOT)}
    for outcome in outcomes:
        file = name if len(outcomes) == 1 else f"{name}-{outcome['name']}"
        line = json.dumps(outcome | {"facts": about, "revisions": compared}, allow_nan=False)
        with (folder / f"{file}.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")


def announce(measured: Measured) -> None:
    """Say how a case is measured, before it is."""
    how = "in turns" if measured.in_turns else "one after another in random order"
    say(f"measuring {how}, at most about {measured.limits.budget_s:g} s")
