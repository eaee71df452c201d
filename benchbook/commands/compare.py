"""The command `benchbook compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, AsJson
from benchbook.compare import compare
from benchbook.report.compare_page import make_compare
from benchbook.report.compare_sentences import as_json as json_of
from benchbook.report.compare_sentences import as_text

PAGE = Path("reports/compare.html")


def command(
    a: Annotated[str, typer.Argument(metavar="A", help="a run's folder, HOST, or HOST/PRESET")],
    b: Annotated[str, typer.Argument(metavar="B", help="what it is compared with")],
    html: Annotated[bool, typer.Option("--html", help="write reports/compare.html")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how many times as fast B is as A, point by point, and what else differs."""
    comparison = compare(ROOT, a, b)
    if html:
        make_compare(comparison, ROOT / PAGE)
    if as_json:
        print(json.dumps(json_of(comparison), indent=1, ensure_ascii=False, allow_nan=False))
        return
    print(as_text(comparison))
    if html:
        print(f"\n{PAGE}")
