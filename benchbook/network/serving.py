"""A server in host B, for as long as a client in host A needs it."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchbook.core.processes import Scheduling, child_setup

LIMIT_S = 5.0  # until it listens, and until it ends by itself
_WAIT_S = 0.002
_OUTPUT_KEPT = 400  # characters that enter a reason
_LISTENS = {"tcp": "0A", "udp": "07"}  # state of such a socket in /proc/net


class NotServingError(Exception):
    """Why a server did not come up, or did not last."""


@dataclass
class Server:
    """A program that listens; what it prints goes to a file, so that it never waits for us."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]

    def printed(self) -> str:
        """What the server printed so far."""
        # Not by seeking: the program writes at the same position.
        handle = self.output.fileno()
        return os.pread(handle, os.fstat(handle).st_size, 0).decode("utf-8", errors="replace")

    def ended(self) -> str:
        """How the server ended, in words; empty while it runs."""
        status = self.process.poll()
        if status is None:
            return ""
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        words = " ".join(self.printed().split())[-_OUTPUT_KEPT:]
        return f"its server ended with {how}" + (f": {words}" if words else "")

    def finish(self) -> str:
        """What the server printed until it ended by itself; NotServingError where it does not."""
        try:
            self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise NotServingError(f"its server did not end within {LIMIT_S:g} s") from None
        return self.printed()


@contextmanager
def serving(
    command: list[str],
    *,
    protocol: str,
    port: int,
    cpus: list[int],
    enter: Callable[[], None] | None,
    inherits: tuple[int, ...] = (),
    env: dict[str, str] | None = None,
    scheduling: Scheduling = Scheduling.NORMAL,
) -> Iterator[Server]:
    """Start it behind `enter` and wait until it listens; it is ended at the end, and dies with
    this process. NotServingError where it does not come up."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=env,
                pass_fds=inherits,
                preexec_fn=child_setup(cpus, enter, scheduling),  # noqa: PLW1509 - the measurer has one thread
            )
        except OSError as error:
            raise NotServingError(f"its server cannot be started ({error.strerror})") from None
        except subprocess.SubprocessError:  # of what the set-up could not do, Python tells no more
            raise NotServingError("its server cannot be started on its CPU in its host") from None
        server = Server(process, output)
        try:
            _wait(server, protocol, port)
            yield server
        finally:
            process.kill()
            process.wait()


def _wait(server: Server, protocol: str, port: int) -> None:
    until = time.monotonic() + LIMIT_S
    while not _listens(server.process.pid, protocol, port):
        if why := server.ended():
            raise NotServingError(why)
        if time.monotonic() > until:
            raise NotServingError(f"its server does not listen on {protocol} port {port}")
        time.sleep(_WAIT_S)


def _listens(pid: int, protocol: str, port: int) -> bool:
    """Whether a socket of this very process does: another program may have the port outside."""
    try:
        rows = [
            line.split() for line in Path(f"/proc/{pid}/net/{protocol}").read_text().splitlines()
        ]
    except OSError:  # it has ended
        return False
    wanted = {
        f"socket:[{row[9]}]"
        for row in rows[1:]
        if row[1].endswith(f":{port:04X}") and row[3] == _LISTENS[protocol]
    }
    return bool(wanted) and not wanted.isdisjoint(_open_files(pid))


def _open_files(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                yield str(handle.readlink())
