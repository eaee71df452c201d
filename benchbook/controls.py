"""Controls: did each detector find its artefact where it was provoked, and nothing in the null?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook import definitions
from benchbook.artefacts import detectors
from benchbook.files import read_json, write_json
from benchbook.points import expand

VERSION = 1


def judge(root: Path, analyses: list[Path], output: Path) -> None:
    """Compare what the detectors said of the controls with what was provoked; write controls.json.

    The detectors have judged already, in the analysis, where no role and no name is known.
    """
    artefacts: dict[str, dict[str, Any]] = {}
    runs = []
    for path in analyses:
        analysis = read_json(path)
        name = analysis["experiment"]
        runs.append({key: analysis[key] for key in ("door", "facts", "variants")})
        content = definitions.load(definitions.definition_file(root, name), "control")
        roles = _roles(root, name, content, analysis["sizes"])
        counts = compare(content["artefact"], analysis, roles)
        artefacts[content["artefact"]] = {"text": content["text"].strip(), **counts}
    for detector in detectors():
        artefacts.setdefault(
            detector.ARTEFACT,
            {
                **_empty(),
                "skipped": 1,
                "reason": "this detector has no control in kernels/controls",
            },
        )
    first = read_json(analyses[0]) if analyses else {}
    where = {key: first.get(key, "") for key in ("host", "preset")}
    write_json(output, {"version": VERSION, **where, "runs": runs, "artefacts": artefacts})


def _roles(
    root: Path, name: str, content: dict[str, Any], sizes: dict[str, int | None]
) -> dict[str, list[str]]:
    experiment = definitions.definition(root, name)
    roles = {}
    for role in ("provoked", "nulls"):
        crosses = [{"variant": "control", **cross} for cross in content[role]]
        roles[role] = [point.id for point in expand(experiment, crosses, sizes)[0]]
    return roles


def _empty() -> dict[str, Any]:
    return {
        "provoked": 0,
        "detected": 0,
        "abstained": 0,
        "nulls": 0,
        "false_alarms": 0,
        "skipped": 0,
        "reason": "",
    }


def compare(artefact: str, analysis: dict[str, Any], roles: dict[str, list[str]]) -> dict[str, Any]:
    """Counts for one artefact: points provoked and detected, nulls and false alarms, skipped."""
    found = {
        where
        for finding in analysis["findings"]
        if finding["artefact"] == artefact
        for where in finding["where"]
    }
    abstained = set(analysis["abstained"].get(artefact, {}))
    ran = {point["point"] for point in analysis["points"] if point["state"] == "ok"}
    skipped = {
        point["point"]: point["reason"] for point in analysis["points"] if point["state"] != "ok"
    }
    provoked = ran & set(roles["provoked"])
    nulls = ran & set(roles["nulls"])
    return {
        "provoked": len(provoked),
        "detected": len(provoked & found),
        "abstained": len((provoked | nulls) & abstained),
        "nulls": len(nulls),
        "false_alarms": len(nulls & found),
        "skipped": len(skipped),
        "reason": next(iter(skipped.values()), ""),
        "provoked_at": sorted(provoked),
        "nulls_at": sorted(nulls),
        "detected_at": sorted(provoked & found),
        "missed_at": sorted(provoked - found - abstained),
        "false_alarms_at": sorted(nulls & found),
    }
