"""The command `benchbook history`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, AsJson, Exports
from benchbook.history.series import history
from benchbook.host import facts
from benchbook.report import history_sentences, measurements
from benchbook.report.history_page import make_page
from benchbook.report.measurement_formats import Export


def command(
    subject: Annotated[
        str, typer.Argument(metavar="EXPERIMENT | PAPER/FIGURE | ab:NAME", help="what to look at")
    ],
    html: Annotated[Path | None, typer.Option(help="write a page to this file")] = None,
    export: Exports = None,
    as_json: AsJson = False,
) -> None:
    """Over all runs on this host: when did a measurement become slower, and what else changed?"""
    exports = [Export.of(text) for text in export or []]
    host = facts.host_id(facts.facts())
    series = history(ROOT, host, subject)
    if as_json:
        content = history_sentences.as_json(subject, series)
        print(json.dumps(content, ensure_ascii=False, allow_nan=False))
    else:
        print(history_sentences.as_text(subject, series))
    if html:
        make_page(subject, series, html)
    for wanted in exports:
        wanted.write(measurements.of_history(subject, series, host))
