"""From which size on the C library copies in another way, as it says itself."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection

# As glibc calls them. Between the first and the second by `rep movsb`, from the third on past the
# caches.
THRESHOLDS = ("rep_movsb_threshold", "rep_movsb_stop_threshold", "non_temporal_threshold")
FILLING = "rep_stosb_threshold"  # from there on it fills by `rep stosb`
# What one call of that size does between them.
LOOP, STRING, PAST = "vector loop", "rep movsb", "non-temporal stores"
FAST_STRINGS = {"erms", "fsrm"}  # a processor that has either copies fast by `rep movsb`
_LINE = re.compile(r"^x86\.cpu_features\.(\w+)=(0x[0-9a-f]+|\d+)\s*$", re.MULTILINE)
_LIMIT_S = 10


def thresholds_in(text: str) -> dict[str, int]:
    """Name -> bytes, out of what the dynamic loader prints with --list-diagnostics; empty where it
    names none (another architecture, another library, a loader older than 2.33)."""
    thresholds = {name: int(value, 0) for name, value in _LINE.findall(text)}
    return {name: thresholds[name] for name in (*THRESHOLDS, FILLING) if name in thresholds}


def copy_thresholds(loader: str, environment: dict[str, str]) -> dict[str, int]:
    """Name -> bytes of the thresholds in force in a loader, with these variables set; empty where
    it cannot be asked."""
    try:
        answer = subprocess.run(
            [loader, "--list-diagnostics"],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return thresholds_in(answer.stdout) if answer.returncode == 0 else {}


def loader_in(output: bytes) -> str | None:
    """The dynamic loader that `ldd` names."""
    match = re.search(rb"^\s*(/\S*/ld[^\s/]*)\s", output, re.MULTILINE)
    return match[1].decode() if match else None


def loader_of(binary: str) -> str | None:
    """The dynamic loader that starts a program; None of one that needs none."""
    try:
        answer = subprocess.run(["ldd", binary], capture_output=True, timeout=_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return loader_in(answer.stdout)


def path_of(bytes_per_call: float, thresholds: dict[str, int], isa: Collection[str]) -> str:
    """How one call that copies so many bytes is done; "" where the library does not say.

    `isa`: the processor's features. Without a fast `rep movsb` among them the library does not heed
    the thresholds that begin and end it, so that between these nothing is told.
    """
    if any(name not in thresholds for name in THRESHOLDS):
        return ""
    start, stop, past = (thresholds[name] for name in THRESHOLDS)
    if start <= bytes_per_call < stop:
        return STRING if FAST_STRINGS & set(isa) else ""
    return PAST if bytes_per_call >= past else LOOP
