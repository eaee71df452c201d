"""Made-up rates, functions and failures of the experiment stream, for tests/made_up.py."""

from __future__ import annotations

import math
from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.plan.plan import Point

KIB, MIB, GIB = 2**10, 2**20, 2**30
# Arrays that a method reads and writes, by which STREAM counts its bytes.
ARRAYS = {"add": 3, "triad": 3, "read": 1, "write": 1, "write-nt": 1}
# The last variant of those in which flags are compared.
NOT_BUILT = "clang-O3-serial"
LINKER = "<x> relocation truncated to fit: R_X86_64_PC32 against symbol `c' defined in .bss section"
MEMORY_BYTES = 4 * GIB
ALLOWED_BYTES = 2 * GIB
# Bytes per second of one thread where all three arrays fit, and beyond every cache.
LEVELS = ((32 * KIB, 90 * GIB), (MIB, 50 * GIB), (32 * MIB, 24 * GIB), (math.inf, 11 * GIB))
METHODS = {"triad": 1.1, "add": 1.09, "scale": 0.97, "copy-nt": 1.3, "copy-movsb": 1.25}
METHODS |= {"read": 1.2, "write": 0.6, "write-nt": 1.1}
FLAGS = {"gcc-O0": 0.25, "gcc-O1": 0.7, "gcc-O2": 0.93, "gcc-O3-generic": 0.85}


def rate_of(variant: str, factors: dict[str, Any]) -> float:
    """Bytes per second; flags matter in a cache only."""
    threads = factors["threads"]
    needed = 3 * factors["bytes"] / threads
    level = next(rate for size, rate in LEVELS if needed <= size * (1 if size < 2 * MIB else 1.3))
    rate = level * METHODS.get(factors["method"], 1.0) * threads**0.8
    slower = FLAGS.get(variant, 1.0)
    return rate * (slower if factors["bytes"] <= MIB else slower**0.2)


def functions(variant: str) -> dict[str, Any]:
    """In one variant the copy loop stays a loop, elsewhere it becomes a call."""
    copied = [] if variant in ("gcc-O0", "gcc-O3-no-distribute") else ["memcpy"]
    return {
        f"timed_{method}_{memory}": {
            "library_calls": copied if method == "copy" else [],
            "loads_in_loop": 0 if method == "copy" and copied else ARRAYS.get(method, 2) - 1,
        }
        for method in ("copy", "scale", "add", "triad", "copy_nt")
        for memory in ("static", "heap")
    }


def left_out(points: list[Point], built: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Points beyond half of the memory, or of a variant that was not built, as the plan says it."""
    reasons = {
        variant["variant"]: variant["reason"] for variant in built if variant["state"] != "ok"
    }
    found = {}
    for point in points:
        needed = 3 * point.factors["bytes"]
        reason = reasons.get(point.variant, "")
        if not reason and needed > ALLOWED_BYTES:
            reason = (
                f"needs {format_bytes(needed)} of memory, more than 50% of the "
                f"{format_bytes(MEMORY_BYTES)} available here"
            )
        if reason:
            found[point.id] = {
                "point": point.id,
                "variant": point.variant,
                "twin": point.twin,
                "factors": point.factors,
                "state": "cannot_run",
                "reason": reason,
            }
    return found


def evidence() -> list[dict[str, Any]]:
    """What benchbook/build/link_limits.py and benchbook/evidence/oversized_runs.py report."""
    return [
        _limit("gcc-O3", "-O3", "limited", 682 * MIB),
        _limit("gcc-O3-small", "-O3 -mcmodel=small", "limited", 682 * MIB),
        _limit("gcc-O3-medium", "-O3 -mcmodel=medium", "every_size", 2**40),
        _limit("no-pic", "-O3 -fno-pic", "no_size", None),
        _limit("clang-O3", "-O3", "cannot_run", None),
        _limit("published", "-O3 -fno-pic -mcmodel=large", "every_size", 2**40),
        _trial("heap arrays of twice the memory", 8 * GIB, 1, None, "malloc <gave> no memory"),
        _trial("static arrays of twice the memory", 8 * GIB, None, 11, "ended by signal 11"),
        _trial("heap arrays that fit", 64 * MIB, 0, None, "ran, and passed its check"),
        {
            **_trial("arrays of another compiler", None, None, None, "'x' is not on PATH"),
            "outcome": "not_tried",
            "state": "absent",
        },
    ]


def _limit(variant: str, flags: str, outcome: str, links: int | None) -> dict[str, Any]:
    fails = {"limited": (links or 0) + MIB, "no_size": MIB}.get(outcome)
    words = LINKER if fails else ""
    reason = "compiler 'clang' is not on PATH" if outcome == "cannot_run" else "as searched"
    return {
        "experiment": "stream",
        "point": "",
        "name": "largest static array",
        "value": links,
        "unit": "bytes",
        "source": "compiler and linker",
        "state": "absent" if outcome == "cannot_run" else "ok",
        "define": "STREAM_BYTES",
        "arrays": 3,
        "most_bytes": 2**40,
        "variant": variant,
        "compiler": "clang" if variant.startswith("clang") else "gcc",
        "compiler_version": None,
        "flags": flags.split(),
        "outcome": outcome,
        "links_bytes": links,
        "fails_bytes": fails,
        "status": 1 if fails else None,
        "message": words,
        "reason": reason,
    }


def _trial(
    text: str, size: int | None, status: int | None, signal: int | None, reason: str
) -> dict[str, Any]:
    return {
        "experiment": "stream",
        "point": "",
        "variant": "published",
        "name": f"trial: {text}",
        "value": status if signal is None else signal,
        "unit": "exit status" if signal is None else "signal",
        "source": f"trial under a limit of {ALLOWED_BYTES} bytes of address space",
        "state": "ok",
        "bytes": size,
        "needed_bytes": None if size is None else 3 * size,
        "memory_bytes": MEMORY_BYTES,
        "limit_bytes": ALLOWED_BYTES,
        "exit_status": status,
        "signal": signal,
        "outcome": "ok" if status == 0 else "failed",
        "reason": reason,
        "command": [],
    }
