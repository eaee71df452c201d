"""`benchbook record`: whole runs, with checksums that are verified when somebody reads them."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from benchbook.compare import compare
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.records import archive

RECORDED = sorted((ROOT / archive.FOLDER).glob("*/*/*/manifest.json"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone that has one run and its pointer: the run that the repository has recorded."""
    source = RECORDED[0].parent
    host, experiment, name = source.parts[-3:]
    folder = Path("data/runs") / host / experiment / name
    (tmp_path / folder).mkdir(parents=True)
    for entry in ("plan.json", "journal.jsonl", "probes.jsonl", "manifest.json"):
        (tmp_path / folder / entry).write_bytes((source / entry).read_bytes())
    variants = {}
    for built in read_json(source / archive.VARIANTS)["items"]:
        variants[built["variant"]] = f"build/{built['variant']}"
        binary = {"binary": {"sha256": built["sha256"]}, "version": 1}
        write_json(tmp_path / "build" / built["variant"] / "variant.json", built | binary)
    pointer = {"version": 1, "experiment": experiment, "host": host, "preset": "tiny"}
    pointer |= {"run": name, "folder": str(folder), "variants": variants}
    write_json(tmp_path / "results" / host / "tiny" / experiment / "current.json", pointer)
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True)
    return tmp_path


def test_a_run_is_recorded_whole_once_and_compared(checkout: Path) -> None:
    experiment = RECORDED[0].parent.parent.name
    (kept,) = archive.record(checkout, [experiment])
    run = next(checkout.glob("data/runs/*/*/*"))
    assert (kept / "journal.jsonl").read_bytes() == (run / "journal.jsonl").read_bytes()
    lines = (kept / archive.SUMS).read_text().splitlines()
    digest = hashlib.sha256((kept / "journal.jsonl").read_bytes()).hexdigest()
    assert f"{digest}  journal.jsonl" in lines
    assert len(read_json(kept / archive.ORIGIN)["recorded_at_commit"]) == 40
    before = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert archive.record(checkout, [str(run)]) == [kept]
    assert {path: path.stat().st_mtime_ns for path in kept.iterdir()} == before
    comparison = compare(checkout, str(run), str(kept.parents[1]))
    ratios = [point.joint for point in comparison.experiments[0].points]
    assert all(ratio and ratio.estimate == pytest.approx(1) for ratio in ratios)


@pytest.mark.parametrize("name", ["journal.jsonl", "plan.json", "variants.json", "more"])
def test_a_recorded_run_that_was_changed_is_refused(checkout: Path, name: str) -> None:
    (kept,) = archive.record(checkout, [RECORDED[0].parent.parent.name])
    with (kept / name).open("a") as stream:
        stream.write("\n")
    with pytest.raises(BenchbookError, match=f"{name} is not what was recorded"):
        compare(checkout, str(kept), str(kept))


def test_what_cannot_be_recorded_is_one_sentence(checkout: Path) -> None:
    with pytest.raises(BenchbookError, match="no results name a run 'nothing'"):
        archive.record(checkout, ["nothing"])
    next(checkout.glob("data/runs/*/*/*/manifest.json")).unlink()
    with pytest.raises(BenchbookError, match="is not complete"):
        archive.record(checkout, [RECORDED[0].parent.parent.name])
    assert not (checkout / archive.FOLDER).exists()


@pytest.mark.parametrize("manifest", RECORDED, ids=lambda path: path.parent.name)
def test_what_the_repository_keeps_is_what_was_recorded(manifest: Path) -> None:
    archive.verify(manifest.parent)
    assert (manifest.parent / archive.SUMS).exists()
    host = manifest.parts[-4]
    plan = read_json(manifest.with_name("plan.json"))
    assert plan["host"] == host
    assert read_json(ROOT / archive.FOLDER / host / archive.HOST) == plan["host_facts"]
