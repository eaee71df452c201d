"""Compile and link: object files, the harness as an archive, programs.

What many variants have in common is compiled once: the harness, and files that the same compiler
compiles with the same flags. It lies in build/ under a hash of all that goes into it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

COMPILE_LIMIT_S = 120
# The harness is the same in every variant: a variant's flags are for the kernel's own files alone.
COMMON_FLAGS = ["-O2"]
# Code model and position independence belong to a whole program: all its objects must agree.
# The small code model is what every compiler takes unasked.
WHOLE_PROGRAM = re.compile(r"-(mcmodel=(?!small).+|f(no-)?(pic|pie)|(no-)?pie)", re.IGNORECASE)
# Our own alone: names of the compiler and the C library begin with an underscore, and NDEBUG is one
# of the library's.
MACRO = re.compile(r"-D(?!NDEBUG\b)([A-Za-z]\w*)")
INCLUDED = re.compile(r'^\s*#\s*include\s+"(?:.*/)?([^"/]+)"', re.MULTILINE)
ALWAYS = ["-std=gnu17", "-Wall", "-Wextra"]
LINK = ["-Wl,--build-id=none"]
_one_harness = threading.Lock()  # one thread compiles it, the others wait and use it


class BuildFailedError(Exception):
    """A compiler or linker said no; its words are the result, `status` is None for a time-out."""

    def __init__(self, reason: str, words: str = "", status: int | None = None) -> None:
        super().__init__(reason)
        self.words = words or reason
        self.status = status


@dataclass(frozen=True)
class Compiler:
    name: str
    path: str
    version: str
    target: str
    wrapper: tuple[str, ...] = ()  # a control's program that starts it, and that one's arguments

    @property
    def command(self) -> list[str]:
        """The words that a command line of this compiler begins with."""
        return [*self.wrapper, self.path]


def harness(compiler: Compiler, common: Path, flags: list[str], work: Path) -> Path:
    """The common files, compiled to go with a kernel's own that have these flags.

    As an archive, so that the probe, which has its own main, takes only what it calls; kept in
    build/harness under a hash of all that goes into it, because most variants share it. No wrapper
    has a hand in it.
    """
    compiler = replace(compiler, wrapper=())
    whole = [*COMMON_FLAGS, *(flag for flag in flags if WHOLE_PROGRAM.fullmatch(flag))]
    files = sorted(common.glob("*.[ch]"))
    kept = _kept(common, "harness", ".a", [*_of_compiler(compiler), whole, _contents(files)])
    with _one_harness:
        if not kept.exists():
            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                objects = list(
                    pool.map(
                        lambda file: object_file(compiler, file, whole, common, work),
                        [file for file in files if file.suffix == ".c"],
                    )
                )
            library = work / "libcommon.a"
            _run(["ar", "rcsD", str(library), *map(str, objects)])
            _keep(library, kept)
    return kept


def object_file(
    compiler: Compiler, source: Path, flags: list[str], include: Path, work: Path
) -> Path:
    """The object file of one source, compiled into `work`; `include` holds the common headers."""
    target = work / _object_name(source)
    _run([*compiler.command, *ALWAYS, *flags, f"-I{include}", "-c", str(source), "-o", str(target)])
    return _made(target, compiler)


def _object_name(source: Path) -> str:
    return f"{source.stem}{'-asm' if source.suffix == '.S' else ''}.o"


def shared_object(
    compiler: Compiler,
    source: Path,
    flags: list[str],
    include: Path,
    work: Path,
    entering: Sequence[Path],
    others: Any = None,
) -> Path:
    """`object_file`, compiled once for all variants that have this compiler and these flags.

    `entering` are all files that `source` may include; `others` tells what else it depends on, such
    as headers of libraries.
    """
    source = Path(os.path.normpath(source))
    own = _with_included(source, entering)
    flags = _that_matter(flags, own, entering)
    facts = [*_of_compiler(compiler), flags, str(source), _contents(own), others]
    kept = _kept(include, "objects", ".o", facts)
    target = work / _object_name(source)
    if kept.exists():
        shutil.copyfile(kept, target)
        return target
    _keep(object_file(compiler, source, flags, include, work), kept)
    return target


def _that_matter(flags: list[str], own: Sequence[Path], entering: Sequence[Path]) -> list[str]:
    """The flags without those that leave an object file of these own files as it is: one that is
    said twice in a row, and a macro that another of the entering files asks for, but none of its
    own. Macros of the compiler and of libraries stay."""
    asked = {file: _text(file) for file in {*own, *entering}}
    kept: list[str] = []
    for flag in flags:
        macro = MACRO.match(flag)
        askers = {file for file in asked if macro and _mentions(asked[file], macro[1])}
        if kept[-1:] != [flag] and not (askers and askers.isdisjoint(own)):
            kept.append(flag)
    return kept


def _with_included(source: Path, entering: Sequence[Path]) -> list[Path]:
    """A source and all of the entering files that it includes, directly or not."""
    reached, waiting = [source], [source]
    while waiting:
        named = set(INCLUDED.findall(_text(waiting.pop())))
        found = [file for file in entering if file.name in named and file not in reached]
        reached += found
        waiting += found
    return reached


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _of_compiler(compiler: Compiler) -> list[Any]:
    return [compiler.command, compiler.version, compiler.target, ALWAYS]


def _contents(files: Sequence[Path]) -> list[tuple[str, str]]:
    return [(str(file), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]


def _kept(common: Path, folder: str, ending: str, facts: list[Any]) -> Path:
    """Where in the checkout of `common` lies what was made of these facts."""
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    return common.parent.parent / "build" / folder / f"{digest[:16]}{ending}"


def _keep(made: Path, kept: Path) -> None:
    """Copy it there; beside it first, since another thread or process may be making the same."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    draft = kept.with_name(f"{kept.name}.{os.getpid()}-{threading.get_ident()}.part")
    shutil.copyfile(made, draft)
    draft.replace(kept)


def link(
    compiler: Compiler,
    objects: list[Path],
    flags: list[str],
    target: Path,
    libraries: Sequence[str] = (),
) -> Path:
    """Link a program out of objects and archives in this order, then libraries."""
    files = [*map(str, objects), "-o", str(target)]
    # Older C libraries keep what loads likwid's in one of its own.
    _run([*compiler.command, *flags, *LINK, *files, *libraries, "-lm", "-ldl", "-pthread"])
    return _made(target, compiler)


def _made(target: Path, compiler: Compiler) -> Path:
    if not target.exists():
        raise BuildFailedError(f"{compiler.path} ended with 0 and did not write {target.name}")
    return target


def _run(command: list[str]) -> None:
    try:
        result = subprocess.run(
            command,
            env={**os.environ, "LC_ALL": "C"},  # its words are searched, and kept
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMPILE_LIMIT_S,
            check=False,
        )
    except OSError as error:
        name = Path(command[0]).name
        raise BuildFailedError(f"{name} cannot be started ({error.strerror})") from None
    except subprocess.TimeoutExpired:
        raise BuildFailedError(f"the compiler took longer than {COMPILE_LIMIT_S} s") from None
    full = os.strerror(errno.ENOSPC)
    if result.returncode != 0 and full in result.stderr:  # no fault of the variant
        raise OSError(errno.ENOSPC, full, command[-1])
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        telling = [line for line in lines if re.search("error|relocation", line)]
        telling = [line for line in telling if "warning:" not in line] or lines
        words = telling[0].strip() if telling else "it said nothing"
        reason = f"{Path(command[0]).name} ended with {result.returncode}: {words}"
        raise BuildFailedError(reason, words, result.returncode)
