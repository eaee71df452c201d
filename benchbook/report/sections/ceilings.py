"""What the machine's page shows of ceilings: the rates that memory attained, by traffic."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording

GB = 1e9


def sections(analyses: list[dict[str, Any]], papers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A section for each experiment with ceilings: {name, sentences, rows}; rates in GB/s."""
    return [
        {
            "name": analysis["experiment"],
            "sentences": " ".join(
                _said(traffic, rows) for traffic, rows in _by_traffic(analysis).items()
            ),
            "rows": [
                _row(row, _names(analysis["experiment"], papers)) for row in analysis["ceilings"]
            ],
        }
        for analysis in analyses
        if analysis["ceilings"]
    ]


def _by_traffic(analysis: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    by_traffic: dict[str, list[dict[str, Any]]] = {}
    for row in analysis["ceilings"]:
        by_traffic.setdefault(row["traffic"], []).append(row)
    return by_traffic


def _names(experiment: str, papers: list[dict[str, Any]]) -> dict[str, str]:
    """What any paper calls the methods of this experiment."""
    experiments = (paper["experiments"].get(experiment) for paper in papers)
    return next(
        (
            experiment_of_paper["names"]
            for experiment_of_paper in experiments
            if experiment_of_paper
        ),
        {},
    )


def _said(traffic: str, rows: list[dict[str, Any]]) -> str:
    """`read: 14.3 GB/s with 1 thread, 24.7 with 2 threads.`"""
    parts = [
        f"{_rate(row)} GB/s with {number_format.plural(row['threads'], 'thread')}"
        for row in (rows[0], rows[-1])[: len(rows)]
    ]
    return f"{traffic.capitalize()}: {', '.join(parts)}."


def _rate(row: dict[str, Any]) -> str:
    return number_format.number(*_scaled(row))


def _scaled(row: dict[str, Any]) -> list[float | None]:
    names = ("rate_bytes_per_s", "rate_low_bytes_per_s", "rate_high_bytes_per_s")
    return [wording.scaled(row[name], GB) for name in names]


def _where(point: str) -> str:
    """Variant, memory and size of the winner: `published, static, 459 MiB`."""
    parts = wording.parts_of(point)
    words = [parts["variant"], parts.get("memory", ""), wording.size_of(point)]
    return ", ".join(word for word in words if word)


def _row(row: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    others = sorted(row["others"].items(), key=lambda item: -item[1])
    return {
        "traffic": row["traffic"],
        "threads": row["threads"],
        "rate": number_format.with_interval(*_scaled(row)),
        "where": _where(row["point"]),
        "method": names.get(row["method"], row["method"]),
        "others": "; ".join(f"{names.get(k, k)} {number_format.number(v / GB)}" for k, v in others),
    }
