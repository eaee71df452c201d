"""Marked regions of a program, each with counters of its own: no figure of one is the program's."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.explain.model import Report, Result

_TIMES = ("RDTSC Runtime", "Runtime (RDTSC)")
MINOR = 0.1  # of the longest region: what is shorter explains no time of the program


def lengths_ns(report: Report) -> dict[object, float]:
    """The time of each marked region in ns, the longest of its cores; without such, nothing."""
    lengths: dict[object, float] = {}
    for time in report.called(*_TIMES) if "region" in report.columns else ():
        region = time.of.get("region")
        if time.is_positive and region is not None:
            lengths[region] = max(lengths.get(region, 0.0), time.base_value)
    return lengths


def longest_first(report: Report) -> Sequence[Result]:
    """The results, those of the longest region first; in their order where there are no regions."""
    lengths = lengths_ns(report)
    if len(lengths) < 2:
        return report.results
    return sorted(report.results, key=lambda own: -lengths.get(own.of.get("region"), 0.0))


def is_minor(region: object, lengths: dict[object, float]) -> bool:
    """Whether a region is a small part of the longest one, by their times."""
    return region in lengths and lengths[region] < MINOR * max(lengths.values())


def by_place(report: Report) -> list[tuple[str, list[Result]]]:
    """The results of each region and group, the longest region first, and ` in region NAME`."""
    places: dict[tuple[object, object], list[Result]] = {}
    for own in longest_first(report):
        places.setdefault((own.of.get("region"), own.of.get("group")), []).append(own)
    return [(in_region(region), several) for (region, _), several in places.items()]


def in_region(region: object) -> str:
    """` in region NAME`; "" of the whole program."""
    return "" if region is None else f" in region {region}"
