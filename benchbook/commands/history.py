"""The command `benchbook history`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from benchbook.ab.condition import FAILED
from benchbook.commands.options import ROOT, AsJson, Exports, say
from benchbook.core.errors import BenchbookError
from benchbook.history.series import history
from benchbook.history.steps import CERTAIN, WORTH_MEASURING
from benchbook.host import facts
from benchbook.report import history_sentences, measurements
from benchbook.report.history_page import make_page
from benchbook.report.measurement_formats import Export

BUDGET_S = 60.0


def command(
    subject: Annotated[
        str, typer.Argument(metavar="EXPERIMENT | PAPER/FIGURE | ab:NAME", help="what to look at")
    ],
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm",
            help="measure before and after each step next to each other now; exit status 3 if a "
            "confirmed step makes something slower",
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(min=0.1, help=f"seconds that --confirm takes at most; else {BUDGET_S:g}"),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="write a page to this file")] = None,
    export: Exports = None,
    as_json: AsJson = False,
) -> None:
    """Over all runs on this host: when did a measurement become slower, and what else changed?"""
    exports = [Export.of(text) for text in export or []]
    if budget is not None and not confirm:
        raise BenchbookError("--budget is the time of --confirm; add --confirm")
    host = facts.host_id(facts.facts())
    series = history(ROOT, host, subject, WORTH_MEASURING if confirm else CERTAIN)
    if confirm:
        from benchbook.history.confirm import confirmed  # with all that measures

        series = confirmed(ROOT, host, subject, series, budget or BUDGET_S, say)
    if as_json:
        content = history_sentences.as_json(subject, series)
        print(json.dumps(content, ensure_ascii=False, allow_nan=False))
    else:
        print(history_sentences.as_text(subject, series))
    if html:
        make_page(subject, series, html)
    for wanted in exports:
        wanted.write(measurements.of_history(subject, series, host))
    if any(found.alarms for item in series for found in item.steps):
        raise typer.Exit(FAILED)
