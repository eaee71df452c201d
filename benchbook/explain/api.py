"""The door of `explain`: what commands, judge and report use of it. They import nothing else."""

from __future__ import annotations

from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.explanation import (
    NOT_RECOGNISED,
    Explained,
    explained,
    looked_for,
    of_content,
    of_file,
    read,
)
from benchbook.explain.figures.cells import columns_of, shown_as, visible, words
from benchbook.explain.figures.rows import rows_of
from benchbook.explain.imported_runs import ImportedRun, imported_runs, imported_values, keep_log
from benchbook.explain.machine import machine_of
from benchbook.explain.model import Report
from benchbook.explain.render import print_explained
from benchbook.explain.rules import Ask, Machine
from benchbook.explain.to_json import as_text
from benchbook.explain.two_files import differences

__all__ = [
    "NOT_RECOGNISED",
    "Ask",
    "Explained",
    "ImportedRun",
    "Machine",
    "Report",
    "as_text",
    "columns_of",
    "differences",
    "explained",
    "imported_runs",
    "imported_values",
    "keep_log",
    "log_of",
    "looked_for",
    "machine_of",
    "of_content",
    "of_file",
    "print_explained",
    "read",
    "rows_of",
    "shown_as",
    "visible",
    "words",
]
