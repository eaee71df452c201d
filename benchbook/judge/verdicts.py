"""The claims of one figure: verdicts, their price, what settled them, and where they would hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchbook.analyse import pairwise
from benchbook.analyse.null_tests import null_of
from benchbook.core.units import TIME_UNITS, quantity_of
from benchbook.define.catalogue import moved
from benchbook.judge.claims import INCONCLUSIVE, Verdict, judge_claim, judge_fact
from benchbook.judge.condition_search import elsewhere
from benchbook.judge.resolved_claim import (
    Claim,
    Measured,
    ResolvedClaim,
    resolve_claim,
)
from benchbook.judge.settling_cost import price
from benchbook.judge.step_down import step_down

SIDES = ("numerator", "denominator")


def judge_claims(
    claims: list[Claim],
    unit: str,
    content: dict[str, Any],
    sizes: dict[str, Any],
    run: Measured,
    facts: dict[str, Any],
    printed: dict[str, list[float]],
) -> tuple[list[Verdict], dict[str, Any]]:
    """Verdicts of all claims of a figure, each at its level of the step-down procedure; and the
    twins' null at the first level, simultaneous over all that are measured.

    `unit` is that of the figure's numbers, which tells their quantity, "" where it has none;
    `content` is the experiment's definition, `printed` the source's cells by point.
    """
    measured = [claim for claim in claims if claim.is_measured]
    resolved = [resolve_claim(claim, content, sizes, run) for claim in measured]
    steps, null = step_down(resolved, run)
    in_order = iter(steps)
    in_bytes = tuple(
        name for name, factor in content["factors"].items() if factor.get("unit") == "bytes"
    )
    verdicts = []
    for claim in claims:
        if not claim.is_measured:
            verdict = judge_fact(claim, facts)
            verdicts.append(replace(verdict, published=_printed_ratio(claim, facts)))
            continue
        own, own_null = next(in_order)
        cells = printed | _own_cells(own, facts, TIME_UNITS.get(unit, 1))
        verdict = judge_claim(own, own_null, cells, quantity_of(unit))
        verdicts.append(
            replace(
                verdict,
                beside=_under_other_factors(claim, content, sizes, run),
                price=price(own) if verdict.verdict == INCONCLUSIVE else None,
                elsewhere=elsewhere(own, verdict.published, in_bytes),
            )
        )
    return verdicts, null


def judge_alone(
    claim: Claim,
    content: dict[str, Any],
    sizes: dict[str, Any],
    run: Measured,
    intervals: int,
) -> Verdict:
    """The verdict of one claim on a run of its own, at the level of its figure; with its price."""
    resolved = resolve_claim(claim, content, sizes, run).estimated(intervals)
    verdict = judge_claim(resolved, null_of(run.points, run.summaries, intervals))
    return replace(verdict, price=price(resolved)) if verdict.verdict == INCONCLUSIVE else verdict


def _under_other_factors(
    claim: Claim, content: dict[str, Any], sizes: dict[str, Any], run: Measured
) -> dict[str, Any] | None:
    """The claim estimated under other factors, with its pointwise interval: {setting, estimate,
    pointwise, blocks, by_interval}; None where the claim names none, or it was not measured."""
    estimand = moved({"estimand": claim.estimand, "beside": claim.beside})
    if not estimand:
        return None
    under = replace(claim, estimand=estimand)
    made = resolve_claim(under, content, sizes, run).estimated(1).estimate
    if made is None:
        return None
    return {
        "setting": claim.beside,
        "estimate": made.value,
        "pointwise": [made.low95, made.high95],
        "blocks": len(made.values),
        "by_interval": claim.holds(made.low95, made.high95),
    }


def printed_by_point(figures: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The numbers that the source prints for each point, in the order of its tables: rates as they
    stand there, times in ns."""
    cells: dict[str, list[float]] = {}
    for figure in figures:
        per = TIME_UNITS.get(figure["y_unit"], 1)
        for row in figure["rows"]:
            value = pairwise.printed(row)
            if value is not None and row["point"]:
                cells.setdefault(row["point"], []).append(value * per)
    return cells


def _printed_ratio(claim: Claim, facts: dict[str, Any]) -> list[float]:
    """The ratio that the source prints of what no host measures, where the claim names its cells;
    else nothing."""
    if not claim.cells:
        return []
    top, bottom = (facts["cell"](claim.cells[side]) for side in SIDES)
    return [top / bottom]


def _own_cells(
    resolved: ResolvedClaim, facts: dict[str, Any], per: float
) -> dict[str, list[float]]:
    """The cells that a claim names itself, where the source's stand at other settings; in units of
    `per` ns where they are times."""
    return {
        resolved.roles[side][0].id: [facts["cell"](cell) * per]
        for side, cell in resolved.claim.cells.items()
        if resolved.roles[side]
    }
