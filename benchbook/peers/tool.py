"""A peer's program on this host: where it is, which version, and whether it is the one meant."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

from benchbook.core.processes import output_of
from benchbook.host import facts, tools


def find(spec: dict[str, Any]) -> dict[str, Any]:
    """What variant.json says of a peer: {peer: {tool, package, text, version}, state, reason} and,
    if it is there, its binary {file, sha256} as an absolute path.

    state is ok or cannot_run: not on PATH, another version, or a processor that cannot run it.
    """
    about = {**{key: spec[key] for key in ("tool", "package", "text")}, "version": ""}
    record: dict[str, Any] = {"peer": about, "state": "cannot_run", "reason": not_there(spec)}
    place = shutil.which(spec["tool"])
    if place is None:
        return record
    path = Path(place).absolute()
    about["version"] = _version(spec, path)
    record["binary"] = {
        "file": str(path),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    reason = _wrong_version(spec, about["version"]) or _wrong_cpu(spec)
    return record | {"state": "cannot_run" if reason else "ok", "reason": reason}


def not_there(spec: dict[str, Any]) -> str:
    """Why a peer whose program is absent is not measured."""
    return f"{spec['tool']} is not on PATH; {tools.remedy(spec['package'])}"


def _wrong_version(spec: dict[str, Any], version: str) -> str:
    wanted = spec.get("describes")
    if wanted is None or re.match(rf"{re.escape(wanted)}(?![0-9])", version):
        return ""
    here = f"is version {version}" if version else "does not tell its version"
    return (
        f"{spec['tool']} {here}, and version {wanted} is described here; "
        f"install that (Debian: package {spec['package']})"
    )


def _wrong_cpu(spec: dict[str, Any]) -> str:
    wanted = spec.get("cpu_flags", [])
    has = facts.facts()["isa"] or [] if wanted else []
    missing = [flag for flag in wanted if flag not in has]
    return f"this processor has no {missing[0]}" if missing else ""


def _version(spec: dict[str, Any], path: Path) -> str:
    """The version that a peer prints, else that of its Debian package or of its path in Nix's
    store; empty: none is known."""
    pattern = spec.get("version_from")
    if pattern is None:
        return _stored_version(spec["tool"], path) or _packaged_version(path)
    match = re.search(pattern["pattern"], output_of([str(path), *pattern["arguments"]]))
    return match[1] if match else ""


def _stored_version(tool: str, path: Path) -> str:
    """Of a program in `…/<hash>-<tool>-<version>/bin/`; empty elsewhere. The hash of Nix has 32
    digits."""
    package = re.fullmatch(
        rf"[0-9a-z]{{32}}-{re.escape(tool)}-(\d\S*)", path.resolve().parent.parent.name
    )
    return package[1] if package else ""


def _packaged_version(path: Path) -> str:
    # Of the package that owns this very file: another program of that name may be on PATH.
    owner, separator, _ = output_of(["dpkg-query", "-S", str(path.resolve())]).partition(": ")
    if not separator or "," in owner:
        return ""
    return output_of(["dpkg-query", "-W", "-f=${Version}", owner]).strip()
