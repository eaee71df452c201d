"""`benchbook explain`: files -> what they say, and what is wrong with it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchbook import importers
from benchbook.artefacts import Finding
from benchbook.importers import Log, Report, Result
from benchbook.logs.cleaning import log_of
from benchbook.logs.rules import Ask, Machine, rules
from benchbook.logs.units import in_base
from benchbook.sizes import parse_bytes

VERSION = 1
NOT_RECOGNISED = 2  # exit code


def show(files: list[Path], l3: str, *, as_json: bool) -> None:
    """Print what the files say; exit code 2 where one of them was not recognised."""
    machine = Machine(parse_bytes(l3) if l3 else None, source="--l3" if l3 else "")
    found = [explained(str(one), _content(one), machine) for one in files]
    if as_json:
        print(json.dumps(found if len(found) > 1 else found[0], indent=1))
    if any(one["tool"] is None for one in found):
        raise SystemExit(NOT_RECOGNISED)


def _content(file: Path) -> bytes:
    return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()


def read(log: Log) -> list[Report]:
    """What all importers find in a log, in its order."""
    found: list[Report] = []
    for name in importers.names():
        module = importers.importer(name)
        signs = getattr(module, "SIGNS", None)
        if signs is None or signs.search(log.text):
            found += module.read(log)
    return sorted(found, key=lambda report: report.line)


def explained(name: str, content: bytes, machine: Machine) -> dict[str, Any]:
    """One file as `explain --json` prints it; `tool` is None where nothing was recognised."""
    reports = read(log_of(content))
    said = [one for rule in rules() for one in rule.check(reports, machine)]
    return {
        "version": VERSION,
        "file": name,
        "tool": reports[0].tool if reports else None,
        "results": [_record(report, result) for report in reports for result in report.results],
        "findings": [one.record(report_tools(reports)) for one in said if isinstance(one, Finding)],
        "asks": [asdict(one) for one in said if isinstance(one, Ask)],
        "notes": [note for report in reports for note in report.notes],
    }


def report_tools(reports: list[Report]) -> str:
    """The tools of a file, as findings name what they are about."""
    return ", ".join(dict.fromkeys(report.tool for report in reports))


def _record(report: Report, result: Result) -> dict[str, Any]:
    value, unit = in_base(result.value, result.unit)
    return {
        "tool": report.tool,
        "name": result.name,
        "value": result.value,
        "unit": result.unit,
        "statistic": result.statistic,
        "line": result.line,
        "base_value": value,
        "base_unit": unit,
        **{key: one for key, one in {**report.facts, **result.of}.items() if one is not None},
    }
