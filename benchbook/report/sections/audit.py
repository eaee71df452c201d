"""What pages say of a source's own numbers: checks and slips counted, the gravest in a sentence."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report.audit_sentences import in_words
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


def disagreeing(paper: Paper) -> list[Check]:
    """The checks that disagree, by slip."""
    checks = [check for check in in_words(paper["audit"]) if not check["consistent"]]
    return sorted(checks, key=lambda check: check["slip"]["slip"])


def slips(paper: Paper) -> list[dict[str, Any]]:
    """Each slip once, the gravest first."""
    return list({check["slip"]["slip"]: check["slip"] for check in disagreeing(paper)}.values())


def grave_slips(paper: Paper) -> list[dict[str, Any]]:
    """The slips that are not of form only."""
    return [slip for slip in slips(paper) if slip["kind"] in PLACES]


def informing(paper: Paper) -> list[str]:
    """What does not fit a statement that the source itself qualifies, each as a sentence."""
    return [
        f"{check['words'].rstrip('.')}; {check['qualified'].rstrip('.')}."
        for check in in_words(paper["audit"])
        if check.get("qualified")
    ]


def agreeing_by_rule(paper: Paper) -> dict[str, list[Check]]:
    """What a rule asks -> its checks that hold; the rule with the most of them first."""
    by_question: dict[str, list[Check]] = {}
    for check in in_words(paper["audit"]):
        if check["consistent"] and not check.get("qualified"):
            by_question.setdefault(check["asks"], []).append(check)
    return dict(sorted(by_question.items(), key=lambda rule: -len(rule[1])))


def of_table(paper: Paper, table: str) -> str:
    """What the checks of one table found, as a sentence; empty where none is about it."""
    items = [check for check in paper["audit"] if table in check["table"].split(", ")]
    if not items:
        return ""
    wrong = [check for check in items if not check["consistent"]]
    every = number_format.plural(len(items), "check")
    if not wrong:
        return f"Its numbers pass {every} of the audit."
    return f"{len(wrong)} of {every} of its numbers {_disagree(len(wrong))}: see the audit."


def summary(paper: Paper) -> str:
    """`23 of 77 checks of the source’s own numbers disagree: 14 distinct slips`."""
    wrong, every = len(disagreeing(paper)), number_format.plural(len(paper["audit"]), "check")
    if not wrong and (qualified := len(informing(paper))):
        return (
            f"no disagreement in {every} of the source’s own numbers; {qualified} do not fit a "
            "statement that it qualifies itself"
        )
    if not wrong:
        return f"no disagreement in {every} of the source’s own numbers"
    text = f"{wrong} of {every} of the source’s own numbers {_disagree(wrong)}"
    return f"{text}: {number_format.plural(len(slips(paper)), 'distinct slip')}"


def _disagree(amount: int) -> str:
    return "disagrees" if amount == 1 else "disagree"


def slips_by_place(paper: Paper) -> str:
    """`1 in what it states, 6 in its numbers and 5 in form (units, labels, digits)`."""
    amounts: dict[str, int] = {}
    for slip in slips(paper):
        where = PLACES.get(slip["kind"], FORM)
        amounts[where] = amounts.get(where, 0) + 1
    return number_format.listed([f"{amount} {where}" for where, amount in amounts.items()])


def sentence(paper: Paper) -> list[str]:
    """The audit in one sentence, its gravest slip quoted; none where all agrees, and none on the
    page of one figure, which has no such section."""
    every_slip = slips(paper)
    if not every_slip or paper.get("figure"):
        return []
    first = (
        f"; the gravest: {every_slip[0]['brief']}"
        if len(every_slip) > 1
        else f": {every_slip[0]['brief']}"
    )
    many = (
        f", {number_format.plural(len(every_slip), 'distinct slip')}" if len(every_slip) > 1 else ""
    )
    wrong, every = len(disagreeing(paper)), number_format.plural(len(paper["audit"]), "check")
    return [f"Of {every} of the source’s own numbers {wrong} {_disagree(wrong)}{many}{first}."]
