"""The sentences of a verdict's reason, its robustness, and the artefacts that it rests on.

They are made of a claim as paper.json has it: the codes and parameters of benchbook/estimands/
reasons.py, Robustness of benchbook/judge/claims.py and Part of benchbook/judge/
artefact_dependence.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchbook.core import number_format
from benchbook.core.reason_codes import Code
from benchbook.define.points import NOT_IN_PRESET
from benchbook.report import artefacts

Claim = dict[str, Any]
RATIOS = ("ratio", "ratio_of_ranges")
SHARES = ("range", "explained_share")  # kinds whose number is a share
VERDICTS = {
    "reproduced": "reproduced",
    "not_reproduced": "not reproduced",
    "inconclusive": "not decided",
    "not_measurable_here": "not measurable here",
}
LIMITS = {
    "own": "its own interval",
    "a_a": "the same binary measured twice",
    "relinked": "the same flags linked with other padding",
}
PLURAL = {"invalidates": "invalidate", "biases": "bias"}
BY_INTERVAL = {
    Code.WITHIN: "lies within",
    Code.OUTSIDE: "lies outside",
    Code.OVER_THE_EDGE: "overlaps the edge of",
}
SENTENCES = {
    Code.NOT_IN_PRESET: NOT_IN_PRESET,
    Code.NO_TWIN: "the same program was not measured twice for this claim (no A/A test)",
    Code.NO_FACTOR: "the first side is not faster in every round: nothing needs an explanation",
    Code.NO_COMMON_BLOCK: "no round holds all measurements",
    Code.SIZE_UNKNOWN: "a size that the claim names is unknown here",
}


def with_sentences(claim: Claim) -> Claim:
    """The claim as verdicts.json has it: its reason, its robustness and what it rests on in words.

    The reasons of the verdicts that a settling run replaced are sentences too.
    """
    rests, settled = claim["through"], claim["settled"]
    if rests:
        kept = {key: value for key, value in rests.items() if key != "parts"}
        rests = kept | {"words": dependence(claim)}
    if settled:
        before = [
            earlier | {"reason": sentence(claim | earlier | {"through": None})}
            for earlier in settled["before"]
        ]
        settled = settled | {"before": before}
    return claim | {
        "reason": sentence(claim),
        "robustness": robustness(claim),
        "through": rests,
        "settled": settled,
    }


def sentence(claim: Claim, named: Callable[[str], str] = str) -> str:
    """Why the verdict of a claim is what it is; `named` gives the name of a point from its id."""
    reason = claim["reason"]
    text = cause(claim, named)
    if "of" in reason and "points" in reason:
        of, used = reason["of"], reason["points"]
        text += f"; over {used} of {of} points, the others cannot run here"
    if claim.get("through"):
        text += f"; {dependence(claim)}"
    return text


def cause(claim: Claim, named: Callable[[str], str] | None = str) -> str:
    """The reason without what was left out and without the artefacts it rests on; where `named`
    is None without the name of the point that it is about, too."""
    point = claim["reason"].get("point")
    text = _cause(claim)
    return f"{named(point)}: {text}" if point and named else text


def _cause(claim: Claim) -> str:
    reason = claim["reason"]
    code = Code(reason["code"])
    match code:
        case Code.WITHIN | Code.OUTSIDE | Code.OVER_THE_EDGE:
            region = in_region(claim["region"])
            return f"{_estimate(claim)} {BY_INTERVAL[code]} the region, {region}{widening(reason)}"
        case Code.SMALL_EFFECT:
            return (
                f"{_estimate(claim)} rests on a factor of {reason['factor']:.3g}, below the "
                f"smallest effect that counts as real here, {_factor(reason)} (limited "
                f"by {LIMITS[reason['limit']]}){widening(reason)}"
            )
        case Code.PROCESSES_APART:
            return (
                f"its processes ran at the same time for only {reason['overlap']:.0%} of their "
                "time: on this busy machine their rates do not add up"
            )
        case Code.POINT_MISSING | Code.EMULATED:
            return str(reason["why"])
        case Code.NO_CHECK:
            return f"the audit has no {reason['rule']} of {reason['table']}"
        case Code.NUMBERS_AGREE:
            return f"{reason['agree']} of {reason['of']} numbers agree"
        case Code.STATED:
            return str(reason["text"])
    return SENTENCES[code]


def widening(reason: dict[str, Any]) -> str:
    """What made the interval wider: the same binary measured twice, and waits for a CPU; nothing
    where neither did."""
    text = ""
    if by := reason.get("widened_by"):
        text += (
            "; the same program measured twice differs here, so the interval is wider by a factor "
            f"of {by:.3g} on each side"
        )
    if waited := reason.get("waited"):
        text += (
            f"; a program waited {number_format.share(waited)} of its time for a CPU, so the "
            "interval is wider by what that may add"
        )
    return text


def _factor(reason: dict[str, Any]) -> str:
    smallest = reason["smallest"]
    return "inf" if smallest is None else f"{smallest:.3g}"  # no finite one is real


def _estimate(claim: Claim) -> str:
    """`the ratio of rates 9.2 (8.8 to 9.7)`."""
    shown = number_format.with_interval(claim["estimate"], *claim["interval"], edges=edges(claim))
    return f"the {claim['unit']} {shown}"


def edges(claim: Claim) -> list[float]:
    """The bounds that a claim's numbers are held against, across which none may be rounded: those
    of its region as they are and as they are printed, and of a ratio 1."""
    bounds = [bound for bound in claim["region"] if bound is not None]
    scale = 100 if claim["kind"] in SHARES else 1
    printed = [
        float(number_format.bound(scale * bound).replace(",", "")) / scale for bound in bounds
    ]
    return list(dict.fromkeys([*bounds, *printed, *([1.0] if claim["kind"] in RATIOS else [])]))


def in_region(region: list[float | None]) -> str:
    """What counts as holding: `at most 0.05`, `0.95 to 1.05`."""
    low, high = ("" if end is None else number_format.bound(end) for end in region)
    if not low:
        return f"at most {high}"
    if not high:
        return f"at least {low}"
    return f"{low} to {high}" if low != high else f"exactly {low}"


def robustness(claim: Claim) -> str:
    """In how many other choices the verdict is the same; empty where none were tried."""
    counts = claim["robustness"]
    if not counts:
        return ""
    text = (
        f"{VERDICTS[counts['verdict']]} in {counts['same']} of {counts['tried']} choices of "
        "statistic, rounds, speed level and variant, by the interval alone"
    )
    too_few = counts["too_few_blocks"]
    return text + (f"; {too_few} have too few rounds to decide" if too_few else "")


def dependence(claim: Claim) -> str:
    """That a claim was reproduced only through artefacts, or rests on them, named by their ids;
    else empty."""
    rests = claim.get("through")
    parts = rests["parts"] if rests else []
    return f"reproduced, {'; '.join(_part(claim, part) for part in parts)}" if rests else ""


def _part(claim: Claim, part: dict[str, Any]) -> str:
    names, points = part["artefacts"], part["points"]
    who = number_format.listed(names)
    if part["kind"] == "unknown":
        verb = part["effect"] if len(names) == 1 else PLURAL[part["effect"]]
        how = "" if part["effect"] == "invalidates" else " by an unknown factor"
        return f"resting on {_points(points)} {who} {verb}{how}"
    left = _left(claim, part)
    if points is not None:
        factor = number_format.number(part["factor"])
        return (
            f"resting on {_points(points)} {who} {part['effect']}, by a factor of {factor} over "
            f"several points together: with that taken out {left}"
        )
    without = f"without {'it' if len(names) == 1 else 'them'} {left}"
    if part["kind"] == "only":
        return f"only through {who}: {without}"
    return (
        f"resting on {who}: {without}, which leaves open whether it is {in_region(claim['region'])}"
    )


def in_plain_words(claim: Claim) -> list[str]:
    """`dependence` for a page, a sentence without its full stop for each artefact or group of them,
    the gravest first: `it holds only because the source pointer never moves; without that
    the ratio is 0.95 (0.89 to 1.02)`. Empty where it rests on none."""
    rests = claim.get("through")
    return [_plain(claim, part) for part in rests["parts"]] if rests else []


def _plain(claim: Claim, part: dict[str, Any]) -> str:
    who = artefacts.titles(part["artefacts"])
    points = part["points"]
    if part["kind"] == "unknown":
        how = "not valid" if part["effect"] == "invalidates" else "biased by an unknown factor"
        return f"it rests on {_settings(points, how)}: {who}"
    left = _left(claim, part)
    if points is not None:
        how = f"biased, together by a factor of {number_format.number(part['factor'])}"
        return f"it rests on {_settings(points, how)} ({who}); with that taken out {left}"
    if part["kind"] == "only":
        return f"it holds only because {who}; without that {left}"
    return (
        f"it rests on this: {who}; without that {left}, which leaves open whether it is "
        f"{in_region(claim['region'])}"
    )


def _settings(amount: int, how: str) -> str:
    return f"a setting that is {how}" if amount == 1 else f"{amount} settings that are {how}"


def _left(claim: Claim, part: dict[str, Any]) -> str:
    """`the ratio is 1.1 (1.0 to 1.2)`, of a share `the share is 3.1 %`."""
    if part["interval"] is None:
        return "nothing remains to estimate"
    if claim["kind"] in SHARES:
        return f"the share is {number_format.share(part['without'])}"
    what = "the ratio is" if claim["kind"] in RATIOS else "the value is"
    value = number_format.with_interval(part["without"], *part["interval"], edges=edges(claim))
    return f"{what} {value}"


def _points(amount: int) -> str:
    return "a point that" if amount == 1 else f"{amount} points that"
