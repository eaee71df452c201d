"""What `compare` reads: one side is a run, the results of a host and preset, or recorded runs.

Results are read as they are; of a run that was not analysed here its journal is summarised.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchbook.analyse.bare_run import read_bare_run
from benchbook.analyse.stage import harness
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.core.parquet import read_parquet
from benchbook.define import catalogue
from benchbook.records import archive, journal

RESULTS = Path("results")
ANALYSIS, SUMMARIES = "analysis.json", "summaries.parquet"
COLUMNS = ("point", "block", "invocation", "median_ns", "bytes_declared", "disturbed")


@dataclass(frozen=True)
class Measured:
    """One experiment of a side: its run, host, variants, points, and a summary for each start.

    `variants` is empty where nothing tells what they were; `environments` has the variables that
    their starts had. `summaries` has COLUMNS, in ns and bytes per call. `anchors` are readings of
    the anchor in ns.
    """

    experiment: str
    host: str
    preset: str
    run: str
    door: str
    facts: dict[str, Any]
    variants: dict[str, dict[str, Any]]
    environments: dict[str, dict[str, str]]
    points: list[dict[str, Any]]
    summaries: pd.DataFrame
    anchors: list[float]
    harness: int | None = None  # its version; None where the run does not say


@dataclass(frozen=True)
class Side:
    """One side of a comparison, by experiment; `label` says host and preset, never a path."""

    label: str
    experiments: dict[str, Measured]


def read_side(root: Path, name: str) -> Side:
    """The side that a name means: a folder, HOST, HOST/PRESET, or PRESET of the one host here."""
    experiments = [read_measured(folder) for folder in folders_of(root, name)]
    of_hosts = sorted({experiment.host for experiment in experiments})
    if len(of_hosts) > 1:
        raise BenchbookError(
            f"{name!r} has runs of several hosts ({', '.join(of_hosts)}); a side is one host: name "
            f"it, for example {of_hosts[0]}/{experiments[0].preset}"
        )
    hosts, presets = (
        {getattr(experiment, key): None for experiment in experiments} for key in ("host", "preset")
    )
    label = ", ".join(f"{host} {'+'.join(presets)}" for host in hosts)
    runs = sorted(experiment.run for experiment in experiments)
    label += f", run {runs[0]}" if len(runs) == 1 else f", {len(runs)} runs up to {runs[-1][:16]}"
    return Side(label, {experiment.experiment: experiment for experiment in experiments})


def folders_of(root: Path, name: str) -> list[Path]:
    """The folders of the side's experiments: each a run or an experiment's results."""
    host, _, preset = name.partition("/")
    places = [Path(name) if Path(name).is_absolute() else root / name]
    places += [root / RESULTS / host / preset, root / archive.FOLDER / name]
    places += sorted((root / RESULTS).glob(f"*/{name}/")) if name.isidentifier() else []
    hosts = [place.parent.name for place in places[3:]]
    if len(hosts) > 1:
        raise BenchbookError(
            f"{name!r} was measured on several hosts; name one: "
            f"{', '.join(f'{host}/{name}' for host in hosts)}"
        )
    for place in places:
        folders = _inside(place) if name and place.is_dir() else []
        if folders:
            return folders
    examples = [
        str(path.relative_to(root))
        for kind in (RESULTS / "*", archive.FOLDER)
        for path in sorted(root.glob(f"{kind}/*/"))
        if _inside(path)
    ]
    raise BenchbookError(
        f"{name!r} is no complete run and no folder of results; compare takes a run's folder or "
        f"one of: {', '.join(examples) or 'nothing yet, run `snakemake` first'}"
    )


def _inside(place: Path) -> list[Path]:
    """A run or an experiment's results themselves; else those in it, of the newest preset or of
    the newest run of each experiment."""
    if (place / ANALYSIS).exists() or (place / journal.MANIFEST).exists():
        return [place]
    results = [path.parent for path in sorted(place.glob(f"*/{ANALYSIS}"))]
    if results:
        return results
    presets = {path.parent.parent: path.stat().st_mtime for path in place.glob(f"*/*/{ANALYSIS}")}
    if presets:
        return _inside(max(presets, key=lambda preset: presets[preset]))
    runs = {}
    for manifest in sorted(place.glob(f"*/{journal.MANIFEST}")) + sorted(
        place.glob(f"*/*/{journal.MANIFEST}")
    ):
        if not manifest.parent.name.endswith(catalogue.SETTLING):
            runs[read_json(manifest)["experiment"]] = manifest.parent
    return list(runs.values())


def read_measured(folder: Path) -> Measured:
    """One experiment, out of its results or out of a run."""
    if not (folder / ANALYSIS).exists():
        return _from_run(folder)
    content = read_json(folder / ANALYSIS)
    return Measured(
        **{key: content[key] for key in ("experiment", "host", "preset", "run", "door", "facts")},
        variants={variant["variant"]: variant for variant in content["variants"]},
        environments=content.get("environments") or {},
        points=content["points"],
        summaries=_columns(read_parquet(folder / SUMMARIES)),
        anchors=_anchors(content["readings"]),
        harness=content.get("harness"),
    )


def _columns(summaries: pd.DataFrame) -> pd.DataFrame:
    return summaries.reindex(columns=list(COLUMNS))


def _from_run(run: Path) -> Measured:
    archive.verify(run)
    bare = read_bare_run(run)
    plan = bare.plan
    return Measured(
        experiment=plan["experiment"],
        host=plan["host"],
        preset=plan["settings"]["preset"],
        run=run.name,
        door=plan["door"],
        facts=plan["host_facts"],
        variants=_variants(run, plan["experiment"], plan),
        environments=plan["environments"],
        points=bare.points,
        summaries=_columns(bare.summaries),
        anchors=_anchors(bare.readings),
        harness=harness(plan),
    )


def _anchors(readings: list[dict[str, Any]]) -> list[float]:
    return [reading["value"] for reading in readings if reading["name"] == "anchor"]


def _variants(run: Path, experiment: str, plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What was recorded with the run; else what is built here, if its binary is the run's."""
    if (run / archive.VARIANTS).exists():
        return archive.variants(run)
    variants = {}
    for name in {point["variant"] for point in plan["points"]}:
        path = Path("build") / experiment / name / "variant.json"
        if not path.exists():
            return {}
        built = read_json(path)
        digest = built.get("binary", {}).get("sha256")
        if digest != plan["binaries"].get(f"{name}~", {}).get("sha256"):
            return {}
        variants[name] = built | {"sha256": digest}
    return variants
