"""The whole workflow, for real, in checkouts of its own: what is done again and what is not."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from conftest import clean_environment, copy_built, in_env, run

from benchbook.commands.config_option import overrides
from benchbook.commands.plan import show
from benchbook.define import catalogue
from benchbook.define.points import Point
from benchbook.workflow import open_lab

PAPER = "slocum2013-mbw"
MEASURED_BY_TINY = {"order-of-magnitude", "source-pointer-matters"}


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
    for page in ("index", PAPER, "controls", "machine"):
        assert (measured / "reports" / f"{page}.html").stat().st_size > 2000
    for page in (measured / "reports").glob(
        "*.html"
    ):  # what a library warns of is for us, not there
        assert "Warning:" not in page.read_text(), page
    samples = pd.read_parquet(results / "samples.parquet")
    named = {"run", "experiment", "variant", "point", "method", "block", "invocation", "sample"}
    named |= {"t_start_ns", "time_ns", "bytes_declared", "state", "bytes", "call", "block_bytes"}
    assert named <= set(samples.columns)
    assert (samples["time_ns"] > 0).all()
    assert samples["block"].nunique() >= 8
    # What stands for a device here is this host's memory.
    emulates = samples["experiment"] == "hostdev"
    assert set(samples["state"][~emulates]) == {"ok"}
    assert set(samples["state"][emulates]) <= {"ok", "simulated"}
    items = json.loads((results / "verdicts.json").read_text())["items"]
    figures = catalogue.paper(measured, PAPER)["figures"]
    claims = [
        (figure["id"], claim["id"]) for figure in figures for claim in figure.get("claims", [])
    ]
    found = {(item["figure"], item["claim"]): item for item in items if item["paper"] == PAPER}
    assert list(found) == claims
    seen = {claim for claim, entry in found.items() if entry["verdict"] != "not_measurable_here"}
    assert seen == {claim for claim in claims if claim[1] in MEASURED_BY_TINY}
    for claim, verdict in found.items():
        if claim in seen:
            assert verdict["verdict"] in {"reproduced", "not_reproduced", "inconclusive"}
            assert verdict["interval"][0] < verdict["estimate"] < verdict["interval"][1]
        else:
            assert verdict["reason"].endswith(": not in this preset")
    items = json.loads((results / "findings.json").read_text())["items"]
    findings = [item for item in items if item["experiment"] == "mbw"]
    stuck = [finding for finding in findings if finding["artefact"] == "source-not-advanced"]
    assert {Point.of_id(where).factors["method"] for f in stuck for where in f["where"]} == {
        "block-1.1.1",
        "block-1.2.2",
    }
    controls = json.loads((results / "controls.json").read_text())["artefacts"]
    for artefact in ("source-not-advanced", "impure-flags"):
        seen = controls[artefact]
        assert seen["provoked"] == seen["detected"] > 0
        assert seen["nulls"] > 0
        assert seen["false_alarms"] == 0


def test_observations_are_those_of_the_forms(measured: Path) -> None:
    evidence = json.loads((results_of(measured) / "mbw" / "evidence.json").read_text())["items"]
    seen = {
        (Point.of_id(row["point"]).factors["method"], row["name"]): row["value"]
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


def test_changed_flags_rebuild_only_their_experiment(measured: Path) -> None:
    before = stamps(measured, "build/**/variant.json")
    definition = measured / "kernels/mbw/experiment.yaml"
    text = definition.read_text()
    try:
        definition.write_text(text.replace("gcc, flags: [-O2]", "gcc, flags: [-O2, -fno-plt]"))
        dry = in_env(measured, "snakemake", "-nq", "host", "--config", "preset=tiny")
        assert dry.returncode == 0
        built = [line for line in dry.stdout.splitlines() if "output: build/" in line]
        assert len(built) == 1
        assert "build/mbw/gcc-O2/variant.json" in built[0]
        assert not re.search(r"build/(?!mbw/)", built[0])
    finally:
        definition.write_text(text)
    assert before == stamps(measured, "build/**/variant.json")


@pytest.fixture(scope="module")
def edited(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """A comment in a kernel and a stage that fails, then mended: what each workflow left."""
    checkout = tmp_path_factory.mktemp("edited") / "checkout"
    shutil.copytree(measured, checkout, symlinks=True)
    source = checkout / "kernels/mbw/mbw.c"
    source.write_text("/* A remark that changes nothing. */\n" + source.read_text())
    stage = checkout / "benchbook" / "evidence" / "__init__.py"
    text = stage.read_text()
    seen: dict = {"checkout": checkout, "binaries": [_binaries(checkout)]}
    for name, content in {
        "failed": "raise SystemExit('a stage that fails')\n",
        "mended": text,
    }.items():
        stage.write_text(content)
        seen[name] = in_env(
            checkout, "snakemake", PAPER, "--until", "evidence", "--config", "preset=tiny"
        )
        seen[f"{name} evidence"] = (results_of(checkout) / "mbw" / "evidence.json").exists()
        seen["binaries"].append(_binaries(checkout))
    return seen


def test_comment_rebuilds_the_same_binary_and_measures_nothing(
    edited: dict, measured: Path, journals
) -> None:
    before, _, after = edited["binaries"]
    assert before
    assert all(after[name][0] > built_ns for name, (built_ns, _) in before.items())
    assert [binary for _, binary in before.values()] == [binary for _, binary in after.values()]
    said = edited["failed"].stdout + edited["mended"].stdout
    assert said.count("nothing to measure") == 1
    assert journals(edited["checkout"]) == journals(measured)


def test_stage_that_failed_is_tried_again(edited: dict) -> None:
    assert edited["failed"].returncode != 0
    assert "a stage that fails" in edited["failed"].stdout
    assert not edited["failed evidence"]
    assert edited["mended"].returncode == 0, edited["mended"].stdout[-3000:]
    assert edited["mended evidence"]


def _binaries(checkout: Path) -> dict[str, tuple[int, dict]]:
    """When each variant of preset tiny was built, in ns, and its binary; another preset may have
    left more of them."""
    (pointer,) = checkout.glob("results/*/tiny/mbw/current.json")
    measured = json.loads(pointer.read_text())["variants"]
    return {
        path.parent.name: (path.stat().st_mtime_ns, json.loads(path.read_text())["binary"])
        for path in sorted(checkout.glob("build/mbw/gcc*/variant.json"))
        if path.parent.name in measured
    }


def test_second_workflow_says_so_and_ends(edited: dict) -> None:
    checkout = edited["checkout"]
    waiting = checkout / "benchbook/core/processes.py"
    text = waiting.read_text()
    assert "patience_s: float = 5.0" in text
    waiting.write_text(text.replace("patience_s: float = 5.0", "patience_s: float = 0.2"))
    with held(checkout / ".snakemake" / "benchbook.lock"):
        done = in_env(checkout, "snakemake", "-R", "verdicts", "--config", "preset=tiny")
    assert done.returncode != 0
    assert "another workflow is running" in done.stdout
    assert "Traceback" not in done.stdout


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """While another process holds this lock."""
    command = ["flock", str(lock), "sh", "-c", "echo held; exec cat"]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.stdin.close()


WRONG = {
    "preset=quik": ("preset", "quik", "tiny, quick, paper"),
    "presett=tiny": ("presett", "unknown", "allowed"),
    "budget_s=-3": ("budget_s", "-3", "above 0"),
    "memory_fraction=all": ("memory_fraction", "all", "a number"),
    f"figure={PAPER}/none": (f"{PAPER}/none", "mbw-b4096-32"),
    "figure=nothing/none": ("nothing", PAPER),
}


@pytest.mark.parametrize("setting", WRONG)
def test_wrong_configuration_is_one_sentence(checkout: Path, capsys, setting: str) -> None:
    with pytest.raises(SystemExit, match="1"):
        open_lab(str(checkout), overrides([setting]))
    said = capsys.readouterr().err
    assert said.startswith("benchbook: ")
    assert said.count("\n") == 1
    assert all(word in said for word in WRONG[setting])


def test_wrong_local_file_ends_the_workflow_in_one_sentence(checkout: Path) -> None:
    (checkout / "config" / "local.yaml").write_text("looks: 8\n")
    done = in_env(checkout, "snakemake")
    assert done.returncode != 0
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("benchbook:")]
    assert "config/local.yaml: key 'looks' is 8; it must be a list" in said
    assert "Traceback" not in done.stdout
    assert not list((checkout / "build").glob("*"))  # the door makes the folder


def test_a_plan_beyond_its_budget_is_shown_with_what_it_leaves_out(checkout: Path, capsys) -> None:
    (
        checkout / "build"
    ).mkdir()  # by the door; without it each plan asks again what can be measured
    show(checkout, {"preset": "tiny", "budget_s": 0.01}, as_json=False)
    printed = capsys.readouterr().out
    assert "do not fit the budget of 0 s. This takes " in printed
    assert "Raise budget_s" in printed


@pytest.fixture(scope="module")
def faulty(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """One paper, made while its methods crash, hang and lie and a compiler is missing, and while
    another checkout measures at first."""
    folder = tmp_path_factory.mktemp("faulty")
    checkout = copy_built(measured, folder / "checkout")
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
    lock = folder / "benchbook-measuring.lock"
    lock.write_text('{"pid": 4242, "what": "stream", "checkout": "/elsewhere"}')
    with subprocess.Popen(
        ["make", "PRESET=tiny", f"PAPER={PAPER}"],
        cwd=checkout,
        env=clean_environment(BENCHBOOK_LOCK_DIR=str(folder)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as make:
        said = []
        with held(lock):
            for line in make.stdout:
                said.append(line)
                if "waiting for" in line:
                    break
            early = list((checkout / "data/runs").rglob("journal.jsonl"))
        said += make.stdout
    return {"checkout": checkout, "status": make.returncode, "said": said, "early": early}


def test_lock_is_waited_for_and_its_holder_named(faulty: dict) -> None:
    waited = [line for line in faulty["said"] if "waiting for" in line]
    assert len(waited) == 1, faulty["said"][-30:]
    assert "process 4242 measuring stream in /elsewhere" in waited[0]
    assert faulty["early"] == []


def test_one_paper_can_be_named(faulty: dict) -> None:
    assert faulty["status"] == 0, faulty["said"][-30:]
    pages = {
        page.stem: page.read_text() for page in (faulty["checkout"] / "reports").glob("*.html")
    }
    assert pages.keys() == {PAPER, f"{PAPER}-details", "index"}
    assert f'href="{PAPER}.html"' in pages["index"]
    assert "Not rerun here yet: <code>e7udpip-latency</code>" in pages["index"]
    assert not (results_of(faulty["checkout"]) / "controls").exists()


def test_missing_crashing_hanging_and_lying_cost_their_own_points(faulty: dict) -> None:
    results = results_of(faulty["checkout"])
    analysis = json.loads((results / "mbw" / "analysis.json").read_text())
    points = {point["point"]: point for point in analysis["points"]}
    states = {
        Point.of_id(name).factors["method"]: (point["state"], point["reason"])
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
    page = html.unescape((faulty["checkout"] / "reports" / f"{PAPER}-details.html").read_text())
    for _, reason in states.values():
        assert reason in page
    figures = json.loads((results / PAPER / "paper.json").read_text())["figures"]
    verdicts = [claim for figure in figures for claim in figure["claims"]]
    assert {verdict["claim"] for verdict in verdicts} >= MEASURED_BY_TINY
    assert {verdict["verdict"] for verdict in verdicts} == {"not_measurable_here"}
    assert {verdict["estimate"] for verdict in verdicts} == {None}


def _break(source: str, function: str, fault: str) -> str:
    """Put a fault at the beginning of a function's body."""
    start = source.index("{", source.index(f"{function}("))
    return source[: start + 1] + f" {fault} " + source[start + 1 :]
