"""Definitions against each other and the files that they name, before anything runs.

The models judge each file alone. Standard library, yaml and pydantic only, as all that the
Snakefile imports. Each refusal is one sentence: the file, the place in it, and the remedy.
"""

from __future__ import annotations

from pathlib import Path

from benchbook.crosscheck import experiments, papers
from benchbook.define import catalogue


def check(root: Path) -> None:
    """Refuse the first definition of a checkout that would fail, or mislead, once things run."""
    spaces = {name: experiments.experiment(root, name) for name in catalogue.experiments(root)}
    experiments.probe(root)
    for name in catalogue.controls(root):
        experiments.control(root, name)
    for name in catalogue.papers(root):
        papers.paper(root, name, spaces)
