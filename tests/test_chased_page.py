"""Latency on the machine's page: of made-up chases beside made-up caches, in words and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import made_up
import numpy as np
import pytest
from browser import WIDTHS, look, look_without_script, violations
from test_chases import BLOCKS, SIZES, planted, table

from benchbook.analyse.cache_latency import chases
from benchbook.core.number_format import FIXED
from benchbook.report import machine_page
from benchbook.report.sections import cache_latency

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STATED = {"L1d": 48 << 10, "L2": 2 << 20, "L3": 32 << 20}
BOASTED = {**STATED, "L3": 480 << 20}


def analysed(
    times: np.ndarray, huge: float = 1.0, pages: str = "huge", sizes: int = len(SIZES)
) -> list[dict[str, Any]]:
    """The chases of an analysis; `huge`: the share of each working set in huge pages."""
    points, summaries = table(times, 1024, pages)
    for point in points:
        point["observations"]["anon_huge_bytes"] = huge * point["factors"]["bytes"]
    return chases(points[:sizes], summaries)


def section(lines: list[dict[str, Any]], caches: dict[str, int]) -> dict[str, Any]:
    """What the page gets, with spaces at which lines break."""
    analysis = {"experiment": "made-up", "chases": lines, "caches": caches}
    (shown,) = cache_latency.sections([analysis, {"experiment": "other", "chases": []}, {}])
    text = json.dumps(shown, ensure_ascii=False).replace(FIXED, " ")
    plain: dict[str, Any] = json.loads(text)
    return plain | {"text": " ".join(plain["sentences"])}


def test_levels_stand_beside_the_caches_that_end_there() -> None:
    shown = section(analysed(planted(0.02)), STATED)
    assert shown["title"].startswith("Loads take 1.40 ns up to 48 KiB, 4.5")
    for words in (
        "between 48 KiB and 64 KiB, where L1d is stated with 48 KiB",
        "between 2 MiB and 3 MiB, where L2 is stated with 2 MiB",
        "between 32 MiB and 48 MiB, where L3 is stated with 32 MiB",
    ):
        assert words in shown["text"]
    assert "are not what" not in shown["text"]
    assert [level["stated"] for level in shown["levels"]] == [
        *("L1d 48 KiB", "L2 2 MiB", "L3 32 MiB"),
        "",
    ]
    assert shown["levels"][-1]["behind"] == "the sweep ends"
    assert len(shown["sizes"]) == len(SIZES)


def test_a_cache_that_is_smaller_than_stated_is_the_title() -> None:
    shown = section(analysed(planted(0.02)), BOASTED)
    assert shown["title"].startswith("The stated 480 MiB of L3 are not what loads get here")
    assert shown["title"].endswith("times between 32 MiB and 48 MiB")
    assert "where no cache is stated" in shown["text"]
    assert "There is no visible step at the stated L3 size of 480 MiB." in shown["text"]


@pytest.mark.parametrize("huge", [0.0, 0.5])
def test_of_small_pages_no_cache_is_called_smaller(huge: float) -> None:
    shown = section(analysed(planted(0.02), huge), BOASTED)
    assert "are not what" not in shown["title"] + shown["text"]
    assert "these times include TLB misses" in shown["caption"]


def test_a_sweep_that_ends_too_early_says_so() -> None:
    shown = section(analysed(planted(0.02), sizes=30), BOASTED)
    assert "The largest working set, 96 MiB, is too small to show the stated L3" in shown["text"]
    assert "are not what" not in shown["title"] + shown["text"]


def test_a_flat_sweep_rises_nowhere() -> None:
    shown = section(analysed(np.full((len(SIZES), BLOCKS), 5.0)), STATED)
    assert "It rises nowhere" in shown["text"]
    assert "There is no visible step at the stated L2 size of 2 MiB." in shown["text"]
    assert shown["title"].endswith("; no rise can be distinguished")


def test_noise_says_what_is_in_the_way() -> None:
    few = section(analysed(planted(0.02, blocks=3)), STATED)
    assert "no rise is visible: 3 blocks are too few for an interval" in few["text"]
    steep = np.repeat(np.array([[2.0**k] for k in range(len(SIZES))]), BLOCKS, axis=1)
    none = section(analysed(steep), STATED)
    assert none["title"] == "No level of latency can be distinguished"
    assert none["levels"] == []
    assert none["svg"]


def test_without_stated_caches_the_rises_remain() -> None:
    shown = section(analysed(planted(0.02)), {})
    assert shown["text"].count("where no cache is stated") == 3


def test_huge_pages_decide_and_small_ones_stand_beside_them() -> None:
    lines = analysed(1.5 * planted(0.02), 0.0, "small") + analysed(planted(0.02), sizes=34)
    shown = section(lines, STATED)
    assert shown["labels"] == ["huge pages", "small pages"]
    assert "Rises and levels are those with huge pages." in shown["caption"]
    assert "ns with small pages and " in shown["text"]
    assert shown["sizes"][-1]["times"][0] == "–"


def test_one_size_has_no_picture() -> None:
    shown = section(analysed(planted(0.0), sizes=1), STATED)
    assert not shown["svg"]
    assert "No level can be distinguished" in shown["text"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Machine pages with a chase: as stated, boasted, rough, and without any."""
    top = tmp_path_factory.mktemp("chased")
    small = analysed(1.3 * planted(0.05), 0.0, "<script>alert(1)</script>")
    rough = analysed(planted(0.3))
    near = {"L1d": 32 << 10, "L2": 64 << 10, "L3": 96 << 10, "L4": 768 << 20}
    cases: dict[str, tuple[list[dict[str, Any]], dict[str, int]]] = {
        "stated": (analysed(planted(0.02)) + small, STATED),
        "boasted": (analysed(planted(0.02)), BOASTED),
        "rough": (rough, near),
        "short": (analysed(planted(0.0), sizes=2), {**STATED, "L4": 1 << 40}),
        "none": ([], STATED),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made_up.ROOT)
        for name, (lines, caches) in cases.items():
            path = top / name / "analysis.json"
            made_up.measured(path, "mbw", "tiny", 8)
            analysis = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps(analysis | {"chases": lines, "caches": caches}))
            machine_page.make_machine([path], top / f"{name}.html")
    return top


@pytest.mark.parametrize("name", ["stated", "boasted", "rough", "short", "none"])
def test_the_page_is_readable_everywhere(site: Path, browser: Browser, name: str) -> None:
    path = site / f"{name}.html"
    for seen in (look(browser, path), look_without_script(browser, path)):
        assert seen["overlaps"] == seen["cut_off"] == seen["messages"] == []
        assert all(seen["widths"][width] <= width for width in WIDTHS)
        assert seen["requests"] == [path.as_uri()]
    assert violations(browser, path) == []


def test_the_page_says_in_words_what_the_picture_shows(site: Path, browser: Browser) -> None:
    text = look(browser, site / "boasted.html")["text"].replace(FIXED, " ")
    assert "The stated 480 MiB of L3 are not what loads get here" in text
    assert "No chase of pointers was measured" in look(browser, site / "none.html")["text"]
    page = (site / "boasted.html").read_text(encoding="utf-8").replace(FIXED, " ")
    assert 'aria-label="Nanoseconds per load by working set. A load that depends' in page
    assert "<script>alert(1)" not in (site / "stated.html").read_text(encoding="utf-8")
