"""`benchbook history`: series of runs, their steps, and what else changed there."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchbook.core.errors import BenchbookError
from benchbook.history import series as series_module
from benchbook.history.series import Entry, Series, history
from benchbook.history.steps import CERTAIN, LEAST_AFTER, LEAST_RUNS, WORTH_MEASURING, steps
from benchbook.host.facts import host_id
from benchbook.report import history_page, history_sentences, measurements

STEP = 0.03
KINDS = ("plain", "states", "lasting states", "drift", "outliers", "outliers at the end")


def made_up(kind: str, runs: int, dice: np.random.Generator, at: int | None = None) -> Any:
    """Times of runs with 1 % of noise, and what machines do: with a step of STEP at run `at`."""
    logs = dice.normal(0, 0.01, runs)
    match kind:
        case "states":
            logs += (dice.random(runs) < 0.3) * math.log(1.5)
        case "lasting states":
            logs += np.cumsum(dice.random(runs) < 0.1) % 2 * math.log(1.5)
        case "drift":
            logs += np.linspace(0, 0.1 * dice.uniform(-1, 1), runs)
        case "outliers":
            logs += (dice.random(runs) < 0.05) * 0.2
        case "outliers at the end":
            logs[-2:] += 0.2
    if at is not None:
        logs[at:] += math.log(1 + STEP)
    return 1e6 * np.exp(logs)


def false_alarms(kind: str, series: int, seed: int) -> int:
    """Steps seen in that many series of 100 runs without one."""
    dice = np.random.default_rng(seed)
    return sum(len(steps(made_up(kind, 100, dice))) for _ in range(series))


def found_after(kind: str, more: int, certainty: float, series: int, seed: int) -> float:
    """In what share of series a step of STEP at run 60 is seen when `more` runs have followed."""
    dice = np.random.default_rng(seed)
    seen = [steps(made_up(kind, 60 + more, dice, 60), certainty) for _ in range(series)]
    return sum(any(abs(step.at - 60) <= 2 for step in found) for found in seen) / series


@pytest.mark.parametrize("kind", KINDS)
def test_few_false_alarms(kind: str) -> None:
    assert false_alarms(kind, 10, 1) <= 1  # of 1,000 runs


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_false_alarms_and_steps_by_simulation(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alarms = false_alarms(kind, 300, 2)
    measured = found_after(kind, 5, WORTH_MEASURING, 300, 3)
    seen = [found_after(kind, more, CERTAIN, 300, 3) for more in (5, 10)]
    with capsys.disabled():
        print(f"\n{kind}: {alarms} steps seen in 30,000 runs without one. A step of {STEP:.0%} is")
        print(
            f"seen after 5 runs in {seen[0]:.0%}, after 10 in {seen[1]:.0%}; `--confirm` measures"
        )
        print(f"it after 5 in {measured:.0%}")
    assert alarms <= 30
    assert seen[1] >= (0.75 if kind == "drift" else 0.8)
    assert measured >= (0.65 if kind == "drift" else 0.85)


def test_a_step_is_found_with_its_size() -> None:
    (step,) = steps(made_up("plain", 80, np.random.default_rng(4), 60))
    assert abs(step.at - 60) <= 2
    assert step.low < 1 + STEP < step.high
    assert step.low > 1


def test_a_large_step_is_found_in_few_runs() -> None:
    values = [1.0, 1.0, 1.001, 0.999, 1.33, 1.33, 1.331, 1.329, 1.33]
    (step,) = steps(values)
    assert step.at == 4
    assert step.ratio == pytest.approx(1.33, rel=0.01)


def test_the_last_runs_alone_are_no_step() -> None:
    dice = np.random.default_rng(5)
    for more in range(1, LEAST_AFTER):
        values = made_up("plain", 40 + more, dice)
        values[-more:] *= 1.5
        assert steps(values) == []


def test_few_runs_have_no_step() -> None:
    values = np.ones(LEAST_RUNS - 1)
    values[4:] = 2
    assert steps(values) == []


HOST = host_id({})


def facts(**changed: str) -> dict[str, Any]:
    return {"kernel_release": "6.1", "microcode": "0x1", "governors": None} | changed


def test_what_else_changed_stands_at_the_step() -> None:
    values = made_up("plain", 60, np.random.default_rng(6), 40)
    entries = [
        Entry(f"run-{number}", value, 8, facts(microcode="0x2") if number >= 40 else facts())
        for number, value in enumerate(values)
    ]
    made = Series("copy", "ns", entries, series_module._steps(entries, CERTAIN))
    (found,) = made.steps
    text = history_sentences.as_text("mbw", [made])
    assert "1 measurement in 60 runs" in text
    assert f"slower from run {found.after.run} on" in text
    if found.step.at == 40:
        assert "microcode 0x1 → 0x2" in text
    assert "seen, not confirmed" in text
    content = history_sentences.as_json("mbw", [made])
    assert content["items"][0]["steps"][0]["confirmed"] is False
    assert len(content["items"][0]["runs"]) == 60


def kept(root: Path, name: str, ratios: list[float]) -> Path:
    path = root / "data" / "ab" / f"{name}.jsonl"
    path.parent.mkdir(parents=True)
    lines = [
        {"at": f"20260101T{number:06}Z", "factor": {"ratio": ratio}, "rounds": [{}] * 9}
        | {"facts": facts(commit="a" if number < 20 else "b")}
        for number, ratio in enumerate(ratios)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_history_of_kept_comparisons(tmp_path: Path) -> None:
    dice = np.random.default_rng(7)
    ratios = np.exp(dice.normal(0, 0.005, 40))
    ratios[20:] *= 1.1
    kept(tmp_path, "mine", ratios.tolist())
    (made,) = history(tmp_path, HOST, "ab:mine")
    (found,) = made.steps
    assert abs(found.step.at - 20) <= 1
    assert (made.unit, len(made.entries)) == ("times as long", 40)


def test_refusals(tmp_path: Path) -> None:
    for subject, words in {
        "ab:absent": "ab:absent has no complete run on this host",
        "absent": "'absent' is no experiment",
    }.items():
        with pytest.raises(BenchbookError, match=words):
            history(tmp_path, "host", subject)
    path = kept(tmp_path, "mine", [1.0] * 9)
    path.write_text(path.read_text() + "5\n")
    with pytest.raises(BenchbookError, match="line 10 is damaged"):
        history(tmp_path, HOST, "ab:mine")


def test_another_hosts_comparisons_are_left_out(tmp_path: Path) -> None:
    path = kept(tmp_path, "mine", [1.0] * 9)
    line = json.loads(path.read_text().splitlines()[0])
    line["facts"]["cpu_model"] = "another"
    path.write_text(path.read_text() + json.dumps(line) + "\n")
    (made,) = history(tmp_path, HOST, "ab:mine")
    assert len(made.entries) == 9


def test_page_has_each_series_with_its_steps(tmp_path: Path) -> None:
    values = made_up("plain", 60, np.random.default_rng(6), 40)
    entries = [Entry(f"run-{number}", value, 8, facts()) for number, value in enumerate(values)]
    flat = [Entry(f"run-{number}", 5.0, 8, facts()) for number in range(60)]
    stepped = Series("copy <i>", "ns", entries, series_module._steps(entries, CERTAIN))
    page = tmp_path / "deep" / "page.html"
    history_page.make_page("mbw", [Series("flat", "ns", flat), stepped], page)
    text = page.read_text()
    assert text.index("<h2>copy &lt;i&gt;</h2>") < text.index("<h2>flat</h2>")
    assert text.count("<svg") == 2
    assert f"Slower from run {stepped.steps[0].after.run} on" in text
    assert "mbw: 2 measurements in 60 runs." in text
    assert "seen, not confirmed" in text
    assert text.count("(step)") == 1


def test_runs_as_measurements_of_other_programs(tmp_path: Path) -> None:
    kept(tmp_path, "mine", [1.0, 1.1])
    made = measurements.of_history("ab:mine", history(tmp_path, HOST, "ab:mine"), HOST)
    assert [item.value for item in made] == [1.0, 1.1]
    assert {item.quantity for item in made} == {measurements.RATIO}
    assert made[1].at_s - made[0].at_s == 1
