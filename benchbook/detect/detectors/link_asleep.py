"""link-asleep: the link to the device runs slower than it can, while it is idle or even at work.

Decided by speed and width of the slowest link up to the root, idle and under load, against the most
that the device can.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import plural
from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.transfers import link, over_bus
from benchbook.findings import Finding, proof

LARGE = 1 << 20  # smaller transfers may be over before the link is read
ARTEFACT = artefact("link-asleep")
Link = tuple[float, int, float, str]


def detect(seen: Seen) -> Judged:
    """One finding for each device whose link did not wake, or was asleep before.

    Abstains where the link is not told, or was never read under a transfer of 1 MiB or more. A
    device that is host memory has none.
    """
    judged = Judged()
    devices: dict[float, list[Row]] = {}
    for row in over_bus(seen):
        devices.setdefault(float(row.get("through_cuda") or 0), []).append(row)
    for rows in devices.values():
        where = sorted(row["where"] for row in rows)
        idle, load, most = (_link(rows, when) for when in ("idle", "load", "most"))
        if load is None or most is None:
            judged.abstained |= dict.fromkeys(where, ARTEFACT.cannot_tell("not-observed"))
        elif load[2] < most[2]:
            judged.findings.append(_at_work(where, load, most))
        elif idle is not None and idle[2] < load[2]:
            judged.findings.append(_while_idle(where, idle, load))
    return judged.rest_is_clean(row["where"] for row in over_bus(seen))


def _link(rows: list[Row], when: str) -> Link | None:
    """The fastest of a device's points, under load only of those that last; idle the slowest: a
    start soon after another finds the link awake."""
    moved = [
        row
        for row in rows
        if when != "load" or max(row["bytes_to_device"], row["bytes_from_device"]) >= LARGE
    ]
    links = [(*state, _above(row, when)) for row in moved if (state := link(row, when)) is not None]
    choose = min if when == "idle" else max
    return choose(links, key=lambda state: state[2]) if links else None


def _above(row: Row, when: str) -> str:
    """The bridge whose link it is; empty where it is the device's own."""
    at, own = row.get(f"link_{when}_at"), row.get("link_most_at")
    return str(at) if is_known(at) and is_known(own) and at != own else ""


def _in_words(state: Link) -> str:
    where = f" at the bridge {state[3]}" if state[3] else ""
    return f"{state[0]:g} GT/s on {plural(state[1], 'lane')}{where}"


def _evidence(**links: Link) -> list[dict[str, Any]]:
    return [
        row
        for name, (speed, width, _, _) in links.items()
        for row in (
            proof(f"speed of the link, {name}", speed, "GT/s", "sysfs"),
            proof(f"width of the link, {name}", width, "lanes", "sysfs"),
        )
    ]


def _at_work(where: list[str], load: Link, most: Link) -> Finding:
    words = {
        "load": _in_words(load),
        "most": _in_words(most),
        "load_carries": load[2] / 1e9,
        "most_carries": most[2] / 1e9,
    }
    evidence = _evidence(load=load, most=most)
    return ARTEFACT.finding(where, words, "at-work", evidence=evidence, factor=load[2] / most[2])


def _while_idle(where: list[str], idle: Link, load: Link) -> Finding:
    words = {"idle": _in_words(idle), "load": _in_words(load), "too_low": load[2] / idle[2]}
    return ARTEFACT.finding(where, words, "while-idle", evidence=_evidence(idle=idle, load=load))
