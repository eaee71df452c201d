"""Controls played on this machine: measured, observed and judged one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.analyse import stage as analysing
from benchbook.analyse import tables
from benchbook.build.link_limits import find_limits
from benchbook.build.stage import build_variant
from benchbook.controls import score
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.core.processes import on_every_cpu
from benchbook.define import catalogue
from benchbook.define.models import Settings
from benchbook.define.settings import load_settings
from benchbook.evidence import stage as evidence_stage
from benchbook.measure.stage import measure

FRESH = 1000  # complete runs that nobody has: so one more is measured


def play(root: Path, name: str, settings: Settings, variants: list[Path], results: Path) -> Path:
    """Measure a control unless its run is there, and write what every stage makes of it under
    `results`/<name>; returns its analysis.json."""
    _observe(root, name, settings, variants, results / name)
    return _analyse(results / name)


def play_all(root: Path, names: list[str], settings: Settings, results: Path) -> None:
    """`play` for built controls: nothing is analysed beside what is measured, but then on every
    CPU."""
    for name in names:
        files = variant_files(root, name, settings.preset)
        _observe(root, name, settings, files, results / name)
    on_every_cpu(_analyse, [results / name for name in names])


def _observe(root: Path, name: str, settings: Settings, variants: list[Path], folder: Path) -> None:
    pointer = folder / "current.json"
    measure(root, name, settings, variants, pointer)
    tables.write_samples(pointer, folder / "samples.parquet")
    limits = root / "build" / name / "limits.json"
    evidence_stage.collect(pointer, [limits] if limits.exists() else [], folder / "evidence.json")


def _analyse(folder: Path) -> Path:
    output = folder / "analysis.json"
    pointer, samples = folder / "current.json", folder / "samples.parquet"
    analysing.analyse(pointer, samples, folder / "evidence.json", output)
    return output


def built(root: Path, name: str, preset: str) -> list[Path]:
    """Build the variants of a control, and the probe, where that was not done; their files."""
    files = []
    for owner in (name, catalogue.PROBE):
        for variant in catalogue.variants_needed(root, owner, preset, None):
            file = Path("build") / owner / variant / "variant.json"
            if owner == name or not file.exists():
                build_variant(root, owner, variant, file)
            files.append(file)
    if catalogue.definition(root, name).get("limits"):
        find_limits(root, name, Path("build") / name / "limits.json")
    return files


def variant_files(root: Path, name: str, preset: str) -> list[Path]:
    """The variant.json files of a control and of the probe, as the build stage has left them."""
    return [
        Path("build") / owner / variant / "variant.json"
        for owner in (name, catalogue.PROBE)
        for variant in catalogue.variants_needed(root, owner, preset, None)
    ]


def try_one(root: Path, artefact: str, overrides: dict[str, Any], seeds: int) -> None:
    """Build, play and judge one control, and print the outcome; results go into build/."""
    name = catalogue.CONTROLS + artefact
    if name not in catalogue.controls(root):
        names = ", ".join(
            control.removeprefix(catalogue.CONTROLS) for control in catalogue.controls(root)
        )
        raise BenchbookError(f"there is no control of {artefact!r}; known: {names}")
    settings = load_settings(root, {"preset": "tiny"} | overrides).having(again=FRESH)
    replayed = score.of_replay(root, name, range(seeds))
    findings = [{"artefact": name, **example} for name, example in replayed.examples.items()]
    if name in catalogue.played(root):
        files = built(root, name, settings.preset)
        path = play(root, name, settings, files, Path("build/tried"))
        analysis = read_json(path)
        replayed.add(score.of_analysis(root, name, analysis))
        findings = analysis["findings"]
    show(replayed, artefact, findings)


def show(judged: score.Outcomes, artefact: str, findings: list[dict[str, Any]]) -> None:
    """Print one control's counts, what went wrong, and the findings."""
    counts = score.count(artefact, judged.outcomes)
    print(", ".join(f"{name} {counts[name]}" for name in (*score.COUNTS, "skipped")))
    for outcome in judged.outcomes:
        good = "found" if outcome.provoked else "silent"
        if outcome.answer != good and (outcome.artefact == artefact or outcome.answer == "found"):
            role = "provoked" if outcome.provoked else "clean"
            print(
                f"  {outcome.artefact} {outcome.answer} at {role} {outcome.where} {outcome.reason}"
            )
    for text in dict.fromkeys(_line(finding) for finding in findings):
        print(f"  {text}")


def _line(finding: dict[str, Any]) -> str:
    factor = "" if finding["factor"] is None else f" x{finding['factor']:.3g}"
    return (
        f"[{finding['artefact']}: {finding['effect']}{factor}, {finding['confidence']:.2g}] "
        f"{finding['explanation']}"
    )
