"""How many rounds count, and one reason why a claim is not decided."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.report.sections import claims as claims_section

TOP, BOTTOM = "v,method=a", "v,method=b"
EDGE = {"code": "over_the_edge"}


def undecided(**changed: Any) -> dict[str, Any]:
    """A ratio of rates whose interval reaches beyond its region."""
    return {
        "kind": "ratio",
        "unit": "ratio of rates",
        "shown_in": "",
        "paper": "p",
        "figure": "f",
        "claim": "c",
        "verdict": "inconclusive",
        "estimate": 1.12,
        "interval": [0.9, 1.3],
        "region": [0.95, 1.05],
        "points": {"numerator": TOP, "denominator": BOTTOM},
        "published": [],
        "blocks": 10,
        "intervals": 4,
        "reason": EDGE,
        "price": {"blocks": None, "margin": 0.1, "minutes": None, "guard": False, "least": 8},
        "through": None,
        **changed,
    }


def paper(rounds: int) -> dict[str, Any]:
    points = [{"point": TOP, "time_ns": 100.0}, {"point": BOTTOM, "time_ns": 99.0}]
    figure = {"id": "f", "experiment": "e", "claims": [], "rows": []}
    return {"points": points, "figures": [figure], "experiments": {"e": {"blocks": rounds}}}


def test_a_number_from_some_of_the_rounds_says_so_next_to_that_of_all_runs() -> None:
    """A headline rested on 2 of 10 rounds and did not say so: 1.12, and 0.99 over all runs."""
    said = claims_section.rounds(paper(10), undecided(blocks=2))
    assert said == (
        " over 2 of 10 rounds, those that hold every run it compares (medians of all runs: 0.990)"
    )
    assert claims_section.rounds(paper(10), undecided()) == " over 10 rounds"
    assert "over 2 of 10 rounds" in claims_section.why(paper(10), undecided(blocks=2))


def test_too_few_rounds_are_the_only_reason() -> None:
    """It also said that no number of rounds would settle it."""
    few = undecided(blocks=2, interval=[None, None])
    said = claims_section.reason_undecided(paper(10), few)
    assert said == (
        "Only 2 rounds could be used, too few for an interval; at least 8 are needed. "
        "To measure more: `benchbook settle p/f/c`."
    )


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ({"blocks": None, "margin": 0.0}, "the estimate lies on the edge"),
        ({"blocks": None, "margin": 0.1}, "its runs differ too much"),
        ({"blocks": 40, "margin": 0.1}, "About 40 rounds should decide it"),
        ({"blocks": None, "margin": 0.1, "guard": True}, "More rounds would not help."),
    ],
)
def test_what_to_do_is_one_sentence(price: dict[str, Any], words: str) -> None:
    whole = {"minutes": None, "guard": False, **price}
    said = claims_section.price(undecided(price=whole))
    assert words in said
    assert said.count(". ") == 0


def test_a_region_that_is_met_from_afar_stands_next_to_the_published_number() -> None:
    claim = undecided(
        region=[None, 64],
        estimate=0.95,
        interval=[0.94, 0.97],
        published=[15.2],
        reason={"code": "within_region"},
    )
    said = claims_section.why(paper(10), claim)
    assert "(published: 15.2)" in said
    assert "at most 64" in said


def test_an_interval_widened_by_the_machine_is_not_called_narrow_enough() -> None:
    """Of one claim it was said that its interval reaches too far, and that it is narrow enough."""
    wide = undecided(
        reason=EDGE | {"widened_by": 1.24},
        price={"blocks": None, "margin": 0.1, "minutes": None, "guard": True, "least": 8},
    )
    said = claims_section.reason_undecided(paper(10), wide)
    assert "the same program measured twice differs here" in said
    assert said.endswith("More rounds would not help, a quieter machine would.")
    assert "narrow enough" not in said


def test_a_limit_in_bytes_has_all_its_digits() -> None:
    claim = undecided(kind="link_limit", region=[None, 1_119_999_999])
    assert claims_section.region(claim) == "at most 1,119,999,999\u00a0B"
