"""What a page shows of devices: which were used, what their link carries, and what it was used for.

An experiment takes part whose points say how many bytes went to a device and came from it.
"""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.core.sizes import format_bytes
from benchbook.core.units import RATE_UNITS
from benchbook.host.pcie import encoding, link_bytes_per_s
from benchbook.report import wording
from benchbook.report.wording import Paper

Point = dict[str, Any]
LARGE = 1 << 20  # bytes: a smaller transfer may be over before the link is read
FEW = 12  # rows that stand open; more are folded
LEAST_OF_PLAIN = 0.98  # a pool that moves less of what a plain loop moves is seen in the figures
LIBRARIES = ("OpenCL", "CUDA")
WHEN = {"idle": "link, idle", "load": "link, under load", "most": "link, at most"}
NO_LINK = "the kernel names no link of it (its address on the PCI bus, or the speed, is unknown)"


def points(paper: Paper, experiment: dict[str, Any]) -> list[Point]:
    """The measured points that moved data to a device or from it."""
    name = next(key for key, candidate in paper["experiments"].items() if candidate is experiment)
    return [
        point
        for point in paper["points"]
        if point["experiment"] == name
        and point["state"] == "ok"
        and not point["twin"]
        and "bytes_to_device" in point["observations"]
    ]


def recorded_experiments(
    paper: Paper, experiment: dict[str, Any]
) -> list[tuple[dict[str, Any], Paper, dict[str, Any]]]:
    """The recorded runs that moved data, each as (run, paper, experiment): the last two hold what
    this module reads of a page's own."""
    runs = []
    for run in experiment["recorded"]:
        theirs = {key: experiment[key] for key in ("sweep_unit", "names")} | {"plain": run["plain"]}
        made = {"points": run["points"], "experiments": {run["experiment"]: theirs}}
        runs.append((run, made, theirs))
    return runs


def recorded_title(run: dict[str, Any], found_devices: list[dict[str, Any]]) -> str:
    """`R2, not measured here: NVIDIA H200 moves up to 87 % of what its link carries one way
    (pageable and pinned memory)`: what was moved bounds that share."""
    names = number_format.listed(list(dict.fromkeys(device["name"] for device in found_devices)))
    shares = [
        best["share"]
        for device in found_devices
        for way, best in device["ways"].items()
        if way != "both ways" and best["share"] is not None
    ]
    most = f" moves up to {number_format.share(max(shares))} of what its link carries one way"
    moved = number_format.listed(
        sorted({str(point["factors"]["memory"]) for point in run["points"]})
    )
    return f"{run['name']}, not measured here: {names}{most if shares else ''} ({moved} memory)"


def devices(paper: Paper, experiment: dict[str, Any]) -> list[dict[str, Any]]:
    """A device for each library: {library, name, is_host_memory, links, ways}; rates in the page's
    unit, None where they are unknown."""
    by_library: dict[int, list[Point]] = {}
    for point in points(paper, experiment):
        by_library.setdefault(int(point["observations"].get("through_cuda") or 0), []).append(point)
    return [
        _device(LIBRARIES[key], own, experiment["sweep_unit"])
        for key, own in sorted(by_library.items())
    ]


def _device(library: str, own: list[Point], unit: str) -> dict[str, Any]:
    seen = own[0]["observations"]
    links = {when: _link(own, when, unit) for when in ("idle", "load", "most")}
    bound = links["load"] or links["most"]
    ways = {way: _best(own, *sides, unit) for way, sides in WAYS.items()}
    for way, best in ways.items():
        carried = (2 if way == "both ways" else 1) * bound["rate"] if bound else None
        best["share"] = best["rate"] / carried if carried and best["rate"] else None
    traced = [
        point["observations"]["device_time_ns"] / point["observations"]["device_wall_ns"]
        for point in own
        if point["observations"].get("device_wall_ns")
        and point["bytes_per_call"] >= LARGE
        and point["observations"].get("orders_done_fraction") == 1
    ]
    return {
        "library": library,
        "name": seen.get("device_name", "a device without a name"),
        "is_host_memory": seen.get("device_is_host_memory") == 1,
        "links": links,
        "bound": bound,
        "ways": ways,
        "traced": (min(traced), max(traced)) if traced else None,
    }


WAYS = {"to the device": (True, False), "from it": (False, True), "both ways": (True, True)}


def _link(own: list[Point], when: str, unit: str) -> dict[str, Any] | None:
    """The best that was read, under load only while a transfer lasted; idle the least, because a
    start soon after another finds the link awake."""
    read = []
    for point in own:
        seen = point["observations"]
        speed, width = seen.get(f"link_{when}_gt_per_s"), seen.get(f"link_{when}_width")
        lasts = when != "load" or point["bytes_per_call"] >= LARGE
        if speed and width and lasts:
            rate = link_bytes_per_s(speed, width) / RATE_UNITS[unit]
            at = seen.get(f"link_{when}_at") or ""
            above = at if at != seen.get("link_most_at", at) else ""
            read.append({"speed": speed, "width": int(width), "rate": rate, "above": above})
    choose = min if when == "idle" else max
    return choose(read, key=lambda link: float(link["rate"]), default=None)


def _best(own: list[Point], to_device: bool, from_device: bool, unit: str) -> dict[str, Any]:
    """The fastest point of these directions that waited for what it had ordered."""
    fit = [
        point
        for point in own
        if bool(point["observations"]["bytes_to_device"]) == to_device
        and bool(point["observations"]["bytes_from_device"]) == from_device
        and point["observations"].get("orders_done_fraction") == 1
        and point["bytes_per_call"] >= LARGE
    ]
    if not fit:
        return {"rate": None, "low": None, "high": None, "point": None}
    best = max(fit, key=lambda point: float(point["rate_bytes_per_s"]))
    return _rates(best, RATE_UNITS[unit]) | {"point": best["point"]}


def _rates(point: Point, per: float) -> dict[str, float | None]:
    """{rate, low, high} of a point in the page's unit."""
    names = ("rate", "rate_low", "rate_high")
    values = (wording.scaled(point[f"{name}_bytes_per_s"], per) for name in names)
    return dict(zip(("rate", "low", "high"), values, strict=True))


def sentences(used: list[dict[str, Any]], unit: str) -> list[str]:
    """Which devices there were, and how near their transfers came to what the link carries."""
    text = []
    for device in used:
        name = f"Through {device['library']} the device is {device['name']}"
        if device["is_host_memory"]:
            text.append(f"{name}: host memory, so no bus is in any figure of it.")
            continue
        if device["bound"] is None:
            text.append(f"{name}; {NO_LINK}, so there is no theoretical rate to hold it against.")
            continue
        bound = device["bound"]
        text.append(
            f"{name}; {bound['speed']:g} GT/s on "
            f"{number_format.plural(bound['width'], 'lane')}, of which "
            f"{number_format.share(encoding(bound['speed']))} is payload, carry "
            f"{number_format.number(bound['rate'])} {unit} each way"
            + (f": those of the bridge at {bound['above']}" if bound["above"] else "")
            + "."
        )
        shares = [
            f"{number_format.share(best['share'])} of it {way}"
            for way, best in device["ways"].items()
            if best["share"] is not None
        ]
        if shares:
            text.append(f"The fastest transfers reach {number_format.listed(shares)}.")
    return text


def link_in_words(link: dict[str, Any] | None) -> str:
    """`16 GT/s × 16`, and at which bridge above the device, or a dash."""
    if link is None:
        return number_format.NONE
    where = f" at {link['above']}" if link["above"] else ""
    return f"{link['speed']:g} GT/s × {link['width']}{where}"


def busy_share(device: dict[str, Any]) -> str:
    """What share of the time the device itself was busy, over transfers of 1 MiB and more."""
    if device["traced"] is None:
        return number_format.NONE
    least, most = map(number_format.share, device["traced"])
    return least if least == most else f"{least} to {most}"


def rates_by_setting(paper: Paper, experiment: dict[str, Any]) -> list[dict[str, Any]]:
    """Rates of all settings at the size that most of them have, a row each: {name, cells}; cells
    by direction, None where none was measured."""
    unit = RATE_UNITS[experiment["sweep_unit"]]
    own = points(paper, experiment)
    # Both ways the two directions share the bytes.
    sizes = [point["bytes_per_call"] for point in own]
    if not sizes:
        return []
    size = max(set(sizes), key=lambda size: (sizes.count(size), size))
    rows: dict[str, dict[str, Any]] = {}
    for point in own:
        if point["bytes_per_call"] != size:
            continue
        seen = point["observations"]
        way = next(
            name
            for name, sides in WAYS.items()
            if sides == (bool(seen["bytes_to_device"]), bool(seen["bytes_from_device"]))
        )
        cell = {"point": point["point"], "findings": point.get("findings", [])}
        cell |= _rates(point, unit)
        rows.setdefault(_setting(point["factors"]), {})[way] = cell
    return [{"name": name, "cells": [own.get(way) for way in WAYS]} for name, own in rows.items()]


def plain_comparisons(paper: Paper, experiment: dict[str, Any]) -> list[dict[str, Any]]:
    """Points next to their plain twin: {name, point, ours, theirs, longer, ratio, blocks,
    simulated, findings}; rates in the page's unit, the ratio within blocks, as text."""
    unit = RATE_UNITS[experiment["sweep_unit"]]
    by_id = {point["point"]: point for point in paper["points"]}
    rows = []
    for pair in experiment.get("plain", []):
        factors = by_id[pair["point"]]["factors"]
        way = experiment["names"].get(factors["method"], factors["method"])
        rows.append(
            {
                "name": f"{way}, {format_bytes(factors['bytes'])}, {_setting(factors)}",
                "point": pair["point"],
                "ours": pair["rate_bytes_per_s"] / unit,
                "theirs": pair["plain_bytes_per_s"] / unit,
                "longer": number_format.number(pair["longer_ns"] / 1e3),
                "ratio": number_format.with_interval(pair["ratio"], pair["low95"], pair["high95"]),
                "blocks": pair["blocks"],
                "simulated": bool(pair["emulates"]),
                "findings": by_id[pair["point"]].get("findings", []),
            }
        )
    return rows


def plain_title(experiment: dict[str, Any]) -> str:
    """From where to where the ratios go: the finding as a title."""
    ends = sorted(pair["ratio"] for pair in experiment.get("plain", []))
    span = " to ".join(dict.fromkeys(f"{end:.3f}" for end in (ends[0], ends[-1])))
    return f"The pool of threads moves {span} of what a plain loop moves in the same rounds"


def plain_sentence(experiment: dict[str, Any]) -> str:
    """How many ratios are surely below what a pool may lose; empty where none is."""
    rows = experiment.get("plain", [])
    below = [row for row in rows if row["high95"] is not None and row["high95"] < LEAST_OF_PLAIN]
    if not below:
        return ""
    return (
        f"The whole interval lies below {LEAST_OF_PLAIN:g} for {len(below)} of "
        f"{number_format.plural(len(rows), 'ratio')}."
    )


def _setting(factors: dict[str, Any]) -> str:
    """`OpenCL, pageable, 4 threads`, and what is unusual of it."""
    threads = factors["transfer_threads"]
    words = [
        "OpenCL" if factors["backend"] == "opencl" else "CUDA",
        str(factors["memory"]),
        number_format.plural(threads, "thread") if threads else "a loop without a pool",
    ]
    words += [str(factors["submission"])] if factors["submission"] != "blocking" else []
    words += ["zeros"] if factors["data"] == "zeros" else []
    return ", ".join(words)
