"""What the kernel counts in one network namespace: datagrams and frames since it was made."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

_LIMIT_S = 10
# The columns of an interface in /proc/net/dev that are counted.
_COLUMNS = {
    0: "received_bytes",
    1: "received_packets",
    3: "received_dropped",
    8: "sent_bytes",
    9: "sent_packets",
    11: "sent_dropped",
}

Counts = dict[str, int]


def read(enter: Callable[[], None] | None) -> Counts:
    """The counters behind `enter`: `Udp` ones of /proc/net/snmp by the kernel's own names, and
    `interface_…` summed over all interfaces but loopback. OSError where they cannot be read."""
    try:
        done = subprocess.run(
            ["cat", "/proc/net/snmp", "/proc/net/dev"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
            preexec_fn=enter,
        )
    except subprocess.SubprocessError:  # `enter` was refused, or nothing came in time
        raise OSError("the counters of a namespace could not be read") from None
    if done.returncode != 0:
        raise OSError(" ".join(done.stderr.split()))
    return {**dict(_udp(done.stdout)), **_interfaces(done.stdout)}


def since(before: Counts, after: Counts) -> Counts:
    """What was counted between two readings."""
    return {name: after[name] - before[name] for name in before.keys() & after.keys()}


def _udp(text: str) -> Iterator[tuple[str, int]]:
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith("Udp: ")]
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        yield from zip(names, map(int, values), strict=True)


def _interfaces(text: str) -> Counts:
    totals = dict.fromkeys((f"interface_{name}" for name in _COLUMNS.values()), 0)
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        values = rest.split()
        # A row of /proc/net/dev has 16 numbers behind its name.
        if colon and len(values) == 16 and name.strip() != "lo":
            for column, what in _COLUMNS.items():
                totals[f"interface_{what}"] += int(values[column])
    return totals
