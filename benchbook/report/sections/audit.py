"""What pages say of a source's own numbers: checks and slips counted, the gravest in a sentence."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report.wording import Paper

# Where a slip lies, by its kind; what is not named here is form.
PLACES = {
    "claim": "in what it states",
    "number": "in its numbers",
    "outcome": "in its outcomes",
    "plan": "in what it announces",
}
FORM = "in form (units, labels, digits)"
Check = dict[str, Any]


def odd(paper: Paper) -> list[Check]:
    """The checks that disagree, by slip."""
    found = [one for one in paper["audit"] if not one["consistent"]]
    return sorted(found, key=lambda one: one["slip"]["slip"])


def slips(paper: Paper) -> list[dict[str, Any]]:
    """Each slip once, the gravest first."""
    return list({one["slip"]["slip"]: one["slip"] for one in odd(paper)}.values())


def grave(paper: Paper) -> list[dict[str, Any]]:
    """The slips that are not of form only."""
    return [one for one in slips(paper) if one["kind"] in PLACES]


def fitting(paper: Paper) -> dict[str, list[Check]]:
    """What a rule asks -> its checks that hold; the rule with the most of them first."""
    found: dict[str, list[Check]] = {}
    for one in paper["audit"]:
        if one["consistent"]:
            found.setdefault(one["asks"], []).append(one)
    return dict(sorted(found.items(), key=lambda rule: -len(rule[1])))


def of_table(paper: Paper, table: str) -> str:
    """What the checks of one table found, as a sentence; empty where none is about it."""
    items = [one for one in paper["audit"] if table in one["table"].split(", ")]
    if not items:
        return ""
    wrong = [one for one in items if not one["consistent"]]
    every = number_format.plural(len(items), "check")
    if not wrong:
        return f"Its numbers pass {every} of the audit."
    return f"{len(wrong)} of {every} of its numbers {_disagree(len(wrong))}: see the audit."


def counts(paper: Paper) -> str:
    """`23 of 77 checks of the source’s own numbers disagree: 14 distinct slips`."""
    wrong, every = len(odd(paper)), number_format.plural(len(paper["audit"]), "check")
    if not wrong:
        return f"no disagreement in {every} of the source’s own numbers"
    said = f"{wrong} of {every} of the source’s own numbers {_disagree(wrong)}"
    return f"{said}: {number_format.plural(len(slips(paper)), 'distinct slip')}"


def _disagree(amount: int) -> str:
    return "disagrees" if amount == 1 else "disagree"


def places(paper: Paper) -> str:
    """`1 in what it states, 6 in its numbers and 5 in form (units, labels, digits)`."""
    found: dict[str, int] = {}
    for one in slips(paper):
        where = PLACES.get(one["kind"], FORM)
        found[where] = found.get(where, 0) + 1
    return number_format.listed([f"{amount} {where}" for where, amount in found.items()])


def sentence(paper: Paper) -> list[str]:
    """The audit in one sentence, its gravest slip quoted; none where all agrees, and none on the
    page of one figure, which has no such section."""
    found = slips(paper)
    if not found or paper.get("figure"):
        return []
    first = f"; the gravest: {found[0]['brief']}" if len(found) > 1 else f": {found[0]['brief']}"
    many = f", {number_format.plural(len(found), 'distinct slip')}" if len(found) > 1 else ""
    wrong, every = len(odd(paper)), number_format.plural(len(paper["audit"]), "check")
    return [f"Of {every} of the source’s own numbers {wrong} {_disagree(wrong)}{many}{first}."]
