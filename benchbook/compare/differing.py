"""What differs between two sides besides the times: hardware, software, variants, settings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchbook.compare.matched import physical
from benchbook.compare.sides import Measured, Side

SOFTWARE = ("os", "libc", "kernel_release", "microcode", "nix_revision", "container")
SETTINGS = (
    *("thp", "governor", "governors", "turbo", "clocksource", "numa_balancing"),
    *("mitigations", "boot_options"),
)
# Not of the machine: lists of reasons, versions, and what only says what can be read.
PASSED_OVER = ("unknown", "version", "frequency_readable", "perf_event_paranoid")
VARIANT = ("compiler_version", "isa", "wrapper", "state", "sha256")
ABSENT = "unknown"
_IN_BYTES = re.compile(r"\bbytes$|^hwloc nodes ")


@dataclass(frozen=True)
class Difference:
    """A fact that is not the same on both sides; kind: hardware, software, setting, run or
    variant."""

    kind: str
    what: str
    a: str
    b: str


def differences(a: Side, b: Side) -> list[Difference]:
    """Each fact that is not the same on both sides, once."""
    rows: list[Difference] = []
    for name in [name for name in a.experiments if name in b.experiments]:
        ours, theirs = a.experiments[name], b.experiments[name]
        rows += facts_differences(ours.facts, theirs.facts)
        rows += _row("software", "door", ours.door, theirs.door)
        rows += _row("run", "preset", ours.preset, theirs.preset)
        rows += _variants(ours, theirs)
    return list(dict.fromkeys(rows))


def _row(kind: str, what: str, a: Any, b: Any) -> list[Difference]:
    """What is not the same; of a mapping on both sides only the keys that are not."""
    if a == b:
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        names = {name: f"{what} {name}".replace("_", " ") for name in {**a, **b}}
        return [
            row for name, own in names.items() for row in _row(kind, own, a.get(name), b.get(name))
        ]
    texts = [_bytes(value) if _IN_BYTES.search(what) else _text(value) for value in (a, b)]
    return [Difference(kind, what, *texts)]


def _bytes(value: Any) -> str:
    return f"{value:,} bytes" if isinstance(value, int) and value else _text(value)


def _text(value: Any) -> str:
    """A value in words: lists as what is in them."""
    if value in (None, "", []):
        return ABSENT
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return " ".join(
            f"{key} {_text(part)}" for key, part in value.items() if part not in (None, "")
        )
    return str(value)


def facts_differences(a: dict[str, Any], b: dict[str, Any]) -> list[Difference]:
    """Each fact about a host that two runs do not share."""
    rows = []
    for name in {**a, **b}:
        if name in PASSED_OVER:
            continue
        ours, theirs = a.get(name), b.get(name)
        if name == "isa" and ours and theirs:  # a long list: only what the other lacks
            ours, theirs = sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours))
        kind = "software" if name in SOFTWARE else "setting" if name in SETTINGS else "hardware"
        what = "instruction sets of one only" if name == "isa" else name.replace("_", " ")
        rows += _row(kind, what, ours, theirs)
    return rows


def _variants(a: Measured, b: Measured) -> list[Difference]:
    """Compilers, binaries and instruction sets of variants that are the same by compiler and
    flags."""
    theirs = {physical(variant): variant for variant in b.variants.values()}
    rows = []
    for name, ours in a.variants.items():
        same_variant = theirs.get(physical(ours))
        for key in VARIANT if same_variant else ():
            what = "compiler" if key == "compiler_version" else f"{a.experiment}/{name}"
            if key != "compiler_version":
                what += {"sha256": " binary"}.get(key, f" {key}")
            ours_, theirs_ = ours.get(key), (same_variant or {}).get(key)
            if key == "sha256":
                ours_, theirs_ = (digest and digest[:12] for digest in (ours_, theirs_))
            rows += _row("variant", what, ours_, theirs_)
    return rows
