"""The first screen of a paper's page: the question, the verdict, three sentences, and one chart of
exactly that claim."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from benchbook.core import number_format
from benchbook.core.reason_codes import Code
from benchbook.report import reasons, run_groups, wording
from benchbook.report.chart import ROW_PX, TALL_PX, Chart, Row, chart
from benchbook.report.plots.palette import INK
from benchbook.report.sections import anomalies, equivalence, paper_panels, source_words
from benchbook.report.sections import answer as answer_section
from benchbook.report.sections import claims as claims_section
from benchbook.report.wording import Paper

Claim = dict[str, Any]
MOST_SIDES = 6  # rows of the chart of what a claim compares
MOST_RUNS = 40  # single runs of a cell that a panel draws
SHORT = 32  # words of a quotation that leads the page
# Verdict -> what is said of one claim, and of several.
HOLD = {
    "reproduced": ("holds", "hold"),
    "not_reproduced": ("does not hold", "do not hold"),
    "inconclusive": ("is not decided", "are not decided"),
    "not_measurable_here": ("is not measurable either", "are not measurable either"),
}
UNDECIDED = "inconclusive"
SIGNS = {"reproduced": "✓", "not_reproduced": "✗", UNDECIDED: "?", "not_measurable_here": "–"}
SIGNS |= {"only": "(✓)", "resting": "(✓)"}
NOISY, NOISE = 0.5, 0.1  # share of the rounds that were disturbed, from which a run is called so


@dataclass(frozen=True)
class Condition:
    """One entry of the strip below the answer."""

    name: str
    value: str


def leading_claims(paper: Paper) -> list[Claim]:
    """The claims that answer the page's question: several where one change is claimed to matter for
    none of several methods, or where others test in its place what cannot be measured here."""
    first = answer_section.leading(paper)
    several = equivalence.no_effect_claims(paper)
    if first in several:
        return several
    others = answer_section.in_its_place(paper)
    label = {"label": paper["thesis"]["label"]} if others else {}
    return [first | label, *others] if first else []


def title(paper: Paper) -> str:
    """The question that the page answers; of a paper that declares none, the finding."""
    return paper.get("question") or answer_section.headline(paper)


def verdicts(claims: list[Claim]) -> dict[str, int]:
    """Verdict -> how many of the claims have it."""
    return dict(Counter(claims_section.verdict(claim) for claim in claims))


@dataclass(frozen=True)
class Badges:
    """Verdicts next to one another: what they are about (empty: the page's question), how many of
    the claims have each, and of how many claims."""

    about: str
    counts: dict[str, int]
    total: int


def badges(claims: list[Claim]) -> list[Badges]:
    """The verdicts on the leading claims; those that test in its place what cannot be measured are
    counted apart from it."""
    if not claims:
        return []
    if not _has_stand_ins(claims):
        return [Badges("", verdicts(claims), len(claims))]
    others = claims[1:]
    on_today = "the same idea on today’s systems:"
    return [Badges("", verdicts(claims[:1]), 1), Badges(on_today, verdicts(others), len(others))]


def _has_stand_ins(claims: list[Claim]) -> bool:
    """Whether all but the first of the leading claims test in its place what it cannot."""
    return len(claims) > 1 and "label" in claims[0]


def sentences(paper: Paper) -> list[str]:
    """What the source says, what happened here, and why."""
    claims = leading_claims(paper)
    if not claims:
        return [says(paper)]
    return [says(paper), happened(paper, claims), why(paper, claims)]


def says(paper: Paper) -> str:
    """What the source concludes: its own sentence where that is short, else in our words."""
    thesis = paper.get("thesis")
    quoted = source_words.concludes(paper)
    if thesis and len(quoted.split()) <= SHORT:
        return quoted
    return f"The source says, in our words: {thesis['text'] if thesis else paper['answer']}"


def happened(paper: Paper, claims: list[Claim]) -> str:
    """What was measured here of the leading claims, as a sentence."""
    first = claims[0]
    there = _there(claims)
    claimed = wording.capitalised(answer_section.the_claim(paper, first))
    if all(claim["estimate"] is None for claim in claims):
        return f"{claimed} was not measured here{there}."
    if _has_stand_ins(claims):
        ran = paper["thesis"].get("ran") or f"{claimed} was not measured here{_there([first])}."
        return f"{ran} {stand_ins(claims[1:])}"
    if len(claims) > 1:
        shown = _span(paper, [claim for claim in claims if claim["estimate"] is not None])
        in_rounds = {claims_section.rounds(paper, claim) for claim in claims}
        over = in_rounds.pop() if len(in_rounds) == 1 else ""
        text = f"Here the {equivalence.divided(claims)} is {shown}{over}{there}."
        return f"{text} {_in_caches(paper, first)}".strip()
    over = claims_section.rounds(paper, first)
    if first["kind"] == "ratio" and all(first["points"].values()):
        top, bottom = _side_names(paper, first)
        words = answer_section.compared(first).removeprefix("times ")
        verb = "takes" if words.startswith("as long") else "is"
        times = f"{claims_section.value(first)} times {words} {bottom}"
        return f"Here {top} {verb} {times}{over}{there}."
    article = "the " if first["unit"][:1].isalpha() else ""
    return f"Here {article}{first['unit']} is {claims_section.value(first)}{over}{there}."


def in_a_row(paper: Paper, claims: list[Claim]) -> str:
    """`happened` for a row of a table: without what ran instead of what cannot be measured."""
    if _has_stand_ins(claims) and any(claim["estimate"] is not None for claim in claims):
        return f"On today’s systems {stand_ins(claims[1:])}"
    return happened(paper, claims)


def _span(paper: Paper, claims: list[Claim]) -> str:
    """The smallest and the largest of several estimates, each with its method; the chart next to it
    has all of them: `0.969 (Copy) to 1.002 (Triad)`."""
    ends = [pick(claims, key=lambda claim: claim["estimate"]) for pick in (min, max)]
    shown = []
    for claim in ends if ends[0] is not ends[1] else ends[:1]:
        estimate = number_format.number(
            claim["estimate"], *claim["interval"], edges=reasons.edges(claim)
        )
        shown.append(f"{estimate} ({equivalence.method_of(paper, claim)})")
    return " to ".join(shown)


def stand_ins(claims: list[Claim]) -> str:
    """Which of the claims hold, do not hold, or are open, a sentence for each verdict, with what
    was measured."""
    texts = []
    for name, words in HOLD.items():
        same = [claim for claim in claims if claim["verdict"] == name]
        if not same:
            continue
        does = words[len(same) > 1]
        clauses = [_clause(claim) for claim in same]
        texts.append(f"{len(same)} of {len(claims)} {does}: {number_format.listed(clauses)}.")
    return " ".join(texts)


def _clause(claim: Claim) -> str:
    """What was seen of a claim that tests another in its place; of one that does not hold, or is
    open, with what would count as holding; of one that was not measured its label alone."""
    if claim["estimate"] is None:
        return str(claim["label"])
    advantage = claims_section.advantage(claim)
    times = number_format.number(
        advantage["estimate"], *advantage["interval"], edges=reasons.edges(advantage)
    )
    text = claim["clause"].replace("{times}", times)
    if claim["verdict"] == "reproduced":
        return text
    return f"{text}, where {claims_section.region(advantage)} counts as holding"


def _there(claims: list[Claim]) -> str:
    values = [value for claim in claims for value in claim["published"]]
    if not values:
        return ""
    return (
        f"; the source’s figures give {claims_section.published(claims[0] | {'published': values})}"
    )


def _side_names(paper: Paper, claim: Claim) -> list[str]:
    sides = [claim["points"][side] for side in ("numerator", "denominator")]
    names = [wording.method_name(paper, side) for side in sides]
    return names if names[0] != names[1] else list(wording.differing(paper, *sides))


def _last_cache(paper: Paper, claim: Claim) -> tuple[str, int]:
    """Name and bytes of all last-level caches together of the machine that ran a paper whose sizes
    follow its caches. 0 bytes of another paper, where they are unknown, and of a claim about counts
    or printed figures, which compares no points."""
    points = wording.points_of(claim)
    caches = (wording.experiment_of(paper, points[0])["caches"] if points else None) or {"": 0}
    total = (paper["sizing"] or {}).get("total_llc_bytes") or 0
    return list(caches)[-1], total


def _times_cache(paper: Paper, claim: Claim) -> list[float]:
    """The sizes that a claim compares, each divided by the last-level caches; empty where a point
    has no size, or the caches are unknown."""
    sides = [claim["points"].get(side) for side in ("denominator", "numerator")]
    sizes = [wording.parts_of(point).get("bytes", "") for point in sides if point]
    _, cache = _last_cache(paper, claim)
    if not cache or len(sizes) < 2 or not all(size.isdigit() for size in sizes):
        return []
    return [int(size) / cache for size in sizes]


def _in_caches(paper: Paper, claim: Claim) -> str:
    """`These sizes are 6.25 and 4.38 times the L3, which has 32 MiB here.`, of the size above and
    that below the line; empty where they are unknown."""
    times = _times_cache(paper, claim)
    if not times:
        return ""
    name, size = _last_cache(paper, claim)
    listed = number_format.listed([number_format.number(share) for share in reversed(times)])
    return f"These sizes are {listed} times the {name}, which has {wording.bytes_of(size)} here."


def why(paper: Paper, claims: list[Claim]) -> str:
    """Why the verdict is what it is, or what would decide it, as a sentence."""
    first = claims[0]
    top = first["points"].get("numerator") if first["kind"] == "ratio" else None
    if top and (because := wording.mechanism(paper, top)):
        how = claims_section.dependence(first)
        rests = f" The claim {how.removeprefix('it ')}." if how else ""
        return f"Why: {wording.method_name(paper, top)} {because}.{rests}"
    if first["verdict"] == "not_measurable_here" and first.get("requires"):
        needed = first["requires"].rstrip(".")
        if _has_stand_ins(claims):
            text = f"Why: the source’s own claim needs {needed}; there is none here."
            return f"{text} {_why_some_fail(claims[1:])}".strip()
        return f"Why: it needs {needed}; there is none here.{_stand_in(paper, first)}"
    if first["verdict"] == "not_measurable_here":
        return f"Why: {wording.lower_first(claims_section.not_measurable(paper, first))}"
    if len(claims) > 1:
        undecided = equivalence.reasons_undecided(paper, claims)
        if undecided:
            points = [point for claim in claims for point in wording.points_of(claim)]
            text = f"Why: {'; '.join(_clauses(claims, undecided))}."
            parts = (text, run_groups.of_points(paper, points), _settling(paper, claims))
            return " ".join(filter(None, parts))
    if first["verdict"] == UNDECIDED and first["reason"]["code"] == Code.OVER_THE_EDGE:
        edge, price = claims_section.past_the_edge(first), claims_section.price(first)
        return f"Why: {edge}. {price}".strip()
    if first["verdict"] == UNDECIDED:
        return f"Why: {wording.lower_first(claims_section.reason_undecided(paper, first))}"
    return f"Why: {wording.lower_first(_cause(paper, claims))}"


def _why_some_fail(claims: list[Claim]) -> str:
    """That nobody tested why claims that test another in its place do not hold; else empty."""
    names = [
        claim["label"].partition(":")[0] for claim in claims if claim["verdict"] == "not_reproduced"
    ]
    if not names:
        return ""
    return f"Why it fails for the {number_format.listed(names)} was not tested."


def _clauses(claims: list[Claim], undecided: dict[str, list[str]]) -> list[str]:
    """Each reason with what it is about. Where more than two claims of one region only differ in
    the end that their intervals reach past, all at once: the chart shows which."""
    undecided_claims = [claim for claim in claims if claim["verdict"] == UNDECIDED]
    regions = {claims_section.region(claim) for claim in undecided_claims}
    edges = {claims_section.past_the_edge(claim) for claim in undecided_claims}
    if len(undecided_claims) > 2 and len(regions) == 1 and edges == set(undecided):
        many = f"all {len(claims)}" if len(undecided_claims) == len(claims) else "the others"
        return [
            f"for {many} the interval reaches past one or both ends of what counts as holding, "
            f"{regions.pop()}"
        ]
    return [f"for {number_format.listed(names)} {reason}" for reason, names in undecided.items()]


def _settling(paper: Paper, claims: list[Claim]) -> str:
    """What would settle the first of the undecided claims, as a sentence; else empty."""
    undecided = [claim for claim in claims if claim["verdict"] == UNDECIDED]
    text = claims_section.price(undecided[0]) if undecided else ""
    if len(undecided) < 2 or not text:
        return text
    return f"For {equivalence.method_of(paper, undecided[0])}: {wording.lower_first(text)}"


def _stand_in(paper: Paper, claim: Claim) -> str:
    """That what was measured in place of a claim's points decides nothing; else empty."""
    points = wording.points_of(claim)
    if not any(row["point"] in points and row.get("emulates") for row in paper["points"]):
        return ""
    return " Values further down are simulated: they show the method and decide nothing."


def _cause(paper: Paper, claims: list[Claim]) -> str:
    """What was observed of the cause of decided claims; that none was tested where none was."""
    explained = [
        anomaly
        for figure in paper["figures"]
        for anomaly in figure["explained"]
        if anomaly["state"] == "ok"
    ]
    for claim in claims:
        sides = set(wording.points_of(claim))
        for anomaly in explained:
            text = anomalies.in_short(paper, anomaly)
            if text and {anomaly["odd"], anomaly["base"]} == sides:
                return text
    where = _from_memory(paper, claims[0])
    text = " ".join(filter(None, [where, _smaller(paper, claims, explained) if where else ""]))
    if rests := claims_section.dependence(claims[0]):
        text = f"{text} {wording.capitalised(rests)}.".strip()
    return text or "no cause was tested for this claim."


def _from_memory(paper: Paper, claim: Claim) -> str:
    """That what a claim compares does, or does not, fit in the last-level caches; else empty."""
    times = _times_cache(paper, claim)
    name, _ = _last_cache(paper, claim)
    if times and min(times) > 1:
        return f"at both sizes every array is larger than the {name}, so it comes from memory."
    if times and max(times) <= 1:
        return f"at both sizes every array fits in the {name}."
    return ""


def _smaller(paper: Paper, claims: list[Claim], explained: list[dict[str, Any]]) -> str:
    """What a smaller size showed whose cause was measured against one of the claims' own points."""
    points = [point for claim in claims for point in wording.points_of(claim)]
    for anomaly in explained:
        steps = anomalies.measured_steps(anomaly)
        if anomaly["base"] in points and _is_smaller(anomaly) and steps:
            odd, base = anomalies.side_names(paper, anomaly)
            factor = anomalies.factor_in_words(anomaly["factor"])
            causes = number_format.listed([step["title"] for step in steps])
            return f"For comparison, {odd} shows {factor} times {base}; its cause: {causes}."
    return ""


def _is_smaller(anomaly: dict[str, Any]) -> bool:
    """Whether the odd one of two points has less to copy than the one it is compared with."""
    sizes = [wording.parts_of(anomaly[side]).get("bytes", "") for side in ("odd", "base")]
    return all(size.isdigit() for size in sizes) and int(sizes[0]) < int(sizes[1])


def region_reason(claims: list[Claim]) -> str:
    """Why the region of the leading claims counts as holding, as the paper's folder declares it;
    where each has a region of its own, the place that says it."""
    if "label" in claims[0]:
        return "each bound has its reason in the row of its claim, below."
    reasons = dict.fromkeys(claim["region_reason"] for claim in claims if claim["region_reason"])
    return next(iter(reasons), "")


def charts(paper: Paper) -> list[Chart]:
    """The leading claims: the two sides of a single one, then the ratios and what counts as
    holding."""
    claims = leading_claims(paper)
    sides = _sides(paper, claims[0]) if len(claims) == 1 else None
    return [drawn for drawn in (sides, of_claims(paper, claims)) if drawn]


def _sides(paper: Paper, claim: Claim) -> Chart | None:
    """Both sides of a claimed ratio as the figure has them, published and here; of another claim
    all the rows that it is about, where these are few."""
    figure = next(shown for shown in paper["figures"] if shown["id"] == claim["figure"])
    points = wording.points_of(claim)
    found = [next(iter(wording.rows_of(paper, claim["figure"], point)), None) for point in points]
    shown = [row for row in found if row]
    if not 2 <= len(shown) <= MOST_SIDES or len(shown) < len(found):
        return None
    names = [wording.capitalised(wording.row_name(figure, row)) for row in shown]
    if claim["kind"] == "ratio" and all(claim["points"].values()):
        names = _side_names(paper, claim)
    rows = [
        value_row(paper, figure, row, name, simulated=False)
        for row, name in zip(shown, names, strict=True)
    ]
    unit = f"{figure['quantity']}, {figure['y_unit']}"
    return chart(
        unit, COLUMNS, rows, label=figure["x"], height=TALL_PX if len(rows) < 4 else ROW_PX
    )


def value_row(
    paper: Paper, figure: dict[str, Any], row: dict[str, Any], name: str, *, simulated: bool = True
) -> Row:
    """A row of a figure: its published value, and the rerun with its single runs; a rerun that is
    only `simulated` is left out where that is false."""
    printed = wording.printed_value(row)
    here = number_format.with_interval(row["rerun"], row["low"], row["high"])
    ok = row["state"] == "ok" and (simulated or not row["emulates"])
    runs = [(run["rerun"], run["disturbed"]) for run in row["invocations"] if run["rerun"] and ok]
    there = paper_panels.as_printed(row["printed"], printed) if printed else number_format.NONE
    tip = f"published {there}"
    if ok:
        disturbed = sum(flag for _, flag in runs)
        tip += f"; here {here} {figure['y_unit']}, {number_format.plural(len(runs), 'run')}"
        tip += f" ({disturbed} disturbed)" if disturbed else ""
    return Row(
        label=name,
        published=[printed] if printed else [],
        value=row["rerun"] if ok else None,
        low=row["low"] if ok else None,
        high=row["high"] if ok else None,
        runs=runs,
        cells=(there, here if ok else _lacking(paper, row)),
        colour=paper_panels.colour_of(paper, row["point"]),
        hollow=bool(row["emulates"]),
        tip=tip,
    )


def _lacking(paper: Paper, row: dict[str, Any]) -> str:
    return "not measured" if row["emulates"] else paper_panels.lacking_here(paper, row)


COLUMNS = ("published", "here (95 % interval)")


def of_claims(paper: Paper, claims: list[Claim]) -> Chart | None:
    """Claims on one axis: the published values, the estimate with its interval, and shaded what
    counts as holding."""
    shown = [claim for claim in claims if claim["published"] or claim["estimate"] is not None]
    if not shown:
        return None
    alone = len(claims) == 1
    rows = [_claim_row(paper, claim, alone=alone) for claim in shown]
    ratio = all(claim["kind"] in (*claims_section.RATIOS, "beyond_host") for claim in shown)
    regions = list(dict.fromkeys(claims_section.region(claim) for claim in shown))
    counts = f" ({regions[0]})" if len(regions) == 1 else ""
    return chart(
        f"shaded: what counts as holding{counts}",
        COLUMNS if alone else (*COLUMNS, "verdict"),
        rows,
        ratio=ratio,
        label=_what_rows_show(claims, shown[0]),
        height=TALL_PX,
    )


def _what_rows_show(claims: list[Claim], first: Claim) -> str:
    """What the numbers of a chart of claims count."""
    if "label" in claims[0]:
        return "how many times as fast"
    if _is_named_by_unit(claims):
        return "claim"
    if len(claims) > 1 and first["kind"] == "ratio":
        return equivalence.divided([first])
    return str(first["unit"]).partition(",")[0]


def _is_named_by_unit(claims: list[Claim]) -> bool:
    """Whether a chart calls a claim by what it estimates: one claim that compares no two points."""
    return len(claims) == 1 and claims[0]["kind"] != "ratio" and bool(claims[0]["unit"])


def _claim_row(paper: Paper, claim: Claim, *, alone: bool) -> Row:
    if "label" in claim:
        claim = claims_section.advantage(claim)
    low, high = claim["interval"] or (None, None)
    points = wording.points_of(claim)
    name = claims_section.name(paper, claim)
    if "label" in claim:
        name = claim["label"]
    elif not alone and claim["kind"] == "ratio":
        name = equivalence.method_of(paper, claim)
    elif alone and _is_named_by_unit([claim]):
        name = claim["unit"].partition(",")[0]
    there, here = claims_section.published(claim), claims_section.value(claim)
    stand_in = "label" in claim
    is_drawn_alike = stand_in or not points
    return Row(
        label=wording.capitalised(name),
        published=claim["published"][: paper_panels.MOST_MARKS],
        value=claim["estimate"],
        low=low,
        high=high,
        bounds=(claim["region"][0], claim["region"][1]),
        cells=(there, here) if alone else (there, here, SIGNS[claims_section.verdict(claim)]),
        note=f"holds if it is {claims_section.region(claim)}" if stand_in else "",
        colour=INK if is_drawn_alike else paper_panels.colour_of(paper, points[0]),
        tip=f"published {there}; here {here}; counts as holding: {claims_section.region(claim)}",
    )


def closing(claims: list[Claim], drawn: list[Chart]) -> str:
    """Why a claim's ratio is not the quotient of the two values drawn above it, as sentences; empty
    where it is, to the digits that are printed."""
    if len(claims) != 1 or claims[0]["kind"] != "ratio" or len(drawn) < 2:
        return ""
    numbers = [row.cells[1].partition(" ")[0] for shown in drawn for row in shown.rows]
    if len(numbers) != 3 or not all(text[:1].isdigit() for text in numbers):
        return ""
    top, bottom, ratio = numbers
    quotient = number_format.quotient(top, bottom)
    digits = len(ratio.partition(".")[2])
    if f"{round(float(quotient.replace(',', '')), digits):,.{digits}f}" == ratio:
        return ""
    return (
        f"{top} ÷ {bottom} is {quotient}, not {ratio}: the ratio is estimated from pairs of runs "
        "of the same round, not from these two medians."
    )


def caption(drawn: list[Chart]) -> str:
    """How to read the marks of these charts."""
    rows = [row for shown in drawn for row in shown.rows]
    words = "◇ published."
    if any(len(row.published) > 1 for row in rows):
        words = "◇ published, one for each pair of the source’s values."
    if any(row.value is not None for row in rows):
        words += " ● here, with its 95 % interval."
    if any(row.runs for row in rows):
        words += " Small dots: single runs"
        hollow = any(disturbed for row in rows for _, disturbed in row.runs)
        words += " (hollow: other programs were active)." if hollow else "."
    if any(row.hollow and row.value is not None for row in rows):
        words += " Hollow ●: simulated."
    return words


def strip(paper: Paper) -> list[Condition]:
    """Date, host, preset and quality of the runs."""
    experiments = paper["experiments"]
    if not experiments:
        return [Condition("Preset", paper["preset"])]
    dates = list(dict.fromkeys(day(experiment["run"]) for experiment in experiments.values()))
    facts = next((e["facts"] for e in experiments.values() if e["facts"]), None) or {}
    cores = facts.get("usable_cores")
    host = facts.get("cpu_model") or paper["host"]
    measured = any(row["state"] == "ok" and not row.get("emulates") for row in paper["points"])
    return [
        Condition("Measured" if measured else "Simulated", number_format.listed(dates)),
        Condition("Host", f"{host}, {number_format.plural(cores, 'core')}" if cores else host),
        Condition("Preset", paper["preset"]),
        Condition("Quality", quality(experiments) if measured else "nothing was measured"),
    ]


def day(run: str) -> str:
    """`2026-11-21` out of a run's name."""
    stamp = run.split("-")[0][:8]
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:]}" if stamp.isdigit() else run


def quality(experiments: dict[str, dict[str, Any]]) -> str:
    """How many rounds other programs disturbed: `8 of 8 rounds disturbed: noisy`."""
    rounds = sum(experiment["blocks"] for experiment in experiments.values())
    disturbed = sum(len(experiment["disturbed"]) for experiment in experiments.values())
    if not rounds:
        return "nothing was measured"
    share = disturbed / rounds
    grade = "noisy" if share >= NOISY else "some noise" if share >= NOISE else "quiet"
    return f"{disturbed} of {number_format.plural(rounds, 'round')} disturbed: {grade}"


def citation(paper: Paper) -> str:
    """Source and rerun, as a list of references has them."""
    runs = number_format.listed([experiment["run"] for experiment in paper["experiments"].values()])
    return (
        f"{source_words.title(paper)}, {source_words.byline(paper)}. Rerun by Benchbook on "
        f"{paper['host']}, preset {paper['preset']}, run {runs}."
    )
