"""What every probe works with: the answer it gives, where it looks, and how it asks a program."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook.core import scratch
from benchbook.host import tools
from benchbook.host.sysfs import read_text

LIMIT_S = 3.0  # likwid waits ten seconds for a daemon that is not there
_REFUSED = re.compile(r"denied|not permitted|[Pp]ermission|paranoid|EPERM|EACCES")
_WORDS = 160  # characters of what a program said that enter a reason


@dataclass(frozen=True)
class Capability:
    """state: ok, denied or absent. remedy: a command that can be pasted into a shell, or empty.

    `detail` is what was seen where it is ok: `said`, a sentence, and facts by name.
    """

    name: str
    state: str
    reason: str = ""
    remedy: str = ""
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """A sentence: what was seen, or why there is nothing to be seen."""
        return self.reason or str(self.detail.get("said", ""))


def able(name: str, said: str, **facts: Any) -> Capability:
    """An ability that is there, with what was seen of it."""
    return Capability(name, "ok", detail={"said": said, **facts})


@dataclass(frozen=True)
class Answer:
    """What a program said; status is None where it did not end in time."""

    status: int | None
    out: str
    err: str

    @property
    def refused(self) -> bool:
        """Whether the program said that it may not."""
        return _REFUSED.search(self.out + self.err) is not None

    def why(self, program: str) -> str:
        """One phrase on how the program ended, with its last words."""
        if self.status is None:
            return f"{program} gave no answer within {LIMIT_S:g} s and was stopped"
        if self.status < 0:
            return f"{program} was ended by signal {-self.status}"
        lines = [line.strip() for line in (self.err or self.out).splitlines()]
        words = next((line for line in reversed(lines) if re.search(r"\w", line)), "")
        return f"{program} ended with status {self.status}" + (f": {words[:_WORDS]}" * bool(words))


@dataclass(frozen=True)
class Place:
    """`machine` stands in for `/`; `folder` holds the known loop, and may be written to."""

    machine: Path
    checkout: Path
    folder: Path
    no_loop: str = ""  # why the known loop is not there
    timed_out: list[str] = field(default_factory=list)  # programs that gave no answer in time

    def ask(self, *command: str, said: str = "") -> Answer:
        """Run a program in `folder`, for at most LIMIT_S; `said` is its standard input."""
        try:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, "LC_ALL": "C", **scratch.variables()},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            return Answer(127, "", error.strerror or str(error))
        try:
            out, err = process.communicate(said, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            # Its children too: they hold the pipes.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            # One that made a session of its own may hold the pipes still: it is not waited for.
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=1)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            self.timed_out.append(command[0])
            return Answer(None, "", "")
        return Answer(process.returncode, out, err)

    def text(self, path: str) -> str | None:
        """The text of a small file of the machine."""
        return read_text(self.machine / path)

    @property
    def guest(self) -> bool:
        """Whether the CPU says that a hypervisor is below it."""
        return bool(re.search(r"(?m)^flags\s*:.*\bhypervisor\b", self.text("proc/cpuinfo") or ""))

    @property
    def no_counters(self) -> str:
        """Who hides the counters of the CPU, in words."""
        who = "hypervisor" if self.guest else "kernel"
        return f"the {who} shows no counters"


def first(programs: Sequence[str]) -> str | None:
    """The first of these programs that is on PATH."""
    return next((name for name in programs if shutil.which(name)), None)


def missing(name: str, program: str) -> Capability:
    """The ability `name` is absent because a program is."""
    package = tools.package_of(program)
    remedy = tools.command(package)
    reason = f"{program} is not on PATH" + ("" if remedy else f"; {tools.remedy(package)}")
    return Capability(name, "absent", reason, remedy)


def as_root(command: str) -> str:
    """A command that needs root's rights."""
    return command if os.geteuid() == 0 else f"sudo {command}"
