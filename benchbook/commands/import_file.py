"""The command `benchbook import`."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, CacheSize
from benchbook.core.errors import BenchbookError
from benchbook.core.number_format import plural


def command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="an archive of `export`, or a log; - is stdin")
    ],
    name: Annotated[str, typer.Option("--as", help="name for the run of a log")] = "",
    l3: CacheSize = "",
    host: Annotated[str, typer.Option(help="where a log was made, as with explain")] = "",
) -> None:
    """Keep an archive or a log from another machine, to be shown next to your own figures."""
    if not _is_archive(file):
        if not name:
            raise BenchbookError(f"{file}: a log needs a name; add --as NAME")
        from benchbook.explain.api import keep_log, machine_of

        print(keep_log(ROOT, file, name, machine_of(ROOT, l3, host)))
        return
    if name or l3 or host:
        raise BenchbookError(f"{file} is an archive; leave out --as, --l3 and --host")
    from benchbook.crate.import_archive import import_archive

    done = import_archive(ROOT, file)
    for folder in done.written:
        print(folder)
    if done.settling:
        print(f"Not taken: {plural(done.settling, 'run')} that settled one claim each.")
    if done.written:
        print(f"Compare with your own: benchbook compare {done.host} PRESET")
    else:
        print(f"{file}: all its runs are here already; nothing was written")


def _is_archive(file: Path) -> bool:
    """Whether this is a folder or a zip, as archives are; a damaged zip is known by its name."""
    if file.is_dir() or file.suffix.lower() == ".zip":
        return True
    return file.is_file() and zipfile.is_zipfile(file)
