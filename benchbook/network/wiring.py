"""What joins host A and host B: commands of `ip` and `tc`, by the namespace in which they run.

Each line has interfaces and addresses of its own, so that all lines exist side by side and none is
made or removed while something is measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

NEAR, FAR = "A", "B"
LOOPBACK = "127.0.0.1"
# The kernel tells up to 1 s late that an interface is up whose other end, in another namespace, has
# the same number as itself.
FIRST_INDEX, PAIRS_MOST = 1000, 16
BUCKET_BURST_BYTES = 16_000  # some frames: what a token bucket lets pass at once
BUCKET_QUEUE_BYTES = 1_000_000


@dataclass(frozen=True)
class Line:
    """A way from A to B: `path` is a factor's word, the number keeps names and addresses apart."""

    number: int
    path: str
    switches: int = 0
    link_bits_per_s: int = 0  # of a token bucket

    @property
    def near(self) -> str:
        """The IPv4 address of the near end."""
        return self._address(1)

    @property
    def far(self) -> str:
        """The IPv4 address of the far end."""
        return self._address(2)

    def _address(self, host: int) -> str:
        return LOOPBACK if self.path == "loopback" else f"10.77.{self.number}.{host}"

    @property
    def between(self) -> list[str]:
        """Namespaces of what stands between the hosts: one for each bridge, one for all emulated
        switches, which one process serves."""
        if self.path == "bridges":
            return [f"{self.number}-{place}" for place in range(1, self.switches + 1)]
        return [self.emulator] if self.path == "emulated" else []

    @property
    def emulator(self) -> str:
        """The namespace with the interfaces of the emulated switches."""
        return f"{self.number}-switches"


def _mac(line: Line, host: int) -> str:
    """Of a host's interface: locally administered, so that nobody asks who has an address."""
    return f"02:bb:00:00:{line.number:02x}:{host:02x}"


def _pairs(line: Line) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of joined interfaces, each (namespace, name), from A to B."""
    near, far = (NEAR, f"a{line.number}"), (FAR, f"b{line.number}")
    if line.path == "bridges":
        middle = [((name, "toA"), (name, "toB")) for name in line.between]
    elif line.path == "emulated":
        places = range(1, line.switches + 1)
        middle = [((line.emulator, f"s{n}a"), (line.emulator, f"s{n}b")) for n in places]
    else:
        middle = []
    ends = [near, *(end for both in middle for end in both), far]
    return list(zip(ends[::2], ends[1::2], strict=True))


def commands(line: Line, where: dict[str, str]) -> Iterator[tuple[str, str, list[str]]]:
    """(namespace, program, its lines) in the order in which they are to run; `where` has the path
    of each namespace's descriptor. A line over loopback needs none."""
    if line.path == "loopback":
        return
    pairs = _pairs(line)
    for place, (left, right) in enumerate(pairs):
        index = FIRST_INDEX + 2 * (PAIRS_MOST * line.number + place)
        joined = f"type veth peer name {right[1]} index {index + 1}"
        yield left[0], "ip", [f"link add {left[1]} index {index} {joined} netns {where[right[0]]}"]
    for host, address, mac, far_end in (
        (NEAR, line.near, _mac(line, 1), (line.far, _mac(line, 2))),
        (FAR, line.far, _mac(line, 2), (line.near, _mac(line, 1))),
    ):
        name = pairs[0][0][1] if host == NEAR else pairs[-1][1][1]
        yield (
            host,
            "ip",
            [
                f"link set {name} address {mac}",
                f"address add {address}/24 dev {name}",
                f"link set {name} up",
                f"neighbour replace {far_end[0]} lladdr {far_end[1]} nud permanent dev {name}",
            ],
        )
        if line.path == "bucket":
            bucket = (
                f"rate {line.link_bits_per_s} burst {BUCKET_BURST_BYTES} limit {BUCKET_QUEUE_BYTES}"
            )
            yield host, "tc", [f"qdisc add dev {name} root tbf {bucket}"]
    for name in line.between:
        ends = [end[1] for both in pairs for end in both if end[0] == name]
        bridge = []
        if line.path == "bridges":
            bridge = [
                "link add switch type bridge stp_state 0 mcast_snooping 0",
                "link set switch up",
            ]
            bridge += [f"link set {end} master switch" for end in ends]
        yield name, "ip", [*bridge, *(f"link set {end} up" for end in ends)]


# Of each namespace, where the kernel has them. A bridge would hand every frame to the packet
# filter, and IPv6 speaks unasked.
SYSCTLS: dict[str, Any] = {
    "net/ipv6/conf/all/disable_ipv6": 1,
    "net/ipv6/conf/default/disable_ipv6": 1,
    "net/bridge/bridge-nf-call-iptables": 0,
    "net/bridge/bridge-nf-call-ip6tables": 0,
    "net/bridge/bridge-nf-call-arptables": 0,
}
