"""How much of an odd factor its causes explain: a chain of twins, each without one cause more.

Each step has a factor that was measured (odd ÷ twin, paired by block) and one that evidence
predicts without these two times. What a prediction misses, above or below, and what is left when
all twins are done, is unexplained. What a twin takes away and nothing predicts stands apart as
unpredicted; what is left where a twin is missing, as not measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from benchbook import stats
from benchbook.analyse.null_tests import null_of
from benchbook.core.reason_codes import Code, Reason
from benchbook.define.models import Anomaly
from benchbook.estimands import Estimate, exp, of_values
from benchbook.judge import causes
from benchbook.judge.attribution.cause_chain import Link, Row, Run, chain, run_of
from benchbook.judge.cause_context import CannotTell, Excluded, Predicted

STATES = {Predicted: "predicted", Excluded: "excluded", CannotTell: "cannot_tell"}
ENDS = ("value", "low", "high", "low95", "high95")


@dataclass(frozen=True)
class Step:
    """A link of the chain with its log factors by block: `measured` over its twin, `predicted` by
    its cause, None where there is none. `share` of the log factor goes with it, `explained` is how
    much of that was predicted."""

    link: Link
    intervals: int
    predicted: pd.Series | None = None
    measured: pd.Series | None = None
    share: float | None = None
    explained: float | None = None

    def as_json(self) -> Row:
        """By name; a cause without an answer cannot tell, for its twin is `lost`."""
        link, answer = self.link, self.link.answer or CannotTell("")
        return {
            "cause": link.cause,
            "title": causes.cause_of(link.cause).TITLE,
            "with_cause": link.with_cause,
            "removed": link.without_cause if link.twin else None,
            "lost": link.lost and link.lost.as_json(),
            "state": STATES[type(answer)],
            "why": answer.why,
            "evidence": getattr(answer, "evidence", []),
            "predicted": None if self.predicted is None else _as_json(_factor(self.predicted, 1)),
            "measured": None
            if self.measured is None
            else _as_json(_factor(self.measured, self.intervals)),
            "share": self.share,
            "explained": self.explained,
        }


@dataclass(frozen=True)
class ExplainedFactor:
    """An anomaly with its chain; `odd` and `base` are ids of points.

    state: ok, not_measured, not_odd, no_twin; the first and the last with a reason. Factors are of
    rates, low and high simultaneous over the steps and what they leave, the others pointwise.
    `removed` is the share of the log factor that goes when all twins are done, None where some
    block shows no factor. `unexplained`, `unpredicted` and `unmeasured` are shares of it too,
    `explained` is what they leave of it: None where no step that has a twin has a prediction.
    `null_fails`: the same binary measured twice differs in this run.
    """

    id: str
    text: str
    odd: str | None
    base: str | None
    state: str = "ok"
    reason: Reason | None = None
    factor: Estimate | None = None
    blocks: int = 0
    intervals: int = 0
    steps: list[Step] = field(default_factory=list)
    remainder: Estimate | None = None
    removed: Estimate | None = None
    explained: float | None = None
    unexplained: dict[str, float] | None = None
    unpredicted: float | None = None
    unmeasured: float | None = None
    null_fails: bool = False
    smallest_effect: float | None = None

    def as_json(self) -> Row:
        """By name; a factor as {value, low, high, low95, high95, half_width}."""
        return dict(vars(self)) | {
            "reason": self.reason and self.reason.as_json(),
            "factor": self.factor and _as_json(self.factor),
            "steps": [step.as_json() for step in self.steps],
            "remainder": self.remainder and _as_json(self.remainder),
            "removed": self.removed and _as_json(self.removed),
        }


def explained(
    anomalies: Sequence[Anomaly],
    content: Row,
    analysis: Row,
    summaries: pd.DataFrame,
    items: list[Row],
) -> list[Row]:
    """The anomalies of a figure with their chains, each as ExplainedFactor gives it for JSON;
    `items` are the rows of evidence.json."""
    if not anomalies:
        return []
    run = run_of(content, analysis, summaries, items)
    return [_explained(anomaly, run).as_json() for anomaly in anomalies]


def _explained(anomaly: Anomaly, run: Run) -> ExplainedFactor:
    odd, base = run.point_of(anomaly.odd), run.point_of(anomaly.base)
    made = ExplainedFactor(
        anomaly.id,
        anomaly.text.strip(),
        odd.id if odd else None,
        base.id if base else None,
    )
    why = run.why_missing(odd) or run.why_missing(base)
    if why or odd is None or base is None:
        return replace(made, state="not_measured", reason=why)
    links = list(chain(anomaly.steps, run, odd.id, base.id))
    twins = [link.without_cause for link in links if link.twin]
    last = twins[-1] if twins else odd.id
    logs = run.logs[list(dict.fromkeys([odd.id, base.id, *twins]))].dropna()
    if logs.empty:
        return replace(made, state="not_measured", reason=Reason(Code.NO_COMMON_BLOCK))
    left = None if last == base.id else logs[last] - logs[base.id]
    count = len(twins) + (left is not None) + 1
    whole = _factor(logs[odd.id] - logs[base.id], count)
    smallest, null_fails = _smallest(whole, run, count)
    made = replace(
        made,
        factor=whole,
        blocks=len(logs),
        intervals=count,
        steps=[_step(link, logs, count) for link in links],
        remainder=None if left is None else _factor(left, count),
        removed=_removed(logs, (odd.id, base.id, last), count) if twins else None,
        null_fails=null_fails,
        smallest_effect=math.exp(min(smallest, 700.0)),
    )
    if whole.low95 <= 1 <= whole.high95 or abs(math.log(whole.value)) < smallest:
        return replace(made, state="not_odd")
    lost = next((link.lost for link in links if link.lost), None)
    if lost and not twins:
        return replace(made, state="no_twin", reason=lost)
    return _with_shares(made, math.log(whole.value), left, is_measured=lost is None)


def _removed(logs: pd.DataFrame, points: tuple[str, str, str], intervals: int) -> Estimate | None:
    """The share of the log factor of `odd` over `base` that goes with `last`, of these points."""
    odd, base, last = points
    whole = (logs[odd] - logs[base]).to_numpy(float)
    if not ((whole > 0).all() or (whole < 0).all()):
        return None
    shares = (logs[odd] - logs[last]).to_numpy(float) / whole
    return of_values(shares, intervals, shown=lambda value: value, effect=abs, null=None)


def _step(link: Link, logs: pd.DataFrame, intervals: int) -> Step:
    measured = logs[link.with_cause] - logs[link.without_cause] if link.twin else None
    return Step(link, intervals, _predicted(link, logs), measured)


def _predicted(link: Link, logs: pd.DataFrame) -> pd.Series | None:
    """By block; of a number the same in all."""
    match link.answer:
        case Excluded():
            return pd.Series(0.0, index=logs.index)
        case Predicted(log=log) if isinstance(log, pd.Series):
            by_block = log.reindex(logs.index).dropna()
            return None if by_block.empty else by_block
        case Predicted(log=log):
            return pd.Series(float(log), index=logs.index)
    return None


def _with_shares(
    made: ExplainedFactor, whole: float, left: pd.Series | None, *, is_measured: bool
) -> ExplainedFactor:
    """The anomaly with the share of each step, and what stays unexplained, as shares of the log
    factor `whole`; `left` is what all twins leave, not measured where a twin is missing.

    `unexplained` is centred on its parts without their signs: misses do not cancel. Its interval
    is paired by block, with the signs that the centres have. None where nothing was held against
    a prediction and nothing is left.
    """
    unmeasured = 0.0
    parts: list[pd.Series] = []
    if left is not None and is_measured:
        parts.append(left)
    elif left is not None:
        unmeasured = min(abs(_center(left) / whole), 1.0)
    steps, unpredicted = [], 0.0
    for step in made.steps:
        if step.measured is None:
            steps.append(step)
            continue
        center = _center(step.measured)
        share, missed = _of_step(step.measured, step.predicted)
        if missed is None:
            unpredicted += abs(center / whole)
        else:
            parts.append(missed)
        of_whole = None if share is None else share / whole + 0.0
        steps.append(replace(step, share=center / whole, explained=of_whole))
    unpredicted = min(unpredicted, 1.0)
    made = replace(made, steps=steps, unpredicted=unpredicted, unmeasured=unmeasured)
    if not parts:
        return made
    total = sum((math.copysign(1, _center(part)) * part for part in parts), 0.0 * parts[0])
    shares = (total.dropna() / abs(whole)).to_numpy(float)
    estimate = of_values(shares, made.intervals, shown=lambda value: value, effect=abs, null=None)
    clipped = {key: min(max(getattr(estimate, key), 0.0), 1.0) for key in ENDS}
    rest = 1 - clipped["value"] - unpredicted - unmeasured
    held = any(step.explained is not None for step in steps)
    return replace(made, unexplained=clipped, explained=max(rest, 0.0) if held else None)


def _of_step(
    measured: pd.Series, predicted: pd.Series | None
) -> tuple[float | None, pd.Series | None]:
    """The log factor that a step explains, and what it misses by block; None without a
    prediction."""
    missed = None if predicted is None else (measured - predicted).dropna()
    if missed is None or missed.empty:
        return None, None
    center, miss = _center(measured), abs(_center(missed))
    if miss >= abs(center):
        return 0.0, measured
    return math.copysign(abs(center) - miss, center), missed


def _center(logs: pd.Series) -> float:
    return float(stats.hodges_lehmann(logs.to_numpy(float)))


def _factor(logs: pd.Series, intervals: int) -> Estimate:
    return of_values(logs.to_numpy(float), intervals, shown=exp, effect=abs, null=1.0)


def _as_json(factor: Estimate) -> dict[str, float]:
    return {key: getattr(factor, key) for key in (*ENDS, "half_width")}


def _smallest(whole: Estimate, run: Run, intervals: int) -> tuple[float, bool]:
    """The smallest log factor that counts as real here, and whether the machine fails its own null.

    The largest of its own half-width, that of the A/A twin (the furthest bound, where the two
    differ) and the furthest bound of the relinked twin; a twin that is missing bounds nothing.
    """
    floors = [math.log(whole.high95 / whole.low95) / 2 if whole.low95 > 0 else math.inf]
    null = null_of(run.analysis["points"], run.summaries, intervals)
    again, relinked, fails = null["again"], null["relinked"], null["passes"] is False
    if again:
        floors.append(_furthest(again) if fails else again["half_width"])
    if relinked:
        floors.append(_furthest(relinked))
    return max(floors), fails


def _furthest(twin: Row) -> float:
    """The further bound from 1, in logs."""
    ends = (twin["low"], twin["high"])
    return max(abs(math.log(end)) if 0 < end < math.inf else math.inf for end in ends)
