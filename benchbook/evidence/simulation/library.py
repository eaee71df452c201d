"""How the C library of a program copies on this host: by ordinary loads and stores, or in a way
that cachegrind does not model. It decides by thresholds, which its loader prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from benchbook.core.sizes import format_bytes
from benchbook.evidence import memcpy_thresholds
from benchbook.host import facts

# Under cachegrind it is made to copy in the ordinary way, whatever that shows it of a processor.
ORDINARY = "GLIBC_TUNABLES=" + ":".join(
    f"glibc.cpu.x86_{name}_threshold={1 << 40}"
    for name in ("rep_movsb", "rep_stosb", "non_temporal")
)
_COPIES = re.compile(r"_*(mem(cpy|pcpy|move|set)|bcopy|bzero)(_chk)?(@.*)?")
_FILLS = re.compile(r"_*(memset|bzero)")
_PLAIN = {"LC_ALL": "C"}  # a tunable of the user's reaches no kernel either


@dataclass(frozen=True)
class Library:
    """Thresholds in bytes by their names (libc.THRESHOLDS, libc.FILLING); empty: unknown."""

    thresholds: dict[str, int]
    strings: bool  # the processor has fast rep movsb

    def unmodelled(self, calls: list[str], size: int) -> str:
        """Why traffic of these library calls, of `size` bytes each, is not simulated; or empty."""
        copies = [call for call in calls if _COPIES.fullmatch(call)]
        for call in copies:
            name = call.strip("_").removesuffix("_chk")
            if not self.thresholds:
                return f"how {name} of the C library copies here is unknown"
            copying, _, past = memcpy_thresholds.THRESHOLDS
            ways = [(past, memcpy_thresholds.PAST)]
            if self.strings:
                fills = _FILLS.match(call)
                ways.append(
                    (memcpy_thresholds.FILLING, "rep stosb")
                    if fills
                    else (copying, memcpy_thresholds.STRING)
                )
            for threshold, way in ways:
                least = self.thresholds.get(threshold)
                if least is None or size >= least:
                    above = "" if least is None else f" (from {format_bytes(least)} on)"
                    return (
                        f"{name} of the C library moves {format_bytes(size)} by {way} here{above}"
                    )
        return ""


def copies(calls: list[str]) -> bool:
    """Whether any of these library functions moves memory."""
    return any(_COPIES.fullmatch(call) for call in calls)


def library_of(program: Path) -> Library:
    """What is known of the C library that a program is started with."""
    loader = memcpy_thresholds.loader_of(str(program.absolute()))
    thresholds = memcpy_thresholds.copy_thresholds(loader, _PLAIN) if loader else {}
    return Library(
        thresholds, strings=bool(memcpy_thresholds.FAST_STRINGS & set(facts.facts()["isa"] or []))
    )
