"""paper.json: what judging writes of a paper, and pages read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core.files import read_json

PAPER = "paper.json"  # its name
VERSION = 2  # since 2 a claim has its reason, robustness and artefacts as codes with parameters


def read_paper(path: Path) -> dict[str, Any]:
    """The contents of a paper.json of this version."""
    return read_json(path, VERSION)
