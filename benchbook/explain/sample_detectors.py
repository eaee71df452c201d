"""Samples that a log prints -> the tables that detectors of our own runs read.

A report that prints its repetitions one by one is one start of one point: what detectors of shape
tell of samples holds for it too. Pandas and SciPy take seconds to load, so samples are looked at in
plain Python first, and only where their shape is odd are the detectors asked.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from itertools import pairwise
from typing import Any

from benchbook.explain.model import Report
from benchbook.explain.printed_digits import MOST, is_number
from benchbook.explain.results import Group
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding

LEAST_SAMPLES = 20  # fewer have no shape, for the detectors neither
MOST_SAMPLES = 20_000  # evenly out of more
SHORTEST_NS, LONGEST_NS = 1e-9, 1e18  # what is beyond is no time of anything
LEAST_TAIL = 1.1  # mean ÷ median: what heavy-tail asks for at least
LEAST_APART = 1.25  # slower ÷ faster groups: what bimodal asks for at least
QUARTERS, STRETCHES, NARROWER = 4, 16, 1.5


def findings(
    reports: list[Report], places: Set[tuple[str, str]] = frozenset()
) -> Iterator[Finding]:
    """What these detectors say of all samples, with the lines that they stand in. `told`: artefact
    and place of what others told; of a report that has such a place it is not told again."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for report in reports:
        timed = [
            (samples, times)
            for samples in _samples(report)
            if len(times := _times_ns(samples)) >= LEAST_SAMPLES
            and SHORTEST_NS < min(times) <= max(times) < LONGEST_NS
        ]
        artefacts = [
            artefact for artefact in _LOOKS if timed and not _is_told(artefact, report, places)
        ]
        for samples, times in timed if artefacts else ():
            ordered = sorted(times)
            if any(_LOOKS[artefact](ordered) for artefact in artefacts):
                row = _row(samples, times)
                for artefact in artefacts:
                    rows.setdefault(artefact, []).append(row)
    for artefact, points in rows.items():
        import pandas as pd

        from benchbook import detect

        detector = detect.detector(artefact)
        for finding in detector.detect(detect.Seen(points=pd.DataFrame(points))).findings:
            yield replace(finding, explanation=_of_one_run(finding.explanation))


def _is_told(artefact: str, report: Report, places: Set[tuple[str, str]]) -> bool:
    return bool(places) and not places.isdisjoint(
        (artefact, result.where) for result in report.results
    )


def _samples(report: Report) -> list[Group]:
    """Samples of the same name and unit, in the order of the log."""
    return [
        several
        if all(0 < value < MOST for value in several.values)
        else Group(result for result in several if is_number(result.value) and result.value > 0)
        for (_, statistic, _), several in report.groups.items()
        if statistic == "sample" and "column" not in several[0].of  # cells are of many links
    ]


def _times_ns(samples: Group) -> list[float]:
    """How long each took; of a rate, what one unit of work took. None, where the unit is neither.
    `samples`: finite ones above 0, in one unit."""
    if not samples:
        return []
    size, base = in_base(1.0, samples[0].unit)
    if base == "ns":
        return [value * size for value in samples.values]
    rate = bytes_per_s(1.0, samples[0].unit)
    rates = [value * rate for value in samples.values] if rate else []
    return [1e18 / rate for rate in rates if rate > 0]  # the smallest number there is has no half


def _has_tail(ordered: list[float]) -> bool:
    """Whether the mean is far off."""
    return statistics.fmean(ordered) >= LEAST_TAIL * ordered[len(ordered) // 2]


def _has_valley(ordered: list[float]) -> bool:
    """Whether halves are far apart, and a stretch of the values has far fewer than some on either
    side of it."""
    lower, upper = (ordered[len(ordered) * n // QUARTERS] for n in (1, 3))
    if upper < LEAST_APART * lower:
        return False
    low, high = (ordered[int(len(ordered) * share)] for share in (0.02, 0.98))
    edges = [low + (high - low) * n / STRETCHES for n in range(STRETCHES + 1)]
    counts = [bisect_left(ordered, b) - bisect_left(ordered, a) for a, b in pairwise(edges)]
    return any(
        NARROWER * counts[n] <= min(max(counts[:n]), max(counts[n + 1 :]))
        for n in range(1, STRETCHES - 1)
    )


# What one start of samples suffices for; their clock's ticks are lost in what was printed. With how
# the detector is told from afar to have nothing to say.
_LOOKS: dict[str, Callable[[list[float]], bool]] = {"heavy-tail": _has_tail, "bimodal": _has_valley}


def _row(samples: Group, times: list[float]) -> dict[str, Any]:
    """A point of its own, as detectors read them."""
    import pandas as pd

    from benchbook.analyse.sample_quality import steadiness

    step = math.ceil(len(times) / MOST_SAMPLES)
    kept = times[::step]
    first, last = samples[0], samples[-1]
    where = f"lines {first.line} to {last.line}: {first.name}"
    calls = pd.DataFrame(
        {"block": 0, "invocation": 0, "sample": range(len(kept)), "time_ns": kept}
        | {"warm_up": False}
    )
    row = {"where": where, "series": where, "setting": where, "samples": len(kept), "blocks": 1}
    row |= steadiness(calls) | {"threads": 1, "processes": 1}
    if in_base(1.0, first.unit)[1] == "ns":
        row["time_ns"] = statistics.median(kept)
    return row


def _of_one_run(text: str) -> str:
    """Without what is said of starts: a log has one."""
    begin, separator, _ = text.partition(" It occurs in ")
    return begin if separator else text.replace(" within the same runs", "")
