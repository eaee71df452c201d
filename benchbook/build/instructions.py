"""Single instructions as objdump prints them: what they read, write, and by which way."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PREFIX = r"(?:rep[nz]*|repn?e|lock|bnd|notrack|data16|addr32|rex\S*|[c-gs]s|\{\w+\})"
_LINE = re.compile(rf"^\s*([0-9a-f]+):\s+((?:{_PREFIX}\s+)*)([a-z][a-z0-9.]*)\s*(.*)$")
_TARGET = re.compile(r"^(?:.*,\s*)?([0-9a-f]+)\s+<[^>]+>")
_BRANCH = re.compile(r"^(call|j[a-z]+|bl|b|b\.\w+|cbn?z|tbn?z)$")
_JUMP = re.compile(r"^(?!call$|bl$)")
# A memory operand may be an address alone; one that is jumped to is none.
_MEMORY = re.compile(r"\(|^(%[c-gs]s:)?-?0x[0-9a-f]+$")
_SILENT = re.compile(r"^(lea|nop|prefetch|call|j[a-z]|ret|endbr|clflush|clwb|enter|xbegin)")
# AT&T order: the last operand is written, but by these, which only read it,
_READS_LAST = re.compile(r"^((cmp|test|bt)[bwlq]?|push[a-z]*|i?mul[bwlq]?|i?div[bwlq]?|f[a-z]+)$")
# and these write it without having read it.
_WRITES_LAST = re.compile(
    r"^(v?p?mov|v?p?maskmov|set|stos|v?p?extr|v?extract|v?cvt|v?p?compress|v?p?scatter|pop"
    r"|f(n?st|ist)|stmxcsr)"
)
_STREAMED = re.compile(r"^(v?movnt(?!dqa)\w+|v?maskmov(q|dqu)|stnp)$")
_VECTORS = (("%zmm", 64), ("%ymm", 32), ("%xmm", 16))
_NEON = re.compile(r"\b[qvz]\d")
# One element of a vector register, or its half.
_SCALAR = re.compile(r"^(v?(mov[dq]|mov[lh]p[sd]|pinsr\w|pextr\w)|(?!v?p)\w*s[sd](2si)?[lq]?)$")
WORD_BYTES = 8


@dataclass(frozen=True)
class Instruction:
    """One line of a disassembly."""

    address: int
    prefix: str  # `rep`, or several with a blank between them
    mnemonic: str
    operands: str  # with objdump's comment

    @property
    def is_branch(self) -> bool:
        """Whether it is a jump or a call."""
        return bool(_BRANCH.match(self.mnemonic))

    @property
    def jumps_to(self) -> int | None:
        """The address that a jump (no call) names; None where it names none."""
        target = _TARGET.match(self.operands)
        if target is None or not self.is_branch or not _JUMP.match(self.mnemonic):
            return None
        return int(target.group(1), 16)

    @property
    def is_repeated(self) -> bool:
        """Whether it is a loop in one instruction, like `rep movsb`."""
        return self.prefix.startswith("rep") and not _SILENT.match(self.mnemonic)

    @property
    def is_streamed(self) -> bool:
        """Whether it is a store that goes past the caches."""
        return bool(_STREAMED.match(self.mnemonic))

    @property
    def width_bytes(self) -> int:
        """How much one access of it may move: a vector, else at most a word."""
        if "[" in self.operands:  # aarch64
            return 16 if _NEON.search(self.operands) else WORD_BYTES
        if _SCALAR.match(self.mnemonic):
            return WORD_BYTES
        return next((size for name, size in _VECTORS if name in self.operands), WORD_BYTES)

    @property
    def name(self) -> str:
        """Mnemonic with its prefix: `rep movsb`, `vmovntpd`."""
        return f"{self.prefix} {self.mnemonic}".strip()

    def accesses(self) -> tuple[bool, bool]:
        """Whether it reads memory, and whether it writes to it; the stack's own are left out."""
        if _SILENT.match(self.mnemonic):
            return False, False
        if "[" in self.operands:  # aarch64
            atomic = self.mnemonic.startswith(("swp", "cas", "ldadd"))
            loads, stores = self.mnemonic.startswith("ld"), self.mnemonic.startswith("st")
            return loads or atomic, stores or atomic
        *sources, last = _split(self.operands.partition("#")[0]) or [""]
        reads = any(_MEMORY.search(source) for source in sources)
        if not _MEMORY.search(last):
            return reads, False
        if _WRITES_LAST.match(self.mnemonic):
            return reads, True
        if _READS_LAST.match(self.mnemonic):
            return True, False
        return True, True


def parse(line: str) -> Instruction | None:
    """The instruction of a line, or None where it is no such line."""
    match = _LINE.match(line)
    if match is None:
        return None
    address, prefix, mnemonic, operands = match.groups()
    return Instruction(int(address, 16), " ".join(prefix.split()), mnemonic, operands)


def _split(operands: str) -> list[str]:
    """At the commas outside of brackets."""
    return (
        [word.strip() for word in re.split(r",(?![^(]*\))", operands)] if operands.strip() else []
    )
