"""`benchbook compare A B`: two runs, hosts or presets, point by point."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from benchbook.analyse.pairwise import storable
from benchbook.compare.differing import differences
from benchbook.compare.matched import METHOD, compared
from benchbook.compare.sides import Side, read_side
from benchbook.core import number_format
from benchbook.core.errors import BenchbookError

VERSION = 1
PAGE = Path("reports/compare.html")
SAID = {
    "b_faster": "B faster",
    "a_faster": "A faster",
    "no_difference_shown": "no difference shown",
    "undecided": "undecided",
    "not_measured": "not measured",
}


def compare(root: Path, a: str, b: str) -> dict[str, Any]:
    """What the two sides have in common, point by point, and what differs besides."""
    ours, theirs = read_side(root, a), read_side(root, b)
    shared = [name for name in ours.experiments if name in theirs.experiments]
    if not shared:
        raise BenchbookError(
            f"{a} has {number_format.listed(list(ours.experiments))}, {b} has "
            f"{number_format.listed(list(theirs.experiments))}: no experiment is in both; "
            "measure one of "
            "them on the other side"
        )
    found = {
        "version": VERSION,
        "method": METHOD,
        "a": _about(ours),
        "b": _about(theirs),
        "items": [compared(ours.experiments[one], theirs.experiments[one]) for one in shared],
        "only_a": [name for name in ours.experiments if name not in theirs.experiments],
        "only_b": [name for name in theirs.experiments if name not in ours.experiments],
        "differences": differences(ours, theirs),
    }
    stored: dict[str, Any] = storable(found)
    return stored


def _about(side: Side) -> dict[str, Any]:
    runs = {name: one.run for name, one in side.experiments.items()}
    return {
        "label": side.label,
        "hosts": sorted({one.host for one in side.experiments.values()}),
        "runs": runs,
    }


def counts(content: dict[str, Any]) -> dict[str, int]:
    """How many points of all experiments came out how."""
    found = Counter(row["said"] for one in content["items"] for row in one["points"])
    return {name: found[name] for name in SAID if found[name]}


def headline(content: dict[str, Any]) -> str:
    """The answer in one line."""
    found = counts(content)
    parts = [f"{words} at {found[name]}" for name, words in SAID.items() if name in found]
    total = number_format.plural(sum(found.values()), "point")
    return f"{total} in both: {number_format.listed(parts)}" if parts else "No point is in both"


def floor_said(found: dict[str, Any]) -> str:
    """What limits the differences that can be told, in words."""
    if found["failed"] or found["unknown"]:
        return f"Nothing is called different here: {found['failed'] or found['unknown']}."
    part = max(found["parts"], key=lambda one: float(one["log_effect"]))
    return (
        f"Nothing below a factor of {number_format.number(math.exp(found['log_effect']))} is "
        "called "
        f"different: so far {part['name']} may lie apart."
    )


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
    for one in content["differences"]:
        said.append(f"  {one['kind']}: {one['what']}: A {one['a']}; B {one['b']}")
    for one in content["items"]:
        said += ["", f"{one['experiment']} (B times as fast as A, 95 % by itself)"]
        said.append(f"  {floor_said(one['floor'])}")
        for row in one["points"]:
            value = number_format.with_interval(row["ratio"], row["low95"], row["high95"])
            why = f": {row['reason']}" if row["reason"] else ""
            said.append(f"  {value:<26} {SAID[row['said']]:<20} {row['point_a']}{why}")
        for name in ("a", "b"):
            left = one[f"only_{name}"]
            said += [f"  only in {name.upper()}: {', '.join(left)}"] if left else []
    return said
