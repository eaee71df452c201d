"""valgrind, and its simulation of caches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchbook.host import tools
from benchbook.host.capabilities.known_loop import INSTRUCTIONS
from benchbook.host.capabilities.place import Capability, Place, able, first, missing
from benchbook.host.sysfs import read_text

NAMES = ("cachegrind", "valgrind")
PROGRAMS = ("valgrind",)
FILES = ()
_CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")


def look(place: Place) -> Iterator[Capability]:
    """Cachegrind must count the known loop to the last instruction."""
    if first(PROGRAMS) is None:
        yield from (missing(name, "valgrind") for name in NAMES)
        return
    yield _cachegrind(place)
    version = tools.version("valgrind")
    if version:
        yield able("valgrind", version)
    else:
        yield Capability("valgrind", "absent", "valgrind does not tell its version")


def _cachegrind(place: Place) -> Capability:
    if place.no_loop:
        return Capability("cachegrind", "absent", place.no_loop)
    file = place.folder / "cachegrind.out"
    options = ("--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={file}")
    answer = place.ask("valgrind", *options, *_CACHES, "./loop")
    summary = re.search(r"(?m)^summary:\s+(\d+)", read_text(file) or "")
    if summary is None:
        return Capability("cachegrind", "absent", answer.why("valgrind --tool=cachegrind"))
    sentence = f"cachegrind counts {int(summary[1]):,} instructions in a loop of {INSTRUCTIONS:,}"
    if int(summary[1]) == INSTRUCTIONS:
        return able("cachegrind", sentence)
    return Capability("cachegrind", "absent", sentence)
