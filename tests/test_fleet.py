"""Kinds of nodes as hosts: settings, checkouts, outcomes, the page of all hosts, and
the whole of it with a Slurm of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import ROOT, clean_environment, copy_checkout
from slurm_cluster import Cluster

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.define.settings import load_settings
from benchbook.fleet import node_checkout, outcome, slurm
from benchbook.fleet.outcome import Outcome, State
from benchbook.judge.stage import preset_and_host
from benchbook.report.hosts_page import HostResults, claim_rows, make_hosts, of_one_harness
from benchbook.workflow import Lab

KINDS = [{"name": "wide", "partition": "wide"}, {"name": "narrow", "constraint": "old"}]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Put a made-up program, which prints a text, first on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv(slurm.JOB_ID, raising=False)

    def prints(name: str, text: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\ncat <<'end'\n{text}\nend\n")
        (folder / name).chmod(0o755)

    return prints


def lab(root: Path, fleet: list[dict[str, Any]]) -> Lab:
    return Lab(root, load_settings(ROOT, {"fleet": fleet}), "this-host")


# --- Settings


@pytest.mark.parametrize(
    ("fleet", "sentence"),
    [
        ([], "fleet"),
        ([{"name": "a b"}], "fleet"),
        ([{"name": "a", "here": True, "partition": "p"}], "no Slurm job"),
        ([{"name": "a", "nodes": 3}], "nodes"),
    ],
)
def test_a_fleet_that_cannot_be_meant_is_refused(fleet: list[Any], sentence: str) -> None:
    with pytest.raises(BenchbookError, match=sentence):
        load_settings(ROOT, {"fleet": fleet})


def test_a_job_asks_for_a_whole_node_and_waits_for_earlier_jobs_of_its_kind(
    tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    wide, narrow = lab(tmp_path, KINDS).fleet
    place = tmp_path.resolve()
    queue = [
        f"7|{place}|rule_measure_on_wide_wildcards_",
        f"8|{place}|rule_measure_on_wide",
        f"9|{place}|rule_measure_on_wider",
        "10|/elsewhere|rule_measure_on_wide",
    ]
    programs("squeue", "\n".join(queue))
    asked = lab(tmp_path, KINDS).resources_of(wide)
    assert asked["slurm_partition"] == "wide"
    assert asked["slurm_extra"] == "--exclusive --dependency=afterany:7:8"
    assert "constraint" not in asked
    programs("squeue", "")
    asked = lab(tmp_path, KINDS).resources_of(narrow)
    assert (asked["constraint"], asked["slurm_extra"]) == ("old", "--exclusive")
    assert "slurm_partition" not in asked


def test_nothing_is_measured_here_unless_named(tmp_path: Path) -> None:
    assert lab(tmp_path, KINDS).pages() == ["fleet/wide/pages.json", "fleet/narrow/pages.json"]
    (here,) = lab(tmp_path, [{"name": "login", "here": True}]).fleet
    assert lab(tmp_path, KINDS).options_of(here) == "login --here"
    assert lab(tmp_path, KINDS).resources_of(here) == {}


# --- Checkouts of kinds


def test_a_checkout_follows_the_sources_and_keeps_their_times(tmp_path: Path) -> None:
    root, checkout = tmp_path / "root", tmp_path / "root/fleet/a"
    for name in ("kernels/x.c", "kernels/gone.c", "Snakefile", "config/local.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    node_checkout.bring_up_to_date(root, checkout, {"preset": "tiny"})
    before = (checkout / "kernels/x.c").stat()
    assert before.st_mtime_ns == (root / "kernels/x.c").stat().st_mtime_ns
    (root / "kernels/gone.c").unlink()
    (root / "Snakefile").write_text("changed")
    node_checkout.bring_up_to_date(root, checkout, {"preset": "quick"})
    assert (checkout / "kernels/x.c").stat().st_ino == before.st_ino
    assert not (checkout / "kernels/gone.c").exists()
    assert (checkout / "Snakefile").read_text() == "changed"
    assert json.loads((checkout / "config/local.yaml").read_text()) == {"preset": "quick"}


def test_nodes_of_a_kind_must_be_one_host(tmp_path: Path) -> None:
    node_checkout.claim_host(tmp_path, "one-host")
    node_checkout.claim_host(tmp_path, "one-host")
    assert node_checkout.measured_host(tmp_path) == "one-host"
    with pytest.raises(BenchbookError, match="this node is another; the nodes of a kind"):
        node_checkout.claim_host(tmp_path, "another")


def test_what_was_measured_here_before_is_not_replaced_by_a_kind(tmp_path: Path) -> None:
    checkout = tmp_path / "fleet/a"
    for place in ("results", "data/runs"):
        (checkout / place / "host").mkdir(parents=True)
    assert node_checkout.show_in(tmp_path, checkout, "host") == ""
    assert node_checkout.show_in(tmp_path, checkout, "host") == ""
    assert (tmp_path / "results/host").resolve() == (checkout / "results/host").resolve()
    (tmp_path / "results/host").unlink()
    (tmp_path / "results/host").mkdir()
    assert node_checkout.show_in(tmp_path, checkout, "host").startswith("results/host are of")


# --- Outcomes


def test_a_job_that_ended_without_a_word_is_lost_with_slurms_reason(
    tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    assert outcome.read_outcome(tmp_path, "a").state is State.NOT_BEGUN
    outcome.write_outcome(tmp_path, Outcome("a", State.MEASURING, "", "host", "12", "n3"))
    programs("scontrol", "JobId=12 JobState=NODE_FAIL Reason=NodeDown Dependency=(null)")
    lost = outcome.read_outcome(tmp_path, "a")
    assert lost.state is State.LOST
    assert lost.reason == "job 12 on node n3 ended before it was through (NODE_FAIL, NodeDown)"
    programs("scontrol", "slurm_load_jobs error: Invalid job id specified")
    assert outcome.read_outcome(tmp_path, "a").reason.endswith("before it was through")


def test_a_step_that_lacks_cpus_of_its_job_measures_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "4096")
    assert slurm.missing_cpus().startswith("the job has 4096 CPUs and its step may use")
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "1(x2)")
    assert slurm.missing_cpus() == ""


# --- The page of all hosts


def paper(text: str, verdict: str) -> dict[str, Any]:
    claim = {"claim": "c", "text": text, "region": [1, None], "verdict": verdict, "through": None}
    return {"paper": "p", "figures": [{"id": "f", "claims": [claim]}], "experiments": {}}


def test_a_claim_is_one_row_and_counts_only_hosts_that_decided() -> None:
    verdicts = ["reproduced", "reproduced", "not_reproduced", "inconclusive"]
    hosts = [HostResults(f"h{i}", "", [paper("T", word)]) for i, word in enumerate(verdicts)]
    (row,) = claim_rows(hosts)
    assert row.summary == "holds on 2 of 3, not decided on 1 host"


def test_a_claim_in_other_words_is_never_counted_with_the_first() -> None:
    hosts = [HostResults("a", "", [paper("T", "reproduced")])]
    hosts += [HostResults("b", "", [paper("T, at 4 KiB", "reproduced")])]
    assert [row.summary for row in claim_rows(hosts)] == ["holds on 1 of 1"] * 2


def test_hosts_that_an_older_harness_checked_are_left_out_with_the_reason() -> None:
    papers = [paper("T", "reproduced") | {"experiments": {"e": {"harness": k}}} for k in (3, 2)]
    new, old = of_one_harness([HostResults(f"h{i}", "", [p]) for i, p in enumerate(papers)])
    assert (len(new.papers), new.reason) == (1, "")
    assert (old.papers, "version 2 of the harness" in old.reason) == ([], True)


def test_the_page_says_why_a_kind_has_no_results(tmp_path: Path) -> None:
    failed = Outcome("a", State.FAILED, "these jobs failed: build_mbw", "h", "3", "n")
    outcome.write_outcome(tmp_path / "fleet/a", failed)
    outcome.write_outcome(tmp_path / "fleet/b", Outcome("b", State.MEASURED, "", "h2"))
    page = tmp_path / "reports/hosts.html"
    make_hosts(tmp_path, ["a", "b", "c"], "tiny", page)
    text = page.read_text()
    assert "not measured: these jobs failed: build_mbw" in text
    assert "its pages could not be made" in text
    assert "no job of it has begun" in text


def test_analyses_of_two_hosts_are_never_judged_together() -> None:
    runs = [made_run("mbw", "a"), made_run("stream", "a")]
    assert preset_and_host(dict(runs), {}) == {"preset": "tiny", "host": "a"}
    with pytest.raises(BenchbookError, match="of host a and b; judge those of one host only"):
        preset_and_host(dict([*runs, made_run("udp", "b")]), {})


def made_run(experiment: str, host: str) -> tuple[str, Any]:
    return experiment, SimpleNamespace(analysis={"preset": "tiny", "host": host})


# --- With a Slurm of its own


FIGURE = "slocum2013-mbw/mbw-b4096-32"
POLLING = ("--slurm-init-seconds-before-status-checks", "3", "--seconds-between-status-checks", "2")
JOB_S = 900.0  # a busy machine, and the turns of other measurements on it


class Fleet:
    """A checkout whose two kinds of nodes are the nodes of a cluster."""

    def __init__(self, checkout: Path, cluster: Cluster) -> None:
        self.checkout, self.cluster = checkout, cluster
        kinds = [{"name": name, "partition": name} for name in cluster.nodes]
        (checkout / "profiles/slurm/fleet.yaml").write_text(json.dumps({"fleet": kinds}))

    def begin(self) -> subprocess.Popen[str]:
        """Start the workflow; it goes on while the test does something else."""
        config = ("--config", "preset=tiny", f"figure={FIGURE}")
        command = ("snakemake", "--profile", "profiles/slurm", *POLLING, *config)
        return subprocess.Popen(
            self.cluster.inside(*command),
            cwd=self.checkout,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def job_of(self, kind: str) -> str:
        """The id of the job that a kind's checkout is measured by; empty before it begins."""
        path = node_checkout.node_checkout(self.checkout, kind) / outcome.FILE
        return str(read_json(path)["job"]) if path.exists() else ""

    def journals(self, kind: str) -> list[bytes]:
        """The journal of each run of a kind."""
        folder = node_checkout.node_checkout(self.checkout, kind)
        return [path.read_bytes() for path in folder.glob("data/runs/*/*/*/journal.jsonl")]

    def page(self) -> str:
        """The text of the page of all hosts."""
        return (self.checkout / "reports/hosts.html").read_text(encoding="utf-8")


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until something is so, as long as a job may take."""
    ends = time.monotonic() + JOB_S
    while not condition():
        assert time.monotonic() < ends, what
        time.sleep(0.2)


@pytest.mark.long
@pytest.mark.timeout(2400)
@pytest.mark.skipif(
    find_spec("snakemake_executor_plugin_slurm") is None,
    reason="Snakemake's executor for Slurm is absent (requirements-slurm.lock)",
)
def test_a_failed_job_a_lost_node_and_a_killed_start_lose_nothing(tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("two kinds of nodes on one machine need two CPUs")
    checkout = copy_checkout(tmp_path / "checkout")
    cluster = Cluster(tmp_path / "cluster", {"wide": cpus[:2], "narrow": cpus[:1]})
    try:
        cluster.start()
        fleet = Fleet(checkout, cluster)

        # The submitting process is killed, and one of its jobs fails: the other goes on.
        first = fleet.begin()
        wait_for(lambda: fleet.job_of("wide") and fleet.journals("narrow"), "both begin")
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
        cluster.call("scancel", fleet.job_of("narrow"))
        jobs = {kind: fleet.job_of(kind) for kind in cluster.nodes}
        gone = jobs["narrow"]
        wait_for(lambda: gone not in [job[0] for job in cluster.jobs()], "the cancelled job ends")
        (kept,) = fleet.journals("narrow")

        # The second start waits for the job that goes on, and loses a node: only that host.
        second = fleet.begin()
        wait_for(lambda: fleet.job_of("narrow") != gone, "a new job of the kind begins")
        drain = ("scontrol", "update", "NodeName=narrow", "Reason=test")
        cluster.call(*drain, "State=DRAIN")
        wait_for(lambda: len(fleet.journals("narrow")[0]) > len(kept), "it is resumed")
        cluster.call(*drain, "State=DOWN")
        output = second.communicate(timeout=JOB_S)[0]
        assert second.returncode == 1, output[-4000:]
        assert "on node narrow ended before it was through (NODE_FAIL" in fleet.page()
        assert (checkout / "fleet/wide/pages.json").exists(), output[-4000:]

        # The third start measures what is missing, and nothing else.
        (of_wide,) = fleet.journals("wide")
        cluster.call(*drain, "State=RESUME")
        third = fleet.begin()
        output = third.communicate(timeout=JOB_S)[0]
        assert third.returncode == 0, output[-4000:]
        assert fleet.journals("wide") == [of_wide]
        (of_narrow,) = fleet.journals("narrow")
        whole_lines = kept[: kept.rindex(b"\n") + 1]
        assert of_narrow.startswith(whole_lines)
        text = fleet.page()
        assert "not measured" not in text and "holds on" in text
        hosts = {path.name for path in (checkout / "results").iterdir()}
        assert len(hosts) == 2
        assert not (checkout / "build/mbw").exists(), "built on the submitting node"
        made = checkout.glob("fleet/*/reports/figures/*/*.html")
        assert sorted(path.parents[3].name for path in made) == ["narrow", "wide"]
    finally:
        cluster.stop()
