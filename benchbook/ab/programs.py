"""A command that is compared, what it is measured by, and the case that it belongs to."""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchbook.core.errors import BenchbookError

ARMS = ("a", "again", "b")  # `again` is the first command a second time


@dataclass(frozen=True)
class Program:
    """A command, the folder that it runs in, and shell commands before and after each run, which
    are not timed."""

    command: tuple[str, ...]
    folder: Path
    setup: str = ""
    cleanup: str = ""

    def check(self) -> None:
        """BenchbookError where the command cannot be found."""
        name = self.command[0]
        path = self.folder / name if "/" in name else name
        if shutil.which(path) is None:
            where = f" in {self.folder}" if "/" in name else " on PATH"
            raise BenchbookError(f"{name} is no program{where}; see how it is spelled")


@dataclass(frozen=True)
class Metric:
    """A figure that the command prints: the first group of the pattern, in its last match."""

    pattern: str
    higher_is_better: bool = False

    def __post_init__(self) -> None:
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise BenchbookError(
                f"--metric {self.pattern!r} is no regular expression: {error}"
            ) from None
        if groups != 1:
            raise BenchbookError(
                f"--metric {self.pattern!r} has {groups} groups; put exactly one pair of brackets "
                "around the figure"
            )

    def read(self, text: str) -> float:
        """The figure, above zero; BenchbookError where there is none."""
        matches = re.findall(self.pattern, text)
        if not matches:
            raise BenchbookError(f"nothing that the command printed fits --metric {self.pattern!r}")
        try:
            value = float(matches[-1].replace(",", ""))
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise BenchbookError(
                f"--metric {self.pattern!r} found {matches[-1]!r}, which is no number above zero"
            )
        return value


@dataclass(frozen=True)
class Case:
    """What is compared: two programs with the names that people gave them, and the first again."""

    name: str
    names: tuple[str, str]  # of a and b
    a: Program
    again: Program
    b: Program
    metric: Metric | None = None

    @property
    def arms(self) -> dict[str, Program]:
        """The programs of a round by their arm."""
        return {arm: getattr(self, arm) for arm in ARMS}


def of_commands(words: list[str], folder: Path, metric: Metric | None) -> Case:
    """The case of `CMD_A -- CMD_B`. BenchbookError where these are not two commands."""
    if words.count("--") != 1 or words[0] == "--" or words[-1] == "--":
        raise BenchbookError(
            "two commands are needed: benchbook ab -- COMMAND_A -- COMMAND_B; a command with a "
            "pipe, or with -- in it, goes into sh -c '…'"
        )
    middle = words.index("--")
    a, b = (Program(tuple(part), folder) for part in (words[:middle], words[middle + 1 :]))
    names = (" ".join(a.command), " ".join(b.command))
    return Case("ab", names, a, a, b, metric)
