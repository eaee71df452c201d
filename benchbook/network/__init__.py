"""A network of one's own: hosts A and B and what stands between them, for the time of one run.

A kernel whose definition says `network: true` has the factors `path` and `switches`. It starts in
host A and is told where host B is; what is measured over a real network instead is a `peer`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook.core.addresses import address_and_port
from benchbook.core.errors import BenchbookError
from benchbook.host import tools
from benchbook.host.capabilities import capability
from benchbook.network import wiring
from benchbook.network.namespaces import Namespaces, NotAllowedError
from benchbook.network.wiring import FAR, NEAR, Line

PEER, LOOPBACK, MEMORY = "peer", "loopback", "memory"
NOT_LAID = (PEER, MEMORY)  # a real network, and memory that both ends share: no line is laid
LEAST_CPUS, MOST_CPUS = 2, 3  # one for each end, and one for switches that are emulated
PEER_PORT = 7707
LAID = ("path", "switches")  # factors that the network has, and no kernel is told
# Lines that are there for any program; on the others a program of ours plays a part.
FOR_ANYBODY = ("veth", "bridges", "bucket", LOOPBACK)
SERVER_PORT = 7708  # of somebody else's server in host B
_LIMIT_S = 10
_WAIT_S = 0.02


@dataclass(frozen=True)
class Door:
    """How a start gets into the network: what it is told, what it enters, what it inherits."""

    options: dict[str, Any]
    enter: Callable[[], None] | None = None  # host A
    enter_far: Callable[[], None] | None = None  # host B
    inherits: tuple[int, ...] = ()
    refused: str = ""  # why this line is not there


@dataclass
class Network:
    """Lines from A to B, made at once; to be closed. `peer` is (address, port) of a real host."""

    peer: tuple[str, int] | None = None
    namespaces: Namespaces = field(default_factory=Namespaces)
    lines: dict[tuple[str, int, int], Line] = field(default_factory=dict)
    refused: dict[tuple[str, int, int], str] = field(default_factory=dict)

    def make(self, settings: Iterable[dict[str, Any]]) -> None:
        """Lay the lines that points with these factors need; one that fails has its reason."""
        for factors in settings:
            key = _key(factors)
            if factors["path"] in NOT_LAID or key in self.lines or key in self.refused:
                continue
            line = Line(len(self.lines), *key)
            try:
                self._lay(line)
            except (NotAllowedError, OSError) as error:
                self.refused[key] = f"the network could not be made: {error}"
            self.lines[key] = line
        for key, line in self.lines.items():
            if line.path == "bridges" and key not in self.refused:
                try:
                    self._wait_for(line.between)
                except OSError as error:
                    self.refused[key] = f"the network could not be made: {error}"

    def _lay(self, line: Line) -> None:
        fresh = [] if self.namespaces.net else [NEAR, FAR]
        fresh += line.between
        try:
            self.namespaces.add(*fresh)
        except NotAllowedError:
            if line.path == LOOPBACK:  # the machine's own will do
                return
            raise
        for name in fresh:
            self._run(name, "ip", ["link set lo up"])
        where = {name: self.namespaces.path(name) for name in self.namespaces.net}
        for name, program, lines in wiring.commands(line, where):
            self._run(name, program, lines)

    def _wait_for(self, bridges: list[str]) -> None:
        """Until every port forwards: the kernel tells a bridge late that its links are up."""
        until = time.monotonic() + _LIMIT_S
        while waiting := [name for name in bridges if not self._forwards(name)]:
            if time.monotonic() > until:
                raise OSError(f"{len(waiting)} bridges do not forward after {_LIMIT_S} s")
            time.sleep(_WAIT_S)

    def _forwards(self, name: str) -> bool:
        ports = self._run(name, "bridge", ["link show"]).splitlines()
        return bool(ports) and all(" state forwarding " in port for port in ports)

    def _run(self, name: str, program: str, lines: list[str]) -> str:
        """What a program of iproute2 said in one namespace, which has the settings of the kernel
        that all of them have."""
        into = self.namespaces.entering(name)

        def enter() -> None:
            into()
            for setting, value in wiring.SYSCTLS.items():
                file = Path("/proc/sys") / setting
                if file.exists():
                    file.write_text(str(value))

        try:
            done = subprocess.run(
                [_program(program), "-batch", "-"],
                input="".join(f"{line}\n" for line in lines),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT_S,
                check=False,
                pass_fds=self.namespaces.descriptors(),
                preexec_fn=enter,
            )
        except subprocess.TimeoutExpired:
            raise OSError(f"{program} did not end within {_LIMIT_S} s") from None
        except subprocess.SubprocessError:  # of what `enter` could not do, Python tells no more
            raise OSError(
                "a namespace could not be entered, or its settings in /proc/sys not be written; in "
                "a container, make /proc/sys writable"
            ) from None
        if done.returncode != 0:
            words = " ".join(done.stderr.split())
            raise OSError(f"{program} said: {words}")
        return done.stdout

    def door(self, factors: dict[str, Any]) -> Door:
        """The network that a start at these factors enters."""
        if factors["path"] == PEER:
            if self.peer is None:
                return Door({}, refused=without_peer())
            return Door({"far-address": self.peer[0], "port": self.peer[1]})
        if factors["path"] == MEMORY:
            return Door({})
        key = _key(factors)
        if key in self.refused:
            return Door({}, refused=self.refused[key])
        line = self.lines[key]
        options: dict[str, Any] = {"near-address": line.near, "far-address": line.far}
        if line.path != LOOPBACK:
            options["far-namespace"] = self.namespaces.path(FAR)
        if line.path == "emulated":
            options |= {
                "emulated-switches": line.switches,
                "switch-namespace": self.namespaces.path(line.emulator),
            }
        near, far = (
            self.namespaces.entering(host) if host in self.namespaces.net else None
            for host in (NEAR, NEAR if line.path == LOOPBACK else FAR)
        )
        return Door(options, near, far, self.namespaces.descriptors())

    def close(self) -> None:
        """Take all namespaces and lines down."""
        self.namespaces.close()


def cpus(factors: dict[str, Any], usable: int) -> int:
    """How many CPUs a start at these factors takes: each end has its own, and what emulates
    switches a third where there is one; none for points without a network."""
    if "path" not in factors:
        return 0
    return min(MOST_CPUS, max(LEAST_CPUS, usable))


@contextmanager
def made(settings: list[dict[str, Any]], peer: str | None) -> Iterator[Network]:
    """The network that points with these factors need, for as long as the caller is in it."""
    network = Network(peer_of(peer))
    try:
        network.make(setting for setting in settings if "path" in setting)
        yield network
    finally:
        network.close()


def _key(factors: dict[str, Any]) -> tuple[str, int, int]:
    path = factors["path"]
    bucket = int(factors.get("link_bits_per_s", 0)) if path == "bucket" else 0
    return path, int(factors.get("switches", 0)), bucket


def _program(name: str) -> str:
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if path is None:
        raise OSError(f"{name} is not on PATH; {tools.remedy(tools.package_of(name))}")
    return path


def without_peer() -> str:
    """Why a point on a real network is not measured."""
    return (
        "needs another host: start `benchbook serve udp-echo --bind ADDRESS` there and give "
        "--config udp_peer=ADDRESS here"
    )


def refusal(factors: dict[str, Any], peer: str | None, root: Path) -> str:
    """Why no start at these factors can be made here; empty where it can."""
    path = factors["path"]
    if path == PEER:
        return "" if peer else without_peer()
    if path in (LOOPBACK, MEMORY):
        return ""
    try:
        _program("ip")
    except OSError as error:
        return str(error)
    namespaces = capability("namespaces", root)
    if namespaces.state == "ok":
        return ""
    remedy = f"; {namespaces.remedy}" if namespaces.remedy else ""
    return f"network namespaces are not allowed here: {namespaces.reason}{remedy}"


def peer_of(text: str | None) -> tuple[str, int] | None:
    """ADDRESS or ADDRESS:PORT (IPv4) as (address, port). BenchbookError for anything else."""
    if not text:
        return None
    try:
        address, port = address_and_port(text)
    except ValueError as allowed:
        raise BenchbookError(f"udp_peer is {text!r}; it must be {allowed}") from None
    return address, port or PEER_PORT
