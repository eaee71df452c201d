"""absent-counter: a counter that was asked and is not there, told by the detector of runs."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.counters import evidence, is_absent, placed, some_absent
from benchbook.findings import Finding, proof

ARTEFACT = "absent-counter"


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """What the detector says of the events of a log, where some are absent or may be."""
    yield from (_refused(one) for one in reports if "refused" in one.facts)
    if not some_absent(reports):
        return
    rows = evidence(reports)
    if any(row["state"] == "absent" or row["value"] == 0 for row in rows):
        import pandas as pd

        from benchbook.detect import Seen
        from benchbook.detect.detectors import absent_counter

        judged = absent_counter.detect(Seen(pd.DataFrame(), evidence=rows))
        yield from placed(judged.findings, reports, is_absent)


def _refused(report: Report) -> Finding:
    """A start that counted nothing."""
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[f"line {report.line}"],
        confidence=1.0,
        evidence=[proof("events counted", 0, "events", f"line {report.line}")],
        explanation=(
            f"{report.tool} counted nothing: {report.facts['refused']} (line {report.line}). There "
            "is no figure in this output, not one of 0."
        ),
        remedy=(
            "Give it access to the counters (root, its access daemon, or perf_event_paranoid), or "
            "run on a machine that has them: many virtual ones have none."
        ),
    )
