"""Made-up round trips of the experiment udp, for tests/made_up.py; no peer is given."""

from __future__ import annotations

from typing import Any

from benchbook.plan.plan import Point

# ns: a round trip, a socket of its own, a bridge there and back.
BASE_NS = {"block": 30_000, "spin": 9_000}
SOCKET_NS, BRIDGE_NS, LOOPBACK_NS = 6_000, 1_300, -2_000
NO_PEER = "no other end is given; name one with --config udp_peer=ADDRESS"


def time_ns(factors: dict[str, Any]) -> float:
    """One round trip, before noise: an emulated switch stores each frame for its time on the wire,
    and forwards it in 2 µs."""
    payload, rate = factors["payload_bytes"], factors["link_bits_per_s"]
    held_ns = 8e9 * (payload + 66) / rate if rate else 0.0
    step_ns = 2 * (held_ns + 2_000) if factors["path"] == "emulated" else BRIDGE_NS
    return (
        BASE_NS[factors["wait"]]
        + (LOOPBACK_NS if factors["path"] == "loopback" else 0)
        + (SOCKET_NS if factors["method"] == "socket-each" else 0)
        + step_ns * factors["switches"]
        + 0.4 * payload
    )


def observed(factors: dict[str, Any]) -> dict[str, Any]:
    """What the kernel tells of a point."""
    emulated = factors["switches"] if factors["path"] == "emulated" else 0
    return {
        "round_trips": 1000,
        "datagrams_lost": 0,
        "sockets_opened": 1000 if factors["method"] == "socket-each" else 1,
        "device_is_loopback": int(factors["path"] == "loopback"),
        "device_mtu_bytes": 1500,
        "spinning": int(factors["wait"] == "spin"),
        "receive_buffer_errors": 0,
        "emulated_switches": emulated,
        "open_schedule": int(factors["method"].startswith("open")),
        "minor_faults": 0,
    }


def left_out(points: list[Point]) -> dict[str, dict[str, Any]]:
    """The points of a real network, as the plan says it."""
    return {
        point.id: {
            "point": point.id,
            "variant": point.variant,
            "twin": point.twin,
            "factors": point.factors,
            "state": "cannot_run",
            "reason": NO_PEER,
        }
        for point in points
        if point.factors["path"] == "peer"
    }
