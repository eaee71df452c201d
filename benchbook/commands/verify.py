"""The command `benchbook verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.commands.options import ROOT
from benchbook.core.errors import BenchbookError
from benchbook.core.number_format import plural
from benchbook.crate.verify import verify
from benchbook.host import facts


def command(
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="a folder or a zip")],
) -> None:
    """Compute the verdicts of an archive anew from its raw samples, and compare to the byte."""
    verified = verify(archive)
    index = verified.index
    here = facts.commit(ROOT)
    print(
        f"{archive}: {verified.files} files match their checksums; "
        f"{plural(len(index.runs), 'run')} on {index.host}, preset {index.preset}, "
        f"made by commit {index.commit or 'unknown'}."
    )
    if verified.differences:
        for difference in verified.differences:
            print(difference.sentence())
        if index.commit != here:
            print(f"This is commit {here or 'unknown'}: verify with {index.commit or 'its own'}.")
        raise BenchbookError(f"{archive}: not verified; see above which file differs")
    print(
        f"Computed anew and equal to the byte: {plural(len(verified.recomputed), 'file')} "
        "of estimates, findings and verdicts."
    )
