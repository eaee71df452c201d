"""second-run: the only two runs of a tool in one log, whose figures nobody has compared."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from benchbook.explain import general_readers, readers
from benchbook.explain.context.same_runs import MEASURED, WHOLE
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import GIVEN, grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding

SPREADS = ("sample", "stddev", "error", "range", "confidence 99.9 %", "standard error", "noise")
LEAST, MOST = 2, 500  # figures that both have
WORTH, WORTH_BOTH = 1.03, 1.15  # the largest ratio; where some are faster
OTHER_WORK, OTHER_TABLE = 30.0, 4.0  # more is hardly the same benchmark
NAMED = ("titled", "said_above", "section")  # what somebody calls a run
WORK = late(r"(?i)\b(?:read|writ|send|receiv|upload|download|encod|decod|compress|decompress)")
OWN = MEASURED | {"label_parts", "spread_percent"}


@rule
def second_runs(reports: Sequence[Report]) -> Iterator[str]:
    """A note on the only two runs of a tool that have figures of the same names: which of them are
    slower in the second, and by how much.

    Decided by figures that each run has once and without a spread. Silent where the text says that
    both are the same code, or where the log compares them itself.
    """
    for tool, several in grouped(reports, lambda report: report.tool).items():
        is_here = readers.comparers().get(tool) == second_runs.name
        if not is_here or len(several) != 2 or _is_told(several):
            continue
        first, second = map(_figures, several)
        shared = [(first[key], second[key]) for key in first if key in second]
        if not LEAST <= len(shared) <= MOST or 2 * len(shared) < max(len(first), len(second)):
            continue
        slower = [(_slower(*pair), pair) for pair in shared]
        slowest, quickest = (pick(slower, key=_ratio) for pick in (max, min))
        span = max(slowest[0], 1 / quickest[0])
        is_other = tool in general_readers.TOOLS  # whose work nobody knows
        if not WORTH <= span <= (OTHER_TABLE if is_other else OTHER_WORK):
            continue
        if is_other and _are_parts(several):
            continue
        up = [entry for entry in slower if entry[0] > 1]
        down = [entry for entry in slower if entry[0] < 1]
        if len(up) == len(slower) or len(down) == len(slower):
            least = quickest if up else slowest
            old, new = (slowest if up else quickest)[1]
            words: dict[str, Any] = {
                "way": "slower" if up else "faster",
                "count": len(slower),
                "old": old,
            }
            of_least, of_most = (f"{own:,.4g}" for own in (max(least[0], 1 / least[0]), span))
            words["factors"] = of_most if of_least == of_most else f"{of_least} to {of_most}"
            words["new"] = new
            yield finding("second-run-one-way", words).explanation
        elif up and down and span >= WORTH_BOTH:
            (old, new), (before, after) = slowest[1], quickest[1]
            words = {"old": old, "new": new}
            words |= {"are_slower": _are(up), "are_faster": _are(down)}
            words |= {"before": before, "after": after, "count": len(slower)}
            words |= {"most": slowest[0], "least": 1 / quickest[0]}
            yield finding("second-run-both-ways", words).explanation
        return


def _are_parts(several: Sequence[Report]) -> bool:
    """Whether they may be two tests of one run: nobody names them, or by two kinds of work."""
    names = [" ".join(str(report.facts.get(name, "")) for name in NAMED) for report in several]
    works = [{work.lower() for work in WORK.findall(name)} for name in names]
    return not any(name.strip() for name in names) or bool(all(works) and works[0] != works[1])


def _are(several: Sequence[object]) -> str:
    return f"{len(several)} {'is' if len(several) == 1 else 'are'}"


def _is_told(several: Sequence[Report]) -> bool:
    settings = [
        {name: repr(fact) for name, fact in report.facts.items() if name in ("cpu", "cores")}
        for report in several
    ]
    return settings[0] != settings[1] or any(
        "said_same_line" in report.facts
        or "build" in report.columns
        or report.being(*SPREADS, "change", "ratio")
        for report in several
    )


def _figures(report: Report) -> dict[Hashable, Result]:
    """Times and rates that a run has once, by name and setting."""
    figures: dict[Hashable, list[Result]] = {}
    for own in report.results:
        is_figure = own.is_time or own.rate is not None or own.unit.lower().endswith(("/s", "ops"))
        if own.statistic in WHOLE and own.statistic != GIVEN and is_figure and own.is_positive:
            setting = sorted((name, repr(of)) for name, of in own.of.items() if name not in OWN)
            figures.setdefault((own.name, own.statistic, own.unit, *setting), []).append(own)
    return {key: own[0] for key, own in figures.items() if len(own) == 1}


def _slower(first: Result, second: Result) -> float:
    """How many times slower the second is."""
    if first.is_time:
        return second.base_value / first.base_value
    return first.value / second.value


def _ratio(entry: tuple[float, tuple[Result, Result]]) -> float:
    return entry[0]
