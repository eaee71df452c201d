"""Logs that were made elsewhere, kept as runs: `benchbook import FILE --as NAME`.

data/imported/<name>/ has the log as it came, the manifest (its checksum, where it was, what is told
of its machine), the results as a tidy table and what was found; append-only like any run. Its
evidence state is `imported`. Pages explain the log anew, so that a later rule judges it too.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json, write_text
from benchbook.core.sizes import parse_bytes
from benchbook.core.units import RATE, UNITS, quantity_of
from benchbook.explain import explanation
from benchbook.explain.explanation import Explained
from benchbook.explain.figures.cells import visible
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s, in_base

VERSION = 1
FOLDER = "data/imported"
LOG, MANIFEST, RESULTS, EXPLAINED = "log", "manifest.json", "results.csv", "explained.json"
STATE = "imported"
_NAME = late(r"[A-Za-z0-9][\w.+-]{0,79}")


@dataclass(frozen=True)
class ImportedRun:
    """An imported run."""

    name: str
    manifest: dict[str, Any]
    content: bytes

    def explained(self) -> Explained:
        """What its log says, by the importers and rules of today."""
        machine = Machine(**self.manifest["machine"])
        return explanation.of_content(self.manifest["file"], self.content, machine)


def keep_log(root: Path, file: Path, name: str, machine: Machine) -> Path:
    """Keep a log under a name; the same log under the same name again is nothing new."""
    if not _NAME.fullmatch(name):
        raise BenchbookError(
            f"--as {name!r} is no name: use letters, digits, '.', '_', '+' and '-', beginning with "
            "a letter or a digit"
        )
    explained = explanation.of_file(file, machine)
    if explained.trouble:
        raise BenchbookError(explained.trouble)
    content = explained.content
    digest, folder = hashlib.sha256(content).hexdigest(), root / FOLDER / name
    if (folder / MANIFEST).exists():
        if read_json(folder / MANIFEST)["sha256"] == digest:
            return folder
        raise BenchbookError(
            f"{folder} has another log, and runs are never overwritten; choose another name"
        )
    draft = folder.with_name(f".{name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    (draft / LOG).write_bytes(content)
    record = explained.record()
    write_text(draft / RESULTS, _table(record["results"]))
    write_json(draft / EXPLAINED, record)
    manifest = {
        "version": VERSION,
        "name": name,
        "state": STATE,
        "file": visible(explanation.STDIN if str(file) == explanation.STDIN else file.name),
        "sha256": digest,
        "bytes": len(content),
        "imported_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "tools": record["tools"],
        "machine": asdict(machine),
    }
    write_json(draft / MANIFEST, manifest)
    shutil.rmtree(folder, ignore_errors=True)  # of an import that was killed: it has no manifest
    draft.rename(folder)
    return folder


def _table(results: list[dict[str, Any]]) -> str:
    """One row per printed number; its state says that it was not measured here."""
    columns = list(dict.fromkeys(name for result in results for name in result))
    stream = io.StringIO()
    table = csv.DictWriter(stream, [*columns, "state"], lineterminator="\n")
    table.writeheader()
    table.writerows({**result, "state": STATE} for result in results)
    return stream.getvalue()


def imported_runs(root: Path) -> Iterator[ImportedRun]:
    """All imported runs, by name; what was torn by a kill has no manifest and is none."""
    for path in sorted((root / FOLDER).glob("[!.]*/" + MANIFEST)):
        manifest = read_json(path)
        content = (path.with_name(LOG)).read_bytes()
        if hashlib.sha256(content).hexdigest() != manifest["sha256"]:
            raise BenchbookError(
                f"{path.with_name(LOG)} was changed after its import: its checksum is another; "
                "import the original anew under another name and remove this folder"
            )
        yield ImportedRun(path.parent.name, manifest, content)


def imported_values(
    root: Path, figure: Mapping[str, Any], rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Imported results that belong beside the rows of a paper's figure, as its `imported` says: by
    tool, test, statistic and columns; a result belongs to the row whose label is its name, or its
    value of the column that `by` names. Values in the figure's unit, `scaled` as it says."""
    wanted, unit = figure.get("imported") or [], figure.get("y_unit", "")
    if not wanted or unit not in UNITS:
        return []
    labels = list(dict.fromkeys(str(row["group"] or row["label"]) for row in rows))
    return [
        {
            "run": run.name,
            "tool": report.tool,
            "label": label,
            "value": value * scaled.get("by", 1),
            "scaled": dict(scaled),
            "rerun": _ends(row["rerun"] for row in rows if label in (row["group"], row["label"])),
            "size_bytes": report.column(result, "array_bytes"),
            "line": result.line,
            "findings": sorted(
                {each.artefact for each in explained.findings if result.where in each.where}
            ),
            "state": STATE,
        }
        for run in imported_runs(root)
        for explained in [run.explained()]
        for report in explained.reports
        for result in report.results
        for each in [next((each for each in wanted if _is_meant(each, report, result)), None)]
        if each is not None
        for label in labels
        if label == _row_of(each, report, result)
        for scaled in [each.get("scaled") or {}]
        if (value := _in_unit(result, unit)) is not None
    ]


def _row_of(wanted: Mapping[str, Any], report: Report, result: Result) -> str:
    """The label of the row that a result belongs to, as the paper's table prints it."""
    by = wanted.get("by")
    return result.name if not by else str(report.column(result, by))


def _ends(reruns: Iterable[float | None]) -> list[float]:
    """The smallest and the largest of one's own, if there are any."""
    measured = [rerun for rerun in reruns if rerun is not None]
    return [min(measured), max(measured)] if measured else []


def _is_meant(wanted: Mapping[str, Any], report: Report, result: Result) -> bool:
    if (report.tool, result.statistic) != (wanted["tool"], wanted["statistic"]):
        return False
    tests = wanted.get("tests")
    if tests and report.facts.get("test") not in tests:
        return False
    like = {name: parse_bytes(size) for name, size in wanted.get("like", {}).items()}
    # What is not copied block by block has no blocks that could be others.
    return all(report.column(result, name) in (None, size) for name, size in like.items())


def _in_unit(result: Result, unit: str) -> float | None:
    """The number in the unit of a figure; None where it is another quantity."""
    if quantity_of(unit) == RATE:
        rate = bytes_per_s(result.value, result.unit)
        return None if rate is None else rate / UNITS[unit]
    value, base = in_base(result.value, result.unit)
    return value / UNITS[unit] if base == "ns" else None
