"""Estimates, findings and verdicts out of an archive's raw samples, by this version's code."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

from benchbook.analyse.stage import analyse
from benchbook.analyse.tables import write_samples
from benchbook.crate import contents
from benchbook.crate.contents import Index
from benchbook.define import catalogue
from benchbook.judge.paper_json import PAPER
from benchbook.judge.stage import judge
from benchbook.report.verdicts_file import write_verdicts


def recompute(top: Path, index: Index) -> list[str]:
    """Write analysis.json of each experiment, paper.json of each paper, and verdicts.json, at
    their places in the archive that is unpacked at `top`. Returns their paths in it.

    No run from elsewhere and no log of another program enters: no verdict rests on them.
    """
    results = Path(index.results)
    analyses = [results / name / contents.ANALYSIS for name in index.experiments]
    papers = [results / name / PAPER for name in index.papers]
    with chdir(top):  # stages read definitions and runs out of the working folder
        for analysis in analyses:
            pointer, evidence = (
                analysis.with_name(name) for name in (contents.CURRENT, contents.EVIDENCE)
            )
            samples = analysis.with_name(contents.SAMPLES)
            write_samples(pointer, samples)
            analyse(pointer, samples, evidence, analysis)
        for name, output in zip(index.papers, papers, strict=True):
            own = [
                results / experiment / contents.ANALYSIS
                for experiment in catalogue.experiments_of(Path(), name)
            ]
            judge(Path(), name, "", own, output, {"preset": index.preset, "host": index.host})
        verdicts = [results / contents.VERDICTS] if papers else []
        for output in verdicts:
            write_verdicts(papers, output)
    return [str(path) for path in (*analyses, *papers, *verdicts)]
