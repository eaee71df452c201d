"""Controls played and replayed again and again under changing load, until enough is counted.

Every play is a line of outcomes.jsonl, in a folder named after the version of the files that decide
what is said, and the host: a later call goes on where the one before ended. What `keep` has put
into the repository counts as well, whatever host it is from, and of earlier versions what stands at
this one. Controls are played in a copy of the checkout, so that data/runs stays as it is.
"""

from __future__ import annotations

import gzip
import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import chdir, redirect_stderr
from pathlib import Path
from typing import Any

from benchbook.controls import campaign_fingerprint, score
from benchbook.controls import run as control_run
from benchbook.controls.background_load import LOADS, NONE, loaded
from benchbook.controls.campaign_counts import REPLAYED, Candidate, Line, Tally
from benchbook.controls.campaign_summary import summary
from benchbook.controls.score import Outcome
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.core.number_format import listed
from benchbook.define import catalogue
from benchbook.define.models import Control
from benchbook.define.settings import load_settings
from benchbook.define.yaml_files import load, read_yaml
from benchbook.detect import catalogue_of_artefacts
from benchbook.host import facts
from benchbook.records import journal

OUTCOMES, SUMMARY, LOG = "outcomes.jsonl", "summary.json", "said.log"
KEPT = Path("data/long-count")  # version/host.jsonl.gz, and the files of that version
KEPT_VERSION = 1  # of its files.json
FILES, UNDONE = "files.json", "loads.yaml"
COPIED = ("kernels", "config", "data/published", "tests/counter_outputs")
FIRST_SEED = 1000  # of replays; those of `snakemake controls` are far below
TOLD_EVERY_S = 30
MOST_OTHERS = 0.05  # CPUs that others kept busy: above, what needs a quiet machine is no null
# Beside a load everything takes longer, and what does not fit the budget is left out. The load has
# to reach what is measured.
SETTINGS = {"preset": "tiny", "controls_budget_s": 30, "before_others": False}


def run(root: Path, budget_s: float, say: Callable[[str], None]) -> dict[str, Any]:
    """Play until enough is counted or the time is over; the summary, which is written as well."""
    until = last_said = time.monotonic()
    until += budget_s
    folder, kept = _places(root)
    lab = _lab(root, folder)
    tally = Tally(
        _controls(lab), [artefact.id for artefact in catalogue_of_artefacts()], undone(lab)
    )
    if kept.exists() and not (folder / OUTCOMES).exists():
        (folder / OUTCOMES).write_bytes(gzip.decompress(kept.read_bytes()))
    for line in read(folder / OUTCOMES):
        tally.add(line)
    own = len(tally.lines)
    for line in _kept_before(root, folder, kept):
        tally.add(line)
    elsewhere = len(tally.lines) - own
    others = f", {elsewhere} on other hosts or at earlier versions" if elsewhere else ""
    say(f"{folder.relative_to(root)}: {own} plays so far{others}")
    while time.monotonic() < until and (candidate := tally.next()):
        seed = 1 + max((line.seed for line in tally.lines), default=FIRST_SEED)
        line = play(lab, folder, candidate, seed)
        tally.add(line)
        if time.monotonic() > last_said + TOLD_EVERY_S:
            last_said = time.monotonic()
            have, want = tally.progress()
            say(f"{have} of {want} runs; at most {(until - last_said) / 60:.0f} min more")
    timing = {artefact.id for artefact in catalogue_of_artefacts() if artefact.is_timing_only}
    content = summary(tally, timing) | {"plays_from_elsewhere": elsewhere}
    write_json(folder / SUMMARY, content)
    return content


def _kept_before(root: Path, folder: Path, own: Path) -> Iterable[Line]:
    """What other hosts have counted, and earlier versions, as far as it stands."""
    now = campaign_fingerprint.files(root)
    for kept in sorted((root / KEPT).glob("*/*.gz")):
        if kept != own:
            unpacked = folder / f"{kept.parent.name}-{kept.stem}"
            unpacked.write_bytes(gzip.decompress(kept.read_bytes()))
            before = read_json(kept.parent / FILES)["files"]
            yield from campaign_fingerprint.change(root, before, now).left(read(unpacked))


def keep(root: Path) -> Path:
    """Put this host's plays where the repository keeps them; returns that file.

    Raises BenchbookError where nothing was played here at this version.
    """
    folder, kept = _places(root)
    if not (folder / OUTCOMES).exists():
        raise BenchbookError("nothing was played here at this version; run `make test-long` first")
    journal.repair(folder / OUTCOMES)
    kept.parent.mkdir(parents=True, exist_ok=True)
    deciding = {"version": KEPT_VERSION, "files": campaign_fingerprint.files(root)}
    write_json(kept.parent / FILES, deciding)
    kept.write_bytes(gzip.compress((folder / OUTCOMES).read_bytes(), mtime=0))
    return kept


def _places(root: Path) -> tuple[Path, Path]:
    """Where this host counts, and where its count is kept."""
    version = campaign_fingerprint.digest(campaign_fingerprint.files(root))
    here = facts.host_id(facts.facts())
    return root / "build" / "controls-long" / version / here, (
        root / KEPT / version / f"{here}.jsonl.gz"
    )


def _control(root: Path, name: str) -> dict[str, Any]:
    return load(catalogue.definition_file(root, name), Control)


def _controls(lab: Path) -> dict[str, tuple[str, bool, bool]]:
    playable = catalogue.played(lab)
    return {
        name: (
            _control(lab, name)["artefact"],
            name in playable,
            (lab / "kernels" / name / catalogue.REPLAY).exists(),
        )
        for name in catalogue.controls(lab)
    }


def undone(lab: Path) -> dict[str, frozenset[str]]:
    """Control -> the loads that undo what it provokes: its loads.yaml names them.

    Raises BenchbookError where that names no load.
    """
    by_control = {}
    for name in catalogue.controls(lab):
        path = lab / "kernels" / name / UNDONE
        if path.exists():
            content = read_yaml(path)
            if not isinstance(content.get("undone_by"), list):
                raise BenchbookError(f"{path}: key 'undone_by' must be a list of loads")
            named = frozenset(map(str, content["undone_by"]))
            if unknown := sorted(named - LOADS.keys() | named & {NONE}):
                raise BenchbookError(
                    f"{path}: key 'undone_by' names {listed(unknown)}, which is no load; known: "
                    f"{', '.join(load for load in LOADS if load != NONE)}"
                )
            by_control[name] = named
    return by_control


def _lab(root: Path, folder: Path) -> Path:
    """A copy of what is built and measured, made once for a digest: later edits do not reach it."""
    lab = folder / "lab"
    if not (lab / "made").exists():
        shutil.rmtree(lab, ignore_errors=True)
        for name in COPIED:
            ignored = shutil.ignore_patterns("__pycache__", "local.yaml")
            shutil.copytree(root / name, lab / name, ignore=ignored)
        (lab / "made").touch()
    return lab


def read(path: Path) -> Iterable[Line]:
    """The lines that were counted before; a line torn by a kill is cut off."""
    journal.repair(path)
    for play in journal.read_lines(path):
        replayed = play["load"] == REPLAYED
        yield Line(
            **{name: play[name] for name in ("control", "load", "seed", "seconds", "noisy")},
            outcomes=[
                Outcome(artefact, play["of"], where, provoked, answer, replayed, reason)
                for artefact, where, provoked, answer, reason in play["outcomes"]
            ],
        )


def play(lab: Path, folder: Path, candidate: Candidate, seed: int) -> Line:
    """Play or replay a candidate, append its outcomes to the file of outcomes, and return them."""
    name, began = candidate.control, time.monotonic()
    noisy = False
    with (folder / LOG).open("a", encoding="utf-8") as log, redirect_stderr(log), chdir(lab):
        if candidate.load == REPLAYED:
            outcomes = score.of_replay(lab, name, [seed]).outcomes
        else:
            try:
                noisy, outcomes = _measured(lab, candidate, seed)
            except BenchbookError as error:
                own = _control(lab, name)["artefact"]
                outcomes = [
                    Outcome(own, own, "", provoked=True, answer="skipped", reason=str(error))
                ]
    line = Line(*candidate, seed, round(time.monotonic() - began, 3), noisy, outcomes)
    journal.append(folder / OUTCOMES, [_record(line)])
    return line


def _record(line: Line) -> dict[str, Any]:
    return {
        "control": line.control,
        "of": line.outcomes[0].control if line.outcomes else "",
        "load": line.load,
        "seed": line.seed,
        "seconds": line.seconds,
        "noisy": line.noisy,
        "outcomes": [
            [outcome.artefact, outcome.where, outcome.provoked, outcome.answer, outcome.reason]
            for outcome in line.outcomes
        ],
    }


def _measured(lab: Path, candidate: Candidate, seed: int) -> tuple[bool, list[Outcome]]:
    """A control measured once more; the working folder is the lab. What it measured is removed:
    there are thousands of runs, and nothing reads them again."""
    name = candidate.control
    shutil.rmtree("data/runs", ignore_errors=True)  # also what a killed call has left half done
    settings = load_settings(lab, SETTINGS)
    files = control_run.variant_files(lab, name, settings.preset)
    if not all(file.exists() for file in files):
        control_run.built(lab, name, settings.preset)
    began, others = time.monotonic(), _others_s()
    with loaded(candidate.load, seed):
        path = control_run.play(lab, name, settings, files, Path("results"))
    noisy = _others_s() - others > MOST_OTHERS * (time.monotonic() - began)
    is_loaded = noisy or candidate.load != NONE
    outcomes = score.of_analysis(lab, name, read_json(path), loaded=is_loaded).outcomes
    shutil.rmtree("data/runs")
    return noisy, outcomes


def _others_s() -> float:
    """Seconds of CPU that others have had since the start of the machine, those included that its
    host took. No detector looks at that, so it says beforehand what may be held against one."""
    words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, stolen = map(int, words[:8])
    used = (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK")
    return used - sum(os.times()[:4])
