"""Every page is made where half of what was planned did not run: no compiler, a crash, no room."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from conftest import run

SEED = 20261127
LOST = {"state": "failed", "reason": "was ended by signal 11 (SIGSEGV)"}
NOTHING = {"warm_up": 0, "t_start_ns": [], "time_ns": [], "observations": {}, "usage": {}}
SKIPPED = {"state": "cannot_run", "reason": "compiler 'x' is not on PATH; install it"}
LEFT_OUT = ("samples_file", "samples", "process")


def fail_half(folder: Path, dice: random.Random) -> None:
    """Half of the points, and one of several variants, have no samples: some died, the others could
    not be built. The run has no seal then, as an old one."""
    plan = json.loads((folder / "plan.json").read_text())
    variants = sorted({point["variant"] for point in plan["points"]})
    lost = dice.choice(variants) if len(variants) > 1 else None
    died, not_built = set(), set()
    for point in plan["points"]:
        fate = dice.random()
        if point["variant"] == lost or fate < 0.25:
            not_built.add(point["id"])
        elif fate < 0.5:
            died.add(point["id"])
    skipped = [point | SKIPPED for point in plan["points"] if point["id"] in not_built]
    plan["points"] = [point for point in plan["points"] if point["id"] not in not_built]
    plan["skipped"] += skipped
    (folder / "plan.json").write_text(json.dumps(plan))

    lines = []
    for text in (folder / "journal.jsonl").read_text().splitlines():
        record = json.loads(text)
        if record["kind"] == "invocation" and record["point"] in not_built:
            continue
        if record["kind"] == "invocation" and record["point"] in died:
            record = {key: value for key, value in record.items() if key not in LEFT_OUT}
            record |= LOST | NOTHING
        lines.append(json.dumps(record))
    (folder / "journal.jsonl").write_text("\n".join(lines) + "\n")

    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"]
    manifest["failed"] |= dict.fromkeys(died, LOST["reason"])
    manifest["skipped"] = plan["skipped"]
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("seed", "paper"),
    [
        (SEED, "e7udpip-latency"),  # test_workflow has the page of mbw, with points that failed
        pytest.param(SEED, "ssscore", marks=pytest.mark.long),  # most sections of all
        pytest.param(SEED, None, marks=pytest.mark.long),
        pytest.param(SEED + 1, None, marks=pytest.mark.long),
    ],
)
def test_every_page_is_made_where_half_of_the_points_failed(
    measured: Path, tmp_path: Path, seed: int, paper: str | None
) -> None:
    checkout = shutil.copytree(measured, tmp_path / "checkout", symlinks=True)
    journals = sorted((checkout / "data" / "runs").rglob("journal.jsonl"))
    for journal in journals:
        experiment = json.loads((journal.parent / "plan.json").read_text())["experiment"]
        fail_half(journal.parent, random.Random(f"{seed}/{experiment}"))
    shutil.rmtree(checkout / "results")
    pages = {path.name for path in (checkout / "reports").glob("*.html")}
    shutil.rmtree(checkout / "reports")
    done = run(checkout, "make", "PRESET=tiny", *([f"PAPER={paper}"] if paper else []))
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Traceback" not in done.stdout
    made = {path.name for path in (checkout / "reports").glob("*.html")}
    assert made == pages if paper is None else made >= {f"{paper}.html", f"{paper}-details.html"}
    # Nothing was measured again: the runs are complete.
    assert sorted((checkout / "data" / "runs").rglob("journal.jsonl")) == journals
