"""A program that the measurer started: its end, and how it is kept waiting for its turn."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchbook.core.errors import BenchbookError
from benchbook.core.processes import Scheduling, child_setup, scheduling_of
from benchbook.network import Door

OUTPUT_MOST_BYTES = 64 << 20  # of a program; ours print some MB at most
TOO_MUCH = -signal.SIGXFSZ
PIPES_S = 1.0  # until the output of what was ended is given up
LIMIT_S = 5.0  # until it sleeps
TURN = b'"kind":"turn"'  # in the line of a kernel that stops, see kernels/common/turns.h
_READ_BYTES = 1 << 16
_WAIT_S = 0.002
_STOP_S = 0.0001


Kept = dict[IO[bytes], bytearray]


@dataclass
class Started:
    """`with_children`: a time-out ends what it started too, else that would hold its pipes open."""

    process: subprocess.Popen[bytes]
    with_children: bool = False
    printed: bytearray = field(
        default_factory=bytearray
    )  # what was read of its output before its end
    scheduling: Scheduling = Scheduling.NORMAL  # as the system allowed it

    def finish(self, time_limit_s: float) -> tuple[int | None, str, str]:
        """(exit status or None for a time-out, stdout, stderr).

        Who prints more than OUTPUT_MOST_BYTES is ended, with the status TOO_MUCH.
        """
        process = self.process
        assert process.stdout is not None
        assert process.stderr is not None
        kept = {process.stdout: bytearray(self.printed), process.stderr: bytearray()}
        try:
            status: int | None = TOO_MUCH
            if self._collect(kept, time_limit_s):
                status = process.returncode
            elif _bytes_of(kept) <= OUTPUT_MOST_BYTES:
                status = None
            if process.returncode is None:
                self._kill()
                self._collect(kept, PIPES_S)  # a child of another user may hold the pipes
                process.wait()
        except BaseException:  # a group of its own hears no Ctrl-C of the terminal
            if self.with_children:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            raise
        for pipe in kept:
            pipe.close()
        return status, _text(kept[process.stdout]), _text(kept[process.stderr])

    def _collect(self, kept: Kept, time_limit_s: float) -> bool:
        """Keep what it prints until its end; whether it came in time, and before it printed too
        much."""
        until = time.monotonic() + time_limit_s
        left = [pipe for pipe in kept if not pipe.closed]
        while left:
            ready = select.select(left, [], [], max(until - time.monotonic(), 0))[0]
            for pipe in ready:
                chunk = os.read(pipe.fileno(), _READ_BYTES)
                kept[pipe] += chunk
                if not chunk:
                    left.remove(pipe)
            if not ready or _bytes_of(kept) > OUTPUT_MOST_BYTES:
                return False
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(until - time.monotonic(), 0))
        return self.process.returncode is not None

    def _kill(self) -> None:
        if self.with_children:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def stop_in_sleep(self, words: str) -> bool:
        """Stop it when it sleeps after it said these words; whether it did so in time.

        Its sleep goes on meanwhile, and is over when it may go on later.
        """
        until = time.monotonic() + LIMIT_S
        while words.encode() not in self.printed or self._state() != "S":
            if time.monotonic() > until or not self._read():
                return False
        self.process.send_signal(signal.SIGSTOP)
        while self._state() != "T":
            if time.monotonic() > until:
                return False
            time.sleep(_WAIT_S)
        return True

    def go_on(self) -> None:
        """Let a stopped process run again."""
        self.process.send_signal(signal.SIGCONT)

    def stops_for_turn(self, time_limit_s: float) -> bool:
        """Whether it stops before another turn of its own; False when it ends, or hangs."""
        until = time.monotonic() + time_limit_s
        looked_at = len(self.printed)
        while self.printed.find(TURN, looked_at) < 0:
            looked_at = max(looked_at, len(self.printed) - len(TURN))
            left_s = until - time.monotonic()
            if left_s <= 0 or not self._read(left_s) or len(self.printed) > OUTPUT_MOST_BYTES:
                return False
        # It stops just after this line; a program that was killed in between never does.
        while time.monotonic() < until:
            if os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOHANG):
                return True
            if os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return False
            time.sleep(_STOP_S)
        return False

    def end(self) -> None:
        """End the program, unless it has ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def _read(self, wait_s: float = _WAIT_S) -> bool:
        """Keep what it printed by now, or within that time; False when it prints no more."""
        assert self.process.stdout is not None
        handle = self.process.stdout.fileno()
        if not select.select([handle], [], [], wait_s)[0]:
            return True
        chunk = os.read(handle, _READ_BYTES)
        self.printed += chunk
        return bool(chunk)

    def _state(self) -> str:
        """S: it sleeps, T: it is stopped. Behind its name, which may have blanks in it."""
        try:
            text = Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:
            return ""
        return text.rpartition(")")[2].split()[0]


def started(
    command: list[str],
    *,
    cpus: list[int],
    env: dict[str, str],
    lock: int | None,
    with_children: bool = False,
    door: Door | None = None,
    scheduling: Scheduling = Scheduling.NORMAL,
) -> Started:
    """Start a program that dies with this process. `door`: the network that it enters.

    BenchbookError where it cannot even be started: that says nothing about its points.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            pass_fds=inherited(lock, door),
            preexec_fn=child_setup(cpus, door.enter if door else None, scheduling),  # noqa: PLW1509 - the measurer has one thread
            process_group=0 if with_children else None,
        )
    except OSError as error:
        raise BenchbookError(
            f"{command[0]} cannot be started ({error.strerror}); remove build/ and run again"
        ) from None
    except subprocess.SubprocessError:  # of what the set-up could not do, Python tells no more
        raise BenchbookError(
            f"{command[0]} cannot be started on CPUs {', '.join(map(str, cpus))}, or in its "
            "network; see whether these CPUs may still be used, and run again"
        ) from None
    return Started(process, with_children, scheduling=scheduling_of(process.pid))


def inherited(lock: int | None, door: Door | None) -> tuple[int, ...]:
    """File descriptors that a started program keeps."""
    return (*(() if lock is None else (lock,)), *(door.inherits if door else ()))


def _bytes_of(kept: Kept) -> int:
    return sum(map(len, kept.values()))


def _text(raw: bytes | bytearray) -> str:
    return raw.decode("utf-8", errors="replace")
