"""How much of an odd factor its causes explain: a chain of twins, each without one cause more.

Each step has a factor that was measured (odd ÷ twin, paired by block) and one that evidence
predicts without these two times. What a prediction misses, above or below, and what is left when
all twins are done, is unexplained. What a twin takes away and nothing predicts stands apart as
unpredicted; what is left where a twin is missing, as not measured.
"""

from __future__ import annotations

import math

import pandas as pd

from benchbook import stats
from benchbook.analyse.null_tests import null_of
from benchbook.estimands import exp, of_values
from benchbook.judge import causes
from benchbook.judge.attribution.cause_chain import Link, Row, Run, chain, run_of
from benchbook.judge.cause_context import CannotTell, Excluded, Predicted


def explained(
    figure: Row,
    content: Row,
    analysis: Row,
    summaries: pd.DataFrame,
    items: list[Row],
) -> list[Row]:
    """The anomalies of a figure with their chains; `items` are the rows of evidence.json.

    A factor is {value, low, high, low95, high95}: of rates, low and high simultaneous over the
    steps and what they leave, the others pointwise. `unexplained`, `unpredicted` and `unmeasured`
    are shares of the log factor, `explained` is what they leave of it: None where no step that has
    a twin has a prediction. `null_fails`: a binary beside itself differs in this run.
    """
    declared = figure.get("anomalies", [])
    if not declared:
        return []
    run = run_of(content, analysis, summaries, items)
    return [_anomaly(anomaly, run) for anomaly in declared]


def _anomaly(anomaly: Row, run: Run) -> Row:
    odd, base = run.point_of(anomaly["odd"]), run.point_of(anomaly["base"])
    found: Row = {
        "id": anomaly["id"],
        "text": anomaly["text"].strip(),
        "odd": odd and odd.id,
        "base": base and base.id,
        "state": "ok",
        "reason": "",
        "factor": None,
        "blocks": 0,
        "intervals": 0,
        "steps": [],
        "remainder": None,
        "explained": None,
        "unexplained": None,
        "unpredicted": None,
        "unmeasured": None,
        "null_fails": False,
        "smallest_effect": None,
    }
    for point in (odd, base):
        state = run.state_of(point)
        if state["state"] != "ok":
            reason = f"{point.id}: {state['reason']}" if point else state["reason"]
            return found | {"state": "not_measured", "reason": reason}
    assert odd is not None
    assert base is not None
    links = list(chain(anomaly, run, odd.id, base.id))
    last = next((link.without_cause for link in reversed(links) if link.twin), odd.id)
    names = list(
        dict.fromkeys([odd.id, base.id, *(link.without_cause for link in links if link.twin)])
    )
    logs = run.logs[names].dropna()
    if logs.empty:
        return found | {"state": "not_measured", "reason": "no block holds all of its points"}
    count = sum(link.twin for link in links) + (last != base.id) + 1
    whole = _factor(logs[odd.id] - logs[base.id], count)
    found |= {
        "factor": whole,
        "blocks": len(logs),
        "intervals": count,
        "remainder": None if last == base.id else _factor(logs[last] - logs[base.id], count),
        "steps": [_step(link, logs, count) for link in links],
    }
    smallest, found["null_fails"] = _smallest(whole, run, count)
    found["smallest_effect"] = math.exp(min(smallest, 700.0))
    if whole["low95"] <= 1 <= whole["high95"] or abs(math.log(whole["value"])) < smallest:
        return found | {"state": "not_odd"}
    lost = [link.lost for link in links if link.lost]
    if lost and not any(link.twin for link in links):
        return found | {"state": "no_twin", "reason": lost[0]}
    log = math.log(whole["value"])
    left = [] if last == base.id else [logs[last] - logs[base.id]]
    unmeasured = abs(_center(left[0]) / log) if lost and left else 0.0
    found["unmeasured"] = min(unmeasured, 1.0)
    return found | _shares(found, links, logs, [] if lost else left, log)


def _step(link: Link, logs: pd.DataFrame, intervals: int) -> Row:
    answer = link.answer
    measured = logs[link.with_cause] - logs[link.without_cause] if link.twin else None
    predicted = _predicted(link, logs)
    return {
        "cause": link.cause,
        "title": causes.cause_of(link.cause).TITLE,
        "one": link.with_cause,
        "removed": link.without_cause if link.twin else None,
        "lost": link.lost,
        "state": _STATES[type(answer)],
        "why": answer.why,
        "evidence": getattr(answer, "evidence", []),
        "predicted": None if predicted is None else _factor(predicted, 1),
        "measured": None if measured is None else _factor(measured, intervals),
        "share": None,
        "explained": None,
    }


_STATES = {
    Predicted: "predicted",
    Excluded: "excluded",
    CannotTell: "cannot_tell",
}


def _predicted(link: Link, logs: pd.DataFrame) -> pd.Series | None:
    """By block; of a number the same in all."""
    match link.answer:
        case Excluded():
            return pd.Series(0.0, index=logs.index)
        case Predicted(log=log) if isinstance(log, pd.Series):
            found = log.reindex(logs.index).dropna()
            return None if found.empty else found
        case Predicted(log=log):
            return pd.Series(float(log), index=logs.index)
    return None


def _shares(
    found: Row, links: list[Link], logs: pd.DataFrame, left: list[pd.Series], whole: float
) -> Row:
    """Share of each step, and what stays unexplained, as shares of the log factor `whole`.

    `unexplained` is centred on its parts without their signs: misses do not cancel. Its interval
    is paired by block, with the signs that the centres have. None where nothing was held against
    a prediction and nothing is left.
    """
    parts, shared, unpredicted = list(left), [], 0.0
    for step, link in zip(found["steps"], links, strict=True):
        if not link.twin:
            shared.append(step)
            continue
        measured = logs[link.with_cause] - logs[link.without_cause]
        center = _center(measured)
        share, missed = _of_step(measured, _predicted(link, logs))
        if missed is None:
            unpredicted += abs(center / whole)
        else:
            parts.append(missed)
        of_whole = None if share is None else share / whole + 0.0
        shared.append(step | {"share": center / whole, "explained": of_whole})
    apart = {"steps": shared, "unpredicted": min(unpredicted, 1.0)}
    if not parts:
        return apart
    signs = [math.copysign(1, _center(part)) for part in parts]
    total = sum(
        (sign * part for sign, part in zip(signs, parts, strict=True)),
        pd.Series(0.0, index=logs.index),
    ).dropna()
    unexplained = of_values(
        (total / abs(whole)).to_numpy(float),
        found["intervals"],
        shown=lambda value: value,
        effect=abs,
        null=None,
    )
    ends = {key: getattr(unexplained, key) for key in ("value", "low", "high", "low95", "high95")}
    clipped = {key: min(max(value, 0.0), 1.0) for key, value in ends.items()}
    rest = 1 - clipped["value"] - apart["unpredicted"] - found["unmeasured"]
    held = any(step["explained"] is not None for step in shared)
    return apart | {"unexplained": clipped, "explained": max(rest, 0.0) if held else None}


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


def _factor(logs: pd.Series, intervals: int) -> Row:
    found = of_values(logs.to_numpy(float), intervals, shown=exp, effect=abs, null=1.0)
    return {key: getattr(found, key) for key in ("value", "low", "high", "low95", "high95")} | {
        "half_width": found.half_width
    }


def _smallest(whole: Row, run: Run, intervals: int) -> tuple[float, bool]:
    """The smallest log factor that counts as real here, and whether the machine fails its own null.

    The largest of its own half-width, that of the A/A twin (the furthest bound, where the two
    differ) and the furthest bound of the relinked twin; a twin that is missing bounds nothing.
    """
    floors = [math.log(whole["high95"] / whole["low95"]) / 2 if whole["low95"] > 0 else math.inf]
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
