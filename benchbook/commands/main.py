"""Where each command begins. `explain` needs none of the others, nor typer, which takes longer to
load than a log to be explained."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from benchbook.core.errors import BenchbookError

TOO_LITTLE_MEMORY = "there is too little memory for that (see ulimit -v); raise the limit"


def main() -> None:
    """Entry point: one clear sentence and exit code 1 for what a user can put right."""
    _open_closed_streams()
    try:
        if sys.argv[1:2] != ["explain"] or not _explained(sys.argv[2:]):
            from benchbook.commands.app import app

            app()
    except BenchbookError as error:
        print(f"benchbook: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError as error:
        # A full disk, a folder that may not be written: what was journalled stays and is resumed.
        if error.filename is None:  # perhaps the output's: what is left of it cannot be written
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        where = f"{error.filename}: " if error.filename else ""
        words = error.strerror or str(error)
        print(f"benchbook: {where}{words}; correct this and run again", file=sys.stderr)
        raise SystemExit(1) from None
    except MemoryError:
        print(f"benchbook: {TOO_LITTLE_MEMORY}", file=sys.stderr)
        raise SystemExit(1) from None
    except ImportError as error:
        if not any(words in str(error) for words in ("map segment", "allocate memory")):
            raise
        print(f"benchbook: {TOO_LITTLE_MEMORY}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        if not {"--parent", "--log"} & set(sys.argv):  # else the workflow says so
            print("benchbook: interrupted", file=sys.stderr)
        raise SystemExit(130) from None


def _open_closed_streams() -> None:
    """A descriptor of 0 to 2 that is closed would be the next file that is opened, and what others
    print would go into that file."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _explained(words: list[str]) -> bool:
    """Whether `explain` could be answered without typer."""
    from benchbook.commands.explain_start import explain, explain_asked

    arguments = explain_asked(words)
    if arguments:
        explain(**arguments)
    return bool(arguments)
