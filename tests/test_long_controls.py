"""The detectors over hundreds of plays of their controls, under changing load: `make test-long`.

Minutes of a call: BENCHBOOK_LONG_MINUTES. What has not counted enough by then is skipped, and goes
on at the next call.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchbook.controls import campaign, campaign_fingerprint
from benchbook.controls.background_load import LOADS, NONE, loaded
from benchbook.controls.campaign_counts import (
    NULLS,
    PROVOKED,
    REPLAYED,
    TRIES,
    Candidate,
    Line,
    Tally,
)
from benchbook.controls.campaign_summary import of_runs, summary, wrong
from benchbook.controls.score import FAILED, Outcome
from benchbook.core.errors import BenchbookError
from benchbook.report.campaign_text import fault, table

ROOT = Path(__file__).resolve().parent.parent
MINUTES = float(os.environ.get("BENCHBOOK_LONG_MINUTES", "50"))
LEAST_S = 600  # the pytest limit: a play that has begun may end
A, B = "controls/a", "controls/b"


@pytest.mark.long
@pytest.mark.timeout(MINUTES * 60 + LEAST_S)
def test_detectors_over_many_plays(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        content = campaign.run(ROOT, MINUTES * 60, lambda text: print(f"\n{text}", end=""))
        print("", *table(content), sep="\n")
    certain = [
        f"{name}: {fault(broken)}"
        for name, counts in content["artefacts"].items()
        for broken in counts["wrong"]
    ]
    lost = {name: why for name, why in content["not_played_here"].items() if why.startswith(FAILED)}
    assert (certain, lost) == ([], {})
    if not content["finished"]:
        so_far = f"{content['counted']} of {content['wanted']} runs so far"
        pytest.skip(f"{so_far}, run again: it goes on where it ended")


def line(
    control: str,
    load: str = NONE,
    *,
    provoked: tuple[str, ...] = (),
    nulls: tuple[tuple[str, str], ...] = (),
    seconds: float = 1.0,
    reason: str = "",
) -> Line:
    """A play: what its own detector said of provoked scenes, and who said what of clean ones."""
    own = control.removeprefix("controls/")
    replayed = load == REPLAYED
    outcomes = [
        Outcome(own, own, str(n), True, said, replayed, reason) for n, said in enumerate(provoked)
    ]
    outcomes += [
        Outcome(artefact, own, "null", provoked=False, answer=said, replayed=replayed)
        for artefact, said in nulls
    ]
    return Line(control, load, 1, seconds, False, outcomes)


def tally(*lines: Line, replayed: bool = False) -> Tally:
    found = Tally({A: ("a", True, replayed), B: ("b", True, False)}, ["a", "b"])
    for line in lines:
        found.add(line)
    return found


def test_who_was_provoked_least_is_next_under_the_next_load() -> None:
    assert tally().next() == Candidate(A, NONE)
    assert tally(line(A, provoked=("found",) * 4)).next() == Candidate(B, NONE)
    loads = list(LOADS)
    both = tally(line(A, provoked=("found", "silent")), *[line(B, provoked=("found",))] * 2)
    assert both.next() == Candidate(A, loads[1])
    assert tally(line(B, provoked=("found",)), replayed=True).next() == Candidate(A, NONE)


def test_a_control_is_not_played_beside_a_load_that_undoes_it() -> None:
    loads = list(LOADS)
    found = Tally({A: ("a", True, False)}, ["a"], {A: frozenset(loads[1:3])})
    asked = []
    for _ in range(2 * len(loads)):
        asked.append(found.next())
        found.add(line(A, asked[-1].load, provoked=("found",)))
    assert [candidate.load for candidate in asked] == [loads[0], *loads[3:]] * 3 + [loads[0]]


def test_only_loads_can_undo_a_control(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "kernels/controls/wake-up", tmp_path / "kernels/controls/wake-up")
    (known,) = campaign.undone(tmp_path).values()
    assert known <= LOADS.keys() - {NONE}
    path = tmp_path / "kernels/controls/wake-up/loads.yaml"
    for odd in ("a storm", NONE):
        path.write_text(f"version: 1\nundone_by: [{odd}]\n")
        with pytest.raises(BenchbookError, match=f"'undone_by' names {odd}, which is no load"):
            campaign.undone(tmp_path)
    path.write_text("version: 1\n")
    with pytest.raises(BenchbookError, match="'undone_by' must be a list of loads"):
        campaign.undone(tmp_path)


def test_when_enough_is_provoked_what_gives_most_nulls_is_next() -> None:
    enough = [line(A, provoked=("found",)), line(B, provoked=("found",))] * PROVOKED
    quick = line(A, "spinning elsewhere", nulls=(("a", "silent"),), seconds=1)
    slow = line(B, "spinning elsewhere", nulls=(("a", "silent"),), seconds=9)
    counted = tally(*enough, quick, slow, line(A, nulls=(("b", "silent"),)))
    assert counted.next().control == A
    assert counted.next().kind == "loaded"
    for _ in range(NULLS):
        counted.add(quick)
    assert counted.next() == Candidate(A, NONE)  # only there has b judged anything
    for _ in range(NULLS):
        counted.add(line(A, nulls=(("b", "silent"),)))
    assert counted.next() is None
    assert counted.progress() == (2 * PROVOKED + 2 * NULLS,) * 2
    assert summary(counted, set())["finished"]


def test_what_was_not_judged_is_no_null() -> None:
    counted = tally(line(A, nulls=(("a", "abstained"), ("b", "unasked"), ("b", "found"))))
    assert counted.nulls == {"b": 1}


def test_a_play_is_one_run_and_each_replayed_scene_is_one() -> None:
    said = {"provoked": ("found", "silent"), "nulls": (("a", "silent"), ("a", "found"))}
    counted = tally(line(A, **said), line(A, REPLAYED, **said), line(B, provoked=("skipped",)))
    assert counted.provoked == {("controls/a", False): 1, ("controls/a", True): 2, (B, False): 0}
    assert counted.nulls == {"a": 1 + 2}
    lines = [line(A, **said), line(A, provoked=("found", "found"), nulls=(("a", "silent"),))]
    lines += [line(A, provoked=("found", "abstained")), line(A, REPLAYED, **said)]
    told = of_runs("a", lines)
    counts = ("provoked", "detected", "abstained", "nulls", "false_alarms")
    assert [told[name] for name in counts] == [3, 1, 1, 2, 1]


def test_a_control_that_cannot_be_played_here_is_no_goal() -> None:
    lost = line(A, provoked=("skipped",), reason="no such compiler")
    counted = tally(*[lost] * TRIES, *[line(B, provoked=("found",))] * PROVOKED)
    assert counted.cannot_be_played(A)
    assert counted.next() is None
    content = summary(counted, set())
    assert content["not_played_here"] == {A: "no such compiler"}
    assert any(text.endswith(f"{A}: no such compiler") for text in table(content))


@pytest.mark.parametrize(
    ("provoked", "nulls", "timing", "faults"),
    [
        (("found",) * 60, ("silent",) * 300, False, 0),
        (("found",) * 59 + ("silent",), ("silent",), False, 1),
        (("found",) * 59 + ("silent",), ("silent",), True, 0),
        (("found",) * 56 + ("silent",) * 4, ("silent",), True, 1),
        (("found",) * 30 + ("abstained",) * 30, ("silent",), False, 0),
        (("found",) * 29 + ("abstained",) * 31, ("silent",), True, 1),
        (("found",), ("silent",) * 299 + ("found",), False, 1),
        (("found",), ("silent",) * 297 + ("found",) * 3, True, 0),
        (("found",), ("silent",) * 296 + ("found",) * 4, True, 1),
    ],
)
def test_what_must_hold(provoked: tuple, nulls: tuple, timing: bool, faults: int) -> None:
    for load in (NONE, REPLAYED):
        one = line(A, load, provoked=provoked, nulls=tuple(("a", said) for said in nulls))
        counts = summary(tally(one), {"a"} if timing else set())["artefacts"]["a"]
        assert len(wrong(counts, timing_only=timing, finished=True)) == faults
        assert list(counts["by_load"]) == [load]


def test_shares_are_no_fault_before_all_is_counted() -> None:
    one = line(A, provoked=("silent", "abstained", "abstained"), nulls=(("a", "found"),))
    for timing, faults in (({"a"}, 0), (set(), 2)):
        assert len(summary(tally(one), timing)["artefacts"]["a"]["wrong"]) == faults


def test_a_summary_is_json_and_shows_what_went_wrong() -> None:
    content = summary(tally(line(A, provoked=("silent",), nulls=(("a", "found"),))), set())
    content = json.loads(json.dumps(content))
    assert [example["said"] for example in content["artefacts"]["a"]["examples"]] == [
        "silent",
        "found",
    ]
    assert sum("!" in text for text in table(content)) == 2


def test_a_call_goes_on_where_the_one_before_ended(tmp_path: Path) -> None:
    path = tmp_path / campaign.OUTCOMES
    wanted = line(A, REPLAYED, provoked=("found",), nulls=(("b", "silent"),))
    campaign.journal.append(path, [campaign._record(wanted)] * 2)
    with path.open("a") as stream:
        stream.write('{"version": 1, "torn')
    assert list(campaign.read(path)) == [wanted] * 2


def test_what_is_kept_counts_on_every_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deciding = {"benchbook/detect/detectors/bimodal.py": "1"}
    monkeypatch.setattr(campaign.campaign_fingerprint, "files", lambda root: deciding)
    monkeypatch.setattr(campaign, "_lab", lambda root, folder: ROOT)
    folder, kept = campaign._places(tmp_path)
    with pytest.raises(BenchbookError, match="nothing was played here"):
        campaign.keep(tmp_path)
    one = line("controls/bimodal", provoked=("found",))
    folder.mkdir(parents=True)
    campaign.journal.append(folder / campaign.OUTCOMES, [campaign._record(one)] * 3)
    assert campaign.keep(tmp_path) == kept
    first = kept.read_bytes()
    assert campaign.keep(tmp_path).read_bytes() == kept.read_bytes() == first
    # A fresh clone of another host: its own plays, and those.
    shutil.copy(kept, kept.with_name("another.jsonl.gz"))
    shutil.rmtree(folder)
    folder.mkdir(parents=True)
    said: list[str] = []
    for _ in range(2):
        content = campaign.run(tmp_path, 0, said.append)
        assert (content["plays"], content["plays_from_elsewhere"]) == (6, 3)
        assert content["artefacts"]["bimodal"]["runs"]["provoked"] == 6
    own, others = said[0].split(": ")
    assert own.endswith(folder.name)
    assert others == "3 plays so far, 3 on other hosts or at earlier versions"
    # What others played is read only.
    assert list(campaign.read(folder / campaign.OUTCOMES)) == [one] * 3
    # At another version of the detector all of that is of an earlier one, and says nothing of it.
    deciding["benchbook/detect/detectors/bimodal.py"] = "2"
    campaign._places(tmp_path)[0].mkdir(parents=True)
    content = campaign.run(tmp_path, 0, said.append)
    assert content["plays"] == content["plays_from_elsewhere"]
    assert content["artefacts"]["bimodal"]["runs"]["provoked"] == 0


def test_no_replay_is_done_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds make replays, and lines of another version may be missing in between."""
    monkeypatch.setattr(campaign, "_lab", lambda root, folder: ROOT)
    monkeypatch.setattr(Tally, "next", lambda self: Candidate("controls/state-flip", REPLAYED))
    folder, _ = campaign._places(tmp_path)
    folder.mkdir(parents=True)
    before = replace(line("controls/bimodal"), seed=5000)
    campaign.journal.append(folder / campaign.OUTCOMES, [campaign._record(before)])
    seeds: list[int] = []

    def played(lab: Path, folder: Path, candidate: Candidate, seed: int) -> Line:
        seeds.append(seed)
        if len(seeds) == 3:
            monkeypatch.setattr(Tally, "next", lambda self: None)
        return replace(before, seed=seed)

    monkeypatch.setattr(campaign, "play", played)
    campaign.run(tmp_path, 60, lambda text: None)
    assert seeds == [5001, 5002, 5003]


def test_all_that_a_play_loads_decides(tmp_path: Path) -> None:
    """Else an edit there could change what is said, and the count would go on."""
    code = (
        "import json, sys\nfrom pathlib import Path\nfrom benchbook.controls import campaign\n"
        "from benchbook.controls.campaign_counts import REPLAYED, Candidate\n"
        "lab, folder = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "campaign.play(lab, folder, Candidate('controls/state-flip', REPLAYED), 0)\n"
        "files = [getattr(module, '__file__', None) for module in sys.modules.values()]\n"
        "print(json.dumps([file for file in files if file]))\n"
    )
    command = [sys.executable, "-c", code, str(ROOT), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded_files = [Path(name) for name in json.loads(done.stdout)]
    own = [str(file.relative_to(ROOT)) for file in loaded_files if ROOT in file.parents]
    own = [name for name in own if name.startswith("benchbook/")]
    assert "benchbook/controls/score.py" in own
    counting = {name for name in own if name.startswith("benchbook/controls/campaign")}
    counting.add("benchbook/core/import_closure.py")
    assert set(own) - counting <= set(campaign_fingerprint.files(ROOT))


@pytest.mark.parametrize("load", LOADS)
def test_a_load_ends_with_its_block(load: str) -> None:
    with loaded(load, 1):
        running = children()
        assert len(running) == len(LOADS[load])
    assert children() == set()


def children() -> set[str]:
    return {
        pid
        for task in Path("/proc/self/task").iterdir()
        for pid in (task / "children").read_text().split()
        if b"benchbook.controls.background_load" in Path(f"/proc/{pid}/cmdline").read_bytes()
    }
