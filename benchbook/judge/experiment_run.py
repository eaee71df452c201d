"""One experiment's run as judging reads it: definition, analysis, summaries and evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from benchbook.core.files import read_json
from benchbook.core.parquet import read_parquet
from benchbook.define import catalogue
from benchbook.detect.inputs.run_table import trial_id
from benchbook.judge.resolved_claim import Measured

TRIAL = "trial: "


@dataclass(frozen=True)
class ExperimentRun:
    """A run with its results: `content` is the experiment's definition, `analysis` its
    analysis.json, `summaries` one row per invocation and point, `evidence` the rows of
    evidence.json; all of them lie in `folder`."""

    content: dict[str, Any]
    analysis: dict[str, Any]
    summaries: pd.DataFrame
    evidence: list[dict[str, Any]]
    folder: Path

    @classmethod
    def read(cls, root: Path, path: Path) -> ExperimentRun:
        """The run behind one analysis.json."""
        analysis = read_json(path)
        return cls(
            catalogue.definition(root, analysis["experiment"]),
            analysis,
            read_parquet(path.with_name("summaries.parquet")),
            read_json(path.with_name("evidence.json"))["items"],
            path.parent,
        )

    @property
    def experiment(self) -> str:
        """Its id."""
        return str(self.analysis["experiment"])

    @property
    def sizes(self) -> dict[str, Any]:
        """What a size like `3 x LLC` means on the host of the run."""
        sizes: dict[str, Any] = self.analysis["sizes"]
        return sizes

    @cached_property
    def measured(self) -> Measured:
        """Its points and summaries."""
        return Measured(self.analysis["points"], self.summaries)

    @cached_property
    def failures(self) -> dict[str, list[dict[str, Any]]]:
        """{limits, trials}: sizes at which arrays no longer link, and what happened to arrays
        beyond memory."""
        return {
            "limits": [row for row in self.evidence if row["source"] == "compiler and linker"],
            "trials": [
                # What a finding calls it.
                row | {"place": trial_id(row["name"].removeprefix(TRIAL))}
                for row in self.evidence
                if row["name"].startswith(TRIAL)
            ],
        }


def read_runs(root: Path, analyses: list[Path]) -> dict[str, ExperimentRun]:
    """The runs behind these analysis.json, by experiment."""
    runs = [ExperimentRun.read(root, path) for path in analyses]
    return {run.experiment: run for run in runs}
