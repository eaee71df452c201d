"""What pages say of labels that a program may have exchanged: quoted from paper.json."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.wording import Paper

ORDERS = {
    "exchanged": "as with the labels exchanged",
    "printed": "as labelled",
    "undecided": "undecided",
    "not measured": "not measured",
}
Pair = dict[str, Any]


def anchor(one: Pair) -> str:
    """The id of its section."""
    return "-".join(["labels", *one["labels"]]).lower()


def beside(experiment: dict[str, Any], figure: dict[str, Any]) -> list[tuple[Pair, float]]:
    """The pairs of labels in a figure that may be exchanged, each with its printed ratio."""
    return [
        (one, table["printed"])
        for one in experiment["exchanged"]
        for table in one["tables"]
        if table["figure"] == figure["id"]
    ]


def said(paper: Paper, one: Pair) -> dict[str, str]:
    """Of one pair: what runs under which label, what would follow, and the order here."""
    experiment = wording.experiment_of(paper, one["tables"][0]["point"])
    base, other = (experiment["names"].get(method, method) for method in one["methods"])
    first, second = one["labels"]
    printed = [table["printed"] for table in one["tables"]]
    return {
        "ratio": f"{other} ÷ {base}",
        "what": (
            f"In {one['tool']} {one['version']} as examined here, what it prints as {first} is the "
            f"{other}, and what it prints as {second} is the {base}."
        ),
        "follows": (
            f"As labelled, the published tables make the {other} {wording.ratios(printed)} "
            "times as "
            f"fast as the {base}; exchanged, {wording.ratios([1 / value for value in printed])} "
            f"times{_others(one, base)}. {_here(one, f'{other} ÷ {base}')}"
        ),
    }


def _others(one: Pair, base: str) -> str:
    """What the same exchange makes of the other rows."""
    rows: dict[str, list[dict[str, float]]] = {}
    for row in (row for table in one["tables"] for row in table["others"]):
        rows.setdefault(row["label"], []).append(row)
    parts = [
        f"{label} is then {wording.ratios([row['exchanged'] for row in same])} times the "
        f"{base}, not "
        f"{wording.ratios([row['printed'] for row in same])}"
        for label, same in rows.items()
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def _here(one: Pair, ratio: str) -> str:
    tables = one["tables"]
    many = {order: sum(table["order"] == order for table in tables) for order in ORDERS}
    measured = {table["point"]: table for table in tables if table["rerun"]}
    if not measured:
        return f"The {ratio} was not measured here, so that nothing stands beside it."
    seen = [
        number_format.with_interval(*(table["rerun"][key] for key in ("ratio", "low95", "high95")))
        + f" at {wording.size_of(point)}"
        for point, table in measured.items()
    ]
    text = (
        f"Here the {ratio} is {number_format.listed(seen)}: exchanging the labels would bring the "
        f"published order into agreement with the one here in {many['exchanged'] or 'none'} of "
        f"{number_format.plural(len(tables), 'table')}, and the ratio into the interval here in "
        f"{sum(table['within'] for table in tables) or 'none'}"
    )
    if many["printed"]:
        text += f"; in {many['printed']} the order here is the one printed"
    if many["undecided"]:
        least = [t["smallest_effect"] or 1 for t in tables if t["order"] == "undecided"]
        text += (
            f"; in {many['undecided']} no order is decided here, where the smallest effect that "
            f"this run can tell from nothing is a factor of {wording.ratios(least)}"
        )
    if many["not measured"]:
        text += f"; in {many['not measured']} the two were not measured"
    return f"{text}."
