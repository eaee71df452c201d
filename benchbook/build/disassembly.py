"""What the compiler made of the timed functions: library calls, loads and stores in loops,
instruction set, where the data lies that they name themselves.

Read from the kernel's own object files with objdump, relocations included, because a call of a
library function is only a relocation there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook.build import instructions
from benchbook.build.instructions import Instruction

_FUNCTION = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
_RELOCATION = re.compile(r"^\s*[0-9a-f]+:\s+(R_\S+)\s+([A-Za-z_][\w.]*)")
# With -mcmodel=large the address is loaded first and called by a register afterwards.
_LOADED = re.compile(r"PLTOFF|GOT(64|PLT)")
# Without position independence that is any address, of data too: which one is called, its register
# tells.
_ADDRESS = "R_X86_64_64"
_INDIRECT = re.compile(r"^(call|jmp)$")
# Data may be named by its section.
_NAMED = re.compile(r"^\s*[0-9a-f]+:\s+R_\S+\s+(\.?[A-Za-z_][\w.$]*)")
_SYMBOL = re.compile(r"^[0-9a-f]+ .{7} (\S+)\t[0-9a-f]+ (?:\.\w+ )?(\S+)$")
_WRITABLE = re.compile(r"^(\.l?(?:bss|data))(?:\.(?!rel\.ro)|$)")
_COMMON = {"*COM*": ".bss", "LARGE_COMMON": ".lbss"}  # where linkers put what lies in these
_PREFIX = "timed_"
# How OpenMP shares a loop among threads; no call of the loop's own.
RUNTIME = ("omp_", "GOMP_", "__kmpc_")
# A loop that OpenMP shares among threads becomes a function of its own. GCC's has the name of the
# function it was in; clang's is known by its address, which that function hands over.
_OUTLINED = ".omp_outlined."
_REFERENCE = re.compile(r"<(\.omp_outlined\.[^>+]*)>|\.text\+0x([0-9a-f]+)")


@dataclass
class Body:
    """What the machine code of one timed function does."""

    calls: list[str] = field(default_factory=list)  # of library functions, or jumps to them
    loop_loads: int = 0  # instructions inside its loops that read memory
    loop_stores: int = 0  # that write to it
    widest: int = 0  # bytes that one of these moves at most; 8: words, no vectors
    streamed: list[str] = field(default_factory=list)  # stores past the caches, anywhere in it
    repeated: list[str] = field(default_factory=list)  # loops in one instruction
    sections: list[str] = field(default_factory=list)  # of data that it names, not of what it gets
    operands: str = ""

    def record(self) -> dict[str, Any]:
        """The facts of this function, as variant.json carries them."""
        return {
            "library_calls": self.calls,
            "loads_in_loop": self.loop_loads,
            "stores_in_loop": self.loop_stores,
            "widest_access_bytes": self.widest,
            "non_temporal_stores": self.streamed,
            "string_instructions": self.repeated,
            "data_sections": self.sections,
            "isa": isa({"": self}),
        }


def timed_functions(objects: list[Path]) -> dict[str, Body]:
    """Disassemble object files; the functions whose names begin with `timed_`.

    Empty where objdump is missing: then nothing is known, and nothing is claimed.
    """
    objdump = shutil.which("objdump")
    if objdump is None:
        return {}
    texts = [_disassembled(objdump, path) for path in objects]
    defined: dict[str, str] = {}
    for text in texts:
        defined |= data_sections(text)
    return {name: body for text in texts for name, body in parse(text, defined).items()}


def _disassembled(objdump: str, path: Path) -> str:
    command = [objdump, "-tdr", "--no-show-raw-insn", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout


def data_sections(text: str) -> dict[str, str]:
    """Symbol -> the writable section that it lies in, or will; sections stand for themselves."""
    sections: dict[str, str] = {}
    for section, name in filter(None, map(_symbol, text.splitlines())):
        place = _WRITABLE.match(_COMMON.get(section, section))
        if place:
            sections[name] = place.group(1)
    return sections


def _symbol(line: str) -> tuple[str, str] | None:
    match = _SYMBOL.match(line)
    return (match[1], match[2]) if match else None


def parse(text: str, defined: dict[str, str] | None = None) -> dict[str, Body]:
    """Parse `objdump -tdr --no-show-raw-insn`.

    `defined` are the data_sections of all objects that belong together, if there are several.
    """
    known = data_sections(text) if defined is None else defined
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
            parts = [_body(part, known) for part in (lines, *(functions[loop] for loop in loops))]
            base = name.split(".")[0]
            bodies[base] = _united([bodies[base], *parts] if base in bodies else parts)
    return bodies


def _outlined_by(lines: list[str], outlined: dict[int, str]) -> list[str]:
    """The functions of clang's that these lines hand the address of."""
    references = [match.groups() for line in lines for match in _REFERENCE.finditer(line)]
    names = [name or outlined.get(int(address, 16), "") for name, address in references]
    return [name for name in dict.fromkeys(names) if name in outlined.values()]


def _united(parts: list[Body]) -> Body:
    def all_of(name: str) -> list[str]:
        return list(dict.fromkeys(value for part in parts for value in getattr(part, name)))

    return Body(
        calls=all_of("calls"),
        loop_loads=sum(part.loop_loads for part in parts),
        loop_stores=sum(part.loop_stores for part in parts),
        widest=max((part.widest for part in parts), default=0),
        streamed=all_of("streamed"),
        repeated=all_of("repeated"),
        sections=all_of("sections"),
        operands=" ".join(part.operands for part in parts),
    )


def _body(lines: list[str], strings: dict[str, str]) -> Body:
    body = Body()
    code: list[Instruction] = []
    loaded: list[str] = []
    held: dict[str, str] = {}
    for line in lines:
        if named := _NAMED.match(line):
            body.sections += [strings[named[1]]] if named[1] in strings else []
        if relocation := _RELOCATION.match(line):
            kind, symbol = relocation.groups()
            if code and code[-1].is_branch:
                body.calls.append(symbol)
            elif _LOADED.search(kind):
                loaded.append(symbol)
            elif kind == _ADDRESS and code:
                held[code[-1].operands.rpartition(",")[2]] = symbol
        elif instruction := instructions.parse(line):
            code.append(instruction)
            called = held.get(instruction.operands.removeprefix("*"))
            if _INDIRECT.match(instruction.mnemonic) and called:
                body.calls.append(called)
    if any(
        _INDIRECT.match(instruction.mnemonic) and instruction.operands.startswith("*")
        for instruction in code
    ):
        # _GLOBAL_OFFSET_TABLE_ is how the addresses are found, not what is called.
        body.calls += [name for name in loaded if not name.startswith("_GLOBAL")]
    in_loops = [(loop, *loop.accesses()) for loop in _in_loops(code)]
    body.loop_loads = sum(reads for _, reads, _ in in_loops)
    body.loop_stores = sum(writes for _, _, writes in in_loops)
    widths = (instruction.width_bytes for instruction, reads, writes in in_loops if reads or writes)
    body.widest = max(widths, default=0)
    body.streamed = [instruction.name for instruction in code if instruction.is_streamed]
    body.repeated = [instruction.name for instruction in code if instruction.is_repeated]
    body.operands = " ".join(instruction.operands for instruction in code)
    return _united([body])


def _in_loops(code: list[Instruction]) -> list[Instruction]:
    """Those between the target of a backward jump and the jump, and loops in one instruction."""
    first = code[0].address if code else 0
    loops = [
        (instruction.jumps_to, instruction.address)
        for instruction in code
        if instruction.jumps_to is not None and first <= instruction.jumps_to <= instruction.address
    ]
    return [
        instruction
        for instruction in code
        if instruction.is_repeated
        or any(start <= instruction.address <= end for start, end in loops)
    ]


def function_of(factors: dict[str, Any], names: Collection[str]) -> str:
    """The timed function of a point: `timed_<method>`, followed by the values of its factors in
    words as far as `known` has such a function, else by such a value alone (methods that share a
    function), else the only one there that begins like it."""
    words = [_plain(word) for key, word in factors.items() if key != "method"]
    words = [word for word in words if not word.isdigit()]
    base = _PREFIX + _plain(factors["method"]) if "method" in factors else _PREFIX.rstrip("_")
    full = "_".join([base, *words])
    for name in (full, *(f"{base}_{word}" for word in words), base):
        if name in names:
            return name
    for word in words:
        if _PREFIX + word in names:
            return _PREFIX + word
    begins = [name for name in names if name.startswith(f"{base}_")]
    return begins[0] if len(begins) == 1 else full


def _plain(word: Any) -> str:
    return re.sub(r"\W", "_", str(word))


def isa(bodies: dict[str, Body]) -> list[str]:
    """Vector registers that the timed functions really use, widest first."""
    text = " ".join(body.operands for body in bodies.values())
    widths = (("%zmm", "AVX-512"), ("%ymm", "AVX"), ("%xmm", "SSE2"), (" q", "NEON"))
    return [name for register, name in widths if register in text]
