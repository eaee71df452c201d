"""Figures in sentences that compare two of them, or give a mean with its deviation: `9.4 ms -> 5.2
ms`, `from 310 to 260 ns`, `2531 ms, with a standard deviation of 96`.

They are read where nothing else was recognised, and only out of text that speaks of speed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.text.grammar import CLOCK, UNIT, in_seconds, unit_of
from benchbook.explain.units import in_base

TOOL = "text"
LOOKS_FOR = "sentences that compare figures with units: `from 9.4 ms to 5.2 ms`, `310 -> 260 ns`"
_NUMBER = r"(?<![\w.,/<>≤≥-])\d[\d,]*(?:\.\d+)?"
_ARROW = r"(?:-{1,3}>|=>|→|⇒|➜|to)"
_ARROWS, _MEANS = ("->", "=>", "→", "⇒", "➜", "to"), ("verage", "ean", "vg")  # each has one
_PAIR = late(
    rf"(?P<old>{_NUMBER}) ?(?P<old_unit>{UNIT})?(?![\w/])"
    rf"(?: ?(?:±|\+/?-) ?\d[\d.,]{{0,20}}(?: ?(?:{UNIT}))?(?![\w/]))? ?{_ARROW} ?~?"
    rf"(?P<new>\d[\d,]*(?:\.\d+)?) ?(?P<new_unit>{UNIT})?(?![\w/%]|:\d)"
)
_CLAIM = late(
    r"(?P<percent>\d+(?:\.\d+)?) ?%|(?<![\w.])(?P<times>\d+(?:\.\d+)?) ?(?:[x×](?!\w)|times\b)"
)
# What may stand between two figures and what is said of them; other words begin another thought.
_FILLED = late(
    r"[\s,(=:~\u2248\u2014-]*(?:(?:as|so|or|for|that|which|is|was|it|about|nearly|roughly|almost|an?"
    r"|by|of|only|i\.e\.|e\.g\.|around|approximately|over|improvement)\b[\s,(=:~\u2248-]*){0,6}"
)
_WAY = late(r" (?P<way>faster|slower|quicker)\b", re.I)
_PARTED = late(r"[,;.!?]\s|\b(?:and|but|while|whereas|then)\b")
_MEAN = late(
    rf"\b(?:[Aa]verage[sd]?|[Mm]ean|[Aa]vg)\b[^.;\n]{{0,80}}?(?P<mean>{_NUMBER}) ?"
    rf"(?P<unit>{UNIT})?(?![\w/%])[^.;\n]{{0,40}}?"
    r"(?:±|\+/-|\b(?:standard deviation|std\.? ?dev|stddev|SD|sd|sigma)\b)(?: of| was| is|[=:])? ?"
    r"(?P<deviation>\d[\d,]*(?:\.\d+)?)"
)
# One of several runs that somebody lists, and their mean.
_RUN = late(
    r"^(?:[-*>] )?(?:run|iteration|trial|attempt|round|pass|rep(?:etition)?) ?#?"
    r"(?P<number>\d{1,4})"
    rf"(?: ?[:=)-]| took| in)+ ?(?P<value>\d[\d,]*(?:\.\d+)?) ?(?P<unit>{UNIT})$",
    re.I,
)
_MEAN_OF_RUNS = late(
    r"^(?:[-*>] )?(?:avg|average|mean)(?: time)? ?[:=] ?(?P<value>\d[\d,]*(?:\.\d+)?) ?"
    rf"(?P<unit>{UNIT})$",
    re.I,
)
_LABEL = late(r"^\s*(?:[-*•]\s+)?(?P<label>[A-Za-z][\w ./+()-]{0,40}?)\s*[:=]\s*~?$")
_LEAST_RUNS = 3
_OF_SPEED = late(
    r"fast|slow|speed|perform|benchmark|latenc|throughput|bandwidth|improve|regress|run-?time"
    r"|\btook\b|\btakes?\b|load(?:ing)? time|reduc|decreas",
    re.I,
)
_NEAR = 90  # characters between two figures and what is said of them
_LONGEST, _MOST = 600, 200  # characters of a line; figures
_LONGEST_RUN = 120


def read(log: Log) -> list[Report]:
    """One report of all such figures of a log, and one for each list of runs."""
    return [*_lists(log), *_sentences(log)]


def _lists(log: Log) -> list[Report]:
    """Lists of three runs and more, in their order, with the mean that stands below them."""
    reports: list[Report] = []
    samples: list[Result] = []
    last = 0  # the number of the run above
    for line, may_be in log.marked(_may_be_run):
        if not (may_be or samples):
            continue
        text = line.text.strip() if len(line.text) < _LONGEST_RUN else ""
        if found := _RUN.match(text):
            number, value, unit = (
                int(found["number"]),
                log.number(found["value"]),
                unit_of(found["unit"]),
            )
            if not (samples and number == last + 1 and unit == samples[0].unit):
                samples = []
            last = number
            if value is not None and (samples or number <= 1):
                of = {"benchmark": "run", "repetition": len(samples)}
                samples.append(Result("run", value, unit, line.number, "sample", of))
            if len(samples) == _LEAST_RUNS:
                reports.append(Report(TOOL, samples, samples[0].line))
        elif len(samples) >= _LEAST_RUNS and (found := _MEAN_OF_RUNS.match(text)):
            value, unit = log.number(found["value"]), unit_of(found["unit"])
            if value is not None and unit == samples[0].unit:
                of = {"benchmark": "run", "repetitions": len(samples)}
                samples.append(Result("run", value, unit, line.number, "mean", of))
            samples = []
    return reports


def _may_be_run(line: str) -> bool:
    return bool(_RUN.match(line.strip()))


def _sentences(log: Log) -> list[Report]:
    if not _OF_SPEED.search(log.text[: 1 << 20]):
        return []
    results: list[Result] = []
    for line in log.with_figures(_may_compare):
        results += _pairs(log, line)
        results += _means(log, line, results)
        if len(results) >= _MOST:
            break
    return [Report(TOOL, results, results[0].line)] if results else []


def _may_compare(log: Log, line: Line) -> Iterator[re.Match[str]]:
    """The pairs and means of a line."""
    del log
    for pattern, words in ((_PAIR, _ARROWS), (_MEAN, _MEANS), (CLOCK, _ARROWS[:-1])):
        if len(line.text) <= _LONGEST and any(word in line.text for word in words):
            yield from pattern.finditer(line.text)


def _pairs(log: Log, line: Line) -> Iterator[Result]:
    if any(arrow in line.text for arrow in _ARROWS[:-1]) and len(CLOCK.findall(line.text)) > 1:
        line = Line(line.number, CLOCK.sub(in_seconds, line.text))
    found = [pair for pair in _PAIR.finditer(line.text) if pair["old_unit"] or pair["new_unit"]]
    ends = [*(pair.start() for pair in found[1:]), len(line.text)]
    begins = [0, *(pair.end() for pair in found)]
    for number, (pair, begin, end) in enumerate(zip(found, begins, ends, strict=False)):
        units = [unit_of(pair[side] or pair[other]) for side, other in _SIDES]
        values = [log.number(pair["old"]), log.number(pair["new"])]
        if None in values or in_base(1.0, units[0])[1] != in_base(1.0, units[1])[1]:
            continue
        of: dict[str, Any] = {"benchmark": f"pair {line.number}.{number}"}
        if label := _label(line.text[begin : pair.start()]):
            of["label"] = label
        for side, value, unit in zip(("old", "new"), values, units, strict=True):
            yield Result(side, value or 0.0, unit, line.number, "", {**of, "build": side})
        yield from _claim(line, pair, (begin, end), of)


def _label(before: str) -> str:
    """What a pair is of, where a line of a list begins with it: `- Ice Lake: 12us -> 12us`."""
    found = _LABEL.match(before)
    return found["label"] if found else ""


_SIDES = (("old_unit", "new_unit"), ("new_unit", "old_unit"))


def _claim(
    line: Line, pair: re.Match[str], limits: tuple[int, int], of: dict[str, Any]
) -> Iterator[Result]:
    """The one change or ratio that the sentence has next to a pair, behind it or before it."""
    behind = line.text[pair.end() : min(limits[1], pair.end() + _NEAR)]
    before = line.text[max(limits[0], pair.start() - _NEAR) : pair.start()]
    near = [
        claim for claim in _CLAIM.finditer(behind) if _FILLED.fullmatch(behind[: claim.start()])
    ]
    above = [
        claim for claim in _CLAIM.finditer(before) if not _PARTED.search(before[claim.end() :])
    ]
    said = [*near, *above]
    if len(said) == 1:  # of two nobody knows which is meant
        is_change = bool(said[0]["percent"])
        value = float(said[0]["percent"] or said[0]["times"])
        kind = ("change", "%") if is_change else ("ratio", "1")
        way = _WAY.match(said[0].string, said[0].end())
        of_claim = {**of, "said_way": way["way"].lower()} if way else of
        yield Result("said", value, kind[1], line.number, kind[0], of_claim)


def _means(log: Log, line: Line, before: Sequence[Result]) -> Iterator[Result]:
    """Means with their deviations; one without a unit has that of the one before."""
    unit = next((own.unit for own in reversed(before) if own.statistic == "mean"), "")
    for found in _MEAN.finditer(line.text):
        unit = unit_of(found["unit"] or "") or unit
        values = [log.number(found["mean"]), log.number(found["deviation"])]
        if unit and None not in values:
            for value, statistic in zip(values, ("mean", "stddev"), strict=True):
                yield Result("average", value or 0.0, unit, line.number, statistic, {})
