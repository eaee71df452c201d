"""Recorded runs beside the figures of a paper: shown with a mark of their own, never pooled."""

from __future__ import annotations

import csv
import io
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import made_up
import pytest
from browser import WIDTHS, look, violations
from conftest import ROOT

from benchbook.core.files import read_json, write_json, write_text
from benchbook.core.units import UNITS, in_names
from benchbook.define import catalogue
from benchbook.judge import stage as judge_stage
from benchbook.judge.paper_json import read_paper
from benchbook.judge.recorded_runs import DAMAGED, analyse_recorded, transfers
from benchbook.records import archive
from benchbook.report import figure_tables, notebook_export, paper_page
from benchbook.report.sections import paper_panels, recorded_runs
from benchbook.workflow import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = "</title><script>window.ran=1</script>$x$"
RUNS = [
    path.parent.relative_to(ROOT)
    for path in sorted((ROOT / archive.FOLDER).glob("*/mbw/*/plan.json"))
]
RUN = RUNS[-1]
NOTEBOOK = ROOT / "notebooks" / f"{made_up.PAPER}.ipynb"


@dataclass(frozen=True)
class Made:
    """Results of this host made up, and a run that was really recorded, analysed anew."""

    top: Path
    own: list[Path]  # analysis.json
    recorded: Path

    def judged(self, name: str, own: list[Path] | None = None, *recorded: Path) -> dict[str, Any]:
        """paper.json with these recorded runs."""
        output = self.top / name / "paper.json"
        judge_stage.judge(ROOT, made_up.PAPER, "", own or self.own, output, recorded=[*recorded])
        return read_paper(output)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    top = tmp_path_factory.mktemp("recorded")
    made_up.results(top, "quick")
    recorded = top / "there" / "recorded.json"
    analyse_recorded(ROOT, RUN, recorded)
    names = catalogue.experiments_of(ROOT, made_up.PAPER)
    return Made(top, [top / name / "analysis.json" for name in names], recorded)


def copied(target: Path) -> Path:
    """The recorded run in another place, in folders of the same names."""
    return shutil.copytree(ROOT / RUN, target / Path(*RUN.parts[-3:]))


def sum_anew(run: Path) -> None:
    write_text(
        run / archive.SUMS, "".join(f"{sum_}  {name}\n" for name, sum_ in archive._sums(run))
    )


def test_a_recorded_run_stands_beside_figures_and_changes_nothing_else(made: Made) -> None:
    alone, both = made.judged("alone"), made.judged("both", None, made.recorded)
    plan, origin = (read_json(ROOT / RUN / name) for name in ("plan.json", archive.ORIGIN))
    there = read_json(made.recorded.with_name("analysis.json"))
    times = {point["point"]: point for point in there["points"]}
    seen = 0
    for before, after in zip(alone["figures"], both["figures"], strict=True):
        (recorded,) = after.pop("recorded")
        assert before.pop("recorded") == []
        assert before == after
        assert (recorded["name"], recorded["state"], recorded["run"]) == ("R1", "ok", RUN.name)
        assert (recorded["model"], recorded["preset"]) == (
            plan["host_facts"]["cpu_model"],
            plan["settings"]["preset"],
        )
        assert recorded["commit"] == origin["recorded_at_commit"]
        assert recorded["date"].replace("-", "") == RUN.name[:8]
        measured = [row for row in recorded["rows"] if row["rerun"] is not None]
        seen += len(measured)
        per = UNITS[after["y_unit"]]
        assert [row["rerun"] * per for row in measured] == pytest.approx(
            [times[row["point"]]["rate_bytes_per_s"] for row in measured]
        )
        assert all(row["low"] <= row["rerun"] <= row["high"] for row in measured if row["low"])
    assert seen
    assert {**alone, "figures": []} == {**both, "figures": []}


def test_pictures_and_tables_name_it(made: Made) -> None:
    content = made.judged("named", None, made.recorded)
    figure = next(figure for figure in content["figures"] if recorded_runs.table(figure))
    shown = paper_panels.values(content, figure)
    without = paper_panels.values(content, figure | {"recorded": []})
    assert shown is not None
    assert without is not None
    (name,) = {recorded_runs.short_name(run) for _, run, _ in recorded_runs.table(figure)}
    assert shown.alt.count(f"({name})") == len(recorded_runs.table(figure))
    assert "recorded" not in without.alt
    assert shown.svg.count("<use") > without.svg.count("<use")
    assert name in recorded_runs.how_to_read(figure)
    html = paper_page.PaperPage(content).tables().html
    assert html.count('<section class="recorded"') == len(content["figures"])  # all are measured
    assert read_json(made.recorded)["commit"][:8] in html
    assert "not here" in html
    assert RUN.parts[-3] not in html, "a machine is told by its model"


def test_downloads_have_columns_of_it(made: Made) -> None:
    content = made.judged("csv", None, made.recorded)
    figure = next(figure for figure in content["figures"] if recorded_runs.table(figure))
    lines = list(csv.DictReader(io.StringIO(figure_tables.figure_csv(figure))))
    alone = list(csv.DictReader(io.StringIO(figure_tables.figure_csv(figure | {"recorded": []}))))
    unit = in_names(figure["y_unit"])
    named = [f"recorded_R1_{end}{unit}" for end in ("", "low95_", "high95_")]
    assert [*lines[0]] == [*alone[0], *named]
    assert [{name: line[name] for name in alone[0]} for line in lines] == alone
    theirs = [
        [row[key] for key in ("rerun", "low", "high")] for row in figure["recorded"][0]["rows"]
    ]
    shown = [[float(line[name]) if line[name] else None for name in named] for line in lines]
    assert shown == theirs


def test_invalid_values_are_told_with_their_findings(made: Made) -> None:
    content = made.judged("found", None, made.recorded)
    there = read_json(made.recorded.with_name("analysis.json"))
    named = {
        (finding["artefact"], point) for finding in there["findings"] for point in finding["where"]
    }
    rows = [row for figure in content["figures"] for _, _, row in recorded_runs.table(figure)]
    pairs = {(artefact, row["point"]) for row in rows for artefact in row["findings"]}
    assert pairs
    assert pairs == {name for name in named if name[1] in {row["point"] for row in rows}}


def test_grids_and_ranges_have_theirs(tmp_path: Path) -> None:
    own, there = tmp_path / "stream" / "analysis.json", tmp_path / "there" / "recorded.json"
    made_up.measured(own, "stream", "quick", 8)
    shutil.copytree(own.parent, there.parent)
    about = {"version": 1, "host": "other", "experiment": "stream", "run": "r", "state": "ok"}
    about |= {"model": "Other CPU", "cores": 4, "date": "2026-01-02", "preset": "quick"}
    write_json(there, about | {"blocks": 8, "commit": "0" * 40, "changed": False, "reason": ""})
    output = tmp_path / "paper.json"
    judge_stage.judge(ROOT, made_up.STREAM, "", [own], output, recorded=[there])
    content = read_paper(output)
    tables = {figure["id"]: recorded_runs.table(figure) for figure in content["figures"]}
    for own_row, _, row in (row for table_rows in tables.values() for row in table_rows):
        assert row["label"] == own_row["label"]
        assert row["rerun"] == pytest.approx(own_row["rerun"]), "the same run, in the same row"
    spreads = [figure for figure in content["figures"] if figure["ranges"] and tables[figure["id"]]]
    grids = [figure for figure in content["figures"] if figure["grid"] and tables[figure["id"]]]
    assert spreads
    assert grids
    for figure in spreads:
        drawn = paper_panels.ranges(content, figure)
        assert drawn is not None
        assert drawn.alt.count("% (R1: Other CPU, 2026-01-02)") == len(tables[figure["id"]])
    html = paper_page.PaperPage(content).tables().html
    assert html.count("recorded, not here (R1: Other CPU, 2026-01-02)") == len(spreads)
    assert f"{len(tables[grids[0]['id']])} recorded values, row by row" in html
    idle = [figure for figure in content["figures"] if figure["recomputed"] and not figure["rows"]]
    assert all(figure["recorded"] == [] for figure in idle)


def test_the_run_that_the_figure_shows_is_not_shown_twice(made: Made) -> None:
    folder = made.recorded.parent
    own = [folder / "analysis.json"]
    assert all(
        figure["recorded"] == [] for figure in made.judged("same", own, made.recorded)["figures"]
    )
    later = made.top / "later" / "recorded.json"
    shutil.copytree(folder, later.parent)
    write_json(later, read_json(made.recorded) | {"run": "20990101T000000Z-0-0"})
    figures = made.judged("two", own, later, made.recorded)["figures"]
    assert all([run["name"] for run in figure["recorded"]] == ["R2"] for figure in figures)


def damage(run: Path, how: str) -> None:
    match how:
        case "cut":
            journal = run / "journal.jsonl"
            journal.write_bytes(journal.read_bytes()[:-9])
        case "manifest.json" | "SHA256SUMS":
            (run / how).unlink()
        case "version":
            write_json(run / "plan.json", read_json(run / "plan.json") | {"version": 999})
            sum_anew(run)
        case "format":
            plan = read_json(run / "plan.json")
            del plan["sizes"]
            write_json(run / "plan.json", plan)
            sum_anew(run)
        case "moved":
            plan = read_json(run / "plan.json")
            write_json(run / "plan.json", plan | {"host": "elsewhere"})
            sum_anew(run)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut", "journal.jsonl is not what was recorded"),
        ("manifest.json", "manifest.json is missing; restore it with git"),
        ("SHA256SUMS", "SHA256SUMS is missing; restore it with git"),
        ("version", "999"),
        ("format", "is not understood by this version"),
        ("moved", "is of elsewhere"),
    ],
)
def test_a_damaged_one_says_what_is_wrong_with_it(tmp_path: Path, how: str, words: str) -> None:
    run = copied(tmp_path)
    damage(run, how)
    output = tmp_path / "out" / "recorded.json"
    analyse_recorded(ROOT, run, output)
    about = read_json(output)
    assert about["state"] == DAMAGED
    assert words in about["reason"]


def test_a_damaged_one_is_a_sentence_in_its_place(made: Made, tmp_path: Path) -> None:
    run = copied(tmp_path)
    damage(run, "cut")
    output = tmp_path / "out" / "recorded.json"
    analyse_recorded(ROOT, run, output)
    about = read_json(output)
    content = made.judged("cut", None, output)
    figure = next(figure for figure in content["figures"] if figure["rows"])
    assert recorded_runs.table(figure) == []
    assert recorded_runs.how_to_read(figure) == ""
    html = paper_page.PaperPage(content).tables().html
    assert html.count(f"The recorded run of {about['date']} is not shown: ") == len(
        content["figures"]
    )
    picture = paper_panels.values(content, figure)
    assert picture is not None
    assert "recorded" not in picture.alt


def test_without_recorded_runs_pages_say_nothing_of_them(made: Made) -> None:
    html = paper_page.PaperPage(made.judged("none")).tables().html
    assert 'class="recorded"' not in html
    assert "recorded, not here" not in html


def test_nothing_of_a_recorded_run_reaches_the_page_unescaped(made: Made) -> None:
    content = made.judged("hostile", None, made.recorded)
    for figure in content["figures"]:
        for run in figure["recorded"]:
            run.update(dict.fromkeys(("model", "date", "preset", "commit"), HOSTILE))
    html = paper_page.PaperPage(content).tables().html
    assert "<script" not in html
    assert "&lt;script" in html


def test_transfers_of_recorded_runs_are_kept_with_their_plain_twins(tmp_path: Path) -> None:
    there = tmp_path / "recorded.json"
    run = max((ROOT / archive.FOLDER).glob("*/hostdev/*/plan.json")).parent.relative_to(ROOT)
    analyse_recorded(ROOT, run, there)
    content, own = catalogue.definition(ROOT, "hostdev"), {"experiment": "hostdev"}
    (experiment,) = transfers(content, own | {"host": "here", "run": "r"}, [there])
    assert experiment["name"] == "R1"
    assert {point["experiment"] for point in experiment["points"]} == {"hostdev"}
    assert {point["observations"]["device_is_host_memory"] for point in experiment["points"]} == {0}
    assert {point["observations"]["link_load_gt_per_s"] for point in experiment["points"]} == {32}
    pinned = [pair for pair in experiment["plain"] if "memory=pinned" in pair["point"]]
    assert pinned
    assert all(point["longer_ns"] > 0 and point["ratio"] < 1 for point in pinned)
    host, _, name = run.parts[-3:]
    assert transfers(content, own | {"host": host, "run": name}, [there]) == []
    assert transfers(content, {"experiment": "mbw", "host": "here", "run": "r"}, [there]) == []
    write_json(there, read_json(there) | {"state": DAMAGED})
    assert transfers(content, own | {"host": "here", "run": "r"}, [there]) == []


@pytest.fixture(scope="module")
def site(made: Made) -> Path:
    """The paper's page of a recorded run and a damaged one, and of two without its own."""
    run = copied(made.top / "torn")
    damage(run, "cut")
    damaged = made.top / "torn" / "out" / "recorded.json"
    analyse_recorded(ROOT, run, damaged)
    again = made.top / "again" / "recorded.json"
    shutil.copytree(made.recorded.parent, again.parent)
    write_json(again, read_json(again) | {"run": "20990101T000000Z-0-0", "date": "2099-01-01"})
    made_up.results(made.top / "bare", "tiny", failing=".", bare=True)
    bare = [made.top / "bare" / run.parent.name / run.name for run in made.own]
    cases = {
        "whole": made.judged("whole", None, made.recorded, damaged),
        "bare": made.judged("bare", bare, made.recorded, again),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("MPLBACKEND", "agg")
        for name in cases:
            patch.setenv(paper_page.VARIABLE, str(made.top / name / "paper.json"))
            text = notebook_export.export(made_up.executed_here(NOTEBOOK), "")
            write_text(made.top / "site" / f"{name}.html", text)
    return made.top / "site"


@pytest.mark.parametrize("name", ["whole", "bare"])
def test_the_page_is_readable_everywhere(site: Path, browser: Browser, name: str) -> None:
    path = site / f"{name}.html"
    seen = look(browser, path)
    assert seen["overlaps"] == seen["cut_off"] == seen["messages"] == []
    assert all(seen["widths"][width] <= width for width in WIDTHS)
    assert seen["requests"] == [path.as_uri()]
    assert violations(browser, path) == []


def lab(root: Path) -> Lab:
    return Lab(root, {"preset": "tiny", "figure": None}, "here-2c-0")


def test_a_new_recording_makes_the_page_anew_and_measures_nothing(tmp_path: Path) -> None:
    wanted: Any = SimpleNamespace(paper=made_up.PAPER)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "published").symlink_to(ROOT / "data" / "published")
    assert lab(tmp_path).recorded(wanted) == lab(tmp_path).recorded_options(wanted) == []
    run = copied(tmp_path / archive.FOLDER)
    copied(tmp_path / archive.FOLDER / "draft").rename(run.with_name(f".{run.name}.part"))
    (made,) = lab(tmp_path).recorded(wanted)
    machine, experiment, name = RUN.parts[-3:]
    assert made == f"results/recorded/{machine}/{experiment}/{name}/recorded.json"
    assert lab(tmp_path).recorded_options(wanted) == [f"--recorded {made}"]
    place: Any = SimpleNamespace(machine=machine, experiment=experiment, run=name)
    files = lab(tmp_path).recorded_files(place)
    assert {Path(file).name for file in files} == {path.name for path in run.iterdir()}
    rules = {workflow.stem: workflow.read_text() for workflow in (ROOT / "workflows").glob("*.smk")}
    assert [name for name, text in rules.items() if "lab.recorded" in text] == ["analyse"]


def test_a_run_that_nobody_recorded_is_refused_by_name(tmp_path: Path) -> None:
    output = tmp_path / "recorded.json"
    analyse_recorded(ROOT, Path("data/recorded/h/mbw/20260101T000000Z-0-0"), output)
    about = read_json(output)
    assert about["state"] == DAMAGED
    assert "data/recorded/h/mbw/20260101T000000Z-0-0/SHA256SUMS is missing" in about["reason"]


@pytest.mark.parametrize("name", ["../../../out", "/tmp/out", ".hidden", "", None])
def test_a_variant_of_a_recorded_run_leads_nowhere_else(tmp_path: Path, name: str | None) -> None:
    """Its name becomes a folder below the run's results."""
    run = copied(tmp_path / archive.FOLDER)
    content = read_json(run / archive.VARIANTS)
    content["items"][0]["variant"] = name
    write_json(run / archive.VARIANTS, content)
    sum_anew(run)
    output = tmp_path / "results/a/b/c/recorded.json"
    analyse_recorded(ROOT, run, output)
    about = read_json(output)
    assert about["state"] == DAMAGED
    assert "has an odd name of a variant; record the run anew" in about["reason"]
    assert [path.name for path in (tmp_path / "results").rglob("*.json")] == ["recorded.json"]
