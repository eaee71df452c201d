"""Labels of a published table that a program may have exchanged, as its peer's file says of it.

What would follow is computed from the published rows; whether it was so in the source, nobody here
knows.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

from benchbook.analyse.pairwise import printed

_METHOD = re.compile(r",method=([^,]+)")
Row = dict[str, Any]


def labels(
    figures: list[dict[str, Any]], peers: dict[str, dict[str, Any]], odd: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Each pair of labels under which a peer runs the method that the figures read in the other:
    {peer, tool, version, examined, labels, methods (as the figures read them), proof, unknown,
    tables}.

    A table is {figure, title, point, printed (second ÷ first label), rerun (of their methods, None
    where not measured), smallest_effect, order (of the rerun: exchanged, printed, undecided, not
    measured), within (whether the exchanged ratio lies in the rerun's pointwise interval), others:
    rows beside the first method, {label, printed, exchanged}}.
    """
    pairs: dict[tuple[str, ...], dict[str, Any]] = {}
    for name, spec in peers.items():
        if not spec.get("labels"):
            continue
        labels_of = spec["labels"]
        for figure in figures:
            for first, second in combinations(figure["rows"], 2):
                methods = [_method(row) for row in (first, second)]
                runs = [labels_of["runs"].get(row["label"]) for row in (first, second)]
                numbers = [printed(row) for row in (first, second)]
                if None in (*methods, *numbers) or methods[0] == methods[1]:
                    continue
                if runs != methods[::-1] or figure["grid"]:
                    continue
                both = [first["label"], second["label"]]
                about = {"peer": name, "tool": spec["tool"], "version": spec.get("describes", "")}
                about["examined"] = labels_of["examined"]
                about |= {"labels": both, "methods": methods}
                about |= {
                    "proof": labels_of["proof"],
                    "unknown": labels_of["unknown"],
                    "tables": [],
                }
                pair = pairs.setdefault((name, *both), about)
                pair["tables"].append(_table(figure, first, second, odd))
    return list(pairs.values())


def _method(row: Row) -> str | None:
    seen = _METHOD.search(row["point"] or "")
    return seen[1] if seen else None


def _table(
    figure: dict[str, Any], first: Row, second: Row, odd: list[dict[str, Any]]
) -> dict[str, Any]:
    first_rate, second_rate = printed(first) or 1, printed(second) or 1  # both are numbers
    sides = second["point"], first["point"]
    pair = next((pair for pair in odd if (pair["top"], pair["bottom"]) == sides), None)
    rerun = pair["rerun"] if pair else None
    order = "not measured"
    if pair and rerun:
        order = "undecided"
        if pair["differs_here"]:
            order = "printed" if (rerun["ratio"] > 1) == (second_rate > first_rate) else "exchanged"
    return {
        "figure": figure["id"],
        "title": figure["title"],
        "point": first["point"],
        "printed": second_rate / first_rate,
        "rerun": rerun,
        "smallest_effect": pair["smallest_effect"] if pair else None,
        "order": order,
        "within": bool(rerun and rerun["low95"] <= first_rate / second_rate <= rerun["high95"]),
        "others": [
            {"label": row["label"], "printed": rate / first_rate, "exchanged": rate / second_rate}
            for row in figure["rows"]
            if row not in (first, second) and (rate := printed(row))
        ],
    }
