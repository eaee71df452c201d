"""What pages call artefacts."""

from __future__ import annotations

from benchbook.report import artefacts


def test_what_two_have_in_common_is_said_once() -> None:
    both = ["source-not-advanced", "destination-not-advanced"]
    assert artefacts.titles(both) == (
        "neither the source pointer nor the destination pointer ever moves"
    )
    assert artefacts.titles(both[:1]) == "the source pointer never moves"
    assert artefacts.titles([both[0], "drift"]) == (
        "the source pointer never moves and the rate drifts during the run"
    )
