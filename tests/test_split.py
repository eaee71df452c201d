"""Where a workflow's time went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.core.stage_times import covered, split


def noted(path: Path, *lines: tuple[str, str, float, float]) -> Path:
    keys = ("workflow", "stage", "from_s", "to_s")
    text = "".join(json.dumps(dict(zip(keys, line, strict=True))) + "\n" for line in lines)
    path.write_text(text + '{"workflow": "3')  # torn by a kill
    return path


def test_spans_that_overlap_count_once() -> None:
    assert covered([(5, 6), (0, 2), (1, 3), (1, 1.5)]) == 4
    assert covered([]) == 0


def test_the_last_workflow_that_measured_is_split(tmp_path: Path) -> None:
    notes = noted(
        tmp_path / "stages.jsonl",
        ("100.0", "measure", 101, 109),
        ("200.0", "build", 202, 204),
        ("200.0", "limits", 203, 206),
        ("200.0", "measure", 206, 216),
        ("200.0", "page", 216, 219),
        ("300.0", "page", 301, 302),
    )
    found = split(notes)
    assert found == pytest.approx({"all": 19, "measuring": 10, "building": 4, "the rest": 5})


def test_nothing_measured_is_nothing_to_split(tmp_path: Path) -> None:
    assert split(tmp_path / "absent.jsonl") is None
    assert split(noted(tmp_path / "stages.jsonl", ("1.0", "page", 1, 2))) is None
