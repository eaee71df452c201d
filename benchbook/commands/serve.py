"""Answer other machines that measure the network."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from benchbook.build.stage import build_variant
from benchbook.commands.options import ROOT
from benchbook.core.errors import BenchbookError
from benchbook.define.catalogue import definition
from benchbook.network import PEER_PORT

KERNEL = "udp"
command = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)


@command.callback()
def _several() -> None:
    """Keep the name of the only command."""


@command.command("udp-echo")
def serve_udp_echo(
    bind: Annotated[str, typer.Option(metavar="ADDRESS", help="an IPv4 address of this machine")],
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="default: the port of udp_peer")
    ] = None,
    wait: Annotated[
        str, typer.Option(help="sleep until a datagram comes (block), or poll (spin)")
    ] = "block",
) -> None:
    """Send each datagram back, for --config udp_peer=ADDRESS on another host; until Ctrl-C."""
    udp_echo(ROOT.absolute(), bind, port, wait)


def udp_echo(root: Path, bind: str, port: int | None, wait: str) -> NoReturn:
    """Become the echo server of kernel udp, which ends with the signal that ends this process.

    BenchbookError where it cannot be built; the server itself refuses what is no own address.
    """
    try:
        address = ipaddress.IPv4Address(bind)
    except ValueError:
        raise BenchbookError(f"--bind {bind} is no IPv4 address; give one like 10.0.0.1") from None
    if address.is_unspecified:
        raise BenchbookError(
            f"--bind {bind} would answer every network that this host is in; give the address of "
            "one (`ip address` lists them)"
        )
    output = root / "build" / "serve" / KERNEL / "variant.json"
    record = build_variant(root, KERNEL, definition(root, KERNEL)["base"], output)
    if record["state"] != "ok":
        raise BenchbookError(f"the echo server cannot be built: {record['reason']}")
    server = str(output.parent / record["binary"]["file"])
    options = [f"--port={port or PEER_PORT}", f"--wait={wait}"]
    os.execv(server, [server, "--serve", f"--bind={bind}", *options])
