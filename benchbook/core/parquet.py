"""Tables on disk, read whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.core.errors import BenchbookError
from benchbook.core.files import REMAKE

if TYPE_CHECKING:
    import pandas as pd


def read_parquet(path: Path) -> pd.DataFrame:
    """The table in a Parquet file; BenchbookError where it is gone, cut or damaged."""
    import pandas as pd  # where it is needed: it takes a third of a second

    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:  # of Arrow, too
        raise BenchbookError(damaged(path, error)) from None


def damaged(path: Path, error: Exception) -> str:
    """The sentence about a table that cannot be read."""
    words = " ".join(str(error).split())[:200].rstrip(".")
    return f"{path}: is no whole table ({words}); {REMAKE}"
