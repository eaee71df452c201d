"""Logs that are kept as imported runs: on disk, beside one's own figures, and on their page."""

from __future__ import annotations

import copy
import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from browser import look
from playwright.sync_api import Browser

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.core.sizes import format_bytes
from benchbook.define.catalogue import paper as paper_of
from benchbook.explain.imported_runs import FOLDER, imported_runs, imported_values, keep_log
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.report.imported_page import make_imported
from benchbook.report.render import part
from benchbook.report.sections import paper_panels

ROOT = Path(__file__).parent.parent
LOGS = Path(__file__).parent / "logs"
MBW, STREAM = LOGS / "mbw/real-1.2.2-all.log", LOGS / "stream/c-5.10-one-thread.log"
HOSTILE = "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'>\"'&lt;b&gt;"


def test_a_log_is_kept_with_checksum_table_and_findings(tmp_path: Path) -> None:
    folder = keep_log(tmp_path, MBW, "theirs", Machine(2**25, source="--l3"))
    assert folder == tmp_path / "data/imported/theirs"
    assert (folder / "log").read_bytes() == MBW.read_bytes()
    manifest = read_json(folder / "manifest.json")
    assert manifest["state"] == "imported"
    assert manifest["sha256"] == hashlib.sha256(MBW.read_bytes()).hexdigest()
    assert manifest["machine"]["llc_bytes"] == 2**25
    rows = list(csv.DictReader((folder / "results.csv").open()))
    assert {row["state"] for row in rows} == {"imported"}
    assert [row["value"] for row in rows if row["name"] == "MCBLOCK"][-1] == "34255.129"
    found = read_json(folder / "explained.json")["findings"]
    assert [entry["artefact"] for entry in found] == ["source-not-advanced"]


def test_runs_are_never_overwritten(tmp_path: Path) -> None:
    folder = keep_log(tmp_path, MBW, "theirs", Machine())
    before = (folder / "manifest.json").read_bytes()
    assert keep_log(tmp_path, MBW, "theirs", Machine()) == folder
    assert (folder / "manifest.json").read_bytes() == before
    with pytest.raises(BenchbookError, match="choose another name"):
        keep_log(tmp_path, STREAM, "theirs", Machine())


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".x", "-x", "a b", "<b>", "x" * 81])
def test_a_name_is_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(BenchbookError, match="is no name"):
        keep_log(tmp_path, MBW, name, Machine())


def test_what_is_not_recognised_is_not_kept(tmp_path: Path) -> None:
    letter = tmp_path / "letter"
    letter.write_text("it was fast\n")
    with pytest.raises(BenchbookError, match="no output of a benchmark was recognised"):
        keep_log(tmp_path, letter, "theirs", Machine())
    with pytest.raises(BenchbookError, match="cannot be read"):
        keep_log(tmp_path, tmp_path / "absent", "theirs", Machine())
    assert list(imported_runs(tmp_path)) == []


def test_an_import_that_was_killed_is_none_and_can_be_repeated(tmp_path: Path) -> None:
    torn = tmp_path / FOLDER / "theirs"
    torn.mkdir(parents=True)
    (torn / "log").write_bytes(b"half")
    assert list(imported_runs(tmp_path)) == []
    keep_log(tmp_path, MBW, "theirs", Machine())
    assert [run.name for run in imported_runs(tmp_path)] == ["theirs"]


def test_a_log_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = keep_log(tmp_path, MBW, "theirs", Machine())
    with (folder / "log").open("ab") as stream:
        stream.write(b"more")
    with pytest.raises(BenchbookError, match="was changed after its import"):
        list(imported_runs(tmp_path))


FIGURE: dict[str, Any] = {
    "id": "f",
    "title": "t",
    "y_unit": "MB/s",
    "imported": [{"tool": "mbw", "statistic": "mean", "like": {"array_bytes": "64 MiB"}}],
}
ROWS = [
    {"group": "", "label": "MEMCPY", "rerun": 10.0},
    {"group": "MCBLOCK", "label": "first size", "rerun": 20.0},
    {"group": "MCBLOCK", "label": "second size", "rerun": 30.0},
]


def test_results_stand_beside_rows_of_their_name(tmp_path: Path) -> None:
    keep_log(tmp_path, MBW, "theirs", Machine())
    keep_log(tmp_path, STREAM, "other", Machine())
    found = imported_values(tmp_path, FIGURE, ROWS)
    assert [entry["label"] for entry in found] == ["MEMCPY", "MCBLOCK"]
    copy, block = found
    assert copy["value"] == pytest.approx(13234.99 * 2**20 / 1e6)
    assert (copy["rerun"], block["rerun"]) == ([10.0, 10.0], [20.0, 30.0])
    assert (copy["findings"], block["findings"]) == ([], ["source-not-advanced"])
    assert {entry["state"] for entry in found} == {"imported"}


@pytest.mark.parametrize(
    "other",
    [
        {"imported": [{"tool": "stream", "statistic": "mean"}]},
        {"imported": [{"tool": "mbw", "statistic": "best"}]},
        {"imported": [{"tool": "mbw", "statistic": "mean", "like": {"array_bytes": "32 MiB"}}]},
        {"y_unit": "µs"},
        {"y_unit": ""},
        {"imported": []},
    ],
)
def test_what_measures_something_else_stays_away(tmp_path: Path, other: dict[str, Any]) -> None:
    keep_log(tmp_path, MBW, "theirs", Machine())
    assert imported_values(tmp_path, FIGURE | other, ROWS) == []


def test_a_figure_shows_them_with_their_findings(tmp_path: Path) -> None:
    keep_log(tmp_path, MBW, "theirs", Machine())
    figure = FIGURE | {"imported": imported_values(tmp_path, FIGURE, ROWS)}
    html = part("imported", paper={"figure": ""}, figure=figure, size=format_bytes).html
    assert 'href="imported.html#theirs"' in html
    assert "source-not-advanced" in html
    assert "64 MiB" in html
    assert "20.0 to 30.0" in html


# A log of the corpus -> (figure, [(row, value as drawn)], how many rows it has a value for).
MESSAGES = {
    "osu/latency-7.log": ("mpi-round-trip", {"4": 2 * 1.43, "4096": 2 * 3.87}, 6),
    "imb/pingpong-2021.log": ("mpi-round-trip", {"0": 2 * 1.21, "1024": 2 * 2.26}, 7),
    "osu/bandwidth-5.log": ("mpi-bandwidth", {"4": 16.11, "65536": 11540.03}, 8),
    "osu/validated.log": ("mpi-both-ways", {"4": 21.46}, 1),
    "imb/windows-2021.log": ("mpi-bandwidth", {"4": 13.61, "65536": 9175.04}, 8),
}


def rows_of(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows as a figure without a rerun has them."""
    empty = {"group": "", "rerun": None, "low": None, "high": None, "point": None}
    empty |= {"printed": "1", "state": "not_in_preset", "reason": "", "emulates": ""}
    return [
        {**empty, "label": str(entry["row"][figure["x"]]), "row": entry["row"], "invocations": []}
        for entry in figure["select"]
    ]


def figure_of(name: str) -> dict[str, Any]:
    return next(figure for figure in paper_of(ROOT, "ssscore")["figures"] if figure["id"] == name)


@pytest.mark.parametrize("log", MESSAGES)
def test_messages_stand_beside_rows_of_their_size(log: str, tmp_path: Path) -> None:
    name, known, amount = MESSAGES[log]
    keep_log(tmp_path, LOGS / log, "theirs", Machine())
    for each in ("mpi-round-trip", "mpi-bandwidth", "mpi-both-ways"):
        figure = figure_of(each)
        rows = rows_of(figure)
        before = copy.deepcopy(rows)
        found = imported_values(tmp_path, figure, rows)
        assert rows == before, "what is measured here is never touched"
        values = {entry["label"]: entry["value"] for entry in found}
        if each == name:
            assert len(found) == len(values) == amount
            assert {row: values[row] for row in known} == pytest.approx(known)
        elif log.startswith("osu"):
            assert not found


@pytest.mark.parametrize("log", ["osu/multiple-bandwidth.log", "osu/allreduce-full.log"])
def test_many_ranks_stand_beside_no_messages_of_two(log: str, tmp_path: Path) -> None:
    keep_log(tmp_path, LOGS / log, "theirs", Machine())
    for each in ("mpi-round-trip", "mpi-bandwidth", "mpi-both-ways"):
        figure = figure_of(each)
        assert imported_values(tmp_path, figure, rows_of(figure)) == []


def test_a_picture_draws_them_as_imported(tmp_path: Path) -> None:
    keep_log(tmp_path, LOGS / "osu/latency-7.log", "theirs", Machine())
    figure = figure_of("mpi-round-trip")
    figure = figure | {"quantity": "time", "grid": False, "rows": rows_of(figure)}
    paper: Any = {"figure": "", "figures": [], "points": [], "findings": [], "preset": "tiny"}
    paper |= {"experiments": {}}
    figure["imported"] = imported_values(tmp_path, figure, figure["rows"])
    figure["recorded"] = []
    shown = paper_panels.values(paper, figure)
    without = paper_panels.values(paper, figure | {"imported": []})
    assert shown is not None
    assert without is not None
    assert "imported 7.74" in shown.alt
    assert "imported" not in without.alt
    assert shown.svg.count("<use") - without.svg.count("<use") >= len(figure["imported"])
    assert paper_panels.IMPORTED in paper_panels.how_to_read_imported(figure)
    html = part("imported", paper=paper, figure=figure, size=format_bytes).html
    assert "Of osu: 2 times what it prints, for it prints half of a round trip." in html
    assert "array" not in html


def hostile_log() -> bytes:
    record = {"command": HOSTILE, "mean": 1.0, "stddev": 0.1, "median": 1.0, "min": 0.9}
    record |= {"max": 1.2, "times": [1.0, 0.9, 1.1], "user": 0.1, "system": 0.0}
    record |= {"parameters": {HOSTILE: HOSTILE}}
    context = {"executable": HOSTILE, "num_cpus": 2, "mhz_per_cpu": 1000, "caches": []}
    run = {"name": HOSTILE, "run_name": HOSTILE, "run_type": "iteration", "iterations": 5}
    run |= {"real_time": 1.0, "cpu_time": 1.0, "time_unit": "ns", "label": HOSTILE}
    documents = [{"results": [record]}, {"context": context, "benchmarks": [run]}]
    lines = [HOSTILE, *(json.dumps(document, indent=1) for document in documents), MBW.read_text()]
    return "\n".join(lines).encode()


def hostile_report(log: object) -> list[Report]:
    """Hostile in each field that an importer fills."""
    result = Result(HOSTILE, 1.0, HOSTILE, 1, HOSTILE, {HOSTILE: HOSTILE, "array_bytes": HOSTILE})
    return [Report(HOSTILE, [result], 1, HOSTILE, {HOSTILE: HOSTILE}, [HOSTILE])]


def test_nothing_of_a_log_reaches_the_page_unescaped(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchbook.explain.readers import mbw

    monkeypatch.setattr(mbw, "read", hostile_report)
    file = tmp_path / f"{HOSTILE.replace('/', '')}.log"
    file.write_bytes(hostile_log())
    keep_log(tmp_path, file, "theirs", Machine(source=HOSTILE))
    page = tmp_path / "imported.html"
    make_imported(tmp_path, page)
    text = page.read_text()
    assert "<script>window.ran" not in text
    assert "<img" not in text
    seen = look(browser, page)
    assert seen["requests"] == [page.as_uri()]
    assert (seen["unscoped"], seen["empty"]) == ([], 0)
    assert all(needed <= width for width, needed in seen["widths"].items())
    shown = browser.new_page()
    shown.goto(page.as_uri())
    assert shown.evaluate("window.ran") is None
    assert shown.locator("img").count() == 0
    assert "<script>window.ran" in shown.inner_text("body")
    shown.close()


def test_without_imports_the_page_says_how(tmp_path: Path) -> None:
    make_imported(tmp_path, tmp_path / "imported.html")
    assert "benchbook import FILE --as NAME" in (tmp_path / "imported.html").read_text()
