"""What the machine's page shows of peers: how well they and our twins agree."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.core.reason_codes import Unpaired
from benchbook.report import wording

# quantity -> its unit here, what rows call it, and how many of theirs make one.
SHOWN = {"rate": ("GB/s", "bytes_per_s", 1e9), "time": ("µs", "ns", 1e3)}


def sections(analyses: list[dict[str, Any]], papers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A section for each peer, with its table; rates in GB/s, times in µs. `others`: {reason,
    points} of what was not compared."""
    return [
        _section(peer, _paper_of(analysis["experiment"], papers))
        for analysis in analyses
        for peer in analysis["agreement"]
    ]


def _paper_of(experiment: str, papers: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Any paper that knows what the methods of this experiment are called."""
    return next((paper for paper in papers if experiment in paper["experiments"]), None)


def _section(peer: dict[str, Any], paper: dict[str, Any] | None) -> dict[str, Any]:
    def name(row: dict[str, Any]) -> str:
        """The point without its variant, which the table's head names."""
        if paper is None:
            return str(row["ours"].partition(",")[2])
        return wording.point_name(paper, row["ours"]).rpartition(", ")[0]

    label = peer["peer"] + (f" ({peer['tool']} {peer['version']})" if peer["version"] else "")
    others: dict[str, list[str]] = {}
    for row in peer["rows"]:
        if row["state"] != "ok":
            others.setdefault(not_compared(row), []).append(name(row))
    unit, key, per = SHOWN[peer["quantity"]]
    return {
        **peer,
        "unit": unit,
        "title": _title(peer, label),
        "statistics": " or ".join(sorted({row["statistic"] for row in peer["rows"]} - {""})),
        "accepted": [
            {
                "name": name(row),
                "ours": wording.scaled(row[f"our_{key}"], per),
                "theirs": wording.scaled(row[f"peer_{key}"], per),
                "ratio": number_format.with_interval(row["ratio"], row["low95"], row["high95"]),
                "blocks": row["blocks"],
            }
            for row in peer["rows"]
            if row["state"] == "ok"
        ],
        "others": [{"reason": reason, "points": points} for reason, points in others.items()],
    }


def not_compared(row: dict[str, Any]) -> str:
    """Why a row has no ratio."""
    if row["state"] == Unpaired.NO_BLOCK:
        return "no round ran both at one speed level"
    if row["lacking"]:
        return f"{row['lacking']}: {row['reason'] or 'it was not measured'}"
    return str(row["reason"])


def _title(peer: dict[str, Any], label: str) -> str:
    if not peer["compared"]:
        return f"Nothing was compared with {label}"
    many = number_format.plural(peer["compared"], "point")
    return (
        f"{peer['quantity'].capitalize()} of ours ÷ {label}: {peer['median_ratio']:.3f} in the "
        f"median of {many}, {peer['worst_ratio']:.3f} at worst"
    )
