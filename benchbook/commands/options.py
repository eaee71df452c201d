"""What several commands share: where they work, and options of the same meaning."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from benchbook.core.errors import BenchbookError

ROOT = Path()
Output = Annotated[Path, typer.Option(help="the file to write")]
Settings = Annotated[str, typer.Option(help="settings as JSON")]
Parent = Annotated[int | None, typer.Option(help="die with this process")]
CacheSize = Annotated[str, typer.Option("--l3", help="last-level caches there, like '32 MiB'")]
AsJson = Annotated[bool, typer.Option("--json", help="print facts as JSON")]
# Of `ab` and `ci`.
Build = Annotated[str, typer.Option(help="shell command that builds a commit")]
Pattern = Annotated[
    str,
    typer.Option("--metric", help="compare a printed figure: a regular expression with one group"),
]
Higher = Annotated[bool, typer.Option("--higher-is-better", help="of that figure; else lower is")]
Budget = Annotated[float, typer.Option(min=0.1, help="seconds a pair takes at most")]
RunLimit = Annotated[float, typer.Option("--limit", min=0.1, help="seconds a run takes at most")]
Equal = Annotated[
    float, typer.Option(min=0.01, max=100, help="per cent up to which they count as equal")
]
Cpus = Annotated[str, typer.Option(help="CPUs to run on, as `0,2`")]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        help="exit status 3 if B is shown to be, as `slower than 2 %` or (of instructions) `more "
        "than 1 %`; may be given several times"
    ),
]
Exports = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FORMAT=FILE",
        help="also write the values for another program: pyperf, github-action-benchmark, bencher, "
        "openmetrics, reframe or parquet; may be given several times",
    ),
]


def cpu_numbers(text: str) -> list[int] | None:
    """The CPUs of `0,2`; None of an empty text."""
    if not text:
        return None
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise BenchbookError(f"--cpus {text!r}: write numbers of CPUs as `0,2`")
    return [int(number) for number in text.split(",")]


def say(sentence: str) -> None:
    """A sentence for who watches; nothing where nobody does."""
    if sys.stderr.isatty():
        print(sentence, file=sys.stderr)
