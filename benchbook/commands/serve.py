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
    """A command of its own name, although it is the only one."""


@command.command("udp-echo")
def serve_udp_echo(
    bind: Annotated[str, typer.Option(metavar="ADDRESS", help="of this machine, IPv4")],
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="else the one that udp_peer has")
    ] = None,
    wait: Annotated[str, typer.Option(help="asleep (block), or asking on and on (spin)")] = "block",
) -> None:
    """Give back each datagram to its sender, for --config udp_peer=ADDRESS there; until Ctrl-C."""
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
