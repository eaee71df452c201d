"""above-ceiling: more than the link between host and device carries, or than any network card does.

Decided by the generation of PCIe that the named device has, sixteen lanes of it one way; for a
device that is not known, by what no link has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from benchbook.core.number_format import number
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import BOTH_WAYS, Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.addresses import stays_in_host
from benchbook.explain.rules.host_memory_device import LINK_BYTES_PER_S
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "above-ceiling"
# One direction of sixteen lanes in GB/s, after the coding of bits, before that of packets.
PCIE_GB_PER_S = {2: 8.0, 3: 15.754, 4: 31.508, 5: 63.015, 6: 121.0}
# The newest generation that a device has. What is linked to its host in another way is not here:
# NVLink of POWER (P100 and V100 as SXM2), NVLink-C2C (GH200, GB200, GB10), Jetsons, xGMI (MI250X).
DEVICES = (
    (late(r"[PV]100S?-PCIE", re.I), 3),  # POWER has the other ones
    (late(r"GH\d|GB\d|SXM2|Jetson|Orin|Xavier|Thor|P100|V100|\bMI300A\b|"
                r"\bMI250X\b", re.I), None),
    (late(r"B300\b", re.I), 6),
    (late(r"B[12]00\b|RTX (?:PRO )?(?:50|6000 Blackwell)\d*|H100|H200|H800|H20\b", re.I), 5),
    (late(r"A100|A800|A30\b|A40\b|A10\b|A10G|A16\b|A2\b|L4\b|L40|RTX A\d|RTX [34]0\d\d|"
                r"\b[34]0[5-9]0\b|RTX \d{4} Ada|MI2\d0|MI100", re.I), 4),
    (late(r"\bT4\b|P4\b|P40|RTX 20\d\d|GTX 1[06]\d\d|TITAN (?:X|V|RTX)|K80|M40|M60|"
                r"GTX 9\d\d|Quadro (?:RTX|[PM])|K40", re.I), 3),
)  # fmt: skip
OF_NETWORKS = ("far_address", "protocol", "link_bits_per_s")
NEEDS = (*OF_NETWORKS, "direction")
BEYOND_LINK = 1.02  # times its speed: what waits in buffers at the end of a test
NETWORK_BITS_PER_S = 800e9  # no card has a faster port
BY_NAME = 0.9
REMEDY = (
    "Look for what the figure counts: both directions added, several devices, a transfer whose end "
    "was not waited for, bits taken for bytes, or data that never left a cache."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with a rate above that."""
    del machine
    for report in reports:
        network = any(key in report.facts for key in OF_NETWORKS)
        may_be = report.being("total", "mean") if network else report.knowing("direction")
        above = [(one, *bound) for one in may_be if (bound := _bound(report, one))]
        if above and network and stays_in_host(report):
            continue  # no link was there; which one the log has besides tells nothing
        if above:
            worst = max(above, key=lambda entry: entry[1] / entry[2])
            yield _finding(*worst, [one for one, *_ in above])


def _bound(report: Report, one: Result) -> tuple[float, float, str] | None:
    """The rate, what is above it, and whose ceiling that is; None where it is below."""
    rate = bytes_per_s(one.value, one.unit)
    if rate is None or not rate < float("inf"):
        return None
    direction = report.column(one, "direction")
    if str(one.of.get("stream")).startswith(BOTH_WAYS):
        direction = "both"
    if any(key in report.facts for key in OF_NETWORKS):
        link = report.facts.get("link_bits_per_s")
        ceiling = (link or NETWORK_BITS_PER_S) / 8 * (2 if direction == "both" else 1)
        whose = "the link of this log" if link else "the fastest port of any network card"
        is_above = one.statistic in ("total", "mean") and rate > BEYOND_LINK * ceiling
        return (rate, ceiling, whose) if is_above else None
    if direction not in ("host to device", "device to host", "both") or one.statistic == "sum":
        return None
    both = (2 if direction == "both" else 1) * one.of.get("devices", 1)
    if own := report.facts.get("pcie_bytes_per_s"):
        ceiling = own * both
        return (rate, ceiling, "the link of this log") if rate > BEYOND_LINK * ceiling else None
    generation = generation_of(str(report.facts.get("device", "")))
    if generation is None:
        ceiling = LINK_BYTES_PER_S * both
        return (rate, ceiling, "the fastest link of any device") if rate > ceiling else None
    ceiling = PCIE_GB_PER_S[generation] * 1e9 * both
    ways = "both directions together" if direction == "both" else "one direction"
    device = report.facts["device"]
    whose = f"sixteen lanes of PCIe {generation}, as {device} has them, carry no more in {ways}"
    return (rate, ceiling, whose) if rate > ceiling else None


@lru_cache(maxsize=64)  # asked of every result of a log
def generation_of(device: str) -> int | None:
    """The generation of PCIe that a device has; None where its name does not tell, or where it has
    another link to its host."""
    return next((found for pattern, found in DEVICES if pattern.search(device)), None)


def _finding(one: Result, rate: float, ceiling: float, whose: str, every: list[Result]) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=rate / ceiling,
        where=[other.where for other in every],
        confidence=BY_NAME,
        evidence=[
            proof("rate", one.value, one.unit, f"line {one.line}"),
            proof("ceiling", ceiling, "bytes/s", "data sheet of the link"),
        ],
        explanation=(
            f"{one.name} in line {one.line} is {number(rate / 1e9)} GB/s, more than "
            f"{number(ceiling / 1e9)} GB/s: {whose}."
            if "PCIe" in whose
            else f"{one.name} in line {one.line} is {number(rate * 8 / 1e9)} Gbit/s, above "
            f"{whose} with {number(ceiling * 8 / 1e9)} Gbit/s: it did not go over that."
        ),
        remedy=REMEDY,
    )
