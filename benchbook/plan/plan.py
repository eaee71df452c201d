"""What a run will measure: points, blocks, memory, minutes; what it skips and why; fingerprint."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from benchbook import network
from benchbook.core.processes import Scheduling
from benchbook.core.sizes import format_bytes
from benchbook.define import catalogue, peers
from benchbook.define.claim_hashes import claim_hashes
from benchbook.define.models import Model, Settings
from benchbook.define.points import Point, cpus_needed, expand, host_sizes, memory_needed
from benchbook.define.settings import MEASURING, PRESETS
from benchbook.estimands import Known, Roles, asked, intervals_of, kind_of
from benchbook.host import facts as host_facts
from benchbook.host import memory
from benchbook.host.topology import Topology, pin, read_topology
from benchbook.peers.matching import matched
from benchbook.plan.devices import devices_of
from benchbook.plan.programs import Programs, Variants, programs_of
from benchbook.records import journal
from benchbook.stats import least_blocks

HARNESS_VERSION = 3
RUNS = {"state": "ok", "reason": ""}
OF_NO_PAPER = 0.25  # of a paper's budget: what an experiment gets that no paper has
BEYOND_CACHES = 4  # times all last-level caches: STREAM's own rule for the size of an array
PAPER = "paper"  # the preset with each paper's own number of samples


@dataclass
class Plan:
    experiment: str
    host: str
    points: list[Point]
    wanted: list[Point]  # with those that memory or CPUs do not allow at the moment
    starts: list[str]
    skipped: list[dict[str, Any]]
    programs: Programs
    sizes: dict[str, int | None]  # what "4 x LLC" and "cores" meant
    cpus: list[int]
    claims: int  # intervals that hold simultaneously, of the figure that needs most
    least: int
    looks: list[int]
    settings: Settings
    paper_samples: int
    buffers: int
    peers: dict[str, dict[str, Any]] = field(default_factory=dict)
    peer_rows: list[dict[str, Any]] = field(default_factory=list)  # what stands beside what
    shown: list[str] = field(default_factory=list)  # points behind the figures of papers
    pairs: list[dict[str, str]] = field(default_factory=list)
    claim_hashes: dict[str, str] = field(default_factory=dict)
    memory_bytes: int = 0
    environments: dict[str, dict[str, str]] = field(default_factory=dict)  # of variants' starts
    options: dict[str, Any] = field(default_factory=dict)  # of every start, given by settings
    devices: dict[str, Any] = field(default_factory=dict)  # that do its work, by what leads there
    real_time: bool = True  # no program of it waits for another one on the same CPU
    all_cpus: bool = False  # whatever the number of threads that a point names
    serial: list[str] = field(default_factory=list)  # points of a control, one after the other
    unlooped: list[str] = field(default_factory=list)  # points whose samples are one call each
    # Settings of points whose program cannot be alive while others are, though it is stopped.
    alone: list[dict[str, Any]] = field(default_factory=list)
    # Sizes of which a start gets the largest, and each of its points a part: the pages that lie
    # well, or badly, are then the same for all of them.
    parts: list[str] = field(default_factory=list)
    emulation: dict[str, str] | None = None  # which points only emulate, as experiment.yaml says
    traced: bool = False  # by proot or a debugger, so that no time counts
    settle: dict[str, Any] | None = (
        None  # the claim that this run is for, see benchbook/commands/settle.py
    )

    @property
    def peer(self) -> str | None:
        """The real host at the other end, where a point is measured against one."""
        wanted = any(point.factors.get("path") == network.PEER for point in self.wanted)
        return self.settings.udp_peer if wanted else None

    @property
    def comparisons(self) -> list[set[str]]:
        """The points that are held against each other: those of each ratio of a claim, and each
        twin with what it repeats."""
        ratios = [{pair["numerator"], pair["denominator"]} for pair in self.pairs]
        twins = [{point.id, point.untwinned.id} for point in self.points if point.twin]
        return [*ratios, *twins]

    @cached_property
    def compared(self) -> set[str]:
        """All points of `comparisons`."""
        return set().union(*self.comparisons)

    @property
    def takers(self) -> set[str]:
        """The points that are measured in turns with each other."""
        return self.compared if self.settings.turns > 1 else set()

    def begins_turns_cold(self, name: str) -> bool:
        """Whether a point touches so much memory that a pass never finds in the caches what the one
        before left: a warm-up before each turn would only take as long again."""
        llc_bytes = self.sizes.get("total LLC")
        point = self._by_id.get(name)
        if not llc_bytes or point is None:
            return False
        return memory_needed(point, self.buffers) >= BEYOND_CACHES * llc_bytes

    @cached_property
    def _by_id(self) -> dict[str, Point]:
        return {point.id: point for point in self.points}

    @property
    def scheduling(self) -> Scheduling:
        """How its programs run beside other work, where the system allows it. A control, and what
        disturbs it on purpose, share a CPU as ordinary programs do, before all others."""
        if not self.settings.before_others:
            return Scheduling.NORMAL
        is_control = self.experiment.startswith(catalogue.CONTROLS)
        return Scheduling.NICE if is_control else Scheduling.REAL_TIME

    @property
    def budget_key(self) -> str:
        """The key of config/ that the budget is from."""
        is_control = self.experiment.startswith(catalogue.CONTROLS)
        return "controls_budget_s" if is_control else "budget_s"

    @property
    def blocks_per_cycle(self) -> int:
        """Blocks until every point was measured once: in serial order each has its own."""
        others = any(point.id not in self.serial for point in self.points)
        return max(len(self.serial) + others, 1)

    @property
    def rounds(self) -> int:
        """How often the least number of blocks measures every point."""
        return max(self.least // self.blocks_per_cycle, 1)

    def fingerprint(self) -> str:
        """Of what decides whether anything must be measured anew; not of claims' wording."""
        facts = {
            "points": [point.record() for point in self.wanted],
            "starts": self.starts,
            "peers": {
                name: {key: value for key, value in spec.items() if key not in ("text", "labels")}
                for name, spec in self.peers.items()
            },
            "binaries": self.programs.binaries,
            "probe": self.programs.probe,
            "libc": self.programs.libc,
            "host": self.host,
            "cpus": self.cpus,
            "shown": self.shown if self.settings.preset == PAPER else None,
            "least": self.least,
            "looks": self.looks,
            "settings": self.settings.as_written(MEASURING),
            "paper_samples": self.paper_samples,
            "harness": HARNESS_VERSION,
            "records": journal.VERSION,
            "kernel": platform.release(),
            "door": host_facts.door(),
        }
        # Told only where there is something to tell, so that older runs keep their fingerprint.
        facts |= {
            name: value
            for name, value in (
                ("environments", self.environments),
                ("serial", self.serial),
                ("unlooped", self.unlooped),
                ("alone", self.alone),
                ("parts", self.parts),
                ("udp_peer", self.peer),
                ("options", self.options),
                ("devices", self.devices),
                ("libraries", self.programs.libraries),
                ("traced", self.traced),
            )
            if value
        }
        if self.settle:  # what was begun for one claim is not resumed for another
            facts["settle"] = [self.settle["claim"], self.settle["preset"]]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def make_plan(
    root: Path, experiment: str, settings: Settings, variants: Variants | None = None
) -> Plan:
    """The plan of one experiment (or control) on this host.

    `variants` maps names to variant.json contents; without it (`benchbook plan`, before anything
    is built) every variant counts as runnable.
    """
    task = _task(root, experiment, settings, variants or {})
    content = task.content
    wanted, skipped, peer_rows = _points(task)
    states = _states(task, wanted)
    points = [point for point in wanted if states[point.id] == RUNS]
    skipped += [
        {**point.record(), **states[point.id]} for point in wanted if states[point.id] != RUNS
    ]
    serial = _serial(task)
    claims, looks = _blocks(task, wanted, serial)
    all_cpus = content.get("cpus") == "all"
    cpus = _cpus(task, points, all_cpus)
    return Plan(
        experiment=experiment,
        host=host_facts.host_id(host_facts.facts()),
        points=points,
        wanted=wanted,
        starts=content["starts"],
        skipped=skipped,
        programs=programs_of(root, wanted, task.variants),
        sizes=task.sizes,
        cpus=cpus,
        claims=claims,
        least=looks[0],
        looks=looks,
        settings=task.settings.having(budget_s=_budget_s(task)),
        paper_samples=content["paper_samples"],
        buffers=content["buffers"],
        peers=peers.of(content),
        peer_rows=peer_rows,
        shown=_shown(task),
        pairs=_pairs(_asked(task.figures, content, task.sizes, states)),
        claim_hashes=claim_hashes(task.figures),
        memory_bytes=max((memory_needed(point, content["buffers"]) for point in points), default=0),
        environments=_environments(content, wanted),
        options=_options(content, task.settings),
        devices=devices_of(root, experiment),
        real_time=content.get("real_time", True),
        all_cpus=all_cpus,
        serial=serial,
        unlooped=[point.id for point in wanted if point.has_one_of(content.get("unlooped", []))],
        alone=content.get("alone", []),
        parts=parts_of(content, task.topology, cpus),
        emulation=content.get("emulation"),
        traced=host_facts.tracer() is not None,
    )


@dataclass(frozen=True)
class _Task:
    """What is asked of one experiment or control, and the host that is to answer it."""

    root: Path
    experiment: str
    content: dict[str, Any]
    settings: Settings  # with the experiment's own
    variants: Variants
    figures: list[dict[str, Any]]  # of papers; a control has none
    topology: Topology
    sizes: dict[str, int | None]

    @property
    def is_control(self) -> bool:
        return self.experiment.startswith(catalogue.CONTROLS)

    @property
    def crosses(self) -> list[dict[str, Any]]:
        """The crosses of the preset, or of the one figure that is wanted."""
        if self.is_control:
            return catalogue.crosses(self.content, "tiny")
        if self.settings.figure:
            return catalogue.crosses_of_figure(self.root, self.experiment, self.settings.figure)
        return catalogue.crosses(self.content, self.settings.preset)


def _task(root: Path, experiment: str, settings: Settings, variants: Variants) -> _Task:
    content = catalogue.definition(root, experiment)
    topology = read_topology()
    is_control = experiment.startswith(catalogue.CONTROLS)
    return _Task(
        root=root,
        experiment=experiment,
        content=content,
        settings=settings.having(**content.get("settings", {})),
        variants=variants,
        figures=[] if is_control else catalogue.figures_of(root, experiment),
        topology=topology,
        sizes=host_sizes(topology),
    )


def _points(task: _Task) -> tuple[list[Point], list[dict[str, Any]], list[dict[str, Any]]]:
    """All points with twins and peers; those whose size is unknown here; which peer has which."""
    points, skipped = expand(task.content, task.crosses, task.sizes)
    of_peers, peer_rows = matched(task.content, points)
    points += [*_twins(task.content, points, task.sizes), *of_peers]
    return points, list[dict[str, Any]](skipped), peer_rows


def _states(task: _Task, points: list[Point]) -> Known:
    """Point -> RUNS, or the state and the reason why it cannot run at the moment."""
    if tracer := host_facts.tracer():
        traced = {"state": "cannot_run", "reason": host_facts.TRACED.format(tracer)}
        return {point.id: traced for point in points}
    available = memory.memory_available_bytes().bytes
    return {point.id: _cannot_run(task, point, available) or RUNS for point in points}


def _serial(task: _Task) -> list[str]:
    """The points of a control that are measured one after the other."""
    points, _ = expand(task.content, task.content.get("serial", []), task.sizes)
    return [point.id for point in points]


def _blocks(task: _Task, points: list[Point], serial: list[str]) -> tuple[int, list[int]]:
    """How many intervals hold simultaneously in the figure that needs most, and after how many
    blocks they are looked at."""
    # What runs at the moment must not change how many blocks a run has.
    planned = dict.fromkeys((point.id for point in points), RUNS)
    asked_of_figures = _asked(task.figures, task.content, task.sizes, planned)
    claims = max(map(intervals_of, asked_of_figures.values()), default=0)
    if task.is_control:
        # A control needs no interval: most detectors read observations, the others say how many
        # blocks. In serial order each point has its blocks to itself, then all others together.
        turns = len(serial) + (len(points) > len(serial))
        return claims, [task.content["blocks"] * max(turns, 1)]
    least = least_blocks(max(claims, 1))
    # What no paper has is drawn, not judged: the least for an interval is enough.
    looks = task.settings.looks if task.figures else [least]
    return claims, sorted({max(look, least) for look in looks})


def _cpus(task: _Task, points: list[Point], all_cpus: bool) -> list[int]:
    usable = len(task.topology.cpus)
    needed = max((cpus_needed(point, usable) for point in points), default=1)
    return pin(task.topology, usable if all_cpus else needed)


def parts_of(content: dict[str, Any], topology: Topology, cpus: list[int]) -> list[str]:
    """Sizes that points of one start may have parts of. None where the CPUs are of several nodes:
    what a thread touched first of the whole is not what it works on of a part."""
    nodes = {cpu.node for cpu in topology.cpus if cpu.id in cpus}
    return content.get("parts", []) if len(nodes) == 1 else []


def _shown(task: _Task) -> list[str]:
    """The points behind the figures of papers."""
    settings = [setting for figure in task.figures for setting in catalogue.shown_settings(figure)]
    return sorted({point.id for point in expand(task.content, settings, task.sizes)[0]})


def _budget_s(task: _Task) -> float:
    if task.is_control:
        return task.settings.controls_budget_s
    return _share(task.root, task.experiment, task.settings)


def _options(content: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Kernel options out of config/; of a mapping each key gives `<key>-<option>`."""
    found: dict[str, Any] = {}
    for option, name in content.get("settings_of", {}).items():
        value = getattr(settings, name)
        each = value.model_dump() if isinstance(value, Model) else {"": value}
        found |= {f"{key}-{option}" if key else option: chosen for key, chosen in each.items()}
    return {option: value for option, value in found.items() if value is not None}


def _environments(content: dict[str, Any], points: list[Point]) -> dict[str, dict[str, str]]:
    """Variant -> variables of its starts: those passed on, and its own; none where it has none.

    Where a variant's own value is a file in the folder that the passed one names, it is that path.
    """
    passed = {name: os.environ[name] for name in content.get("passes", []) if name in os.environ}
    wanted = {point.variant for point in points}

    def own(name: str, value: str) -> str:
        in_folder = Path(passed[name], value) if name in passed else None
        return str(in_folder) if in_folder and in_folder.is_file() else value

    found = {
        name: passed | {key: own(key, value) for key, value in spec.get("environment", {}).items()}
        for name, spec in content["variants"].items()
        if name in wanted
    }
    return {name: variables for name, variables in found.items() if variables}


def _share(root: Path, experiment: str, settings: Settings) -> float:
    """An experiment's part of a paper's budget, by its shares; the tightest paper decides. One
    that no paper has is beside the point of most runs, and takes less."""
    shares = []
    # The smallest preset keeps its promise, whatever the paper.
    tiny = settings.preset == PRESETS[0]
    for name in catalogue.papers_of(root, experiment):
        paper = catalogue.paper(root, name)
        factor = 1 if tiny else paper.get("budget_factor", 1)
        parts = {
            measured: paper.get("shares", {}).get(measured, 1)
            for measured in catalogue.experiments_of(root, name)
        }
        shares.append(factor * parts[experiment] / sum(parts.values()))
    return settings.budget_s * min(shares, default=1 if tiny else OF_NO_PAPER)


def _twins(content: dict[str, Any], points: list[Point], sizes: dict[str, Any]) -> list[Point]:
    known = {point.id for point in points}
    chosen, _ = expand(content, content.get("twins", []), sizes)
    return [
        replace(point, twin=twin)
        for point in chosen
        if point.id in known
        for twin in ("again", "relinked")
    ]


def _cannot_run(task: _Task, point: Point, available: int | None) -> dict[str, str] | None:
    """Why a point cannot run now; `available`: bytes of memory, None where unknown."""
    record = task.variants.get(point.variant)
    if record and record["state"] != "ok":
        return {"state": record["state"], "reason": record["reason"]}
    usable = len(task.topology.cpus)
    reason = why_not_now(task.root, point, task.content, task.settings, usable, available)
    return {"state": "cannot_run", "reason": reason} if reason else None


def why_not_now(
    root: Path,
    point: Point,
    content: dict[str, Any],
    settings: Settings,
    usable_cpus: int,
    available: int | None,
) -> str:
    """Why this host cannot run a point of an experiment (`content`: its definition) at the moment;
    empty where it can. `available`: bytes of memory, None where unknown."""
    if (cpus := cpus_needed(point, usable_cpus)) > usable_cpus:
        return f"needs {cpus} CPUs; {usable_cpus} are usable here"
    if content.get("network") and (why := network.refusal(point.factors, settings.udp_peer, root)):
        return why
    needed = memory_needed(point, content["buffers"])
    if available is not None and needed > settings.memory_fraction * available:
        return (
            f"needs {format_bytes(needed)} of memory, more than "
            f"{settings.memory_fraction:.0%} of the {format_bytes(available)} available here"
        )
    return ""


Asked = dict[str, list[tuple[dict[str, Any], Roles]]]


def _asked(
    figures: list[dict[str, Any]], content: dict[str, Any], sizes: dict[str, Any], known: Known
) -> Asked:
    """The measurable claims of each figure, with the points that they rest on."""
    return {
        f"{figure['paper']}/{figure['id']}": asked(figure.get("claims", []), content, sizes, known)
        for figure in figures
    }


def _pairs(decidable: Asked) -> list[dict[str, str]]:
    """The ratios of points whose widths end the run, named by claim and number."""
    found = []
    for figure, claims in decidable.items():
        for claim, roles in claims:
            pairs = kind_of(claim["estimand"]).pairs(claim["estimand"], roles)
            for number, (top, bottom) in enumerate(pairs):
                name = f"{figure}/{claim['id']}" + (f"/{number}" if len(pairs) > 1 else "")
                found.append({"comparison": name, "numerator": top, "denominator": bottom})
    return found
