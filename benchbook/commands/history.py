"""The command `benchbook history`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, AsJson
from benchbook.history.series import history
from benchbook.host import facts
from benchbook.report import history_sentences


def command(
    subject: Annotated[
        str, typer.Argument(metavar="EXPERIMENT | PAPER/FIGURE | ab:NAME", help="what to look at")
    ],
    as_json: AsJson = False,
) -> None:
    """Over all runs on this host: when did a measurement become slower, and what else changed?"""
    series = history(ROOT, facts.host_id(facts.facts()), subject)
    if as_json:
        content = history_sentences.as_json(subject, series)
        print(json.dumps(content, ensure_ascii=False, allow_nan=False))
    else:
        print(history_sentences.as_text(subject, series))
