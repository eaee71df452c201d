"""Findings at the points that they concern, claims that hold through an artefact only, and the page
of the controls, in a real browser."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import made_up
import made_up_findings
import made_up_stream
import pytest
from browser import OPEN, look, opened
from made_up_findings import control, finding
from playwright.sync_api import Browser
from test_pages import sound

from benchbook.core.files import write_text
from benchbook.define import catalogue
from benchbook.detect.inputs.run_table import trial_id
from benchbook.judge.artefact_dependence import dependence
from benchbook.judge.paper_json import read_paper
from benchbook.judge.resolved_claim import Claim, Measured, resolve_claim
from benchbook.plan import plan
from benchbook.report import (
    artefacts,
    controls_page,
    index_page,
    machine_page,
    notebook_export,
    paper_page,
    reasons,
    wording,
)
from benchbook.report.plots import marks as plot_marks
from benchbook.report.plots.marks import Marked
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections import paper_panels

CONTENT, POINTS = made_up.points_of("mbw", "quick")
IDS = [point.id for point in POINTS if not point.twin]
DETECTORS = made_up.ROOT / "benchbook/detect/detectors"
STUCK = [point for point in IDS if "block-1.1.1" in point]
COPIES = [point for point in IDS if "method=copy" in point]
WHOLE_RUN = "cache-size-disagrees"
IN_WORDS = wording.capitalised(artefacts.title(WHOLE_RUN))
TRIAL = next(
    str(row["name"]).removeprefix("trial: ")
    for row in made_up_stream.evidence()
    if row["name"].startswith("trial: ")
)


@pytest.fixture(scope="module")
def run() -> Measured:
    described = [
        {"point": point.id, "variant": point.variant, "twin": point.twin, "factors": point.factors}
        | {"state": "ok", "reason": "", "observations": {}}
        for point in POINTS
    ]
    return Measured(described, made_up.summaries_of("mbw", POINTS, 8, 0.02))


def claim_of(name: str) -> dict[str, Any]:
    paper = catalogue.paper(made_up.ROOT, made_up.PAPER)
    every = [claim for figure in paper["figures"] for claim in figure.get("claims", [])]
    return next(claim for claim in every if claim["id"] == name)


def judged(run: Measured, claim: dict[str, Any], *findings: dict[str, Any]) -> Any:
    resolved = resolve_claim(Claim.of(claim), CONTENT, made_up.SIZES, run).estimated(1)
    through = dependence(resolved, findings)
    if through is None:
        return None
    as_json = {"kind": claim["estimand"]["kind"], "region": claim["region"], "through": through}
    return through | {"words": reasons.dependence(as_json)}


@pytest.fixture
def sides() -> tuple[str, str]:
    """The points of the first claim: the stuck copy, and the whole one."""
    return (
        next(point for point in STUCK if "bytes=33554432" in point and "block_bytes=4096" in point),
        next(point for point in COPIES if "bytes=33554432" in point and "call=memcpy" in point),
    )


def test_a_known_factor_is_taken_out(run: Measured, sides: tuple[str, str]) -> None:
    claim, (top, bottom) = claim_of("order-of-magnitude"), sides
    through_artefact = judged(run, claim, finding("stuck", "invalidates", [top], 12.0))
    assert (through_artefact["kind"], through_artefact["artefacts"]) == ("only", ["stuck"])
    assert through_artefact["without"] == pytest.approx(90 / 8 / 12, rel=0.05)
    assert (
        through_artefact["interval"][0]
        < through_artefact["without"]
        < through_artefact["interval"][1]
    )
    assert through_artefact["words"].startswith(
        "reproduced, only through stuck: without it the ratio is 0.9"
    )
    # What slows the other side makes the claim easier to hold; what speeds it up, harder.
    slow = judged(run, claim, finding("slow", "biases", [bottom], 0.2))
    assert slow["without"] == pytest.approx(90 / 8 * 0.2, rel=0.05)
    assert judged(run, claim, finding("fast", "biases", [bottom], 5.0)) is None


def test_what_holds_without_the_artefact_is_reproduced(
    run: Measured, sides: tuple[str, str]
) -> None:
    claim = claim_of("order-of-magnitude")
    assert judged(run, claim, finding("a-little", "biases", [sides[0]], 1.2)) is None
    assert judged(run, claim, finding("why", "explains", [sides[0]], 12.0)) is None
    assert judged(run, claim, finding("elsewhere", "invalidates", STUCK[-1:], 12.0)) is None
    assert judged(run, claim, finding("host", "invalidates", [], 12.0)) is None
    stuck = finding("stuck", "invalidates", [sides[0]], 12.0)
    assert judged(run, claim, stuck) is not None


def test_a_comparison_says_nothing_of_what_is_on_one_side_of_it(
    run: Measured, sides: tuple[str, str]
) -> None:
    claim, (top, bottom) = claim_of("order-of-magnitude"), sides
    spinning = finding("spins", "biases", [top, STUCK[-1]])
    assert judged(run, claim, spinning)["kind"] == "unknown"
    assert judged(run, claim, spinning | {"sides": [[top, bottom], [STUCK[-1]]]}) is None
    assert judged(run, claim, spinning | {"sides": [[top], [STUCK[-1]]]}) is None
    assert judged(run, claim, spinning | {"sides": [[top], [bottom]]})["kind"] == "unknown"


def test_an_interval_over_the_edge_leaves_it_open(run: Measured, sides: tuple[str, str]) -> None:
    claim = claim_of("order-of-magnitude")
    through_artefact = judged(
        run, claim, finding("stuck", "biases", [sides[0]], 90 / 8 / claim["region"][0])
    )
    assert through_artefact["kind"] == "undecided"
    assert "leaves open whether it is at least 3.16" in through_artefact["words"]


def test_an_unknown_factor_is_said(run: Measured, sides: tuple[str, str]) -> None:
    claim = claim_of("order-of-magnitude")
    through_artefact = judged(run, claim, finding("dead-code", "invalidates", [sides[0]]))
    assert (
        through_artefact["kind"],
        through_artefact["without"],
        through_artefact["interval"],
    ) == ("unknown", None, None)
    assert through_artefact["words"] == "reproduced, resting on a point that dead-code invalidates"
    through_artefact = judged(run, claim, finding("dead-code", "invalidates", list(sides)))
    assert through_artefact["words"] == "reproduced, resting on 2 points that dead-code invalidates"
    through_artefact = judged(run, claim, finding("unpinned", "biases", [sides[0]]))
    assert through_artefact["words"].endswith("a point that unpinned biases by an unknown factor")


def test_what_biases_all_sides_alike_blames_nobody(run: Measured, sides: tuple[str, str]) -> None:
    claim = claim_of("order-of-magnitude")
    assert judged(run, claim, finding("unpinned", "biases", list(sides))) is None
    assert judged(run, claim, finding("in-cache", "biases", IDS, 9.0)) is None
    # What only informs of the other side biases one alone.
    both = finding("in-cache", "biases", STUCK, 9.0), finding("in-cache", "informs", COPIES)
    assert judged(run, claim, *both)["kind"] == "undecided"


def test_the_factor_of_several_points_can_only_leave_it_open(
    run: Measured, sides: tuple[str, str]
) -> None:
    claim = claim_of("order-of-magnitude")
    through_artefact = judged(run, claim, finding("in-cache", "biases", STUCK, 9.0))
    assert through_artefact["kind"] == "undecided"
    words = "a point that in-cache biases, by a factor of 9.00 over several points together: with "
    assert words in through_artefact["words"]
    assert judged(run, claim, finding("in-cache", "biases", STUCK, 1.1)) is None


def test_of_several_points_each_factor_that_is_known_is_taken_out(
    run: Measured, sides: tuple[str, str]
) -> None:
    claim, (top, bottom) = claim_of("order-of-magnitude"), sides
    both = finding("in-cache", "biases", [top, bottom], 12.0)
    through_artefact = judged(run, claim, both | {"factors": {top: 12.0, bottom: 2.0}})
    assert through_artefact["without"] == pytest.approx(90 / 8 / 12 * 2, rel=0.05)
    assert through_artefact["kind"] == "only"
    assert judged(run, claim, both | {"factors": {top: 12.0, bottom: 12.0}}) is None
    # Of the other side nothing is known but what the points have in common.
    several = finding("in-cache", "biases", STUCK, 9.0)
    assert judged(run, claim, several | {"factors": {STUCK[-1]: 9.0}})["kind"] == "undecided"
    assert judged(run, claim, several | {"factors": {top: 9.0}})["kind"] == "only"


def test_one_factor_with_two_names_is_taken_out_once(run: Measured, sides: tuple[str, str]) -> None:
    claim, at = claim_of("order-of-magnitude"), [sides[0]]
    through_artefact = judged(
        run, claim, finding("b", "invalidates", at, 12.0), finding("a", "invalidates", at, 12.0)
    )
    assert through_artefact["words"].startswith(
        "reproduced, only through a and b: without them the ratio is 0.9"
    )
    through_artefact = judged(
        run, claim, finding("b", "biases", at, 4.0), finding("a", "invalidates", at, 12.0)
    )
    assert through_artefact["artefacts"] == ["a", "b"]
    assert through_artefact["words"].count("only through") == 2
    assert through_artefact["without"] == pytest.approx(90 / 8 / 12, rel=0.05)


def test_the_claim_about_the_artefact_itself(run: Measured, sides: tuple[str, str]) -> None:
    """A share that a removed cause explains does not hold through that cause."""
    claim = claim_of("repeated-block-is-the-cause")
    assert judged(run, claim, finding("stuck", "invalidates", [sides[0]], 12.0)) is None


def test_what_a_claim_says_to_be_there_does_not_carry_it(
    run: Measured, sides: tuple[str, str]
) -> None:
    claim, at = claim_of("order-of-magnitude") | {"about": ["stuck"]}, [sides[0]]
    stuck = finding("stuck", "invalidates", at, 12.0)
    too_fast = finding("above-ceiling", "invalidates", at, 3.0)
    assert judged(run, claim, stuck) is None
    assert judged(run, claim, stuck, too_fast) is None
    # Another artefact still does, and so does a rate that cannot be where that one is not.
    through_artefact = judged(run, claim, stuck, finding("dead-code", "invalidates", at))
    assert through_artefact["artefacts"] == ["dead-code"]
    through_artefact = judged(
        run, claim, stuck, finding("above-ceiling", "invalidates", [sides[1]])
    )
    assert through_artefact["artefacts"] == ["above-ceiling"]


def test_what_a_claim_is_about_keeps_its_hash() -> None:
    figure = {"paper": "p", "id": "f", "claims": [{"id": "c", "text": "t"}]}
    declared = {**figure, "claims": [{**figure["claims"][0], "about": ["stuck"]}]}
    assert plan.claim_hashes([figure]) == plan.claim_hashes([declared])


def test_times_are_taken_the_other_way_round(run: Measured, sides: tuple[str, str]) -> None:
    """A factor is one of rates: whoever copies too fast takes too little time."""
    claim = claim_of("order-of-magnitude")
    claim = claim | {"estimand": claim["estimand"] | {"quantity": "time"}, "region": [None, 0.3]}
    through_artefact = judged(run, claim, finding("stuck", "invalidates", [sides[0]], 12.0))
    assert through_artefact["kind"] == "only"
    assert through_artefact["without"] == pytest.approx(12 * 8 / 90, rel=0.05)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """reports/ of two papers with findings of every effect, index and controls; and without any."""
    top = tmp_path_factory.mktemp("findings")
    _, stream = made_up.points_of("stream", "quick")
    names = [point.id for point in stream if not point.twin]
    of_mbw = [finding("source-not-advanced", "invalidates", [point], 12.0) for point in STUCK]
    of_mbw += [
        finding("zero-page", "biases", COPIES[:2], 1.4),
        finding("write-allocate", "explains", COPIES),
        finding("layout-bias", "informs", IDS[::2], more=" and of that"),
        finding(WHOLE_RUN, "informs", [], 12.0),
    ]
    of_stream = [
        finding("dead-code", "invalidates", [name for name in names if "method=add" in name]),
        finding("write-allocate", "explains", names, 1.5),
        finding("layout-bias", "informs", names[::3]),
        finding("exceeds-memory", "informs", [trial_id(TRIAL)]),
    ]
    cases = {
        made_up.PAPER: {"mbw": of_mbw},
        made_up.STREAM: {"stream": of_stream},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made_up.ROOT)
        papers = []
        for paper, findings in cases.items():
            spread = 0.02 if paper == made_up.PAPER else 0.004
            made = made_up_findings.results(
                top / paper, "quick", findings, paper=paper, spread=spread
            )
            shown(made, top / "reports" / f"{paper}.html", patch)
            papers.append(made)
        files = [top / made_up.PAPER / "mbw/analysis.json", papers[0]]
        machine_page.make_machine(files, top / "reports/machine.html")
        none = made_up_findings.results(top / "none", "tiny", {})
        shown(none, top / "none/reports" / f"{made_up.PAPER}.html", patch)
        path = top / "controls.json"
        path.write_text(json.dumps(CONTROLS), encoding="utf-8")
        index_page.make_controls(path, top / "reports/controls.html")
        index_page.make_index(papers, path, top / "reports/index.html")
        index_page.make_index([none], path, top / "none/reports/index.html")
    return top


def shown(paper: Path, output: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv(paper_page.VARIABLE, str(paper))
    notebook = made_up.ROOT / "notebooks" / output.with_suffix(".ipynb").name
    write_text(output, notebook_export.export(made_up.executed_here(notebook), ""))


CONTROLS: dict[str, Any] = {
    "version": 2,
    "host": made_up.HOST,
    "preset": "tiny",
    "runs": [{"door": "host", "facts": {}, "variants": [{"compiler_version": "gcc 1.0"}]}],
    "artefacts": {
        "always": control(4, 4, 100),
        "mostly": control(4, 3, 100, timing_only=False),
        "noisy": control(2, 2, 60, 1),
        "only-replayed": control(
            3, 3, 6,
            timing_only=True,
            replayed={"provoked": 3, "detected": 3, "abstained": 0, "nulls": 6, "false_alarms": 0},
            provoked_at=["replay 0.0", "replay 1.0", "replay 2.0"],
            detected_at=["replay 0.0", "replay 1.0", "replay 2.0"],
            nulls_at=[{"control": "only-replayed", "where": "replay 0.1"}],
            example=finding("only-replayed", "informs", []) | {"confidence": 0.9, "replayed": True},
        ),
        "shy": control(4, 0, 9, abstained=4, missed_at=[], abstained_at=["control,bytes=0"]),
        "not-here": control(0, 0, 0, skipped=2, reason="needs `two` NUMA nodes"),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def looks(site: Path, browser: Browser) -> dict[Path, dict[str, Any]]:
    return {path: look(browser, path) for path in sorted(site.rglob("*.html"))}


def test_marked_pages_fit_and_are_sound(looks: dict) -> None:
    for path, seen in looks.items():
        sound(path, seen)
        assert seen["unnamed"] == seen["empty"] == 0, path
        assert len(seen["ids"]) == len(set(seen["ids"])), path
        assert all(b - a <= 1 for a, b in itertools.pairwise(seen["levels"])), path
        linked = set(re.findall(r'href="#([^"]+)"', path.read_text(encoding="utf-8")))
        assert linked <= set(seen["ids"]), path


def test_every_picture_of_a_marked_point_carries_its_mark(site: Path) -> None:
    paper = read_paper(site / made_up.PAPER / made_up.PAPER / "paper.json")
    drawn = paper_page.PaperPage(paper).pictures()
    for figure in paper["figures"]:
        names = {
            name
            for row in figure["rows"]
            for name in findings_section.marks_of(paper).names(row["point"])
        }
        svg = drawn[figure["id"]].svg
        assert names, figure["id"]
        for name in names:
            assert re.search(rf">[^<]*\b{name}\b[^<]*</text>", svg), (figure["id"], name)
        for letter in {name[0] for name in names}:
            assert f">{letter} {plot_marks.WORDS[letter]}<" in svg  # the legend
    for name in ("overview", "size-sweep", "forms", "odd", "what-moved"):
        assert "X1" in drawn[name].svg or name == "odd", name
        assert "Marked: " in drawn[name].alt or name == "odd", name
    assert (
        "X1 the source pointer never moves (invalidates) at 1 of 3 points"
        in drawn["mbw-b4096-32"].alt
    )
    stream = read_paper(site / made_up.STREAM / made_up.STREAM / "paper.json")
    grid = paper_page.PaperPage(stream).pictures()["virtual-multiples"]
    assert "X1" in grid.svg
    assert f"X1 {artefacts.title('dead-code')} (invalidates)" in grid.alt


def test_findings_stand_below_their_figure_once_each(site: Path, browser: Browser) -> None:
    view = opened(browser, site / "reports" / f"{made_up.PAPER}.html", 1280)
    view.evaluate(OPEN)
    entries = view.query_selector_all("#mbw-b4096-32-table .marked li")
    texts = [entry.inner_text().replace("\n", " ") for entry in entries]
    assert [text.split()[0] for text in texts] == ["X1", "E1", "i1"] or "B1" in texts[1]
    assert "The source pointer never moves: invalidates 1 of 3 points here: " in texts[0]
    # The first sentence alone, whatever its figures look like.
    assert texts[0].endswith("The cause of source-not-advanced is 0.0488% of this. In full")
    overview = view.inner_text("#overview")
    assert overview.count("the source pointer never moves (invalidates)") == 1
    assert all(IN_WORDS not in text for text in texts)
    for link in view.query_selector_all(".marked a.mark"):
        assert view.query_selector(str(link.get_attribute("href"))) is not None
    # One card for each artefact, named in words, its many findings folded.
    assert len(view.query_selector_all("#finding-X1 h3")) == 1
    assert "The source pointer never moves" in view.inner_text("#finding-X1")
    view.evaluate(OPEN)
    assert view.inner_text("#finding-X1").count("What to do.") == len(STUCK)
    cells = view.query_selector_all("#mbw-b4096-32 table.chart tbody th .mark.invalidates")
    assert len(cells) == 1
    view.close()


def test_a_finding_about_the_whole_run_stands_at_no_point(
    site: Path, looks: dict, browser: Browser
) -> None:
    view = opened(browser, site / "reports" / f"{made_up.PAPER}.html", 1280)
    text = looks[site / "reports" / f"{made_up.PAPER}.html"]["text"]
    assert f"About the whole run: {IN_WORDS} (informs)." in text
    assert len(view.query_selector_all(f"#finding-{WHOLE_RUN}-informs")) == 1
    paper = read_paper(site / made_up.PAPER / made_up.PAPER / "paper.json")
    marks = findings_section.marks_of(paper)
    assert [mark.artefact for mark in marks.run] == [WHOLE_RUN]
    assert WHOLE_RUN not in [mark.artefact for mark in marks.every]


def test_the_machine_page_holds_what_is_about_the_whole_run(site: Path, looks: dict) -> None:
    text = looks[site / "reports/machine.html"]["text"]
    _, _, section = text.partition("Findings about whole runs")
    assert section.strip().startswith(f"{IN_WORDS} · informs, by a factor of 12.0")
    assert section.count("Take cache-size-disagrees out.") == 1
    assert "layout-bias" not in text


def test_a_trial_with_a_finding_is_called_by_its_name(site: Path, browser: Browser) -> None:
    view = opened(browser, site / "reports" / f"{made_up.STREAM}.html", 1280)
    rows = view.query_selector_all("[aria-label='Arrays beyond memory'] tbody th")
    marked = {row.inner_text() for row in rows if row.query_selector(".mark.informs")}
    assert len(marked) == 1
    assert wording.capitalised(TRIAL) in marked.pop()
    html = view.content().replace("&#39;", "'")
    assert f"At trial: {TRIAL}." in html
    view.close()


def test_a_grid_marks_lines_and_cells(site: Path, browser: Browser) -> None:
    view = opened(browser, site / "reports" / f"{made_up.STREAM}.html", 1280)
    view.evaluate(OPEN)
    lines = view.query_selector_all("#virtual-multiples-table .matrix tbody tr")
    by_name = {str(line.inner_text().split()[0]): line for line in lines}
    # What all cells of a line carry stands at its name.
    assert [
        mark.inner_text() for mark in by_name["Add"].query_selector_all("th .mark")
    ] == ["X1", "E1"]  # fmt: skip
    assert not by_name["Copy"].query_selector_all("td .mark.explains")
    view.close()


def test_claims_that_hold_through_an_artefact_say_so(site: Path, browser: Browser) -> None:
    why = "holds only because the source pointer never moves; without that the ratio is 0.9"
    view = opened(browser, site / "reports" / f"{made_up.PAPER}.html", 1280)
    row = view.text_content("#mbw-b4096-32-order-of-magnitude") or ""
    assert "reproduced, only through an artefact" in " ".join(row.split())
    assert f"It {why}" in row
    view.close()
    answers = {
        name: paper_page.PaperPage(read_paper(site / name / name / "paper.json")).answer().html
        for name in (made_up.PAPER, made_up.STREAM)
    }
    assert f"it {why}" in answers[made_up.PAPER]
    words = "For Add it rests on 2 settings that are not valid: the compiler removed the work."
    assert words in answers[made_up.STREAM]
    paper = read_paper(site / made_up.PAPER / made_up.PAPER / "paper.json")
    claim = wording.all_claims(paper)[0]
    assert claim["verdict"] == "reproduced"  # what other programs rely on
    assert reasons.sentence(claim).endswith(f"; {reasons.dependence(claim)}")


def test_the_index_counts_by_effect_and_tells_artefacts_from_truth(site: Path, looks: dict) -> None:
    text = looks[site / "reports/index.html"]["text"].replace("\n", " ")
    assert f"{len(STUCK) + 4} findings: X invalidates {len(STUCK)} · B biases 1" in text
    assert "E explains 1 · i informs 2" in text
    assert "4 findings: X invalidates 1 · B biases 0 · E explains 1 · i informs 2" in text
    assert re.search(r"\(✓\) reproduced, only through an artefact \d claim", text)
    assert re.search(r"\(✓\) reproduced, resting on an artefact 1 claim", text)
    assert "Of 6 artefacts 4 were provoked for real on this machine" in text
    assert (
        "Of 17 provoked scenes 12 were detected. At 275 clean scenes there was 1 false alarm."
        in text
    )
    bare = looks[site / "none/reports/index.html"]["text"]
    assert "No detector found anything." in bare
    assert "artefact 1 claim" not in bare


def test_every_artefact_has_a_title_in_words() -> None:
    named = {file.stem.replace("_", "-") for file in DETECTORS.glob("*.toml")}
    assert not [name for name in named if artefacts.title(name) == name.replace("-", " ")]


def test_a_page_without_findings_says_so(site: Path, looks: dict) -> None:
    path = site / "none/reports" / f"{made_up.PAPER}.html"
    assert "No detector found anything that invalidates" in looks[path]["text"]
    assert "X invalidates" not in looks[path]["text"]


def test_the_controls_page_begins_with_what_went_wrong(
    site: Path, looks: dict, browser: Browser
) -> None:
    path = site / "reports/controls.html"
    text = looks[path]["text"]
    assert (
        text.index(
            "Controls: 2 of 4 artefacts provoked here found in all scenes, 1 more only replayed"
        )
        >= 0
    )
    assert (
        "Of 6 artefacts 4 were provoked for real on this machine, 1 only replayed from recorded or "
        "made-up samples and 1 not provoked at all. 2 of these 4 were found in all of their "
        "scenes (2 to 4 each). "
        "Missed: mostly (1 of 4). Abstained: shy (4 of 4). False alarms: noisy (1 of 60)."
    ) in text
    view = opened(browser, path, 1280)
    rows = [
        re.split(r"\t", control.inner_text())
        for control in view.query_selector_all("table.controls tbody tr")
    ]
    assert [row[0] for row in rows] == [
        "mostly", "noisy", "shy", "always", "only-replayed", "not-here",
    ]  # fmt: skip
    results = [row[1].strip() for row in rows]
    assert results == [
        "✗ 1 missed",
        "✗ 1 false alarm",
        "✗ 4 abstained",
        "✓ found 4 of 4",
        "✓ found 3 of 3, replayed",
        "– not provoked",
    ]
    view.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    mostly = view.inner_text("#mostly").replace("\xa0", " ")
    assert "Provoked 4 times, found 3 times (exact 95 % interval 25 % to 99.4 %)." in mostly
    assert "Judged 100 clean scenes, of which 97 belong to other controls" in mostly
    assert "Missed: control,bytes=3." in mostly
    assert "Decided from direct observation, not from timing." in mostly
    assert "Biases by a factor of 2.50." in mostly
    assert "What to do. Take made-up out." in mostly
    replayed = view.inner_text("#only-replayed").replace("\xa0", " ")
    assert "Replayed 3 times, found 3 times" in replayed
    assert "This detector relies on timing and can be wrong occasionally." in replayed
    assert "3 replayed scenes" in replayed
    assert "What the detector says of a replayed scene" in replayed
    assert "2 scenes could not be played here: needs two NUMA nodes." in view.inner_text(
        "#not-here"
    )
    view.close()


def test_sixty_controls_fit_six_screens(site: Path, browser: Browser) -> None:
    """With folds closed; the table is as wide as its page, not wider."""
    made = next(iter(CONTROLS["artefacts"].values()))
    many = control(58, 58, 40) | {key: made[key] for key in ("text", "example") if key in made}
    again = {"provoked": 54, "detected": 54, "abstained": 0, "nulls": 18, "false_alarms": 0}
    content = CONTROLS | {
        "artefacts": {
            f"destination-not-advanced-{k}": many | {"replayed": again} for k in range(60)
        }
    }
    path = site / "sixty.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    page = site / "sixty/controls.html"
    index_page.make_controls(path, page)
    view = opened(browser, page, 1440)
    assert view.evaluate("document.documentElement.scrollHeight") < 6 * 900
    boxes = "[...document.querySelectorAll('main > .scroll')]"
    assert view.evaluate(f"{boxes}.every(box => box.scrollWidth <= box.clientWidth)")
    assert len(view.inner_text("body").split()) < 3000
    view.close()


def test_the_machine_page_begins_with_what_holds(site: Path, looks: dict) -> None:
    text = looks[site / "reports/machine.html"]["text"]
    summary = text[: text.index("Topology and caches")]
    for words in ("Quiet?", "were disturbed by other work", "Speed levels", "of memory"):
        assert words in summary


def test_what_was_replayed_stands_apart_from_what_was_played() -> None:
    again = {"provoked": 9, "detected": 9, "abstained": 0, "nulls": 9, "false_alarms": 0}
    artefact = control(12, 12, 12) | {"replayed": again}
    (row,) = controls_page.rows({"both": artefact})
    assert (row["detected"], row["false"]) == (
        "3 of 3, 9 of 9 replayed",
        "0 of 3, 0 of 9 replayed",
    )
    assert "Provoked 3 times, found 3 times (exact" in row["sentences"]
    assert "Replayed 9 times, found 9 times." in row["sentences"]
    # Where it abstains of all that was provoked here, no replay makes up for it.
    (row,) = controls_page.rows(
        {"shy": artefact | {"detected": 9, "abstained": 3, "missed_at": []}}
    )
    assert row["how"] == "bad"


def test_a_controls_file_of_a_plainer_kind_is_shown_too() -> None:
    """Without intervals, replays and examples, as of an older version of the same format."""
    counts = {"provoked": 3, "detected": 1, "abstained": 1, "nulls": 1, "false_alarms": 0}
    artefact = {"text": "", **counts, "skipped": 0, "reason": ""}
    rows = controls_page.rows({"a": artefact})
    assert rows[0]["result"] == "1 missed, 1 abstained"
    assert rows[0]["sentences"].startswith("Provoked 3 times, found once, abstained once.")
    assert controls_page.rows({}) == []
    assert controls_page.summary({"a": artefact})[2] == "Missed: a (1 of 3)."


def test_runs_of_points_with_the_same_marks_are_named_once() -> None:
    line = [Marked(k, 1.0, names) for k, names in enumerate([["X1"], ["X1"], [], ["X1"], ["E1"]])]
    assert [len(run) for run in plot_marks.runs_of(line)] == [2, 1, 1]
    assert plot_marks.text_of(["X1", "B1", "E1", "i1", "i2"]) == "X1 B1 E1 +2"
    assert plot_marks.letters(["i1", "X2", "X1"]) == ["X", "i"]


def test_a_factor_that_some_findings_lack_is_said_to_be_of_the_others() -> None:
    some = [finding("a", "biases", ["p"], 1.67), finding("a", "biases", ["q"])]
    words = "1.67 times as fast as without it, where it is known"
    assert findings_section.factor_range(some) == words
    (note,) = findings_section.marks_of(
        {"findings": [finding_at_point | {"shown": True} for finding_at_point in some]}
    ).notes(["p", "q"])
    assert note.heading == f"biases both points here: {words}"


def test_a_factor_says_which_is_the_faster() -> None:
    def factor_words(*factors: float) -> str:
        return findings_section.factor_range(
            [finding("a", "biases", ["p"], factor) for factor in factors]
        )

    assert factor_words(4.09, 11.5) == "4.09 to 11.5 times as fast as without it"
    assert factor_words(0.25, 0.5) == "2.00 to 4.00 times as slow as without it"
    assert factor_words(0.5, 2.0) == "by a factor of 0.500 to 2.00"
    assert factor_words(0.999, 1.001) == ""
    of_a_run = finding("a", "informs", [], 12.0)
    assert findings_section.factor_range([of_a_run]) == "by a factor of 12.0"


def test_what_several_experiments_say_alike_stands_once() -> None:
    alike = [finding("a", "informs", ["p"]) for _ in range(3)]
    other = finding("a", "informs", ["p"]) | {"explanation": "Something else."}
    marks = findings_section.marks_of(
        {"findings": [each | {"shown": True} for each in (*alike, other)]}
    )
    assert len(marks.every[0].distinct) == 2


def test_marks_keep_their_names_whatever_the_order() -> None:
    many = [
        finding("b", "explains", ["p"]) | {"shown": True},
        finding("a", "explains", ["q"]) | {"shown": False},
        finding("c", "invalidates", ["q"]) | {"shown": True},
        finding("b", "explains", ["r"], 0.5) | {"shown": False},
    ]
    for order in itertools.permutations(many):
        marks = findings_section.marks_of({"findings": list(order)})
        assert [(mark.name, mark.artefact) for mark in marks.every] == [
            ("X1", "c"), ("E1", "b"), ("E2", "a"),
        ]  # fmt: skip
        assert marks.names("q") == ["X1", "E2"]
        assert marks.names("p", "r") == ["E1"]
        note = marks.notes(["p", "r", "q", None, "p"])[1]
        assert (note.points, note.of, note.more) == (2, 3, 1)
    assert findings_section.marks_of({}).every == []


def test_that_points_only_emulate_is_told_once_and_marks_none_of_them() -> None:
    def point(name: str, emulates: str, **more: str) -> dict[str, str]:
        fixed = {"experiment": "e", "point": name, "state": "ok", "twin": "", "emulates": emulates}
        return {**fixed, **more}

    points = [point("p", "a model"), point("q", "a model"), point("r", "")]
    points += [point("p~again", "a model", twin="again"), point("s", "a model", state="failed")]
    same = finding("a", "invalidates", ["q", "p"]) | {"shown": True}
    fewer = finding("b", "invalidates", ["q"]) | {"shown": True}
    wider = finding("c", "invalidates", ["p", "q", "r"]) | {"shown": True}
    milder = finding("d", "biases", ["p", "q"]) | {"shown": True}
    everywhere = finding("e", "invalidates", []) | {"shown": True}
    findings = [same, fewer, wider, milder, everywhere]
    marks = findings_section.marks_of({"findings": findings, "points": points})
    assert [mark.artefact for mark in marks.head] == ["a"]
    assert [mark.artefact for mark in marks.run] == ["e"]
    assert [mark.artefact for mark in marks.every] == ["b", "c", "d"]
    assert marks.names("p") == ["X2", "B1"]
    assert marks.head[0].heading == "invalidates 2 points"
    assert [mark.artefact for mark in findings_section.marks_of({"findings": findings}).head] == []


def test_values_of_evidence_have_units() -> None:
    rows = [(8192.0, "blocks"), (0.25, "1"), (None, "s"), (True, ""), ([], "1"), (["a"], "calls")]
    texts = [
        findings_section.evidence_value({"value": value, "unit": unit}) for value, unit in rows
    ]
    assert texts == ["8,192 blocks", "0.25", "–", "yes", "none", "a"]


def test_the_overview_marks_what_all_ratios_stand_on(site: Path) -> None:
    paper = read_paper(site / made_up.PAPER / made_up.PAPER / "paper.json")
    picture = paper_panels.overview(paper)
    assert picture is not None
    assert re.search(r"MEMCPY:\s(B1\s)?E1", picture.svg)
