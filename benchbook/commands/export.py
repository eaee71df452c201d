"""The command `benchbook export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT
from benchbook.core.errors import BenchbookError
from benchbook.host import facts


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EXPERIMENT|PAPER]…", help="all where none is named"),
    ] = None,
    rocrate: Annotated[
        Path | None, typer.Option(help="write a Workflow Run RO-Crate: a new folder, or a .zip")
    ] = None,
    appendix: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE", help="write an appendix for reviewers as Markdown and PDF"
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help="whose results")] = "quick",
    host: Annotated[str, typer.Option(help="whose results; this machine's if not named")] = "",
) -> None:
    """Write what was measured so that others can check it: without names of people and machines."""
    if (rocrate is None) == (appendix is None):
        raise BenchbookError("name what to export: --rocrate or --appendix")
    own = host or facts.host_id(facts.facts())
    if appendix is not None:
        _appendix(appendix, names or [], own, preset)
    elif rocrate is not None:
        _archive(rocrate, names or [], own, preset)


def _archive(target: Path, names: list[str], host: str, preset: str) -> None:
    from benchbook.crate.export import export

    done = export(ROOT, target, names, host, preset)
    print(f"{done.path}: {done.files} files, {done.size / 1e6:.1f} MB")
    for name in done.renamed:
        print(f"names replaced in {name}")
    print(f"check it anywhere: benchbook verify {done.path}")


def _appendix(target: Path, names: list[str], host: str, preset: str) -> None:
    from benchbook.report.appendix import write_appendix

    done = write_appendix(ROOT, target, names, host, preset)
    print(done.markdown)
    print(done.no_pdf or done.pdf)
