"""What many plays of the controls say of each detector, as lines of text."""

from __future__ import annotations

from typing import Any

from benchbook.controls.campaign_counts import NULLS
from benchbook.controls.campaign_summary import ABSTAINED, FALSE_ALARMS, MISSED
from benchbook.controls.score import COUNTS

FAULTS = {
    ABSTAINED: "{how}: abstained in {amount} of {of} provoked scenes",
    MISSED: "{how}: found {amount} of {of}",
    FALSE_ALARMS: "{how}: {amount} false alarms in {of} nulls",
}


def fault(broken: dict[str, Any]) -> str:
    """What a detector's counts break, of those in a summary's `wrong`."""
    return FAULTS[broken["code"]].format(**broken)


def table(content: dict[str, Any]) -> list[str]:
    """The summary as lines of text: counts, then what they break."""
    columns = ("provoked", "found", "abstained", "nulls", "false")
    heads = [*columns, *columns, "replayed"]
    lines = [
        f"{'':26}{'plays':>10}{'scenes':>50}{'plays':>18}",
        f"{'artefact':26}"
        + "".join(f"{name:>10}" for name in heads)
        + "  plays, at least, at most",
    ]
    for name, artefact in content["artefacts"].items():
        of_plays, replayed = artefact["runs"], artefact["replayed"]
        counts = [of_plays[key] for key in COUNTS]
        counts += [artefact[key] - replayed[key] for key in COUNTS] + [replayed["provoked"]]
        intervals, false = of_plays["detected_interval"], of_plays["false_alarm_interval"]
        bounds = f"  {_share(intervals and intervals[0])} found, {_share(false and false[1])} false"
        lines.append(f"{name:26}" + "".join(f"{n:>10}" for n in counts) + bounds)
        lines += [f"  ! {fault(broken)}" for broken in artefact["wrong"]]
    lines += [
        f"not played here: {line}" for line in map(": ".join, content["not_played_here"].items())
    ]
    lines += [
        f"fewer than {NULLS} clean runs can be had here: {name} ({clean_runs(artefact)})"
        for name, artefact in content["artefacts"].items()
        if content["finished"] and clean_runs(artefact) < NULLS
    ]
    have, want = content["counted"], content["wanted"]
    lines.append(f"{have} of {want} runs, in {content['plays']} plays, {content['seconds']} s")
    return lines


def clean_runs(counts: dict[str, Any]) -> int:
    """Clean runs of an artefact in the summary: plays and replayed scenes."""
    return int(counts["runs"]["nulls"] + counts["replayed"]["nulls"])


def _share(value: float | None) -> str:
    return "     -" if value is None else f"{value:6.1%}"
