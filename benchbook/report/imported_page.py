"""reports/imported.html: the logs that were made elsewhere, what they say, and what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.explain.api import (
    ImportedRun,
    Report,
    columns_of,
    imported_runs,
    log_of,
    rows_of,
    shown_as,
    visible,
    words,
)
from benchbook.report.index_page import write_page

MOST_LINES = 400  # of a log that are shown; the whole log is beside its manifest
MOST_CHARACTERS = 2000  # of such a line


def make_imported(root: Path, output: Path) -> None:
    """Write the page."""
    runs = [_run(imported) for imported in imported_runs(root)]
    write_page(output, "imported.html.j2", "Imported logs", runs=runs, environment="")


def _run(imported: ImportedRun) -> dict[str, Any]:
    explained = imported.explained()
    lines = log_of(imported.content).lines
    return {
        "name": imported.name,
        "manifest": imported.manifest,
        "tools": imported.manifest["tools"],
        "machine": _machine(imported.manifest["machine"]),
        "findings": explained.findings,
        "asks": explained.asks,
        "notes": explained.notes,
        "reports": [_report(report) for report in explained.reports],
        "log": [visible(line.text[:MOST_CHARACTERS]) for line in lines[:MOST_LINES]],
        "cut": len(lines) > MOST_LINES,
    }


def _machine(machine: dict[str, Any]) -> str:
    """What the manifest has on the machine: the source of the facts, and its caches."""
    parts = [machine["source"]] if machine["source"] else []
    if machine["llc_bytes"]:
        parts.append(f"last-level caches of {format_bytes(machine['llc_bytes'])}")
    return ", ".join(parts)


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
