"""What a page says of an anomaly: the chain of its causes in words, and as a picture."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchbook.core import number_format
from benchbook.core.reason_codes import Code
from benchbook.report import reasons, wording
from benchbook.report.csv_text import csv_text
from benchbook.report.plots.explained import LEFT, TAKEN, WHOLE, Fall, waterfall
from benchbook.report.plots.style import Picture
from benchbook.report.wording import Paper

Anomaly = dict[str, Any]
WORTH = 0.1  # the share from which a step is told in the sentence above the table
QUIET = ("call",)  # factors that tell nothing in a title


SENTENCES = reasons.SENTENCES | {
    Code.SIZE_UNKNOWN: "a size that it names is unknown here",
    Code.NO_COMMON_BLOCK: "no round holds all of its measurements",
    Code.BEHIND_A_LOST_TWIN: "follows a control build that was not measured",
}


def _percent(value: float | None) -> str:
    """A share that was estimated: near the whole no finer than its interval could tell."""
    nearly = value is not None and 0.99 < value < 1
    return f"over 99{number_format.FIXED}%" if nearly else number_format.share(value)


def is_not_in_preset(anomaly: Anomaly) -> bool:
    """Whether nothing is known of it but that another preset measures its points."""
    return anomaly["state"] == "not_measured" and anomaly["reason"]["code"] == Code.NOT_IN_PRESET


def questions_not_in_preset(chains: list[tuple[Anomaly, Any]]) -> list[str]:
    """The questions of a figure that another preset asks, where there are several: they are told
    in one line."""
    questions = [
        wording.capitalised(anomaly["text"].rstrip("."))
        for anomaly, _ in chains
        if is_not_in_preset(anomaly)
    ]
    return questions if len(questions) > 1 else []


def side_names(paper: Paper, anomaly: Anomaly) -> tuple[str, str]:
    """Odd point and base as they differ: `block copy 1.1.1 in blocks of 4 KiB`, `whole copy`."""
    sides = [wording.parts_of(anomaly[side]) if anomaly[side] else {} for side in ("odd", "base")]
    return (
        _name(paper, anomaly["odd"], sides[0], sides[1]),
        _name(paper, anomaly["base"], sides[1], sides[0]),
    )


def _name(paper: Paper, point: str, own: dict[str, str], other_side: dict[str, str]) -> str:
    words = [wording.method_name(paper, point)]
    for key, value in own.items():
        if key in ("method", *QUIET) or value == other_side.get(key):
            continue
        value_word = wording.bytes_of(int(value)) if value.isdigit() and "bytes" in key else value
        lead = {"bytes": "of", "block_bytes": "in blocks of", "variant": "by"}.get(key, "with")
        words.append(f"{lead} {value_word}")
    return " ".join(words)


def title(paper: Paper, anomaly: Anomaly) -> str:
    """The finding in one line."""
    if anomaly["state"] == "not_measured":
        return wording.capitalised(anomaly["text"].rstrip("."))
    odd, base = side_names(paper, anomaly)
    shows = f"{wording.capitalised(odd)} shows {factor_in_words(anomaly['factor'])} times {base}"
    if anomaly["state"] == "not_odd":
        return f"{shows} here: nothing to explain"
    if anomaly["state"] == "no_twin":
        return f"{shows}; why was not measured"
    left = anomaly["remainder"]
    return f"{shows}; {factor_in_words(left)} times without its causes" if left else shows


def in_short(paper: Paper, anomaly: Anomaly) -> str:
    """What removing its causes does to the factor, as sentences; empty where nothing tells."""
    if anomaly["state"] != "ok" or not _main_steps(anomaly):
        return ""
    return f"{wording.capitalised(side_names(paper, anomaly)[0])}: {_fall(paper, anomaly)}"


def _main_steps(anomaly: Anomaly) -> list[Anomaly]:
    """The steps worth telling in a sentence."""
    return [step for step in measured_steps(anomaly) if abs(step["share"] or 0) >= WORTH]


def _fall(paper: Paper, anomaly: Anomaly) -> str:
    """How the factor falls where all causes that have a control build are removed, and which share
    of it that is, with its interval: the one statement about them, from the rounds of the chain."""
    left = anomaly["remainder"]
    # What is left is without all of them: also without those that matter little, or slow it down.
    steps = measured_steps(anomaly) if left else _main_steps(anomaly)
    steps = steps or measured_steps(anomaly)[:1]
    causes = number_format.listed([step["title"] for step in steps])
    factor = factor_in_words(anomaly["factor"])
    if left is None:  # the last control build is the other side itself
        amount = "one cause" if len(steps) == 1 else f"{len(steps)} causes"
        return f"the whole factor of {factor} has {amount} ({causes})."
    amount = "both" if len(steps) == 2 else f"all {len(steps)}"
    removed_ones = "its cause was" if len(steps) == 1 else f"{amount} differences were"
    text = f"{removed_ones} removed ({causes}). Without {'it' if len(steps) == 1 else 'them'} "
    text += f"the factor falls from {factor} to {factor_in_words(left)}"
    text += f", over {_rounds(paper, anomaly)}."
    removed = anomaly.get("removed")
    if removed and removed["low"] is not None and removed["high"] is not None:
        ends = f"{number_format.share(removed['low'])} to {number_format.share(removed['high'])}"
        text += (
            f" That takes {number_format.share(removed['value'])} ({ends}) of it away, on a log "
        )
        text += "scale."
    return text


def _rounds(paper: Paper, anomaly: Anomaly) -> str:
    """`8 rounds`, or of more `the 8 of 25 rounds that ran every control build`."""
    used = anomaly["blocks"]
    whole = wording.experiment_of(paper, anomaly["odd"]).get("blocks", used)
    if used >= whole:
        return number_format.plural(used, "round")
    return f"the {used} of {whole} rounds that ran every control build"


def factor_in_words(factor: Anomaly) -> str:
    """`6.3`, with the digits that its interval allows."""
    return number_format.number(factor["value"], factor["low95"], factor["high95"])


def with_interval(factor: Anomaly | None) -> str:
    """`4.2 (3.8 to 4.4)`; a dash for none."""
    if factor is None:
        return number_format.NONE
    return number_format.with_interval(factor["value"], factor["low"], factor["high"])


def prediction(step: Anomaly) -> str:
    """A prediction with its pointwise interval; one that rests on no time has none."""
    prediction = step["predicted"]
    if prediction is None:
        return number_format.NONE
    if step["state"] == "excluded" or prediction["low95"] == prediction["high95"]:
        return f"{prediction['value']:.2f}"
    return number_format.with_interval(
        prediction["value"], prediction["low95"], prediction["high95"]
    )


def measured_steps(anomaly: Anomaly) -> list[Anomaly]:
    """The steps that have a twin."""
    return [step for step in anomaly["steps"] if step["measured"]]


def excluded_steps(anomaly: Anomaly) -> list[Anomaly]:
    """The steps that the evidence excludes and no twin was needed for."""
    return [
        step for step in anomaly["steps"] if step["state"] == "excluded" and not step["measured"]
    ]


def undecided_steps(anomaly: Anomaly) -> list[Anomaly]:
    """The steps that neither a twin nor the evidence decides."""
    decided = [*measured_steps(anomaly), *excluded_steps(anomaly)]
    return [step for step in anomaly["steps"] if step not in decided]


def explanation(paper: Paper, anomaly: Anomaly) -> str:
    """What was seen, what each cause predicts and its twin shows, and what is left."""
    if anomaly["state"] == "not_measured":
        return f"Not decided here: {_because(anomaly['reason'], _namer(paper))}."
    odd, base = side_names(paper, anomaly)
    seen = with_interval(anomaly["factor"] | _pointwise(anomaly["factor"]))
    text = [f"{wording.capitalised(odd)} shows {seen} times the rate of {base}."]
    if anomaly["state"] == "not_odd":
        return f"{text[0]} {_nothing(anomaly)}, so there is nothing to explain here."
    if anomaly["state"] == "no_twin":
        return f"{text[0]} The cause is unknown: {_because(anomaly['reason'], _namer(paper))}."
    text += [_step(step) for step in _main_steps(anomaly) or measured_steps(anomaly)[:1]]
    text.append(wording.capitalised(_fall(paper, anomaly)))
    if anomaly["unmeasured"]:
        lost = _percent(anomaly["unmeasured"])
        text.append(f"{lost} of it was not measured, because a control build is missing.")
    return " ".join(text)


def _nothing(anomaly: Anomaly) -> str:
    low, high = anomaly["factor"]["low95"], anomaly["factor"]["high95"]
    if low is None or high is None or low <= 1 <= high:
        return "The difference is not distinguishable from zero"
    least = number_format.number(anomaly["smallest_effect"])
    if anomaly["null_fails"]:
        return (
            "On this noisy machine, timing the same program twice already differed, so a factor "
            f"below {least} may be pure noise"
        )
    return f"Identical programs differed by up to a factor of {least} here, so this may be noise"


def evidence_rows(anomaly: Anomaly) -> list[tuple[str, Anomaly]]:
    """The rows that the causes rest on, each once, with the point that they are of."""
    items: dict[tuple[str, str], Anomaly] = {}
    for step in anomaly["steps"]:
        for item in step["evidence"]:
            items.setdefault((item["point"], item["name"]), item)
    return [(point, item) for (point, _), item in items.items()]


def open_reason(paper: Paper, step: Anomaly) -> str:
    """Why a step is open: its twin is missing, or its evidence."""
    text = _why(step, _namer(paper))
    return text if step["state"] == "cannot_tell" else f"{text} No control build confirms it."


def _why(step: Anomaly, named: Callable[[str], str] = str) -> str:
    """The cause's answer, or why it has none."""
    if step["lost"]:
        return f"Its control build is missing: {_because(step['lost'], named)}."
    return str(step["why"])


def _because(reason: Anomaly, named: Callable[[str], str] = str) -> str:
    """A reason as words; `named` gives the name of a point from its id."""
    code = Code(reason["code"])
    text = reason["why"] if code == Code.POINT_MISSING else SENTENCES[code]
    return f"{named(reason['point'])}: {text}" if "point" in reason else text


def _namer(paper: Paper) -> Callable[[str], str]:
    return lambda point: wording.point_name(paper, point)


def _pointwise(factor: Anomaly) -> Anomaly:
    return {"low": factor["low95"], "high": factor["high95"]}


def _step(step: Anomaly) -> str:
    shows = f"without it the rate is lower by a factor of {factor_in_words(step['measured'])}"
    if step["measured"]["value"] < 1:
        higher = 1 / step["measured"]["value"]
        shows = f"without it the rate is higher by a factor of {number_format.number(higher)}"
    if step["predicted"] is None:
        return f"{wording.capitalised(step['title'])}: {shows}; nothing predicts it in this preset."
    prediction = number_format.number(step["predicted"]["value"])
    return f"{wording.capitalised(step['title'])}: {shows} (predicted {prediction})."


def share_of(step: Anomaly) -> str:
    """The share of the log factor that goes with a step, and how much of that was predicted."""
    if step["share"] is None:
        return number_format.NONE
    return _percent(step["share"])


def picture(paper: Paper, figure: str, anomaly: Anomaly) -> Picture | None:
    """The chain as bars, each from where the one above ends; None without a step."""
    steps = measured_steps(anomaly)
    if anomaly["state"] != "ok" or not steps:
        return None
    odd, base = side_names(paper, anomaly)
    level, whole = anomaly["factor"]["value"], anomaly["factor"]
    shown = f"{factor_in_words(whole)} ×"
    ends = whole["low95"], whole["high95"]
    falls = [Fall(wording.capitalised(odd), 1.0, level, *ends, None, shown, WHOLE)]
    for step in steps:
        measured, guess = step["measured"], step["predicted"]
        low, high = (level / measured[end] if measured[end] else None for end in ("high", "low"))
        falls.append(
            Fall(
                step["title"],
                level,
                level / measured["value"],
                low,
                None if high is None or math.isinf(high) else high,
                guess and level / guess["value"],
                f"÷ {factor_in_words(measured)}",
                TAKEN,
            )
        )
        level /= measured["value"]
    left = anomaly["remainder"]
    if left:
        falls.append(
            Fall("left without all of these", 1.0, left["value"], left["low"], left["high"], None,
                 f"{factor_in_words(left)} ×", LEFT)
        )  # fmt: skip
    alt = f"{title(paper, anomaly)}. {explanation(paper, anomaly)}"
    return waterfall(file_name(figure, anomaly), alt, falls, f"rate ÷ that of {base}")


def file_name(figure: str, anomaly: Anomaly) -> str:
    """The picture's file name."""
    return f"{figure}-{anomaly['id']}"


COLUMNS = (
    *("cause", "state", "removed", "predicted", "predicted_low95", "predicted_high95"),
    *("twin_shows", "twin_low", "twin_high", "share", "explained_share", "why"),
)


def csv_of(anomaly: Anomaly) -> str:
    """The chain as CSV: the whole factor, a row for each step, and what is left."""
    whole = _ends(anomaly["factor"])
    explained = anomaly["explained"]
    reason = _because(anomaly["reason"]) if anomaly["reason"] else ""
    rows = [["whole", anomaly["state"], *[""] * 4, *whole, "", explained, reason]]
    for step in anomaly["steps"]:
        guess = step["predicted"] or {}
        rows.append(
            [step["cause"], step["state"], step["removed"]]
            + [guess.get(key) for key in ("value", "low95", "high95")]
            + [*_ends(step["measured"]), step["share"], step["explained"], _why(step)]
        )
    rows.append(["left", *[""] * 5, *_ends(anomaly["remainder"]), "", "", ""])
    return csv_text(COLUMNS, rows)


def _ends(factor: Anomaly | None) -> list[Any]:
    return [(factor or {}).get(key) for key in ("value", "low", "high")]
