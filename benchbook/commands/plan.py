"""The command `benchbook plan`: what a run would take and what it would skip."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchbook import crosscheck
from benchbook.build.stage import find_compiler
from benchbook.commands.config_option import Config, overrides
from benchbook.commands.options import ROOT, AsJson
from benchbook.core.files import read_json
from benchbook.core.sizes import format_bytes
from benchbook.define import catalogue
from benchbook.define.models import Settings
from benchbook.define.settings import MEASURING, load_settings
from benchbook.measure.pilot import expected
from benchbook.peers import tool
from benchbook.plan.plan import Plan, make_plan
from benchbook.records import journal, seal

BYTES_PER_SAMPLE = 40  # of journal and table together, as seen


@dataclass(frozen=True)
class Outlook:
    """One experiment's plan, with what it would cost."""

    plan: Plan
    block_s: float
    measured_before: bool

    @property
    def disk_bytes(self) -> int:
        """Bytes of samples that the run may write at most."""
        samples = self.plan.settings.samples_most + self.plan.settings.warmup
        return len(self.plan.points) * samples * self.plan.looks[-1] * BYTES_PER_SAMPLE

    def record(self) -> dict[str, Any]:
        """The plan as --json prints it."""
        return {
            "experiment": self.plan.experiment,
            "host": self.plan.host,
            "points": [point.id for point in self.plan.points],
            "least_blocks": self.plan.least,
            "looks": self.plan.looks,
            "least_s": round(self.block_s * self.plan.least, 1),
            "budget_s": self.plan.settings.budget_s,
            "estimate_from": "an earlier run" if self.measured_before else "declared bytes",
            "memory_bytes": self.plan.memory_bytes,
            "disk_bytes": self.disk_bytes,
            "cpus": self.plan.cpus,
            "skipped": self.plan.skipped,
        }


def outlook(root: Path, experiment: str, settings: Settings) -> Outlook:
    """The plan of one experiment before anything is built; compilers that are absent count."""
    content = catalogue.definition(root, experiment)
    variants = {name: _expected(name, spec) for name, spec in content["variants"].items()}
    plan = make_plan(root, experiment, settings, variants)
    earlier = _block_s(root, plan)
    _, block_ns, shed = expected(plan)
    if earlier is None:
        # What the budget does not seem to hold is named, and left to the pilot, which measures it.
        lost = [point for point in plan.points if point.id in shed]
        plan.points = [point for point in plan.points if point.id not in shed]
        plan.skipped += [
            {"id": point.id, "state": "cannot_run", "reason": f"it seems that {shed[point.id]}"}
            for point in lost
        ]
    block_s = block_ns / 1e9 if earlier is None else earlier
    return Outlook(plan, block_s, earlier is not None)


def _expected(variant: str, spec: dict[str, Any]) -> dict[str, Any]:
    if "peer" in spec:
        return tool.find(spec["peer"])
    compiler = spec["compiler"]
    here = find_compiler(compiler) is not None
    reason = "" if here else f"compiler {compiler!r} is not on PATH"
    nothing = {"sha256": ""}
    return {
        "variant": variant,
        "state": "ok" if here else "cannot_run",
        "reason": reason,
        "binary": nothing,
        "relinked": nothing,
    }


def _block_s(root: Path, plan: Plan) -> float | None:
    """Seconds per block of the latest complete run of the same points on this host."""
    wanted = {point.id for point in plan.points}
    measuring = plan.settings.as_written(MEASURING)
    folder = root / "data" / "runs" / plan.host / plan.experiment
    for run in sorted(folder.glob("*/"), reverse=True):
        if not (run / journal.MANIFEST).exists() or seal.damage(run):
            continue
        before = read_json(run / journal.PLAN)
        if before.get("settle"):
            continue  # it had no pilot
        same = all(before["settings"].get(name) == value for name, value in measuring.items())
        if same and {point["id"] for point in before["points"]} == wanted:
            done = journal.progress(run)
            return done.pilot["block_ns"] / 1e9 if done.pilot else None
    return None


def command(config: Config = None, as_json: AsJson = False) -> None:
    """Show points, rounds, minutes, memory, disk and what is skipped; measure nothing."""
    show(ROOT, overrides(config), as_json=as_json)


def show(root: Path, overrides: dict[str, Any], *, as_json: bool) -> None:
    """Print the plan of every experiment and control."""
    settings = load_settings(root, overrides)
    crosscheck.check(root)
    names = [*catalogue.experiments(root), *catalogue.played(root)]
    outlooks = [outlook(root, name, settings) for name in names]
    if as_json:
        items = [forecast.record() for forecast in outlooks]
        print(json.dumps({"version": 1, "preset": settings.preset, "items": items}, indent=1))
    else:
        _print(outlooks, settings)


def _print(outlooks: list[Outlook], settings: Settings) -> None:
    console = Console(highlight=False)
    table = Table(title=f"preset {settings.preset}", title_justify="left")
    for column in ("experiment", "points", "blocks", "time", "budget", "memory", "disk"):
        table.add_column(column, justify="left" if column == "experiment" else "right")
    for forecast in outlooks:
        plan = forecast.plan
        table.add_row(
            plan.experiment,
            str(len(plan.points)),
            f"{plan.least}-{plan.looks[-1]}",
            f"{'' if forecast.measured_before else '~'}{_minutes(forecast.block_s * plan.least)}",
            _minutes(plan.settings.budget_s),
            format_bytes(plan.memory_bytes),
            format_bytes(forecast.disk_bytes),
        )
    console.print(table)
    console.print(
        "time: for the fewest rounds; ~ from declared bytes, else from an earlier run here"
    )
    for forecast in outlooks:
        for skip in forecast.plan.skipped:
            console.print(f"skipped: {skip['id']}: {skip['reason']}", soft_wrap=True)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
