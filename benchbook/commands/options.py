"""What several commands share: where they work, and options of the same meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ROOT = Path()
Output = Annotated[Path, typer.Option(help="the file to write")]
Settings = Annotated[str, typer.Option(help="settings as JSON")]
Parent = Annotated[int | None, typer.Option(help="die with this process")]
CacheSize = Annotated[str, typer.Option("--l3", help="last-level caches there, like '32 MiB'")]
AsJson = Annotated[bool, typer.Option("--json", help="print facts as JSON")]
