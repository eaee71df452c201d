"""What the Snakefile asks: names found by wildcard, paths, and checked settings.

Standard library, yaml and pydantic only, because the workflow engine may run in a Python of its
own. All logic of the workflow that is not a rule lives here.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn

from benchbook import crosscheck
from benchbook.core import import_closure, processes, stage_times
from benchbook.core.errors import BenchbookError
from benchbook.define import catalogue
from benchbook.define.models import NodeKind, Settings
from benchbook.define.settings import MEASURING, PLANNING, load_settings
from benchbook.fleet import node_checkout, slurm
from benchbook.host import facts as host_facts
from benchbook.host import link_libraries
from benchbook.host.compilers import program_of
from benchbook.plan.devices import devices_of

RECORDED = "data/recorded"
_RUN = re.compile(r"[\w.+-]+")  # as the rule that analyses it anew says
PACKAGE, COMMANDS = "benchbook", "benchbook.commands"
STAGES = ("current.json", "evidence.json", "samples.parquet", "analysis.json")  # of an experiment


def refuse(error: BenchbookError) -> NoReturn:
    """End the workflow with the one sentence, without a traceback."""
    print(f"benchbook: {error}", file=sys.stderr)
    raise SystemExit(1)


@dataclass(frozen=True)
class Lab:
    """One checkout on this host with its settings."""

    root: Path
    settings: Settings
    host: str
    experiments: list[str] = field(default_factory=list)
    controls: list[str] = field(default_factory=list)  # those that are played here
    papers: list[str] = field(default_factory=list)

    @property
    def results(self) -> str:
        """Where this host's results of this preset (or figure) go, relative to the checkout."""
        path = f"results/{self.host}/{self.settings.preset}"
        return f"{path}/figures/{self.settings.figure}" if self.settings.figure else path

    @property
    def measuring(self) -> str:
        """Settings for the measuring stage, as JSON for its command line."""
        return json.dumps(self.settings.as_written((*PLANNING, *MEASURING)), sort_keys=True)

    def built_together(self) -> list[tuple[str, list[str]]]:
        """The jobs that compile: the name of each, and whose variants."""
        alone = [(name, [name]) for name in (*self.experiments, catalogue.PROBE)]
        return [*alone, ("controls", self.controls)] if self.controls else alone

    def cores_of_building(self, name: str, cores: int) -> int:
        """For how many cores the job that compiles counts: all where the first page waits for it,
        so that nothing runs beside it. Nothing is ever measured beside a build."""
        first = max(self.priority_of(owner) for owner in self.experiments)
        return cores if self.priority_of(name) >= first else 1

    def variants_of(self, owners: list[str]) -> list[str]:
        """variant.json of every variant of theirs that this preset needs."""
        return [
            f"build/{owner}/{variant}/variant.json"
            for owner in owners
            for variant in self._needed(owner)
        ]

    def _needed(self, owner: str) -> list[str]:
        preset, figure = self.settings.preset, self.settings.figure
        return catalogue.variants_needed(self.root, owner, preset, figure)

    def sources_of(self, owners: list[str]) -> list[str]:
        """C files that enter their binaries."""
        files = {path for owner in owners for path in catalogue.source_files(self.root, owner)}
        return sorted(str(path.relative_to(self.root)) for path in files)

    def identities(self, owners: list[str]) -> str:
        """A hash of the compiler and flags of each variant of theirs: a change builds anew."""
        facts = {
            f"{owner}/{variant}": self._identity_of(owner, variant)
            for owner in owners
            for variant in self._needed(owner)
        }
        return _hash_of(facts)

    def _identity_of(self, owner: str, variant: str) -> list[Any]:
        content = catalogue.definition(self.root, owner)
        spec = content["variants"][variant]
        fitted = self.host if spec.get("sizes") else ""  # its sizes are this host's
        parts = [content.get("flags", []), spec, _identity(spec), fitted]
        if "compiler" in spec:
            parts += link_libraries.identity(content, program_of(spec["compiler"]))
        return parts

    def priority_of(self, name: str) -> int:
        """When the jobs of a paper, or of an experiment, have their turn: higher is earlier. One
        paper goes the whole way from source code to page before the next begins."""
        return self._priorities.get(name, 0)

    @cached_property
    def _priorities(self) -> dict[str, int]:
        priorities = {catalogue.PROBE: len(self.papers) + 1}  # every measurement waits for it
        for place, paper in enumerate(catalogue.in_turn(self.root)):
            for name in (paper, *catalogue.experiments_of(self.root, paper)):
                priorities.setdefault(name, len(self.papers) - place)
        return priorities

    # Input and parameter functions of the rules: each takes the rule's wildcards.

    def priority(self, wildcards: Any) -> int:
        """`priority_of` what a job is for."""
        names = [getattr(wildcards, name, None) for name in ("paper", "experiment", "owner")]
        return self.priority_of(next(filter(None, names)))

    def priority_of_measuring(self, wildcards: Any) -> float:
        """`priority`, and before what is made of other measurements of the same paper: that waits
        for nobody, and keeps every core busy at the end."""
        return self.priority(wildcards) + 0.5

    def priority_of_building(self, name: str) -> float:
        """`priority_of`, and as `priority_of_measuring`, which waits for it."""
        return self.priority_of(name) + 0.5

    def devices(self, wildcards: Any) -> str:
        """What does the experiment's work beside the host: a new driver starts the job anew."""
        return json.dumps(devices_of(self.root, wildcards.experiment), sort_keys=True)

    def variant_files(self, wildcards: Any) -> list[str]:
        """variant.json of every variant that this preset needs, and of the probe."""
        return self.variants_of([wildcards.experiment, catalogue.PROBE])

    def results_folder(self, wildcards: Any) -> str:
        """`results`, for a command that writes several files there."""
        del wildcards
        return self.results

    def controls_variants(self) -> list[str]:
        """variant.json of every variant that a control plays, and of the probe."""
        return self.variants_of([*self.controls, catalogue.PROBE])

    def controls_limits(self) -> list[str]:
        """limits.json of the controls that declare limits."""
        return [
            f"build/{name}/limits.json"
            for name in self.controls
            if catalogue.definition(self.root, name).get("limits")
        ]

    def control_files(self) -> list[str]:
        """All that defines the controls beside their C files: yaml and replays."""
        found = (self.root / "kernels" / "controls").glob("*/*.*")
        kept = [path for path in found if path.suffix in (".yaml", ".py")]
        return sorted(str(path.relative_to(self.root)) for path in kept)

    def limit_files(self, wildcards: Any) -> list[str]:
        """limits.json of an experiment that declares limits; tiny does not search them."""
        content = catalogue.definition(self.root, wildcards.experiment)
        wanted = content.get("limits") and self.settings.preset != "tiny"
        return [f"build/{wildcards.experiment}/limits.json"] if wanted else []

    def limited(self, wildcards: Any) -> str:
        """The limits that an experiment declares, as JSON: a change searches them again."""
        content = catalogue.definition(self.root, wildcards.owner)
        wanted = content.get("limits") or {"variants": []}
        specs = [content["variants"][name] for name in wanted["variants"]]
        facts = [content.get("flags", []), wanted, specs, [_identity(spec) for spec in specs]]
        return json.dumps(facts, sort_keys=True)

    def sources(self, wildcards: Any) -> list[str]:
        """C files that enter an experiment's binaries."""
        return self.sources_of([wildcards.owner])

    def definition_file(self, wildcards: Any) -> str:
        """experiment.yaml or control.yaml, relative to the checkout."""
        path = catalogue.definition_file(self.root, wildcards.experiment)
        return str(path.relative_to(self.root))

    def published(self, wildcards: Any) -> list[str]:
        """paper.yaml, audit.yaml and the tables of a paper."""
        return self._published(wildcards.paper)

    def all_published(self) -> list[str]:
        """paper.yaml, audit.yaml and the tables of all papers."""
        return [path for name in self.papers for path in self._published(name)]

    def _published(self, paper: str) -> list[str]:
        folder = self.root / "data" / "published" / paper
        return sorted(
            str(path.relative_to(self.root))
            for path in folder.iterdir()
            if path.suffix in (".yaml", ".csv")
        )

    def paper_files(self, wildcards: Any) -> list[str]:
        """paper.yaml of every paper whose figures name this experiment."""
        names = catalogue.papers_of(self.root, wildcards.experiment)
        return [f"data/published/{name}/paper.yaml" for name in names]

    def analyses(self, wildcards: Any) -> list[str]:
        """analysis.json of each experiment behind the figures of a paper (or the one figure)."""
        figures = catalogue.paper(self.root, wildcards.paper)["figures"]
        wanted = (self.settings.figure or "/").split("/")[1]
        names = {figure["experiment"] for figure in figures if wanted in ("", figure["id"])}
        return [f"{self.results}/{name}/analysis.json" for name in sorted(names)]

    def settled(self, wildcards: Any) -> list[str]:
        """manifest.json of the complete runs that were made to settle a claim of a paper."""
        found: list[Path] = []
        for name in catalogue.experiments_of(self.root, wildcards.paper):
            runs = self.root / "data" / "runs" / self.host / name
            found += runs.glob(f"*{catalogue.SETTLING}/manifest.json")
        return sorted(str(path.relative_to(self.root)) for path in found)

    def recorded(self, wildcards: Any) -> list[str]:
        """recorded.json of each recorded run, of any host, behind the figures of a paper."""
        wanted = catalogue.experiments_of(self.root, wildcards.paper)
        found = [
            path.relative_to(self.root / RECORDED)
            for name in wanted
            for path in (self.root / RECORDED).glob(f"*/{name}/[!.]*")
            if path.is_dir() and _RUN.fullmatch(path.name)
        ]
        return [f"results/recorded/{path}/recorded.json" for path in sorted(found)]

    def recorded_options(self, wildcards: Any) -> list[str]:
        """recorded.json of each recorded run, as options of `judge`."""
        return [f"--recorded {path}" for path in self.recorded(wildcards)]

    def recorded_files(self, wildcards: Any) -> list[str]:
        """All files of one recorded run: a damaged or restored one is analysed anew."""
        run = self.root / RECORDED / wildcards.machine / wildcards.experiment / wildcards.run
        return sorted(str(path.relative_to(self.root)) for path in run.rglob("*") if path.is_file())

    def imported(self, wildcards: Any) -> list[str]:
        """Logs that were made elsewhere, with their manifests."""
        found = (self.root / "data" / "imported").glob("[!.]*/manifest.json")
        files = [path.with_name(name) for path in found for name in (path.name, "log")]
        return sorted(str(path.relative_to(self.root)) for path in files)

    def imported_page(self, wildcards: Any) -> list[str]:
        """Their page, if there are any."""
        return ["reports/imported.html"] if self.imported(wildcards) else []

    def one_of(self, *names: list[str]) -> str:
        """A pattern that matches just these names, so that no path is taken for another."""
        return "|".join(re.escape(name) for group in names for name in group) or "(?!)"

    def modules(self, command: str) -> str:
        """A hash of the package's files that a command of `benchbook` depends on: Snakemake tracks
        no imports. What only reads its words, commands/app.py, is not among them.

        Not their names, as inputs: Snakemake looked 200 files up for each job, and summed them up
        for each output. A start with nothing to do took 0.6 s of CPU more, a whole quick run 2 s.
        """
        return _hash_of_modules(self.root, f"{COMMANDS}.{command.replace('-', '_')}")

    def replays(self) -> str:
        """A hash of the package's files that the replays of the controls depend on."""
        files = sorted((self.root / "kernels" / "controls").glob("*/replay.py"))
        begins = [
            name for file in files for name in import_closure.of_file(self.root, PACKAGE, file)
        ]
        return _hash_of_modules(self.root, *begins)

    # Several kinds of nodes: workflows/fleet.smk.

    @property
    def fleet(self) -> list[NodeKind]:
        """The kinds of nodes to measure; none where this host is measured."""
        return self.settings.fleet or []

    @property
    def fleet_settings(self) -> str:
        """The settings of a kind's own workflow, as JSON."""
        settings = self.settings.as_written()
        return json.dumps(
            {key: settings[key] for key in settings if key != "fleet"}, sort_keys=True
        )

    def options_of(self, kind: NodeKind) -> str:
        """A kind's arguments of `fleet-measure`."""
        return f"{kind.name} --here" if kind.here else kind.name

    def resources_of(self, kind: NodeKind) -> dict[str, Any]:
        """What a kind's job asks of Slurm: a whole node, after earlier jobs of the same kind."""
        if kind.here:
            return {}
        jobs = slurm.waiting_jobs(self.root, kind.name)
        after = f"--dependency=afterany:{':'.join(jobs)}" if jobs else ""
        # No number of CPUs, and no memory: --exclusive has all of a node.
        wanted = {
            "slurm_partition": kind.partition,
            "constraint": kind.constraint,
            "slurm_extra": " ".join(filter(None, ("--exclusive", kind.extra, after))),
            "cpus_per_task": -1,
            "mem_mb": 0,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def measured_sources(self) -> str:
        """A hash of all that a measurement depends on: a change measures a kind anew."""
        commands = ("build", "limits", "measure", "evidence", "play-controls")
        files = {path: _sha256(path) for path in node_checkout.definition_files(self.root)}
        return _hash_of([*map(self.modules, commands), *sorted(files.values())])

    def all_sources(self) -> str:
        """A hash of all sources: a change makes a kind's pages anew."""
        return _hash_of([_sha256(path) for path in node_checkout.source_files(self.root)])

    def measured(self) -> list[str]:
        """What must be measured on this host itself; all other stages can be made elsewhere."""
        figure = self.settings.figure
        if figure:
            paper, wanted = figure.split("/")
            figures = catalogue.paper(self.root, paper)["figures"]
            names = [content["experiment"] for content in figures if content["id"] == wanted]
        else:
            names = self.experiments
        controls = [] if figure else self.controls
        return [
            *(f"{self.results}/{name}/{stage}" for name in names for stage in STAGES[:2]),
            *(f"{self.results}/{name}/{STAGES[-1]}" for name in controls),
        ]

    def make_hosts_page(self) -> None:
        """Write reports/hosts.html, whatever became of each kind: a job that Snakemake gave up has
        no output, so no rule can."""
        if not self.fleet:
            return
        kinds = json.dumps([kind.name for kind in self.fleet])
        place = self.results.removeprefix(f"results/{self.host}/")
        command = [sys.executable, "-m", "benchbook", "hosts", place, "--kinds", kinds]
        subprocess.run(command, cwd=self.root, stdout=sys.stderr, check=False)

    def pages(self) -> list[str]:
        """What a plain `snakemake` makes."""
        if self.fleet:
            return [f"{node_checkout.FOLDER}/{kind.name}/pages.json" for kind in self.fleet]
        if self.settings.figure:
            paper, wanted = self.settings.figure.split("/")
            figures = catalogue.paper(self.root, paper)["figures"]
            named = [figure["experiment"] for figure in figures if figure["id"] == wanted]
            return [f"reports/figures/{paper}/{wanted}.html", *self._made(named, [paper])]
        tables = ("samples.parquet", "findings.json", "verdicts.json", "controls.json")
        return [
            "reports/index.html",
            "results/audit.json",
            *(f"{self.results}/{name}" for name in tables),
            *(f"{self.results}/{name}/analysis.json" for name in self.controls),
            *self._made(self.experiments, self.papers),
        ]

    def paper_pages(self, paper: str) -> list[str]:
        """What `snakemake <paper>` makes."""
        named = catalogue.experiments_of(self.root, paper)
        return [f"reports/{paper}.html", *self._made(named, [paper])]

    def _made(self, experiments: list[str], papers: list[str]) -> list[str]:
        """Every stage's output. A stage that failed lost its output, and Snakemake does not miss
        what stands between two files that exist: so all of it is asked for by name."""
        return [
            *(f"{self.results}/{name}/{stage}" for name in experiments for stage in STAGES),
            *(f"{self.results}/{name}/paper.json" for name in papers),
        ]

    def hold(self) -> int:
        """One workflow at a time in a checkout; the handle must be kept. From now on the workflow
        ends at once when it is told to."""
        processes.end_all_when_terminated()
        try:
            return processes.only_workflow(self.root)
        except BenchbookError as error:
            refuse(error)


@cache
def _hash_of_modules(root: Path, *modules: str) -> str:
    paths = import_closure.closure(root, PACKAGE, modules)
    return _hash_of({path: _sha256(root / path) for path in paths})


def _hash_of(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _identity(spec: dict[str, Any]) -> list[str | int]:
    """What tells one compiler (or peer) from another: a new or upgraded one builds again."""
    path = program_of(spec.get("compiler") or spec.get("peer", {}).get("tool", ""))
    if path is None:
        return []
    facts = Path(path).stat()
    return [path, facts.st_size, facts.st_mtime_ns]


def open_lab(basedir: str, config: dict[str, Any]) -> Lab:
    """Check the settings and every definition before anything runs."""
    root = Path(basedir)
    stage_times.begin_workflow()
    try:
        settings = load_settings(root, dict(config))
        lab = Lab(
            root,
            settings,
            node_checkout.measured_host(root) or host_facts.host_id(host_facts.facts()),
            catalogue.experiments(root),
            catalogue.played(root),
            catalogue.papers(root),
        )
        crosscheck.check(root)
        if settings.figure:
            _check_figure(root, settings.figure, "--config" if "figure" in config else "config")
    except BenchbookError as error:
        refuse(error)
    return lab


def _check_figure(root: Path, wanted: str, origin: str) -> None:
    paper, figure = wanted.split("/")
    refused, known = f"{origin}: key 'figure' is {wanted!r}", catalogue.papers(root)
    if paper not in known:
        raise BenchbookError(f"{refused}; known papers: {', '.join(known)}")
    content = catalogue.paper(root, paper)
    if figure in [declared["id"] for declared in content.get("open", [])]:
        raise BenchbookError(f"{refused}, which is open: there is no experiment yet to rerun it")
    known = [declared["id"] for declared in content["figures"]]
    if figure not in known:
        raise BenchbookError(f"{refused}; {paper} has these figures: {', '.join(known)}")
