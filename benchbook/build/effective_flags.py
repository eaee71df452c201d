"""What reached the compiler proper, and whether a wrapper on the way there changed the flags.

The compiler is asked by -###, which starts nothing: no binary changes by looking. The same command
line is then given to the compiler that the wrapper starts, so that what a driver itself makes of a
flag (-march=native becomes many), and what a distribution built into it, is no change.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 120
_DRIVER = re.compile(r"(?m)^COLLECT_GCC=(.+)$")
_TAKES_ANY = ("-target-feature", "-mllvm")  # their value may begin with a dash
# Where files are, what is said and debug data: none of it changes code.
_NO_CODE = re.compile(
    r"-(W.*|w|g\d?|[IBLox]|-?sysroot|isysroot|i(system|dirafter|quote|prefix|multiarch)"
    r"|(internal-(externc-)?|c-|cxx-|objc-|objcxx-)isystem|no(std|builtin)\w*inc|resource-dir|quiet|dump\S*|auxbase\S*"
    r"|main-file-name|frandom-seed|f[\w-]*(prefix-map|compilation-dir)|ferror-limit"
    r"|f(no-)?(color-diagnostics|diagnostics\S*))"
)
# Options that undo each other: the last one counts.
_FAMILIES = (
    (re.compile(r"-O.*"), "-O"),
    (re.compile(r"-f(no-)?(pic|pie)", re.IGNORECASE), "-fpic"),
    (re.compile(r"-[DU] ?([^= ]+).*"), r"-D\1"),
    (re.compile(r"--param[= ]([^= ]+).*"), r"--param \1"),
    (re.compile(r"-target-feature [+-](.+)"), r"-target-feature \1"),
    (re.compile(r"-([fm])(?:no-)?([^= ]+).*"), r"-\1\2"),
    (re.compile(r"([^= ]+).*"), r"\1"),
)
_HARDENING = re.compile(
    r"-O.*|-f(PIC|PIE|stack-protector\S*|stack-clash-protection|cf-protection\S*"
    r"|no-strict-overflow|wrapv|zero-call-used-regs=\S*|trivial-auto-var-init=\S*)"
    r"|-D ?_(FORTIFY_SOURCE|GLIBCXX_ASSERTIONS)\S*"
)
_NATIVE = re.compile(r"-m(arch|cpu|tune)=native")
_ANY_CPU = ("x86-64", "generic", "armv8-a")
Settled = dict[str, str]


@dataclass(frozen=True)
class Line:
    """One compile without its flags: the compiler (a wrapper's words before it), and the rest."""

    compiler: list[str]
    source: Path
    rest: list[str]

    def started(self, flags: list[str], compiler: list[str] | None = None) -> tuple[list[str], str]:
        """The command line of the compiler proper, and the driver that would start it; empty where
        neither is told."""
        command = [*(compiler or self.compiler), "-###", *flags, *self.rest]
        try:
            result = subprocess.run(
                [*command, "-c", str(self.source), "-o", "/dev/null"],
                env={**os.environ, "LC_ALL": "C"},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return [], ""
        for line in result.stderr.splitlines():
            words = shlex.split(line) if "cc1" in line else []
            if words and ("-cc1" in words or "cc1" in Path(words[0]).name):
                driver = _DRIVER.search(result.stderr)
                end = words.index("-o") if "-o" in words else len(words)
                kept = words[:end] + words[end + 2 :]  # its output is a random temporary file
                return kept, driver[1] if driver else words[0] if "-cc1" in words else ""
        return [], ""


def look(line: Line, flags: list[str]) -> dict[str, Any]:
    """For variant.json: `effective`, the command line of the compiler proper, and `wrapper`.

    wrapper: {state, compiler, dropped, added, decided_by, reason}. state is none (nothing stands
    before the compiler), unchanged, changed or unknown; compiler is the one that the wrapper
    starts; dropped are flags that were asked for, or that it sets by itself; added are options of
    the compiler proper. decided_by is `compiler` where its own expansion was compared, `meaning`
    where it was not found.
    """
    words, named = line.started(flags)
    place = str(line.source.parent.parent)
    effective = {"effective": [word.replace(place, "kernels") for word in words]}
    unchanged: dict[str, Any] = {
        "compiler": None,
        "dropped": [],
        "added": [],
        "decided_by": "",
        "reason": "",
    }
    if not words:
        reason = "the compiler does not show with -### what it would run"
        return {**effective, "wrapper": {**unchanged, "state": "unknown", "reason": reason}}
    driver = _driver(line, named)
    if driver and len(line.compiler) == 1 and _same(driver, line.compiler[0]):
        return {**effective, "wrapper": {**unchanged, "state": "none", "compiler": driver}}
    if driver and line.started(flags, [driver])[0]:
        dropped, added = _against_own(line, flags, words, driver)
        decided_by = "compiler"
    else:
        dropped, added = _by_meaning(flags, settled(words, line.source))
        decided_by = "meaning"
    return {
        **effective,
        "wrapper": {
            "state": "changed" if dropped or added else "unchanged",
            "compiler": driver,
            "dropped": dropped,
            "added": added,
            "decided_by": decided_by,
            "reason": "",
        },
    }


def settled(words: Iterable[str], source: Path | None = None) -> Settled:
    """What a command line comes to: family of options -> the last option of it that changes code.

    The first word, the compiler, is no option.
    """
    last: Settled = {}
    left = [word for word in list(words)[1:] if word != str(source)]
    while left:
        option = left.pop(0)
        if left and (option in _TAKES_ANY or not left[0].startswith("-")):
            option = f"{option} {left.pop(0)}"
        if not _NO_CODE.fullmatch(re.split("[= ]", option)[0]) and not _joined_path(option):
            pattern, family = next(family for family in _FAMILIES if family[0].fullmatch(option))
            last[pattern.sub(family, option)] = option
    return last


def _joined_path(option: str) -> bool:
    return option.startswith(("-I", "-B", "-L")) or not option.startswith("-")


def _driver(line: Line, named: str) -> str | None:
    """The compiler behind a wrapper; None where what it calls itself leads back to the wrapper."""
    path = shutil.which(named) if named else None
    if path is None:
        return None
    command = line.compiler[0]
    with Path(command).open("rb") as file:
        script = file.read(2) == b"#!"
    return None if script and _same(path, command) else str(Path(path).absolute())


def _same(left: str, right: str) -> bool:
    return Path(left).resolve() == Path(right).resolve()


def _against_own(
    line: Line, flags: list[str], words: list[str], driver: str
) -> tuple[list[str], list[str]]:
    """(dropped, added): what reached the compiler against what it makes of the flags by itself."""

    def own(some: list[str]) -> Settled:
        return settled(line.started(some, [driver])[0], line.source)

    reached, wanted = settled(words, line.source), own(flags)
    if reached == wanted:
        return [], []
    dropped = []
    for flag in dict.fromkeys(flags):
        without = own([other_flag for other_flag in flags if other_flag != flag])
        brought = {key: text for key, text in wanted.items() if without.get(key) != text}
        # What a flag turns on beside itself may be turned off again without dropping the flag.
        brought = {key: text for key, text in brought.items() if text == flag} or brought
        if without and any(reached.get(key) != text for key, text in brought.items()):
            dropped.append(flag)
    # Defaults that take the place of a dropped flag are its consequence, not a wrapper's addition.
    left = own([flag for flag in flags if flag not in dropped])
    dropped += [text for key, text in left.items() if key not in reached]
    return dropped, [text for key, text in reached.items() if left.get(key) != text]


def _by_meaning(flags: list[str], reached: Settled) -> tuple[list[str], list[str]]:
    """(dropped, added) where the compiler behind a wrapper cannot be asked: each flag must be
    there, and what is there unasked counts where it is known to harden or to optimise."""
    wanted = settled(["", *flags])
    dropped = [
        text
        for key, text in wanted.items()
        if re.match(r"-[OfmDU]", text) and not _kept(key, text, reached)
    ]
    added = [
        text for key, text in reached.items() if _HARDENING.fullmatch(text) and key not in wanted
    ]
    return dropped, added


def _kept(key: str, text: str, reached: Settled) -> bool:
    there = reached.get(key, "")
    if _NATIVE.fullmatch(text):
        return bool(there) and there.partition("=")[2] not in _ANY_CPU
    return there.replace(" ", "") == text.replace(" ", "")
