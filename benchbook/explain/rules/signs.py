"""Causes that a few figures of one run decide: signs.toml has each with its arithmetic."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import Key
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding, kinds
from benchbook.explain.rules.common.formulas import holds, value_of
from benchbook.explain.rules.common.regions import in_region, is_minor, lengths_ns, longest_first
from benchbook.findings import Finding

CATALOGUE = Path(__file__).with_suffix(".toml")
_OF_RUN = ("", "mean", "best", "median", "total")
_MODE = late(r":[A-Za-z]{1,6}(?=\s|$)")  # of an event of perf: cycles:u
_PLACES = ("place", "core", "interval_end_s", "region", "group")
# Tools whose counts the signs of perf stat are asked of, by the names that their events have there.
_LIKE = {"papi": "perf-stat", "toplev": "perf-stat"}
_CALLED = {
    "PAPI_TOT_CYC": "cycles", "PAPI_TOT_INS": "instructions", "PAPI_BR_INS": "branches",
    "PAPI_BR_CN": "branches", "PAPI_BR_MSP": "branch-misses", "PAPI_L3_TCM": "cache-misses",
    "PAPI_L3_TCA": "cache-references", "PAPI_L1_DCM": "L1-dcache-load-misses",
    "PAPI_L1_DCA": "L1-dcache-loads", "PAPI_TLB_DM": "dTLB-load-misses",
    "Frontend_Bound": "tma_frontend_bound", "Backend_Bound": "tma_backend_bound",
    "Bad_Speculation": "tma_bad_speculation",
}  # fmt: skip
_MOST_PLACES = 64  # of a run: a sign that all of them have is said of the first


@dataclass(frozen=True)
class Sign:
    """What decides one kind of finding of findings.toml, which has its name.

    tool: whose reports have it. names, also: the results that it needs, and those that it may
    have, by words of the text; several names of a result are tried in order. made: numbers by
    formulas, in base units (ns, B, B/s); with _share behind a word, the share of the time that it
    was counted. when: comparisons, all true. facts, unless: patterns that facts of the report must
    and must not have. absent: what all events without a value are called, or all with this reason
    in their place; present: an event that was counted, or with ! was not. per: the columns of
    which each value is looked at on its own, the longest region first; texts have {where} for it.
    unless_said: kinds that make this one superfluous.
    """

    kind: str
    tool: str
    names: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    also: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    when: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    unless: Mapping[str, str] = field(default_factory=dict)
    absent: str = ""
    reason: str = ""
    present: str = ""
    least_absent: int = 1
    per: Sequence[str] = ()
    unless_said: Sequence[str] = ()


@cache
def catalogue() -> Mapping[str, Sequence[Sign]]:
    """All signs by the tool that prints them."""
    by_tool: dict[str, list[Sign]] = {}
    for kind, entry in tomllib.loads(CATALOGUE.read_text(encoding="utf-8")).items():
        sign = Sign(kind, **entry)
        by_tool.setdefault(sign.tool, []).append(sign)
    return by_tool


@rule
def signs(report: Report) -> Iterator[Finding]:
    """What the figures of a run decide by the table of signs: each kind once."""
    tool = _LIKE.get(report.tool, report.tool)
    if tool not in catalogue():
        return
    known: dict[tuple[str, ...], list[_Place]] = {}
    said: set[str] = set()
    facts = {name: fact for name, fact in report.facts.items() if is_number(fact)}
    for sign in _possible(tool, _names(report)):
        if not said.isdisjoint(sign.unless_said) or not _has_facts(report, sign):
            continue
        places = known.get(tuple(sign.per))
        if places is None:
            places = known[tuple(sign.per)] = _by_place(report, sign.per)
        explains = kinds()[sign.kind].effect == "explains"
        for place in places:
            if explains and place.is_minor:
                continue
            if (words := _words(report, sign, place.results, facts)) is not None:
                said.add(sign.kind)
                about = [word for word in words.values() if isinstance(word, Result)]
                words |= place.words
                yield finding(sign.kind, words, about=about or [f"line {report.line}"])
                break


def _names(report: Report) -> tuple[Key, ...]:
    """The groups of its results, by the names that perf stat has for them."""
    if report.tool not in _LIKE:
        return tuple(report.groups)
    return tuple(
        (_CALLED.get(name, name), statistic, unit) for name, statistic, unit in report.groups
    )


@lru_cache(maxsize=64)  # runs of a log have the same figures
def _possible(tool: str, groups: tuple[Key, ...]) -> list[Sign]:
    """The signs of a tool whose figures are all there, in a run with these groups of results."""
    names = {name for group in groups for name in (group[0], f"{group[1]} {group[0]}")}
    names |= {_MODE.sub("", name) for name in names if ":" in name}
    return [
        sign
        for sign in catalogue()[tool]
        if all(names.intersection(_several(own)) for own in sign.names.values())
    ]


def _several(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _has_facts(report: Report, sign: Sign) -> bool:
    return all(
        (re.search(pattern, str(report.facts.get(name, ""))) is not None) == is_wanted
        for patterns, is_wanted in ((sign.facts, True), (sign.unless, False))
        for name, pattern in patterns.items()
    )


@dataclass(frozen=True)
class _Place:
    """The results of a place by their names, and by statistic and name (`max Clock`); whether it
    is a region that is a small part of the longest, and words for where it is."""

    results: Mapping[str, Result]
    is_minor: bool = False
    words: Mapping[str, str] = field(default_factory=dict)


def _by_place(report: Report, per: Sequence[str]) -> list[_Place]:
    left_out = [name for name in _PLACES if name not in per and name in report.columns]
    places: dict[tuple[object, ...], dict[str, Result]] = {}
    for result in longest_first(report) if "region" in per else report.results:
        if any(name in result.of for name in left_out) or not _has_value(result):
            continue
        place = tuple(result.of.get(name) for name in per)
        if place not in places and len(places) == _MOST_PLACES:
            continue  # the figures of the others may come further on
        own = places.setdefault(place, {})
        if result.statistic in _OF_RUN or (per and result.statistic == "sample"):
            own.setdefault(result.name, result)
            if report.tool in _LIKE and result.name in _CALLED:
                own.setdefault(_CALLED[result.name], result)
            if ":" in result.name:
                own.setdefault(_MODE.sub("", result.name), result)
        own.setdefault(f"{result.statistic} {result.name}", result)
    if not places:
        return [_Place({})]
    lengths = lengths_ns(report) if "region" in per else {}
    known = [dict(zip(per, place, strict=True)) for place in places]
    several = len({own["core"] for own in known if own.get("core") is not None}) > 1
    return [
        _Place(results, is_minor(own.get("region"), lengths), _where(own, several))
        for own, results in zip(known, places.values(), strict=True)
    ]


def _where(place: Mapping[str, object], several: bool) -> dict[str, str]:
    """The words of a text for its place: a core is named where there are several of them."""
    region, core = place.get("region"), place.get("core")
    within = in_region(region)
    where = f"{within} on core {core}" if several and core is not None else within
    return {"where": where, "within": within, "named": "" if region is None else f" {region}"}


def _has_value(result: Result) -> bool:
    return result.is_number and result.of.get("state") != "absent"


def _words(
    report: Report, sign: Sign, own: Mapping[str, Result], facts: Mapping[str, float]
) -> dict[str, Any] | None:
    """The words of its text; None where the sign is not there. `facts`: those of the report that
    are numbers."""
    words: dict[str, Any] = {}
    for wanted in (sign.names, sign.also):
        for word, names in wanted.items():
            words[word] = next((own[name] for name in _several(names) if name in own), None)
            if words[word] is None and wanted is sign.names:
                return None
    numbers = {**facts, **dict.fromkeys(sign.also, 0.0)}
    for word, result in words.items():
        if result is not None:
            numbers[word] = result.base_value
            share = result.of.get("running_fraction")
            numbers[f"{word}_share"] = share if is_number(share) else 1.0
    for word, formula in sign.made.items():
        try:
            numbers[word] = value_of(formula, numbers)
        except KeyError:  # a fact that this log does not have
            return None
        words[word] = numbers[word]
    if not all(holds(formula, numbers) for formula in sign.when):
        return None
    words = {**numbers, **words}  # what it has not stays None
    if sign.absent:
        missing = _absent(report, sign)
        if missing is None:
            return None
        words["absent"] = missing
    return words


def _absent(report: Report, sign: Sign) -> str | None:
    """The names of the events without a value, if all of these are such as the sign wants; with
    its reason, all that have this one."""
    empty = [
        result
        for result in report.results
        if result.of.get("state") == "absent" and sign.reason in str(result.of.get("reason"))
    ]
    names = list(dict.fromkeys(result.name for result in empty))
    if len(names) < sign.least_absent:
        return None
    if not all(re.search(sign.absent, name) for name in names):
        return None
    counted = {result.name for result in report.results if _has_value(result)}
    wanted = sign.present.removeprefix("!")
    is_there = any(re.search(wanted, name) for name in counted)
    if sign.present and is_there == sign.present.startswith("!"):
        return None
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
