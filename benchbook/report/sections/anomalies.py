"""What a page says of an anomaly: the chain of its causes in words, and as a picture."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from benchbook.core import number_format
from benchbook.define.points import NOT_IN_PRESET
from benchbook.report import wording
from benchbook.report.plots.explained import LEFT, TAKEN, WHOLE, Fall, waterfall
from benchbook.report.plots.style import Picture
from benchbook.report.wording import Paper

One = dict[str, Any]
OPEN = 0.5  # an interval of the unexplained share as wide as this says nothing
WORTH = 0.1  # the share from which a step is told in the sentence above the table
QUIET = ("call",)  # factors that tell nothing in a title


def _percent(value: float | None) -> str:
    """A share that was estimated: near the whole no finer than its interval could tell."""
    nearly = value is not None and 0.99 < value < 1
    return f"over 99{number_format.FIXED}%" if nearly else number_format.share(value)


def is_absent(one: One) -> bool:
    """Whether nothing is known of it but that another preset measures its points."""
    return one["state"] == "not_measured" and str(one["reason"]).endswith(NOT_IN_PRESET)


def absent(chains: list[tuple[One, Any]]) -> list[str]:
    """The questions of a figure that another preset asks, where there are several: they are told
    in one line."""
    found = [wording.upper(one["text"].rstrip(".")) for one, _ in chains if is_absent(one)]
    return found if len(found) > 1 else []


def names(paper: Paper, one: One) -> tuple[str, str]:
    """Odd point and base as they differ: `block copy 1.1.1 in blocks of 4 KiB`, `whole copy`."""
    sides = [wording.parts_of(one[side]) if one[side] else {} for side in ("odd", "base")]
    return (
        _name(paper, one["odd"], sides[0], sides[1]),
        _name(paper, one["base"], sides[1], sides[0]),
    )


def _name(paper: Paper, point: str, own: dict[str, str], other: dict[str, str]) -> str:
    words = [wording.method_name(paper, point)]
    for key, value in own.items():
        if key in ("method", *QUIET) or value == other.get(key):
            continue
        said = wording.bytes_of(int(value)) if value.isdigit() and "bytes" in key else value
        lead = {"bytes": "of", "block_bytes": "in blocks of", "variant": "by"}.get(key, "with")
        words.append(f"{lead} {said}")
    return " ".join(words)


def title(paper: Paper, one: One) -> str:
    """The finding in one line."""
    if one["state"] == "not_measured":
        return wording.upper(one["text"].rstrip("."))
    odd, base = names(paper, one)
    shows = f"{wording.upper(odd)} shows {times(one['factor'])} times {base}"
    if one["state"] == "not_odd":
        return f"{shows} here: nothing to explain"
    if one["state"] == "no_twin":
        return f"{shows}; why was not measured"
    if one["explained"] is None:
        return f"{shows}: {_taken(one)}"
    if one["unexplained"]["high"] - one["unexplained"]["low"] > OPEN:
        return f"{shows}; how much of it is explained stays open in this run"
    return f"{shows}: {_percent(one['explained'])} of it is explained"


def in_short(paper: Paper, one: One) -> str:
    """How much of the factor is explained and by what, as a sentence; empty where nothing tells."""
    steps = [step for step in chained(one) if abs(step["share"] or 0) >= WORTH]
    if one["state"] != "ok" or not steps:
        return ""
    of = f"Of the factor of {times(one['factor'])} that {names(paper, one)[0]} shows"
    causes = number_format.listed([step["title"] for step in steps])
    if one["explained"] is None:
        twins = "a twin" if len(steps) == 1 else "twins"
        return f"{of}, {twins} with only the cause removed ({causes}) {_takes(one)}."
    left = one["remainder"]
    if one["unexplained"]["high"] - one["unexplained"]["low"] > OPEN:
        said = f" Without its causes ({causes}) {with_interval(left)} is left." if left else ""
        return f"{of}, how much is explained stays open: the run varies too much.{said}"
    after = f"; a factor of {times(left)} is left without them" if left else ""
    return f"{of}, {_percent(one['explained'])} of the logarithm is explained: {causes}{after}."


def times(factor: One) -> str:
    """`6.3`, with the digits that its interval allows."""
    return number_format.number(factor["value"], factor["low95"], factor["high95"])


def with_interval(factor: One | None) -> str:
    """`4.2 (3.8 to 4.4)`; a dash for none."""
    if factor is None:
        return number_format.NONE
    return number_format.with_interval(factor["value"], factor["low"], factor["high"])


def predicted(step: One) -> str:
    """A prediction with its pointwise interval; one that rests on no time has none."""
    found = step["predicted"]
    if found is None:
        return number_format.NONE
    if step["state"] == "excluded" or found["low95"] == found["high95"]:
        return f"{found['value']:.2f}"
    return number_format.with_interval(found["value"], found["low95"], found["high95"])


def chained(one: One) -> list[One]:
    """The steps that have a twin."""
    return [step for step in one["steps"] if step["measured"]]


def excluded(one: One) -> list[One]:
    """The steps that the evidence excludes and no twin was needed for."""
    return [step for step in one["steps"] if step["state"] == "excluded" and not step["measured"]]


def open_ones(one: One) -> list[One]:
    """The steps that neither a twin nor the evidence decides."""
    decided = [*chained(one), *excluded(one)]
    return [step for step in one["steps"] if step not in decided]


def said(paper: Paper, one: One) -> str:
    """What was seen, what each cause predicts and its twin shows, and what is left."""
    if one["state"] == "not_measured":
        points = [point for point in (one["odd"], one["base"]) if point]
        return f"Cannot be told here: {_named(paper, one['reason'], points)}."
    odd, base = names(paper, one)
    seen = with_interval(one["factor"] | _pointwise(one["factor"]))
    text = [f"{wording.upper(odd)} shows {seen} times the rate of {base}."]
    if one["state"] == "not_odd":
        return f"{text[0]} {_nothing(one)}, so there is nothing to explain here."
    if one["state"] == "no_twin":
        lost = one["reason"].partition(":")[0]
        return f"{text[0]} Why cannot be told: {_named(paper, one['reason'], [lost])}."
    steps = chained(one)
    main = [step for step in steps if abs(step["share"]) >= WORTH] or steps[:1]
    text += [_step(step) for step in main]
    if one["remainder"]:
        left = with_interval(one["remainder"])
        text.append(f"With all of this taken away a factor of {left} is left.")
    text.append(_summed(one))
    return " ".join(text)


def _summed(one: One) -> str:
    """How the factor divides, by logarithms: explained, not, not predicted, not measured."""
    parts = []
    if one["explained"] is not None:
        parts.append(f"{_percent(one['explained'])} of the factor is explained")
        parts.append(f"{_share(one['unexplained'])} is not")
    if one["unpredicted"]:
        share = _percent(one["unpredicted"])
        parts.append(f"{share} goes with twins whose effect nothing predicts here")
    if one["unmeasured"]:
        parts.append(f"{_percent(one['unmeasured'])} was not measured, for a twin is missing")
    return f"By logarithms {'; '.join(parts)}." if parts else ""


def _taken(one: One) -> str:
    """`its twin takes 81 % away; nothing predicts it in this preset`."""
    if len(chained(one)) == 1:
        return f"its twin {_takes(one)}; nothing predicts it in this preset"
    return f"its twins {_takes(one)}; nothing predicts them in this preset"


def _takes(one: One) -> str:
    """`takes 81 % away`, as it agrees with one twin or several."""
    steps = chained(one)
    share = _percent(min(max(sum(step["share"] for step in steps), 0.0), 1.0))
    return f"{'takes' if len(steps) == 1 else 'take'} {share} away"


def _nothing(one: One) -> str:
    low, high = one["factor"]["low95"], one["factor"]["high95"]
    if low is None or high is None or low <= 1 <= high:
        return "That may be none at all"
    least = number_format.number(one["smallest_effect"])
    if one["null_fails"]:
        return (
            "The machine fails its own null: in this run one binary beside itself differs, so that "
            f"a factor below {least} may come from nothing"
        )
    return f"Here less than a factor of {least} may come from nothing, as its twins show"


def lower(text: str) -> str:
    """The same after a colon."""
    return text[:1].lower() + text[1:]


def evidence(one: One) -> list[tuple[str, One]]:
    """The rows that the causes rest on, each once, with the point that they are of."""
    found: dict[tuple[str, str], One] = {}
    for step in one["steps"]:
        for item in step["evidence"]:
            found.setdefault((item["point"], item["name"]), item)
    return [(point, item) for (point, _), item in found.items()]


def open_reason(paper: Paper, step: One) -> str:
    """Why a step is open: its twin is missing, or its evidence."""
    lost = step["lost"].partition(":")[0]
    text = _named(paper, step["why"], [lost] if "," in lost else [])
    return text if step["state"] == "cannot_tell" else f"{text} No twin confirms it."


def _named(paper: Paper, text: str, points: list[str]) -> str:
    """The text with points named as the page names them."""
    for point in sorted(points, key=len, reverse=True):
        text = text.replace(point, wording.point_name(paper, point))
    return text


def _pointwise(factor: One) -> One:
    return {"low": factor["low95"], "high": factor["high95"]}


def _step(step: One) -> str:
    shows = f"its twin shows {number_format.number(step['measured']['value'])}"
    if step["predicted"] is None:
        share = _percent(step["share"])
        return (
            f"{wording.upper(step['title'])}: {shows}, which takes {share} away; "
            "nothing predicts it in this preset."
        )
    said = number_format.number(step["predicted"]["value"])
    return f"{wording.upper(step['title'])}: a factor of {said} predicted, {shows}."


def _share(share: One) -> str:
    low, high = (_percent(share[end]) for end in ("low", "high"))
    return f"{_percent(share['value'])} ({low} to {high})"


def share_of(step: One) -> str:
    """The share of the log factor that goes with a step, and how much of that was predicted."""
    if step["share"] is None:
        return number_format.NONE
    return _percent(step["share"])


def explained_by(step: One) -> str:
    """The share that was predicted and confirmed."""
    if step["measured"] and step["explained"] is None:
        return "not predicted"
    return number_format.NONE if step["explained"] is None else _percent(step["explained"])


def picture(paper: Paper, figure: str, one: One) -> Picture | None:
    """The chain as bars, each from where the one above ends; None without a step."""
    steps = chained(one)
    if one["state"] != "ok" or not steps:
        return None
    odd, base = names(paper, one)
    level, whole = one["factor"]["value"], one["factor"]
    shown = f"{times(whole)} ×"
    ends = whole["low95"], whole["high95"]
    falls = [Fall(wording.upper(odd), 1.0, level, *ends, None, shown, WHOLE)]
    for step in steps:
        found, guess = step["measured"], step["predicted"]
        low, high = (level / found[end] if found[end] else None for end in ("high", "low"))
        falls.append(
            Fall(
                step["title"],
                level,
                level / found["value"],
                low,
                None if high is None or math.isinf(high) else high,
                guess and level / guess["value"],
                f"÷ {number_format.number(found['value'], found['low95'], found['high95'])}",
                TAKEN,
            )
        )
        level /= found["value"]
    left = one["remainder"]
    if left:
        falls.append(
            Fall("left without all of these", 1.0, left["value"], left["low"], left["high"], None,
                 f"{times(left)} ×", LEFT)
        )  # fmt: skip
    alt = f"{title(paper, one)}. {said(paper, one)}"
    return waterfall(name_of(figure, one), alt, falls, f"rate ÷ that of {base}")


def name_of(figure: str, one: One) -> str:
    """The picture's file name."""
    return f"{figure}-{one['id']}"


COLUMNS = ("cause", "state", "removed", "predicted", "predicted_low95", "predicted_high95")
COLUMNS += ("twin_shows", "twin_low", "twin_high", "share", "explained_share", "why")


def csv_of(one: One) -> str:
    """The chain as CSV: the whole factor, a row for each step, and what is left."""
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(COLUMNS)
    whole = _ends(one["factor"])
    table.writerow(
        ["whole", one["state"], "", "", "", "", *whole, "", one["explained"], one["reason"]]
    )
    for step in one["steps"]:
        guess = step["predicted"] or {}
        table.writerow(
            [step["cause"], step["state"], step["removed"]]
            + [guess.get(key) for key in ("value", "low95", "high95")]
            + [*_ends(step["measured"]), step["share"], step["explained"], step["why"]]
        )
    table.writerow(["left", "", "", "", "", "", *_ends(one["remainder"]), "", "", ""])
    return stream.getvalue()


def _ends(factor: One | None) -> list[Any]:
    return [(factor or {}).get(key) for key in ("value", "low", "high")]
