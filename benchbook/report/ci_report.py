"""What `benchbook ci` leaves for people: a comment in Markdown, a badge, and the page."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.ab.answer import Answer
from benchbook.ab.counted import INSTRUCTIONS, Count
from benchbook.ab.pull_request import PullRequest
from benchbook.ab.rounds import Measured
from benchbook.core.files import write_json, write_text
from benchbook.core.number_format import count, duration, number, share, with_interval
from benchbook.report import ab_sentences, measurement_formats, measurements
from benchbook.report.ab_page import make_page
from benchbook.report.plots.palette import GREY, WRITTEN
from benchbook.report.render import render

ONLY_HERE = (
    "Both commits were built and run by this one job on this runner. No figure of another run or "
    "of another runner is used."
)
GOOD, BAD = WRITTEN["good"][0], WRITTEN["bad"][0]
BADGE_LABEL = "performance"
LETTER_PX, MARGIN_PX = 6.6, 6  # of the badge's font, whose width textLength sets


@dataclass(frozen=True)
class Checked:
    """A comparison of a pull request's commit with its base; `uncounted` is why nothing was
    counted, empty where it was. `forbidden` are the conditions of --fail-if that are met."""

    pair: PullRequest
    command: str
    measured: Measured
    counts: list[Count]
    uncounted: str = ""
    forbidden: Sequence[str] = ()


@dataclass(frozen=True)
class Summary:
    """What is said in a few words, and whether that is good (1), bad (-1) or neither (0)."""

    text: str
    sign: int


def work(checked: Checked) -> Summary | None:
    """The change in instructions; None where they were not counted."""
    for event in checked.counts:
        if event.event == INSTRUCTIONS:
            return _change(event)
    return None


def _change(event: Count) -> Summary:
    if not event.differs:
        return Summary(f"same {event.event}", 0)
    more = event.ratio > 1
    amount = share(abs(event.ratio - 1))
    return Summary(f"{amount} {'more' if more else 'fewer'} {event.event}", -1 if more else 1)


def in_time(checked: Checked) -> Summary:
    """The answer in time, or of the printed figure."""
    outcome = checked.measured.outcome
    metric = checked.measured.case.metric
    better, worse = ("better", "worse") if metric else ("faster", "slower")
    amount = share(abs(outcome.factor.ratio - 1))
    match outcome.answer:
        case Answer.EQUAL:
            return Summary(f"as {'good' if metric else 'fast'} as before", 0)
        case Answer.CANNOT_TELL:
            return Summary(f"{'figure' if metric else 'time'} not decided", 0)
        case Answer.FASTER:
            return Summary(f"{amount} {better}", 1)
    return Summary(f"{amount} {worse}", -1)


def title(checked: Checked) -> str:
    """Counted work first, time second."""
    summaries = [work(checked), in_time(checked)]
    text = ", ".join(summary.text for summary in summaries if summary)
    return f"{text[:1].upper()}{text[1:]}"


def comment(checked: Checked) -> str:
    """The comment in Markdown, with a table and the sentences of `benchbook ab`."""
    measured, pair = checked.measured, checked.pair
    lines = [
        f"### Benchbook: {title(checked)}",
        "",
        f"| | A: base `{pair.base}` | B: this change `{pair.head}` | |",
        "|---|--:|--:|---|",
        *(_counted_row(event) for event in checked.counts),
        _time_row(measured),
        "",
    ]
    sentences = [
        *(f"`--fail-if '{text}'` is met." for text in checked.forbidden),
        ab_sentences.headline(measured),
        ab_sentences.null(measured),
        *([f"Nothing was counted: {checked.uncounted}"] if checked.uncounted else []),
        ab_sentences.method(measured),
        *ab_sentences.symptom_sentences(measured),
        ONLY_HERE,
    ]
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", checked.command)), default=0))
    lines += [*(f"- {sentence}" for sentence in sentences), ""]
    return "\n".join([*lines, fence, checked.command, fence, ""])


def _counted_row(event: Count) -> str:
    first, second = (count(statistics.median(event.counts[arm])) for arm in ("a", "b"))
    change = f"the same within {share(event.floor)}"
    if event.differs:
        change = _change(event).text.removesuffix(f" {event.event}")
    return f"| {event.event} | {first} | {second} | {change} |"


def _time_row(measured: Measured) -> str:
    cells = []
    for arm in ("a", "b"):
        middle = statistics.median(map(measured.cost, measured.runs_of(arm)))
        metric = measured.case.metric
        figure = 1 / middle if metric and metric.higher_is_better else middle
        cells.append(number(figure) if metric else duration(figure))
    factor = measured.outcome.factor
    ratio = with_interval(factor.ratio, factor.low, factor.high, edges=[1.0])
    name = "printed figure" if measured.case.metric else "time"
    return f"| {name} | {cells[0]} | {cells[1]} | cost × {ratio} |"


def badge(checked: Checked) -> str:
    """An SVG of one line: what changed, in green, red or grey."""
    counted = work(checked)
    timed = in_time(checked)
    shown = counted if counted and (counted.sign or not timed.sign) else timed
    widths = [len(text) * LETTER_PX + 2 * MARGIN_PX for text in (BADGE_LABEL, shown.text)]
    return render(
        "badge.svg.j2",
        label=BADGE_LABEL,
        text=shown.text,
        widths=widths,
        margin=MARGIN_PX,
        colour={1: GOOD, 0: GREY, -1: BAD}[shown.sign],
    )


def write_folder(checked: Checked, about: dict[str, Any], host: str, folder: Path) -> None:
    """comment.md, badge.svg, page.html, result.json (a line of data/ab/NAME.jsonl), and
    metrics.txt (OpenMetrics). `about` are the facts of the machine."""
    results = [(checked.measured, checked.counts)]
    write_text(folder / "comment.md", comment(checked))
    write_text(folder / "badge.svg", badge(checked))
    make_page(results, folder / "page.html")
    content = ab_sentences.as_json(checked.measured, checked.counts)
    own = {
        "system": checked.pair.system,
        "command": checked.command,
        "uncounted": checked.uncounted,
        "forbidden": list(checked.forbidden),
        "facts": about,
    }
    write_json(folder / "result.json", content | own)
    values = measurements.of_comparisons(results, host)
    measurement_formats.openmetrics(values, folder / "metrics.txt")
