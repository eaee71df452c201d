"""Several claims that one change does not matter: what a page says of them together.

Each says of a ratio that it lies within a margin of 1; they differ in their method.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.core import number_format
from benchbook.core.reason_codes import Code
from benchbook.report import reasons, wording
from benchbook.report.sections import claims as claims_section
from benchbook.report.wording import Paper

Claim = dict[str, Any]
# What is said of the claims of one verdict, beside others and alone.
DOES = {
    "reproduced": "it holds here for {names}",
    "not_reproduced": "it does not hold for {names}",
    "inconclusive": "it is not decided for {names}",
    "not_measurable_here": "it cannot be measured for {names}",
}
ALL = {
    "reproduced": "Yes, it holds here",
    "not_reproduced": "No, it does not hold here",
    "inconclusive": "It is not decided here",
    "not_measurable_here": "It was not measured here",
}


def no_effect_claims(paper: Paper) -> list[Claim]:
    """The claims of the first figure with claims that say of one and the same change that it does
    not matter, if two or more do; else none."""
    claims: list[Claim] = next(
        (figure["claims"] for figure in paper["figures"] if figure["claims"]), []
    )
    if not claims or not claims_no_effect(claims[0]):
        return []
    same = [
        claim
        for claim in claims
        if claims_no_effect(claim) and _change(claim) == _change(claims[0])
    ]
    return same if len(same) > 1 else []


def claims_no_effect(claim: Claim) -> bool:
    """Whether a claim is a ratio whose region lies around 1, for one method at two known points."""
    low, high = claim["region"]
    if claim["kind"] != "ratio" or not all(claim["points"].values()):
        return False
    if low is None or high is None or not low < 1 < high:
        return False
    return len({wording.parts_of(point).get("method") for point in claim["points"].values()}) == 1


def _change(claim: Claim) -> tuple[tuple[str, str, str], ...]:
    """Factors in which the two sides differ: (factor, before, after)."""
    after, before = (
        wording.parts_of(claim["points"][side]) for side in ("numerator", "denominator")
    )
    names = dict.fromkeys([*before, *after])
    values = ((name, before.get(name, "none"), after.get(name, "none")) for name in names)
    return tuple(change for change in values if change[1] != change[2])


def change(claim: Claim) -> str:
    """`from 459 MiB to 656 MiB`."""
    words = [
        f"from {wording.setting_word(factor, before)} to {wording.setting_word(factor, after)}"
        for factor, before, after in _change(claim)
    ]
    return number_format.listed(words) or "from one run to the next"


def divided(claims: list[Claim]) -> str:
    """`rate at 200 MiB ÷ rate at 140 MiB`, what the claims' ratios are."""
    changed = _change(claims[0])
    if not changed:
        return str(claims[0]["unit"])
    sides = (
        ", ".join(wording.setting_word(factor, value) for factor, value in side)
        for side in (
            [(factor, after) for factor, _, after in changed],
            [(factor, before) for factor, before, _ in changed],
        )
    )
    return " ÷ ".join(f"{quantity(claims)} at {side}" for side in sides)


def margin(claim: Claim) -> str:
    """`within 5 %`, or of a lopsided region `between 0.9 and 1.05`."""
    low, high = claim["region"]
    if abs((high - 1) - (1 - low)) < 1e-9:
        return f"within {round(100 * (high - 1), 6):g}{number_format.FIXED}%"
    return f"between {low:g} and {high:g}"


def quantity(claims: list[Claim]) -> str:
    """`rate`, of which a claim's ratio is made."""
    return str(claims[0]["unit"]).removeprefix("ratio of ").removesuffix("s")


def method_of(paper: Paper, claim: Claim) -> str:
    """The method that a claim is about."""
    return wording.method_name(paper, claim["points"]["numerator"])


def _by_verdict(paper: Paper, claims: list[Claim]) -> dict[str, list[str]]:
    names_by_verdict: dict[str, list[str]] = {}
    for verdict in DOES:
        names = [method_of(paper, claim) for claim in claims if claim["verdict"] == verdict]
        if names:
            names_by_verdict[verdict] = names
    return names_by_verdict


def headline(paper: Paper, claims: list[Claim]) -> str:
    """`From 459 MiB to 656 MiB, the rates of Copy and Add stay within 5 % here`."""
    first = claims[0]
    verdicts = _by_verdict(paper, claims)
    what = change(first)
    if "reproduced" not in verdicts and "not_reproduced" not in verdicts:
        names = number_format.listed([method_of(paper, claim) for claim in claims])
        text = f"whether the {_of(claims, names)} {_stay(claims)} {margin(first)} {what}"
        if "inconclusive" in verdicts:
            return f"Not decided here: {text}"
        where = f"in preset {paper['preset']}" if _left_out(claims) else "here"
        return f"Not measured {where}: {text}"
    parts = []
    if holding := verdicts.get("reproduced"):
        of = _of(holding, number_format.listed(holding), quantity(claims))
        parts.append(f"the {of} {_stay(holding)} {margin(first)} here")
    if failing := verdicts.get("not_reproduced"):
        ends = [_ratio(claim) for claim in claims if claim["verdict"] == "not_reproduced"]
        of = _of(failing, number_format.listed(failing), quantity(claims))
        does = "do not" if len(failing) > 1 else "does not"
        alone = "" if holding else f" stay {margin(first)} here"  # else it was said before
        parts.append(f"the {of} {does}{alone}: {number_format.listed(ends)} times")
    undecided = [*verdicts.get("inconclusive", []), *verdicts.get("not_measurable_here", [])]
    if undecided:
        verb = "is" if len(undecided) == 1 else "are"
        parts.append(f"{number_format.listed(undecided)} {verb} not decided")
    return f"{wording.capitalised(what)}, {'; '.join(parts)}"


def _of(items: list[Any], names: str, what: str = "") -> str:
    what = what or quantity(items)
    return f"{what}{'s' if len(items) > 1 else ''} of {names}"


def _stay(items: list[Any]) -> str:
    return "stay" if len(items) > 1 else "stays"


def _left_out(claims: list[Claim]) -> bool:
    return all(claim["reason"]["code"] == Code.NOT_IN_PRESET for claim in claims)


def _ratio(claim: Claim) -> str:
    return number_format.number(claim["estimate"], *claim["interval"], edges=reasons.edges(claim))


def answer(paper: Paper, claims: list[Claim]) -> list[str]:
    """Did they hold, the ratios with their intervals, and why what is open is so."""
    verdicts = _by_verdict(paper, claims)
    names = number_format.listed([method_of(paper, claim) for claim in claims])
    if len(verdicts) == 1:
        lead = f"{ALL[next(iter(verdicts))]}, for {names}."
    else:
        parts = [
            DOES[verdict].format(names=number_format.listed(who))
            for verdict, who in verdicts.items()
        ]
        lead = f"{wording.capitalised('; '.join(parts))}."
    why = [
        f"The reason{_for(names, claims)}: {reason}."
        for reason, names in reasons_undecided(paper, claims).items()
    ]
    through = [
        f"For {method_of(paper, claim)} {claims_section.dependence(claim)}."
        for claim in claims
        if claim.get("through")
    ]
    return [lead, *through, *_ratios(paper, claims), *why]


def _ratios(paper: Paper, claims: list[Claim]) -> Iterator[str]:
    measured = [claim for claim in claims if claim["estimate"] is not None]
    if not measured:
        return
    in_rounds = [claims_section.rounds(paper, claim) for claim in measured]
    same = in_rounds[0] if len(set(in_rounds)) == 1 else ""
    shown = [
        f"{claims_section.value(claim)} for {method_of(paper, claim)}{'' if same else own}"
        for claim, own in zip(measured, in_rounds, strict=True)
    ]
    published = [value for claim in claims for value in claim["published"]]
    there = ""
    if published:
        span = claims_section.published(claims[0] | {"published": published})
        there = f"; the source’s own figures give {span}"
    yield (
        f"On this machine the {quantity(claims)} changes {change(claims[0])} by a factor of "
        f"{number_format.listed(shown)}{same}{there}. "
        f"{wording.capitalised(margin(claims[0]))} of 1 counts as holding, and the intervals hold "
        "for all claims together."
    )


def _for(names: list[str], claims: list[Claim]) -> str:
    return "" if len(names) == len(claims) else f" for {number_format.listed(names)}"


def reasons_undecided(paper: Paper, claims: list[Claim]) -> dict[str, list[str]]:
    """Why claims are open -> what they are about, each reason once."""
    reasons: dict[str, list[str]] = {}
    for claim in claims:
        if claim["verdict"] in ("inconclusive", "not_measurable_here"):
            reasons.setdefault(_reason(paper, claim), []).append(method_of(paper, claim))
    return reasons


def _reason(paper: Paper, claim: Claim) -> str:
    if _left_out([claim]):
        return f"preset {paper['preset']} leaves the sizes out that it compares"
    if claim["reason"]["code"] == Code.OVER_THE_EDGE:
        if few := claims_section.too_few_rounds(claim):
            return wording.lower_first(few).rstrip(".")
        return claims_section.past_the_edge(claim)
    return reasons.cause(claim, named=None).rstrip(".")
