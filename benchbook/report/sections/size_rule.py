"""Rate by size against the paper's rule for it: caches, ceilings, and where the rate last falls."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.plots.paper import Level, Line, sizes
from benchbook.report.plots.style import Picture, method_colour
from benchbook.report.sections import equivalence
from benchbook.report.sections import findings as findings_section
from benchbook.report.wording import Paper

Experiment = dict[str, Any]
Curve = dict[str, Any]
NEAR = 0.05  # of the rate at the largest size, where the source claims nothing of the kind


def curves(paper: Paper, experiment: Experiment) -> list[Curve]:
    """The curves to draw, the main one first: at the setting that has most sizes, the method of
    the paper's rule and the last of those measured as often, each in up to two variants. More
    lines cannot be told apart."""
    every = experiment["curves"]
    if not every:
        return []
    wanted = (paper["sizing"] or {}).get("method")
    first = max(every, key=lambda curve: (curve["method"] == wanted, len(curve["values"])))
    same = [curve for curve in every if _setting(curve) == _setting(first)]
    variants = _variants(
        experiment, [curve for curve in same if curve["method"] == first["method"]]
    )
    main = [curve for curve in same if curve["variant"] == variants[0]]
    most = max(
        (len(curve["values"]) for curve in main if curve["method"] != first["method"]), default=0
    )
    others = [curve["method"] for curve in main if len(curve["values"]) == most]
    order = list(experiment["definitions"])
    last = sorted((name for name in others if name != first["method"]), key=order.index)[-1:]
    return [
        curve
        for variant in variants
        for method in (first["method"], *last)
        for curve in same
        if (curve["variant"], curve["method"]) == (variant, method)
    ]


def points(paper: Paper, experiment: Experiment) -> list[str]:
    """The points of the curves to draw."""
    every = [value for curve in curves(paper, experiment) for value in curve["values"]]
    return [value["point"] for value in every if "point" in value]


def _setting(curve: Curve) -> dict[str, Any]:
    return {key: value for key, value in curve["factors"].items() if key != "method"}


def _variants(experiment: Experiment, same: list[Curve]) -> list[str]:
    """Up to two, first the one that flags are compared with."""
    bases = {wording.parts_of(entry["base"])["variant"] for entry in experiment["flags"]}
    return sorted((curve["variant"] for curve in same), key=lambda name: name not in bases)[:2]


def variants_in_words(drawn: list[Curve]) -> str:
    """Which variant is thick and which thin, where there are two."""
    names = list(dict.fromkeys(curve["variant"] for curve in drawn))
    return f" Thick: variant {names[0]}; thin: {names[1]}." if len(names) > 1 else ""


def _threads(curve: Curve) -> int:
    return int(curve["factors"].get("threads", 1))


def filled(experiment: Experiment, threads: int) -> dict[str, int]:
    """Cache -> the size of each buffer at which all of them fill it, with every core in use
    holding its share; caches that cores have in common count once."""
    cpus = experiment["cpus"][:threads]
    caches = (experiment["facts"] or {}).get("caches") or []
    sizes_filled: dict[str, int] = {}
    for name, size in experiment["caches"].items():
        shared = {
            tuple(cache["shared_cpus"])
            for cache in caches
            if cache["kind"] != "instruction"
            and name.startswith(f"L{cache['level']}")
            and set(cache["shared_cpus"] or []) & set(cpus)
        }
        sizes_filled[name] = size * max(len(shared), 1) // max(experiment["buffers"], 1)
    return sizes_filled


def ceilings(experiment: Experiment, threads: int) -> list[dict[str, Any]]:
    """What memory attained with as many threads."""
    return [ceiling for ceiling in experiment["ceilings"] if ceiling["threads"] == threads]


def picture(paper: Paper, experiment: Experiment) -> Picture | None:
    """The sweep with its ceilings, caches, the paper's rule and the last fall."""
    chosen = curves(paper, experiment)
    if not chosen:
        return None
    main, methods, marks = (
        chosen[0],
        list(experiment["definitions"]),
        findings_section.marks_of(paper),
    )
    names = experiment["names"]
    lines = [
        Line(
            label=names.get(curve["method"], curve["method"]),
            colour=method_colour(methods, curve["method"]),
            values=[
                (v["bytes"], v["rerun"], v["low"], v["high"], v["invocations"])
                for v in curve["values"]
            ],
            thin=curve["variant"] != main["variant"],
            marks=[marks.names(v.get("point")) for v in curve["values"]],
        )
        for curve in chosen
    ]
    threads = _threads(main)
    levels = [
        Level(ceiling["rate"], _ceiling_name(ceiling, names))
        for ceiling in ceilings(experiment, threads)
    ]
    rule, knee = _rule_bytes(paper, experiment), main["knee"]
    alt = " ".join([f"Rate by size in {experiment['sweep_unit']}.", *sentences(paper, experiment)])
    return sizes(
        "size-sweep",
        alt + marks.in_words(points(paper, experiment)),
        lines,
        filled(experiment, threads),
        1,
        experiment["sweep_unit"],
        along=f"size of each of the {experiment['buffers']} arrays",
        levels=levels,
        rule=rule,
        bracket=(knee["low_bytes"], knee["high_bytes"]) if knee else None,
    )


def _ceiling_name(ceiling: dict[str, Any], names: dict[str, str]) -> str:
    """`copy, non-temporal stores, 2 threads`, with the traffic where the method leaves it open."""
    name = names.get(ceiling["method"], ceiling["method"])
    of = "" if name.lower().startswith(ceiling["traffic"]) else f"{ceiling['traffic']}: "
    return f"{of}{name}, {number_format.plural(ceiling['threads'], 'thread')}"


def _rule_bytes(paper: Paper, experiment: Experiment) -> int | None:
    rule = paper["sizing"]
    if rule is None or paper["experiments"].get(rule["experiment"]) is not experiment:
        return None
    here: int | None = rule["here_bytes"]
    return here


def _beyond(curve: Curve, start: float) -> list[dict[str, Any]]:
    return [value for value in curve["values"] if value["bytes"] >= start]


def title(paper: Paper, experiment: Experiment) -> str:
    """The rule's size beside the size from which on the rate stays."""
    main = curves(paper, experiment)[0]
    rule, knee = _rule_bytes(paper, experiment), main["knee"]
    asks = f"The rule demands {wording.bytes_of(rule)} per array" if rule else ""
    if knee:
        high = wording.bytes_of(int(knee["high_bytes"]))
        falls = f"the last large drop of {_name(experiment, main)} ends at {high}"
        if (size := settled(main, near(paper))) is not None:
            steady = f"stays within {number_format.share(near(paper))} of that at the largest size"
            falls = (
                f"from {wording.bytes_of(size)} on the rate of {_name(experiment, main)} {steady}"
            )
    else:
        falls = f"the rate of {_name(experiment, main)} has no large drop"
    return wording.capitalised(f"{asks}; {falls}" if asks else falls)


def _name(experiment: Experiment, curve: Curve) -> str:
    return str(experiment["names"].get(curve["method"], curve["method"]))


def sentences(paper: Paper, experiment: Experiment) -> list[str]:
    """The rule in bytes here, where the rate last falls, and what it does beyond that."""
    chosen = curves(paper, experiment)
    if not chosen:
        return []
    main = chosen[0]
    return [*_rule_sentence(paper, experiment), *_knee_sentences(paper, experiment, main)]


def _rule_sentence(paper: Paper, experiment: Experiment) -> list[str]:
    rule = paper["sizing"]
    if rule is None or paper["experiments"].get(rule["experiment"]) is not experiment:
        return []
    if rule["here_bytes"] is None:
        return ["The rule’s size is unknown here, because the size of the caches is unknown."]
    return [
        f"The rule demands {wording.bytes_of(rule['here_bytes'])} per array on this machine, whose "
        f"last-level caches hold {wording.bytes_of(rule['total_llc_bytes'])} together."
    ]


def _knee_sentences(paper: Paper, experiment: Experiment, main: Curve) -> list[str]:
    name, unit, knee = _name(experiment, main), experiment["sweep_unit"], main["knee"]
    ends = [wording.bytes_of(main["values"][k]["bytes"]) for k in (0, -1)]
    if knee is None:
        return [
            f"Between {ends[0]} and {ends[1]} the rate of {name} never falls by more than a "
            "fifth from one size to the next. So the sweep shows no size that is large enough."
        ]
    low, high = (wording.bytes_of(int(knee[f"{end}_bytes"])) for end in ("low", "high"))
    text = [
        f"The last large drop of {name} (by more than a fifth) is between {low} and {high}, to "
        f"{number_format.share(knee['ratio'])} of the rate before."
    ]
    flat = _beyond(main, knee["high_bytes"])
    rates = [value["rerun"] for value in flat]
    if len(flat) == 1:
        text.append(
            f"No size beyond {high} was measured, so it is unknown whether the rate stays there."
        )
        return text
    share = number_format.share(min(rates) / max(rates))
    text.append(
        f"From there to {ends[1]} it lies between {number_format.number(min(rates))} and "
        f"{number_format.number(max(rates))} {unit}, the lowest {share} of the highest."
    )
    return [*text, *_conclusion(paper, experiment, main)]


def near(paper: Paper) -> float:
    """How far a rate may lie from another and count as the same: by the source's own claims."""
    claims = (claim for figure in paper["figures"] for claim in figure["claims"])
    regions = [claim["region"] for claim in claims if equivalence.claims_no_effect(claim)]
    return round(max((max(high - 1, 1 - low) for low, high in regions), default=NEAR), 6)


def settled(main: Curve, margin: float) -> int | None:
    """The smallest size from which on every rate is within `margin` of the largest size's; None
    where only the largest itself is. Of the estimates, without their intervals."""
    values = main["values"]
    last = values[-1]["rerun"]
    start = len(values)
    while start and abs(values[start - 1]["rerun"] / last - 1) <= margin:
        start -= 1
    return int(values[start]["bytes"]) if start < len(values) - 1 else None


def _conclusion(paper: Paper, experiment: Experiment, main: Curve) -> list[str]:
    """The rule's size against that from which on the rate stays."""
    margin = near(paper)
    rule, size = _rule_bytes(paper, experiment), settled(main, margin)
    largest = wording.bytes_of(main["values"][-1]["bytes"])
    if size is None:
        return [
            f"No smaller size stays within {number_format.share(margin)} of the rate at {largest}."
        ]
    where = f"within {number_format.share(margin)} of its rate at {largest}"
    text = f"From {wording.bytes_of(size)} on it stays {where}"
    if rule is None:
        return [f"{text}."]
    if rule >= size:
        return [f"{text}; the rule demands {number_format.number(rule / size)} times that size."]
    return [f"{text}, which the rule’s size does not reach."]


def rule_sentences(paper: Paper) -> list[str]:
    """The sentences about the experiment that the paper's rule is for."""
    rule = paper["sizing"]
    if rule is None:
        return []
    return sentences(paper, paper["experiments"][rule["experiment"]])
