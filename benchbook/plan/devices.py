"""Devices beside the host that do an experiment's work, as the probes of this machine see them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.define import catalogue
from benchbook.host.capabilities import capability


def devices_of(root: Path, experiment: str) -> dict[str, Any]:
    """Ability -> its devices, each {name, is_host_memory, driver}, of those that the experiment
    works on; without the abilities that are not there."""
    names = catalogue.definition(root, experiment).get("devices", [])
    found = {name: capability(name, root).detail.get("devices") for name in names}
    return {name: devices for name, devices in found.items() if devices}
