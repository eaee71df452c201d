"""kill -9 of make, snakemake, the measurer or the kernel at random moments: nothing is lost,
nothing complete is measured twice, two measurements never overlap, no unlock is asked for."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import clean_environment, copy_built, run

# One figure, so that what is killed is the measuring, and nothing else takes long.
FIGURE = "slocum2013-mbw/mbw-32"
MAKE = ("make", "PRESET=tiny", f"FIGURE={FIGURE}")
# What is killed in each start, one after another, and after how many seconds at most.
ROUNDS = ({"make": 2.5}, {"snakemake": 2.5}, {"kernel": 0.5, "measurer": 0.5})
# No kernel: a point whose program died twice is left out of later blocks.
MORE_ROUNDS = ({"make": 2.5}, {"snakemake": 2.5}, {"measurer": 2.5})
SEED = 20261121
PATIENCE_S = 300


def processes_in(checkout: Path) -> dict[int, str]:
    """Processes whose working folder is this checkout: pid -> command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if (entry / "cwd").readlink() == checkout:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                found[int(entry.name)] = b" ".join(words).decode(errors="replace")
        except OSError:
            continue
    return found


def victim(checkout: Path, kind: str) -> int | None:
    """The pid of one process of that kind."""
    marks = {
        "make": r"^make ",
        "snakemake": r"python\S* \S*bin/snakemake ",
        "measurer": r"^python3 -m benchbook .*\bmeasure\b",
        "kernel": rf"^{re.escape(str(checkout))}/build/\S+ .*--point",
    }
    for pid, words in processes_in(checkout).items():
        if re.search(marks[kind], words):
            return pid
    return None


def journals(checkout: Path) -> dict[Path, bytes]:
    """What is safely written: every journal up to its last whole line."""
    found = {}
    for path in (checkout / "data" / "runs").rglob("journal.jsonl"):
        content = path.read_bytes()
        found[path] = content[: content.rfind(b"\n") + 1]
    return found


def all_gone(checkout: Path, patience_s: float = PATIENCE_S) -> dict[int, str]:
    until = time.monotonic() + patience_s
    while processes_in(checkout) and time.monotonic() < until:
        time.sleep(0.1)
    return processes_in(checkout)


@pytest.fixture(
    scope="module",
    params=[pytest.param(0, id="once"), pytest.param(4, id="often", marks=pytest.mark.long)],
)
def story(
    request: pytest.FixtureRequest, measured: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict:
    """A workflow killed again and again, then completed; what was seen on the way."""
    checkout = copy_built(measured, tmp_path_factory.mktemp("kill") / "checkout")
    # Kernels that live long enough to be caught, and time for all that is repeated.
    (checkout / "config" / "local.yaml").write_text(
        f"budget_s: 60\npoint_s: 0.05\nsamples_most: 60\nlooks: [{16 + 6 * request.param}]\n"
    )
    dice = random.Random(SEED)
    rounds = ROUNDS + MORE_ROUNDS * request.param
    seen: dict = {"checkout": checkout, "kills": [], "left": [], "output": "", "changed": []}
    seen["meant"] = [kind for latest_s in rounds for kind in latest_s]
    kept: dict[Path, bytes] = {}
    for latest_s in rounds:
        with (checkout / "make.log").open("a+") as log:
            make = subprocess.Popen(
                MAKE,
                cwd=checkout,
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            wait_for(make, victim, checkout, "measurer")
            if "kernel" in latest_s:
                wait_for(make, block_begun, checkout, kept)
            for kind in latest_s:
                time.sleep(dice.uniform(0.0, latest_s[kind]))
                seen["kills"] += kill(make, checkout, kind)
            make.wait(PATIENCE_S)
        seen["left"] += list(all_gone(checkout).values())
        now = journals(checkout)
        seen["changed"] += [
            str(path) for path, before in kept.items() if not now[path].startswith(before)
        ]
        kept = now
    seen["before_last"] = kept
    last = run(checkout, *MAKE)
    seen["status"], seen["last"] = last.returncode, last.stdout
    seen["output"] = (checkout / "make.log").read_text() + last.stdout
    return seen


def wait_for(make: subprocess.Popen, condition: Callable, *arguments):
    """What the condition gives once it is true; None where make ends first, or patience."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and make.poll() is None:
        if found := condition(*arguments):
            return found
        time.sleep(0.005)
    return None


def kill(make: subprocess.Popen, checkout: Path, kind: str) -> list[str]:
    """Kill one process of that kind; what was killed."""
    while wait_for(make, victim, checkout, kind):
        with held(checkout), contextlib.suppress(ProcessLookupError):
            if pid := victim(checkout, kind):
                os.kill(pid, signal.SIGKILL)
                return [kind]
    return []


@contextlib.contextmanager
def held(checkout: Path) -> Iterator[None]:
    """The measurer stopped: beside other tests it may end kernels, or its run, faster than this
    process can look for them."""
    pid = victim(checkout, "measurer")
    with contextlib.suppress(ProcessLookupError):
        if pid:
            os.kill(pid, signal.SIGSTOP)
    yield
    with contextlib.suppress(ProcessLookupError):
        if pid:
            os.kill(pid, signal.SIGCONT)


def block_begun(checkout: Path, before: dict[Path, bytes]) -> bool:
    """Whether a block has begun since the journals were read."""
    return any(
        b'"kind": "block",' in now[len(before.get(path, b"")) :]
        for path, now in journals(checkout).items()
    )


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_kill_hit(story: dict) -> None:
    assert story["kills"] == story["meant"]


def test_last_make_completes(story: dict) -> None:
    assert story["status"] == 0, story["last"][-4000:]
    assert (story["checkout"] / "reports" / "figures" / f"{FIGURE}.html").exists()


def test_only_the_points_of_the_figure_are_measured(story: dict) -> None:
    (path,) = (story["checkout"] / "data" / "runs").rglob("plan.json")
    methods = {point["factors"]["method"] for point in json.loads(path.read_text())["points"]}
    # What the figure shows, and the twins in the chain that explains it.
    assert methods == {"copy", "loop", "block-1.1.1", "block-1.3.0"}
    assert not (story["checkout"] / "reports" / "index.html").exists()


def test_nothing_lives_on(story: dict) -> None:
    assert story["left"] == []


def test_journalled_lines_stay_byte_identical(story: dict) -> None:
    assert story["changed"] == []
    after = journals(story["checkout"])
    for path, before in story["before_last"].items():
        assert after[path].startswith(before), path


def test_one_run_each_and_no_complete_block_twice(story: dict) -> None:
    runs = story["checkout"] / "data" / "runs"
    assert len(list(runs.rglob("mbw/*/journal.jsonl"))) == 1
    assert len(list(runs.rglob("journal.jsonl"))) == len(list(runs.rglob("manifest.json")))
    for path in journals(story["checkout"]):
        records = lines_of(path)
        started = [record["block"] for record in records if record["kind"] == "block"]
        ended = [record["block"] for record in records if record["kind"] == "block_end"]
        abandoned = [record["block"] for record in records if record["kind"] == "abandoned"]
        assert len(set(started)) == len(started)
        assert sorted(ended + abandoned) == sorted(started)
        assert sum(record["kind"] == "pilot" for record in records) == 1
        manifest = json.loads(path.with_name("manifest.json").read_text())
        assert manifest["abandoned"] == abandoned
        plan = json.loads(path.with_name("plan.json").read_text())
        # The pilot drops what would burst the budget: sizes follow the host's caches.
        (dropped,) = (record["failed"] for record in records if record["kind"] == "pilot")
        planned = {point["id"] for point in plan["points"]} - set(dropped)
        for block in ended:
            measured = [
                record["point"]
                for record in records
                if record["kind"] == "invocation" and record["block"] == block
            ]
            assert sorted(measured) == sorted(planned)


def test_interrupted_blocks_are_kept_and_marked(story: dict) -> None:
    (path,) = (story["checkout"] / "data" / "runs").rglob("mbw/*/journal.jsonl")
    abandoned = [record for record in lines_of(path) if record["kind"] == "abandoned"]
    assert abandoned
    gaps_s = [record["gap_ns"] / 1e9 for record in abandoned if record["gap_ns"] is not None]
    assert gaps_s
    assert all(0 < gap < 120 for gap in gaps_s)


def test_two_measurements_never_overlap(story: dict) -> None:
    spans = sorted(
        {
            (record["t_invocation_ns"], record["t_end_ns"], path)
            for path in journals(story["checkout"])
            for record in lines_of(path)
            if record["kind"] == "invocation"
        }
    )
    assert len(spans) > 20
    # Programs of one measurement that take turns are alive at once.
    ends: dict[Path, int] = {}
    for start, end, path in spans:
        assert all(start >= earlier for other, earlier in ends.items() if other != path)
        ends[path] = max(end, ends.get(path, 0))


def test_no_unlock_is_asked_for(story: dict) -> None:
    assert "unlock" not in story["output"].lower()
    assert "Traceback" not in story["last"]
