"""What tools say of the state of GPUs and their links: nvidia-smi, rocm-smi, amd-smi and lspci.

They stand next to nearly every benchmark of a GPU, so they are read only where nothing else was.
"""

from __future__ import annotations

from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common import (
    amd_smi,
    gpu_topology,
    nvidia_smi,
    nvidia_smi_query,
    pcie_links,
)

LOOKS_FOR = {
    "nvidia-smi": f"{nvidia_smi.LOOKS_FOR}, -q, topo -m",
    "rocm-smi": "rocm-smi: its table (`0  45c  104.1W  1130Mhz  500Mhz`), `GPU[0] : Temperature`",
    "amd-smi": "amd-smi metric: `SOCKET_POWER: 20 W`",
    "lspci": "lspci -vv: `LnkSta: Speed 8GT/s, Width x8`",
}
# Words without which there is no such output.
_OF_QUERY = ("Performance State", "Clocks Throttle Reasons", "Clocks Event Reasons", "Max Clocks")


def read(log: Log) -> list[Report]:
    """One report for each such output, in their order."""
    every = nvidia_smi.read(log)
    if any(map(log.has, _OF_QUERY)):
        every += nvidia_smi_query.read(log)
    if log.has("GPU0"):
        every += gpu_topology.read(log)
    if any(map(log.has, ("GPU[", "AvgPwr", "SCLK"))):
        every += amd_smi.read_rocm_smi(log)
    if any(map(log.has, ("SOCKET_POWER", "GFX_ACTIVITY", "THROTTLE_STATUS"))):
        every += amd_smi.read_amd_smi(log)
    if log.has("LnkSta:"):
        every += pcie_links.read(log)
    return sorted(every, key=lambda report: report.line)
