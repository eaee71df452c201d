"""Processes that do not outlive who started them, and one measurement at a time per host."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchbook.errors import BenchbookError

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
LOCK_NAME = "benchbook-measuring.lock"


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the thread that started it ends.

    Linux only; elsewhere nothing is asked, and an orphan ends with its current invocation.
    """
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def follow_parent(parent: int | None) -> None:
    """Die with the parent; end at once if it died before that could be asked for."""
    die_with_parent()
    if parent is not None and os.getppid() != parent:
        raise SystemExit(1)


def child_setup(cpus: list[int]) -> Callable[[], None]:
    """For Popen(preexec_fn=…): die with the parent, run on these CPUs."""

    def setup() -> None:
        die_with_parent()
        os.sched_setaffinity(0, cpus)

    return setup


def lock_file() -> Path:
    """Outside every checkout, so that two checkouts exclude each other.

    BENCHBOOK_LOCK_DIR moves it (tests of the lock itself; hosts without /run/lock and /tmp).
    """
    if folder := os.environ.get("BENCHBOOK_LOCK_DIR"):
        return Path(folder) / LOCK_NAME
    for place in ("/run/lock", "/tmp"):
        if os.access(place, os.W_OK):
            return Path(place) / LOCK_NAME
    raise BenchbookError(
        "neither /run/lock nor /tmp can be written to, so the measuring lock has no place; "
        "set BENCHBOOK_LOCK_DIR to a folder shared by all users of this host"
    )


def _open(path: Path) -> int:
    # Without O_CREAT first: in a sticky folder the kernel refuses O_CREAT on another user's file.
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if stat.S_IMODE(os.fstat(handle).st_mode) != 0o666:
            os.fchmod(handle, 0o666)
        return handle
    except PermissionError:
        raise BenchbookError(
            f"{path} belongs to another user and cannot be opened; ask them to remove it, or set "
            "BENCHBOOK_LOCK_DIR to a folder shared by all users of this host"
        ) from None


def _try(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def _holder(path: Path) -> str:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        return f"process {facts['pid']} measuring {facts['what']} in {facts['checkout']}"
    except (OSError, ValueError, KeyError):
        return "another measurement"


@contextmanager
def measuring_lock(what: str, checkout: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Hold the host's one right to measure; waits for it and names the holder.

    Yields the file descriptor. A measured program inherits it: the right is given back only when
    the measurer *and* its last program have ended, also after kill -9.
    """
    path = lock_file()
    handle = _open(path)
    try:
        if not _try(handle):
            say(f"waiting for {_holder(path)}: one measurement at a time on a host ({path})")
            while not _try(handle):
                time.sleep(0.2)
        facts = {"pid": os.getpid(), "what": what, "checkout": str(checkout)}
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(facts).encode(), 0)
        yield handle
    finally:
        os.close(handle)


def only_workflow(root: Path, patience_s: float = 5.0) -> int:
    """Hold this checkout's one right to run a workflow; the handle must be kept.

    Waits a moment for a workflow that is only dying, then says so in one sentence.
    """
    folder = root / ".snakemake"
    folder.mkdir(exist_ok=True)
    handle = os.open(folder / "benchbook.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    until = time.monotonic() + patience_s
    while not _try(handle):
        if time.monotonic() > until:
            os.close(handle)
            raise BenchbookError(
                f"another workflow is running in {root}; wait until it ends, or stop it first"
            )
        time.sleep(0.1)
    return handle
