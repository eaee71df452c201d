"""The page about the machine: its noise during the runs, its topology, what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.core import number_format
from benchbook.core.files import read_json
from benchbook.core.sizes import format_bytes
from benchbook.judge.paper_json import PAPER, read_paper
from benchbook.report import wording
from benchbook.report.index_page import write_page
from benchbook.report.plots import machine as machine_plot
from benchbook.report.plots.style import Picture
from benchbook.report.render import svg_of
from benchbook.report.sections import (
    cache_latency,
    caches,
    ceilings,
    machine_summary,
    peer_agreement,
    topology,
)
from benchbook.report.sections import findings as findings_section

ABILITY = ("ok", "denied", "absent")  # states, the best first
# Facts whose names do not say what they are.
IN_WORDS = {"max_khz": "highest frequency", "governors": "governors of all CPUs"}


def make_machine(files: list[Path], output: Path) -> None:
    """reports/machine.html from analyses, and from papers for their twins: noise and topology."""
    analyses = [read_json(path) for path in files if path.name != PAPER]
    papers = [read_paper(path) for path in files if path.name == PAPER]
    facts: dict[str, Any] = next(
        (analysis["facts"] for analysis in analyses if analysis["facts"]), {}
    )
    main = [analysis for analysis in analyses if not analysis["experiment"].startswith("controls/")]
    disturbed = sum(len(analysis["disturbed"]) for analysis in main)
    blocks = sum(analysis["blocks"] for analysis in main)
    states = max((len(analysis["machine_states"]) for analysis in main), default=0)
    headline = f"The machine: {disturbed} of {number_format.plural(blocks, 'round')} disturbed"
    headline += f", {states} speed levels" if states > 1 else ", one speed level"
    first = analyses[0] if analyses else {"preset": "", "host": ""}
    unknown = _unknown(facts)
    sections: dict[str, Any] = {
        "about": _about(facts),
        "chases": cache_latency.sections(main),
        "bounds": ceilings.sections(main, papers),
        "peers": peer_agreement.sections(main, papers),
        "abilities": _abilities(analyses),
    }
    of_caches = caches.caches(facts, papers)
    write_page(
        output,
        "machine.html.j2",
        "The machine",
        headline=headline,
        summary=machine_summary.lines(
            {analysis["experiment"]: analysis for analysis in main},
            papers,
            caches=of_caches["rows"],
            **sections,
        ),
        answer=_machine_answer(main),
        experiments=[_experiment(analysis, papers) for analysis in analyses],
        facts=facts,
        instruction_sets=facts.get("isa") or [],
        topology=topology.section(facts),
        caches=of_caches,
        unknown=unknown,
        **sections,
        whole_run=_findings(main),
        findings=findings_section,
        preset=first["preset"],
        host=first["host"],
        environment=wording.environment(analyses),
    )


def _unknown(facts: dict[str, Any]) -> dict[str, str]:
    """What could not be read -> why; what has one reason is one entry."""
    unknown = dict(facts.get("unknown", {}))
    if facts and not facts.get("frequency_readable"):
        unknown.setdefault("frequency", "no file shows the frequency of a CPU while it runs")
    by_reason: dict[str, list[str]] = {}
    for name, reason in unknown.items():
        by_reason.setdefault(reason, []).append(IN_WORDS.get(name, name.replace("_", " ")))
    return {number_format.listed(names): reason for reason, names in by_reason.items()}


def _abilities(analyses: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What the evidence stage found this machine to let us observe, what there is first."""
    capabilities: list[dict[str, str]] = next(
        (analysis["capabilities"] for analysis in analyses if analysis.get("capabilities")), []
    )
    return sorted(capabilities, key=lambda capability: ABILITY.index(capability["state"]))


def _findings(analyses: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Findings about whole runs, by artefact; the same one of several experiments once."""
    by_artefact: dict[str, dict[str, dict[str, Any]]] = {}
    for finding in (finding for analysis in analyses for finding in analysis["findings"]):
        if not finding["where"]:
            by_artefact.setdefault(finding["artefact"], {})[finding["explanation"]] = finding
    return {artefact: list(ones.values()) for artefact, ones in by_artefact.items()}


def _machine_answer(analyses: list[dict[str, Any]]) -> str:
    """The worst over all runs, in two sentences; the numbers of each run follow below."""
    text = []
    anchored = {
        analysis["experiment"]: anchors_ns
        for analysis in analyses
        if (anchors_ns := _anchors(analysis))
    }
    if anchored:
        spread = {name: max(anchors_ns) / min(anchors_ns) for name, anchors_ns in anchored.items()}
        worst = max(spread, key=lambda name: spread[name])
        text.append(
            f"A fixed reference copy took {_from_to(anchored[worst])} while {worst} was measured"
            f" ({number_format.number(spread[worst])} times slower at worst)"
            + ("; no other run varied as much." if len(anchored) > 1 else ".")
        )
    waiting = {
        analysis["experiment"]: max(anchors_ns)
        for analysis in analyses
        if (anchors_ns := _waits(analysis))
    }
    if waiting:
        worst = max(waiting, key=lambda name: waiting[name])
        text.append(
            f"In the worst case, a run of {worst}, all threads together waited for a CPU for "
            f"{number_format.share(waiting[worst])} of the timed part."
        )
    return " ".join(text) or "No experiment was measured."


def _anchors(analysis: dict[str, Any]) -> list[float]:
    """What the anchor took at each reading, in ns."""
    return [reading["value"] for reading in analysis["readings"] if reading["name"] == "anchor"]


def _from_to(anchors_ns: list[float]) -> str:
    least, most = (
        number_format.number(anchor_ns / 1e6) for anchor_ns in (min(anchors_ns), max(anchors_ns))
    )
    return f"{least} to {most} ms in {number_format.plural(len(anchors_ns), 'reading')}"


def _waits(analysis: dict[str, Any]) -> list[float]:
    """The share of its timed part that each start waited for a CPU."""
    shares = [start["run_delay_fraction"] for start in analysis["disturbance"]["starts"]]
    return [share for share in shares if share is not None]


def _experiment(analysis: dict[str, Any], papers: list[dict[str, Any]]) -> dict[str, Any]:
    noise, name = analysis["disturbance"], analysis["experiment"]
    control = name.startswith("controls/")
    troubled = [block for block in noise["blocks"] if block["state"] != "ok"]
    states = analysis["machine_states"]
    anchors, waits = _anchors(analysis), _waits(analysis)
    steals = [s["steal_fraction"] for s in noise["starts"] if s["steal_fraction"] is not None]
    switches = [s["involuntary_switches"] for s in noise["starts"]]
    cost = analysis["probing_s"] / analysis["measuring_s"] if analysis["measuring_s"] else None
    numbers = {
        "Rounds": f"{analysis['blocks']}; stopped because "
        f"{wording.STOPPED.get(analysis['stopped_by'], analysis['stopped_by'])}",
        "Run": f"{analysis['run']}, {wording.seal(analysis)}",
        "Disturbed by other work": f"{wording.disturbed_blocks(analysis)} disturbed, "
        f"{len(analysis['abandoned'])} interrupted",
        "Reference copy": _from_to(anchors) if anchors else "not read",
        "Wait for a CPU": f"at most {number_format.share(max(waits))} of the timed part of a run"
        if waits
        else "unknown on this system",
        "Cost of probing": f"{number_format.seconds(analysis['probing_s'])} of "
        f"{number_format.seconds(analysis['measuring_s'])}, {number_format.share(cost)}",
        "Taken by the hypervisor": f"at most {number_format.share(max(steals))} of a run"
        if steals
        else "unknown on this system",
        "Involuntary switches": number_format.count(sum(s for s in switches if s is not None))
        if any(s is not None for s in switches)
        else "unknown on this system",
        "Thresholds": "; ".join(
            f"{key.replace('_', ' ')} {value:g}" for key, value in noise["thresholds"].items()
        ),
    }
    if damaged := wording.left_out(analysis):
        numbers["Left out"] = " ".join(damaged)
    return {
        "name": name,
        "control": control,
        # A control takes seconds: its numbers say all, and forty pictures would say it slowly.
        "svg": None if control else svg_of(machine_plot.over_time(analysis)),
        "title": f"Reference copy, probe and waiting over time: {len(states)} speed levels"
        if len(states) > 1
        else "Reference copy, probe and waiting over time: one speed level",
        "states": "Colours: speed levels by reference copy and probe, 1 (blue) is the fastest."
        if len(states) > 1
        else "Reference copy and probe show one speed level.",
        "why_none": "; ".join(noise["probe_failures"]) or "the probe was not built",
        "twins": svg_of(_twins(papers, name)),
        "numbers": numbers,
        "row": [
            wording.disturbed_blocks(analysis),
            _from_to(anchors).partition(" in ")[0] if anchors else number_format.NONE,
            number_format.share(max(waits)) if waits else number_format.NONE,
            number_format.share(max(steals)) if steals else number_format.NONE,
            str(len(states) or number_format.NONE),
        ],
        "blocks": troubled,
        "core_pairs": noise["core_pairs"][:200],
    }


def _twins(papers: list[dict[str, Any]], name: str) -> Picture | None:
    """The twins of an experiment, at the level of the first figure that has any."""
    for paper in papers:
        for figure in paper["figures"]:
            null = figure["null"]["again"] or figure["null"]["relinked"]
            if null and figure["experiment"] == name:
                label = wording.method_name(paper, null["point"])
                return machine_plot.twins(f"twins-{name}", [(label, figure["null"])])
    return None


def _about(facts: dict[str, Any]) -> dict[str, str]:
    if not facts:
        return {}
    total = facts.get("memory_total_bytes")
    values = {
        "CPU": facts.get("cpu_model"),
        "Architecture": facts.get("architecture"),
        "Sockets, cores, threads": f"{facts.get('sockets') or '–'}, {facts.get('cores') or '–'}, "
        f"{facts.get('threads') or '–'}",
        "Usable here": f"{number_format.plural(facts.get('usable_cores') or 0, 'core')}, CPUs "
        f"{', '.join(map(str, facts.get('usable_cpus') or [])) or '–'}",
        "NUMA nodes": facts.get("numa_nodes"),
        "Memory": format_bytes(total) if total else None,
        "Virtualisation": facts.get("virtualisation"),
        "System": facts.get("os"),
        "Kernel": facts.get("kernel_release"),
        "C library": facts.get("libc"),
        "Clock source": facts.get("clocksource"),
        "Huge pages": facts.get("thp"),
        "Governor": facts.get("governor"),
        "Turbo": facts.get("turbo"),
    }
    return {name: str(value) if value is not None else "unknown" for name, value in values.items()}
