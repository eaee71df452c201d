"""Made-up evidence of every state: counted, simulated, denied, absent; for tests/made_up.py."""

from __future__ import annotations

from typing import Any

from benchbook.plan.plan import Point

LINE, MIB = 64, 2**20
CAPABILITIES = [
    {"name": "likwid", "state": "denied", "said": "/dev/cpu/0/msr <denied>", "remedy": "modprobe"},
    {"name": "cachegrind", "state": "ok", "said": "it counts a loop", "remedy": ""},
    {"name": "devices", "state": "absent", "said": "no device on the bus", "remedy": ""},
]
NOT_MODELLED = "it moves data by <rep movsb>, which cachegrind does not model"
# Arrays read and written by a call, of the stream kernel.
ARRAYS = {"copy": (1, 1), "scale": (1, 1), "add": (2, 1), "triad": (2, 1), "read": (1, 0)}
ARRAYS |= {"write": (0, 1), "write-nt": (0, 1)}
# What the block copies touch, in blocks, of a buffer of n.
BLOCKS = {"block-1.1.1": ("one", "one"), "block-1.2.2": ("one", "all")}


def rows(experiment: str, points: list[Point], peers: set[str]) -> list[dict[str, Any]]:
    """Lines of every method once and simulated; Triad's bytes counted at every size; what counts
    nothing, by two sources; and what the timed functions are made of."""
    found: list[dict[str, Any]] = [
        row("", "hardware counters", None, "denied", "likwid", "msr is closed", remedy="modprobe"),
        row("", "hardware counters", None, "absent", "perf", "no counters here", remedy=""),
    ]
    seen: set[Any] = set()
    for point in points:
        method = point.factors["method"]
        if point.twin or point.factors.get("processes", 1) > 1:
            continue
        if method == "triad":
            found += counted(point)
        elif (point.variant, method) not in seen and point.variant in ("gcc-O2", "gcc-O3", *peers):
            found += simulated(point)
            if point.variant in peers:
                found.append(row(point.id, "method_by_lines", method, "simulated", "cachegrind"))
        seen.add((point.variant, method))
        if method in ("loop", "triad"):
            found += loop(point)
    return [{"experiment": experiment, **entry} for entry in found]


def row(
    point: str, name: str, value: Any, state: str, source: str, reason: str = "", **more: Any
) -> dict[str, Any]:
    """One evidence row without its experiment."""
    unit = "lines" if name.startswith("lines") else "bytes"
    base = {"point": point, "name": name, "value": value, "unit": unit, "source": source}
    return base | {"state": state, "reason": reason, **more}


def counted(point: Point, moved: float = 4.0) -> list[dict[str, Any]]:
    """As likwid counts Triad: two arrays and the one that is stored to, and that goes back."""
    size = point.factors["bytes"]
    more = {"declared_bytes": 3.0 * size, "multiplexed": False}
    return [
        row(point.id, f"bytes_{side}_memory", share * size, "ok", "likwid MEM", **more)
        for side, share in (("read_from", moved - 1), ("written_to", 1.0))
    ]


def touched(point: Point, buffer: int = MIB) -> tuple[int, int]:
    """Lines that a call reads and writes first."""
    lines = buffer // LINE
    if point.factors["method"] in ARRAYS and "memory" in point.factors:
        read, written = ARRAYS[point.factors["method"]]
        return read * lines, written * lines
    block = point.factors.get("block_bytes", buffer) // LINE
    ways = BLOCKS.get(point.factors["method"], ("all", "all"))
    read, written = (block if way == "one" else lines for way in ways)
    return read, written


def simulated(point: Point, buffer: int = MIB) -> list[dict[str, Any]]:
    """As cachegrind tells it; what it does not model has lines and no bytes."""
    read, written = touched(point, buffer)
    arrays = sum(ARRAYS.get(point.factors["method"], (1, 0))) if "memory" in point.factors else 1
    more = {
        "declared_bytes": arrays * buffer,
        "simulated_bytes": buffer,
        "line_bytes": LINE,
        "geometry": "--LL=245760,15,64",
        "host_geometry": "LL 33554432 bytes of 16 ways",
    }
    values = {
        "lines_read": read,
        "lines_written": written,
        "bytes_read_from_memory": (read + written) * LINE,
        "bytes_written_to_memory": written * LINE,
    }
    text = f"one call less none, by a control build of {point.variant} <1>"
    found = []
    for name, value in values.items():
        if name.startswith("bytes") and (
            point.factors.get("call") or "-" in point.factors["method"]
        ):
            found.append(row(point.id, name, None, "absent", "cachegrind", NOT_MODELLED, **more))
        else:
            found.append(row(point.id, name, value, "simulated", "cachegrind", text, **more))
    return found


def loop(point: Point) -> list[dict[str, Any]]:
    """One function of a point's variant; its stores were not looked at."""
    more = {"variant": point.variant, "function": f"timed_{point.factors['method']}"}
    found = row(point.id, "loads_in_loop", 2, "ok", "disassembly", **more)
    streamed = row(point.id, "non_temporal_stores", ["vmovntpd"], "ok", "disassembly", **more)
    lost = row(point.id, "stores_in_loop", None, "absent", "disassembly", "objdump is gone", **more)
    return [found, streamed, lost]
