"""`benchbook history --confirm`: steps whose truth is known, measured again. Only ratios of times
are asserted."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from conftest import ROOT
from typer.testing import CliRunner

from benchbook.ab.answer import Interval
from benchbook.ab.condition import FAILED
from benchbook.ab.programs import Metric
from benchbook.ab.revisions import RevisionPair
from benchbook.commands import history as command
from benchbook.commands.app import app
from benchbook.compare.differing import Difference
from benchbook.core.errors import BenchbookError
from benchbook.define.points import Point
from benchbook.define.settings import load_settings
from benchbook.history import confirm as confirm_module
from benchbook.history.confirm import LEAST_S, confirmed
from benchbook.history.confirmation import Confirmation, Job, Outcome, outcome_of
from benchbook.history.paired_starts import ARMS, Rounds
from benchbook.history.series import AB, RUNS, Entry, FoundStep, Series, history
from benchbook.history.steps import Step
from benchbook.host.facts import host_id
from benchbook.measure.starter import Starter
from benchbook.report import history_sentences
from kernels import build

HOST = "here"
EXPERIMENT = "adder"
BUDGET_S = 40.0  # at most; a step of 10 % is decided at the first look on a quiet machine
STEP = Step(4, 1.1, 1.09, 1.11)
FASTER = Step(4, 1 / 1.1, 0.9, 0.92)
# Adds numbers in a chain, WORK of them; `PADDED` makes another binary of the same work.
KERNEL = r"""
#include "bench.h"
static const struct bench_key keys[] = {{.name = "width"}, {0}};
static const struct bench_method methods[] = {{.name = "add", .keys = 1}, {.name = "fail"}, {0}};
static uint64_t total;
#ifdef PADDED
const char padded[] = "the same work in another file";
#endif
BENCH_TIMED static void timed_add(const void *state) {
    for (uint64_t i = 0; i < WORK; i++) {
        total = total * 3 + (uint64_t)(uintptr_t)state + i;
        __asm__ volatile("" : "+r"(total));
    }
}
static struct bench_task prepare(const struct bench_point *point) {
    return (struct bench_task){.timed = timed_add, .state = point, .bytes_declared = 8};
}
static void check(const struct bench_point *point, struct bench_report *report) {
    bench_observe_count(report, "total", total);
    if (point->method == 1) {
        bench_fail(report, "this method fails");
    }
}
const struct bench_kernel bench_kernel = {.name = "adder", .question = "How fast does it add?",
    .keys = keys, .methods = methods, .prepare = prepare, .check = check};
"""
DEFINITION = """
version: 1
question: How fast does it add?
sources: [adder.c]
factors:
  method: {text: "what is timed"}
  width: {text: "of no effect"}
starts: []
definitions: {add: "it adds", fail: "it fails"}
buffers: 0
settings: {turns: 8}
base: gcc-O2
variants:
  gcc-O2: {compiler: gcc, flags: [-O2]}
paper_samples: 10
points: {tiny: [], quick: [], paper: []}
"""
WORK = 100_000
POINTS = [Point("gcc-O2", {"method": "add", "width": width}) for width in (1, 2)]
FAILS = Point("gcc-O2", {"method": "fail"})


@pytest.fixture(autouse=True)
def own_lock(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for no measurement of another test."""
    monkeypatch.setenv("BENCHBOOK_LOCK_DIR", str(tmp_path_factory.mktemp("lock")))


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same kernel three times: as it is, with 10 % more work, and in another file."""
    folder = tmp_path_factory.mktemp("adder")
    made = {}
    for name, work, more in (
        ("plain", WORK, ""),
        ("more", WORK * 11 // 10, ""),
        ("padded", WORK, "#define PADDED\n"),
    ):
        source = folder / name / "adder.c"
        source.parent.mkdir()
        source.write_text(f"#define WORK {work}\n{more}{KERNEL}")
        made[name] = build(source.with_suffix(""), source)
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with the experiment, where nothing is built."""
    definition = tmp_path / "lab" / "kernels" / EXPERIMENT / "experiment.yaml"
    definition.parent.mkdir(parents=True)
    definition.write_text(DEFINITION)
    return tmp_path / "lab"


def digest(binary: Path) -> str:
    return hashlib.sha256(binary.read_bytes()).hexdigest()


def built(root: Path, binary: Path) -> Path:
    """Where the build stage keeps it."""
    place = root / "build" / EXPERIMENT / "gcc-O2" / digest(binary)[:16]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(binary.read_bytes())
    place.chmod(0o755)
    return place


def run_of(root: Path, name: str, sha256: str, **changed: Any) -> Entry:
    """A run of which plan and pilot are there."""
    folder = root / RUNS / HOST / EXPERIMENT / name
    folder.mkdir(parents=True)
    points = [*POINTS, FAILS]
    plan = {
        "version": 1,
        "experiment": EXPERIMENT,
        "host": HOST,
        "points": [point.record() for point in points],
        "binaries": {"gcc-O2~": {"file": sha256[:16], "sha256": sha256}},
        "cpus": [0],
        "sizes": {},
        # With one of an experiment's own, beyond what config/ allows.
        "settings": load_settings(ROOT, {"preset": "tiny", "turns": 8}).as_written()
        | {"sample_least_ns": 1},
        "paper_samples": 10,
        "buffers": 0,
        "benchbook": {"commit": "0123456789ab"},
    }
    (folder / "plan.json").write_text(json.dumps(plan | changed))
    numbers = {point.id: {"loops": 1, "samples": 16, "warmup": 2} for point in points}
    pilot = {"version": 1, "kind": "pilot", "points": numbers, "failed": {}}
    pilot |= {"block_ns": 1, "wall_ns": 1}
    (folder / "journal.jsonl").write_text(f"{json.dumps(pilot)}\n")
    return Entry(name, 1.0, 8, {})


def series_of(
    before: Entry, after: Entry, points: Sequence[Point] = POINTS[:1], step: Step = STEP
) -> list[Series]:
    changes = [Difference("software", "microcode", "0x1", "0x2")]
    found = FoundStep(step, before, after, changes)
    return [Series(point.id, "ns", [before] * 4 + [after] * 4, [found]) for point in points]


def between(root: Path, before: Path, after: Path, **ways: Any) -> list[Series]:
    """A series with a step between two runs of these binaries."""
    runs = [
        run_of(root, f"run-{side}", digest(binary)) for side, binary in enumerate((before, after))
    ]
    return series_of(runs[0], runs[1], **ways)


def outcomes(root: Path, series: list[Series], budget_s: float = BUDGET_S) -> list[Confirmation]:
    """Of the first step of each series."""
    made = confirmed(root, HOST, EXPERIMENT, series, budget_s, print)
    return [confirmation_of(item) for item in made]


def confirmation_of(item: Series) -> Confirmation:
    (found,) = item.steps
    assert found.confirmation is not None
    return found.confirmation


def asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, series: list[Series], *words: str
) -> tuple[int, str]:
    """`benchbook history` of these series: exit status and output."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(command, "history", lambda *_: series)
    monkeypatch.setattr(command.facts, "host_id", lambda _: HOST)
    done = CliRunner().invoke(app, ["history", EXPERIMENT, *words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


@pytest.mark.parametrize(
    ("step", "low", "high", "outcome"),
    [
        (STEP, 1.09, 1.11, Outcome.CONFIRMED),
        (STEP, 1.001, 1.2, Outcome.CONFIRMED),
        (STEP, 1.05, 1.07, Outcome.CONFIRMED),  # most of the step
        (STEP, 1.001, 1.01, Outcome.REFUTED),  # a difference, which is not this step
        (STEP, 0.99, 1.01, Outcome.REFUTED),
        (STEP, 0.9, 0.95, Outcome.REFUTED),
        (STEP, 0.99, 1.09, Outcome.UNDECIDED),
        (STEP, 0.0, math.inf, Outcome.UNDECIDED),
        (FASTER, 0.9, 0.92, Outcome.CONFIRMED),
        (FASTER, 0.99, 1.01, Outcome.REFUTED),
        (FASTER, 1.05, 1.2, Outcome.REFUTED),
        (FASTER, 0.92, 1.01, Outcome.UNDECIDED),
        (FASTER, 0.0, math.inf, Outcome.UNDECIDED),
    ],
)
def test_what_an_interval_shows_of_a_step(
    step: Step, low: float, high: float, outcome: Outcome
) -> None:
    ratio = math.sqrt(max(low, 1e-9) * min(high, 1e9))
    assert outcome_of(step, Interval(ratio, low, high)) == outcome


def is_near(truth: float, shown: dict[str, float]) -> bool:
    """Whether the interval comes within 3 % of the truth; one of 20 does not hold it."""
    return shown["low"] < truth * 1.03 and truth / 1.03 < shown["high"]


def test_more_work_is_confirmed_and_raises_the_alarm(
    root: Path, binaries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = binaries["plain"], binaries["more"]
    for binary in (before, after):
        built(root, binary)
    series = between(root, before, after, points=POINTS)
    words = ("--confirm", f"--budget={BUDGET_S}", "--html=page.html", "--json")
    status, printed = asked(root, monkeypatch, series, *words)
    steps = [item["steps"][0] for item in json.loads(printed)["items"]]
    assert [step["confirmed"] for step in steps] == [True, True]
    shown = steps[0]["confirmation"]
    assert shown["outcome"] == "confirmed"
    assert is_near(1.1, shown["after_over_before"])
    assert is_near(1, shown["before_over_itself"])
    assert shown["rounds"] >= 8
    assert status == FAILED
    page = (root / "page.html").read_text()
    assert "Alarm: 2 confirmed steps to slower." in page
    assert "Confirmed: measured next to each other now, after takes 1." in page


def test_less_work_is_confirmed_and_no_alarm(
    root: Path, binaries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = binaries["more"], binaries["plain"]
    for binary in (before, after):
        built(root, binary)
    series = between(root, before, after, step=FASTER)
    status, printed = asked(root, monkeypatch, series, "--confirm", f"--budget={BUDGET_S}")
    assert "Confirmed: measured next to each other now, after takes 0.9" in printed
    assert "next to each other: 1 of 1 step." in printed
    assert "Alarm" not in printed
    assert status == 0


def test_same_work_in_another_file_is_refuted(
    root: Path, binaries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = binaries["plain"], binaries["padded"]
    assert digest(before) != digest(after)
    for binary in (before, after):
        built(root, binary)
    series = between(root, before, after)
    status, printed = asked(root, monkeypatch, series, "--confirm", f"--budget={BUDGET_S}")
    assert "Not confirmed: measured next to each other now, after takes" in printed
    assert "next to each other: 0 of 1 step." in printed
    assert status == 0


def test_a_point_that_fails_does_not_keep_others_from_being_measured(
    root: Path, binaries: dict[str, Path]
) -> None:
    before, after = binaries["plain"], binaries["more"]
    for binary in (before, after):
        built(root, binary)
    series = between(root, before, after, points=[FAILS, POINTS[0]])
    first, second = outcomes(root, series)
    assert first.outcome == Outcome.CANNOT_RUN
    assert "this method fails" in first.about["reason"]
    assert second.outcome == Outcome.CONFIRMED


def test_the_same_program_is_not_measured(
    root: Path, binaries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    series = between(root, binaries["plain"], binaries["plain"])  # built nowhere
    status, printed = asked(root, monkeypatch, series, "--confirm")
    assert "not confirmed: the same program; what changed is microcode 0x1 → 0x2." in printed
    assert status == 0
    unchanged = [
        replace(item, steps=[replace(found, changes=[]) for found in item.steps]) for item in series
    ]
    _, printed = asked(root, monkeypatch, unchanged, "--confirm", "--json")
    (step,) = json.loads(printed)["items"][0]["steps"]
    assert step["confirmed"] is False
    assert step["confirmation"]["outcome"] == "same_program"
    assert "nothing else that is recorded changed" in step["confirmation"]["reason"]


def test_a_binary_that_is_gone_is_named_with_what_brings_it_back(
    root: Path, binaries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = binaries["plain"], binaries["more"]
    built(root, after)
    series = between(root, before, after)
    status, printed = asked(root, monkeypatch, series, "--confirm")
    assert f"build/adder/gcc-O2/{digest(before)[:16]} of run run-0 is gone." in printed
    assert "`git checkout 0123456789ab`, then `benchbook build build/adder/gcc-O2/var" in printed
    assert status == 0


def test_another_file_in_its_place_is_not_started(root: Path, binaries: dict[str, Path]) -> None:
    before, after = binaries["plain"], binaries["more"]
    built(root, after)
    built(root, before).write_bytes(b"#!/bin/sh\nexit 1\n")
    series = between(root, before, after)
    (shown,) = outcomes(root, series)
    assert shown.outcome == Outcome.BINARY_CHANGED


def test_a_program_that_does_not_start_says_why(root: Path, tmp_path: Path) -> None:
    scripts = []
    for name in ("one", "two"):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\necho {name} is broken >&2\nexit 3\n")
        scripts.append(script)
        built(root, script)
    (shown,) = outcomes(root, between(root, *scripts), 5)
    assert shown.outcome == Outcome.CANNOT_RUN
    assert "is broken" in shown.about["reason"]


def test_unhappy_runs(root: Path, binaries: dict[str, Path]) -> None:
    """A point that this host cannot run, a plan that lacks the binary, a run that is gone."""
    before, after = binaries["plain"], binaries["more"]
    for binary in (before, after):
        built(root, binary)
    wide = Point("gcc-O2", {"method": "add", "threads": 100_000})
    runs = [
        run_of(root, f"run-{side}", digest(binary), points=[wide.record()])
        for side, binary in enumerate((before, after))
    ]
    (shown,) = outcomes(root, series_of(*runs, points=[wide]))
    assert (shown.outcome, "needs 100000 CPUs" in shown.about["reason"]) == (
        Outcome.CANNOT_RUN,
        True,
    )
    bare = run_of(root, "bare", digest(after), binaries={})
    (shown,) = outcomes(root, series_of(bare, runs[1], points=[wide]))
    assert shown.outcome == Outcome.CANNOT_RUN
    lost = Entry("lost", 1.0, 8, {})
    (shown,) = outcomes(root, series_of(lost, runs[1], points=[wide]))
    assert "lost" in shown.about["reason"]


def test_too_few_seconds_for_the_fewest_rounds(root: Path, binaries: dict[str, Path]) -> None:
    before, after = binaries["plain"], binaries["more"]
    for binary in (before, after):
        built(root, binary)
    (shown,) = outcomes(root, between(root, before, after), 0.001)
    assert shown.outcome == Outcome.TOO_LONG
    assert shown.about["seconds"] > 0


def test_a_program_that_hangs_does_not_take_more_than_the_budget(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = []
    for name in ("one", "two"):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\nexec sleep 60 # {name}\n")
        scripts.append(script)
        built(root, script)
    settings = load_settings(ROOT, {"preset": "tiny", "turns": 8, "time_limit_s": 0.5})
    runs = [
        run_of(root, name, digest(script), settings=settings.as_written())
        for name, script in zip(("a", "b"), scripts, strict=True)
    ]
    shown = outcomes(root, series_of(*runs, points=POINTS), 0.1)
    # Each start hangs in the point that is first there, by chance.
    reasons = [item.about["reason"] for item in shown if item.outcome == Outcome.CANNOT_RUN]
    assert reasons
    assert all("did not end within its time limit" in reason for reason in reasons)
    left_out = [item for item in shown if item.outcome == Outcome.NO_TIME]
    assert len(left_out) == len(POINTS) - len(reasons)


@pytest.mark.parametrize(("usual_ns", "turns"), [(1e5, 1), (5e6, 2), (1e9, 8)])
def test_a_turn_is_long_enough_for_caches_that_others_took(
    usual_ns: float, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(ROOT, {"preset": "tiny", "turns": 8})
    points = {arm: [replace(POINTS[0], twin=arm)] for arm in ARMS}
    counts = {"loops": 1, "samples": 16, "warmup": 2}
    times_ns = {arm: {"point": usual_ns} for arm in ARMS}
    monkeypatch.setattr(Rounds, "_times_ns", lambda _: times_ns)
    starter = SimpleNamespace(plan=SimpleNamespace(settings=settings))
    numbers = {own[0].id: counts for own in points.values()}
    rounds = Rounds(cast(Starter, starter), ["point"], points, numbers)
    rounds.try_out(BUDGET_S)
    assert rounds.turns == turns


def job(number: int, size: float, tried: list[tuple[int, float]]) -> Job:
    def measured(budget_s: float, lock: int) -> dict[tuple[int, int], Confirmation]:
        tried.append((number, budget_s))
        return {(number, 0): Confirmation(Outcome.REFUTED)}

    return Job([(number, 0)], size, measured)


def test_the_largest_steps_come_first_until_the_time_is_spent() -> None:
    tried: list[tuple[int, float]] = []
    jobs = [job(number, size, tried) for number, size in enumerate((0.1, 0.3, 0.2))]
    made = confirm_module._measured(jobs, 30.0, 0)
    assert [number for number, _ in tried] == [1, 2, 0]
    assert tried[0][1] == pytest.approx(10, abs=1)
    assert tried[2][1] == pytest.approx(30, abs=1)  # what the others did not need
    assert {shown.outcome for shown in made.values()} == {Outcome.REFUTED}
    tried.clear()
    made = confirm_module._measured(jobs, LEAST_S / 2, 0)
    assert [number for number, _ in tried] == [1]
    assert [made[number, 0].outcome for number in range(3)] == [
        Outcome.NO_TIME,
        Outcome.REFUTED,
        Outcome.NO_TIME,
    ]


@pytest.mark.parametrize("outcome", Outcome)
def test_each_outcome_has_a_sentence(outcome: Outcome) -> None:
    about = dict.fromkeys(
        ("file", "run", "commit", "variant", "reason", "before", "after"), "a/b"
    ) | {"seconds": 90.0}
    for high in (1.2, math.inf):
        interval = Interval(1.1, 1.05, high)
        shown = Confirmation(outcome, interval, interval, 8, about)
        (series,) = series_of(Entry("a", 1, 8, {}), Entry("b", 1, 8, {}))
        made = replace(series, steps=[replace(series.steps[0], confirmation=shown)])
        text = history_sentences.step(made.steps[0])
        assert text.endswith(".")
        is_confirmed = outcome == Outcome.CONFIRMED
        content = history_sentences.as_json("a", [made])["items"][0]["steps"][0]
        expected = {Outcome.UNDECIDED: None}.get(outcome, is_confirmed)
        assert content["confirmed"] is expected
        assert content["confirmation"]["reason"] in text
        assert ("confirmed" in text.lower()) or outcome == Outcome.UNDECIDED


def test_budget_needs_confirm(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BenchbookError, match="add --confirm"):
        asked(root, monkeypatch, [], "--budget", "5")


# Of `ab:NAME`: commits of a repository, whose program prints a figure.
PROGRAM = "import os\nprint('took', {} * (1 + os.urandom(1)[0] / 25500), 's')\n"


def git(folder: Path, *words: str) -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *names, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, list[str]]:
    """Three commits: the third prints a figure that is 20 % larger than that of the others."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    commits = []
    for number, figure in enumerate((1.0, 1.0, 1.2)):
        (folder / "program.py").write_text(PROGRAM.format(figure) + f"# {number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", str(number))
        commits.append(git(folder, "rev-parse", "HEAD"))
    return folder, commits


def kept(run: str, *commits: str, build: str = "", command: str = "program.py") -> Entry:
    pair = None
    if commits:
        pair = RevisionPair((commits[0], commits[1]), build, (sys.executable, "-S", command))
    return Entry(run, 1.0, 9, {}, pair, Metric(r"took (\S+) s"))


def of_kept(folder: Path, before: Entry, after: Entry, step: Step = STEP) -> Confirmation:
    found = FoundStep(step, before, after, [])
    series = [Series(f"{AB}mine", "times as long", [before, after], [found])]
    (made,) = confirmed(folder, HOST, f"{AB}mine", series, 10.0, print)
    return confirmation_of(made)


def test_commits_before_and_after_are_compared(repository: tuple[Path, list[str]]) -> None:
    folder, (first, second, third) = repository
    step = Step(4, 1.2, 1.19, 1.21)
    shown = of_kept(folder, kept("a", first, second), kept("b", first, third), step)
    assert shown.outcome == Outcome.CONFIRMED
    assert shown.factor is not None
    assert shown.factor.low < 1.2 < shown.factor.high
    shown = of_kept(folder, kept("a", third, first), kept("b", third, second), step)
    assert shown.outcome == Outcome.REFUTED


def test_what_is_missing_for_commits_to_be_compared(repository: tuple[Path, list[str]]) -> None:
    folder, (first, second, third) = repository
    before, after = kept("a", first, second), kept("b", first, third)
    for pair, outcome in (
        ((kept("a"), after), Outcome.NO_COMMITS),
        ((before, before), Outcome.SAME_PROGRAM),
        ((before, kept("b", second, third)), Outcome.REFERENCE_CHANGED),
        ((before, kept("b", first, third, build="make")), Outcome.COMMAND_CHANGED),
    ):
        assert of_kept(folder, *pair).outcome == outcome
    shown = of_kept(folder, before, kept("b", first, "0" * 40))
    assert "no such commit" in shown.about["reason"]
    failing = [kept("a", first, second, build="exit 7"), kept("b", first, third, build="exit 7")]
    shown = of_kept(folder, *failing)
    assert (shown.outcome, "exit 7 failed" in shown.about["reason"]) == (Outcome.CANNOT_RUN, True)


def test_ab_keeps_what_it_takes_to_compare_again(repository: tuple[Path, list[str]]) -> None:
    folder, commits = repository
    words = ["--metric", r"took (\S+) s", "--keep", "mine", "--budget", "2", "--build", "true"]
    revisions = ["--rev", "HEAD~2", "--rev", "HEAD"]
    subprocess.run(
        [
            sys.executable,
            "-m",
            "benchbook",
            "ab",
            *words,
            *revisions,
            "--",
            "python3",
            "program.py",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    line = json.loads((folder / "data" / "ab" / "mine.jsonl").read_text())
    (series,) = history(folder, host_id(line["facts"]), "ab:mine")
    (entry,) = series.entries
    expected = RevisionPair((commits[0], commits[2]), "true", ("python3", "program.py"))
    assert entry.revisions == expected
    assert entry.metric == Metric(r"took (\S+) s")
    line["revisions"] = {"commits": 5}
    (folder / "data" / "ab" / "mine.jsonl").write_text(f"{json.dumps(line)}\n")
    with pytest.raises(BenchbookError, match="line 1 is damaged"):
        history(folder, host_id(line["facts"]), "ab:mine")
