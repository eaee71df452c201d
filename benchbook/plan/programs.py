"""What is executed in a run, by its hashes: binaries, the probe, and the libraries they load."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook.define import catalogue
from benchbook.define.points import Point

TIMED_LIBRARIES = re.compile(rb"(lib(?:mpi|mpich|tirpc)\.so\S*) => (/\S+)")
Variants = dict[str, dict[str, Any]]  # name -> variant.json


@dataclass(frozen=True)
class Programs:
    """`binaries`: `variant~twin` -> the binary's record. `probe`: hash, anchor's bytes and samples.
    `libc`, and of `libraries` those whose calls are timed, by hash; empty before anything is
    built."""

    binaries: dict[str, dict[str, str]] = field(default_factory=dict)
    probe: list[Any] = field(default_factory=list)
    libc: str | None = None
    libraries: dict[str, str] = field(default_factory=dict)


def programs_of(root: Path, points: Iterable[Point], variants: Variants) -> Programs:
    """What the starts of these points execute."""
    return Programs(
        binaries=_binaries(points, variants),
        probe=_probe(root, variants.get(catalogue.PROBE, {})),
        libc=libc_of(variants),
        libraries=libraries_of(variants),
    )


def _binaries(points: Iterable[Point], variants: Variants) -> dict[str, dict[str, str]]:
    binaries = {}
    for point in points:
        record = variants.get(point.variant, {})
        which = "relinked" if point.twin == "relinked" else "binary"
        if which in record:
            binaries[f"{point.variant}~{point.twin}"] = record[which]
    return binaries


def _probe(root: Path, record: dict[str, Any]) -> list[Any]:
    """What the machine's state is read with: binary, anchor's size and samples."""
    content = catalogue.definition(root, catalogue.PROBE)
    digest = record.get("binary", {}).get("sha256")
    return [digest, content["anchor_bytes"], content["anchor_samples"]]


def libc_of(variants: Variants) -> str | None:
    """Hash of the C library that the binaries load: its memcpy is what many of them time.

    None where nothing is built yet, or the binaries are static.
    """
    for record in variants.values():
        if loaded := re.search(rb"libc\.\S+ => (/\S+)", _loaded(record)):
            return _hash(loaded[1])
    return None


def libraries_of(variants: Variants) -> dict[str, str]:
    """Name -> hash of the libraries whose calls some binaries time, beside the C library's."""
    return {
        library[1].decode(): _hash(library[2])
        for record in variants.values()
        for library in TIMED_LIBRARIES.finditer(_loaded(record))
    }


def _loaded(record: dict[str, Any]) -> bytes:
    """The output of ldd for a variant's binary; nothing where there is none."""
    if record.get("state") != "ok" or "folder" not in record:
        return b""
    file = Path(record["folder"]) / record["binary"]["file"]
    return subprocess.run(["ldd", str(file.absolute())], capture_output=True, check=False).stdout


def _hash(path: bytes) -> str:
    return hashlib.sha256(Path(path.decode()).read_bytes()).hexdigest()[:16]
