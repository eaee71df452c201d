"""The option --config: settings for one call of a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer
import yaml

from benchbook.core.errors import BenchbookError
from benchbook.define.yaml_files import BROKEN

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
        try:
            values[key] = yaml.safe_load(value)
        except (yaml.YAMLError, *BROKEN):
            raise BenchbookError(
                f"--config: key {key!r} is {value!r}, which is not valid YAML; mend it or put it "
                "in quotes"
            ) from None
    return values
