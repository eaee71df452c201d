"""The appendix for reviewers: tables, minutes, PDF, and what happens without Chromium."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import made_up
import made_up_findings
import pytest
from test_pages_hostile import HOSTILE

from benchbook.core.errors import BenchbookError
from benchbook.judge.paper_json import read_paper
from benchbook.report import appendix, print_pdf, wording

RUN = "20261127T120000Z-0-0"
RUN_S = 1795780800.0  # its name as seconds since 1970


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What made-up results are judged to be, without a change by a test."""
    return read_paper(made_up_findings.results(tmp_path_factory.mktemp("made"), "quick", {}))


@pytest.fixture
def content(paper: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(paper))
    changed["experiments"]["mbw"] |= {"run": RUN, "measuring_s": 89.0, "probing_s": 1.0}
    return changed


def rows(text: str) -> list[list[str]]:
    """The cells of all rows of tables."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ") for line in lines]


def test_a_claim_stands_with_region_interval_verdict_and_hardware(content: dict[str, Any]) -> None:
    claim = wording.all_claims(content)[0]
    claim |= {"text": "A is faster.", "scope": "one core", "unit": "ratio of rates"}
    claim |= {"region": [1.5, None], "estimate": 2.0, "interval": [1.9, 2.1], "through": None}
    claim |= {"verdict": "reproduced", "requires": "two sockets"}
    row = next(row for row in rows(appendix.appendix([content], "abc", None)) if "A is" in row[0])
    assert row == [
        *("A is faster. (one core)", "ratio of rates: at least 1.5", "2.00 (1.90 to 2.10)"),
        *("reproduced", "two sockets"),
    ]


def test_what_was_not_measured_says_why(content: dict[str, Any]) -> None:
    claim = wording.all_claims(content)[0]
    claim |= {"text": "A is faster.", "verdict": "not_measurable_here", "through": None}
    claim |= {"estimate": None, "requires": None, "reason": {"code": "not_in_preset"}}
    row = next(row for row in rows(appendix.appendix([content], "abc", None)) if "A is" in row[0])
    assert row[2:] == ["–", "not measurable here: Not in this preset", "any Linux machine"]


def test_minutes_are_those_of_the_runs_and_of_the_workflow_that_holds_them(
    content: dict[str, Any], tmp_path: Path
) -> None:
    notes = tmp_path / "stages.jsonl"
    lines = [
        {"workflow": str(begun), "stage": "measure", "from_s": begun + 5, "to_s": begun + took}
        for begun, took in ((RUN_S - 900, 600), (RUN_S - 60, 300), (RUN_S + 900, 600))
    ]
    notes.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + '{"torn')
    took_s = appendix.workflow_s(notes, [content])
    assert took_s == 300
    text = appendix.appendix([content], "abc+", took_s)
    assert ["`slocum2013-mbw`", "mbw", "1.5 minutes"] in rows(text)
    assert "`make` took 5.0 minutes here" in text
    assert "commit `abc` with changes that are not committed" in text
    assert "git checkout abc\n" in text
    content["experiments"]["mbw"]["run"] = "20201127T120000Z-0-0"  # by no workflow that is noted
    assert appendix.workflow_s(notes, [content]) is None
    assert "`make` took" not in appendix.appendix([content], "abc", None)


def test_text_of_a_paper_is_no_markup(content: dict[str, Any]) -> None:
    claim = wording.all_claims(content)[0]
    claim["text"] = f"{HOSTILE}\n# no heading | no cell"
    text = appendix.appendix([content], "abc", None)
    assert "\n# no heading" not in text
    html = appendix.page(text).partition("<body>")[2]
    assert "<script>hit" not in html and "<img" not in html and "<svg" not in html
    assert "&lt;script&gt;hit=1" in html and "no heading | no cell" in html
    assert html.count("<h1") == 1 and "<a " not in html


@pytest.fixture
def checkout(content: dict[str, Any], tmp_path: Path) -> Path:
    for name in ("kernels", "data"):
        (tmp_path / name).symlink_to(made_up.ROOT / name)
    path = tmp_path / "results" / "h" / "quick" / made_up.PAPER / "paper.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    return tmp_path


def test_a_pdf_is_printed_without_network(checkout: Path) -> None:
    if not any(map(shutil.which, print_pdf.PROGRAMS)):
        pytest.skip("Chromium is absent")
    for target, base in (("folder", "folder/appendix"), ("a.pdf", "a"), ("b.md", "b")):
        done = appendix.write_appendix(checkout, checkout / target, [], "h", "quick")
        assert (done.markdown, done.pdf) == (checkout / f"{base}.md", checkout / f"{base}.pdf")
        assert done.no_pdf == ""
        assert done.pdf.read_bytes().startswith(b"%PDF-")
        assert done.markdown.read_text().startswith("# Artifact appendix: “Testing Memory")


def test_without_chromium_the_markdown_is_written(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "a.pdf").write_text("an older one")
    monkeypatch.setenv("PATH", str(checkout))
    done = appendix.write_appendix(checkout, checkout / "a.md", [], "h", "quick")
    assert done.markdown.exists() and not done.pdf.exists()
    assert "install Debian's package `chromium`" in done.no_pdf


def test_a_chromium_that_fails_is_named(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = checkout / "chromium"
    program.write_text("#!/bin/sh\necho first >&2; echo no display >&2; exit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{checkout}:/bin:/usr/bin")
    done = appendix.write_appendix(checkout, checkout / "a", [made_up.PAPER], "h", "quick")
    assert done.no_pdf.endswith("chromium did not print it (no display)")


def test_papers_without_results_are_refused(checkout: Path) -> None:
    with pytest.raises(BenchbookError, match="no results of 'ssscore'; name one of slocum2013-mbw"):
        appendix.write_appendix(checkout, checkout / "a", ["ssscore"], "h", "quick")
    with pytest.raises(BenchbookError, match="has no results; run"):
        appendix.write_appendix(checkout, checkout / "a", [], "h", "paper")
    assert not (checkout / "a").exists()
