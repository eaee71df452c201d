"""A page's headline and first paragraphs: did it hold here, and why, quoted from paper.json.

Generic: names come from the experiment, figures from the rerun, causes from what was observed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.core import number_format
from benchbook.core.units import TIME
from benchbook.report import reasons, wording
from benchbook.report.sections import anomalies, equivalence, grids, size_rule, source_words
from benchbook.report.sections import audit as audit_section
from benchbook.report.sections import claims as claims_section
from benchbook.report.wording import Paper

LEAD = {
    "reproduced": "Yes, it holds here.",
    "not_reproduced": "No, it does not hold here.",
    "inconclusive": "It is not decided here.",
    "not_measurable_here": "It cannot be measured here.",
}
# Of a claim that is reproduced through artefacts: whether through them only.
THROUGH = {
    True: "The number repeats here, but only through an artefact of measuring.",
    False: "The number repeats here, but it rests on an artefact of measuring.",
}
NO_RATE = "The number repeats here, but it is no rate of copying memory."


FASTER, LONGER = "times as fast as", "times as long as"


def compared(claim: dict[str, Any]) -> str:
    """`times as fast as`, or for times `times as long as`."""
    return LONGER if claim["unit"].endswith("times") else FASTER


def leading(paper: Paper) -> dict[str, Any] | None:
    """The claim that the page opens with: the one that tests what the source concludes, decided or
    not; else the first that was at least tried, else the first; None where there is none."""
    claims = wording.all_claims(paper)
    thesis = (paper.get("thesis") or {}).get("claim")
    for claim in claims:
        if f"{claim.get('figure')}/{claim['claim']}" == thesis:
            return claim
    tried = [claim for claim in claims if claim["verdict"] != "not_measurable_here"]
    return next(iter(tried or claims), None)


def in_its_place(paper: Paper) -> list[dict[str, Any]]:
    """The claims, each with a short `label` and a `clause` about its result, that test what the
    source concludes on the systems of this machine; none where the claim that the page opens with
    is measurable."""
    first = leading(paper)
    if first is None or first["verdict"] != "not_measurable_here":
        return []
    claims = {f"{claim['figure']}/{claim['claim']}": claim for claim in wording.all_claims(paper)}
    return [
        claims[stand_in["claim"]]
        | {"label": stand_in["label"], "clause": stand_in.get("text") or stand_in["label"]}
        for stand_in in (paper.get("thesis") or {}).get("in_its_place", [])
        if stand_in["claim"] in claims
    ]


def headline(paper: Paper) -> str:
    """The finding, as a title."""
    if others := in_its_place(paper):
        return _headline_of_stand_ins(others)
    if several := equivalence.no_effect_claims(paper):
        return equivalence.headline(paper, several)
    first = leading(paper)
    if first is None:
        return _headline_of_figure(paper)
    decided = first["verdict"] in ("reproduced", "not_reproduced")
    if not decided or first["kind"] != "ratio":
        verdict = f"{wording.capitalised(reasons.VERDICTS[first['verdict']])}".removesuffix(" here")
        opening = ", ".join(filter(None, [f"{verdict} here", claims_section.only(first)]))
        return f"{opening}: {the_claim(paper, first)}"
    sides = first["points"]
    text = _is_as(
        paper,
        sides["numerator"],
        sides["denominator"],
        number_format.number(first["estimate"], *first["interval"], edges=reasons.edges(first)),
        compared(first),
        first["verdict"] == "not_reproduced" and _below(first),
    )
    # What it copies instead says more than the artefact's name.
    told = wording.mechanism(paper, sides["numerator"])
    return (
        text if told or not claims_section.only(first) else f"{text}, {claims_section.only(first)}"
    )


def _headline_of_stand_ins(claims: list[dict[str, Any]]) -> str:
    """`On today’s systems 3 of 4 such claims hold; the one on the MPI rate does not`."""
    failing = [claim for claim in claims if claim["verdict"] == "not_reproduced"]
    hold = sum(claim["verdict"] == "reproduced" for claim in claims)
    text = f"On today’s systems {hold} of {len(claims)} such claims hold"
    if len(failing) == 1:
        text += f"; the one on the {failing[0]['label'].partition(':')[0]} does not"
    return text


def the_claim(paper: Paper, claim: dict[str, Any]) -> str:
    """`the claim that several threads are faster than one`, to be used in a sentence, so that
    nobody takes what is claimed as a finding. A claim about more than two points is named in the
    words of the source's conclusion where it tests that."""
    thesis = paper.get("thesis") or {}
    tests_it = thesis.get("claim") == f"{claim.get('figure')}/{claim['claim']}"
    text = thesis["text"] if tests_it and len(wording.points_of(claim)) > 2 else claim["text"]
    return f"the claim that {_lower(text).rstrip('.')}"


def _below(claim: dict[str, Any]) -> bool:
    """Whether the interval lies below what counts as holding, so that the ratio is `only` that."""
    high, least = claim["interval"][1], claim["region"][0]
    return high is not None and least is not None and high < least


def _is_as(paper: Paper, top: str, bottom: str, ratio: str, words: str, only: bool) -> str:
    names = [wording.method_name(paper, side) for side in (top, bottom)]
    if names[0] == names[1]:  # what differs is another factor
        names = list(wording.differing(paper, top, bottom))
    because = wording.mechanism(paper, top)
    verb = "takes" if words == LONGER else "is"
    text = f"{names[0]} {verb} {'only ' if only else ''}{ratio} {words} {names[1]} here"
    return wording.capitalised(text + (f", because it {because}" if because else ""))


def _headline_of_figure(paper: Paper) -> str:
    for figure in paper["figures"]:
        if figure["grid"]:
            return grids.title(paper, figure)
        # What copies least tells most, else what stands last.
        rows = figure["rows"][:0:-1]
        for row in sorted(rows, key=lambda row: not wording.mechanism(paper, row["point"])):
            ratio = row["ratio"]
            if ratio:
                text = number_format.number(ratio["ratio"], ratio["low95"], ratio["high95"])
                base = figure["rows"][0]["point"]
                words = LONGER if figure["quantity"] == TIME else FASTER
                return _is_as(paper, row["point"], base, text, words, False)
    first = next(iter(paper["figures"]), None)
    if first is None:
        return f"Not rerun yet: {paper['title']}"
    return f"{first['title']}: nothing to compare was measured"


def _lower(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def answer(paper: Paper) -> list[list[str]]:
    """Did it hold here, and why: the first paragraphs, as sentences."""
    if several := equivalence.no_effect_claims(paper):
        first_ones = equivalence.answer(paper, several)
        says = source_words.concludes(paper) or f"The source says: {paper['answer']}"
        beside = claims_section.others(paper, several)
        first_ones.insert(1, says)
        rest = [audit_section.sentence(paper), beside, size_rule.rule_sentences(paper)]
        rest += [list(not_the_end(paper))]
        return [paragraph for paragraph in (first_ones, *rest) if paragraph]
    first = leading(paper)
    said = []
    if not paper["figures"]:
        said.append(source_words.concludes(paper) or f"The source says: {paper['answer']}")
    top = first["points"]["numerator"] if first and first["kind"] == "ratio" else None
    # Where an artefact makes the number, what it is and does comes before what was claimed.
    lies = bool(top and wording.mechanism(paper, top))
    forms = list(_other_forms(paper, top))
    quoted = []
    if first is not None:
        quoted = [f"The claim that we test first: {first['text']}", *_rests(first)]
        said += [_lead(first, lies), source_words.concludes(paper), *([] if lies else quoted)]
        said += _why(paper, top)
        said += _measured(paper, first)
        if first["verdict"] == "inconclusive":
            said.append(f"The reason: {claims_section.why(paper, first)}")
        if first["verdict"] == "not_measurable_here":
            said.append(claims_section.not_measurable(paper, first))
            said.append((paper.get("thesis") or {}).get("ran", ""))
    causes = [forms, list(_explained(paper))]
    others = [claims_section.others(paper, [first] if first else []), audit_section.sentence(paper)]
    rest = [*causes, quoted, *others] if lies else [*others, *causes]
    rest.append(list(not_the_end(paper)))
    return [paragraph for paragraph in (list(filter(None, said)), *rest) if paragraph]


def _rests(claim: dict[str, Any]) -> Iterator[str]:
    """That a number which repeats is no confirmation, where an artefact makes it."""
    rests = claim.get("through")
    if rests and rests["kind"] == "only":
        how = claims_section.dependence(claim)
        yield f"The number repeats, the conclusion does not: {how}."
    elif rests:
        yield f"{wording.capitalised(claims_section.dependence(claim))}."


def _lead(claim: dict[str, Any], lies: bool) -> str:
    found = claim.get("through")
    if lies and claim["verdict"] == "reproduced":
        return NO_RATE
    return THROUGH[found["kind"] == "only"] if found else LEAD[claim["verdict"]]


def _explained(paper: Paper) -> Iterator[str]:
    """How much of what begs an explanation is explained, of the points that mislead."""
    seen: set[str] = set()
    for figure in paper["figures"]:
        for anomaly in figure["explained"]:
            text = anomalies.in_short(paper, anomaly)
            if text and wording.mechanism(paper, anomaly["odd"]) and anomaly["odd"] not in seen:
                seen.add(anomaly["odd"])
                yield text


def _measured(paper: Paper, claim: dict[str, Any]) -> Iterator[str]:
    if claim["estimate"] is None:
        return
    if claim["kind"] != "ratio":
        if claim["verdict"] != "inconclusive":  # else it is the reason
            yield claims_section.why(paper, claim)
        return
    figure = next(shown for shown in paper["figures"] if shown["id"] == claim["figure"])
    sides = [claim["points"][side] for side in ("numerator", "denominator")]
    rows = [next(iter(wording.rows_of(paper, claim["figure"], side)), {}) for side in sides]
    values = [
        number_format.number(row.get("rerun"), row.get("low"), row.get("high")) for row in rows
    ]
    names = [wording.method_name(paper, side) for side in sides]
    if names[0] == names[1]:
        names = list(wording.differing(paper, *sides))
    ratio = f"{claims_section.value(claim)}{claims_section.rounds(paper, claim)}"
    published = claim["published"]
    there = (
        f"; the source’s own figures give {claims_section.published(claim)}" if published else ""
    )
    if all(row.get("rerun") for row in rows):
        verb = "takes" if figure["quantity"] == TIME else "shows"
        size = wording.size_of(sides[0])
        as_much = "as long" if figure["quantity"] == TIME else "as much"
        what = "Paired run by run, the ratio is"
        if claim["statistic"] != "median":  # of which the rows are
            what = f"Comparing the {claim['statistic']} of each run, the ratio is"
        yield (
            f"On this machine {names[0]} {verb} {values[0]} {figure['y_unit']}"
            f"{' at ' if size else ''}{size}, {names[1]} {values[1]} (medians of the runs): "
            f"{number_format.quotient(*values)} times {as_much}. {what} {ratio}{there}."
        )
    else:
        yield f"On this machine the ratio is {ratio}{there}."


def _why(paper: Paper, point: str | None) -> Iterator[str]:
    seen = wording.observations(paper, point)
    if not point or not wording.mechanism(paper, point):
        return
    yield (
        f"{wording.capitalised(wording.method_name(paper, point))} "
        f"{wording.mechanism(paper, point)}: "
        f"{number_format.share(seen['work_done_fraction'])} of the declared bytes arrive, "
        "and all the data that it touches stay in the cache."
    )


def _other_forms(paper: Paper, without: str | None) -> Iterator[str]:
    told = wording.parts_of(without).get("method") if without else None
    for experiment in paper["experiments"].values():
        base = experiment["forms"][0]["point"] if experiment["forms"] else ""
        for form in experiment["forms"]:
            point, ratio = form["point"], form["ratio"]
            declared = form["observations"].get("blocks_declared") or 0
            if declared <= 1 or form["factors"].get("method") == told or not ratio:
                continue
            text = number_format.with_interval(ratio["ratio"], ratio["low95"], ratio["high95"])
            if form["observations"].get("work_done_fraction") is None:
                continue  # nothing can be said of what it did
            how = wording.mechanism(paper, point) or "copies all that it declares"
            yield (
                f"{wording.capitalised(wording.method_name(paper, point))} {how}: {text} times "
                f"{wording.method_name(paper, base)} at {wording.size_of(point)}."
            )


def not_the_end(paper: Paper) -> Iterator[str]:
    """What remains odd: pairs that deliver the same bytes at different rates, as sentences."""
    for experiment in paper["experiments"].values():
        pairs = [pair for pair in experiment["odd"]["pairs"] if pair["kind"] == "methods"]
        if not pairs:
            continue
        one = next((pair for pair in pairs if _in_blocks(paper, pair)), pairs[0])
        names = [wording.method_name(paper, one[side]) for side in ("top", "bottom")]
        rerun = one["rerun"]
        here = rerun and number_format.with_interval(
            rerun["ratio"], rerun["low95"], rerun["high95"]
        )
        there = wording.ratio_range(one["published"])
        if one["differs_published"]:
            differ = f"in the paper their rates differ by a factor of {there}"
            differ += f", here {here}" if here else ""
        else:
            differ = f"here their rates differ by a factor of {here} (in the paper {there})"
        opening = "One difference is unexplained"
        if any(wording.mechanism(paper, point["point"]) for point in paper["points"]):
            opening = "One question remains"
        yield (
            f"{opening}: {names[0]} and {names[1]} deliver the same {wording.size_of(one['top'])}, "
            f"yet {differ}."
        )


def _in_blocks(paper: Paper, pair: dict[str, Any]) -> bool:
    return (wording.observations(paper, pair["top"]).get("blocks_declared") or 0) > 1
