"""Tables of pages as CSV text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def csv_text(columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with a heading, one line a row; None is an empty cell."""
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    return stream.getvalue()
