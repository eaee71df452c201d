"""likwid: its counters, and the regions that a program marks for it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from benchbook.host.capabilities.known_loop import INSTRUCTIONS, fits
from benchbook.host.capabilities.place import (
    Answer,
    Capability,
    Place,
    able,
    as_root,
    first,
    missing,
)
from benchbook.host.capabilities.probes.perf import OWN_PROGRAMS, PARANOID
from benchbook.host.sysfs import read_int

NAMES = ("likwid", "likwid markers")
COMPILERS = ("gcc", "clang", "cc")
PROGRAMS = ("likwid-perfctr", *COMPILERS)
SOURCES = "sys/bus/event_source/devices"
_CPU = min(os.sched_getaffinity(0))
MSR = f"dev/cpu/{_CPU}/msr"
DAEMONS = ("usr/sbin/likwid-accessD", "usr/local/sbin/likwid-accessD")
FILES = (MSR, PARANOID, *DAEMONS, "etc/ld.so.cache", "usr/include/likwid-marker.h")
_GROUP = "BRANCH"  # likwid has it for every CPU that it has a group for
_COUNTED = re.compile(
    r"(?m)^(?:INSTR_RETIRED_ANY|RETIRED_INSTRUCTIONS|INST(?:RUCTIONS)?_RETIRED),\w+,([^,\n]*)"
)
# All of a core is counted, so that other programs add to it; garbage is larger.
_OVER = 1000.0
_MARKED = """#define LIKWID_PERFMON
#include <likwid-marker.h>
int main(void) {
    LIKWID_MARKER_INIT;
    LIKWID_MARKER_START("loop");
    LIKWID_MARKER_STOP("loop");
    LIKWID_MARKER_CLOSE;
    return 0;
}
"""


def look(place: Place) -> Iterator[Capability]:
    """The tool and the library may be there without each other."""
    yield _counters(place)
    yield _markers(place)


def access(place: Place) -> tuple[str, ...]:
    """Options of likwid-perfctr that choose how it reaches the counters; none: by perf_event.

    Never the daemon where it has no rights: likwid waits ten seconds for it.
    """
    if "perf_event specific" in place.ask("likwid-perfctr", "-h").out:
        return ()
    direct = _opens(place.machine / MSR)
    return ("-M", "1" if not direct and any(map(_has_rights, _daemons(place))) else "0")


def _counters(place: Place) -> Capability:
    if first(["likwid-perfctr"]) is None:
        return missing("likwid", "likwid-perfctr")
    if place.no_loop:
        return Capability("likwid", "absent", place.no_loop)
    if _hidden(place) and not (place.machine / MSR).exists():
        return _nothing(place)  # neither way can lead anywhere, and likwid takes a second to say so
    options = access(place)
    command = ("likwid-perfctr", *options, "-C", str(_CPU), "-O", "-g", _GROUP)
    answer = place.ask(*command, "./loop")
    counted = _COUNTED.search(answer.out)
    if counted is None:
        return _unread(place, answer, options)
    how = f"likwid-perfctr {' '.join(options) or 'by perf_event'}"
    sentence = f"{how} counts {counted[1]} instructions in a loop of {INSTRUCTIONS:,}"
    try:
        good = fits(float(counted[1]), _OVER)
    except ValueError:
        good = False
    if good:
        return able("likwid", sentence, access_mode=int(options[1]) if options else None)
    return Capability("likwid", "absent", f"{place.no_counters} ({sentence})")


def _unread(place: Place, answer: Answer, options: tuple[str, ...]) -> Capability:
    level = read_int(place.machine / PARANOID)
    if not options and level is not None and level > OWN_PROGRAMS:
        return Capability(
            "likwid",
            "denied",
            f"kernel.perf_event_paranoid is {level}: only root may count",
            as_root(f"sysctl kernel.perf_event_paranoid={OWN_PROGRAMS}"),
        )
    if _hidden(place):
        return _nothing(place)
    if options and os.uname().machine == "x86_64":
        msr = place.machine / MSR
        if not msr.exists():
            reason = f"the kernel module msr is not loaded (there is no /{MSR})"
            return Capability("likwid", "absent", reason, as_root("modprobe msr"))
        if not _opens(msr):
            daemon = next((file for file in _daemons(place) if not _has_rights(file)), None)
            reason = f"/{MSR} may not be opened"
            if daemon is None:
                return Capability("likwid", "denied", f"{reason}, and root's rights are needed")
            where = daemon.relative_to(place.machine)
            remedy = as_root(f"chmod u+s /{where}")
            return Capability("likwid", "denied", f"{reason}; likwid's daemon could", remedy)
    return Capability(
        "likwid", "denied" if answer.refused else "absent", answer.why("likwid-perfctr")
    )


def _hidden(place: Place) -> bool:
    """Whether a hypervisor keeps the counters of the CPU from the kernel."""
    folder = place.machine / SOURCES
    if not place.guest or not folder.is_dir():
        return False
    return not any(re.match(r"cpu|armv\d", entry.name) for entry in folder.iterdir())


def _nothing(place: Place) -> Capability:
    reason = f"{place.no_counters} (no CPU among the event sources in /{SOURCES})"
    return Capability("likwid", "absent", reason)


def _opens(device: Path) -> bool:
    """As likwid opens it: a right on the file is not enough, the kernel asks for CAP_SYS_RAWIO."""
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _daemons(place: Place) -> list[Path]:
    return [file for file in (place.machine / name for name in DAEMONS) if file.is_file()]


def _has_rights(program: Path) -> bool:
    if program.stat().st_mode & stat.S_ISUID:
        return True
    try:
        return bool(os.getxattr(program, "security.capability"))
    except OSError:
        return False


def _markers(place: Place) -> Capability:
    name = "likwid markers"
    compiler = first(COMPILERS)
    if compiler is None:
        return missing(name, "gcc")
    made = place.folder / "marked"
    command = (compiler, "-x", "c", "-", "-llikwid", "-o", str(made))
    answer = place.ask(*command, said=_MARKED)
    if not made.exists():
        lacking = missing(name, "likwid-perfctr")
        reason = f"{compiler} finds no likwid-marker.h or no liblikwid"
        if answer.status is None or answer.status < 0:
            reason = answer.why(compiler)
        return Capability(name, "absent", reason, lacking.remedy)
    ran = place.ask(str(made))
    if ran.status != 0:
        return Capability(name, "absent", ran.why("a program with markers"))
    return able(name, f"{compiler} builds programs with markers, and they run")
