"""How much of a file is read, how long it is waited for, and how long it is thought about."""

from __future__ import annotations

import errno
import gc
import os
import select
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STDIN = "-"
MOST_BYTES = 64 << 20  # of a file; a fifth of it is a long log
MOST_LINES = 1_000_000
WAIT_S = 5.0  # for a pipe that nobody writes to, or a file of the system that has nothing to say
CPU_LIMIT_S = 12.0  # for reading one file; 100,000 lines take 1 to 4 s
_CHUNK = 1 << 20
_AGAIN_S = 0.05


class TooLongError(BaseException):
    """The time is up. Not an Exception: one importer that takes too long must not be taken for one
    that has a fault, because the next would take as long."""


def content_of(file: Path) -> bytes:
    """What is in a file, a byte more than what is read at most where it is longer. OSError where it
    cannot be read, or says nothing for WAIT_S though it is no pipe that somebody writes to."""
    if str(file) == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        return _read_all(sys.stdin.fileno())
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        return _read_all(handle)
    finally:
        os.close(handle)


def _read_all(handle: int) -> bytes:
    content = bytearray()
    is_pipe = stat.S_ISFIFO(os.fstat(handle).st_mode)
    was_written = False  # by somebody, since it was opened
    until = time.monotonic() + WAIT_S
    while len(content) <= MOST_BYTES:
        try:
            chunk = os.read(handle, min(_CHUNK, MOST_BYTES + 1 - len(content)))
        except BlockingIOError:
            was_written = True
            if is_pipe or os.isatty(handle):
                select.select([handle], [], [])  # somebody is at its other end
            elif time.monotonic() > until:
                break
            else:
                time.sleep(_AGAIN_S)
            continue
        if chunk:
            content += chunk
            was_written, until = True, time.monotonic() + WAIT_S
        elif was_written or not is_pipe or os.get_blocking(handle):
            return bytes(content)
        elif time.monotonic() > until:
            raise OSError(errno.EPIPE, "it is a pipe that nobody writes to")
        else:
            time.sleep(_AGAIN_S)
    if not content:
        raise OSError(errno.EAGAIN, f"it says nothing for {WAIT_S:g} s")
    return bytes(content)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of reference cycles: of 100,000 lines it looks at millions of objects
    again and again, which takes a tenth to a quarter of the time, and has no cycle to find."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def cpu_limit(seconds: float = CPU_LIMIT_S) -> Iterator[None]:
    """TooLongError once the code inside has used so much CPU time; in a thread, and where somebody
    has a timer already, there is no limit."""
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getitimer(signal.ITIMER_PROF)[0]:
        yield
        return

    def end(number: int, frame: object) -> None:
        del number, frame
        raise TooLongError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again: a C function may lose the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
