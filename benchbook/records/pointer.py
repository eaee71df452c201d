"""From the pointer in results/ to the folder of its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.records import journal, seal


def run_folder(pointer: Path) -> tuple[dict[str, Any], Path]:
    """The pointer's content and its run's folder (relative to the checkout, the working folder).

    BenchbookError where the run is gone, or is not what was measured.
    """
    content = read_json(pointer)
    run = Path(content["folder"])
    if not (run / journal.MANIFEST).exists():
        raise BenchbookError(
            f"{pointer} names the run {run}, which is gone; remove {pointer} and run again"
        )
    seal.verify(run)
    return content, run
