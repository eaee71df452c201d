"""What the machine's page shows of peers: how well they and our twins agree."""

from __future__ import annotations

from typing import Any

from benchbook import digits
from benchbook.pages import prose

GB = 1e9


def sections(analyses: list[dict[str, Any]], papers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One for each peer, with its table; rates in GB/s. `others` are what was not compared, by
    reason: {reason, points}."""
    return [
        _section(peer, _paper_of(one["experiment"], papers))
        for one in analyses
        for peer in one["agreement"]
    ]


def _paper_of(experiment: str, papers: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Any paper that knows what the methods of this experiment are called."""
    return next((paper for paper in papers if experiment in paper["experiments"]), None)


def _section(peer: dict[str, Any], paper: dict[str, Any] | None) -> dict[str, Any]:
    def name(row: dict[str, Any]) -> str:
        """The point without its variant, which the table's head names."""
        if paper is None:
            return str(row["ours"].partition(",")[2])
        return prose.point_name(paper, row["ours"]).rpartition(", ")[0]

    label = peer["peer"] + (f" ({peer['tool']} {peer['version']})" if peer["version"] else "")
    others: dict[str, list[str]] = {}
    for row in peer["rows"]:
        if row["state"] != "ok":
            others.setdefault(row["reason"], []).append(name(row))
    return {
        **peer,
        "title": _title(peer, label),
        "statistics": " or ".join(sorted({row["statistic"] for row in peer["rows"]} - {""})),
        "accepted": [
            {
                "name": name(row),
                "ours": _scaled(row["our_bytes_per_s"]),
                "theirs": _scaled(row["peer_bytes_per_s"]),
                "ratio": digits.with_interval(row["ratio"], row["low95"], row["high95"]),
                "blocks": row["blocks"],
            }
            for row in peer["rows"]
            if row["state"] == "ok"
        ],
        "others": [{"reason": reason, "points": points} for reason, points in others.items()],
    }


def _title(peer: dict[str, Any], label: str) -> str:
    if not peer["compared"]:
        return f"Nothing was compared with {label}"
    many = digits.plural(peer["compared"], "point")
    return (
        f"Ours ÷ {label}: {peer['median_ratio']:.3f} in the median of {many}, "
        f"{peer['worst_ratio']:.3f} at worst"
    )


def _scaled(rate: float | None) -> float | None:
    return None if rate is None else rate / GB
