"""What a fresh measurement showed of a step, or why there is none, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchbook.ab.answer import Interval
from benchbook.core.number_format import plural, seconds, with_interval
from benchbook.history.confirmation import Confirmation, Outcome
from benchbook.history.series import FoundStep, Series

SHORT = 12  # letters of a commit's name
NOT_CONFIRMED = "Seen, not confirmed:"
MORE_TIME = "give it more time with --budget."


def summary(series: Sequence[Series]) -> list[str]:
    """How many steps a fresh measurement confirms, and whether one of them is an alarm; nothing
    where none was wanted."""
    steps = [found for item in series for found in item.steps if found.confirmation]
    confirmed = [found for found in steps if _outcome(found) == Outcome.CONFIRMED]
    if not steps:
        return []
    amounts = f"{len(confirmed)} of {plural(len(steps), 'step')}"
    sentences = [f"Confirmed by measuring before and after next to each other: {amounts}."]
    if alarms := sum(found.alarms for found in confirmed):
        sentences.append(f"Alarm: {plural(alarms, 'confirmed step')} to slower.")
    return sentences


def _outcome(found: FoundStep) -> Outcome | None:
    return found.confirmation.outcome if found.confirmation else None


def confirmation(found: FoundStep) -> str:
    """What measuring again showed; empty where it was not wanted."""
    shown = found.confirmation
    if shown is None:
        return ""
    match shown.outcome:
        case Outcome.CONFIRMED:
            return f"Confirmed: {_measured(shown)}"
        case Outcome.REFUTED:
            return f"Not confirmed: {_measured(shown)}"
        case Outcome.UNDECIDED if shown.factor is None or math.isinf(shown.factor.furthest):
            rounds = plural(shown.rounds, "round")
            return f"Not decided: {rounds} are too few; {MORE_TIME}"
        case Outcome.UNDECIDED:
            return f"Not decided: {_measured(shown)} It may be decided with more --budget."
    return f"{NOT_CONFIRMED} {_why_not(found, shown)}"


def _measured(shown: Confirmation) -> str:
    assert shown.factor is not None and shown.null is not None
    return (
        "measured next to each other now, after takes "
        f"{_factor(shown.factor)} times as long as before. "
        f"Before against itself: {_factor(shown.null)}; {plural(shown.rounds, 'round')}."
    )


def _factor(interval: Interval) -> str:
    """Its digits keep it on its side of 1."""
    return with_interval(interval.ratio, interval.low, interval.high, edges=[1.0])


def _why_not(found: FoundStep, shown: Confirmation) -> str:
    about = shown.about
    match shown.outcome:
        case Outcome.SAME_PROGRAM:
            return f"the same program{_changes(found)}."
        case Outcome.BINARY_GONE:
            return f"{about['file']} of run {about['run']} is gone. {_how_to_build(about)}"
        case Outcome.BINARY_CHANGED:
            return (
                f"{about['file']} is not the binary of run {about['run']} any more. Remove it. "
                f"{_how_to_build(about)}"
            )
        case Outcome.NOT_OURS:
            return f"{about['variant']} is another project's program; only today's is installed."
        case Outcome.CANNOT_RUN:
            return f"it cannot be measured now: {about['reason'].rstrip('.')}."
        case Outcome.NO_TIME:
            return f"other steps took the time; {MORE_TIME}"
        case Outcome.TOO_LONG:
            return f"the fewest rounds take about {seconds(about['seconds'])}; {MORE_TIME}"
        case Outcome.NO_COMMITS:
            return (
                "what was kept names no commits. Keep comparisons as "
                "`benchbook ab --keep NAME --rev FIXED --rev HEAD --build COMMAND -- PROGRAM`."
            )
        case Outcome.COMMAND_CHANGED:
            return "another command was timed after it, or the commits were built in another way."
        case Outcome.REFERENCE_CHANGED:
            a, b = (about[side][:SHORT] for side in ("before", "after"))
            return (
                f"the commit compared with changed from {a} to {b}; name the same one in the "
                "first --rev each time."
            )
    raise AssertionError(shown.outcome)


def _changes(found: FoundStep) -> str:
    changes = "; ".join(f"{item.what} {item.a} → {item.b}" for item in found.changes)
    return (
        f"; what changed is {changes}" if changes else ", and nothing else that is recorded changed"
    )


def _how_to_build(about: dict[str, Any]) -> str:
    """How a binary comes back to its place."""
    folder = about["file"].rpartition("/")[0]
    commit = about["commit"]
    checkout = f"`git checkout {commit}`" if commit else "check out the commit of that run"
    if commit.endswith("+"):
        checkout = f"check out {commit.rstrip('+')} with the changes that it had then"
    return f"To build it again: {checkout}, then `benchbook build {folder}/variant.json`."


def as_json(shown: Confirmation | None, sentence: str) -> dict[str, Any] | None:
    """What was measured, with the reason in words; None where that was not wanted."""
    if shown is None:
        return None
    return {
        **shown.about,
        "outcome": shown.outcome.value,
        "reason": sentence,
        "after_over_before": shown.factor and dict(vars(shown.factor)),
        "before_over_itself": shown.null and dict(vars(shown.null)),
        "rounds": shown.rounds,
    }


def is_confirmed(shown: Confirmation | None) -> bool | None:
    """None where a fresh measurement did not decide; False where there is none, too."""
    if shown and shown.outcome == Outcome.UNDECIDED:
        return None
    return shown is not None and shown.outcome == Outcome.CONFIRMED
