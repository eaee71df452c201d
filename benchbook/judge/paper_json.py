"""paper.json: what judging writes of a paper, and pages read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core.files import read_json

PAPER = "paper.json"  # its name
# Reasons are codes with parameters: those of claims since 2, those of anomalies since 3.
VERSION = 3


def read_paper(path: Path) -> dict[str, Any]:
    """The contents of a paper.json of this version."""
    return read_json(path, VERSION)
