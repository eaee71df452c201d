"""reports/imported.html: the logs that were made elsewhere, what they say, and what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.imported_runs import Kept, kept
from benchbook.explain.model import Report
from benchbook.explain.render import columns_of, rows_of, shown_as, visible, words
from benchbook.report.index_page import write_page

MOST_LINES = 400  # of a log that are shown; the whole log is beside its manifest
MOST_CHARACTERS = 2000  # of such a line


def make_imported(root: Path, output: Path) -> None:
    """Write the page."""
    runs = [_run(one) for one in kept(root)]
    write_page(output, "imported.html.j2", "Imported logs", runs=runs, environment="")


def _run(one: Kept) -> dict[str, Any]:
    found = one.explained()
    lines = log_of(one.content).lines
    return {
        "name": one.name,
        "manifest": one.manifest,
        "tools": one.manifest["tools"],
        "machine": _machine(one.manifest["machine"]),
        "findings": found.findings,
        "asks": found.asks,
        "notes": found.notes,
        "reports": [_report(report) for report in found.reports],
        "log": [visible(line.text[:MOST_CHARACTERS]) for line in lines[:MOST_LINES]],
        "cut": len(lines) > MOST_LINES,
    }


def _machine(told: dict[str, Any]) -> str:
    """What the importer told of the machine."""
    said = [told["source"]] if told["source"] else []
    if told["llc_bytes"]:
        said.append(f"last-level caches of {format_bytes(told['llc_bytes'])}")
    return ", ".join(said)


def _report(report: Report) -> dict[str, Any]:
    columns, same = columns_of(report.settings)
    facts = {**report.facts, **same}
    rows = rows_of(report)
    return {
        "title": visible(f"{report.tool} {report.version}".strip()),
        "facts": visible("; ".join(f"{words(k)} {shown_as(k, v)}" for k, v in facts.items())),
        "columns": [words(name) for name in columns],
        "rows": [
            {
                "line": line,
                "name": visible(name),
                "statistic": statistic,
                "value": value,
                "unit": visible(unit),
                "base": base,
                "cells": [visible(shown_as(column, of.get(column))) for column in columns],
            }
            for line, name, statistic, value, unit, base, of in rows
        ],
    }
