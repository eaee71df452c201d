"""What a page says of chains of causes: sentences, picture, table, file."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import pytest
from made_up_chain import CONTENT, MOVED, STUCK, WHOLE, MadeUp
from test_explained import CHAIN, FACTOR, chain_of, planted, without

from benchbook.core.files import storable
from benchbook.define.models import Anomaly
from benchbook.report import wording
from benchbook.report.plots.style import Picture
from benchbook.report.render import part, svg_of
from benchbook.report.sections import anomalies, titles
from benchbook.report.sections import findings as findings_section

FIGURE = {"id": "f"}


def paper_of(run: MadeUp) -> dict[str, Any]:
    """As much of paper.json as these sentences read."""
    experiment = {key: CONTENT[key] for key in ("names", "definitions")} | {"variants": []}
    points = [{"experiment": "e", **point} for point in run.points]
    return {"points": points, "experiments": {"e": experiment}, "figures": [], "findings": []}


def shown(run: MadeUp, chain: dict[str, Any]) -> tuple[str, Picture | None]:
    """The part of the page, and the picture in it."""
    paper, chain = paper_of(run), storable(chain)
    drawn = anomalies.picture(paper, FIGURE["id"], chain)
    html = part(
        "explained",
        paper=paper,
        figure=FIGURE,
        chains=[(chain, svg_of(drawn))],
        anomalies=anomalies,
        wording=wording,
        titles=titles,
        findings=findings_section,
        marks=findings_section.marks_of(paper),
    )
    return html.html, drawn


STEPS = [*CHAIN, {"cause": "first-touch"}, {"cause": "copy-path-switch"}]


def test_the_factor_its_causes_and_what_is_left_are_said() -> None:
    run = planted(left=1.1, stuck=1 / 1.1, still=1 / 1.1)
    chain = chain_of(run, STEPS, items=[])
    said = anomalies.explanation(paper_of(run), chain)
    assert said.startswith("Stuck in blocks of 4\xa0KiB shows 8.3")
    assert "Destination stays in place: without it the rate is lower by a factor of 3." in said
    assert "the factor falls from 8.3" in said
    assert said.count("on a log scale") == 1
    html, drawn = shown(run, chain)
    assert drawn is not None
    assert "left without all of these" in drawn.svg
    assert "Excluded by evidence" in html
    assert "Not decided" in html
    assert "page faults while timed" in html.lower()
    assert "evidence" in html


def test_every_bar_begins_where_the_one_above_it_ends() -> None:
    run = planted(left=1.1)
    chain = storable(chain_of(run))
    level = chain["factor"]["value"]
    for step in chain["steps"]:
        level /= step["measured"]["value"]
    assert level == pytest.approx(chain["remainder"]["value"], rel=0.02)


def test_what_is_not_odd_is_said_without_shares() -> None:
    run = planted()
    run.logs[run.points[-1]["point"]] = run.logs[run.points[-4]["point"]]
    chain = chain_of(run, [{"cause": "first-touch"}], odd=MOVED)
    html, drawn = shown(run, chain)
    assert drawn is None
    assert "nothing to explain" in html
    assert ">share removed</th>" not in html


def test_few_blocks_leave_open_ends_that_are_said() -> None:
    run = planted()
    table = run.summaries()
    named = {"id": "a", "text": "t", "odd": STUCK, "base": WHOLE, "steps": CHAIN}
    from benchbook.judge.attribution.explained_share import explained as chains_of

    (chain,) = chains_of(
        [Anomaly.model_validate(named)], CONTENT, run.analysis(), table[table["block"] < 3], []
    )
    html, _ = shown(run, chain)
    assert "no finite interval" in html


def test_points_of_another_preset_have_their_reason() -> None:
    run = MadeUp()
    html, drawn = shown(run, chain_of(run))
    assert drawn is None
    assert "Not decided here" in html
    assert "not in this preset" in html


def test_questions_of_another_preset_share_a_line() -> None:
    chain = storable(chain_of(run := MadeUp()))
    assert anomalies.questions_not_in_preset([(chain, None)]) == []
    html = part(
        "explained",
        paper=paper_of(run),
        figure=FIGURE,
        chains=[(chain, None), (chain | {"id": "b", "text": "Even."}, None)],
        anomalies=anomalies,
        wording=wording,
        titles=titles,
        findings=findings_section,
        marks=findings_section.marks_of(paper_of(run)),
    ).html
    assert "The points of 2 questions are not in this preset: Odd; Even." in html
    assert html.count("Why?") == 1


def test_without_a_twin_the_factor_and_the_reason_stand_alone() -> None:
    run = without(planted(), "still")
    html, drawn = shown(run, chain_of(run, STEPS))
    assert drawn is None
    assert "The cause is unknown: copy of one block" in html
    assert "Excluded by evidence" in html
    assert "on a log scale" not in html


def test_what_nothing_predicts_is_not_told_as_unexplained() -> None:
    run = planted()
    for point in run.points:
        point["observations"].pop("destination_written_fraction", None)
    chain = storable(chain_of(run, CHAIN[:1]))
    title = anomalies.title(paper_of(run), chain)
    assert title.endswith("times without its causes")
    html, _ = shown(run, chain)
    assert "nothing predicts it in this preset" in html
    assert "explained" not in html


def test_what_a_missing_twin_leaves_was_not_measured() -> None:
    run = without(planted(), "block")
    said = anomalies.explanation(paper_of(run), chain_of(run))
    assert "was not measured, because a control build is missing" in said


def test_a_cause_has_one_statement_from_one_estimate() -> None:
    """Three shares of one factor stood on a page: open, 98 % and 80 %."""
    run = planted(left=1.1)
    chain = storable(chain_of(run, CHAIN))
    said = [
        function(paper_of(run), chain) for function in (anomalies.in_short, anomalies.explanation)
    ]
    removed = [text[text.index("That takes") :] for text in said]
    assert removed[0] == removed[1]
    assert not any(word in text for text in said for word in ("is explained", "is not", "open"))
    shares = chain["removed"]
    assert shares["low"] <= shares["value"] <= shares["high"]
    assert math.log(chain["remainder"]["value"]) == pytest.approx(
        (1 - shares["value"]) * math.log(chain["factor"]["value"]), abs=0.01
    )


def test_a_chain_says_in_how_many_rounds_it_ran() -> None:
    run = planted(left=1.1)
    chain, paper = storable(chain_of(run, CHAIN)), paper_of(run)
    paper["experiments"]["e"]["blocks"] = 25
    assert "over the 12 of 25 rounds that ran every control build" in anomalies.in_short(
        paper, chain
    )


def test_the_file_holds_the_chain() -> None:
    chain = storable(chain_of(planted(), STEPS))
    rows = list(csv.DictReader(io.StringIO(anomalies.csv_of(chain))))
    assert [row["cause"] for row in rows] == ["whole", *(s["cause"] for s in STEPS), "left"]
    assert float(rows[0]["twin_shows"]) == pytest.approx(
        FACTOR["stuck"] / FACTOR["block"], rel=0.02
    )
    assert float(rows[1]["predicted"]) == chain["steps"][0]["predicted"]["value"]
    assert rows[3]["state"] == "excluded"
