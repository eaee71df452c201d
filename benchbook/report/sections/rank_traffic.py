"""What ranks of MPI sent each other, and where their time went, as the page of a paper has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.plots.palette import PALETTE
from benchbook.report.plots.style import Picture
from benchbook.report.plots.sweep import LOGARITHMIC, Curve, curves
from benchbook.report.sections import time_shares
from benchbook.report.wording import Paper

# The share of the ranks' time in each kind of work, in the order of the columns.
SHARES = time_shares.OF_RANKS
Point = Mapping[str, Any]
BASE, OVER_TCP = "mpich", "veth"
OWN = "messages"  # the build that has this project's messages in place of a library
CAPTION = (
    "Dots: here, over TCP, with the most ranks measured and pointwise 95\u00a0% intervals. "
    "A line joins the classes of a program. Diamonds: as published. Rates here are of all ranks "
    "together; the source does not state of how many machines its rates are. A collective call "
    "counts as one message from each rank to each other rank."
)


@dataclass(frozen=True)
class Traffic:
    """What a program sent: its name, messages per second, their mean size in bytes. `at_most`: the
    size is printed as 0, and this is the largest that rounds to it. `interval` is the pointwise
    95 % interval of the rate, an end of it None where the interval is open."""

    label: str
    messages_per_s: float
    message_bytes: float
    at_most: bool = False
    interval: tuple[float | None, float | None] = (None, None)


def measured_traffic(paper: Paper, name: str) -> list[Traffic]:
    """What the ranks of each program and class sent over TCP, by the size of the messages."""
    most: dict[tuple[str, str], Point] = {}
    for point in paper["points"]:
        is_meant = _is_shown(point, name) and point["variant"] == BASE
        if is_meant and point["factors"].get("path") == OVER_TCP:
            key = (point["factors"]["method"], point["factors"]["class"])
            ranks = point["observations"]["rank_count"]
            if key not in most or ranks > most[key]["observations"]["rank_count"]:
                most[key] = point
    seen = [_traffic_of(paper, point) for point in most.values()]
    return sorted((own for own in seen if own), key=lambda own: own.message_bytes)


def published_traffic(paper: Paper, name: str) -> list[Traffic]:
    """What the source prints of the same."""
    return [
        Traffic(**row)
        for figure in paper["figures"]
        if figure["experiment"] == name
        for row in figure.get("traffic", [])
    ]


def _traffic_of(paper: Paper, point: Point) -> Traffic | None:
    """None where no message was counted."""
    seen = point["observations"]
    if seen.get("rank_messages") is None:
        return None
    messages = seen["rank_messages"] + seen["collective_calls"] * (seen["rank_count"] - 1)
    sent = seen["rank_message_bytes"] + seen["collective_bytes"]
    if not (messages and sent):
        return None
    label = wording.method_name(paper, point["point"])
    low, high = (
        messages / (point[name] / 1e9) if point.get(name) else None
        for name in ("time_high_ns", "time_low_ns")
    )
    return Traffic(
        label, messages / (point["time_ns"] / 1e9), sent / messages, interval=(low, high)
    )


def picture(paper: Paper, name: str) -> Picture | None:
    """Messages per second against their mean size: a line for each program here, and a diamond as
    published. None where nothing is published, or nothing was measured."""
    here, there = measured_traffic(paper, name), published_traffic(paper, name)
    if not (here and there):
        return None
    labels = list(dict.fromkeys(own.label for own in (*there, *here)))
    lines = [
        Curve(
            label=label,
            colour=PALETTE[k % len(PALETTE)],
            values=[
                (own.message_bytes, own.messages_per_s, *own.interval, ())
                for own in here
                if own.label == label
            ],
            published=[
                (own.message_bytes, own.messages_per_s) for own in there if own.label == label
            ],
            published_label=next(
                (f"{label}, at most" for own in there if own.at_most and own.label == label), label
            ),
        )
        for k, label in enumerate(labels)
    ]
    alt = (
        "Messages per second against their mean size in bytes. "
        f"Here: {_in_words(here)}. Published: {_in_words(there)}."
    )
    unit, along = "messages per second", "mean size of a message, bytes"
    return curves(f"rank-traffic-{name}", alt, lines, unit, along, LOGARITHMIC)


def _in_words(rates: list[Traffic]) -> str:
    return "; ".join(
        f"{own.label} {number_format.count(own.messages_per_s)} of "
        f"{'at most ' * own.at_most}{number_format.count(own.message_bytes)}"
        for own in rates
    )


def title(paper: Paper, name: str) -> str:
    """The range of rates here and as published."""
    here, there = (
        [own.messages_per_s for own in rates]
        for rates in (measured_traffic(paper, name), published_traffic(paper, name))
    )
    ends = [number_format.count(of(rates)) for rates in (here, there) for of in (min, max)]
    return "The programs send {} to {} messages a second here, published {} to {}".format(*ends)


def caption(paper: Paper, name: str) -> str:
    """How to read the marks."""
    at_most = [own for own in published_traffic(paper, name) if own.at_most]
    return " ".join(
        [
            CAPTION,
            *(
                f"The size of {own.label} is printed as 0; its diamond stands at the largest size "
                f"that rounds to it, {number_format.count(own.message_bytes)} bytes."
                for own in at_most
            ),
        ]
    )


def rows(paper: Paper, name: str) -> list[dict[str, Any]]:
    """{name, point, rate, data, messages, size, calls, shares, balance, gain, own, uncounted} of
    every measured point of one experiment whose program has ranks, in text. Rates are of all ranks
    in the median time: operations, bytes sent (10^6 a second), messages. `gain` is the time over
    TCP ÷ the time over shared memory, `own` ÷ that over this project's messages, `uncounted` the
    time ÷ that of the build that counts nothing."""
    own = [point for point in paper["points"] if _is_shown(point, name)]
    times = {(point["variant"], _setting(point)): float(point["time_ns"]) for point in own}
    return [
        _row(paper, point, times)
        for point in own
        if point["observations"].get("rank_messages") is not None
    ]


def _is_shown(point: Point, name: str) -> bool:
    return (
        point["experiment"] == name
        and point["state"] == "ok"
        and not point["twin"]
        and bool(point.get("time_ns"))
        and "rank_count" in point.get("observations", {})
    )


def _setting(point: Point, **changed: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted({**point["factors"], **changed}.items()))


def _row(
    paper: Paper, point: Point, times: Mapping[tuple[str, tuple[tuple[str, Any], ...]], float]
) -> dict[str, Any]:
    seen, time_s = point["observations"], point["time_ns"] / 1e9
    sent = seen["rank_message_bytes"] + seen["collective_bytes"]
    messages, variant = seen["rank_messages"], point["variant"]
    in_memory = times.get((variant, _setting(point, path="memory")))
    uncounted, over_messages = (times.get((name, _setting(point))) for name in ("uncounted", OWN))
    is_base = variant == BASE
    is_over_tcp = point["factors"].get("path") == OVER_TCP and variant != OWN
    return {
        "name": wording.point_name(paper, point["point"]),
        "point": point["point"],
        "rate": number_format.count(seen["operations"] / time_s / 1e6),
        "data": _rate(sent / time_s / 1e6, sent),
        "messages": _rate(messages / time_s, messages),
        "size": number_format.count(seen["rank_message_bytes"] / messages)
        if messages
        else number_format.NONE,
        "calls": number_format.count(seen["collective_calls"]),
        "shares": [number_format.share(seen[column]) for column in SHARES],
        "balance": f"{seen['busiest_rank_ratio']:.2f}",
        "gain": _ratio(point, in_memory if is_over_tcp else None),
        "own": _ratio(point, over_messages if is_base and is_over_tcp else None),
        "uncounted": _ratio(point, uncounted if is_base else None),
    }


def _rate(value: float, count: float) -> str:
    return number_format.number(value) if count else number_format.NONE


def _ratio(point: Point, reference_ns: float | None) -> str:
    return f"{point['time_ns'] / reference_ns:.2f}" if reference_ns else number_format.NONE
