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
NO_CONTROL = "this detector has no control in kernels/controls"
REPLAY = "replay "  # begins the id of a replayed scene
ORDER = (BAD, GOOD, REPLAYED, NOTHING)


def rows(artefacts: dict[str, Artefact]) -> list[dict[str, Any]]:
    """A row per artefact for table and section: what went wrong first, what nothing provoked
    last."""
    table = [_row(name, artefact) for name, artefact in artefacts.items()]
    return sorted(table, key=lambda row: (ORDER.index(row["how"]), row["name"]))


def _row(name: str, artefact: Artefact) -> dict[str, Any]:
    return {
        "name": name,
        "how": _how(artefact),
        "result": _result(artefact),
        "counts": {key: artefact[key] for key in COUNTS},
        "detected": _split(artefact, "detected", "provoked"),
        "false": _split(artefact, "false_alarms", "nulls"),
        "skipped": artefact["skipped"],
        "found": _interval(artefact, "detected_interval"),
        "alarms": _interval(artefact, "false_alarm_interval"),
        "decided": decided_by(artefact),
        "sentences": " ".join(sentences(artefact)),
        "text": artefact.get("text") or "",
        "lost": _lost(artefact),
        "wrong": _wrong(artefact),
        "example": artefact.get("example"),
        "scenes": own_scenes(artefact),
    }


def replayed(artefact: Artefact, key: str) -> int:
    """How much of a count was replayed."""
    return int((artefact.get("replayed") or {}).get(key, 0))


def missed(artefact: Artefact) -> int:
    """Scenes of which the detector said nothing, without abstaining."""
    if "missed_at" in artefact:
        return len(artefact["missed_at"])
    return int(artefact["provoked"] - artefact["detected"] - artefact["abstained"])


def _abstains(artefact: Artefact) -> bool:
    """Whether a detector abstained in more than half of what was provoked here, or of what was
    replayed, which counts as missed."""
    again = replayed(artefact, "abstained"), replayed(artefact, "provoked")
    here = int(artefact["abstained"]) - again[0], int(artefact["provoked"]) - again[1]
    return any(2 * abstained > provoked > 0 for abstained, provoked in (here, again))


def _how(artefact: Artefact) -> str:
    if missed(artefact) or artefact["false_alarms"] or _abstains(artefact):
        return BAD
    if not artefact["provoked"]:
        return NOTHING
    return REPLAYED if replayed(artefact, "provoked") == artefact["provoked"] else GOOD


def _result(artefact: Artefact) -> str:
    """The result in a few words: `2 missed, 1 abstained`, `found 3 of 3`, `not provoked`."""
    parts = []
    if missed(artefact):
        parts.append(f"{missed(artefact)} missed")
    if artefact["abstained"] and _how(artefact) == BAD:  # a rare abstention is no fault
        parts.append(f"{artefact['abstained']} abstained")
    if artefact["false_alarms"]:
        parts.append(number_format.plural(artefact["false_alarms"], "false alarm"))
    if parts:
        return ", ".join(parts)
    if not artefact["provoked"]:
        return "not provoked"
    return f"found {artefact['detected']:,} of {artefact['provoked']:,}"


def _interval(artefact: Artefact, key: str) -> str:
    """`90 % to 100 %`, exact; empty where nothing was tried."""
    ends = artefact.get(key)
    return f"{number_format.share(ends[0])} to {number_format.share(ends[1])}" if ends else ""


def decided_by(artefact: Artefact) -> str:
    """`timing` or `exact`: what the detector decides by; empty where that is not recorded."""
    if "timing_only" not in artefact:
        return ""
    return "timing" if artefact["timing_only"] else "exact"


def sentences(artefact: Artefact) -> list[str]:
    """The counts of an artefact as sentences."""
    text = []
    if artefact["provoked"]:
        text += _provoked(artefact)
    if artefact["nulls"]:
        elsewhere = artefact.get("nulls_elsewhere", 0)
        others = f", of which {elsewhere:,} belong to other controls" if elsewhere else ""
        share, rests = _interval(artefact, "false_alarm_interval"), _rests(artefact, "nulls")
        text.append(
            f"Judged {number_format.plural(artefact['nulls'], 'clean scene')}"
            f"{_of(artefact, 'nulls')}{others}, with "
            f"{number_format.plural(artefact['false_alarms'], 'false alarm')}"
            + (f" (exact 95{number_format.FIXED}% interval {share}{rests})" if share else "")
            + "."
        )
    match decided_by(artefact):
        case "exact":
            text.append("Decided from direct observation, not from timing.")
        case "timing":
            text.append("This detector relies on timing and can be wrong occasionally.")
    return text or ["Nothing provoked it in this run."]


def _provoked(artefact: Artefact) -> list[str]:
    """How often it was provoked and found, here and replayed, each by itself; the interval is that
    of the scenes here where there are any."""
    keys = ("provoked", "detected", "abstained")
    again = {key: replayed(artefact, key) for key in keys}
    here = {key: artefact[key] - again[key] for key in keys}
    share, text = _interval(artefact, "detected_interval"), []
    for verb, part in (("Provoked", here), ("Replayed", again)):
        if not part["provoked"]:
            continue
        words = f"{verb} {_times(part['provoked'])}, found {_times(part['detected'])}"
        if share and (part is here or not here["provoked"]):
            words += f" (exact 95{number_format.FIXED}% interval {share})"
        if part["abstained"]:
            words += f", abstained {_times(part['abstained'])}"
        text.append(f"{words}.")
    return text


def _split(artefact: Artefact, hits: str, trials: str) -> str:
    """`3 of 3, 9 of 9 replayed`; where all is of one kind, that alone."""
    again = replayed(artefact, trials)
    here = artefact[trials] - again
    parts = []
    if here:
        parts.append(f"{artefact[hits] - replayed(artefact, hits):,} of {here:,}")
    if again:
        parts.append(f"{replayed(artefact, hits):,} of {again:,} replayed")
    return ", ".join(parts) or number_format.NONE


def _rests(artefact: Artefact, key: str) -> str:
    """` of those played here` where an interval rests on some of the scenes only, else empty."""
    return " of those played here" if 0 < replayed(artefact, key) < artefact[key] else ""


def _times(amount: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(amount, f"{amount:,} times")


def _of(artefact: Artefact, key: str) -> str:
    part = replayed(artefact, key)
    if not part:
        return ""
    return " (all replayed)" if part == artefact[key] else f" ({part:,} of them replayed)"


def _lost(artefact: Artefact) -> str:
    """What could not be played, and why; empty where all was."""
    if not artefact["skipped"]:
        return ""
    reason = artefact["reason"].rstrip(".") or "no reason was recorded"
    if not artefact.get("has_control", True):
        reason = NO_CONTROL
    return (
        f"{number_format.plural(artefact['skipped'], 'scene')} could not be played here: {reason}."
    )


def _wrong(artefact: Artefact) -> dict[str, list[str]]:
    """What went wrong -> where."""
    names = {
        "Missed": "missed_at",
        "Abstained": "abstained_at",
        "False alarms": "false_alarms_at",
    }
    return {title: _where(artefact.get(key)) for title, key in names.items() if artefact.get(key)}


def _where(scenes: Iterable[Any] | None) -> list[str]:
    """Scenes as ids, whatever controls.json names them by."""
    return [
        scene if isinstance(scene, str) else f"{scene['control']}: {scene['where']}"
        for scene in scenes or []
    ]


def own_scenes(artefact: Artefact) -> list[dict[str, str]]:
    """{where, role, answer} of an artefact's own scenes; replayed ones, whose ids mean nothing to
    a reader, are counted."""
    keys = ("detected_at", "missed_at", "false_alarms_at")
    detected, lost, alarms = (set(_where(artefact.get(key))) for key in keys)
    judged = []
    for where in _where(artefact.get("provoked_at")):
        word = "found" if where in detected else "missed" if where in lost else "abstained"
        judged.append((where, "provoked", word))
    for where in _where(artefact.get("nulls_at")):
        judged.append((where, "clean", "false alarm" if where in alarms else "silent"))
    played = [scene for scene in judged if not scene[0].startswith(REPLAY)]
    amounts = Counter(scene[1:] for scene in judged if scene[0].startswith(REPLAY))
    together = [(number_format.plural(n, "replayed scene"), *what) for what, n in amounts.items()]
    names = ("where", "role", "answer")
    return [dict(zip(names, scene, strict=True)) for scene in [*played, *together]]


def headline(artefacts: dict[str, Artefact]) -> str:
    """How many of those provoked on this machine were found in all their scenes, how many were only
    replayed, and the false alarms."""
    here = _provoked_here(artefacts)
    only = [a for a in artefacts.values() if a["provoked"] and not _here(a, "provoked")]
    alarms = sum(artefact["false_alarms"] for artefact in artefacts.values())
    text = (
        f"Controls: {len(_always_found(here))} of "
        f"{number_format.plural(len(here), 'artefact')} provoked here found in all scenes"
    )
    if only:
        text += f", {len(only)} more only replayed"
    return f"{text}, {number_format.plural(alarms, 'false alarm')}"


def _here(artefact: Artefact, key: str) -> int:
    """How much of a count was played on this machine, not replayed."""
    return int(artefact[key]) - replayed(artefact, key)


def _provoked_here(artefacts: dict[str, Artefact]) -> list[Artefact]:
    return [artefact for artefact in artefacts.values() if _here(artefact, "provoked")]


def _always_found(artefacts: list[Artefact]) -> list[Artefact]:
    """Those that were found in all scenes that were played here."""
    return [a for a in artefacts if _here(a, "detected") == _here(a, "provoked")]


def summary(artefacts: dict[str, Artefact]) -> list[str]:
    """How many were provoked for real, how many of them found in all scenes, and in how many
    scenes; what was missed."""
    by_how: dict[str, list[str]] = {"real": [], "replayed": [], "nothing": []}
    for name, artefact in artefacts.items():
        real = artefact["provoked"] > replayed(artefact, "provoked")
        by_how["real" if real else "replayed" if artefact["provoked"] else "nothing"].append(name)
    amounts = {how: len(names) for how, names in by_how.items()}
    parts = [f"{_are(amounts['real'])} provoked for real on this machine"]
    if amounts["replayed"]:
        parts.append(f"{amounts['replayed']} only replayed from recorded or made-up samples")
    if amounts["nothing"]:
        parts.append(f"{amounts['nothing']} not provoked at all")
    return [
        f"Of {number_format.plural(len(artefacts), 'artefact')} {number_format.listed(parts)}.",
        _found_here(_provoked_here(artefacts)),
        _listed("Missed", {n: (missed(a), a["provoked"]) for n, a in artefacts.items()})
        or "None was missed.",
        _listed("Abstained", {n: (a["abstained"], a["provoked"]) for n, a in artefacts.items()}),
        _listed("False alarms", {n: (a["false_alarms"], a["nulls"]) for n, a in artefacts.items()})
        or "There was no false alarm.",
    ]


def _found_here(provoked: list[Artefact]) -> str:
    """`41 of these 42 were found in all of their scenes (1 to 12 each).`"""
    if not provoked:
        return ""
    scenes = sorted(_here(artefact, "provoked") for artefact in provoked)
    each = f"{scenes[0]}" if scenes[0] == scenes[-1] else f"{scenes[0]:,} to {scenes[-1]:,}"
    always = len(_always_found(provoked))
    which = f"{always} of these {len(provoked)}" if always < len(provoked) else f"All {always}"
    return f"{which} were found in all of their scenes ({each} each)."


def _are(amount: int) -> str:
    return f"{amount} {'was' if amount == 1 else 'were'}"


def _listed(title: str, amounts: dict[str, tuple[int, int]]) -> str:
    names = [f"{name} ({some:,} of {of:,})" for name, (some, of) in amounts.items() if some]
    return f"{title}: {number_format.listed(names)}." if names else ""
