"""Our way, hyperfine and pyperf side by side (make bench): the arithmetic, the journal of identical
pairs, and what is said where a tool is absent. No timing is asserted."""

from __future__ import annotations

import json
import math
import os
import random
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind

import kernels
from benchbook.commands import bench_pairs, bench_tools
from benchbook.commands.bench_pairs import Compared, NotComparedError, Programs
from benchbook.commands.bench_tools import Trial
from kernels import KERNELS

PAIR = Programs(Path("/bin/true"), 0)
ALIKE, DIFFERENT = Compared(1.0, 0.99, 1.01, 8), Compared(1.02, 1.0099, 1.0302, 8)


def test_a_comparison_says_whether_it_holds_the_truth() -> None:
    assert DIFFERENT.holds(1.03)
    assert not DIFFERENT.holds(1.0)
    assert Compared(1.0, 0.0, math.inf, 3).half_width == math.inf


def trial(low: float, high: float, truth: float = 1.0) -> Trial:
    return Trial("a tool", truth, 0, 5.0, 2.0, (low + high) / 2, low, high, 8)


@pytest.mark.parametrize(
    ("made", "is_false", "shows", "covers"),
    [
        (trial(0.99, 1.01), False, False, True),
        (trial(1.001, 1.01), True, False, False),
        (trial(0.98, 0.99), True, False, False),
        (trial(1.02, 1.04, 1.03), False, True, True),
        (trial(1.02, 1.0295, 1.03), False, True, True),  # loading the program is in both
        (trial(1.001, 1.01, 1.03), False, True, False),
        (trial(0.95, 0.99, 1.03), True, False, False),
    ],
)
def test_what_is_false_shown_and_covered(
    made: Trial, is_false: bool, shows: bool, covers: bool
) -> None:
    assert (made.is_false, made.shows, made.covers) == (is_false, shows, covers)


def test_trials_of_all_tools_add_up_over_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(*_: object) -> Compared:
        raise NotComparedError("it is absent")

    tools = {"ours": lambda *_: DIFFERENT, "theirs": absent}
    monkeypatch.setattr(bench_tools, "TOOLS", tools)
    monkeypatch.setattr(bench_tools, "programs", lambda root: PAIR)
    monkeypatch.setattr(bench_tools, "busy", lambda count: nullcontext())
    monkeypatch.setattr(bench_tools, "measuring_lock", lambda *_: nullcontext())
    for calls in (1, 2):
        clock = iter((0, 0, 9))
        monkeypatch.setattr(bench_tools.time, "monotonic", lambda clock=clock: next(clock))
        rows = dict(bench_tools.side_by_side(tmp_path, 5))
        assert len(rows) == 8
        same = rows["same work, nothing else of ours, 5 s: ours"]
        assert same.startswith(f"{calls} trials: {calls} false, 0 cover; ± 1.00% (median); load ")
        more = rows["3% more work, next to 4 busy processes, 5 s: ours"]
        assert more.startswith(f"{calls} trials: 0 false, {calls} show it, {calls} cover;")
        assert rows["same work, nothing else of ours, 5 s: theirs"].endswith("it is absent")


def test_welch_ends_where_the_test_of_the_means_does() -> None:
    """Of logs of means: for small spreads that of the times themselves."""
    dice = np.random.default_rng(1)
    first, second = dice.normal(1, 1e-3, 12), dice.normal(1.01, 2e-3, 9)
    made = bench_pairs.welch(first, second)
    theirs = ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    assert made.ratio == pytest.approx(second.mean() / first.mean())
    assert [made.low - 1, made.high - 1] == pytest.approx(list(theirs), rel=0.02)
    same = bench_pairs.welch(np.ones(3), np.full(3, 2.0))
    assert (same.low, same.high) == (2.0, 2.0)


def test_what_is_not_built_is_not_compared(tmp_path: Path) -> None:
    with pytest.raises(NotComparedError, match="is not built; run `snakemake"):
        bench_pairs.programs(tmp_path)
    ((_, said),) = bench_pairs.identical(tmp_path, 0.0)
    assert said.startswith("not measurable here: our kernel is not built")


@pytest.mark.parametrize("name", ["hyperfine", "pyperf"])
def test_an_absent_tool_is_said_with_what_to_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_pairs.shutil, "which", lambda name: None)
    with pytest.raises(NotComparedError, match=f"{name} is not on PATH; .*install"):
        bench_pairs.TOOLS[name](PAIR, (1, 1), 0.0, random.Random(1))


HYPERFINE = {"results": [{"times": [1.0, 1.1, 0.9]}, {"times": [2.0, 2.2, 1.8]}]}
PYPERF = {"benchmarks": [{"runs": [{"warmups": [[1, 9.0]]}, {"values": [1.0]}, {"values": [1.1]}]}]}


@pytest.mark.parametrize(
    ("name", "output", "ratio", "runs"),
    [("hyperfine", HYPERFINE, 2.0, 3), ("pyperf", PYPERF, 1.0, 2)],
)
def test_a_tool_is_asked_for_its_times(
    name: str,
    output: dict,
    ratio: float,
    runs: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A program of that name that writes the tool's JSON."""
    tool = tmp_path / name
    (tmp_path / "times.json").write_text(json.dumps(output), encoding="utf-8")
    tool.write_text(
        "#!/bin/sh\nfor word; do case $word in --output=*|--export-json=*)"
        f" cp {tmp_path}/times.json ${{word#*=}};; esac; done\n",
        encoding="utf-8",
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(bench_pairs, "_commands", lambda *_: [["true"], ["true"]])
    cpu = min(os.sched_getaffinity(0))
    made = bench_pairs.TOOLS[name](Programs(Path("/bin/true"), cpu), (1, 1), 0.01, random.Random(1))
    assert (made.ratio, made.runs) == (pytest.approx(ratio), runs)


def test_a_tool_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "hyperfine"
    tool.write_text("#!/bin/sh\necho no such option >&2; exit 3\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(bench_pairs, "_commands", lambda *_: [["true"], ["true"]])
    cpu = min(os.sched_getaffinity(0))
    with pytest.raises(NotComparedError, match="hyperfine ended: no such option"):
        bench_pairs.hyperfine(Programs(Path("/bin/true"), cpu), (1, 1), 0.01, random.Random(1))


def test_identical_pairs_add_up_over_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = iter([ALIKE, DIFFERENT, ALIKE, ALIKE])
    monkeypatch.setattr(bench_pairs, "programs", lambda root: PAIR)
    monkeypatch.setattr(bench_pairs, "busy", lambda count: nullcontext())
    monkeypatch.setattr(bench_pairs, "ours", lambda *_: next(made))
    monkeypatch.setattr(bench_pairs, "measuring_lock", lambda *_: nullcontext())
    clock = iter(range(100))
    monkeypatch.setattr(bench_pairs.time, "monotonic", lambda: next(clock))
    ((what, said),) = bench_pairs.identical(tmp_path, 3)
    assert "identical programs, 5 s a pair, next to 4 busy processes" in what
    assert said == "2 of 1,000 pairs, called different 50.0%, median half-width 1.00%"
    ((_, said),) = bench_pairs.identical(tmp_path, 3)
    assert said == "4 of 1,000 pairs, called different 25.0%, median half-width 1.00%"
    journal = tmp_path / bench_pairs.JOURNAL
    otherwise = json.loads(journal.read_text(encoding="utf-8").splitlines()[0]) | {"pair_s": 1.0}
    journal.write_text(json.dumps(otherwise) + "\n", encoding="utf-8")
    assert bench_pairs.in_words(bench_pairs.read_pairs(journal)) == "no pair yet"


def test_two_programs_of_ours_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real kernel in the fewest starts; what comes out is the machine's say."""
    for name, number in (("BYTES", 4096), ("SAMPLES", 4), ("TURNS", 2)):
        monkeypatch.setattr(bench_pairs, name, number)
    built = tmp_path / bench_pairs.BUILT
    built.mkdir(parents=True)
    kernels.build(built / "mbw", *sorted((KERNELS / "mbw").glob("*.c")))
    about = {"version": 1, "state": "ok", "binary": {"file": "mbw"}}
    (built / "variant.json").write_text(json.dumps(about), encoding="utf-8")
    with bench_pairs.busy(1):
        made = bench_pairs.ours(bench_pairs.programs(tmp_path), (1, 2), 0.0, random.Random(1))
    assert made.runs == bench_pairs.LEAST_STARTS
    assert 0 < made.low <= made.ratio <= made.high
