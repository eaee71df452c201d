"""Two starts of a program under cachegrind, side by side, and what the second did more."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbook.core import scratch
from benchbook.core.processes import child_setup
from benchbook.evidence.simulation import library
from benchbook.evidence.simulation.geometry import Geometry
from benchbook.evidence.simulation.profile import Difference, ProfileError, difference, read_profile
from benchbook.measure.invocation import explain_exit

Command = Sequence[str | Path]


class NotSimulatedError(Exception):
    """Why there is no simulation of a program, in a sentence."""


@dataclass(frozen=True)
class Simulator:
    """cachegrind with its caches; `lock` is the measuring lock's, inherited."""

    valgrind: str
    geometry: Geometry
    cpus: list[int]
    time_limit_s: float
    lock: int | None = None

    def compare(self, less: Command, more: Command) -> tuple[Difference, str]:
        """(What `more` did beyond `less`, what `more` printed).

        NotSimulatedError where one of them did not end well; ProfileError where what cachegrind
        wrote is not understood: that file is kept.
        """
        folder = Path(tempfile.mkdtemp(prefix="benchbook-cachegrind-"))
        files = [folder / f"{name}.out" for name in ("less", "more")]
        started: list[subprocess.Popen[str]] = []
        try:
            for index, (file, command) in enumerate(zip(files, (less, more), strict=True)):
                started.append(self._start(file, command, self.cpus[index % len(self.cpus)]))
            outputs = [self._end(process) for process in started]
            extra = difference(*map(read_profile, files))
        except BaseException as error:
            for process in started:
                process.kill()
                process.communicate()
            if not isinstance(error, ProfileError) or not any(map(Path.exists, files)):
                shutil.rmtree(folder)
            raise
        shutil.rmtree(folder)
        return extra, outputs[1]

    def _start(self, file: Path, command: Command, cpu: int) -> subprocess.Popen[str]:
        words = [
            *(self.valgrind, "-q", "--tool=cachegrind", "--cache-sim=yes"),
            *(f"--cachegrind-out-file={file}", *self.geometry.options),
            *map(str, command),
        ]
        name, _, value = library.ORDINARY.partition("=")
        try:
            return subprocess.Popen(
                words,
                cwd=file.parent,  # where no .valgrindrc lies
                env={
                    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                    "LC_ALL": "C",
                    "OMP_NUM_THREADS": "1",
                    name: value,
                    **scratch.variables(),  # its pipes have names that can be foretold
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                pass_fds=() if self.lock is None else (self.lock,),
                preexec_fn=child_setup([cpu]),  # noqa: PLW1509 - the stage has one thread
            )
        except OSError as error:
            raise NotSimulatedError(f"{self.valgrind}: {error.strerror}") from None

    def _end(self, process: subprocess.Popen[str]) -> str:
        try:
            out, err = process.communicate(timeout=self.time_limit_s)
        except subprocess.TimeoutExpired:
            raise NotSimulatedError(
                f"cachegrind did not end within its time limit of {self.time_limit_s:g} s"
            ) from None
        if process.returncode != 0:
            lines = err.splitlines()
            own = "\n".join(line for line in lines if not line.startswith(("==", "--")))
            _, why = explain_exit(process.returncode, out, own or err, self.time_limit_s)
            raise NotSimulatedError(f"under cachegrind: {why}")
        return out
