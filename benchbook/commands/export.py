"""The command `benchbook export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT
from benchbook.core.errors import BenchbookError
from benchbook.core.number_format import plural
from benchbook.host import facts


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT|PAPER|ARCHIVE]…",
            help="all where none is named; of --site the archives",
        ),
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
    site: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="write a static site of archives that others sent"),
    ] = None,
    preset: Annotated[str, typer.Option(help="whose results")] = "quick",
    host: Annotated[str, typer.Option(help="whose results; this machine's if not named")] = "",
) -> None:
    """Write what was measured so that others can check it: without names of people and machines."""
    if sum(target is not None for target in (rocrate, appendix, site)) != 1:
        raise BenchbookError("name what to export: --rocrate, --appendix or --site")
    if site is not None:
        _site(site, [Path(name) for name in names or []])
        return
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


def _site(target: Path, archives: list[Path]) -> None:
    from benchbook.crate.site import make_site

    if not archives:
        raise BenchbookError("name the archives after --site; `export --rocrate` writes one")
    done = make_site(ROOT, target, archives)
    for sentence in done.refused:
        print(f"refused: {sentence}")
    if done.hosts:
        print(f"{done.path / 'index.html'}: {plural(len(done.hosts), 'machine')}")
    if done.refused:
        made = "the site was made of the others" if done.hosts else "no site was made"
        raise BenchbookError(f"{len(done.refused)} of {len(archives)} archives refused; {made}")
