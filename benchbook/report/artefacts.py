"""What pages call artefacts."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path

from benchbook.core import number_format


@cache
def _titles() -> dict[str, str]:
    text = Path(__file__).with_name("artefact_titles.toml").read_text(encoding="utf-8")
    return {name: str(title).replace("'", "’") for name, title in tomllib.loads(text).items()}


def title(artefact: str) -> str:
    """An artefact in words: `the source pointer never moves`; else its id as words."""
    return _titles().get(artefact, artefact.replace("-", " "))


def titles(artefacts: Collection[str]) -> str:
    """Several in words, as one clause: what two of them have in common is said once where
    artefact_titles.toml has words for both, `first+second`."""
    together = _titles().get("+".join(sorted(artefacts)))
    return together or number_format.listed([title(artefact) for artefact in artefacts])
