"""What pages call artefacts."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


@cache
def _titles() -> dict[str, str]:
    text = Path(__file__).with_name("artefact_titles.toml").read_text(encoding="utf-8")
    return {name: str(title).replace("'", "’") for name, title in tomllib.loads(text).items()}


def title(artefact: str) -> str:
    """An artefact in words: `the source pointer never moves`; else its id as words."""
    return _titles().get(artefact, artefact.replace("-", " "))
