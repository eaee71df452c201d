"""The command `benchbook ab`."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from benchbook.ab import counted, revisions
from benchbook.ab.answer import Compared
from benchbook.ab.case_files import read_cases
from benchbook.ab.programs import Case, Metric, of_commands
from benchbook.ab.rounds import Limits, Measured, measure
from benchbook.commands.options import ROOT, AsJson
from benchbook.core.errors import BenchbookError
from benchbook.core.processes import measuring_lock
from benchbook.host import facts
from benchbook.report import ab_sentences
from benchbook.report.ab_page import make_page

FAILED = 3  # the exit status of what --fail-if forbids


def command(
    words: Annotated[list[str], typer.Argument(metavar="-- COMMAND_A -- COMMAND_B | CASES.yaml")],
    rev: Annotated[
        list[str] | None,
        typer.Option(help="a commit; given twice, one COMMAND is compared in both"),
    ] = None,
    build: Annotated[str, typer.Option(help="shell command that builds a commit")] = "",
    metric: Annotated[
        str, typer.Option(help="compare a printed figure: a regular expression with one group")
    ] = "",
    higher: Annotated[
        bool, typer.Option("--higher-is-better", help="of that figure; else lower is")
    ] = False,
    budget: Annotated[float, typer.Option(min=0.1, help="seconds a pair takes at most")] = 20.0,
    limit: Annotated[float, typer.Option(min=0.1, help="seconds a run takes at most")] = 600.0,
    equal: Annotated[
        float, typer.Option(min=0.01, max=100, help="up to so many per cent they are equal")
    ] = 1.0,
    cpus: Annotated[str, typer.Option(help="CPUs to run on, as `0,2`")] = "",
    count: Annotated[
        bool, typer.Option("--count", help="count instructions and cache misses too (valgrind)")
    ] = False,
    fail_if: Annotated[
        str, typer.Option(help=f"exit status {FAILED} if B is shown to be, as `slower than 2 %`")
    ] = "",
    keep: Annotated[
        str, typer.Option(help="add the outcome to data/ab/NAME.jsonl, for `benchbook history`")
    ] = "",
    html: Annotated[Path | None, typer.Option(help="write a page to this file")] = None,
    as_json: AsJson = False,
) -> None:
    """Which of two commands is faster, and can this machine tell?"""
    condition = Condition.of(fail_if) if fail_if else None
    printed = Metric(metric, higher) if metric else None
    limits = Limits(budget, limit, equal / 100, _cpus(cpus))
    dice = random.Random()
    results = []
    with _cases(words, rev or [], build, printed) as cases:
        for case in cases:
            with measuring_lock(f"ab {case.name}", ROOT.absolute(), _say):
                measured = measure(case, limits, dice, _begun)
            counts = counted.count(case, measured.place, dice) if count else []
            results.append((measured, counts))
            if not as_json:
                heading = f"{case.name}\n" if len(cases) > 1 else ""
                print(f"{heading}{ab_sentences.as_text(measured, counts)}")
    if as_json:
        content = [ab_sentences.as_json(*result) for result in results]
        print(json.dumps(content if len(content) > 1 else content[0], allow_nan=False))
    if html:
        make_page(results, html)
    if keep:
        _keep(keep, [ab_sentences.as_json(*result) for result in results])
    if condition and any(condition.is_met(measured.compared) for measured, _ in results):
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


def _keep(name: str, outcomes: list[dict[str, Any]]) -> None:
    """Add the outcomes to the history of that name; of several cases each has its own."""
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise BenchbookError(f"--keep {name!r}: a name has letters, digits, dots and dashes")
    folder = ROOT / "data" / "ab"
    folder.mkdir(parents=True, exist_ok=True)
    about = facts.facts() | {"commit": facts.commit(ROOT)}
    for outcome in outcomes:
        file = name if len(outcomes) == 1 else f"{name}-{outcome['name']}"
        line = json.dumps(outcome | {"facts": about}, allow_nan=False)
        with (folder / f"{file}.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")


def _begun(measured: Measured) -> None:
    how = "in turns" if measured.in_turns else "one after another in random order"
    _say(f"measuring {how}, at most about {measured.limits.budget_s:g} s")


def _say(sentence: str) -> None:
    if sys.stderr.isatty():
        print(sentence, file=sys.stderr)


def _cpus(text: str) -> list[int] | None:
    if not text:
        return None
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise BenchbookError(f"--cpus {text!r}: write numbers of CPUs as `0,2`")
    return [int(number) for number in text.split(",")]


@dataclass(frozen=True)
class Condition:
    """What --fail-if forbids: a difference whose whole interval lies beyond a share."""

    word: str
    share: float

    @classmethod
    def of(cls, text: str) -> Condition:
        """BenchbookError where the text is none of the forms."""
        match = re.fullmatch(
            r"(slower|faster|different)(?: than (\d+(?:\.\d+)?) ?%)?", text.strip()
        )
        if not match:
            raise BenchbookError(
                f"--fail-if {text!r}: write slower, faster or different, and `than 2 %` after it"
            )
        return cls(match[1], float(match[2] or 0) / 100)

    def is_met(self, outcome: Compared | None) -> bool:
        """Whether the comparison shows it."""
        assert outcome is not None
        slower = outcome.factor.low > 1 + self.share
        faster = outcome.factor.high < 1 / (1 + self.share)
        return {"slower": slower, "faster": faster, "different": slower or faster}[self.word]
