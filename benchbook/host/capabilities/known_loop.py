"""A program of which the number of instructions is known to the last one.

Written as machine code, so that neither a compiler nor a C library is needed: it counts a register
down to zero and ends.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

NAME = "loop"
INSTRUCTIONS = 4_000_004  # 2,000,000 times two, one or two to set up, three or two to end
_CODE = {
    # mov ecx, 2000000; dec ecx; jnz -2; xor edi, edi; mov eax, 60 (exit); syscall
    "x86_64": (62, "b980841e00ffc975fc31ffb83c0000000f05"),
    # mov w0, 33920; movk w0, 30, lsl 16; subs w0, w0, 1; b.ne -1; mov w8, 93 (exit); svc 0
    "aarch64": (183, "00909052c003a07200040071e1ffff54a80b8052010000d4"),
}
_START = 0x400000


def write(folder: Path, machine: str = "") -> str:
    """Write the program; returns why it is not there, empty where it is."""
    name = machine or os.uname().machine
    if name not in _CODE:
        return f"there is no loop of known length for {name}, so that no count can be checked"
    file = folder / NAME
    file.write_bytes(_elf(*_CODE[name]))
    file.chmod(0o755)
    return ""


def fits(count: float, over: float = 0.01) -> bool:
    """Whether a count is that of the loop, up to the share `over` (interruptions count)."""
    return INSTRUCTIONS * 0.99 <= count <= INSTRUCTIONS * (1 + over)


def _elf(machine: int, code: str) -> bytes:
    """The smallest file that Linux starts: a head, one segment, the instructions."""
    text = bytes.fromhex(code)
    start, size = _START + 120, 120 + len(text)
    head = (b"\x7fELF\2\1\1", 2, machine, 1, start, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = (1, 5, 0, _START, _START, size, size, 0x10000)  # readable, executable
    return struct.pack("<16sHHIQQQIHHHHHH", *head) + struct.pack("<IIQQQQQQ", *segment) + text
