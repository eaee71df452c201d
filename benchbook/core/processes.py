"""Processes that do not outlive who started them, and one measurement at a time per host."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from benchbook.core.errors import BenchbookError

Item = TypeVar("Item")
Made = TypeVar("Made")
_PR_SET_PDEATHSIG = 1
ANSWER_LIMIT_S = 10.0  # for a question such as --version
SIGNALLED = 128  # and the number of the signal: the exit status of who was ended by it
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LIBC = ctypes.CDLL(None, use_errno=True)
LOCK_NAME = "benchbook-measuring.lock"
_HOST_REMEDY = (
    "it must be a plain file, writable by every user, in a folder that every user may read and "
    "write (mode 1777). Ask its owner or root to correct this, or set BENCHBOOK_LOCK_DIR to "
    "another such folder (absolute path, the same for all users of this host)"
)
_WORKFLOW_REMEDY = (
    "it must be a plain file in a checkout that you may write to; use your own checkout"
)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the thread that started it ends.

    Linux only; elsewhere nothing is asked, and an orphan ends with its current invocation.
    """
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def on_every_cpu(function: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """What the function makes of each item, by as many processes as there are CPUs; they die with
    this one, and both function and items must be importable there."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor  # with what few commands need

    # Libraries have threads of their own by now, which a fork would lose.
    with ProcessPoolExecutor(
        min(len(os.sched_getaffinity(0)), max(len(items), 1)),
        multiprocessing.get_context("spawn"),
        follow_parent,
        (os.getpid(),),
    ) as pool:
        return list(pool.map(function, items))


def follow_parent(parent: int | None) -> None:
    """Die with the parent; end at once if it died before that could be asked for."""
    die_with_parent()
    if parent is not None and os.getppid() != parent:
        raise SystemExit(1)


def output_of(
    command: Sequence[str], env: dict[str, str] | None = None, limit_s: float | None = None
) -> str:
    """What a program of other people printed on standard output; empty where it cannot be started
    or takes too long. Bytes that are no text are replaced."""
    try:
        done = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s or ANSWER_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def end_all_when_terminated() -> None:
    """From now on SIGTERM, SIGINT and SIGHUP end this process and all that it started, at once;
    those that whoever started it ignores, such as nohup, stay ignored.

    Nothing is lost by that: runs are append-only, and outputs that were not finished are made anew.
    Snakemake's own handler takes locks that its scheduler may hold at that moment, and then waits
    for ever (snakemake 9.27, scheduling/job_scheduler.py, exit_gracefully).
    """
    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end_all)


def _end_all(number: int, frame: object) -> None:
    """Takes no lock: it may run in the middle of anything."""
    del frame
    for ending in _ENDING:  # who presses Ctrl-C twice reads one line
        signal.signal(ending, signal.SIG_IGN)
    message = (
        f"benchbook: ended by {signal.Signals(number).name}; the next start continues from here\n"
    )
    with suppress(OSError):
        os.write(sys.stderr.fileno(), message.encode())
    for process in _descendants(os.getpid()):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    os._exit(SIGNALLED + number)


def _descendants(pid: int) -> list[int]:
    """The processes below this one, the nearest first."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it has just ended
                behind_name = (entry / "stat").read_text().rpartition(")")[2].split()
                below.setdefault(int(behind_name[1]), []).append(int(entry.name))
    found = [pid]
    for parent in found:
        found += below.get(parent, [])
    return found[1:]


class Scheduling(StrEnum):
    """How the system lets a process run beside others."""

    NORMAL = "normal"
    NICE = "nice"  # at the largest share of a CPU
    REAL_TIME = "real_time"  # SCHED_FIFO at its lowest priority: before everything ordinary


def go_before_others(wanted: Scheduling, pid: int = 0) -> None:
    """Have a process (0: this one) and what it starts run like that, or as near to it as the system
    allows.

    Real time is for what never waits for another program: that one would not get the CPU.
    """
    if wanted == Scheduling.REAL_TIME:
        with suppress(OSError):
            os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(1))
            return
    if wanted != Scheduling.NORMAL:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, -20)


def scheduling_of(pid: int) -> Scheduling:
    """How a process runs; normal where it has ended."""
    with suppress(OSError):
        if os.sched_getscheduler(pid) == os.SCHED_FIFO:
            return Scheduling.REAL_TIME
        if os.getpriority(os.PRIO_PROCESS, pid) < 0:
            return Scheduling.NICE
    return Scheduling.NORMAL


def child_setup(
    cpus: list[int],
    enter: Callable[[], None] | None = None,
    scheduling: Scheduling = Scheduling.NORMAL,
) -> Callable[[], None]:
    """For Popen(preexec_fn=…): go before others as far as allowed, enter namespaces if told how,
    die with the parent, run on these CPUs."""

    def setup() -> None:
        go_before_others(scheduling)  # in a namespace of users there is no right to it
        if enter is not None:
            enter()
        die_with_parent()  # last of the two: other rights would clear it
        os.sched_setaffinity(0, cpus)

    return setup


def lock_file() -> Path:
    """Outside every checkout, so that two checkouts exclude each other, and the same for all users.

    Never chosen by permission: /run/lock is for everybody on Debian and for root alone on Fedora
    and Arch, so root and a user would lock in two places. BENCHBOOK_LOCK_DIR moves it (tests of
    the lock itself; hosts without a common /tmp).
    """
    return Path(os.environ.get("BENCHBOOK_LOCK_DIR") or "/tmp") / LOCK_NAME


def _refused(path: Path, why: str | None, remedy: str) -> BenchbookError:
    return BenchbookError(f"the lock {path} cannot be used: {why}; {remedy}")


def _open_folder(path: Path, remedy: str) -> int:
    """The folder of a lock, to be locked itself: it needs no right to write."""
    if not path.is_absolute():
        raise _refused(path, "its folder is not an absolute path", remedy)
    try:
        return os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(path, f"{path.parent}: {error.strerror}", remedy) from None


def _open(path: Path, remedy: str) -> int:
    """The lock file, made where it is absent; nothing that another user may have planted."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    while True:
        # Without O_CREAT first: in a sticky folder the kernel refuses it on another user's file.
        try:
            handle = os.open(path, flags)
        except FileNotFoundError:
            try:
                handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
                os.fchmod(handle, 0o666)
            except FileExistsError:
                continue
            except OSError as error:
                raise _refused(path, f"{path.parent}: {error.strerror}", remedy) from None
        except OSError as error:
            link = error.errno == errno.ELOOP
            raise _refused(path, "a symbolic link" if link else error.strerror, remedy) from None
        about = os.fstat(handle)
        # A second name may be another's file that is not ours to write to.
        if stat.S_ISREG(about.st_mode) and about.st_nlink <= 1:
            return handle
        os.close(handle)
        raise _refused(path, "not a plain file with one name", remedy)


def _try(handle: int, path: Path, remedy: str) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise _refused(path, error.strerror, remedy) from None
    return True


def _take(path: Path, remedy: str) -> int | None:
    """The lock file, locked; None while another holds it."""
    while True:
        handle = _open(path, remedy)
        taken = False
        try:
            if not _try(handle, path, remedy):
                return None
            # Between opening and locking, the file may have been removed or replaced.
            with suppress(OSError):
                taken = os.path.samestat(os.fstat(handle), path.lstat())
            if taken:
                return handle
        finally:
            if not taken:
                os.close(handle)


def _take_both(folder: int, path: Path, remedy: str) -> int | None:
    """Lock the folder and then the file; the handle of the file, None while another holds either.

    The folder, because a file can be removed while it is held, and the next one would find a new
    one free. The file, because people see it and may lock it themselves, with flock(1).
    """
    return _take(path, remedy) if _try(folder, path, remedy) else None


_UNKNOWN_HOLDER = "another measurement"


def _holder(path: Path) -> str:
    """Who wrote into the lock file; anyone on the host can, so nothing in it is relied on."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            facts = json.loads(os.pread(handle, 1 << 16, 0))
        finally:
            os.close(handle)
        words = f"process {facts['pid']} measuring {facts['what']} in {facts['checkout']}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        words = ""
    return words if words.isprintable() and words else _UNKNOWN_HOLDER


def _waiting(path: Path) -> str:
    """The sentence for who waits. Any user may lock a folder that all may read, and need not say
    who it is."""
    holder = _holder(path)
    sentence = f"waiting for {holder}: one measurement at a time on a host ({path})"
    named = re.match(r"process (\d+) ", holder)
    if not named or not Path(f"/proc/{named[1]}").exists():
        sentence += (
            f"; `lslocks` shows who holds it or {path.parent}. If that is no measurement, end it, "
            "or set BENCHBOOK_LOCK_DIR to another folder for all users of this host"
        )
    return sentence


@contextmanager
def measuring_lock(what: str, checkout: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Hold the host's one right to measure; waits for it and names the holder.

    Yields the file descriptor (of the locked folder). A measured program inherits it: the right is
    given back only when the measurer *and* its last program have ended, also after kill -9.
    """
    path = lock_file()
    if path.parent.resolve() == checkout.resolve():
        # Its workflow holds that folder, and would wait for itself.
        raise _refused(path, "its folder is this checkout", _HOST_REMEDY)
    folder = _open_folder(path, _HOST_REMEDY)
    note = None
    try:
        is_announced = False
        while (note := _take_both(folder, path, _HOST_REMEDY)) is None:
            if not is_announced:
                say(_waiting(path))
                is_announced = True
            time.sleep(0.2)
        facts = {"pid": os.getpid(), "what": what, "checkout": str(checkout)}
        with suppress(OSError):  # a full disk costs the holder's name, not the measurement
            os.ftruncate(note, 0)
            os.pwrite(note, json.dumps(facts).encode(), 0)
        yield folder
    finally:
        if note is not None:
            with suppress(OSError):
                os.ftruncate(note, 0)
            os.close(note)
        os.close(folder)


def only_workflow(root: Path, patience_s: float = 5.0) -> int:
    """Hold this checkout's one right to run a workflow, until this process ends.

    Waits a moment for a workflow that is only dying, then says so in one sentence.
    """
    root = root.absolute()
    path = root / ".snakemake" / "benchbook.lock"
    folder = _open_folder(root / path.name, _WORKFLOW_REMEDY)
    until = time.monotonic() + patience_s
    try:
        while True:
            try:
                path.parent.mkdir(exist_ok=True)
            except OSError as error:
                why = f"{path.parent}: {error.strerror}"
                raise _refused(path, why, _WORKFLOW_REMEDY) from None
            if _take_both(folder, path, _WORKFLOW_REMEDY) is not None:
                return folder  # the file stays open, and so locked, too
            if time.monotonic() > until:
                raise BenchbookError(
                    f"another workflow is running in {root}; wait until it ends, or stop it first"
                )
            time.sleep(0.1)
    except BaseException:
        os.close(folder)
        raise
