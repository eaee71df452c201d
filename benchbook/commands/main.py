"""Where each command begins. `explain` needs none of the others, nor typer, which takes longer to
load than a log to be explained."""

from __future__ import annotations

import sys

from benchbook.core.errors import BenchbookError


def main() -> None:
    """Entry point: one clear sentence and exit code 1 for what a user can put right."""
    try:
        if sys.argv[1:2] != ["explain"] or not _explained(sys.argv[2:]):
            from benchbook.commands.app import app

            app()
    except BenchbookError as error:
        print(f"benchbook: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError as error:
        # A full disk, a folder that may not be written: what was journalled stays and is resumed.
        where = f"{error.filename}: " if error.filename else ""
        words = error.strerror or str(error)
        print(f"benchbook: {where}{words}; mend that and run again", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _explained(words: list[str]) -> bool:
    """Whether `explain` could be answered without typer."""
    from benchbook.commands.explain_start import explain, explain_asked

    arguments = explain_asked(words)
    if arguments:
        explain(**arguments)
    return bool(arguments)
