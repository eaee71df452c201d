"""The command `benchbook schemas`."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.define.schemas import write


def command(check: Annotated[bool, typer.Option("--check")] = False) -> None:
    """Write the JSON schemas of all YAML files, or fail where they differ from the models."""
    write(check=check)
