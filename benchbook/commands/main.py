"""Where each command begins. `explain` needs none of the others, nor typer, which takes longer to
load than a log to be explained."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError

ROOT = Path()


def main() -> None:
    """Entry point: one clear sentence and exit code 1 for what a user can put right."""
    try:
        if sys.argv[1:2] == ["explain"] and (asked := explain_asked(sys.argv[2:])):
            explain(**asked)
        else:
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


def explain_asked(words: list[str]) -> dict[str, Any] | None:
    """What `explain` is called with; None where only typer can tell what is wrong or wanted."""
    files, options, as_json, rest = list[Path](), {"--l3": "", "--host": ""}, False, iter(words)
    for word in rest:
        name, given, value = word.partition("=")
        if word == "--json":
            as_json = True
        elif name in options:
            options[name] = value if given else next(rest, "")
            if options[name][:1] in ("", "-"):
                return None
        elif word != "-" and word[:1] in ("", "-"):
            return None
        else:
            files.append(Path(word))
    found = {"files": files, "l3": options["--l3"], "host": options["--host"], "as_json": as_json}
    return found if files else None


def explain(files: list[Path], l3: str, host: str, *, as_json: bool) -> None:
    """Read what any benchmark printed, and say what is wrong with it."""
    from benchbook.explain.api import show
    from benchbook.explain.machine import machine_of

    show(files, machine_of(ROOT, l3, host), as_json=as_json)
