"""machine-state: what tools say of GPUs and their links at a moment: reasons for lower clocks,
states of performance, connections, and lanes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from benchbook.core.number_format import listed
from benchbook.explain.model import Report, Result
from benchbook.explain.readers.common.gpu_topology import BY_HOST, in_words
from benchbook.explain.readers.common.pcie_links import carries
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

BUSY = 90.0  # per cent
LOW_STATE, COMPUTE_STATE = 5, 2
LOADED = 0.8  # of its limit of power: no idle GPU draws that
HELD = 0.25  # of its memory
COOL = 10.0  # °C below the slowdown
ROSE = 1.5
LOW_MEMORY_MHZ = 500  # of an idle card; some keep a high one all the time


@rule
def reasons_of_clocks(report: Report) -> Iterator[Finding | str]:
    """What the reasons for lower clocks mean that are none: an idle GPU, and none that holds it
    back. (Those that hold it back are told by their lines.)"""
    reasons: Mapping[str, bool] = report.facts.get("clock_reasons") or {}
    if not reasons:
        return
    active = [name for name, is_active in reasons.items() if is_active]
    line = report.facts["reasons_line"]
    if active == ["Idle"]:
        yield (
            f"line {line}: the GPU is idle (Idle: Active), and nothing else holds its clock back. "
            "Clocks, power and link of this moment are those of a GPU without work; look while "
            "the program runs"
        )
    elif not active:
        yield (
            f"line {line}: at this moment the driver names nothing that holds the clock of the "
            "GPU back"
        )
    heat, slow = report.only("temperature"), report.only("slowdown temperature")
    if heat and slow and active and "Idle" not in active and heat.value <= slow.value - COOL:
        is_of_heat = any("Thermal" in name for name in active)
        if not is_of_heat:
            yield (
                f"line {heat.line}: the GPU slows down at {slow.value:g} °C, and is at "
                f"{heat.value:g} °C. So this temperature is not why its clock is held back"
            )


@rule
def states_of_performance(report: Report) -> Iterator[Finding | str]:
    """GPUs in a low state of performance though they work, and P2, which is usual."""
    if report.tool != "nvidia-smi":
        return
    by_gpu = grouped(report.results, lambda own: own.of.get("gpu"))
    is_named = False
    for gpu, own in by_gpu.items():
        named = {result.name: result for result in own}
        state, busy = named.get("performance state"), named.get("busy")
        draw, limit = named.get("power"), named.get("power limit")
        if state and busy and state.value >= LOW_STATE and busy.value >= BUSY:
            who = "The GPU" if gpu is None else f"GPU {gpu}"
            yield finding("low-state", {"state": state, "busy": busy, "who": who}, about=[state])
        reasons = report.facts.get("clock_reasons", {})
        works = busy.value >= BUSY if busy else bool(reasons) and not reasons.get("Idle", True)
        if state and state.value == COMPUTE_STATE and works and not is_named:
            is_named = True
            yield (
                f"line {state.line}: P2 is the state in which GeForce cards mostly run CUDA, with "
                "a memory clock somewhat below that of P0. The state alone is no throttling"
            )
        used, whole = named.get("memory used"), named.get("memory")
        is_loaded = draw and limit and draw.value >= LOADED * limit.value > 0
        is_idle = busy and busy.value == 0 and not is_loaded
        if busy and is_idle and used and whole and used.value >= HELD * whole.value > 0:
            yield (
                f"line {busy.line}: {used.value:,.0f} of {whole.value:,.0f} MiB of this GPU "
                "are taken, but it was idle (0 %) at this moment. Look again while the program "
                "runs (nvidia-smi dmon). If it stays idle, the program waits for its input or "
                "the processor, or computes there"
            )
        if busy and draw and limit and busy.value == 0 and draw.value >= LOADED * limit.value > 0:
            yield (
                f"line {busy.line}: 0 % at {draw.value:g} W of {limit.value:g} W is no idle GPU. "
                "This driver does not show its use, so go by the power"
            )


@rule
def links_of_pairs(report: Report) -> Iterator[str]:
    """Which pairs of GPUs have which NVLink, and GPUs far from all network adapters. (Pairs over
    the host are told by their table, next to whatever it stands.)"""
    pairs: Mapping[str, Sequence[tuple[int, int]]] = report.facts.get("pairs_by_link") or {}
    if not pairs:
        return
    line = report.line
    if len(pairs) > 1 and not any(kind in BY_HOST for kind in pairs):
        kinds = [f"{kind}: {in_words(own)}" for kind, own in pairs.items()]
        yield f"line {line}: pairs of GPUs by their connection: {'; '.join(kinds)}"
    elif len(pairs) == 1 and all(kind.startswith("NV") for kind in pairs):
        (kind,) = pairs
        yield f"line {line}: all pairs of GPUs have the same NVLink ({kind}), so none is at a loss"
    far: Sequence[int] = list(report.facts.get("far_from_adapters", ()))
    if far and len(far) < report.facts["devices"]:
        gpus = listed([str(gpu) for gpu in far[:6]])
        yield (
            f"line {line}: of GPU {gpus} no network adapter is near (PIX or PXB), so messages to "
            "other hosts pass the processor"
        )


@rule
def memory_clocks(reports: list[Report]) -> Iterator[Finding]:
    """The same GPU in two outputs of rocm-smi: its core clock and power rise, and the memory clock
    stays. Decided by the clocks alone, where a level was set by hand or the clock is the lowest."""
    own = [report for report in reports if report.tool == "rocm-smi"]
    for before, after in pairwise(own):
        for gpu, row in _by_gpu(after).items():
            old = _by_gpu(before).get(gpu, {})
            names = ("clock", "memory clock", "power")
            if not all(name in row and name in old for name in names):
                continue
            rose = row["clock"].value >= ROSE * old["clock"].value > 0
            stays = row["memory clock"].value == old["memory clock"].value
            works = row["power"].value >= ROSE * old["power"].value > 0
            if rose and stays and works and row["memory clock"].value <= LOW_MEMORY_MHZ:
                level = after.facts.get("performance_levels", {}).get(gpu)
                words: dict[str, Any] = {
                    "old": old["clock"],
                    "new": row["clock"],
                    "memory": row["memory clock"],
                }
                words |= {"gpu": gpu, "level": level if level in ("manual", "low") else None}
                yield finding("memory-clock-stays", words, about=[row["memory clock"]])
                return


UNLIKE = 0.75  # of the middle clock of all that work
LEAST_WORKING = 3


@rule
def unlike_clocks(report: Report) -> Iterator[Finding]:
    """One GPU among several busy ones whose clock is far below that of the others."""
    if report.tool != "nvidia-smi":
        return
    rows = {gpu: row for gpu, row in _by_gpu(report).items() if "clock" in row and "busy" in row}
    working = {gpu: row for gpu, row in rows.items() if row["busy"].value >= BUSY}
    if len(working) < LEAST_WORKING:
        return
    clocks = sorted(row["clock"].value for row in working.values())
    middle = clocks[len(clocks) // 2]
    slow = [gpu for gpu, row in working.items() if row["clock"].value < UNLIKE * middle]
    if len(slow) == 1:
        row = working[slow[0]]
        words: dict[str, Any] = {"gpu": slow[0], "clock": row["clock"], "middle": middle}
        words |= {"power": row.get("power"), "heat": row.get("temperature")}
        yield finding("unlike-clocks", words, about=[row["clock"]])


WORKS_MHZ = 1000  # a core clock that an idle card does not have


@rule
def idle_memory_clock(reports: Sequence[Report]) -> Iterator[Finding]:
    """One output of rocm-smi in which the core has the clock of work, and the memory that of a
    card without any."""
    own = [report for report in reports if report.tool == "rocm-smi"]
    if len(own) != 1:
        return
    for gpu, row in _by_gpu(own[0]).items():
        core, memory, power = (row.get(name) for name in ("clock", "memory clock", "power"))
        if core and memory and core.value >= WORKS_MHZ and 0 < memory.value <= LOW_MEMORY_MHZ:
            words = {"core": core, "memory": memory, "gpu": gpu, "power": power}
            yield finding("idle-memory-clock", words, about=[memory])
            return


def _by_gpu(report: Report) -> dict[int, dict[str, Result]]:
    rows: dict[int, dict[str, Result]] = {}
    for result in report.results:
        rows.setdefault(result.of.get("gpu", 0), {})[result.name] = result
    return rows


@rule
def lowest_level(report: Report) -> Iterator[Finding | str]:
    """A GPU of AMD that somebody holds at its lowest clocks; a note on levels by hand."""
    levels: Mapping[int, str] = report.facts.get("performance_levels") or {}
    low = [gpu for gpu, level in levels.items() if level == "low"]
    if low:
        words = {"gpus": listed([str(gpu) for gpu in low[:6]]), "line": report.results[0].line}
        yield finding("lowest-level", words, about=report.results[:1])
    if by_hand := [gpu for gpu, level in levels.items() if level == "manual"]:
        gpus = listed([str(gpu) for gpu in by_hand[:6]])
        yield (
            f"The level of GPU {gpus} is manual. So somebody chose its clocks (rocm-smi "
            "--resetclocks ends it)."
        )


@rule
def lanes_of_links(report: Report) -> Iterator[Finding | str]:
    """What a link carries, next to what the device could have."""
    if report.tool != "lspci":
        return
    for row in grouped(report.results, lambda own: own.line).values():
        named = {own.name: own for own in row}
        speed, lanes = named["link speed"], named["PCIe lanes"]
        fastest, most = named.get("most link speed"), named.get("most PCIe lanes")
        is_marked = "marked_line" in report.facts
        if most and lanes.value < most.value and not is_marked:
            yield finding("fewer-lanes-of-link", lanes=lanes, most=most, about=[lanes])
        now = carries(speed.value, lanes.value)
        could = carries(fastest.value, most.value) if fastest and most else 0.0
        if now and (now < could or (is_marked and not could)):
            more = f", of {could / 1e3:.3g} GB/s that the device could have" if could else ""
            count = f"{lanes.value:g} lane{'s' if lanes.value > 1 else ''}"
            yield (
                f"line {speed.line}: {speed.value:g} GT/s on {count} carry at most "
                f"{now / 1e3:.3g} GB/s one way{more}; copies reach 80 to 95 % of it"
            )
