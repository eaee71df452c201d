"""Runs that settle one claim alone, what they refuse, and what the page gets of them."""

from __future__ import annotations

import json
import math
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from claimed import (
    summaries,
)
from conftest import ROOT, in_env
from test_run import MadeUp, Quiet

from benchbook.commands import settle
from benchbook.core.errors import BenchbookError
from benchbook.core.reason_codes import Code, Reason
from benchbook.define import catalogue
from benchbook.define.settings import load_settings
from benchbook.host import facts
from benchbook.judge import settle_runs
from benchbook.judge.claims import Verdict
from benchbook.judge.experiment_run import ExperimentRun
from benchbook.judge.figure_claims import judged
from benchbook.judge.paper_source import PaperSource
from benchbook.judge.resolved_claim import Claim
from benchbook.judge.settling_cost import MOST_BLOCKS
from benchbook.judge.verdicts import judge_alone
from benchbook.measure.loop import Run
from benchbook.measure.stage import plan_record
from benchbook.plan.plan import make_plan
from benchbook.records import journal

PAPER, FIGURE, EXPERIMENT = "slocum2013-mbw", "mbw-b4096-32", "mbw"
CLAIM = "order-of-magnitude"
KEY = f"{PAPER}/{FIGURE}/{CLAIM}"
BINARIES = {"gcc-O2~": {"file": "x", "sha256": "1"}, "gcc-O3~": {"file": "y", "sha256": "2"}}


def made_run(folder: Path, name: str, *, finished: bool = True, **plan: Any) -> Path:
    """A run of which only plan and manifest are there."""
    run = folder / name
    run.mkdir(parents=True)
    asked = {"claim": KEY, "preset": "tiny", "of": "it"}
    content = {"version": 1, "settle": asked, "binaries": {"gcc-O2~": BINARIES["gcc-O2~"]}}
    (run / journal.PLAN).write_text(json.dumps(content | plan))
    if finished:
        (run / journal.MANIFEST).write_text(json.dumps({"version": 1}))
    return run


def test_only_complete_runs_of_this_claim_preset_and_binaries_settle(tmp_path: Path) -> None:
    second = made_run(tmp_path, "20260102-settle")
    first = made_run(tmp_path, "20260101-settle")
    made_run(tmp_path, "20260103-settle", finished=False)
    asked = {"claim": KEY, "preset": "tiny", "of": "it"}
    made_run(tmp_path, "20260104-settle", settle=asked | {"preset": "quick"})
    made_run(tmp_path, "20260105-settle", settle=asked | {"claim": f"{KEY}-2"})
    made_run(tmp_path, "20260111-settle", settle=asked | {"of": "a run before"})
    made_run(tmp_path, "20260106-settle", binaries={"gcc-O2~": {"file": "x", "sha256": "older"}})
    made_run(tmp_path, "20260107-settle", settle=None)
    made_run(tmp_path, "20260108")  # not named as one that settles
    (made_run(tmp_path, "20260109-settle") / journal.PLAN).write_text("{torn")
    (tmp_path / "20260110-settle").mkdir()
    assert settle_runs.settle_runs(tmp_path, KEY, "tiny", "it", BINARIES) == [first, second]
    assert settle_runs.settle_runs(tmp_path, KEY, "tiny", "it", {}) == []
    assert settle_runs.settle_runs(tmp_path / "gone", KEY, "tiny", "it", BINARIES) == []


def verdict_of(name: str, estimate: float, blocks: int) -> Verdict:
    return Verdict(
        {},
        name,
        Reason(Code.OVER_THE_EDGE),
        estimate=estimate,
        interval=[estimate - 0.1, estimate + 0.1],
        blocks=blocks,
        published=[9.2] if blocks == 8 else [],
        elsewhere={"tried": 3} if blocks == 8 else None,
    )


def test_the_last_run_decides_alone_and_the_others_stand_beside_it(tmp_path: Path) -> None:
    first = verdict_of("inconclusive", 3.1, 8)
    assert settle_runs.settled(first, []) == first
    asked = {"claim": KEY, "preset": "tiny", "blocks": 36}
    again = [
        (made_run(tmp_path, "one"), verdict_of("inconclusive", 3.2, 20)),
        (made_run(tmp_path, "two", settle=asked), verdict_of("reproduced", 3.4, 40)),
    ]
    found = settle_runs.settled(first, again)
    assert (found.verdict, found.estimate, found.interval) == ("reproduced", 3.4, [3.3, 3.5])
    assert found.blocks == 40  # nothing pooled
    assert found.settled is not None
    assert (found.settled["run"], found.settled["number"]) == ("two", 2)
    assert found.settled["asked"] == 36
    before = found.settled["before"]
    assert [(each["run"], each["verdict"], each["blocks"]) for each in before] == [
        (None, "inconclusive", 8),
        ("one", "inconclusive", 20),
    ]
    # What the source prints, and what the sweep showed, no settling run can tell.
    assert (found.published, found.elsewhere) == ([9.2], {"tried": 3})


# `benchbook settle`, with programs that are made up.

PRICE = {"margin": 0.1, "blocks": 8, "minutes": 1.0}


def open_verdict(**changes: Any) -> dict[str, Any]:
    """As verdicts.json has a claim that its run left open."""
    named = {"paper": PAPER, "figure": FIGURE, "claim": CLAIM, "intervals": 1, "price": PRICE}
    named |= {"left_out": []}
    named |= {"verdict": "inconclusive", "estimate": 3.1, "interval": [3.0, 3.2], "blocks": 8}
    named |= {"reason": "it is 3.1", "unit": "ratio of rates"}
    return named | changes


class Place:
    """A checkout in which preset tiny left verdicts, and a run to take the pilot from."""

    def __init__(self, root: Path) -> None:
        for name in ("config", "kernels", "data/published"):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).symlink_to(ROOT / name)
        self.root = root
        self.host = facts.host_id(facts.facts())
        self.results = root / "results" / self.host / "tiny"
        self.runs = root / "data" / "runs" / self.host / EXPERIMENT
        self.plan = make_plan(root, EXPERIMENT, load_settings(root, {"preset": "tiny"}))
        self.current = journal.new_run(self.runs, plan_record(self.plan))
        (self.current / journal.MANIFEST).write_text(json.dumps({"version": 1}))
        self.measured = {point.id for point in self.plan.points}

    def left(self, *verdicts: dict[str, Any]) -> None:
        """Write the results of the run that left these verdicts."""
        numbers = {name: {"loops": 1, "samples": 3, "warmup": 1} for name in self.measured}
        pilot = {"kind": "pilot", "points": numbers, "failed": {}, "block_ns": 1, "wall_ns": 1}
        (self.current / journal.JOURNAL).unlink(missing_ok=True)
        journal.append(self.current / journal.JOURNAL, [pilot])
        folder = str(self.current.relative_to(self.root))
        (self.results / EXPERIMENT).mkdir(parents=True, exist_ok=True)
        for path, content in (
            (self.results / "verdicts.json", {"items": list(verdicts)}),
            (self.results / EXPERIMENT / "current.json", {"folder": folder, "variants": {}}),
        ):
            path.write_text(json.dumps({"version": 1, **content}))

    def settle(self, wanted: str = KEY, blocks: int | None = None, as_json: bool = True) -> None:
        settle.settle(self.root, wanted, {"preset": "tiny"}, blocks, as_json=as_json)

    def refusal(self, wanted: str = KEY, blocks: int | None = None) -> str:
        with pytest.raises(BenchbookError) as caught:
            self.settle(wanted, blocks)
        assert self.settling() == []  # nothing was begun
        said = str(caught.value)
        assert "\n" not in said
        return said

    def settling(self) -> list[Path]:
        return sorted(self.runs.glob("*-settle"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Its programs answer at once, at one and the same rate at every point."""

    def measure_run(root: Path, plan: Any, variants: dict, folder: Path, *rest: Any) -> Path:
        run = journal.new_run(folder, plan_record(plan))
        starter = MadeUp(plan, run, ["bytes"], lambda point: Path("/bin/true"), None)
        # By chance every twentieth run would fail its own null, which no run without spread can.
        starter.sd = 0.0
        Run(run, plan, starter, Quiet(), 7, lambda *said: None).measure()
        return run

    monkeypatch.setattr(settle, "measure_run", measure_run)
    monkeypatch.setattr(settle, "measuring_lock", lambda *_: nullcontext(0))
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path)


def test_a_settling_run_measures_the_claim_alone_and_decides_alone(place: Place, capsys) -> None:
    place.left(open_verdict())
    before = {path: path.read_bytes() for path in place.current.iterdir()}
    place.settle(CLAIM)  # the claim's own id is enough where only one claim has it
    said = json.loads(capsys.readouterr().out)
    assert (said["claim"], said["number"]) == (KEY, 1)
    # Every point has one rate here, so it is no order of magnitude.
    assert said["verdict"] == "not_reproduced"
    assert said["estimate"] == pytest.approx(1, abs=0.1)
    assert said["blocks"] == PRICE["blocks"]
    assert said["before"] == {
        key: open_verdict()[key]
        for key in ("verdict", "estimate", "interval", "blocks", "unit", "reason")
    }
    (run,) = place.settling()
    assert said["run"] == run.name
    plan = json.loads((run / journal.PLAN).read_text())
    manifest = json.loads((run / journal.MANIFEST).read_text())
    methods = [(point["factors"]["method"], point["twin"]) for point in plan["points"]]
    assert sorted(methods) == [
        ("block-1.1.1", ""),
        ("copy", ""),
        ("copy", "again"),
        ("copy", "relinked"),
    ]
    assert (plan["looks"], plan["claims"]) == ([8], 1)
    assert manifest["blocks"] == 8
    assert list(manifest["claims"]) == [KEY]
    assert plan["settle"]["of"] == place.current.name
    # The samples per start are those of the run that left it open; there was no pilot of its own.
    lines = [line for line in journal.read_lines(run / journal.JOURNAL) if "points" in line]
    assert [line["points"] for line in lines] == [plan["settle"]["pilot"]["points"]]
    assert set(lines[0]["points"]) == {point["id"] for point in plan["points"]}
    assert {path: path.read_bytes() for path in place.current.iterdir()} == before
    assert settle_runs.settle_runs(place.runs, KEY, "tiny", place.current.name, {}) == [run]


def test_blocks_asked_for_are_measured_and_a_second_settle_is_counted(
    place: Place, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.left(open_verdict(price={"margin": 0.0, "blocks": None, "minutes": None}))
    place.settle(blocks=6)
    said = capsys.readouterr().out
    settled_as = json.loads(said)["verdict"].replace("_", " ")
    # verdicts.json is as before, and the settling run decides all the same, if the host's noise of
    # these seconds let it.
    if settled_as != "inconclusive":
        with pytest.raises(
            BenchbookError,
            match=f"is {settled_as} in preset tiny; only a claim that is not decided",
        ):
            place.settle(blocks=7)
    monkeypatch.setattr(settle, "_must_be_open", lambda *_: None)
    place.settle(blocks=7, as_json=False)
    said += capsys.readouterr().out
    first, words = said[: said.rindex("}") + 1], said[said.rindex("}") + 2 :]
    assert (json.loads(first)["number"], json.loads(first)["blocks"]) == (1, 6)
    lines = words.splitlines()
    # Which of them, the host's noise of these seconds decides.
    assert lines[0] in (f"{KEY}: not reproduced", f"{KEY}: inconclusive")
    assert lines[1].startswith("  this run alone: the ratio of rates ")
    assert lines[1].endswith("; 7 rounds")
    assert lines[2].startswith("  before, not pooled: ")
    assert lines[2].endswith(", 6 rounds")
    runs = place.settling()
    numbers = [json.loads((run / journal.PLAN).read_text())["settle"]["number"] for run in runs]
    assert sorted(numbers) == [1, 2]


def test_the_page_gets_the_verdict_of_the_settling_run(place: Place) -> None:
    """Not that of all blocks together, and not for another preset."""
    place.left(open_verdict())
    place.settle()
    (run,) = place.settling()
    of = settle_runs.measured(run)
    points = place.plan.points
    # The run that left it open measured the other points too, and saw something else.
    rates = {point.id: np.full(8, math.log(9 * ("1.1.1" in point.id) + 1)) for point in points}
    found = judged_by(place, summaries(rates), "tiny")[CLAIM]
    alone = judge_alone(
        Claim.of(claim_of(CLAIM)),
        catalogue.definition(ROOT, EXPERIMENT),
        place.plan.sizes,
        of,
        found["intervals"],
    )
    for key in ("verdict", "estimate", "interval", "blocks"):
        assert found[key] == getattr(alone, key)
    assert found["settled"]["before"][0]["verdict"] == "reproduced"
    assert found["settled"]["before"][0]["estimate"] == pytest.approx(10)
    assert not found["post_hoc"]
    other = judged_by(place, summaries(rates), "quick")[CLAIM]
    assert (other["settled"], other["verdict"]) == (None, "reproduced")


def claim_of(name: str) -> dict[str, Any]:
    figures = catalogue.paper(ROOT, PAPER)["figures"]
    return next(claim for fig in figures for claim in fig.get("claims", []) if claim["id"] == name)


def judged_by(place: Place, table: pd.DataFrame, preset: str) -> dict[str, dict[str, Any]]:
    """The claims of the figure where the current run's summaries are these, by id."""
    points = [
        {"point": point.id, "variant": point.variant, "factors": point.factors, "twin": point.twin}
        | {"state": "ok", "reason": ""}
        for point in place.plan.points
    ]
    analysis = {
        "points": points,
        "sizes": place.plan.sizes,
        "folder": str(place.current.relative_to(place.root)),
        "preset": preset,
        "run": place.current.name,
        "claims": place.plan.claim_hashes,
    }
    content = catalogue.definition(ROOT, EXPERIMENT)
    paper = replace(PaperSource.read(ROOT, PAPER), root=place.root)
    run = ExperimentRun(content, analysis, table, [], place.results)
    figure = next(figure for figure in paper.figures if figure.id == FIGURE)
    made = judged(paper, figure, run, {"audit": []}, {})
    return {claim["claim"]: claim for claim in made["claims"]}


# What it refuses, each in one sentence.


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """One for all, because nothing is begun in it."""
    return Place(tmp_path_factory.mktemp("idle"))


def test_no_verdicts_yet(idle: Place) -> None:
    (idle.results / "verdicts.json").unlink(missing_ok=True)
    said = idle.refusal()
    assert said.startswith("there are no verdicts of preset tiny on this host (")
    assert said.endswith("run `snakemake --config preset=tiny` first")


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("faster", f"'faster' names no claim; claims are: {KEY}, {KEY}-2, {PAPER}/other/{CLAIM}"),
        (CLAIM, f"'{CLAIM}' names several claims; name one of: {KEY}, {PAPER}/other/{CLAIM}"),
    ],
)
def test_a_claim_that_is_unknown_or_ambiguous(idle: Place, wanted: str, sentence: str) -> None:
    other = open_verdict(claim=f"{CLAIM}-2")
    idle.left(open_verdict(), other, open_verdict(figure="other"))
    assert idle.refusal(wanted) == sentence


@pytest.mark.parametrize("verdict", ["reproduced", "not_reproduced", "not_measurable_here"])
def test_a_claim_that_is_not_open(idle: Place, verdict: str) -> None:
    idle.left(open_verdict(verdict=verdict))
    assert idle.refusal() == (
        f"{KEY} is {verdict.replace('_', ' ')} in preset tiny; only a claim that is not "
        "decided can be settled"
    )


def test_a_claim_that_is_no_longer_declared(idle: Place) -> None:
    idle.left(open_verdict(claim="gone"))
    said = idle.refusal(f"{PAPER}/{FIGURE}/gone")
    assert said.endswith("is no longer in paper.yaml; run `snakemake` for new verdicts")


@pytest.mark.parametrize(("blocks", "intervals", "least"), [(5, 1, 6), (8, 7, 10), (1001, 1, 6)])
def test_blocks_that_decide_nothing_or_take_for_ever(
    idle: Place, blocks: int, intervals: int, least: int
) -> None:
    idle.left(open_verdict(intervals=intervals))
    assert idle.refusal(blocks=blocks) == (
        f"--blocks is {blocks}; {KEY} takes {least} to {MOST_BLOCKS}"
    )


@pytest.mark.parametrize("priced", [None, {"margin": 0.0, "blocks": None, "minutes": None}])
def test_a_claim_that_no_number_of_blocks_settles(idle: Place, priced: dict | None) -> None:
    idle.left(open_verdict(price=priced))
    assert idle.refusal() == (
        f"up to 900 rounds are not expected to settle {KEY} (it is 3.1); choose a "
        "number with --blocks"
    )


def test_a_point_that_was_not_measured(place: Place) -> None:
    place.measured = {name for name in place.measured if "block-1.1.1" not in name}
    place.left(open_verdict())
    said = place.refusal()
    assert said.startswith(f"{KEY} cannot be measured at the moment: gcc-O2,bytes=33554432")
    assert said.endswith("not in this preset")


def test_a_run_without_its_pilot(idle: Place) -> None:
    idle.left(open_verdict())
    (idle.current / journal.JOURNAL).write_text("")
    assert "has no pilot; run `snakemake --config again=2`" in idle.refusal()


# For real, in a copy of what the workflow made.


def test_a_claim_is_settled_by_a_run_that_is_measured(measured: Path, tmp_path: Path) -> None:
    checkout = shutil.copytree(measured, tmp_path / "checkout", symlinks=True)
    (results,) = (checkout / "results").glob("*/tiny")
    path = results / "verdicts.json"
    content = json.loads(path.read_text())
    (verdict,) = [item for item in content["items"] if item["claim"] == CLAIM]
    verdict |= {"verdict": "inconclusive", "price": None}  # whatever it was here
    path.write_text(json.dumps(content))
    before = {path: path.read_bytes() for path in checkout.glob("data/runs/*/*/*/*.json*")}
    done = in_env(
        checkout,
        *("benchbook", "settle", CLAIM, "--blocks", "6", "--json", "--config", "preset=tiny"),
    )
    assert done.returncode == 0, done.stdout[-3000:]
    said = json.loads(done.stdout[done.stdout.index("{") :])
    assert (said["claim"], said["number"]) == (KEY, 1)
    assert said["blocks"] >= 6  # more where some were disturbed
    assert said["interval"][0] < said["estimate"] < said["interval"][1]
    (run,) = checkout.glob("data/runs/*/mbw/*-settle")
    assert said["run"] == run.name
    assert (run / journal.MANIFEST).exists()
    after = {path: path.read_bytes() for path in checkout.glob("data/runs/*/*/*/*.json*")}
    assert {path: after[path] for path in before} == before
