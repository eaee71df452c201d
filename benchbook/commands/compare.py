"""`benchbook compare A B`: as text, as JSON, and as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchbook.compare import SAID, compare, floor_said, headline
from benchbook.core import number_format

PAGE = Path("reports/compare.html")


def show(root: Path, a: str, b: str, *, as_json: bool, html: bool) -> None:
    """Print the comparison, as text or JSON; with `html` write reports/compare.html too."""
    content = compare(root, a, b)
    if html:
        from benchbook.report.compare_page import make_compare

        make_compare(content, root / PAGE)
    if as_json:
        print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return
    print("\n".join(lines(content)))
    if html:
        print(f"\n{PAGE}")


def lines(content: dict[str, Any]) -> list[str]:
    """The comparison as text."""
    said = [f"A: {content['a']['label']}", f"B: {content['b']['label']}", headline(content) + "."]
    for difference in content["differences"]:
        kind, what = difference["kind"], difference["what"]
        said.append(f"  {kind}: {what}: A {difference['a']}; B {difference['b']}")
    for experiment in content["items"]:
        said += ["", f"{experiment['experiment']} (B times as fast as A, 95 % by itself)"]
        said.append(f"  {floor_said(experiment['floor'])}")
        for row in experiment["points"]:
            value = number_format.with_interval(row["ratio"], row["low95"], row["high95"])
            why = f": {row['reason']}" if row["reason"] else ""
            said.append(f"  {value:<26} {SAID[row['said']]:<20} {row['point_a']}{why}")
        for name in ("a", "b"):
            left = experiment[f"only_{name}"]
            said += [f"  only in {name.upper()}: {', '.join(left)}"] if left else []
    return said
