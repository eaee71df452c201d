"""One start of a peer: its command line, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.core.sizes import UNITS
from benchbook.define.peers import DECLARED, FAR_ADDRESS, MIB, PORT, REPETITIONS, size_of
from benchbook.network import SERVER_PORT
from benchbook.peers.matching import measure_of
from benchbook.peers.parsers import Measured, NotUnderstoodError, parser

# Tools round a size to what their loops and threads divide: the rate is that of the bytes moved.
SIZE_TOLERANCE = 1e-3


@dataclass(frozen=True)
class ServerStart:
    """The peer's other end: its arguments, and the port on which it will listen."""

    arguments: tuple[str, ...]
    protocol: str
    port: int


@dataclass(frozen=True)
class PeerStart:
    """What a peer is asked for: `repetitions` in all (None: it runs by time), each of
    `declared_bytes` bytes (0 where none are moved)."""

    tool: str
    parser: str
    arguments: tuple[str, ...]
    repetitions: int | None
    warmup: int
    declared_bytes: int
    server: ServerStart | None = None
    sleeps_after: str = ""  # what it prints before it sleeps; empty: it measures at once


def prepare(
    spec: dict[str, Any], factors: dict[str, Any], counts: dict[str, int], far_address: str = ""
) -> PeerStart:
    """The start of a peer at a point that it accepts; `counts` are the pilot's numbers,
    `far_address` that of host B where a network is laid."""
    measure = measure_of(spec, factors)
    if measure is None:
        raise ValueError(f"{spec['tool']} does not accept {factors}")
    values = values_of(spec, factors, counts["warmup"] + counts["samples"] * counts["loops"])
    values |= {FAR_ADDRESS: far_address, PORT: SERVER_PORT}
    by_time = spec.get("by_time", False)
    server = spec.get("server")
    return PeerStart(
        tool=spec["tool"],
        parser=spec["parser"],
        arguments=filled(measure["arguments"], values),
        repetitions=None if by_time else values[REPETITIONS],
        warmup=0 if by_time else counts["warmup"],
        declared_bytes=values[DECLARED],
        server=server
        and ServerStart(filled(server["arguments"], values), server["protocol"], SERVER_PORT),
        sleeps_after=spec.get("sleeps_after", ""),
    )


def values_of(spec: dict[str, Any], factors: dict[str, Any], repetitions: int) -> dict[str, Any]:
    """What the arguments of a peer may name, at these factors."""
    mib = {
        name + MIB: value // UNITS["MiB"]
        for name, value in factors.items()
        if isinstance(value, int)
    }
    declared = spec.get("declares", 1) * factors.get(size_of(factors), 0)
    return {**factors, **mib, DECLARED: declared, REPETITIONS: repetitions}


def filled(arguments: list[str], values: dict[str, Any]) -> tuple[str, ...]:
    """Arguments with values where they name some."""
    return tuple(argument.format(**values) for argument in arguments)


def read(start: PeerStart, text: str, cpus: list[int]) -> Measured:
    """What the peer printed, if it did what was asked for on these CPUs; else NotUnderstoodError
    with the reason."""
    measured: Measured = parser(start.parser).parse(text)
    done = len(measured.time_ns) * measured.loops
    if start.repetitions is not None and done != start.repetitions:
        raise NotUnderstoodError(f"did {done} repetitions of the {start.repetitions} asked for")
    moved = measured.declared_bytes / measured.loops
    if abs(moved - start.declared_bytes) > SIZE_TOLERANCE * start.declared_bytes:
        raise NotUnderstoodError(
            f"moved {moved:.0f} bytes in a repetition where {start.declared_bytes} were asked for"
        )
    if measured.cpus and sorted(measured.cpus) != sorted(cpus):
        raise NotUnderstoodError(f"ran on CPUs {measured.cpus} instead of those given, {cpus}")
    return measured
