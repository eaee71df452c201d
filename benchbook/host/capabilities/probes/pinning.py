"""Whether a thread runs where it is told to."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

from benchbook.core import number_format
from benchbook.host.capabilities.place import Capability, Place, able

NAMES = ("pinning",)
PROGRAMS = ()
FILES = ()


def look(place: Place) -> Iterator[Capability]:
    """Move this thread, which ends soon, to each CPU in turn, and ask where it is."""
    allowed = sorted(os.sched_getaffinity(0))
    where = ctypes.CDLL(None).sched_getcpu
    wrong = []
    try:
        for cpu in allowed:
            os.sched_setaffinity(0, [cpu])
            if where() != cpu:
                wrong.append(cpu)
    except OSError as error:
        reason = f"sched_setaffinity is refused: {error.strerror}"
        yield Capability("pinning", "denied", reason)
        return
    finally:
        os.sched_setaffinity(0, allowed)
    if wrong:
        reason = f"a thread pinned to CPU {wrong[0]} runs elsewhere"
        yield Capability("pinning", "absent", reason)
    else:
        sentence = f"a thread can be pinned to each of {number_format.plural(len(allowed), 'CPU')}"
        yield able("pinning", sentence, cpus=allowed)
