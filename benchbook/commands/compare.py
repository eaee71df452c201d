"""`benchbook compare A B`: as text, as JSON, and as a page."""

from __future__ import annotations

import json
from pathlib import Path

from benchbook.compare import compare
from benchbook.report.compare_sentences import as_json as json_of
from benchbook.report.compare_sentences import as_text

PAGE = Path("reports/compare.html")


def show(root: Path, a: str, b: str, *, as_json: bool, html: bool) -> None:
    """Print the comparison, as text or JSON; with `html` write reports/compare.html too."""
    comparison = compare(root, a, b)
    if html:
        from benchbook.report.compare_page import make_compare

        make_compare(comparison, root / PAGE)
    if as_json:
        print(json.dumps(json_of(comparison), indent=1, ensure_ascii=False, allow_nan=False))
        return
    print(as_text(comparison))
    if html:
        print(f"\n{PAGE}")
