"""The first screen of the machine's page: what a reader has to know of it before any number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchbook.core import number_format
from benchbook.report import wording

Experiments = Mapping[str, dict[str, Any]]  # by name: analyses, or those of a paper
Section = dict[str, Any]
# What an ability of the machine lets us observe, where its name does not say it.
OBSERVED = {
    "cuda": "CUDA devices",
    "devices": "graphics cards and accelerators",
    "frequency": "the CPU’s frequency",
    "likwid": "hardware counters by likwid",
    "perf": "hardware counters by perf",
    "perf software": "software counters by perf",
    "opencl": "OpenCL devices",
}


@dataclass(frozen=True)
class Line:
    """One line of the summary: what it is about, what holds, and the part of the page with more."""

    name: str
    text: str
    anchor: str


def noise(experiments: Experiments, of: str = "") -> list[str]:
    """Whose rounds were disturbed, what probing cost, and which damaged runs were left out; `of`
    says whose rounds were counted, where those are not all of this machine: ` of the papers`."""
    if not experiments:
        return []
    rounds = sum(experiment["blocks"] for experiment in experiments.values())
    loud = sorted(
        ((name, experiment) for name, experiment in experiments.items() if experiment["disturbed"]),
        key=lambda named: -len(named[1]["disturbed"]) / named[1]["blocks"],
    )
    parts = [f"{len(run['disturbed'])} of {run['blocks']} of {name}" for name, run in loud]
    total = sum(len(experiment["disturbed"]) for experiment in experiments.values())
    sentences = [
        f"{total} of {number_format.plural(rounds, 'round')}{of} were disturbed by other work"
        + (f": {number_format.listed(parts)}." if parts else ".")
    ]
    measuring_s = sum(experiment["measuring_s"] for experiment in experiments.values())
    if measuring_s:
        cost = sum(experiment["probing_s"] for experiment in experiments.values()) / measuring_s
        sentences.append(
            f"Reading the machine’s state cost {number_format.share(cost)} of the time."
        )
    for experiment in experiments.values():
        sentences += wording.left_out(experiment)
    return sentences


def lines(
    experiments: Experiments,
    papers: list[dict[str, Any]],
    about: dict[str, str],
    caches: list[Section],
    chases: list[Section],
    bounds: list[Section],
    peers: list[Section],
    abilities: list[dict[str, str]],
) -> list[Line]:
    """The summary of the sections below it, each line from the same numbers as its section; a
    section that has nothing to show has no line."""
    absent = [
        OBSERVED.get(ability["name"], ability["name"])
        for ability in abilities
        if ability["state"] != "ok"
    ]
    each = [
        Line("Machine", _machine(about), "topology"),
        Line("Quiet?", " ".join(noise(experiments)), "noise"),
        Line("Speed levels", _speed_levels(experiments), "noise"),
        Line("Same program timed twice", _null_tests(papers), "noise"),
        Line("Caches", ", ".join(_cache(cache) for cache in caches), "caches"),
        Line("Latency", ". ".join(chase["title"] for chase in chases), "latency"),
        Line("Best rates in memory", " ".join(bound["sentences"] for bound in bounds), "ceilings"),
        Line("Other benchmark programs", _peers(peers), "peers"),
        Line("Cannot be observed", ", ".join(absent), "abilities"),
    ]
    return [line for line in each if line.text]


def _machine(about: dict[str, str]) -> str:
    if not about:
        return ""
    cores = about["Usable here"].partition(",")[0]
    return f"{about['CPU']}, {cores}, {about['Memory']} of memory, {about['Virtualisation']}"


def _speed_levels(experiments: Experiments) -> str:
    several = {
        name: len(experiment["machine_states"])
        for name, experiment in experiments.items()
        if len(experiment["machine_states"]) > 1
    }
    if not several:
        return "One in every experiment." if experiments else ""
    parts = [f"{levels} in {name}" for name, levels in several.items()]
    return f"More than one: {number_format.listed(parts)}."


def _null_tests(papers: list[dict[str, Any]]) -> str:
    """The furthest bound of the A/A tests of each experiment, the narrowest first."""
    widest: dict[str, float] = {}
    for figure in (figure for paper in papers for figure in paper["figures"]):
        for null in (figure["null"]["again"], figure["null"]["relinked"]):
            if null and null.get("low95") and null.get("high95"):
                bound = max(null["high95"], 1 / null["low95"]) - 1
                widest[figure["experiment"]] = max(bound, widest.get(figure["experiment"], 0.0))
    parts = [
        f"{number_format.share(bound)} in {name}"
        for name, bound in sorted(widest.items(), key=lambda named: named[1])
    ]
    if not parts:
        return ""
    return (
        f"The ratio of both times may be off 1 by up to {', '.join(parts)} "
        f"(95{number_format.FIXED}% intervals). Smaller differences cannot be distinguished from "
        "noise."
    )


def _cache(cache: Section) -> str:
    sizes = dict.fromkeys(
        cache[source] for source in ("sysfs", "libc", "hwloc") if cache.get(source)
    )
    return f"{cache['name']} {' or '.join(sizes)}" + (
        " (sources disagree)" if cache["apart"] else ""
    )


def _peers(peers: list[Section]) -> str:
    parts = [
        f"{peer['quantity']} ÷ that of {peer['peer']} {peer['median_ratio']:.3f} "
        f"({number_format.plural(peer['compared'], 'setting')})"
        for peer in peers
        if peer["compared"]
    ]
    return f"Ours compared with theirs, in the median: {', '.join(parts)}." if parts else ""
