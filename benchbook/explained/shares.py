"""How much of an odd factor its causes explain: a chain of twins, each without one cause more.

Each step has a factor that was measured (odd ÷ twin, paired by block) and one that evidence
predicts without these two times. What a prediction misses, above or below, and what is left when
all twins are done, is unexplained; what is removed but not predicted is unexplained too.
"""

from __future__ import annotations

import math

import pandas as pd

from benchbook import causes, stats
from benchbook.estimands import exp, of_values
from benchbook.explained.chains import Link, Row, Run, chain, run_of
from benchbook.twins import null_of, smallest_effect


def explained(
    figure: Row,
    content: Row,
    analysis: Row,
    summaries: pd.DataFrame,
    items: list[Row],
) -> list[Row]:
    """The anomalies of a figure with their chains; `items` are the rows of evidence.json.

    A factor is {value, low, high, low95, high95}: of rates, low and high simultaneous over the
    steps and what they leave, the others pointwise. `unexplained` is a share of the log factor.
    """
    declared = figure.get("anomalies", [])
    if not declared:
        return []
    run = run_of(content, analysis, summaries, items)
    return [_anomaly(one, run) for one in declared]


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
        "smallest_effect": None,
    }
    for one in (odd, base):
        state = run.state_of(one and one.id)
        if state["state"] != "ok":
            reason = f"{one.id}: {state['reason']}" if one else state["reason"]
            return found | {"state": "not_measured", "reason": reason}
    assert odd is not None
    assert base is not None
    links = list(chain(anomaly, run, odd.id, base.id))
    last = next((link.other for link in reversed(links) if link.twin), odd.id)
    names = list(dict.fromkeys([odd.id, base.id, *(link.other for link in links if link.twin)]))
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
    smallest = _smallest(whole, run, count)
    found["smallest_effect"] = math.exp(min(smallest, 700.0))
    if whole["low95"] <= 1 <= whole["high95"] or abs(math.log(whole["value"])) < smallest:
        return found | {"state": "not_odd"}
    lost = [link.lost for link in links if link.lost]
    if lost and not any(link.twin for link in links):
        return found | {"state": "no_twin", "reason": lost[0]}
    left = [] if last == base.id else [logs[last] - logs[base.id]]
    return found | _shares(found["steps"], links, logs, left, math.log(whole["value"]), count)


def _step(link: Link, logs: pd.DataFrame, intervals: int) -> Row:
    answer = link.answer
    measured = logs[link.one] - logs[link.other] if link.twin else None
    predicted = _predicted(link, logs)
    return {
        "cause": link.cause,
        "title": causes.cause_of(link.cause).TITLE,
        "one": link.one,
        "removed": link.other if link.twin else None,
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
    causes.Predicted: "predicted",
    causes.Excluded: "excluded",
    causes.CannotTell: "cannot_tell",
}


def _predicted(link: Link, logs: pd.DataFrame) -> pd.Series | None:
    """By block; of a number the same in all."""
    match link.answer:
        case causes.Excluded():
            return pd.Series(0.0, index=logs.index)
        case causes.Predicted(log=log) if isinstance(log, pd.Series):
            found = log.reindex(logs.index).dropna()
            return None if found.empty else found
        case causes.Predicted(log=log):
            return pd.Series(float(log), index=logs.index)
    return None


def _shares(
    steps: list[Row],
    links: list[Link],
    logs: pd.DataFrame,
    left: list[pd.Series],
    whole: float,
    intervals: int,
) -> Row:
    """Share of each step, and what stays unexplained, as shares of the log factor `whole`.

    `unexplained` is centred on its parts without their signs: misses do not cancel. Its interval
    is paired by block, with the signs that the centres have.
    """
    parts = list(left)
    shared = []
    for step, link in zip(steps, links, strict=True):
        if not link.twin:
            shared.append(step)
            continue
        measured = logs[link.one] - logs[link.other]
        predicted = _predicted(link, logs)
        share, missed = _of_step(measured, predicted)
        parts.append(missed)
        center = stats.hodges_lehmann(measured.to_numpy(float))
        shared.append(step | {"share": center / whole, "explained": share / whole + 0.0})
    each = [part for part in parts if len(part)]
    signs = [math.copysign(1, stats.hodges_lehmann(part.to_numpy(float))) for part in each]
    total = sum(
        (sign * part for sign, part in zip(signs, each, strict=True)),
        pd.Series(0.0, index=logs.index),
    ).dropna()
    unexplained = of_values(
        (total / abs(whole)).to_numpy(float),
        intervals,
        shown=lambda value: value,
        effect=abs,
        null=None,
    )
    ends = {key: getattr(unexplained, key) for key in ("value", "low", "high", "low95", "high95")}
    clipped = {key: min(max(value, 0.0), 1.0) for key, value in ends.items()}
    return {"steps": shared, "unexplained": clipped, "explained": 1 - clipped["value"]}


def _of_step(measured: pd.Series, predicted: pd.Series | None) -> tuple[float, pd.Series]:
    """The log factor that a step explains, and what it leaves unexplained by block."""
    center = stats.hodges_lehmann(measured.to_numpy(float))
    if predicted is None:
        return 0.0, measured
    missed = (measured - predicted).dropna()
    if missed.empty:
        return 0.0, measured
    miss = abs(stats.hodges_lehmann(missed.to_numpy(float)))
    if miss >= abs(center):
        return 0.0, measured
    return math.copysign(abs(center) - miss, center), missed


def _factor(logs: pd.Series, intervals: int) -> Row:
    found = of_values(logs.to_numpy(float), intervals, shown=exp, effect=abs, null=1.0)
    return {key: getattr(found, key) for key in ("value", "low", "high", "low95", "high95")} | {
        "half_width": found.half_width
    }


def _smallest(whole: Row, run: Run, intervals: int) -> float:
    """The smallest log factor that counts as real here: its own half-width, or what twins say."""
    own = math.log(whole["high95"] / whole["low95"]) / 2 if whole["low95"] > 0 else math.inf
    null = null_of(run.analysis["points"], run.summaries, intervals)
    if null["again"] is None:
        return own
    return smallest_effect({"half_width": own}, null).log_effect
