"""What the first screen of a paper's page draws and says, without a browser."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import made_up
import pytest

from benchbook.judge.paper_json import read_paper
from benchbook.report import wording
from benchbook.report.chart import Row, chart, scale_of
from benchbook.report.render import environment
from benchbook.report.sections import answer, claims, first_screen

HEIGHT = 25


def drawn(rows: list[Row], **options: Any) -> str:
    """The HTML of a chart of these rows."""
    template = environment().from_string(
        "{% import 'parts/chart.html.j2' as c %}{{ c.draw(chart) }}"
    )
    return template.render(chart=chart("unit", ("published", "here"), rows, **options))


def test_an_interval_that_leaves_its_axis_ends_in_an_arrow() -> None:
    inside = Row("inside", value=2.0, low=1.5, high=3.0)
    below = Row("below", value=2.0, low=0.0, high=3.0)
    above = Row("above", value=2.0, low=1.5, high=None)
    arrow = 'class="beyond"'
    assert drawn([inside], ratio=True).count(arrow) == 0
    assert drawn([below], ratio=True).count(arrow) == 1
    assert drawn([above], ratio=True).count(arrow) == 1


def test_an_axis_of_no_ratio_begins_at_0_where_an_interval_does() -> None:
    scale = scale_of([0.0, 0.7, 3.3])
    assert not scale.log
    assert scale.low == 0
    assert scale_of([0.0, 0.7, 3.3], ratio=True).log


def test_published_values_and_measured_ones_do_not_cover_one_another() -> None:
    both = Row("both", published=[1.0], value=1.0, low=0.9, high=1.1)
    assert both.published_at(HEIGHT) < both.middle(HEIGHT)
    assert Row("here", value=1.0).middle(HEIGHT) == HEIGHT / 2
    assert Row("there", published=[1.0]).published_at(HEIGHT) == HEIGHT / 2


def test_a_simulated_value_is_no_answer() -> None:
    figure = {"y_unit": "MiB/s"}
    run = {"rerun": 5.0, "disturbed": False}
    row = {
        "printed": "3",
        "rerun": 5.0,
        "low": 4.0,
        "high": 6.0,
        "state": "ok",
        "point": "v,a=1",
        "emulates": "host memory stands for that of a device",
        "invocations": [run],
    }
    paper: dict[str, Any] = {"points": [], "figures": [], "experiments": {"e": {"names": {}}}}
    paper["experiments"]["e"] |= {"definitions": {}, "forms": []}
    shown = first_screen.value_row(paper, figure, row, "a", simulated=False)
    assert shown.value is None
    assert not shown.runs
    assert shown.cells == ("3", "not measured")
    assert first_screen.value_row(paper, figure, row, "a").value == 5.0


@pytest.mark.parametrize(("ratio", "explained"), [("7.48", True), ("7.47", False)])
def test_a_ratio_that_its_sides_do_not_give_says_where_it_is_from(
    ratio: str, explained: bool
) -> None:
    sides = chart(
        "rate",
        ("published", "here"),
        [
            Row("top", value=136_700, cells=("5", "136,700 (135,800 to 137,100)")),
            Row("bottom", value=18_300, cells=("5", "18,300 (17,600 to 19,100)")),
        ],
    )
    of_ratio = chart(
        "ratio", ("published", "here"), [Row("ratio", cells=("1", f"{ratio} (7 to 8)"))]
    )
    text = first_screen.closing([{"kind": "ratio"}], [sides, of_ratio])
    assert ("136,700 ÷ 18,300 is 7.47, not 7.48" in text) == explained


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Results of a paper whose leading claims hold here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made_up.ROOT)
        folder: Path = tmp_path_factory.mktemp("stream")
        made = made_up.results(folder, preset="quick", paper=made_up.STREAM, spread=0.004)
    return read_paper(made)


def test_why_says_what_was_observed_and_not_the_numbers_again(stream: dict[str, Any]) -> None:
    claims = first_screen.leading_claims(stream)
    assert {claim["verdict"] for claim in claims} == {"reproduced"}
    _, happened, why = (text.replace("\u00a0", " ") for text in first_screen.sentences(stream))
    assert re.search(r"\d and \d[\d.]* times the L3, which has \d+ MiB here", happened)
    assert re.search(r"Here the rate at \d+ \wiB ÷ rate at \d+ \wiB is ", happened)
    assert "larger than the L3, so it comes from memory" in why
    assert "what counts as holding" not in why


def test_a_claim_without_a_tested_cause_says_so(stream: dict[str, Any]) -> None:
    claims = [claim for claim in wording.all_claims(stream) if claim["verdict"] == "reproduced"]
    bare = {**stream, "sizing": None}
    for claim in claims:
        if claim["kind"] == "ratio" and not claim.get("through"):
            without = {**bare, "figures": [{**f, "explained": []} for f in bare["figures"]]}
            assert first_screen.why(without, [claim]) == "Why: no cause was tested for this claim."


def test_a_claim_that_compares_no_points_has_no_tested_cause(stream: dict[str, Any]) -> None:
    """Such as one about counts, which can be the first of a figure that is shown alone."""
    claim = next(claim for claim in wording.all_claims(stream) if claim["kind"] == "ratio")
    of_counts = {**claim, "kind": "count_ratio", "points": {}, "verdict": "reproduced"}
    of_counts |= {"through": None}
    without = {**stream, "figures": [{**f, "explained": []} for f in stream["figures"]]}
    assert first_screen.why(without, [of_counts]) == "Why: no cause was tested for this claim."


def test_what_cannot_be_measured_is_shown_with_what_tests_it_here(stream: dict[str, Any]) -> None:
    first, *others = first_screen.leading_claims(stream)
    away = {**first, "verdict": "not_measurable_here", "estimate": None, "interval": None}
    away |= {"requires": "a machine of 1998", "kind": "stated_ratio", "unit": "times"}
    names = [f"{claim['figure']}/{claim['claim']}" for claim in [away, *others]]
    thesis = {"claim": names[0], "label": "old ÷ new"}
    thesis["in_its_place"] = [{"claim": name, "label": name} for name in names[1:3]]
    figures = [{**figure, "claims": [], "explained": []} for figure in stream["figures"]]
    paper = {**stream, "thesis": {**stream["thesis"], **thesis}}
    paper["figures"] = [{**figures[0], "claims": [away, *others]}, *figures[1:]]
    shown = first_screen.leading_claims(paper)
    assert [claim["label"] for claim in shown] == ["old ÷ new", *names[1:3]]
    assert [(group.counts, group.total) for group in first_screen.badges(shown)] == [
        ({"not_measurable_here": 1}, 1),
        ({"reproduced": 2}, 2),
    ]
    assert first_screen.happened(paper, shown).endswith(f"2 of 2 hold: {names[1]} and {names[2]}.")
    why = "Why: the source’s own claim needs a machine of 1998; there is none here."
    assert first_screen.why(paper, shown) == why
    assert [row.label.lower() for row in first_screen.charts(paper)[0].rows] == [
        "old ÷ new",
        *names[1:3],
    ]
    alone = {**paper, "thesis": {**thesis, "in_its_place": []}}
    assert first_screen.leading_claims(alone) == [away]
    # One that fails is named, with what was seen and what would count.
    failing = {**others[0], "verdict": "not_reproduced", "region": [None, 0.2], "estimate": 0.4}
    failing |= {"interval": [0.35, 0.45], "published": [0.1]}
    paper["figures"] = [{**figures[0], "claims": [away, failing, *others[1:]]}, *figures[1:]]
    thesis["ran"] = "No such machine is here. Messages ran instead."
    stand_in = {"claim": names[1], "label": "write: messages against TCP"}
    stand_in["text"] = "a write is {times} times as fast"
    thesis["in_its_place"] = [stand_in, thesis["in_its_place"][1]]
    paper["thesis"] = {**stream["thesis"], **thesis}
    shown = first_screen.leading_claims(paper)
    assert first_screen.happened(paper, shown) == (
        f"{thesis['ran']} 1 of 2 holds: {names[2]}. "
        "1 of 2 does not hold: a write is 2.50 times as fast, where at least 5 counts as holding."
    )
    assert first_screen.why(paper, shown) == f"{why} Why it fails for the write was not tested."
    assert answer.headline(paper).endswith("1 of 2 such claims hold; the one on the write does not")
    row = first_screen.charts(paper)[0].rows[1]
    assert row.cells[:2] == ("10.0", "2.50 (2.22 to 2.86)")
    assert row.bounds == (5, None)


def test_a_ratio_of_which_less_counts_is_turned_so_that_more_does() -> None:
    claim = {"kind": "ratio", "region": [None, 0.2], "estimate": 0.4, "published": [0.1]}
    claim |= {"interval": [0.25, 0.5]}
    turned = claims.advantage(claim)
    assert turned["region"] == [5, None]
    assert turned["estimate"] == 2.5
    assert turned["interval"] == [2, 4]
    assert turned["published"] == [10]
    for other in ([0.9, 1.1], [1, None], [None, 2], [None, 0]):
        kept = claim | {"region": other}
        assert claims.advantage(kept) is kept
    away = claim | {"estimate": None, "interval": None}
    assert claims.advantage(away)["interval"] is None


@pytest.mark.parametrize(
    ("interval", "region", "words"),
    [
        ([0.9, 1.0], [0.95, 1.05], "reaches below 0.95, the least that counts as holding"),
        ([1.0, 1.1], [0.95, 1.05], "reaches above 1.05, the most that counts as holding"),
        ([0.9, 1.1], [0.95, 1.05], "reaches past both ends of what counts as holding"),
        ([None, None], [0.95, None], "reaches below 0.95"),
        ([2.0, 5.0], [10**0.5, None], "reaches below 3.162\u00a0(√10), the least"),
    ],
)
def test_an_undecided_claim_says_at_which_end(
    interval: list[float | None], region: list[float | None], words: str
) -> None:
    claim = {"kind": "ratio", "interval": interval, "region": region, "estimate": 1.0}
    assert words in claims.past_the_edge(claim)


def test_a_page_of_which_nothing_was_measured_says_so(stream: dict[str, Any]) -> None:
    facts = {shown.name: shown.value for shown in first_screen.strip(stream)}
    assert "Measured" in facts
    assert "disturbed" in facts["Quality"]
    emulated = [{**point, "emulates": "a device"} for point in stream["points"]]
    facts = {
        shown.name: shown.value for shown in first_screen.strip({**stream, "points": emulated})
    }
    assert "Simulated" in facts
    assert "Measured" not in facts
    assert facts["Quality"] == "nothing was measured"


def test_a_title_takes_no_claim_for_a_finding(stream: dict[str, Any]) -> None:
    figure = {**stream["figures"][0], "claims": [stream["figures"][0]["claims"][0]]}
    undecided = {**figure["claims"][0], "verdict": "inconclusive"}
    paper = {**stream, "thesis": None, "figures": [{**figure, "claims": [undecided]}]}
    assert answer.headline(paper).startswith("Not decided here: the claim that ")
    away = {**undecided, "verdict": "not_measurable_here"}
    paper["figures"] = [{**figure, "claims": [away]}]
    assert answer.headline(paper).startswith("Not measurable here: the claim that ")


def test_of_several_claims_each_row_has_its_verdict(stream: dict[str, Any]) -> None:
    drawn = first_screen.charts(stream)[-1]
    assert drawn.columns[-1] == "verdict"
    assert {row.cells[-1] for row in drawn.rows} == {"✓"}
    first, *others = first_screen.leading_claims(stream)
    edge = {"code": "over_the_edge"}
    price = {"guard": False, "blocks": 34, "margin": 0.1, "minutes": 1, "least": 8}
    undecided = {**first, "verdict": "inconclusive", "reason": edge, "price": price}
    undecided |= {"interval": [0.9, 1.0], "blocks": 12}
    why = first_screen.why(stream, [undecided, *others])
    assert "reaches below 0.95" in why
    assert "34 rounds" in why
    assert "benchbook settle" in why


def test_many_intervals_that_only_differ_in_their_end_share_a_sentence(
    stream: dict[str, Any],
) -> None:
    price = {"guard": False, "blocks": 34, "margin": 0.1, "minutes": 1, "least": 8}
    edge = {"verdict": "inconclusive", "reason": {"code": "over_the_edge"}, "price": price}
    leading = first_screen.leading_claims(stream)
    intervals = itertools.cycle([[0.9, 1.0], [1.0, 1.1], [0.9, 1.1]])
    undecided = [
        {**claim, **edge, "blocks": 12, "interval": interval}
        for claim, interval in zip(leading, intervals, strict=False)
    ]
    assert len(undecided) > 2
    why = first_screen.why(stream, undecided)
    assert why.startswith(
        f"Why: for all {len(undecided)} the interval reaches past one or both ends"
    )
    assert why.count("reaches") == 1
    two = first_screen.why(stream, [*undecided[:2], *leading[2:]])
    assert two.count("reaches") == 2
