"""Why the page's answer is what it is: the causes of a factor as a waterfall, and sentences."""

from __future__ import annotations

import math
from typing import Any

from benchbook.report import wording
from benchbook.report.chart import Chart, Row, chart
from benchbook.report.plots.explained import LEFT, TAKEN, WHOLE
from benchbook.report.sections import anomalies, first_screen
from benchbook.report.sections import answer as answer_section
from benchbook.report.wording import Paper

Anomaly = dict[str, Any]
SENTENCES = 3


def anomaly_of(paper: Paper) -> tuple[str, Anomaly] | None:
    """The figure and the explained factor that the page shows: that of the leading claim's figure
    with the most causes, else of any; None where no cause was measured."""
    leading = {claim["figure"] for claim in first_screen.leading_claims(paper)}
    explained = [
        (figure["id"], anomaly)
        for figure in paper["figures"]
        for anomaly in figure["explained"]
        if anomaly["state"] == "ok" and anomalies.measured_steps(anomaly)
    ]
    explained.sort(key=lambda pair: (pair[0] not in leading, -pair[1]["factor"]["value"]))
    return explained[0] if explained else None


def sentences(paper: Paper) -> list[str]:
    """Up to three: the cause and how much it explains, what is left open, and what would help."""
    shown = anomaly_of(paper)
    claims = first_screen.leading_claims(paper)
    texts = [anomalies.in_short(paper, shown[1])] if shown else []
    texts += list(answer_section.not_the_end(paper))[:1]
    if claims and not (shown and claims[0]["verdict"] == "reproduced"):
        texts.append(first_screen.why(paper, claims).removeprefix("Why: "))
    texts = [wording.capitalised(text) for text in texts if text]
    return texts[:SENTENCES] or ["Nothing here asks for an explanation."]


def waterfall(paper: Paper, anomaly: Anomaly) -> Chart:
    """The factor, each cause from where the one above ends, and what is left without them."""
    odd, base = anomalies.side_names(paper, anomaly)
    whole, level = anomaly["factor"], anomaly["factor"]["value"]
    rows = [
        Row(
            label=wording.capitalised(odd),
            bar=(1.0, level),
            value=level,
            low=whole["low95"],
            high=whole["high95"],
            cells=(f"{anomalies.factor_in_words(whole)} ×", ""),
            colour=WHOLE,
        )
    ]
    for step in anomalies.measured_steps(anomaly):
        measured, guess = step["measured"], step["predicted"]
        low, high = (level / measured[end] if measured[end] else None for end in ("high", "low"))
        after = level / measured["value"]
        rows.append(
            Row(
                label=f"− {step['title']}",
                bar=(level, after),
                value=after,
                low=low,
                high=None if high is None or math.isinf(high) else high,
                published=[level / guess["value"]] if guess else [],
                cells=(f"÷ {anomalies.factor_in_words(measured)}", anomalies.share_of(step)),
                colour=TAKEN,
            )
        )
        level = after
    if left := anomaly["remainder"]:
        rows.append(
            Row(
                label="what remains",
                bar=(1.0, left["value"]),
                value=left["value"],
                low=left["low"],
                high=left["high"],
                cells=(f"{anomalies.factor_in_words(left)} ×", ""),
                colour=LEFT,
            )
        )
    return chart(
        f"rate ÷ that of {base}", ("factor", "share removed"), rows, ratio=True, label="cause"
    )
