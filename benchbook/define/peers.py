"""Peers: programs of other people, measured in the same blocks as ours.

A peer is a variant that is found instead of built: kernels/<experiment>/peers/<variant>.yaml says
how it is asked for the work of its twin, which is a variant of ours. Standard library only: the
Snakefile imports this.
"""

from __future__ import annotations

import string
from collections.abc import Collection
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.sizes import parse_bytes
from benchbook.define.models import Peer
from benchbook.define.yaml_files import load

# What an argument may name, beside the factors; `<factor>_mib` is a factor in whole MiB.
REPETITIONS, DECLARED, MIB = "repetitions", "declared_bytes", "_mib"
FAR_ADDRESS, PORT = "far_address", "port"  # where a network is laid
SIZES = ("bytes", "payload_bytes")  # factors of which a repetition declares its bytes


def read(folder: Path, content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The peers of an experiment as variants: name -> {"peer": {...}}, each checked against it."""
    found = {}
    for path in sorted((folder / "peers").glob("*.yaml")):
        spec = load(path, Peer)
        _check(path, spec, content)
        if path.stem in content["variants"]:
            raise BenchbookError(f"{path}: {path.stem!r} is a variant already; rename the file")
        found[path.stem] = {"peer": spec}
    return found


def of(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The peers among an experiment's variants, by name."""
    return {
        name: variant["peer"] for name, variant in content["variants"].items() if "peer" in variant
    }


def fields(arguments: list[str]) -> set[str]:
    """What the arguments of a command line name between braces."""
    named = (name for argument in arguments for _, name, _, _ in string.Formatter().parse(argument))
    return {name for name in named if name is not None}


def size_of(factors: Collection[str]) -> str:
    """The factor of which a repetition declares its bytes; empty where there is none."""
    return next((name for name in SIZES if name in factors), "")


def factor_of(field: str) -> str:
    """The factor that a field of an argument stands for: `bytes` for `bytes_mib`."""
    return "bytes" if field == DECLARED else field.removesuffix(MIB)


def step_bytes(step: str | int, factors: dict[str, Any]) -> int | None:
    """What a size must be a multiple of: a size, or a factor (None where a point has none)."""
    if isinstance(step, int) or step[:1].isdigit():
        return parse_bytes(step)
    value: int | None = factors.get(step)
    return value


def _check(path: Path, spec: dict[str, Any], content: dict[str, Any]) -> None:
    """Refuse a peer that could not be measured, before anything runs."""

    def known(key: str, value: str, allowed: list[str]) -> None:
        if value not in allowed:
            listed = ", ".join(allowed)
            raise BenchbookError(f"{path}: key {key!r} names {value!r}; allowed: {listed}")

    factors = list(content["factors"])
    over = [FAR_ADDRESS, PORT] if content.get("network") else []
    allowed = [REPETITIONS, DECLARED, *factors, *(name + MIB for name in factors), *over]
    known("twin", spec["twin"], list(content["variants"]))
    for name, steps in spec.get("multiples", {}).items():
        known("multiples", name, factors)
        for step in steps:
            if not step_bytes(step, dict.fromkeys(factors, 1)):
                raise BenchbookError(
                    f"{path}: key 'multiples' has {step!r}; write a size above 0 like `1 MiB`, or "
                    f"one of {', '.join(factors)}"
                )
    for name in spec.get("least", {}):
        known("least", name, factors)
    for method in (spec.get("labels") or {"runs": {}})["runs"].values():
        known("labels", method, list(content["definitions"]))
    for measure in spec["measures"]:
        for name in measure["setting"]:
            known("measures", name, factors)
        listed = {"arguments": measure["arguments"], **(measure.get("simulated") or {})}
        for key, arguments in listed.items():
            named = _fields(path, key, arguments)
            for name in sorted(named):
                known(key, name, allowed)
            if (REPETITIONS in named) == spec.get("by_time", False):
                wrong = "must not say" if REPETITIONS in named else "must say"
                raise BenchbookError(f"{path}: key {key!r} {wrong} where {{{REPETITIONS}}} go")
    if spec.get("server"):
        named = _fields(path, "server", spec["server"]["arguments"])
        for name in sorted(named):
            known("server", name, over)
        if PORT not in named:
            raise BenchbookError(f"{path}: key 'server' must say where {{{PORT}}} goes")


def _fields(path: Path, key: str, arguments: list[str]) -> set[str]:
    try:
        return fields(arguments)
    except ValueError as error:
        raise BenchbookError(f"{path}: key {key!r}: {error}; mend the braces") from None
