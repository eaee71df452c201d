"""JSON schemas of the YAML files, generated from their models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError

FOLDER = Path(__file__).parent
LIMITS = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}


def generate() -> dict[str, str]:
    """File name -> text of each schema."""
    from benchbook.define import models as m
    from benchbook.define.audit_models import Audit

    models = (m.Settings, m.Experiment, m.Peer, m.Control, m.ControlKernel, m.Probe, m.Paper, Audit)
    return {
        f"{model.__name__.lower()}.json": json.dumps(_closed(model.model_json_schema()), indent=1)
        + "\n"
        for model in models
    }


def _closed(rules: Any) -> Any:
    """The rules with what pydantic checks and its schemas lack: that keys fit a pattern, and the
    limits of `Number`, which stand there under pydantic's names."""
    if isinstance(rules, list):
        return [_closed(rule) for rule in rules]
    if not isinstance(rules, dict):
        return rules
    inner = {LIMITS.get(key, key): _closed(value) for key, value in rules.items()}
    return {"additionalProperties": False, **inner} if "patternProperties" in rules else inner


def write(*, check: bool) -> None:
    """Write all schemas; with `check` raise BenchbookError where one differs."""
    for name, text in generate().items():
        path = FOLDER / name
        if check and (not path.exists() or path.read_text(encoding="utf-8") != text):
            raise BenchbookError(f"{path} is not what the models say; run `benchbook schemas`")
        if not check:
            path.write_text(text, encoding="utf-8")
