"""The option --config: settings for one call of a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from benchbook.core.errors import BenchbookError
from benchbook.define.yaml_files import value_of

Config = Annotated[
    list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="as with snakemake")
]


def overrides(pairs: list[str] | None) -> dict[str, Any]:
    """KEY=VALUE words as snakemake reads them; nested keys are not taken."""
    values = {}
    for pair in pairs or []:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise BenchbookError(f"--config takes KEY=VALUE, not {pair!r}")
        values[key] = value_of(value, f"--config: key {key!r}")
    return values
