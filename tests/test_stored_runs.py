"""`benchbook run`: which runs are stored, whether they are whole, and what prune never removes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import crate_lab
import pytest
from click.testing import Result
from typer.testing import CliRunner

from benchbook.commands import app, run
from benchbook.core.files import read_json, write_json
from benchbook.records import archive, journal, seal, stored_runs
from benchbook.records.stored_runs import State

HOST, EXPERIMENT = crate_lab.HOST, crate_lab.EXPERIMENT
HOME = stored_runs.MEASURED / HOST / EXPERIMENT
FIRST, SECOND = "20261122T214001Z-b12311a7-0001", "20261123T214001Z-b12311a7-0002"
Typed = Callable[..., Result]


def stored(root: Path, name: str, *, complete: bool = True, **plan: Any) -> Path:
    """A run of the checkout, sealed: the journal of the one that the repository has."""
    folder = root / HOME / name
    shutil.copytree(crate_lab.RUN, folder, ignore=shutil.ignore_patterns(*crate_lab.OWN))
    write_json(folder / journal.PLAN, dict(read_json(folder / journal.PLAN)) | plan)
    journal.store_samples(folder, [1] * 20_000, [2] * 20_000)
    manifest = dict(read_json(folder / journal.MANIFEST)) | {seal.FILES: seal.sums(folder)}
    write_json(folder / journal.MANIFEST, manifest)
    if not complete:
        (folder / journal.MANIFEST).unlink()
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with two complete runs, of which results show the second."""
    for name in (FIRST, SECOND):
        stored(tmp_path, name)
    show(tmp_path, SECOND)
    return tmp_path


def show(root: Path, name: str) -> None:
    pointer = {"version": 1, "experiment": EXPERIMENT, "folder": str(HOME / name)}
    write_json(root / "results" / HOST / "tiny" / EXPERIMENT / "current.json", pointer)


@pytest.fixture
def typed(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Types `benchbook run …` in the checkout."""
    monkeypatch.chdir(checkout)
    return lambda *words: CliRunner().invoke(app.app, ["run", *words])


def sentence(done: Result) -> str:
    """The one sentence by which a command ended."""
    assert done.exit_code != 0
    text = str(done.exception)
    assert text.isprintable() and len(text) < 300
    return text


def in_use(root: Path) -> set[str]:
    return {path.name for path in (root / HOME).iterdir()}


def test_each_run_is_listed_with_what_is_known_of_it(checkout: Path, typed: Typed) -> None:
    stored(checkout, "20261124T000000Z-b12311a7-0003", complete=False)
    stored(checkout, "20261125T000000Z-b12311a7-0004-settle", settle={"claim": "p/f/c"})
    (stored(checkout, "20261126T000000Z-b12311a7-0005") / journal.PLAN).write_text("{")
    control = checkout / HOME.parent / "controls/zero-page"
    shutil.copytree(checkout / HOME / FIRST, control / FIRST.replace("0001", "0006"))
    shutil.copytree(crate_lab.RUN, checkout / crate_lab.RUN.relative_to(crate_lab.ROOT))
    (checkout / HOME / "notes").mkdir()
    (checkout / HOME / "99999999T999999Z-x").mkdir()
    items = json.loads(typed("list", "--json").stdout)["items"]
    states = [(item["experiment"], item["state"], item["settles"]) for item in items]
    assert states == [
        ("controls/zero-page", "complete", ""),
        *[(EXPERIMENT, "complete", "")] * 2,
        (EXPERIMENT, "incomplete", ""),
        (EXPERIMENT, "complete", "p/f/c"),
        (EXPERIMENT, "unreadable", ""),
        (EXPERIMENT, "complete", ""),
    ]
    second, recorded = items[2], items[-1]
    assert (second["id"], second["host"], second["preset"]) == (SECOND, HOST, "tiny")
    assert (second["begun"], second["recorded"]) == ("2026-11-23T21:40:01Z", False)
    assert second["shown_by"] == [f"results/{HOST}/tiny/{EXPERIMENT}"]
    files = [path for path in (checkout / HOME / SECOND).rglob("*") if path.is_file()]
    assert second["bytes"] == sum(path.stat().st_size for path in files)
    lines = journal.read_lines(checkout / HOME / SECOND / journal.JOURNAL)
    invocations = [line for line in lines if line["kind"] == "invocation"]
    assert second["samples"] == sum(len(line["time_ns"]) for line in invocations)
    assert (recorded["recorded"], recorded["shown_by"]) == (True, [])
    text = typed("list").stdout.splitlines()
    assert text[0] == HOST
    assert f"{HOST}, recorded or imported" in text
    assert text[-1].startswith("7 runs, ")
    assert [line.split()[-1] for line in text if EXPERIMENT in line][:2] == [FIRST, SECOND]


def test_a_list_can_be_of_one_experiment_or_host(typed: Typed) -> None:
    assert len(json.loads(typed("list", EXPERIMENT, "--json").stdout)["items"]) == 2
    assert len(json.loads(typed("list", HOST, "--json").stdout)["items"]) == 2
    assert sentence(typed("list", "nothing")) == "no run is of 'nothing'; see `benchbook run list`"


def test_an_empty_checkout_has_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app.app, ["run", "list"])
    assert done.stdout == "no run is stored here; `make` measures\n"


def test_a_run_is_shown_by_id_or_folder(typed: Typed) -> None:
    by_id, by_folder = (json.loads(typed("show", name, "--json").stdout) for name in both(SECOND))
    assert by_id == by_folder
    assert by_id["rounds"] == read_json(crate_lab.RUN / journal.MANIFEST)["blocks"]
    assert f"shown by    results/{HOST}/tiny/{EXPERIMENT}\n" in typed("show", SECOND).stdout
    assert sentence(typed("show", "x")) == "no run has the id 'x'; see `benchbook run list`"


def both(name: str) -> tuple[str, str]:
    return name, f"{HOME / name}/"


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_verify_names_each_file_that_was_changed(checkout: Path, typed: Typed) -> None:
    done = typed("verify")
    assert done.exit_code == 0
    assert done.stdout.count(": every file matches its checksum\n") == 2
    (samples,) = (checkout / HOME / FIRST / "samples").iterdir()
    for path in (samples, samples.parents[1] / journal.PLAN):
        flip(path)
    (checkout / HOME / SECOND / journal.PROBES).unlink()
    done = typed("verify")
    assert done.stdout.splitlines() == [
        f"{HOME / FIRST}: plan.json was changed after the run ended",
        f"{HOME / FIRST}: samples/{samples.name} was changed after the run ended",
        f"{HOME / SECOND}: probes.jsonl: No such file or directory",
    ]
    assert sentence(done).startswith("2 of 2 runs changed; restore the files")
    assert typed("verify", FIRST).exit_code == 1


def test_a_run_without_checksums_is_held_against_its_manifest(checkout: Path, typed: Typed) -> None:
    folder = checkout / HOME / FIRST
    manifest = dict(read_json(folder / journal.MANIFEST))
    manifest.pop(seal.FILES)
    write_json(folder / journal.MANIFEST, manifest)
    assert ": no checksums; its journal has the rounds" in typed("verify", FIRST).stdout
    write_json(folder / journal.MANIFEST, manifest | {"blocks": 99})
    done = typed("verify", FIRST)
    assert f"{HOME / FIRST}: journal.jsonl has 8 blocks, manifest.json 99\n" == done.stdout
    write_json(folder / journal.MANIFEST, manifest)
    (samples,) = (folder / "samples").iterdir()
    flip(samples)
    assert f"samples/{samples.name} is not what its name says" in typed("verify", FIRST).stdout


def test_a_recorded_run_is_held_against_all_of_its_checksums(checkout: Path, typed: Typed) -> None:
    place = crate_lab.RUN.relative_to(crate_lab.ROOT)
    shutil.copytree(crate_lab.RUN, checkout / place)
    (checkout / place / "more").write_text("x")
    flip(checkout / place / archive.VARIANTS)
    done = typed("verify", place.name)
    assert done.stdout.splitlines() == [
        f"{place}: {name} is not what was recorded" for name in ("more", archive.VARIANTS)
    ]
    assert "1 of 1 run changed" in sentence(done)


def test_an_incomplete_run_has_no_checksums_yet(checkout: Path, typed: Typed) -> None:
    name = stored(checkout, "20261124T000000Z-b12311a7-0003", complete=False).name
    done = typed("verify", name)
    assert done.stdout == f"{HOME / name}: not complete, so it has no checksums yet\n"
    assert done.exit_code == 0


@pytest.mark.parametrize("name", both(FIRST))
def test_prune_removes_what_is_named_and_says_what_is_free(
    checkout: Path, typed: Typed, name: str
) -> None:
    done = typed("prune", name)
    assert done.exit_code == 0, done.exception
    assert done.stdout.splitlines()[0] == f"removed {HOME / FIRST}"
    assert done.stdout.splitlines()[1].endswith("KiB are free again")
    assert in_use(checkout) == {SECOND}


def test_the_last_complete_run_stays(checkout: Path, typed: Typed) -> None:
    show(checkout, "none")
    stored(checkout, "20261125T000000Z-b12311a7-0004-settle", settle={"claim": "p/f/c"})
    stored(checkout, "20261124T000000Z-b12311a7-0003", complete=False)
    before = in_use(checkout)
    last = f"is the last complete run of {EXPERIMENT} on {HOST}; measure another one first"
    assert last in sentence(typed("prune", FIRST, SECOND))
    assert in_use(checkout) == before
    flip(checkout / HOME / SECOND / journal.JOURNAL)
    assert last in sentence(typed("prune", FIRST)), "the one that would stay is damaged"
    assert in_use(checkout) == before
    assert typed("prune", SECOND).exit_code == 0, "what is damaged may go"
    assert typed("prune", "20261125T000000Z-b12311a7-0004-settle").exit_code == 0
    assert in_use(checkout) == before - {SECOND, "20261125T000000Z-b12311a7-0004-settle"}


def test_a_run_that_results_show_stays_and_so_do_those_named_with_it(
    checkout: Path, typed: Typed
) -> None:
    place = f"results/{HOST}/tiny/{EXPERIMENT}"
    refused = f"{SECOND} is what {place} shows; remove {place}/current.json first"
    stored(checkout, "20261126T000000Z-b12311a7-0005")
    assert refused in sentence(typed("prune", FIRST, SECOND))
    assert "no run has the id 'x'" in sentence(typed("prune", FIRST, "x"))
    assert {FIRST, SECOND} < in_use(checkout)


def test_an_incomplete_run_waits_for_the_measurement(
    checkout: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be the one that is measured now; then it is complete afterwards."""
    name = stored(checkout, "20261124T000000Z-b12311a7-0003", complete=False).name
    waited = []

    def lock(*_: object) -> Any:
        waited.append(True)
        return nullcontext()

    monkeypatch.setattr(run, "measuring_lock", lock)
    assert typed("prune", FIRST).exit_code == 0
    assert waited == []
    assert typed("prune", name).exit_code == 0
    assert waited == [True]
    assert in_use(checkout) == {SECOND}


def test_a_run_that_is_stored_twice_is_named_by_its_folder(checkout: Path, typed: Typed) -> None:
    copy = archive.FOLDER / HOST / EXPERIMENT / FIRST
    shutil.copytree(checkout / HOME / FIRST, checkout / copy)
    twice = f"{FIRST} is stored more than once; name {HOME / FIRST} or {copy}"
    assert sentence(typed("prune", FIRST)) == twice
    assert typed("prune", str(HOME / FIRST)).exit_code == 0
    assert (checkout / copy).is_dir()


def test_a_link_is_not_followed(checkout: Path, typed: Typed, tmp_path: Path) -> None:
    name = "20261127T000000Z-b12311a7-0007"
    (checkout / HOME / name).symlink_to(checkout / HOME / SECOND)
    assert "is a link; remove the link itself" in sentence(typed("prune", name))
    assert len(list((tmp_path / HOME / SECOND).iterdir())) > 3


def test_odd_plans_are_listed(checkout: Path) -> None:
    odd = {"settings": [], "benchbook": {"commit": 5}, "settle": "x"}
    stored(checkout, "20261128T000000Z-b12311a7-0008", **odd)
    last = stored_runs.stored_runs(checkout)[-1]
    assert (last.preset, last.commit, last.state) == ("", "", State.COMPLETE)
