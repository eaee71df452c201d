"""The picture of a machine's topology: sockets, nodes, last-level caches and cores as boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from benchbook.core import number_format
from benchbook.core.sizes import format_bytes
from benchbook.report.plots.palette import FAINT, GREY, INK, PALETTE, PAPER, REGION
from benchbook.report.plots.style import WIDTH_IN, Picture, as_picture, drawing, shortened

MARGIN_IN, GAP_IN, LINE_IN = 0.06, 0.08, 0.17
LARGE_IN, SMALL_IN = (0.8, 0.4), (0.125, 0.125)  # a core with its name, and without
NAMED = 8  # cores; of more, none has a name
MOST_BOXES = 32  # caches of a socket; of more, the rest is counted
LETTERS = 62  # of a line
Facts = dict[str, Any]
Cores = dict[int, list[dict[str, Any]]]  # by the lowest CPU of the core


@dataclass(frozen=True)
class Box:
    """A last-level cache, or what stands for one, with its cores."""

    label: str
    cores: Cores


def topology(name: str, facts: Facts) -> Picture | None:
    """CPUs and caches as hwloc tells them, else as the kernel does; None where neither was kept."""
    source_facts = facts.get("hwloc") or {}
    source_facts = (
        source_facts
        if source_facts.get("cpus")
        else {"cpus": facts.get("cpus"), "caches": facts.get("caches")}
    )
    cpus, caches = source_facts["cpus"] or [], source_facts["caches"] or []
    if not cpus:
        return None
    usable = set(facts.get("usable_cpus") or [cpu["id"] for cpu in cpus])
    kinds = {cpu["id"]: cpu["kind"] for cpu in facts.get("cpus") or []}
    groups = _groups(cpus, caches, source_facts.get("nodes") or {})
    cores = {cpu["core"] for cpu in cpus}
    cell = LARGE_IN if len(cores) <= NAMED else SMALL_IN
    lines = _private(cpus, caches)
    tall = MARGIN_IN
    rows = []
    for head, boxes in groups:
        placed, high = _place(boxes, cell)
        rows.append((head, placed, len(boxes) - len(placed), tall, high))
        tall += high + GAP_IN
    below, tall = tall, tall + LINE_IN * len(lines)
    with drawing(tall) as figure:
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, WIDTH_IN)
        axes.set_ylim(tall, 0)
        axes.axis("off")
        for head, placed, left_out, top, high in rows:
            _frame(axes, MARGIN_IN, top, WIDTH_IN - 2 * MARGIN_IN, high, "none")
            _write(axes, 2 * MARGIN_IN, top + LINE_IN / 2, head, bold=True)
            for box, x, y, wide, inner in placed:
                _box(axes, box, (x, top + y), (wide, inner), cell, usable, kinds)
            if left_out:
                text = f"and {left_out} more caches with their cores"
                _write(axes, 2 * MARGIN_IN, top + high - LINE_IN / 2, text)
        for k, line in enumerate(lines):
            _write(axes, 2 * MARGIN_IN, below + LINE_IN * (k + 0.4), line)
        return as_picture(figure, name, _alt(groups, lines, cpus, usable))


def title(facts: Facts) -> str:
    """The picture's title: `2 cores on 1 socket, with 1 last-level cache of 32 MiB`."""
    source_facts = facts.get("hwloc") or {}
    source_facts = source_facts if source_facts.get("cpus") else facts
    cpus = source_facts.get("cpus") or []
    amount = len({cpu["core"] for cpu in cpus})
    sockets = len({cpu["socket"] for cpu in cpus} - {None})
    cores = number_format.plural(amount, "core")
    threads = (
        f" ({number_format.plural(len(cpus), 'hardware thread')})" if len(cpus) > amount else ""
    )
    where = f" on {number_format.plural(sockets, 'socket')}" if sockets else ""
    last = {_key(cache): cache for cache in _last(cpus, source_facts.get("caches") or []).values()}
    sizes = {cache["bytes"] for cache in last.values()}
    if not last:
        return f"{cores}{threads}{where}; no cache is known"
    each = _size(sizes.pop()) if len(sizes) == 1 else "different sizes"
    return (
        f"{cores}{threads}{where}, {number_format.plural(len(last), 'last-level cache')} of {each}"
    )


def source_in_words(facts: Facts) -> str:
    """A sentence that names the source of the topology: hwloc, or sysfs and why not hwloc."""
    hwloc = facts.get("hwloc") or {}
    if hwloc.get("cpus"):
        return f"Source: hwloc {hwloc.get('version') or 'of an unknown version'}."
    why = hwloc.get("reason")
    return "Source: the kernel’s files (sysfs)" + (f": {why}." if why else ".")


def _key(cache: Facts) -> tuple[Any, ...]:
    return cache["level"], cache["kind"], tuple(cache["shared_cpus"] or ())


def _size(count: int | None) -> str:
    return format_bytes(count) if count else "unknown size"


def _last(cpus: list[Facts], caches: list[Facts]) -> dict[int, Facts]:
    """The last data cache of each CPU; those without a known one are absent."""
    everyone = [cpu["id"] for cpu in cpus]
    last: dict[int, Facts] = {}
    for cache in sorted(caches, key=lambda cache: cache["level"]):
        if cache["kind"] != "instruction":
            last |= dict.fromkeys(cache["shared_cpus"] or everyone, cache)
    return {cpu: last[cpu] for cpu in everyone if cpu in last}


def _groups(
    cpus: list[Facts], caches: list[Facts], nodes: dict[str, int | None]
) -> list[tuple[str, list[Box]]]:
    """Sockets and their NUMA nodes: a heading, and the last-level caches."""
    last = _last(cpus, caches)
    by_node: dict[tuple[Any, Any], dict[Any, Cores]] = {}
    for cpu in cpus:
        where = cpu["socket"], cpu["node"]
        cache = last.get(cpu["id"])
        boxes = by_node.setdefault(where, {})
        cores = boxes.setdefault(_key(cache) if cache else None, {})
        cores.setdefault(cpu["core"], []).append(cpu)
    by_key = {_key(cache): cache for cache in last.values()}
    return [
        (
            _head(*where, nodes),
            [Box(_label(by_key.get(key)), cores) for key, cores in boxes.items()],
        )
        for where, boxes in sorted(by_node.items(), key=lambda item: str(item[0]).zfill(20))
    ]


def _label(cache: Facts | None) -> str:
    return f"L{cache['level']} {_size(cache['bytes'])}" if cache else "cache unknown"


def _head(socket: int | None, node: int | None, nodes: dict[str, int | None]) -> str:
    memory = nodes.get(str(node))
    parts = [
        "Socket unknown" if socket is None else f"Socket {socket}",
        "" if node is None else f"NUMA node {node}",
        f"{memory / 2**30:.3g} GiB of memory" if memory else "",
    ]
    return ", ".join(part for part in parts if part)


def _private(cpus: list[Facts], caches: list[Facts]) -> list[str]:
    """Lines on the caches before the last: how many of which size, and for how many CPUs."""
    last = {_key(cache) for cache in _last(cpus, caches).values()}
    counted: dict[tuple[int, str, int | None, int], int] = {}
    for cache in caches:
        if _key(cache) not in last:
            kind = (cache["level"], cache["kind"], cache["bytes"], len(cache["shared_cpus"] or ()))
            counted[kind] = counted.get(kind, 0) + 1
    letters = {"data": "d", "instruction": "i"}
    return [
        shortened(
            f"{count} × L{level}{letters.get(kind, '')} {_size(size)}"
            + (f", each for {number_format.plural(shared, 'CPU')}" if shared else ""),
            LETTERS,
        )
        for (level, kind, size, shared), count in sorted(
            counted.items(), key=lambda item: (-item[0][0], item[0][1], item[0][2] or 0)
        )
    ]


Placed = tuple[Box, float, float, float, float]


def _place(boxes: list[Box], cell: tuple[float, float]) -> tuple[list[Placed], float]:
    """Boxes from left to right in rows: each with x, y, width and height; and the height of all."""
    room = WIDTH_IN - 4 * MARGIN_IN
    x, y, row_high = 2 * MARGIN_IN, LINE_IN + 0.02, 0.0
    placed = []
    for box in boxes[:MOST_BOXES]:
        columns = max(1, min(len(box.cores), int((room - 2 * MARGIN_IN) / (cell[0] + 0.03))))
        if len(boxes) > 1 and cell == SMALL_IN:
            columns = min(columns, 8)
        down = -(-len(box.cores) // columns)
        wide = max(columns * (cell[0] + 0.03) + 2 * MARGIN_IN, 1.05)
        high = LINE_IN + down * (cell[1] + 0.03) + MARGIN_IN
        if x + wide > 2 * MARGIN_IN + room + 1e-6:
            x, y, row_high = 2 * MARGIN_IN, y + row_high + GAP_IN, 0.0
        placed.append((box, x, y, wide, high))
        x, row_high = x + wide + GAP_IN, max(row_high, high)
    high = y + row_high + MARGIN_IN + (LINE_IN if len(boxes) > MOST_BOXES else 0)
    return placed, high


def _frame(axes: Axes, x: float, y: float, wide: float, high: float, fill: str) -> None:
    axes.add_patch(Rectangle((x, y), wide, high, facecolor=fill, edgecolor=GREY, linewidth=0.7))


def _write(axes: Axes, x: float, y: float, text: str, *, bold: bool = False) -> None:
    axes.text(
        x, y, text, fontsize=7.5, color=INK, va="center", fontweight="bold" if bold else "normal"
    )


def _box(
    axes: Axes,
    box: Box,
    at: tuple[float, float],
    size: tuple[float, float],
    cell: tuple[float, float],
    usable: set[int],
    kinds: dict[int, str],
) -> None:
    _frame(axes, *at, *size, REGION)
    _write(axes, at[0] + MARGIN_IN, at[1] + LINE_IN / 2, box.label)
    columns = max(1, int((size[0] - 2 * MARGIN_IN + 1e-6) / (cell[0] + 0.03)))
    for k, (core, cpus) in enumerate(box.cores.items()):
        x = at[0] + MARGIN_IN + k % columns * (cell[0] + 0.03)
        y = at[1] + LINE_IN + k // columns * (cell[1] + 0.03)
        mine = [cpu["id"] for cpu in cpus]
        if cell == LARGE_IN:
            is_used = any(cpu in usable for cpu in mine)
            colour = _colour(kinds.get(core)) if is_used else FAINT
            axes.add_patch(
                Rectangle((x, y), *cell, facecolor=PAPER, edgecolor=colour, linewidth=1.2)
            )
            _write(axes, x + 0.05, y + 0.12, f"core {core}")
            _write(axes, x + 0.05, y + 0.28, shortened(f"CPU {', '.join(map(str, mine))}", 11))
            continue
        part = cell[0] / len(mine)  # hardware threads side by side
        for j, cpu in enumerate(mine):
            colour = _colour(kinds.get(core)) if cpu in usable else FAINT
            axes.add_patch(
                Rectangle((x + j * part, y), part, cell[1], facecolor=colour, edgecolor=PAPER,
                          linewidth=0.5)
            )  # fmt: skip


def _colour(kind: str | None) -> str:
    return PALETTE[1] if kind == "efficiency" else PALETTE[0]


def _alt(
    groups: list[tuple[str, list[Box]]], lines: list[str], cpus: list[Facts], usable: set[int]
) -> str:
    parts = []
    for head, boxes in groups[:8]:
        labels: dict[tuple[str, int], int] = {}
        for box in boxes:
            kind = box.label, len(box.cores)
            labels[kind] = labels.get(kind, 0) + 1
        amounts = [
            f"{n} × {label} with {number_format.plural(c, 'core')}"
            for (label, c), n in labels.items()
        ]
        parts.append(f"{head}: {', '.join(amounts)}.")
    if len(groups) > 8:
        parts.append(f"And {len(groups) - 8} more.")
    shut = sum(cpu["id"] not in usable for cpu in cpus)
    if shut:
        parts.append(f"{number_format.plural(shut, 'CPU')} of {len(cpus)} may not be used here.")
    return f"Topology. {' '.join(parts)} {'; '.join(lines)}".strip() + "."
