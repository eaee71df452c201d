"""The measuring stage: find the run that the plan asks for, resume it, or make it; point at it.

Snakemake may repeat this at any time; only the fingerprint decides whether anything is measured.
"""

from __future__ import annotations

import secrets
from contextlib import closing
from pathlib import Path
from typing import Any

from benchbook import network
from benchbook.core.files import read_json, write_json
from benchbook.core.processes import measuring_lock
from benchbook.define import catalogue
from benchbook.define.models import Settings
from benchbook.define.points import Point, stated_caches
from benchbook.host import facts
from benchbook.host.cpu_sources import stated
from benchbook.host.quiet import check as quiet_check
from benchbook.host.sysfs import read_text
from benchbook.host.topology import read_topology
from benchbook.measure.loop import Run
from benchbook.measure.probe import MachineState
from benchbook.measure.progress import Progress
from benchbook.measure.starter import Starter
from benchbook.plan.plan import HARNESS_VERSION, Plan, make_plan
from benchbook.records import journal, seal

POINTER_VERSION = 1


def read_variants(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """variant.json files by variant; the probe's under its own name."""
    variants = {}
    for path in paths:
        record = read_json(path)
        name = catalogue.PROBE if record["experiment"] == catalogue.PROBE else record["variant"]
        variants[name] = {**record, "folder": str(path.parent)}
    return variants


def measure(
    root: Path,
    experiment: str,
    settings: Settings,
    variant_files: list[Path],
    output: Path,
) -> Path:
    """Measure one experiment unless a complete run has its fingerprint; write the pointer."""
    variants = read_variants(variant_files)
    plan = make_plan(root, experiment, settings, variants)
    folder = root / "data" / "runs" / plan.host / experiment
    progress = Progress(experiment)
    complete, left_out = _complete(folder, plan, settings)
    for run in left_out:
        progress.line(f"leaving out {run.run}, which is damaged: {run.reason}")
    if complete is None:
        for warning in quiet_check():
            progress.line(f"not quiet: {warning.seen}; {warning.cure}")
        with measuring_lock(experiment, root, progress.line) as lock:
            complete, left_out = _complete(folder, plan, settings)
            if complete is None:
                complete = measure_run(root, plan, variants, folder, lock, progress)
    else:
        progress.line(f"nothing to measure: {complete.name} is complete and has this fingerprint")
        if failed := read_json(complete / journal.MANIFEST)["failed"]:
            more = settings.again + 1
            progress.line(f"{len(failed)} of its points failed; --config again={more} tries anew")
    write_pointer(root, plan, settings, variants, complete, left_out, output)
    return complete


def _complete(
    folder: Path, plan: Plan, settings: Settings
) -> tuple[Path | None, list[seal.LeftOut]]:
    """The newest sound run of this plan, None where one more is to be made; and those that are
    damaged."""
    complete, _ = journal.runs_with(folder, plan.fingerprint(), lambda _: None)
    damage = {run: seal.damage(run) for run in complete}
    sound = [run for run, reason in damage.items() if reason is None]
    left_out = [reason for reason in damage.values() if reason is not None]
    return (sound[-1] if len(sound) >= settings.again else None), left_out


def measure_run(
    root: Path,
    plan: Plan,
    variants: dict[str, dict[str, Any]],
    folder: Path,
    lock: int,
    progress: Progress,
) -> Path:
    """Resume the plan's partial run in `folder`, or make a new one; returns it, complete."""
    _, partial = journal.runs_with(folder, plan.fingerprint(), progress.line)
    # After a reboot the clock begins anew and the machine may be another one in all but name.
    partial = [run for run in partial if read_json(run / journal.PLAN)["boot_id"] == boot_id()]
    if partial:
        run = partial[-1]
        progress.line(f"resuming {run.name}")
        _as_declared(plan, read_json(run / journal.PLAN))
    else:
        version = {"harness": HARNESS_VERSION, "commit": facts.commit(root)}
        run = journal.new_run(folder, plan_record(plan) | {"benchbook": version})
        if plan.settle is None:
            progress.line(
                f"{len(plan.points)} points, {plan.least} blocks or more, "
                f"at most {plan.settings.budget_s:.0f} s, on CPU {plan.cpus}"
            )
    content = catalogue.definition(root, plan.experiment)
    topology = read_topology()
    probe = variants.get(catalogue.PROBE)
    reading = catalogue.definition(root, catalogue.PROBE)

    def binary_of(point: Point) -> Path:
        record = variants[point.variant]
        which = "relinked" if point.twin == "relinked" else "binary"
        return Path(record["folder"]) / record[which]["file"]

    state = MachineState(
        binary=binary(probe),
        topology=topology,
        cpus=plan.cpus,
        anchor_bytes=reading["anchor_bytes"],
        anchor_samples=reading["anchor_samples"],
        every_s=plan.settings.anchor_every_s,
        path=run / journal.PROBES,
        lock=lock,
        scheduling=plan.scheduling,
    )
    factors = [point.factors for point in plan.points]
    with (
        progress,
        network.made(factors, plan.settings.udp_peer) as joined,
        closing(
            Starter(
                plan,
                run,
                content["starts"],
                binary_of,
                lock,
                plan.peers,
                joined if content.get("network") else None,
            )
        ) as starter,
    ):
        Run(
            folder=run,
            plan=plan,
            starter=starter,
            state=state,
            seed=read_json(run / journal.PLAN)["seed"],
            say=progress.update,
        ).measure()
    return run


def _as_declared(plan: Plan, stored: dict[str, Any]) -> None:
    """A run is judged by the claims that were declared when it began."""
    plan.claims, plan.pairs = stored["claims"], stored["pairs"]
    plan.claim_hashes = stored["claim_hashes"]


def boot_id() -> str | None:
    """The kernel's name for this boot."""
    return read_text(Path("/proc/sys/kernel/random/boot_id"))


def binary(record: dict[str, Any] | None) -> Path | None:
    """The binary of a variant.json, None where it was not built."""
    if record is None or record["state"] != "ok":
        return None
    return Path(record["folder"]) / record["binary"]["file"]


def plan_record(plan: Plan) -> dict[str, Any]:
    """plan.json: all that was decided before the first invocation, the random seed included."""
    return {
        "version": journal.VERSION,
        "fingerprint": plan.fingerprint(),
        "experiment": plan.experiment,
        "host": plan.host,
        "door": facts.door(),
        "seed": secrets.randbits(48),
        "points": [point.record() for point in plan.points],
        "emulation": plan.emulation,
        "skipped": plan.skipped,
        "binaries": plan.programs.binaries,
        "probe": plan.programs.probe,
        "cpus": plan.cpus,
        "claims": plan.claims,
        "pairs": plan.pairs,
        "claim_hashes": plan.claim_hashes,
        "boot_id": boot_id(),
        "libc": plan.programs.libc,
        "libraries": plan.programs.libraries,
        "least": plan.least,
        "looks": plan.looks,
        "paper_samples": plan.paper_samples,
        "buffers": plan.buffers,
        "peers": plan.peer_rows,
        "sizes": plan.sizes,
        "caches": stated_caches(read_topology(), plan.cpus),
        "host_facts": facts.facts() | stated(),
        "settings": plan.settings.as_written(),
        "environments": plan.environments,
        "options": plan.options,
        "all_cpus": plan.all_cpus,
        "serial": plan.serial,
        "unlooped": plan.unlooped,
        "parts": plan.parts,
        "settle": plan.settle,
    }


def write_pointer(
    root: Path,
    plan: Plan,
    settings: Settings,
    variants: dict[str, dict[str, Any]],
    run: Path,
    left_out: list[seal.LeftOut],
    output: Path,
) -> None:
    """results/<host>/<preset>/<experiment>/current.json: which run counts now, and which damaged
    ones do not."""
    write_json(
        output,
        {
            "version": POINTER_VERSION,
            "experiment": plan.experiment,
            "preset": settings.preset,
            "host": plan.host,
            "run": run.name,
            "folder": str(run.relative_to(root)),
            "variants": {name: record["folder"] for name, record in sorted(variants.items())},
            "left_out": [damaged.as_json() for damaged in left_out],
        },
    )
