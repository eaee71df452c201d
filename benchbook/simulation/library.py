"""How the C library of a program copies on this host: by ordinary loads and stores, or in a way
that cachegrind does not model. It decides by thresholds, which its loader prints."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchbook import host, tools
from benchbook.sizes import format_bytes

# Under cachegrind it is made to copy in the ordinary way, whatever that shows it of a processor.
ORDINARY = "GLIBC_TUNABLES=" + ":".join(
    f"glibc.cpu.x86_{name}_threshold={1 << 40}"
    for name in ("rep_movsb", "rep_stosb", "non_temporal")
)
_COPIES = re.compile(r"_*(mem(cpy|pcpy|move|set)|bcopy|bzero)(_chk)?(@.*)?")
_FILLS = re.compile(r"_*(memset|bzero)")
_INTERPRETER = re.compile(r"interpreter: ([^\]]+)\]")
_THRESHOLD = re.compile(r"^glibc\.cpu\.x86_(\w+)_threshold: (0x[0-9a-f]+|\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Library:
    """Thresholds in bytes by their names (rep_movsb, rep_stosb, non_temporal); empty: unknown."""

    thresholds: dict[str, int]
    strings: bool  # the processor has fast rep movsb

    def unmodelled(self, calls: list[str], size: int) -> str:
        """Why traffic of these library calls, of `size` bytes each, is not simulated; or empty."""
        copies = [call for call in calls if _COPIES.fullmatch(call)]
        for call in copies:
            name = call.strip("_").removesuffix("_chk")
            if not self.thresholds:
                return f"how {name} of the C library copies here is unknown"
            string = "rep_stosb" if _FILLS.match(call) else "rep_movsb"
            ways = [("non_temporal", "non-temporal stores")]
            if self.strings:
                ways.append((string, string.replace("_", " ")))
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
    """Of the C library that a program is started with."""
    isa = host.facts()["isa"] or []
    return Library(thresholds_in(_tunables(program)), strings="erms" in isa or "fsrm" in isa)


def thresholds_in(text: str) -> dict[str, int]:
    """What `ld.so --list-tunables` printed; empty where that is not understood."""
    return {name: int(value, 0) for name, value in _THRESHOLD.findall(text)}


def _tunables(program: Path) -> str:
    readelf = shutil.which("readelf")
    if readelf is None:
        return ""
    plain = {"LC_ALL": "C"}  # a tunable of the user's reaches no kernel either
    found = _INTERPRETER.search(tools.said([readelf, "-lW", str(program)], plain))
    return tools.said([found[1], "--list-tunables"], plain) if found else ""
