"""What the compiler made of the timed functions: library calls, loads in loops, instruction set.

Read from the kernel's own object files with objdump, relocations included, because a call of a
library function is only a relocation there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_FUNCTION = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(?:[a-z]+ )*?([a-z][a-z0-9.]*)\s*(.*)$")
_RELOCATION = re.compile(r"^\s*[0-9a-f]+:\s+(R_\S+)\s+([A-Za-z_][\w.]*)")
# With -mcmodel=large the address is loaded first and called by a register afterwards.
_LOADED = re.compile(r"PLTOFF|GOT(64|PLT)")
# Without position independence that is any address, of data too: which one is called, its register
# tells.
_ADDRESS = "R_X86_64_64"
_INDIRECT = re.compile(r"^(call|jmp)$")
_TARGET = re.compile(r"^([0-9a-f]+)\s+<([^>+]+)\+0x[0-9a-f]+>")
_BRANCHES = re.compile(r"^(call|j[a-z]+|bl|b|b\.\w+|cbn?z|tbn?z)$")
_PREFIX = "timed_"
# A loop that OpenMP shares among threads becomes a function of its own. GCC's has the name of the
# function it was in; clang's is known by its address, which that function hands over.
_OUTLINED = ".omp_outlined."
_REFERENCE = re.compile(r"<(\.omp_outlined\.[^>+]*)>|\.text\+0x([0-9a-f]+)")


@dataclass
class Body:
    """One timed function: library functions it calls or jumps to, and loads inside its loops."""

    calls: list[str] = field(default_factory=list)
    loop_loads: int = 0
    operands: str = ""


def timed_functions(objects: list[Path]) -> dict[str, Body]:
    """Disassemble object files; the functions whose names begin with `timed_`.

    Empty where objdump is missing: then nothing is known, and nothing is claimed.
    """
    objdump = shutil.which("objdump")
    if objdump is None:
        return {}
    found: dict[str, Body] = {}
    for path in objects:
        text = subprocess.run(
            [objdump, "-dr", "--no-show-raw-insn", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        ).stdout
        found |= parse(text)
    return found


def parse(text: str) -> dict[str, Body]:
    """Parse `objdump -dr --no-show-raw-insn`."""
    functions: dict[str, list[str]] = {}
    outlined: dict[int, str] = {}
    for line in text.splitlines():
        if head := _FUNCTION.match(line):
            address, name = head.groups()
            functions[name] = []
            if name.startswith(_OUTLINED):
                outlined[int(address, 16)] = name
        elif functions:
            functions[name].append(line)
    bodies: dict[str, Body] = {}
    for name, lines in functions.items():
        if name.startswith(_PREFIX):
            loops = _outlined_by(lines, outlined)
            parts = [_body(part) for part in (lines, *(functions[loop] for loop in loops))]
            base = name.split(".")[0]
            bodies[base] = _united([bodies[base], *parts] if base in bodies else parts)
    return bodies


def _outlined_by(lines: list[str], outlined: dict[int, str]) -> list[str]:
    """The functions of clang's that these lines hand the address of."""
    found = [match.groups() for line in lines for match in _REFERENCE.finditer(line)]
    names = [name or outlined.get(int(address, 16)) for name, address in found]
    return [name for name in dict.fromkeys(names) if name in outlined.values()]


def _united(parts: list[Body]) -> Body:
    return Body(
        calls=list(dict.fromkeys(call for part in parts for call in part.calls)),
        loop_loads=sum(part.loop_loads for part in parts),
        operands=" ".join(part.operands for part in parts),
    )


def _body(lines: list[str]) -> Body:
    body = Body()
    instructions: list[tuple[int, str, str]] = []
    loaded: list[str] = []
    held: dict[str, str] = {}
    for line in lines:
        if relocation := _RELOCATION.match(line):
            kind, symbol = relocation.groups()
            branch = instructions and _BRANCHES.match(instructions[-1][1])
            if branch and symbol not in body.calls:
                body.calls.append(symbol)
            elif _LOADED.search(kind):
                loaded.append(symbol)
            elif kind == _ADDRESS and instructions:
                held[instructions[-1][2].rpartition(",")[2]] = symbol
        elif instruction := _INSTRUCTION.match(line):
            address, mnemonic, operands = instruction.groups()
            instructions.append((int(address, 16), mnemonic, operands))
            called = held.get(operands.removeprefix("*"))
            if _INDIRECT.match(mnemonic) and called and called not in body.calls:
                body.calls.append(called)
    if any(_INDIRECT.match(name) and where.startswith("*") for _, name, where in instructions):
        # _GLOBAL_OFFSET_TABLE_ is how the addresses are found, not what is called.
        called_too = [name for name in loaded if not name.startswith("_GLOBAL")]
        body.calls = list(dict.fromkeys(body.calls + called_too))
    body.loop_loads = _loads_in_loops(instructions)
    body.operands = " ".join(operands for _, _, operands in instructions)
    return body


def _loads_in_loops(instructions: list[tuple[int, str, str]]) -> int:
    """Instructions that read memory between the target of a backward branch and the branch."""
    loops = []
    for address, mnemonic, operands in instructions:
        target = _TARGET.match(operands)
        if target and _BRANCHES.match(mnemonic) and int(target.group(1), 16) <= address:
            loops.append((int(target.group(1), 16), address))
    return sum(
        1
        for address, mnemonic, operands in instructions
        if any(start <= address <= end for start, end in loops) and _is_load(mnemonic, operands)
    )


def _is_load(mnemonic: str, operands: str) -> bool:
    if mnemonic.startswith("ld"):  # aarch64
        return True
    if mnemonic.startswith(("lea", "nop", "prefetch")) or "(" not in operands:
        return False
    # AT&T order: the last operand is written; a memory operand before it is read.
    source, _, _ = operands.rpartition(",")
    return "(" in source and source.count("(") == source.count(")")


def isa(bodies: dict[str, Body]) -> list[str]:
    """Vector registers that the timed functions really use, widest first."""
    text = " ".join(body.operands for body in bodies.values())
    widths = (("%zmm", "AVX-512"), ("%ymm", "AVX"), ("%xmm", "SSE2"), (" q", "NEON"))
    return [name for register, name in widths if register in text]
