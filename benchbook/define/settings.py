"""Settings: config/default.yaml, the preset's file, config/local.yaml and --config, merged."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.define.models import Settings
from benchbook.define.yaml_files import parse, read_yaml, refuse_odd

PRESETS = ("tiny", "quick", "paper")
# These change what is measured, so they enter a run's fingerprint; the others may change freely.
MEASURING = (
    "budget_s",
    "target_half_width",
    "point_s",
    "samples_least",
    "samples_most",
    "sample_least_ns",
    "warmup",
    "time_limit_s",
    "anchor_every_s",
    "before_others",
    "turns",
    "disturbed",
)
# What it is told beside them; a change of another setting measures nothing.
PLANNING = (
    "preset",
    "figure",
    "again",
    "memory_fraction",
    "controls_budget_s",
    "looks",
    "udp_peer",
    "hostdev_device",
)


def load_settings(root: Path, overrides: dict[str, Any]) -> Settings:
    """Merged settings: default, preset, local.yaml, then `overrides` (--config)."""
    default = root / "config" / "default.yaml"
    local = root / "config" / "local.yaml"
    layers = [(default, read_yaml(default))]
    personal = read_yaml(local) if os.path.lexists(local) else {}
    preset = {**layers[0][1], **personal, **overrides}.get("preset")
    preset_file = root / "config" / f"{preset}.yaml"
    if preset in PRESETS and preset_file.exists():
        layers.append((preset_file, read_yaml(preset_file)))
    layers.append((local, personal))
    merged: dict[str, Any] = {}
    for path, layer in layers:
        merged = _merge(merged, layer)
        if layer:
            # Judged as soon as it is laid on, so that the sentence names its file.
            parse(merged, Settings, f"{path.parent.name}/{path.name}")
    refuse_odd(overrides, "--config")
    merged = _merge(merged, overrides)
    settings = parse(merged, Settings, "--config" if overrides else "config/default.yaml")
    origins = [(f"{path.parent.name}/{path.name}", layer) for path, layer in layers]
    _check_together(settings, [*origins, ("--config", overrides)])
    return settings


def settings_of_json(text: str) -> Settings:
    """What a rule of the workflow hands to a stage."""
    return parse({"version": 1, **json.loads(text)}, Settings, "--settings")


def _check_together(settings: Settings, layers: list[tuple[str, dict[str, Any]]]) -> None:
    """Refuse settings that do not fit each other; the sentence names the last file to set one."""

    def origin(*keys: str) -> str:
        return [name for name, layer in layers if set(keys) & set(layer)][-1]

    least, most, looks = settings.samples_least, settings.samples_most, settings.looks
    if least > most:
        raise BenchbookError(
            f"{origin('samples_least', 'samples_most')}: key 'samples_least' is {least}, above "
            f"'samples_most' ({most}); lower the one or raise the other"
        )
    if any(later <= earlier for earlier, later in pairwise(looks)):
        raise BenchbookError(
            f"{origin('looks')}: key 'looks' is {looks}; its numbers must rise: "
            f"{sorted(set(looks))}"
        )


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        nested = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if nested else value
    return merged
