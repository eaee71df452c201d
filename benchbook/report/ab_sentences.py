"""The answer of `benchbook ab` in sentences, and as JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from benchbook.ab import symptoms
from benchbook.ab.answer import CONFIDENCE, Answer, Interval
from benchbook.ab.counted import Count
from benchbook.ab.programs import Case
from benchbook.ab.rounds import Measured
from benchbook.core.files import storable
from benchbook.core.number_format import (
    FIXED,
    count,
    duration,
    number,
    plural,
    seconds,
    share,
    with_interval,
)
from benchbook.core.processes import Scheduling

VERSION = 1
NAME_MOST = 100  # letters of a command


def as_text(measured: Measured, counts: Sequence[Count] = ()) -> str:
    """The answer in a few lines, for a terminal."""
    lines = [*names(measured.case), headline(measured), null(measured), *counted(counts)]
    return "\n".join([*lines, method(measured), *symptom_sentences(measured)])


def names(case: Case) -> list[str]:
    """`A: …` and `B: …`."""
    return [f"{letter}: {_short(name)}" for letter, name in zip("AB", case.names, strict=True)]


def headline(measured: Measured) -> str:
    """The answer with the factor and its interval."""
    outcome = measured.outcome
    factor = outcome.factor
    verb = f"takes {_factor(factor)} times as long as A"
    if measured.case.metric:
        verb = f"has {_factor(factor)} times A's figure"
        if measured.case.metric.higher_is_better:
            verb = f"has {_factor(factor.inverse)} times A's figure"
    level = f"{CONFIDENCE:.0%} confidence interval".replace("%", f"{FIXED}%")
    equal = share(measured.limits.equal)
    match outcome.answer:
        case Answer.EQUAL:
            return f"Equal within {equal}: B {verb} ({level})."
        case Answer.CANNOT_TELL if math.isinf(factor.furthest):
            rounds = plural(outcome.rounds, "round")
            return f"Cannot tell: {rounds} are too few; give them more time with --budget."
        case Answer.CANNOT_TELL:
            return (
                f"Cannot tell: a difference below {share(factor.furthest)} does not show here in "
                f"{seconds(measured.seconds)}. B {verb} ({level})."
            )
    better, worse = ("better", "worse") if measured.case.metric else ("faster", "slower")
    word = better if outcome.answer == Answer.FASTER else worse
    return f"B is {word}: it {verb} ({level})."


def null(measured: Measured) -> str:
    """What the first command showed against itself."""
    null = measured.outcome.null
    if math.isinf(null.furthest):
        return "A against itself: too few rounds for an interval."
    end = (
        "as it should be"
        if null.holds_one
        else "which is not 1: the interval above is wider by that"
    )
    return f"A against itself: {_factor(null)}, {end}."


def method(measured: Measured) -> str:
    """How many rounds, and how they were run."""
    rounds = plural(len(measured.rounds), "round")
    runs = plural(3 * measured.repeats, "run")
    how = "in turns of 30 ms, in random order" if measured.in_turns else "in random order"
    cpus = ", ".join(map(str, measured.place.cpus))
    where = f"on CPU {cpus}"
    before = {
        Scheduling.REAL_TIME: ", before other programs",
        Scheduling.NICE: "",
        Scheduling.NORMAL: "",
    }[measured.place.scheduling]
    without = ", without the time in which another program had the CPU" * measured.without_delays
    return (
        f"{rounds} of {runs} {how}, {where}{before}{without}; {seconds(measured.seconds)} in all."
    )


def symptom_sentences(measured: Measured) -> list[str]:
    """What was wrong meanwhile; `Nothing disturbed it.` where nothing was seen."""
    sentences = [_symptom(symptom) for symptom in symptoms.of(measured)]
    return sentences or ["No disturbance was seen."]


def _symptom(symptom: symptoms.Symptom) -> str:
    figures = symptom.figures
    match symptom.code:
        case "twins_differ":
            return (
                f"Too noisy: A differs from itself by up to {share(figures['share'])}; measure "
                "again when the machine is quieter."
            )
        case "steal":
            return (
                f"The hypervisor took {share(figures['share'])} of the CPU's time for other guests."
            )
        case "waited":
            rounds = f"{count(figures['rounds'])} of {plural(figures['of'], 'round')}"
            most = share(figures["share"])
            return f"Disturbed: in {rounds} a run waited for its CPU, for up to {most} of its time."
        case "two_states":
            part, factor = share(figures["share"]), number(figures["factor"])
            return f"Two states: {part} of the runs took {factor} times as long as the rest."
        case "cold_start":
            factor = number(figures["factor"])
            return (
                f"Cold start: the first run took {factor} times as long as later ones; it is left "
                "out."
            )
        case "short":
            return (
                f"Short: a run takes {duration(figures['time_ns'])}, much of which is loading the "
                "program; let it repeat its work."
            )
        case "coarse":
            return (
                f"Coarse: the printed figure changes in steps of {share(figures['share'])}; print "
                "it with more digits."
            )
    raise AssertionError(symptom.code)


def counted(counts: Sequence[Count]) -> list[str]:
    """A line for each event that was counted."""
    return [_counted(event) for event in counts]


def _counted(event: Count) -> str:
    medians = [sorted(event.counts[arm])[len(event.counts[arm]) // 2] for arm in ("a", "b")]
    first, second = map(count, medians)
    what = f"{event.event[0].upper()}{event.event[1:]}: A {first}, B {second}"
    if not event.differs:
        return f"{what}, the same within {share(event.floor)}."
    if math.isinf(event.ratio):
        return f"{what}."
    change = "more" if event.ratio > 1 else "fewer"
    amount, floor = share(abs(event.ratio - 1)), share(event.floor)
    return f"{what}, {amount} {change} (equal programs differ by up to {floor})."


def as_json(measured: Measured, counts: Sequence[Count] = ()) -> dict[str, Any]:
    """The comparison with every run; costs in ns, or of a metric its figure or its inverse."""
    outcome = measured.outcome
    case = measured.case
    content: dict[str, Any] = storable(
        {
            "version": VERSION,
            "name": case.name,
            "at": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
            "a": case.names[0],
            "b": case.names[1],
            "metric": case.metric.pattern if case.metric else None,
            "higher_is_better": bool(case.metric and case.metric.higher_is_better),
            "answer": outcome.answer.value,
            "confidence": CONFIDENCE,
            "equal_within": measured.limits.equal,
            "factor": dict(vars(outcome.factor)),
            "a_over_itself": dict(vars(outcome.null)),
            "in_turns": measured.in_turns,
            "without_delays": measured.without_delays,
            "cpus": measured.place.cpus,
            "scheduling": measured.place.scheduling.value,
            "seconds": measured.seconds,
            "steal_fraction": measured.steal,
            "symptoms": [
                {"code": symptom.code, "sentence": _symptom(symptom), **symptom.figures}
                for symptom in symptoms.of(measured)
            ],
            "counts": [
                {"event": event.event, "ratio": event.ratio, "floor": event.floor, **event.counts}
                for event in counts
            ],
            "rounds": [
                {arm: [dict(vars(run)) for run in runs] for arm, runs in rounds.items()}
                for rounds in measured.rounds
            ],
        }
    )
    return content


def _factor(interval: Interval) -> str:
    """Its digits keep it on its side of 1."""
    return with_interval(interval.ratio, interval.low, interval.high, edges=[1.0])


def _short(name: str) -> str:
    return name if len(name) <= NAME_MOST else f"{name[: NAME_MOST - 1]}…"
