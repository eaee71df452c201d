"""Definitions against each other and the files that they name, before anything runs.

The schemas judge each file alone. Standard library, yaml and jsonschema only, as all that the
Snakefile imports. Each refusal is one sentence: the file, the place in it, and the remedy.
"""

from __future__ import annotations

from pathlib import Path

from benchbook import definitions
from benchbook.crosscheck import experiments, papers


def check(root: Path) -> None:
    """Refuse the first definition of a checkout that would fail, or mislead, once things run."""
    spaces = {name: experiments.experiment(root, name) for name in definitions.experiments(root)}
    experiments.probe(root)
    for name in definitions.controls(root):
        experiments.control(root, name)
    for name in definitions.papers(root):
        papers.paper(root, name, spaces)
