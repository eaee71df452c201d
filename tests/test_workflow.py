"""The whole workflow, for real, in checkouts of its own: what is done again and what is not."""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest
from conftest import clean_environment, copy_checkout, in_env, run

FIGURE = "slocum2013-mbw/mbw-b4096-32"


def results_of(checkout: Path, preset: str = "tiny") -> Path:
    (folder,) = (checkout / "results").glob(f"*/{preset}")
    return folder


def stamps(checkout: Path, pattern: str) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(checkout)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in checkout.glob(pattern)
    }


def test_first_make_leaves_pages_and_tables(measured: Path) -> None:
    results = results_of(measured)
    for page in ("index", "slocum2013-mbw", "controls", "machine"):
        assert (measured / "reports" / f"{page}.html").stat().st_size > 2000
    samples = pd.read_parquet(results / "samples.parquet")
    named = {"run", "experiment", "variant", "point", "method", "block", "invocation", "sample"}
    named |= {"t_start_ns", "time_ns", "bytes_declared", "state", "bytes", "call", "block_bytes"}
    assert named <= set(samples.columns)
    assert (samples["time_ns"] > 0).all()
    assert samples["block"].nunique() >= 8
    assert set(samples["state"]) == {"ok"}
    (verdict,) = json.loads((results / "verdicts.json").read_text())["items"]
    assert verdict["verdict"] in {"reproduced", "not_reproduced", "inconclusive"}
    assert verdict["interval"][0] < verdict["estimate"] < verdict["interval"][1]
    findings = json.loads((results / "findings.json").read_text())["items"]
    assert {finding["artefact"] for finding in findings} == {"source-not-advanced"}
    assert {where.split("method=")[1].split(",")[0] for f in findings for where in f["where"]} == {
        "block-1.1.1",
        "block-1.2.2",
    }
    controls = json.loads((results / "controls.json").read_text())["artefacts"]
    seen = controls["source-not-advanced"]
    assert seen["provoked"] == seen["detected"] > 0
    assert seen["nulls"] > 0
    assert seen["false_alarms"] == 0


def test_observations_are_those_of_the_forms(measured: Path) -> None:
    evidence = json.loads((results_of(measured) / "mbw" / "evidence.json").read_text())["items"]
    seen = {
        (row["point"].split("method=")[1].split(",")[0], row["name"]): row["value"]
        for row in evidence
        if row["point"] and "bytes=8388608" in row["point"]
    }
    for form, values in {
        "block-1.2.2": (1 / 2048, 1, 1),
        "block-1.3.0": (1, 1, 2048),
        "copy": (1, 1, 1),
    }.items():
        names = ("work_done_fraction", "destination_written_fraction", "distinct_source_blocks")
        assert tuple(seen[form, name] for name in names) == values


def test_second_make_does_nothing_and_says_so(measured: Path) -> None:
    before = stamps(measured, "data/runs/**/*.json*") | stamps(measured, "reports/*.html")
    again = run(measured, "make", "PRESET=tiny")
    assert again.returncode == 0
    assert "Nothing to be done" in again.stdout
    assert before == stamps(measured, "data/runs/**/*.json*") | stamps(measured, "reports/*.html")


def test_one_paper_can_be_named(measured: Path) -> None:
    done = in_env(measured, "snakemake", "slocum2013-mbw", "--config", "preset=tiny")
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout


def test_changed_flags_rebuild_only_their_variant(measured: Path, tmp_path: Path) -> None:
    before = stamps(measured, "build/**/variant.json")
    definition = measured / "kernels/mbw/experiment.yaml"
    text = definition.read_text()
    try:
        definition.write_text(text.replace("gcc, flags: [-O3]", "gcc, flags: [-O3, -fno-plt]"))
        dry = in_env(measured, "snakemake", "-nq", "host", "--config", "preset=tiny")
        assert dry.returncode == 0
        built = [line for line in dry.stdout.splitlines() if "output: build/" in line]
        assert [line.split("build/")[1] for line in built] == ["mbw/gcc-O3/variant.json"]
    finally:
        definition.write_text(text)
    assert before == stamps(measured, "build/**/variant.json")


def test_comment_rebuilds_the_same_binary_and_measures_nothing(
    measured: Path, tmp_path: Path, journals
) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(measured, checkout, symlinks=True)
    before = journals(checkout)
    hashes = {name: json.loads(text)["binary"] for name, text in _variants(checkout)}
    built = {name: Path(name).stat().st_mtime_ns for name in hashes}
    source = checkout / "kernels/mbw/mbw.c"
    source.write_text("/* A remark that changes nothing. */\n" + source.read_text())
    done = in_env(checkout, "snakemake", "--until", "measure", "--config", "preset=tiny")
    assert done.returncode == 0, done.stdout[-4000:]
    assert done.stdout.count("nothing to measure") == 2
    assert all(Path(name).stat().st_mtime_ns > before for name, before in built.items())
    assert hashes == {name: json.loads(text)["binary"] for name, text in _variants(checkout)}
    assert before == journals(checkout)


def _variants(checkout: Path) -> list[tuple[str, str]]:
    return [(str(path), path.read_text()) for path in checkout.glob("build/mbw/gcc*/variant.json")]


def test_one_figure_alone(measured: Path, journals) -> None:
    before = journals(measured)
    done = in_env(measured, "snakemake", "--config", "preset=tiny", f"figure={FIGURE}")
    assert done.returncode == 0, done.stdout[-4000:]
    page = measured / "reports" / "figures" / f"{FIGURE}.html"
    assert page.exists()
    new = set(journals(measured)) - set(before)
    assert len(new) == 1
    plan = json.loads((measured / new.pop()).with_name("plan.json").read_text())
    methods = {point["factors"]["method"] for point in plan["points"]}
    assert methods == {"copy", "loop", "block-1.1.1"}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("preset=quik", ("preset", "quik", "tiny, quick, paper")),
        ("presett=tiny", ("presett", "unknown", "allowed")),
        ("budget_s=-3", ("budget_s", "-3", "above 0")),
        ("memory_fraction=all", ("memory_fraction", "all", "a number")),
        ("figure=slocum2013-mbw/none", ("slocum2013-mbw/none", "mbw-b4096-32")),
        ("figure=nothing/none", ("nothing", "slocum2013-mbw")),
    ],
)
def test_wrong_configuration_is_one_sentence(
    checkout: Path, setting: str, words: tuple[str, ...]
) -> None:
    done = in_env(checkout, "snakemake", "--config", setting)
    assert done.returncode != 0
    sentence = [line for line in done.stdout.splitlines() if line.startswith("benchbook:")]
    assert len(sentence) == 1, done.stdout
    assert all(word in sentence[0] for word in words), sentence
    assert "Traceback" not in done.stdout
    assert not (checkout / "build").exists()


def test_wrong_local_file_names_the_file(checkout: Path) -> None:
    (checkout / "config" / "local.yaml").write_text("looks: 8\n")
    done = in_env(checkout, "snakemake")
    assert done.returncode != 0
    assert "config/local.yaml: key 'looks' is 8; it must be a list" in done.stdout
    assert "Traceback" not in done.stdout


def test_budget_too_small_is_refused_before_measuring(checkout: Path) -> None:
    done = in_env(checkout, "python3", "-m", "benchbook", "plan", "--config", "budget_s=0.01")
    assert done.returncode == 1
    assert "over the budget" in done.stdout
    assert "Traceback" not in done.stdout


def test_missing_crashing_hanging_and_lying_cost_their_own_points(tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    kernel = checkout / "kernels/mbw/mbw.c"
    source = kernel.read_text()
    for name, fault in {
        "block_1_1_1_mempcpy": "__builtin_trap();",
        "block_1_2_2_mempcpy": 'for (;;) { __asm__ volatile(""); }',
        "block_1_3_0_mempcpy": "return;",
    }.items():
        source = _break(source, f"timed_{name}", fault)
    kernel.write_text(source)
    definition = checkout / "kernels/mbw/experiment.yaml"
    text = definition.read_text()
    text = text.replace("compiler: clang", "compiler: no-such-compiler")
    text = text.replace(
        "  tiny:\n", "  tiny:\n    - {variant: clang-O2, bytes: 8 MiB, method: loop}\n", 1
    )
    definition.write_text(text)
    (checkout / "config/local.yaml").write_text("time_limit_s: 2\nsamples_most: 10\n")
    done = run(checkout, "make", "PRESET=tiny")
    assert done.returncode == 0, done.stdout[-4000:]
    analysis = json.loads((results_of(checkout) / "mbw" / "analysis.json").read_text())
    points = {point["point"]: point for point in analysis["points"]}
    states = {
        name.split("method=")[1].split(",")[0]: (point["state"], point["reason"])
        for name, point in points.items()
        if point["state"] != "ok"
    }
    assert states["block-1.1.1"][0] == "failed"
    assert "signal" in states["block-1.1.1"][1]
    assert states["block-1.2.2"][0] == "timeout"
    assert "time limit of 2 s" in states["block-1.2.2"][1]
    assert states["block-1.3.0"][0] == "failed"
    assert states["loop"][0] == "cannot_run"
    assert "no-such-compiler" in states["loop"][1]
    good = [name for name, point in points.items() if point["state"] == "ok"]
    assert sum("method=copy" in name for name in good) == 4
    page = html.unescape((checkout / "reports" / "slocum2013-mbw.html").read_text())
    for _, reason in states.values():
        assert reason in page
    (verdict,) = json.loads((results_of(checkout) / "verdicts.json").read_text())["items"]
    assert verdict["verdict"] == "not_measurable_here"
    assert verdict["estimate"] is None


def _break(source: str, function: str, fault: str) -> str:
    """Put a fault at the beginning of a function's body."""
    start = source.index("{", source.index(f"{function}("))
    return source[: start + 1] + f" {fault} " + source[start + 1 :]


def test_stage_that_failed_is_tried_again(tmp_path: Path, measured: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(measured, checkout, symlinks=True)
    assert "Nothing to be done" in run(checkout, "make", "PRESET=tiny").stdout
    stage = checkout / "benchbook" / "evidence.py"
    text = stage.read_text()
    stage.write_text("raise SystemExit('a stage that fails')\n")
    for _ in range(2):
        failed = run(checkout, "make", "PRESET=tiny")
        assert failed.returncode != 0
        assert "a stage that fails" in failed.stdout
    stage.write_text(text)
    mended = in_env(
        checkout, "snakemake", "--until", "evidence", "--config", "preset=tiny", limit_s=120
    )
    assert mended.returncode == 0, mended.stdout[-3000:]
    assert (results_of(checkout) / "mbw" / "evidence.json").exists()


def test_second_workflow_says_so_and_ends(measured: Path) -> None:
    holder = subprocess.Popen(
        ["flock", ".snakemake/benchbook.lock", "sleep", "60"],
        cwd=measured,
        start_new_session=True,
    )
    try:
        time.sleep(0.5)
        done = in_env(measured, "snakemake", "-R", "verdicts", "--config", "preset=tiny")
    finally:
        os.killpg(holder.pid, 15)
        holder.wait()
    assert done.returncode != 0
    assert "another workflow is running" in done.stdout
    assert "Traceback" not in done.stdout


def test_lock_is_waited_for_and_its_holder_named(checkout: Path, tmp_path: Path) -> None:
    lock = tmp_path / "benchbook-measuring.lock"
    lock.write_text('{"pid": 4242, "what": "stream", "checkout": "/elsewhere"}')
    holder = subprocess.Popen(["flock", str(lock), "sleep", "25"], start_new_session=True)
    try:
        time.sleep(0.3)
        measuring = subprocess.Popen(
            ["scripts/in-env", "snakemake", "--config", "preset=tiny", "--until", "measure"],
            cwd=checkout,
            env=clean_environment(BENCHBOOK_LOCK_DIR=str(tmp_path)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        waited = next(line for line in measuring.stdout or [] if "waiting for" in line)
        assert "process 4242 measuring stream in /elsewhere" in waited
        assert not list((checkout / "data/runs").rglob("journal.jsonl"))
        os.killpg(holder.pid, 15)
        holder.wait()
        assert any("pilot" in line for line in measuring.stdout or [])
    finally:
        measuring.kill()
        measuring.wait()
        if holder.poll() is None:
            os.killpg(holder.pid, 15)
            holder.wait()
