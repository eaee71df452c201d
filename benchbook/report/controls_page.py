"""The page of the controls: per artefact what was provoked, and what its detector said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from benchbook.core import number_format

Artefact = dict[str, Any]
COUNTS = ("provoked", "detected", "abstained", "nulls", "false_alarms")
# How a control went, the worst first, in the order of the page.
BAD, GOOD, REPLAYED, NOTHING = "bad", "good", "replayed", "nothing"
REPLAY = "replay "  # begins the id of a replayed scene
ORDER = (BAD, GOOD, REPLAYED, NOTHING)


def rows(artefacts: dict[str, Artefact]) -> list[dict[str, Any]]:
    """One row per artefact for table and section: what went wrong first, what nothing provoked
    last."""
    found = [_row(name, one) for name, one in artefacts.items()]
    return sorted(found, key=lambda row: (ORDER.index(row["how"]), row["name"]))


def _row(name: str, one: Artefact) -> dict[str, Any]:
    return {
        "name": name,
        "how": _how(one),
        "result": _result(one),
        "counts": {key: one[key] for key in COUNTS},
        "detected": _split(one, "detected", "provoked"),
        "false": _split(one, "false_alarms", "nulls"),
        "skipped": one["skipped"],
        "found": _interval(one, "detected_interval"),
        "alarms": _interval(one, "false_alarm_interval"),
        "decided": decided(one),
        "said": " ".join(said(one)),
        "text": one.get("text") or "",
        "lost": _lost(one),
        "wrong": _wrong(one),
        "example": one.get("example"),
        "scenes": scenes(one),
    }


def replayed(one: Artefact, key: str) -> int:
    """How much of a count was replayed."""
    return int((one.get("replayed") or {}).get(key, 0))


def missed(one: Artefact) -> int:
    """Scenes of which the detector said nothing, without abstaining."""
    if "missed_at" in one:
        return len(one["missed_at"])
    return int(one["provoked"] - one["detected"] - one["abstained"])


def _abstains(one: Artefact) -> bool:
    """Whether it abstained in more than half of what was provoked here, or of what was replayed,
    which counts as missed."""
    again = replayed(one, "abstained"), replayed(one, "provoked")
    here = int(one["abstained"]) - again[0], int(one["provoked"]) - again[1]
    return any(2 * abstained > provoked > 0 for abstained, provoked in (here, again))


def _how(one: Artefact) -> str:
    if missed(one) or one["false_alarms"] or _abstains(one):
        return BAD
    if not one["provoked"]:
        return NOTHING
    return REPLAYED if replayed(one, "provoked") == one["provoked"] else GOOD


def _result(one: Artefact) -> str:
    """How it went, in a few words."""
    parts = []
    if missed(one):
        parts.append(f"{missed(one)} missed")
    if one["abstained"]:
        parts.append(f"{one['abstained']} abstained")
    if one["false_alarms"]:
        parts.append(number_format.plural(one["false_alarms"], "false alarm"))
    if parts:
        return ", ".join(parts)
    return "every time" if one["provoked"] else "not provoked"


def _interval(one: Artefact, key: str) -> str:
    """`90 % to 100 %`, exact; empty where nothing was tried."""
    ends = one.get(key)
    return f"{number_format.share(ends[0])} to {number_format.share(ends[1])}" if ends else ""


def decided(one: Artefact) -> str:
    """By what the detector decides; empty where that is not told."""
    if "timing_only" not in one:
        return ""
    return "timing" if one["timing_only"] else "exact"


def said(one: Artefact) -> list[str]:
    """The counts as sentences."""
    text = []
    if one["provoked"]:
        text += _provoked(one)
    if one["nulls"]:
        elsewhere = one.get("nulls_elsewhere", 0)
        others = f", of which {elsewhere:,} belong to other controls" if elsewhere else ""
        share, rests = _interval(one, "false_alarm_interval"), _rests(one, "nulls")
        text.append(
            "Judged "
            f"{number_format.plural(one['nulls'], 'clean scene')}{_of(one, 'nulls')}{others}, with "
            f"{number_format.plural(one['false_alarms'], 'false alarm')}"
            + (f" (exact 95{number_format.FIXED}% interval {share}{rests})" if share else "")
            + "."
        )
    match decided(one):
        case "exact":
            text.append("Observations decide, not time.")
        case "timing":
            text.append("Only time tells it, so that it may err now and then.")
    return text or ["Nothing provoked it in this run."]


def _provoked(one: Artefact) -> list[str]:
    """How often it was provoked and found, here and replayed, each by itself; the interval is that
    of the scenes here where there are any."""
    keys = ("provoked", "detected", "abstained")
    again = {key: replayed(one, key) for key in keys}
    here = {key: one[key] - again[key] for key in keys}
    share, text = _interval(one, "detected_interval"), []
    for verb, part in (("Provoked", here), ("Replayed", again)):
        if not part["provoked"]:
            continue
        told = f"{verb} {_times(part['provoked'])}, found {_times(part['detected'])}"
        if share and (part is here or not here["provoked"]):
            told += f" (exact 95{number_format.FIXED}% interval {share})"
        if part["abstained"]:
            told += f", abstained {_times(part['abstained'])}"
        text.append(f"{told}.")
    return text


def _split(one: Artefact, hits: str, trials: str) -> str:
    """`3 of 3 here, 9 of 9 replayed`; where all is of one kind, that alone."""
    again = replayed(one, trials)
    here = one[trials] - again
    parts = []
    if here:
        word = " here" if again else ""
        parts.append(f"{one[hits] - replayed(one, hits):,} of {here:,}{word}")
    if again:
        parts.append(f"{replayed(one, hits):,} of {again:,} replayed")
    return ", ".join(parts) or number_format.NONE


def _rests(one: Artefact, key: str) -> str:
    """On what an interval rests, where that is not all."""
    return " of those played here" if 0 < replayed(one, key) < one[key] else ""


def _times(amount: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(amount, f"{amount:,} times")


def _of(one: Artefact, key: str) -> str:
    part = replayed(one, key)
    if not part:
        return ""
    return " (all replayed)" if part == one[key] else f" ({part:,} of them replayed)"


def _lost(one: Artefact) -> str:
    """What could not be played, and why; empty where all was."""
    if not one["skipped"]:
        return ""
    reason = one["reason"].rstrip(".") or "no reason was recorded"
    return f"{number_format.plural(one['skipped'], 'scene')} could not be played here: {reason}."


def _wrong(one: Artefact) -> dict[str, list[str]]:
    """What went wrong -> where."""
    names = {
        "Missed": "missed_at",
        "Abstained": "abstained_at",
        "False alarms": "false_alarms_at",
    }
    return {title: _where(one.get(key)) for title, key in names.items() if one.get(key)}


def _where(scenes: Iterable[Any] | None) -> list[str]:
    """Scenes as ids, whatever controls.json names them by."""
    return [
        one if isinstance(one, str) else f"{one['control']}: {one['where']}" for one in scenes or []
    ]


def scenes(one: Artefact) -> list[dict[str, str]]:
    """Its own scenes: where, role, and what the detector said; replayed ones, whose ids tell
    nothing, are counted."""
    keys = ("detected_at", "missed_at", "false_alarms_at")
    detected, lost, alarms = (set(_where(one.get(key))) for key in keys)
    found = []
    for where in _where(one.get("provoked_at")):
        word = "found" if where in detected else "missed" if where in lost else "abstained"
        found.append((where, "provoked", word))
    for where in _where(one.get("nulls_at")):
        found.append((where, "clean", "false alarm" if where in alarms else "silent"))
    played = [scene for scene in found if not scene[0].startswith(REPLAY)]
    amounts = Counter(scene[1:] for scene in found if scene[0].startswith(REPLAY))
    together = [(number_format.plural(n, "replayed scene"), *what) for what, n in amounts.items()]
    names = ("where", "role", "said")
    return [dict(zip(names, scene, strict=True)) for scene in [*played, *together]]


def headline(artefacts: dict[str, Artefact]) -> str:
    """How many were found every time, and the false alarms."""
    provoked = [one for one in artefacts.values() if one["provoked"]]
    every = [one for one in provoked if one["detected"] == one["provoked"]]
    alarms = sum(one["false_alarms"] for one in artefacts.values())
    return (
        f"Controls: {len(every)} of "
        f"{number_format.plural(len(provoked), 'provoked artefact')} found "
        f"every time, {number_format.plural(alarms, 'false alarm')}"
    )


def summary(artefacts: dict[str, Artefact]) -> list[str]:
    """How many were provoked for real, how many found every time, what was missed."""
    by_how: dict[str, list[str]] = {"real": [], "replayed": [], "nothing": []}
    for name, one in artefacts.items():
        real = one["provoked"] > replayed(one, "provoked")
        by_how["real" if real else "replayed" if one["provoked"] else "nothing"].append(name)
    amounts = {how: len(names) for how, names in by_how.items()}
    parts = [f"{_are(amounts['real'])} provoked for real on this machine"]
    if amounts["replayed"]:
        parts.append(f"{amounts['replayed']} only replayed from recorded or made-up samples")
    if amounts["nothing"]:
        parts.append(f"{amounts['nothing']} not provoked at all")
    provoked = [one for one in artefacts.values() if one["provoked"]]
    every = sum(one["detected"] == one["provoked"] for one in provoked)
    return [
        f"Of {number_format.plural(len(artefacts), 'artefact')} {number_format.listed(parts)}.",
        f"{every} of the {len(provoked)} were found every time.",
        _listed("Missed", {n: (missed(a), a["provoked"]) for n, a in artefacts.items()})
        or "None was missed.",
        _listed("Abstained", {n: (a["abstained"], a["provoked"]) for n, a in artefacts.items()}),
        _listed("False alarms", {n: (a["false_alarms"], a["nulls"]) for n, a in artefacts.items()})
        or "There was no false alarm.",
    ]


def _are(amount: int) -> str:
    return f"{amount} {'was' if amount == 1 else 'were'}"


def _listed(title: str, amounts: dict[str, tuple[int, int]]) -> str:
    names = [f"{name} ({some:,} of {of:,})" for name, (some, of) in amounts.items() if some]
    return f"{title}: {number_format.listed(names)}." if names else ""
