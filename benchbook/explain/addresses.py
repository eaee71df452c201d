"""What addresses of a log tell: this host itself, a private network."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report

# Pairs, as tools and Mininet (h1-eth0) name them; bridges of Docker, CNI, libvirt, LXC and LXD.
_VIRTUAL = late(
    r"(?i:veth)[\w.-]*|h\d{1,3}-eth\d{1,2}|docker0|br-[\da-f]{12}|cni0|virbr\d{1,3}|lxcbr0|lxdbr0"
)
# What people write for an address that they do not show, which may be anywhere.
_OF_DOCUMENTS = tuple(
    map(
        ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
    )
)
_OF_DOCKER = ipaddress.ip_network("172.17.0.0/24")  # where it begins to count


@lru_cache(maxsize=1024)  # a log has few, very often
def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0].strip("[]"))
    except ValueError:
        return None


def is_loopback(text: object) -> bool:
    """Whether it names the host itself, by its number or its name."""
    address = _parsed(str(text))
    if address is None:
        return str(text).split(".")[0].lower() in ("localhost", "localhost6", "ip6-localhost")
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def are_apart(near: object, far: object) -> bool:
    """Whether these are the addresses of two; of names nobody knows."""
    first, second = _parsed(str(near)), _parsed(str(far))
    return first is not None and second is not None and first != second


def virtual_device(report: Report) -> str:
    """The device both of whose sides are in one kernel: one of a pair, or a bridge that a runtime
    of containers or guests made; "" where it may lead to a wire."""
    device = str(report.facts.get("device") or "")
    return device if _VIRTUAL.fullmatch(device) else ""


def are_containers(report: Report) -> bool:
    """Whether both ends have addresses of the bridge that Docker makes on each host."""
    ends = [_parsed(str(report.facts.get(name))) for name in ("near_address", "far_address")]
    return all(
        address is not None and address.version == 4 and address in _OF_DOCKER for address in ends
    )


def is_near(report: Report) -> bool:
    """Whether the other end is in a private network, or on this host: no long way to it."""
    address = _parsed(str(report.facts.get("far_address") or report.facts.get("near_address")))
    if stays_in_host(report):
        return True
    private = address is not None and address.is_private
    return private and not any(address in network for network in _OF_DOCUMENTS)


def stays_in_host(report: Report) -> bool:
    """Whether both ends are on one host: one of them is its own name for itself, or they are the
    same."""
    if report.facts.get("tunnelled"):
        return False
    ends = [report.facts.get(name) for name in ("near_address", "far_address")]
    addresses = [str(end).partition("%")[0] for end in ends if end]
    if any(map(is_loopback, addresses)) or report.facts.get("device") == "lo":
        return True
    if len(addresses) < 2 or addresses[0] != addresses[1]:
        return False
    address = _parsed(addresses[0])  # none of `x.x.x.x`, which somebody wrote in its place
    return address is not None and not address.is_unspecified
