"""Addresses of hosts, as people write them."""

from __future__ import annotations

import ipaddress

MOST_PORT = 65535
ALLOWED = "an IPv4 address such as 192.0.2.1, with or without :PORT from 1 to 65535"


def address_and_port(text: str) -> tuple[str, int | None]:
    """ADDRESS or ADDRESS:PORT (IPv4), the port None where it is absent. ValueError, with what is
    allowed, for anything else."""
    address, colon, port = text.partition(":")
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        raise ValueError(ALLOWED) from None
    if not colon:
        return address, None
    if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) <= MOST_PORT):
        raise ValueError(ALLOWED)
    return address, int(port)
