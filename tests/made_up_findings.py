"""Made-up results with findings of every effect, each detector's words in it made up too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import made_up

from benchbook.core.files import read_json
from benchbook.define import catalogue
from benchbook.findings import Finding, proof
from benchbook.judge import stage as judge_stage


def finding(
    artefact: str, effect: Any, where: list[str], factor: float | None = None, more: str = ""
) -> dict[str, Any]:
    """A finding as analysis.json carries it; `more` goes into its explanation."""
    made = Finding(
        artefact=artefact,
        effect=effect,
        where=where,
        confidence=1.0,
        evidence=[
            proof("blocks_declared", 2048.0, "blocks", "destination check"),
            proof("moved", None, "bytes", "counters", "absent"),
            proof("library_calls", ["memcpy"], "1", "disassembly", "simulated"),
        ],
        explanation=f"The cause of {artefact} is 0.0488% of this{more}. It shows in 2.5 of 3.",
        remedy=f"Take {artefact} out.",
        factor=factor,
    )
    return made.record("")


def results(
    folder: Path, preset: str, findings: dict[str, list[dict[str, Any]]], **case: Any
) -> Path:
    """paper.json as made_up.results gives it, with these findings (by experiment) alone."""
    paper, figure = case.pop("paper", made_up.PAPER), case.pop("figure", "")
    analyses = []
    for experiment in catalogue.experiments_of(made_up.ROOT, paper):
        path = folder / experiment / "analysis.json"
        with patch("benchbook.detect.all_detectors", return_value=iter(())):
            made_up.measured(path, experiment, preset, 8, **case)
        path.write_text(
            json.dumps(read_json(path) | {"findings": findings.get(experiment, [])}),
            encoding="utf-8",
        )
        analyses.append(path)
    output = folder / paper / "paper.json"
    judge_stage.judge(made_up.ROOT, paper, figure, analyses, output)
    return output


def control(
    provoked: int, detected: int, nulls: int, alarms: int = 0, **other: Any
) -> dict[str, Any]:
    """One artefact of controls.json, all of it played on this machine unless `other` says more."""
    names = {
        "provoked_at": [f"control,bytes={k}" for k in range(provoked)],
        "detected_at": [f"control,bytes={k}" for k in range(detected)],
        "nulls_at": [f"control,bytes={k},clean=1" for k in range(min(nulls, 3))],
        "false_alarms_at": [f"control,bytes={k},clean=1" for k in range(alarms)],
    }
    lost = names["provoked_at"][detected:]
    counts = {"provoked": provoked, "detected": detected, "nulls": nulls, "false_alarms": alarms}
    return {
        "text": "A loop that nothing reads (provoked), and one that is read (null).",
        **counts,
        "abstained": 0,
        "nulls_elsewhere": max(nulls - 3, 0),
        "false_alarms_elsewhere": 0,
        "skipped": 0,
        "reason": "",
        "replayed": dict.fromkeys((*counts, "abstained"), 0),
        "detected_interval": [0.25, 0.994] if provoked else None,
        "false_alarm_interval": [0.0, 0.034] if nulls else None,
        **names,
        "missed_at": lost,
        "abstained_at": [],
        "example": finding("made-up", "biases", [], 2.5) | {"replayed": False}
        if detected
        else None,
        **other,
    }
