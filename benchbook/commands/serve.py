"""What Benchbook answers to other machines, which measure the network to this one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

from benchbook.build.stage import build_variant
from benchbook.core.errors import BenchbookError
from benchbook.define.catalogue import definition
from benchbook.network import PEER_PORT

KERNEL = "udp"


def udp_echo(root: Path, bind: str, port: int | None, wait: str) -> NoReturn:
    """Become the echo server of kernel udp, which ends with the signal that ends this process.

    BenchbookError where it cannot be built; the server itself refuses what is no own address.
    """
    output = root / "build" / "serve" / KERNEL / "variant.json"
    record = build_variant(root, KERNEL, definition(root, KERNEL)["base"], output)
    if record["state"] != "ok":
        raise BenchbookError(f"the echo server cannot be built: {record['reason']}")
    server = str(output.parent / record["binary"]["file"])
    options = [f"--port={port or PEER_PORT}", f"--wait={wait}"]
    os.execv(server, [server, "--serve", f"--bind={bind}", *options])
