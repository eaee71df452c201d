"""Cases in a YAML file: pairs of commands, with what is done before and after each run."""

from __future__ import annotations

import shlex
from pathlib import Path

from pydantic import Field

from benchbook.ab.programs import Case, Metric, Program
from benchbook.core.errors import BenchbookError
from benchbook.define.models import Model, Name, Version
from benchbook.define.yaml_files import read


class CaseEntry(Model):
    """A pair of commands."""

    a: str = Field(description="the first command, split as a shell does, but run without one")
    b: str = Field(description="the second command")
    setup: str = Field("", description="shell command before each run, not timed")
    cleanup: str = Field("", description="shell command after each run, not timed")
    metric: str = Field("", description="regular expression with one group: the printed figure")
    higher_is_better: bool = Field(False, description="of that figure")


class CaseFile(Model):
    """What `benchbook ab FILE.yaml` takes."""

    version: Version = 1
    cases: dict[Name, CaseEntry] = Field(min_length=1)


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, in its order; their commands run in its folder."""
    return [
        _case(name, entry, path.parent.absolute(), path)
        for name, entry in read(path, CaseFile).cases.items()
    ]


def _case(name: str, entry: CaseEntry, folder: Path, path: Path) -> Case:
    commands = []
    for command in (entry.a, entry.b):
        try:
            commands.append(tuple(shlex.split(command)))
        except ValueError as error:
            raise BenchbookError(f"{path}: {name}: {command!r}: {error}; mend the quotes") from None
    if not all(commands):
        raise BenchbookError(f"{path}: {name}: a command is empty; write both a and b")
    a, b = (Program(command, folder, entry.setup, entry.cleanup) for command in commands)
    metric = Metric(entry.metric, entry.higher_is_better) if entry.metric else None
    return Case(name, (entry.a, entry.b), a, a, b, metric)
