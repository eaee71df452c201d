"""The file controls.json and the version of its format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core.files import read_json

VERSION = 2


def read_controls(path: Path) -> dict[str, Any]:
    """controls.json as it was written; BenchbookError where its format is another one."""
    return read_json(path, VERSION)
