"""What pages say of labels that a program may have exchanged: quoted from paper.json."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.wording import Paper

ORDERS = {
    "exchanged": "as with the labels swapped",
    "printed": "as labelled",
    "undecided": "undecided",
    "not measured": "not measured",
}
Pair = dict[str, Any]


def anchor(pair: Pair) -> str:
    """The id of a pair's section."""
    return "-".join(["labels", *pair["labels"]]).lower()


def pairs_in_figure(experiment: dict[str, Any], figure: dict[str, Any]) -> list[tuple[Pair, float]]:
    """The pairs of labels in a figure that may be exchanged, each with its printed ratio."""
    return [
        (pair, table["printed"])
        for pair in experiment["exchanged"]
        for table in pair["tables"]
        if table["figure"] == figure["id"]
    ]


def explanation(paper: Paper, pair: Pair) -> dict[str, str]:
    """{ratio, what, follows} of a pair: what runs under which label, what would follow, and the
    order here."""
    experiment = wording.experiment_of(paper, pair["tables"][0]["point"])
    base, compared = (experiment["names"].get(method, method) for method in pair["methods"])
    first, second = pair["labels"]
    printed = [table["printed"] for table in pair["tables"]]
    return {
        "ratio": f"{compared} ÷ {base}",
        "what": (
            f"{_examined(pair)}: what it prints as {first} is the {compared}, and what it prints "
            f"as {second} is the {base}. This run did not examine it again."
        ),
        "follows": (
            f"As labelled, the published tables make the {compared} {wording.ratio_range(printed)} "
            f"times as fast as the {base}; swapped, "
            f"{wording.ratio_range([1 / value for value in printed])} times{_others(pair, base)}. "
            f"{_here(pair, f'{compared} ÷ {base}')}"
        ),
    }


def _examined(pair: Pair) -> str:
    """Who examined which build of a program, and when."""
    examined = pair.get("examined")
    if not examined:  # as of results of an older version
        return f"{pair['tool']} {pair['version']} was examined elsewhere"
    by = wording.capitalised(examined["by"])
    return f"{by} examined {examined['package']} on {examined['date']}"


def _others(pair: Pair, base: str) -> str:
    """What the same exchange makes of the other rows."""
    rows: dict[str, list[dict[str, float]]] = {}
    for row in (row for table in pair["tables"] for row in table["others"]):
        rows.setdefault(row["label"], []).append(row)
    parts = [
        f"{label} is then {wording.ratio_range([row['exchanged'] for row in same])} times the "
        f"{base}, not "
        f"{wording.ratio_range([row['printed'] for row in same])}"
        for label, same in rows.items()
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def _here(pair: Pair, ratio: str) -> str:
    tables = pair["tables"]
    many = {order: sum(table["order"] == order for table in tables) for order in ORDERS}
    measured = {table["point"]: table for table in tables if table["rerun"]}
    if not measured:
        return f"The {ratio} was not measured here, so there is nothing to compare with."
    seen = [
        number_format.with_interval(*(table["rerun"][key] for key in ("ratio", "low95", "high95")))
        + f" at {wording.size_of(point)}"
        for point, table in measured.items()
    ]
    text = (
        f"Here the {ratio} is {number_format.listed(seen)}. Swapped labels would bring "
        f"the published order into agreement in {many['exchanged'] or 'none'} of "
        f"{number_format.plural(len(tables), 'table')}, and the ratio into the interval in "
        f"{sum(table['within'] for table in tables) or 'none'}"
    )
    if many["printed"]:
        text += f"; in {many['printed']} the order here is as printed"
    if many["undecided"]:
        least = [t["smallest_effect"] or 1 for t in tables if t["order"] == "undecided"]
        text += (
            f"; in {many['undecided']} the order is not decided here (the smallest effect that "
            f"this run can detect is a factor of {wording.ratio_range(least)})"
        )
    if many["not measured"]:
        text += f"; in {many['not measured']} the two were not measured"
    return f"{text}."
