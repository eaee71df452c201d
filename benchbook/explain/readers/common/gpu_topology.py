"""nvidia-smi topo -m: how each two GPUs of a host are connected."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result

TOOL = "nvidia-smi"
_HEAD = late(r"^\s*GPU0\b[\w \t-]*$")
_DEVICE = late(r"(?:GPU|NIC)\d{1,3}\b|mlx\w*_\d{1,3}\b")
_ROW = late(r"^\s*GPU(?P<gpu>\d{1,3})\s+(?P<cells>(?:(?:X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC)\s+)+)")
_NEAR = ("PIX", "PXB")
BY_HOST = ("PHB", "NODE", "SYS", "SOC")
_GPU = "GPU"


def read(log: Log) -> list[Report]:
    """One report for each table."""
    reports: list[Report] = []
    heads: list[str] = []
    rows: list[tuple[int, int, list[str]]] = []
    for line in log.having("GPU"):
        if found := _ROW.match(f"{line.text} "):
            rows.append((line.number, int(found["gpu"]), found["cells"].split()))
        elif _HEAD.match(line.text):
            reports += _report(heads, rows)
            heads, rows = _DEVICE.findall(line.text), []
    return [*reports, *_report(heads, rows)]


def _report(heads: Sequence[str], rows: Sequence[tuple[int, int, list[str]]]) -> list[Report]:
    """How many pairs each kind of connection has, with the pairs by kind, and the GPUs near to no
    network adapter."""
    pairs: dict[str, list[tuple[int, int]]] = {}
    adapters = [head for head in heads if not head.startswith(_GPU)]
    far: list[int] = []
    for _, gpu, cells in rows:
        named = dict(zip(heads, cells, strict=False))
        for head, cell in named.items():
            other = int(head.removeprefix(_GPU)) if head.startswith(_GPU) else -1
            if other > gpu and cell != "X":
                pairs.setdefault(cell, []).append((gpu, other))
        ways = [named[adapter] for adapter in adapters if adapter in named]
        if ways and not any(way in _NEAR for way in ways):
            far.append(gpu)
    if not pairs:
        return []
    line = rows[0][0]
    results = [
        Result(f"pairs over {kind}", float(len(own)), "pairs", line) for kind, own in pairs.items()
    ]
    facts = {
        "pairs_by_link": pairs,
        "devices": len(rows),
        "far_from_adapters": dict.fromkeys(far, line),
    }
    return [Report(TOOL, results, line, facts=facts)]


def in_words(pairs: Sequence[tuple[int, int]], most: int = 4) -> str:
    """`0-1, 0-3 and 5 more`."""
    shown = ", ".join(f"{first}-{second}" for first, second in pairs[:most])
    return f"{shown} and {len(pairs) - most} more" if len(pairs) > most else shown
