"""What a log tells of the device that did the work: the host itself, or one with its own memory and
caches."""

from __future__ import annotations

import re

from benchbook.importers import Report

_PLATFORM = re.compile(
    r"Portable Computing Language|\bpocl\b|CPU Runtime|for CPU|oclgrind|FPGA Emulation", re.I
)
_DEVICE = re.compile(
    r"^(?:pthread|cpu|basic)\b|\b(?:EPYC|Ryzen|Xeon(?!(?:\(R\))? Phi)|Threadripper|Core\(TM\)"
    r"|Neoverse|Opteron|Phenom|Athlon|Celeron|Pentium)(?![A-Za-z])(?!.*Graphics)"
    r"|\bCPU +@ \d|FPGA Emulation",
    re.I,
)
# Portable Computing Language drives these too, over the bus that they have.
_OTHER = re.compile(
    r"NVIDIA|GeForce|Quadro|Tesla|TITAN|Tegra|Radeon|Graphics|\bGPU\b|\b[RG]TX\b|\bArc\b", re.I
)
_ACCELERATED = re.compile(r"(?:CUDA|HIP|Thrust)\b", re.I)


def is_host(report: Report) -> bool:
    """Whether the named platform or device is the host's own processor."""
    platform, device = (str(report.facts.get(name, "")) for name in ("platform", "device"))
    by_platform = _PLATFORM.search(platform) and not _OTHER.search(device)
    return bool(by_platform or _DEVICE.search(device))


def has_own_memory(report: Report) -> bool:
    """Whether the arrays lay in a device of its own, of which the host's caches tell nothing."""
    accelerated = _ACCELERATED.match(str(report.facts.get("implementation", "")))
    return bool(accelerated or (report.facts.get("device") and not is_host(report)))
