"""One run of a command, timed from outside: whole, or in turns with the others of its round.

A run is started, stopped before it is the command, and timed from the moment it may go on, so that
starting a process is in no figure.
"""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchbook.ab.programs import Metric, Program
from benchbook.core.errors import BenchbookError
from benchbook.core.processes import Scheduling, go_before_others
from benchbook.host.sysfs import read_text
from benchbook.measure.invocation import REST_SHARE

TURN_S = 0.03  # long enough to refill a cache, short next to a change of the machine's state
OUTPUT_MOST_BYTES = 64 << 20
OUTPUT_KEPT = 300  # characters of stderr that enter an error
PADDING_MOST_BYTES = 4096  # of the environment: the stack of each run begins elsewhere
_LOOK_S = 0.5
# The stopped shell becomes the command. The signal at the parent's death outlives that.
_WAITING = ("setpriv", "--pdeathsig", "KILL", "sh", "-c", 'kill -STOP $$; exec "$@"', "sh")


@dataclass(frozen=True)
class Run:
    """A run that ended well. `cost` is what is compared: ns, or of a metric the figure or its
    inverse, so that less is always better."""

    cost: float
    wall_ns: int
    cpu_ns: int
    delay_ns: int  # in which its first process was ready, and another ran; 0 where it is not told
    peak_bytes: int  # at least: that of this process where it is larger
    turns: int = 1

    @property
    def cpu_share(self) -> float:
        """CPU time per time that it was not kept waiting for a CPU: 0.1 sleeps or waits for
        others, 1 computes, 2 computes on two CPUs."""
        return self.cpu_ns / max(self.wall_ns - self.delay_ns, 1)

    @property
    def delay_share(self) -> float:
        """Of its time, what it waited for a CPU."""
        return self.delay_ns / self.wall_ns


@dataclass(frozen=True)
class Place:
    """Where and how runs run: CPUs, before others or not, and for how long at most."""

    cpus: list[int]
    limit_s: float
    scheduling: Scheduling = Scheduling.NICE


def run_whole(program: Program, metric: Metric | None, dice: random.Random, place: Place) -> Run:
    """A run from its beginning to its end. BenchbookError where it fails or takes too long."""
    with _prepared(program), _waiting(program, metric, dice, place) as run:
        while not run.has_ended:
            run.go_on(_LOOK_S)
        return run.outcome()


def run_in_turns(programs: Sequence[Program], dice: random.Random, place: Place) -> list[Run]:
    """A run of each program, alive at once: one after another goes on for a moment while the
    others are stopped, in random order, until all have ended.

    Only for programs that compute: for one that waits, time goes on while it is stopped.
    BenchbookError where one fails or takes too long.
    """
    with ExitStack() as stack:
        for program in programs:
            stack.enter_context(_prepared(program))
        runs = [stack.enter_context(_waiting(program, None, dice, place)) for program in programs]
        while left := [run for run in runs if not run.has_ended]:
            dice.shuffle(left)
            for run in left:
                run.go_on(TURN_S)
                run.stop()
                if place.scheduling == Scheduling.REAL_TIME:
                    time.sleep(REST_SHARE * TURN_S)
        return [run.outcome() for run in runs]


@contextmanager
def on_time() -> Iterator[None]:
    """This process sees at once that a run has ended, and runs begin at once, where the system
    allows that."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
    except OSError:
        yield
        return
    try:
        yield
    finally:
        _go_back(0)


def _go_back(pid: int) -> None:
    """From the priority of `on_time` to the ordinary one."""
    with suppress(OSError):
        os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


@contextmanager
def _prepared(program: Program) -> Iterator[None]:
    """The shell commands before and after a run."""
    _shell(program.setup, program.folder)
    try:
        yield
    finally:
        _shell(program.cleanup, program.folder)


def _shell(command: str, folder: Path) -> None:
    if command:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            preexec_fn=lambda: _go_back(0),
        )
        if done.returncode != 0:
            raise BenchbookError(f"{command}: {_ended(done.returncode, done.stderr)}")


@contextmanager
def _waiting(
    program: Program, metric: Metric | None, dice: random.Random, place: Place
) -> Iterator[_Running]:
    """A run that waits to go on; whatever is left of it is ended."""
    environment = {**os.environ, "BENCHBOOK_PADDING": "x" * dice.randrange(PADDING_MOST_BYTES)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                [*_WAITING, *program.command],
                cwd=program.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out if metric else subprocess.DEVNULL,
                stderr=err,
                process_group=0,
            )
        except OSError as error:
            raise BenchbookError(f"{program.command[0]}: {error.strerror}") from None
        run = _Running(program, metric, process, out, err, place.limit_s)
        try:
            if run.await_stop():
                os.sched_setaffinity(process.pid, place.cpus)
                _go_back(process.pid)
                go_before_others(place.scheduling, process.pid)
            run.before = run.accounted_ns()
            yield run
        finally:
            run.end()


@dataclass
class _Running:
    """A process group that is stopped, or goes on; its clock runs while it may go on."""

    program: Program
    metric: Metric | None
    process: subprocess.Popen[bytes]
    out: IO[bytes]
    err: IO[bytes]
    limit_s: float
    before: tuple[int, int] = (0, 0)
    wall_ns: int = 0
    turns: int = 0
    has_ended: bool = False
    goes_on: bool = False
    handle: int = field(init=False)

    def __post_init__(self) -> None:
        self.handle = os.pidfd_open(self.process.pid)

    def go_on(self, seconds: float) -> None:
        """Let it go on for so long, or to its end."""
        began = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        if not self.goes_on:
            os.killpg(self.process.pid, signal.SIGCONT)
            self.goes_on = True
            self.turns += 1
        self.has_ended = bool(select.select([self.handle], [], [], seconds)[0])
        self.wall_ns += time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - began
        if not self.has_ended:
            self._check_limits()

    def stop(self) -> None:
        """Stop the group, and wait until its leader has stopped."""
        if self.has_ended:
            return
        began = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        os.killpg(self.process.pid, signal.SIGSTOP)
        self.has_ended = not self.await_stop()
        self.wall_ns += time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - began
        self.goes_on = False

    def await_stop(self) -> bool:
        """Wait until the leader of the group has stopped; False where it ended before."""
        pid = self.process.pid
        state = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if state is None or state.si_code != os.CLD_STOPPED:
            return False
        os.waitid(os.P_PID, pid, os.WSTOPPED)  # taken, so that the next one is another
        return True

    def _check_limits(self) -> None:
        name = " ".join(self.program.command)
        if self.wall_ns > self.limit_s * 1e9:
            raise BenchbookError(
                f"{name} did not end within {self.limit_s:g} s; give it longer with --limit"
            )
        if os.fstat(self.out.fileno()).st_size > OUTPUT_MOST_BYTES:
            raise BenchbookError(
                f"{name} printed more than {OUTPUT_MOST_BYTES >> 20} MiB, and was ended"
            )

    def outcome(self) -> Run:
        """What became of the run. BenchbookError where it did not end well."""
        cpu_ns, delay_ns = (
            after - before for after, before in zip(self.accounted_ns(), self.before, strict=True)
        )
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode != 0:
            why = _ended(self.process.returncode, _text(self.err))
            raise BenchbookError(f"{' '.join(self.program.command)}: {why}")
        cost = float(self.wall_ns)
        if self.metric:
            figure = self.metric.read(_text(self.out))
            cost = 1 / figure if self.metric.higher_is_better else figure
        # With that of its children, and of what ran before it was the command.
        with_children_ns = round((usage.ru_utime + usage.ru_stime) * 1e9) - self.before[0]
        cpu_ns = max(cpu_ns, with_children_ns)
        return Run(cost, self.wall_ns, cpu_ns, delay_ns, usage.ru_maxrss << 10, self.turns)

    def accounted_ns(self) -> tuple[int, int]:
        """CPU time of the first process by now, and in which it waited for a CPU; zeros where the
        system does not tell. It may have ended, as long as nobody asked for its status."""
        text = read_text(Path("/proc") / str(self.process.pid) / "schedstat") or ""
        cpu_ns, delay_ns, *_ = map(int, text.split() or (0, 0))
        return cpu_ns, delay_ns

    def end(self) -> None:
        """End what is left of the group."""
        os.close(self.handle)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(OUTPUT_MOST_BYTES).decode(errors="replace")


def _ended(status: int, text: str) -> str:
    if status < 0:
        return f"was ended by signal {-status}"
    words = " ".join(text.split())[-OUTPUT_KEPT:]
    return f"exit status {status}: {words}" if words else f"exit status {status}"
