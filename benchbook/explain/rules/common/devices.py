"""What a log tells of the device that did the work: the host itself, or one with its own memory and
caches."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path

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
DATA_SHEETS = Path(__file__).parent.parent / "devices.toml"
# A name that ends that of another maker's card is not this one (BI-V100 is no V100); a family or a
# system of the same maker may stand before it.
_NOT_OF_SERIES = (
    r"(?:(?<![A-Za-z0-9]-)|(?<=NVIDIA-)|(?<=Tesla-)|(?<=GeForce-)|(?<=Quadro-)|(?<=[DH]GX-))"
)
# A part of a device, and versions that have its name and a slower memory.
_SLOWER = late(r"\bMIG\b|\bLaptop\b|\bMax-Q\b|\bMobile\b", re.I)
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


def named_device(report: Report) -> str:
    """The name of the device; "" where the log has none."""
    return str(report.facts.get("device", ""))


@lru_cache(maxsize=64)  # asked of every result of a log
def of_data_sheet(device: str, what: str) -> float:
    """What data sheets say of the device by its name: `memory` and `nvlink` in bytes/s, or its
    generation of `pcie`; 0 where its name does not tell, or where it has none."""
    if what == "memory" and _SLOWER.search(device):
        return 0
    entry = next((value for name, value in _data_sheets(what) if name.search(device)), 0)
    return entry if what == "pcie" else entry * 1e9


@cache
def _data_sheets(what: str) -> list[tuple[re.Pattern[str], float]]:
    sheets = tomllib.loads(DATA_SHEETS.read_text(encoding="utf-8"))[what]
    return [(late(f"{_NOT_OF_SERIES}(?:{name})"), value) for name, value in sheets.items()]


@lru_cache(maxsize=64)
def pcie_bytes_per_s(device: str) -> float:
    """One direction of sixteen lanes of the PCIe that the device has; 0 where nobody knows."""
    generation = str(of_data_sheet(device, "pcie"))
    return next(
        (rate * 1e9 for name, rate in _data_sheets("lanes") if name.fullmatch(generation)), 0
    )


LANE_BYTES_PER_S = {2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9}  # after the coding of bits
REACHED = (0.78, 0.97)  # of the lanes, by large copies: the rest is the heads of packets


def lanes_of(rate: float) -> str:
    """Which links of PCIe carry this rate at their best, in words (`4 lanes of PCIe 4`); "" where
    none fits."""
    fits = [
        f"{lanes} {'lanes' if lanes > 1 else 'lane'} of PCIe {generation}"
        for lanes in (8, 4, 2, 1)
        for generation, each in LANE_BYTES_PER_S.items()
        if REACHED[0] * lanes * each <= rate <= REACHED[1] * lanes * each
    ]
    return " or ".join(fits[:3])
