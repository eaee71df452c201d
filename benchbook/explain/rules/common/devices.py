"""What a log tells of the device that did the work: the host itself, or one with its own memory and
caches."""

from __future__ import annotations

import re
from functools import lru_cache

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report

_PLATFORM = late(
    r"Portable Computing Language|\bpocl\b|CPU Runtime|for CPU|oclgrind|FPGA Emulation", re.I
)
_DEVICE = late(
    r"^(?:pthread|cpu|basic)\b|\b(?:EPYC|Ryzen|Xeon(?!(?:\(R\))? Phi)|Threadripper|Core\(TM\)"
    r"|Neoverse|Opteron|Phenom|Athlon|Celeron|Pentium)(?![A-Za-z])(?!.*Graphics)"
    r"|\bCPU +@ \d|FPGA Emulation",
    re.I,
)
# Portable Computing Language drives these too, over the bus that they have.
_OTHER = late(
    r"NVIDIA|GeForce|Quadro|Tesla|TITAN|Tegra|Radeon|Graphics|\bGPU\b|\b[RG]TX\b|\bArc\b", re.I
)
# Graphics in one chip with the processor, and in one memory.
_SHARED = late(r"\bTegra\b|\b(?:Xavier|Orin|Thor)\b")
# GB/s of a device's memory by its data sheet, of the fastest variant that has the name.
_MEMORIES = (
    (late(r"\bG?B[123]00\b|\bMI35[05]X\b"), 8000),
    (late(r"\bMI325X\b"), 6000),
    (late(r"\bMI300[AX]\b"), 5300),
    (late(r"\bG?H200\b|\bH20\b"), 4900),
    (late(r"\bH[18]00\b"), 3940),
    (late(r"\bMI2[15]0X?\b"), 3277),
    (late(r"\bA[18]00\b"), 2040),
    (late(r"\bRTX 5090\b|\bRTX PRO 6000\b"), 1792),
    (late(r"\bMI100\b"), 1229),
    (late(r"\bV100S?\b"), 1134),
    (late(r"\bMI[56]0\b|\bRadeon VII\b"), 1024),
    (late(r"\bRTX [34]090\b"), 1008),
    (late(r"\bRTX (?:5080|6000)\b|\bRX 7900\b"), 960),
    (late(r"\bA30\b"), 933),
    (late(r"\bRTX 3080\b|\bRTX 5070\b"), 912),
    (late(r"\bL40S?\b"), 864),
    (late(r"\bA[56]000\b"), 768),
    (late(r"\bP100\b|\bRTX 4080\b"), 736),
    (late(r"\bA40\b|\bRTX 4070\b|\bTITAN (?:RTX|V)\b"), 696),
    (late(r"\bRTX 2080\b|\bRTX 30[67]0\b"), 616),
    (late(r"\bA10G?\b"), 600),
    (late(r"\bArc(?:\(TM\))? A7[57]0\b|\bTITAN X[p]?\b|\bRX 6[89][05]0\b"), 576),
    (late(r"\bGTX 1080\b"), 484),
    (late(r"\bArc(?:\(TM\))? B5[78]0\b"), 456),
    (late(r"\bRTX 20[67]0\b|\bA4000\b|\bRTX 5060\b"), 448),
    (late(r"\bGTX 1660\b"), 336),
    (late(r"\bT4\b"), 320),
    (late(r"\bL4\b|\bRTX 4060\b"), 300),
    (late(r"\bGTX 1070\b"), 257),
    (late(r"\bGTX 1060\b|\bRTX 3050\b"), 224),
)
LINK_BYTES_PER_S = 1e12  # no device has a faster one to its host
_ACCELERATED = late(r"(?:CUDA|HIP|Thrust)\b", re.I)


def is_host(report: Report) -> bool:
    """Whether the named platform or device is the host's own processor."""
    platform, device = (str(report.facts.get(name, "")) for name in ("platform", "device"))
    by_platform = _PLATFORM.search(platform) and not _OTHER.search(device)
    return bool(by_platform or _DEVICE.search(device))


def shares_memory(report: Report) -> bool:
    """Whether the named device works in the memory of its host: a Tegra."""
    return bool(_SHARED.search(str(report.facts.get("device", ""))))


def has_own_memory(report: Report) -> bool:
    """Whether the arrays lay in a device of its own, of which the host's caches tell nothing."""
    accelerated = _ACCELERATED.match(str(report.facts.get("implementation", "")))
    return bool(accelerated or (report.facts.get("device") and not is_host(report)))


def memory_bytes_per_s(report: Report) -> float | None:
    """What the memory of the named device carries at most; None where its name does not tell."""
    return _memory(str(report.facts.get("device", "")))


@lru_cache(maxsize=64)
def _memory(device: str) -> float | None:
    return next((rate * 1e9 for name, rate in _MEMORIES if name.search(device)), None)
