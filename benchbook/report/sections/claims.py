"""What a page says of one claim: its number in its unit, its verdict's reason, what it would take
to settle it, what settled it, and under which conditions it would hold."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchbook.core import number_format
from benchbook.core.reason_codes import Code
from benchbook.report import artefacts, reasons, run_groups, wording
from benchbook.report.wording import Paper

Claim = dict[str, Any]
RATIOS = reasons.RATIOS
PLAIN = ("difference", "slope", "unevenness")  # numbers that may be 0 or less, with or without unit
LISTED = 3  # conditions, or claims, named before the rest is counted
VERDICTS = {
    "reproduced": ("holds", "hold", "here"),
    "not_reproduced": ("does", "do", "not hold here"),
    "inconclusive": ("is", "are", "not decided"),
    "not_measurable_here": ("was", "were", "not measured"),
}
# In which order pages name verdicts; those of `verdict`.
ORDER = ("reproduced", "only", "resting", "not_reproduced", "inconclusive", "not_measurable_here")
# Under these names templates find them next to the sentences of this module.
robustness = reasons.robustness
SIGNALS = {11: "segmentation fault"}
WHERE = {Code.WITHIN: "within", Code.OUTSIDE: "outside"}
BY_INTERVAL = {
    "reproduced": "lies within",
    "not_reproduced": "lies outside",
    "inconclusive": "extends past",
}


def name(paper: Paper, claim: Claim) -> str:
    """A few words for a table or a picture: `block copy 1.1.1 ÷ whole copy`."""
    own = _of_sides(paper, claim)
    names = [
        _of_sides(paper, each)
        for figure in paper["figures"]
        for each in figure["claims"]
        if figure["id"] == claim.get("figure")
    ]
    if own and names.count(own) < 2:  # else the name would be that of several claims
        return own
    return _in_words(claim)


def _in_words(claim: Claim) -> str:
    """A claim's id as words, written as its text writes them: `giving 1 MiB back costs less`."""
    written: dict[str, str] = {}
    for word in re.findall(r"\w+", claim["text"]):
        if word[1:] != word[1:].lower():  # a capital inside: no mere beginning of a sentence
            written.setdefault(word.lower(), word)
    return " ".join(written.get(word, word) for word in str(claim["claim"]).split("-"))


def _of_sides(paper: Paper, claim: Claim) -> str:
    sides = claim["points"]
    if claim["kind"] != "ratio" or not all(sides.values()):
        return ""
    return _ratio_name(paper, sides["numerator"], sides["denominator"])


def _ratio_name(paper: Paper, top: str, bottom: str) -> str:
    names = [wording.method_name(paper, side) for side in (top, bottom)]
    if names[0] != names[1]:
        return " ÷ ".join(names)
    return f"{names[0]}, {' ÷ '.join(wording.differing(paper, top, bottom))}"


def number(claim: Claim, value: float | None) -> str:
    """One value in the claim's unit: `9.2`, `3.1 %`, `1023 MiB`."""
    if value is None:
        return number_format.NONE
    edges = reasons.edges(claim)
    match claim["kind"]:
        case "range" | "explained_share" | "audit":
            return number_format.share(value, edges)
        case "link_limit":
            return wording.bytes_of(int(value))
        case "trial":
            return SIGNALS.get(int(value), number_format.count(value)) if value else "none"
        case _:
            return in_unit(claim, number_format.number(value, edges=edges))


def in_unit(claim: Claim, text: str) -> str:
    """A number with the unit that the claim's numbers have, where they have one."""
    unit = claim.get("shown_in")
    return f"{text}{number_format.FIXED}{unit}" if unit else text


def value(claim: Claim) -> str:
    """The estimate with its interval: `9.2 (8.8 to 9.7)`, `3.1 % (2.0 % to 4.4 %)`."""
    estimate, ends = claim["estimate"], claim["interval"]
    if estimate is None:
        return number_format.NONE
    if claim["kind"] in (*RATIOS, *PLAIN):
        return in_unit(
            claim, number_format.with_interval(estimate, *ends, edges=reasons.edges(claim))
        )
    if not claim["blocks"]:
        return number(claim, estimate)
    if None in ends or (claim["kind"] == "range" and ends[1] >= 1):
        return f"{number(claim, estimate)} (no finite interval)"
    return f"{number(claim, estimate)} ({number(claim, ends[0])} to {number(claim, ends[1])})"


def pointwise(claim: Claim) -> str:
    """The pointwise 95 % interval in the claim's unit."""
    low, high = claim["pointwise"]
    if claim["kind"] in (*RATIOS, *PLAIN):
        return in_unit(claim, number_format.interval(low, high, edges=reasons.edges(claim)))
    return f"{number(claim, low)} to {number(claim, high)}"


def published(claim: Claim) -> str:
    """The claim's number out of the source's own cells; a dash where it prints none."""
    values = claim["published"]
    if not values:
        return number_format.NONE
    ends = [number(claim, end) for end in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def advantage(claim: Claim) -> Claim:
    """The claim with its ratio the other way round where less counts as holding, so that the number
    is how many times as fast the claimed side is: at most 0.2 of a time is at least 5 times as
    fast. Any other claim as it is."""
    least, most = claim["region"]
    if claim["kind"] != "ratio" or least is not None or most is None or not 0 < most <= 1:
        return claim
    low, high = claim["interval"] or (None, None)
    return claim | {
        "region": [1 / most, None],
        "estimate": claim["estimate"] and 1 / claim["estimate"],
        "interval": claim["interval"] and [high and 1 / high, low and 1 / low],
        "published": [1 / value for value in claim["published"]],
    }


def region(claim: Claim) -> str:
    """What counts as holding, in the claim's unit."""
    low, high = (_bound(claim, bound) for bound in claim["region"])
    if claim["region"][0] is None:
        return f"at most {high}"
    if claim["region"][1] is None:
        return f"at least {low}"
    return low if low == high else f"{low} to {high}"


def _bound(claim: Claim, bound: float | None) -> str:
    if bound is not None and claim["kind"] in reasons.SHARES:
        return f"{number_format.bound(100 * bound)}{number_format.FIXED}%"
    if bound is not None and claim["kind"] == "link_limit":
        return f"{number_format.count(bound)}{number_format.FIXED}B"
    if bound is not None and claim["kind"] in (*RATIOS, *PLAIN, "beyond_host"):
        return in_unit(claim, f"{number_format.bound(bound)}{_root(bound)}")
    return number(claim, bound)


def _root(bound: float) -> str:
    """` (√10)` after a bound that is the square root of a whole number but none itself."""
    square = round(bound**2)
    is_root = bound % 1 != 0 and math.isclose(bound**2, square, rel_tol=1e-12)
    return f"{number_format.FIXED}(√{square})" if is_root else ""


def under_other_factors(paper: Paper, claim: Claim) -> str:
    """The estimate under other factors, as a clause: `with spinning 1.6 (1.5 to 1.7), …`; else
    empty."""
    found = claim.get("beside")
    if not found or claim["verdict"] == "not_measurable_here":
        return ""
    point = wording.points_of(claim)[0]
    where = " ".join(
        wording.value_word(paper, point, key, str(factor))
        for key, factor in found["setting"].items()
    )
    same = {**claim, **found, "interval": found["pointwise"]}
    by_interval = BY_INTERVAL[found["by_interval"]]
    return f"with {where} {value(same)}, pointwise, which {by_interval} what counts as holding"


def steps(claim: Claim) -> str:
    """Each step of a growth, and what even growth would show, as a sentence; else empty."""
    found = claim["notes"].get("steps")
    if not found:
        return ""
    parts = [wording.parts_of(point) for point in wording.points_of(claim)]
    over = next((key for key in parts[0] if len({part.get(key) for part in parts}) > 1), "")
    of_bytes = over.endswith("bytes")
    scale, unit = (1024, "ns per KiB") if of_bytes else (1e-3, "µs")
    shown = []
    for step in found:
        ends = [wording.bytes_of(int(end)) if of_bytes else f"{end:g}" for end in _ends(step)]
        values = [scale * step[key] for key in ("ns", "low95", "high95")]
        shown.append(f"{' to '.join(ends)}: {number_format.with_interval(*values)}")
    text = f"Steps, in {unit} with pointwise intervals: {'; '.join(shown)}."
    if null := claim["notes"].get("null"):
        text += (
            f" Growing evenly, this machine’s noise alone would show "
            f"{number_format.number(null['median'])} (up to {number_format.number(null['95'])} in "
            f"95{number_format.FIXED}% of tries)."
        )
    return text


def _ends(step: dict[str, Any]) -> tuple[float, float]:
    """The values of the factor between which a step lies."""
    return step["from"], step["to"]


def verdict(claim: Claim) -> str:
    """The verdict, or that it rests on an artefact: `only` or `resting`."""
    found = claim.get("through")
    if not found:
        return str(claim["verdict"])
    return "only" if found["kind"] == "only" else "resting"


def later(claims: list[Claim], most: int) -> list[Claim]:
    """The claims that a table of `most` rows leaves out at first, few of many with one verdict: of
    each verdict as large a part is shown as of the others, and LISTED claims at least."""
    if len(claims) <= most + 1:
        return []
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(verdict(claim), []).append(claim)
    shown = {name: max(LISTED, most * len(group) // len(claims)) for name, group in groups.items()}
    return [claim for name, group in groups.items() for claim in group[shown[name] :]]


def what(claim: Claim) -> str:
    """What is estimated, to begin a line with: `Ratio of rates`."""
    return wording.capitalised(claim["unit"])


def why(paper: Paper, claim: Claim) -> str:
    """The verdict's reason as a sentence."""
    code = claim["reason"]["code"]
    where = WHERE.get(code)
    if where is None and code != Code.OVER_THE_EDGE:
        text = reasons.sentence(claim, lambda point: wording.point_name(paper, point)).rstrip(".")
        return f"{wording.capitalised(text)}."
    there = f" (published: {published(claim)})" if claim["published"] else ""
    text = f"{wording.capitalised(claim['unit'])} {value(claim)}{there}{rounds(paper, claim)}"
    if where:
        text += f", {where} what counts as holding, {region(claim)}"
    else:
        text += f": {past_the_edge(claim)}"
    return f"{text}{reasons.widening(claim['reason'])}."


def past_the_edge(claim: Claim) -> str:
    """At which end the interval of an undecided claim leaves what counts as holding, as a clause:
    `the interval reaches below 0.95, the least that counts as holding`."""
    (low, high), (least, most) = claim["interval"], claim["region"]
    below = least is not None and (low is None or low < least)
    above = most is not None and (high is None or high > most)
    if below and above:
        return f"the interval reaches past both ends of what counts as holding, {region(claim)}"
    if below:
        return (
            f"the interval reaches below {_bound(claim, least)}, the least that counts as holding"
        )
    return f"the interval reaches above {_bound(claim, most)}, the most that counts as holding"


def rounds(paper: Paper, claim: Claim) -> str:
    """Over how many rounds a claim was estimated, to follow its number: ` over 25 rounds`. Where
    some do not count, of how many, and of a ratio that of the medians of all runs; else empty."""
    used = claim["blocks"]
    if not used:
        return ""
    whole = _measured_rounds(paper, claim)
    if whole is None or used >= whole:
        return f" over {number_format.plural(used, 'round')}"
    text = f" over {used} of {whole} rounds, those that hold every run it compares"
    ratio = _of_all_runs(paper, claim)
    return f"{text} (medians of all runs: {ratio})" if ratio else text


def _measured_rounds(paper: Paper, claim: Claim) -> int | None:
    """How many rounds the run has that decided a claim; None where a run of its own did."""
    figure = next((own for own in paper["figures"] if own["id"] == claim.get("figure")), None)
    if figure is None or claim.get("settled"):
        return None
    return int(paper["experiments"][figure["experiment"]]["blocks"])


def _of_all_runs(paper: Paper, claim: Claim) -> str:
    """A ratio of the medians of all runs of either side; empty of another claim."""
    if claim["kind"] != "ratio" or not all(claim["points"].values()):
        return ""
    times = {row["point"]: row.get("time_ns") for row in paper["points"]}
    top, bottom = (times.get(claim["points"][side]) for side in ("numerator", "denominator"))
    if not top or not bottom:
        return ""
    ratio = top / bottom if claim["unit"].endswith("times") else bottom / top
    return number_format.number(ratio, edges=reasons.edges(claim))


def too_few_rounds(claim: Claim) -> str:
    """That the rounds are too few for any interval of a claim, as a sentence; else empty."""
    needed = (claim["price"] or {}).get("least", 0)
    if not claim["blocks"] or None not in claim["interval"] or claim["blocks"] >= needed:
        return ""
    return (
        f"Only {number_format.plural(claim['blocks'], 'round')} could be used, too few for an "
        f"interval; at least {needed} are needed."
    )


def reason_undecided(paper: Paper, claim: Claim) -> str:
    """Why a claim is not decided and what would decide it: one reason, and what to do about it."""
    reason = too_few_rounds(claim) or why(paper, claim)
    groups = run_groups.of_points(paper, wording.points_of(claim))
    return " ".join(filter(None, [reason, groups, price(claim)]))


def only(claim: Claim) -> str:
    """What the verdict rests on, to end a sentence with after a comma; else empty."""
    found = claim.get("through")
    if not found:
        return ""
    names = artefacts.titles(found["artefacts"])
    return f"only because {names}" if found["kind"] == "only" else f"resting on this: {names}"


def dependence(claim: Claim) -> str:
    """The artefacts that a claim rests on in words, to end with a full stop; else empty."""
    return "; ".join(reasons.in_plain_words(claim))


def left_out(paper: Paper, claim: Claim) -> str:
    """Which points of a range this machine cannot measure, as a sentence; else empty."""
    if claim["kind"] != "range" or not claim["left_out"] or claim["estimate"] is None:
        return ""
    sizes = list(dict.fromkeys(wording.size_of(point) for point in claim["left_out"]))
    used = {wording.size_of(point) for point in claim["points"]["points"]} - set(sizes)
    return (
        f"Over {number_format.plural(len(used), 'size')}; "
        f"{number_format.plural(len(sizes), 'size')} "
        f"({sizes[0]} to {sizes[-1]}) cannot be measured here."
    )


def ranges(claim: Claim) -> Iterator[str]:
    """Each range of the claim, next to what points of equal truth would show on this machine."""
    for group, range_ in claim["notes"].get("ranges", {}).items():
        text = f"{wording.capitalised(group)}: {number_format.share(range_['range'])}"
        text += f" ({number_format.share(range_['low'])} to {number_format.share(range_['high'])})"
        if null := range_.get("of_single_starts"):
            text += (
                f". One run of each of {range_['points']} sizes spreads by "
                f"{number_format.share(null['observed'])}. If all were equal, this machine’s noise "
                f"alone would give {number_format.share(null['null_median'])} (up to "
                f"{number_format.share(null['null_95'])} in 95{number_format.FIXED}% of tries)"
            )
        yield f"{text}."


def share_said(claim: Claim) -> str:
    """How the share of a cause came about, as a sentence; else empty."""
    factor = claim["notes"].get("factor")
    if factor is None:
        return ""
    return (
        f"The factor is {number_format.number(factor)}; with only the cause removed it is "
        f"{number_format.number(claim['notes']['factor_removed'])}."
    )


def price(claim: Claim) -> str:
    """What would settle an inconclusive claim, as a sentence; else empty."""
    if claim["verdict"] != "inconclusive":
        return ""
    reckoned = claim["price"]
    if not reckoned:
        return ""
    if reckoned["guard"] and reasons.widening(claim["reason"]):
        return "More rounds would not help, a quieter machine would."
    if reckoned["guard"]:
        return "More rounds would not help."
    if reckoned["blocks"] is None:
        if too_few_rounds(claim):
            return f"To measure more: `{command(claim)}`."
        if reckoned["margin"] == 0:
            return (
                "More rounds would not help: the estimate lies on the edge of what counts as "
                "holding."
            )
        return "More rounds would not help on this machine: its runs differ too much."
    minutes = reckoned["minutes"]
    long = f", {number_format.seconds(60 * minutes)} on this machine," if minutes else ""
    return (
        f"About {number_format.plural(reckoned['blocks'], 'round')}{long} should decide it: "
        f"`{command(claim)}`."
    )


def command(claim: Claim) -> str:
    """The command that measures a new run for this claim alone."""
    return f"benchbook settle {claim['paper']}/{claim['figure']}/{claim['claim']}"


def settled(claim: Claim) -> str:
    """That a run of its own decided, and what was found before; else empty."""
    found = claim.get("settled")
    if not found:
        return ""
    earlier = [
        f"{value(claim | verdict)} in {number_format.plural(verdict['blocks'], 'round')}"
        f" ({verdict['verdict'].replace('_', ' ')})"
        for verdict in found["before"]
        if verdict["estimate"] is not None
    ]
    times = "a run" if found["number"] == 1 else f"the last of {found['number']} runs"
    more = claim["blocks"] - found["asked"]
    repeats = f" and {number_format.plural(more, 'repeat')} of disturbed ones" if more > 0 else ""
    return (
        f"Decided by {times} made to settle it, on "
        f"{number_format.plural(found['asked'], 'round')} fixed "
        f"beforehand{repeats}, alone; found before and not pooled: {number_format.listed(earlier)}."
    )


def elsewhere(paper: Paper, claim: Claim) -> str:
    """Under which measured conditions it would hold, and where the published ratio appears."""
    found = claim["elsewhere"]
    if not found or found["tried"] < 2:
        return ""
    every = [*found["holds"], *found["fails"], *found["open"]]
    vary = [
        key
        for key in every[0]["condition"]
        if len({str(ratio["condition"].get(key)) for ratio in every}) > 1
    ]

    def conditions(ratios: list[dict[str, Any]]) -> str:
        shown = [
            f"{_condition(paper, ratio, vary)}: {_ratio(claim, ratio)}" for ratio in ratios[:LISTED]
        ]
        more = len(ratios) - LISTED
        return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")

    settings = number_format.plural(found["tried"], "condition")
    parts = [f"holds in {len(found['holds'])}"]
    if found["fails"]:
        parts.append(f"does not in {len(found['fails'])} ({conditions(found['fails'])})")
    if found["open"]:
        parts.append(f"stays open in {len(found['open'])}")
    text = f"Of {settings} in which both were measured it {number_format.listed(parts)}"
    if found["published"] and found["appears"]:
        near = sorted(found["appears"], key=_width)
        text += f". The published ratio, {published(claim)}, appears at {conditions(near)}"
    elif found["published"] and found["nearest"]:
        nearest = found["nearest"]
        text += f". The nearest to the published ratio, {published(claim)}, is "
        text += conditions([nearest])
        high = nearest["high95"]
        inside = (nearest["low95"] or 0) <= max(found["published"]) and (
            high is None or min(found["published"]) <= high
        )
        text += (
            ", whose interval holds it, but is too wide to say that it appears there"
            if inside
            else ", whose interval does not hold it"
        )
    return f"{text}."


def _ratio(claim: Claim, ratio: dict[str, Any]) -> str:
    ends = ratio["low95"], ratio["high95"]
    return number_format.with_interval(ratio["ratio"], *ends, edges=reasons.edges(claim))


def _width(ratio: dict[str, Any]) -> float:
    """How many times its lower end the upper end of a ratio's interval is."""
    return float(ratio["high95"] / ratio["low95"]) if ratio["low95"] else 1e9


def _condition(paper: Paper, ratio: dict[str, Any], vary: list[str]) -> str:
    condition, point = ratio["condition"], ratio["points"][0]
    values = {key: str(condition[key]) for key in vary if key in condition}
    words = [
        ("blocks of " if key.startswith("block") else "")
        + wording.value_word(paper, point, key, value)
        for key, value in values.items()
    ]
    return ", ".join(words) or "the claim’s own setting"


def open_ones(paper: Paper, claims: list[Claim]) -> dict[str, str]:
    """Why claims are open, and what would settle each -> the claims; one reason stands once."""
    found: dict[str, list[str]] = {}
    for claim in claims:
        if claim["verdict"] == "not_measurable_here":
            found.setdefault(not_measurable(paper, claim), []).append(name(paper, claim))
        elif claim["verdict"] == "inconclusive":
            found.setdefault(reason_undecided(paper, claim), []).append(name(paper, claim))
    return {
        reason: wording.capitalised(number_format.listed(names)) for reason, names in found.items()
    }


def not_measurable(paper: Paper, claim: Claim) -> str:
    """Why a claim was not measured, with the remedy where another preset is one."""
    if claim["reason"]["code"] == Code.NOT_IN_PRESET:
        fuller = "quick" if paper["preset"] == "tiny" else "paper"
        return f"Not in preset {paper['preset']}; `make PRESET={fuller}` may measure it."
    needs = claim.get("requires")
    return f"{why(paper, claim)} It needs {needs}." if needs else why(paper, claim)


def others(paper: Paper, leading: list[Claim]) -> list[str]:
    """How many of the claims that are not the `leading` ones have which verdict, as a sentence."""
    rest = [claim for claim in wording.all_claims(paper) if claim not in leading]
    counts = Counter(claim["verdict"] for claim in rest)
    parts = [
        f"{counts[verdict]} {singular if counts[verdict] == 1 else plural} {words}"
        for verdict, (singular, plural, words) in VERDICTS.items()
        if counts[verdict]
    ]
    through = sum(bool(claim.get("through")) for claim in rest)
    if through:  # only what is reproduced can rest on an artefact
        parts[0] += f" ({through} through an artefact)"
    noun = "other claim" if leading else "claim"
    of = number_format.plural(len(rest), noun)
    return [f"Of {of} {number_format.listed(parts)}."] if parts else []
