"""Labels that a program may have exchanged: what follows, out of rows made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.core import number_format
from benchbook.judge.swapped_labels import labels
from benchbook.report.render import part
from benchbook.report.sections import swapped_labels

EXAMINED = {"by": "somebody", "date": "2026-01-02", "package": "Debian’s p 1.0-2, amd64"}
TOLD: dict[str, Any] = {
    "runs": {"A": "loop", "B": "copy"},
    "proof": "It was seen.",
    "unknown": "All else.",
}
TOLD |= {"examined": EXAMINED}
PEERS: dict[str, Any] = {
    "p-1": {"tool": "p", "describes": "1.0", "labels": TOLD},
    "q": {"tool": "q"},
}


def point(method: str, size: int = 2**20) -> str:
    return f"v,bytes={size},method={method}"


def figure(a: str, b: str, **changed: Any) -> dict[str, Any]:
    """A table of three rows; in it B is b ÷ a times A."""
    rows = {"A": ("copy", a), "B": ("loop", b), "C": ("block", "8")}
    return {
        "id": "f",
        "title": "F",
        "grid": False,
        "rows": [
            {"label": label, "point": point(method), "printed": printed}
            for label, (method, printed) in rows.items()
        ],
        **changed,
    }


def pair(ratio: float, differs: bool) -> dict[str, Any]:
    """The rerun of loop ÷ copy."""
    return {
        "top": point("loop"),
        "bottom": point("copy"),
        "rerun": {"ratio": ratio, "low95": ratio - 0.1, "high95": ratio + 0.1},
        "smallest_effect": 1.2,
        "differs_here": differs,
    }


@pytest.mark.parametrize(
    ("b", "odd", "order", "within"),
    [
        ("2", [pair(0.55, True)], "exchanged", True),
        ("4", [pair(0.55, True)], "exchanged", False),
        ("2", [pair(1.8, True)], "printed", False),
        ("2", [pair(0.95, False)], "undecided", False),
        ("2", [{**pair(1, False), "rerun": None}], "not measured", False),
        ("2", [], "not measured", False),
    ],
)
def test_the_order_here_is_set_beside_both_readings(
    b: str, odd: list[dict[str, Any]], order: str, within: bool
) -> None:
    (one,) = labels([figure("1", b)], PEERS, odd)
    assert (one["labels"], one["methods"]) == (["A", "B"], ["copy", "loop"])
    (table,) = one["tables"]
    assert (table["printed"], table["order"], table["within"]) == (float(b), order, within)
    assert table["others"] == [{"label": "C", "printed": 8.0, "exchanged": 8 / float(b)}]


@pytest.mark.parametrize(
    "runs", [{"A": "copy", "B": "loop"}, {"A": "loop"}, {"X": "loop", "Y": "copy"}]
)
def test_labels_that_are_not_exchanged_say_nothing(runs: dict[str, str]) -> None:
    peers = {"p-1": {**PEERS["p-1"], "labels": {**TOLD, "runs": runs}}}
    assert labels([figure("1", "2")], peers, []) == []


def test_words_for_a_rate_and_rows_without_a_point_are_left_out() -> None:
    broken = figure("1", "fault")
    lost = figure("1", "2")
    lost["rows"][1]["point"] = None
    assert labels([broken, lost, figure("1", "2", grid=True)], PEERS, []) == []


def paper(figures: list[dict[str, Any]], odd: list[dict[str, Any]]) -> dict[str, Any]:
    names = {"copy": "whole copy", "loop": "plain loop"}
    experiment = {"names": names, "exchanged": labels(figures, PEERS, odd)}
    shown = [{**figure, "experiment": "e"} for figure in figures]
    return {"points": [], "figures": shown, "experiments": {"e": experiment}}


def test_the_page_computes_both_readings_and_states_evidence_and_limits() -> None:
    content = paper([figure("1", "2"), figure("1", "4", id="g", title="G")], [pair(0.55, True)])
    experiment = content["experiments"]["e"]
    html = part(
        "exchanged", paper=content, experiment=experiment, swapped_labels=swapped_labels
    ).html
    html = html.replace(number_format.FIXED, " ")
    for said in (
        "Somebody examined Debian’s p 1.0-2, amd64 on 2026-01-02: what it prints as A is the plain "
        "loop",
        "This run did not examine it again.",
        "It was seen.",
        "the plain loop 2.00 to 4.00 times as fast as the whole copy; swapped, 0.250 to 0.500",
        "C is then 2.00 to 4.00 times the whole copy, not 8.00",
        "agreement in 2 of 2 tables, and the ratio into the interval in 1",
        "All else.",
        "not proven",
    ):
        assert said in html
    assert "examined here" not in html  # on a machine where the program may not even be
    (beside,) = swapped_labels.pairs_in_figure(experiment, content["figures"][1])
    assert beside[1] == 4
    assert f'id="{swapped_labels.anchor(beside[0])}"' in html


def test_what_is_undecided_or_not_measured_is_said() -> None:
    def follows(odd: list[dict[str, Any]]) -> str:
        content = paper([figure("1", "2")], odd)
        return swapped_labels.explanation(content, content["experiments"]["e"]["exchanged"][0])[
            "follows"
        ]

    assert "in none of 1 table" in follows([pair(0.95, False)])
    assert "the order is not decided here" in follows([pair(0.95, False)])
    assert "a factor of 1.20" in follows([pair(0.95, False)])
    assert "the order here is as printed" in follows([pair(1.8, True)])
    assert "was not measured here" in follows([])
