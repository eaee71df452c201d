"""`benchbook import` of an archive: whole or not at all, and then as a run that was recorded."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import crate_lab
import made_up
import pytest
from conftest import ROOT
from crate_lab import sum_anew
from test_archives import JOURNAL, RESULTS, exported
from typer.testing import CliRunner

from benchbook.commands import app
from benchbook.commands.main import main
from benchbook.compare import compare
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.crate import contents, import_archive
from benchbook.crate.import_archive import Imported
from benchbook.define import catalogue
from benchbook.judge import stage as judge_stage
from benchbook.judge.paper_json import read_paper
from benchbook.judge.recorded_runs import analyse_recorded
from benchbook.records import archive, journal, seal
from benchbook.report import paper_page

pytest.importorskip("rocrate", reason="rocrate is not installed; `make test` brings it")
RUN = Path(JOURNAL).parent
PLACE = archive.FOLDER / crate_lab.HOST / crate_lab.EXPERIMENT / crate_lab.RUN.name
POINTER = f"{RESULTS}/{crate_lab.EXPERIMENT}/{contents.CURRENT}"


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive as a folder, made by another checkout."""
    lab = crate_lab.make_lab(tmp_path_factory.mktemp("theirs"))
    return exported(lab, tmp_path_factory.mktemp("archive") / "crate").path


@pytest.fixture
def copy(crate: Path, tmp_path: Path) -> Path:
    return shutil.copytree(crate, tmp_path / "copy")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """One with definitions, and without runs."""
    top = tmp_path / "checkout"
    top.mkdir()
    (top / "kernels").symlink_to(ROOT / "kernels")
    return top


def imported(checkout: Path, archive_path: Path) -> Imported:
    return import_archive.import_archive(checkout, archive_path)


def content_of(top: Path) -> dict[str, bytes]:
    files = [path for path in top.rglob("*") if path.is_file()]
    return {str(path.relative_to(top)): path.read_bytes() for path in files}


def test_an_imported_run_is_whole_and_a_second_import_changes_nothing(
    checkout: Path, crate: Path
) -> None:
    done = imported(checkout, crate)
    assert (done.host, done.written, done.present) == (crate_lab.HOST, [PLACE], [])
    place = checkout / PLACE
    archive.verify(place)
    own = content_of(crate / RUN)
    assert {name: (place / name).read_bytes() for name in own} == own
    assert {path.name for path in place.iterdir()} == {*own, *crate_lab.OWN}
    theirs = read_json(crate_lab.RUN / archive.VARIANTS)
    assert read_json(place / archive.VARIANTS) == theirs
    assert read_json(checkout / archive.FOLDER / crate_lab.HOST / archive.HOST)
    assert [path.name for path in (checkout / "data").iterdir()] == ["recorded"]
    before = content_of(checkout / "data")
    again = imported(checkout, crate)
    assert (again.written, again.present) == ([], [PLACE])
    assert content_of(checkout / "data") == before


def test_compare_takes_the_imported_host(checkout: Path, crate: Path) -> None:
    imported(checkout, crate)
    own = checkout / "data/runs/own-2c-0" / crate_lab.EXPERIMENT / crate_lab.RUN.name
    shutil.copytree(crate_lab.RUN, own, ignore=shutil.ignore_patterns(*crate_lab.OWN))
    plan = json.loads((own / journal.PLAN).read_text()) | {"host": "own-2c-0"}
    write_json(own / journal.PLAN, plan)
    comparison = compare(checkout, crate_lab.HOST, str(own))
    assert comparison.a.label.startswith(crate_lab.HOST)
    assert comparison.b.label.startswith("own-2c-0")
    ratios = [point.joint for point in comparison.experiments[0].points if point.joint]
    assert ratios
    assert all(ratio.estimate == pytest.approx(1) for ratio in ratios)


def test_pages_show_the_imported_run(tmp_path: Path, checkout: Path, crate: Path) -> None:
    imported(checkout, crate)
    recorded = tmp_path / "there" / "recorded.json"
    analyse_recorded(checkout, PLACE, recorded)
    assert read_json(recorded)["state"] == "ok", read_json(recorded)["reason"]
    made_up.results(tmp_path, "quick")
    names = catalogue.experiments_of(ROOT, made_up.PAPER)
    own = [tmp_path / name / "analysis.json" for name in names]
    output = tmp_path / "paper.json"
    judge_stage.judge(ROOT, made_up.PAPER, "", own, output, recorded=[recorded])
    content = read_paper(output)
    shown = [run for figure in content["figures"] for run in figure["recorded"]]
    assert {run["run"] for run in shown} == {PLACE.name}
    assert any(row["rerun"] for run in shown for row in run["rows"])
    assert "Earlier recorded runs" in paper_page.PaperPage(content).tables().html


def change_json(path: Path, **values: object) -> None:
    write_json(path, dict(read_json(path)) | values)


def other_host(crate: Path) -> None:
    change_json(crate / RUN / journal.PLAN, host="another-2c-0")


def newer_plan(crate: Path) -> None:
    change_json(crate / RUN / journal.PLAN, version=2)


def newer_manifest(crate: Path) -> None:
    change_json(crate / RUN / journal.MANIFEST, version="1")


def other_experiment(crate: Path) -> None:
    change_json(crate / RUN / journal.MANIFEST, experiment="stream")


def odd_facts(crate: Path) -> None:
    facts = read_json(crate / RUN / journal.PLAN)["host_facts"]
    odd = {key: [["x"]] if isinstance(value, list) else value for key, value in facts.items()}
    change_json(crate / RUN / journal.PLAN, host_facts=odd)
    unsealed(crate)


def without_manifest(crate: Path) -> None:
    (crate / RUN / journal.MANIFEST).unlink()


def a_program(crate: Path) -> None:
    program = crate / RUN / "conftest.py"
    program.write_text("raise SystemExit(7)\n")
    program.chmod(0o755)


def odd_samples(crate: Path) -> None:
    (crate / RUN / "samples").mkdir()
    (crate / RUN / "samples/.bashrc").write_text("exit\n")


def pointer_out(crate: Path) -> None:
    change_json(crate / POINTER, variants={"gcc-O2": "../../../../etc"})


def no_variants(crate: Path) -> None:
    change_json(crate / POINTER, variants=[])


def odd_flags(crate: Path) -> None:
    folder = read_json(crate / POINTER)["variants"]["gcc-O2"]
    change_json(crate / folder / "variant.json", flags=[5])


def odd_hash(crate: Path) -> None:
    folder = read_json(crate / POINTER)["variants"]["gcc-O2"]
    change_json(crate / folder / "variant.json", binary={"sha256": 5})


def variant_out(crate: Path) -> None:
    folder = read_json(crate / POINTER)["variants"]["gcc-O2"]
    change_json(crate / POINTER, variants={"../../../../gcc-O2": folder})


def letters_of_terminals(crate: Path) -> None:
    change_json(crate / POINTER, variants={"gcc-O2": "\x1b[31m"})


def changed_samples(crate: Path) -> None:
    text = (crate / JOURNAL).read_text()
    (crate / JOURNAL).write_text(text.replace('"time_ns": [', '"time_ns": [1', 1))


def unsealed(crate: Path) -> None:
    manifest = dict(read_json(crate / RUN / journal.MANIFEST))
    manifest.pop("files", None)
    write_json(crate / RUN / journal.MANIFEST, manifest)


def lines_of(crate: Path, change: Callable[[dict[str, object]], None]) -> None:
    """Change all invocations of a run without a seal."""
    unsealed(crate)
    records = [json.loads(line) for line in (crate / JOURNAL).read_text().splitlines()]
    for record in records:
        if record["kind"] == "invocation":
            change(record)
    (crate / JOURNAL).write_text("".join(json.dumps(record) + "\n" for record in records))


def device_as_samples(crate: Path) -> None:
    def change(record: dict[str, object]) -> None:
        record |= {"samples_file": "/dev/zero", "samples": 5}
        record.pop("time_ns", None)

    lines_of(crate, change)


def point_of_no_plan(crate: Path) -> None:
    lines_of(crate, lambda record: record.update(point="<script>\x1b[31m"))


def no_plan(crate: Path) -> None:
    plan = read_json(crate / RUN / journal.PLAN)
    write_json(crate / RUN / journal.PLAN, {"version": 1, "host": plan["host"]})
    change_json(crate / RUN / journal.PLAN, experiment=plan["experiment"], host_facts={})
    unsealed(crate)


REFUSED = {
    other_host: r"plan\.json is of another host or experiment",
    newer_plan: r"plan\.json has format version 2, and this Benchbook reads 1",
    newer_manifest: r"manifest\.json has format version '1'",
    other_experiment: r"manifest\.json is of another experiment",
    odd_facts: r"is not understood by this version \(TypeError",
    without_manifest: r"manifest\.json is missing",
    a_program: r"conftest\.py is no file of a run",
    odd_samples: r"samples/\.bashrc is no file of a run",
    pointer_out: r"etc/variant\.json is missing",
    no_variants: r"current\.json names no variants",
    odd_flags: r"gcc-O2/variant\.json has an odd 'flags' of a variant",
    odd_hash: r"gcc-O2/variant\.json has an odd 'sha256' of a variant",
    variant_out: r"gcc-O2/variant\.json has an odd name of a variant",
    letters_of_terminals: r"\\x1b\[31m/variant\.json is missing",
    device_as_samples: r"a sample file of an odd name",
    point_of_no_plan: r"has twice what block \d, <script>\\x1b\[31m measured",
    no_plan: r"plan\.json lacks",
}


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: change.__name__)
def test_a_run_of_an_archive_summed_anew_is_refused_by_its_file(
    copy: Path, checkout: Path, change: Callable[[Path], None]
) -> None:
    change(copy)
    sum_anew(copy)
    with pytest.raises(BenchbookError, match=REFUSED[change]) as refused:
        imported(checkout, copy)
    sentence = str(refused.value)
    assert sentence.isprintable() and len(sentence) < 500
    assert sentence.count("; nothing was taken from it. Copy it again, or ask its author") == 1
    assert ".import-" not in sentence and str(checkout) not in sentence
    assert [path.name for path in checkout.iterdir()] == ["kernels"]


def test_a_sealed_run_that_was_changed_is_refused(copy: Path, checkout: Path) -> None:
    manifest = read_json(copy / RUN / journal.MANIFEST)
    write_json(copy / RUN / journal.MANIFEST, manifest | {seal.FILES: seal.sums(copy / RUN)})
    changed_samples(copy)
    sum_anew(copy)
    with pytest.raises(BenchbookError, match=r"journal\.jsonl has [\d,]+ bytes, and had"):
        imported(checkout, copy)
    assert [path.name for path in checkout.iterdir()] == ["kernels"]


def test_a_run_that_is_here_is_never_overwritten(copy: Path, crate: Path, checkout: Path) -> None:
    imported(checkout, crate)
    before = content_of(checkout / "data")
    unsealed(copy)
    changed_samples(copy)
    sum_anew(copy)
    with pytest.raises(BenchbookError, match="runs are never overwritten; move that folder away"):
        imported(checkout, copy)
    assert content_of(checkout / "data") == before


@pytest.mark.parametrize("failing", ["rename", "host"])
def test_a_full_disk_at_the_end_leaves_nothing(
    crate: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28), "x")

    if failing == "rename":
        monkeypatch.setattr(Path, "rename", full)
    else:
        monkeypatch.setattr(import_archive, "write_json", full)
    with pytest.raises(OSError, match="No space"):
        imported(checkout, crate)
    assert [path.name for path in checkout.iterdir()] == ["kernels"]


def test_what_a_killed_import_left_is_removed_by_the_next(crate: Path, checkout: Path) -> None:
    left = checkout / "data" / f"{import_archive.DRAFT}abc"
    (left / "data").mkdir(parents=True)
    young = left.with_name(f"{import_archive.DRAFT}young")
    young.mkdir()
    os.utime(left, (0, 0))
    imported(checkout, crate)
    assert {path.name for path in (checkout / "data").iterdir()} == {"recorded", young.name}


def typed(checkout: Path, monkeypatch: pytest.MonkeyPatch, *words: object) -> str:
    monkeypatch.chdir(checkout)
    done = CliRunner().invoke(app.app, [str(word) for word in words])
    return done.output if done.exception is None else str(done.exception)


def test_the_command_says_where_runs_are_and_what_to_type(
    crate: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = typed(checkout, monkeypatch, "import", crate).splitlines()
    compare_with = f"Compare with your own: benchbook compare {crate_lab.HOST} PRESET"
    assert lines == [str(PLACE), compare_with]
    again = typed(checkout, monkeypatch, "import", crate)
    assert again == f"{crate}: all its runs are here already; nothing was written\n"
    assert "leave out --as" in typed(checkout, monkeypatch, "import", crate, "--as", "x")
    assert "add --as NAME" in typed(checkout, monkeypatch, "import", "log.txt")


def test_a_refusal_of_the_command_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.zip").write_bytes(b"PK\3\4")
    monkeypatch.setattr("sys.argv", ["benchbook", "import", str(tmp_path / "cut.zip")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("benchbook: ") and "is no zip file, or is cut off" in line
