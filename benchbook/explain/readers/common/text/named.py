"""Lists of figures that a program prints with their names and units: `Mean latency: 56.4 ms`,
`Request throughput (req/s): 28.3`, `Version 2: min 0.24 ms, max 1.08 ms`.

They are read where nothing else was recognised, and only where several stand near each other and
one of them names a time of work or a rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common.key_units import named_unit
from benchbook.explain.readers.common.table_cells import statistic_of
from benchbook.explain.readers.common.text.grammar import (
    NUMBER,
    SIZED_UNIT,
    UNITS,
    as_label,
    is_plural,
    kind_of,
    unit_of,
)
from benchbook.explain.units import TIMES

TOOL = "figures"
LOOKS_FOR = "three figures and more with a name and a unit: `Mean latency: 56.4 ms`"
_NAME = r"[^\W\d_][^:=|<>{}\[\]()\"]{0,58}?"
_LINE = late(
    rf"^(?:[-*•] +)?(?P<name>{_NAME})\s*(?:\((?P<of>[^()]{{1,30}})\))?\s*[:=]+\s*"
    rf"(?P<value>{NUMBER})\s*(?P<unit>{SIZED_UNIT})?[.,;]?$"
)
# Figures of one thing: `Version 2: min 0.24 ms, avg 0.57 ms`, `iter 1, 0.11 sec, 2.26 GB/sec`.
_SEVERAL = late(r"^(?P<label>[^\W_][^,|<>{}\"]{0,78}?)(?:: ?|, )(?=\S*\s?\S*\d)(?P<rest>.+)$")
_PART = late(
    rf"^(?:(?P<name>[^\W\d_][\w /.-]{{0,30}}?)[ =:]+)?(?P<value>{NUMBER}) ?(?P<unit>{SIZED_UNIT})"
    r"(?P<behind> (?:per \w{1,12}|total|each|on average))?$"
)
_PARTED = late(r"[,;|]\s+")
# Each with its name and unit, whatever parts them: `bench=sort time=12.3ms rate: 4 MB/s`.
_PAIR = late(
    rf"(?:^|[\s,;|(\[])(?P<name>(?:[A-Za-z]|\d\d(?:\.\d{{1,4}})?%)[\w./%-]{{0,40}}) ?[=:] ?"
    rf"(?P<value>{NUMBER}) ?"
    rf"(?P<unit>{SIZED_UNIT})?(?=[\s,;|)\]]|$)(?! \d{{1,3}} ?(?:ms|µs|us|ns|s)\b)"
)
# Counts of one statistic: `min:  21640 cycles,  66443 instructions`.
_STATED = late(
    r"^(?P<statistic>min(?:imum)?|max(?:imum)?|avg|average|mean|med(?:ian)?|std ?dev)\s*[:=]\s*"
    rf"(?P<rest>{NUMBER} [A-Za-z].*)$",
    re.I,
)
_COUNT = late(rf"^(?P<value>{NUMBER}) (?P<noun>[A-Za-z][\w /.-]{{1,30}})$")
_OF_WORK = late(
    r"(?i)^(?:cycle|clock|tick|instr|branch|cache|miss|flop|op\b|ops\b|operation|request"
    r"|transaction"
    r"|quer|token|packet|message|frame|call)"
)
_STATISTICS = {"avg": "mean", "average": "mean", "med": "median", "minimum": "min"}
_STATISTICS |= {"maximum": "max", "std dev": "stddev"}
_DOTTED = late(
    rf"^(?P<name>\S.{{0,90}}?)\s?\.{{3,80}}\s?(?P<value>{NUMBER}) ?(?P<unit>{SIZED_UNIT})$"
)
_OF_SPEED = late(
    r"laten|throughput|bandwidth|duration|elapsed|\btimes?\b|runtime|\bmean\b|\bavg\b|average"
    r"|\bp\d\d|\bper\b|rate\b|speed|fastest|slowest|total|/s(?:ec)?\b",
    re.I,
)
_REMOVED = late(
    r"\b(?:std\.? ?dev\.?|mean|average|avg|med(?:ian)?|max(?:imum)?|min(?:imum)?"
    r"|p\d{2}(?:\.\d+)?)\b ?",
    re.I,
)
_PERCENTILE = late(
    r"^(?P<name>.{2,40}?) at (?P<percent>\d{1,2}(?:\.\d+)?) ?(?:th )?percentile$", re.I
)
_DEVIATION = late(r"^(?:SD|std\.? ?dev\.?|standard deviation) of (?P<name>.{2,40})$", re.I)
_SHARE = late(
    rf"^(?P<percent>\d{{1,2}}(?:\.\d+)?) ?% (?:in|within|under|<) (?P<value>{NUMBER}) ?"
    rf"(?P<unit>{SIZED_UNIT})\.?$"
)
# `[05/10/2021-12:24:30] [I] `: when and how important, and no part of a name.
_OF_LOGGER = late(r"^\s*(?:\[[^\]]{0,30}\d:\d\d[^\]]{0,20}\]\s*)(?:\[[^\]\d]{1,12}\]\s*)?")
_LONGEST, _MOST, _GAP, _LEAST = 400, 2000, 4, 3
_LEAST_PAIRS, _LONGEST_LABEL = 2, 80


def read(log: Log) -> list[Report]:
    """One report for each block of such lines."""
    reports: list[Report] = []
    block: list[Result] = []
    for line in log.with_figures(_figures):
        if own := list(_figures(log, line)):
            if block and (_ends(block, own) or len(block) > _MOST):
                reports += _report(block)
                block = []
            block += own
    return [*reports, *_report(block)]


def _ends(block: Sequence[Result], own: Sequence[Result]) -> bool:
    """Whether figures are of another block: far away, or the names of the first come again."""
    if own[0].line > block[-1].line + _GAP:
        return True
    names = {(each.name, each.statistic, each.of.get("label")) for each in block}
    return len(names) >= _LEAST and (own[0].name, own[0].statistic, own[0].of.get("label")) in names


def _report(block: list[Result]) -> list[Report]:
    """The figures, where there are several and one is of a work done; others are settings."""
    with_units = [own for own in block if own.unit]
    said = any(
        own.unit.endswith("/s") or _OF_SPEED.search(f"{own.statistic} {own.name}")
        for own in with_units
    )
    are_rates = len(with_units) > 1 and all(own.unit.endswith("/s") for own in with_units)
    if not (len(with_units) >= _LEAST and said) and not are_rates:
        return []
    return [Report(TOOL, block, block[0].line)]


def _figures(log: Log, line: Line) -> Iterator[Result]:
    text = line.text.strip()
    if len(text) > _LONGEST:
        return
    if found := _LINE.match(text):
        unit = unit_of(found["unit"] or found["of"] or "")
        value = log.number(found["value"])
        is_known = unit or not (found["unit"] or found["of"])
        if value is not None and is_known and not is_plural(text, found["name"].strip()):
            name = found["name"].strip()
            key, of_key = (
                (name, "") if unit else ("", unit_of(name)) if name in UNITS else named_unit(name)
            )
            unit = unit or of_key
            name, statistic = _named(key.replace("_", " ") if of_key else key)
            yield Result(name or kind_of(unit), value, unit, line.number, statistic, {})
    elif found := _SHARE.match(text):
        if (value := log.number(found["value"])) is not None:
            statistic = f"p{found['percent']}"
            yield Result("time", value, unit_of(found["unit"]), line.number, statistic, {})
    elif found := _DOTTED.match(text):
        if (value := log.number(found["value"])) is not None:
            yield Result(found["name"], value, unit_of(found["unit"]), line.number, "", {})
    elif found := _STATED.match(text):
        yield from _counts(log, line, found["statistic"].lower(), _PARTED.split(found["rest"]))
    elif (found := _SEVERAL.match(text)) and (
        parts := list(_parts(log, line, found["label"], _PARTED.split(found["rest"])))
    ):
        yield from parts
    elif "=" in text or ":" in text:
        yield from pairs_of(log, line, text, _LEAST_PAIRS)


def _counts(log: Log, line: Line, statistic: str, parts: Sequence[str]) -> Iterator[Result]:
    """The counts of one statistic, each with what it counts: two and more."""
    found = [
        match for part in parts if (match := _COUNT.match(" ".join(part.split()).rstrip(",.")))
    ]
    is_work = any(_OF_WORK.match(match["noun"]) for match in found)
    for match in found if len(found) > 1 and is_work else ():
        if (value := log.number(match["value"])) is not None:
            unit = UNITS.get(match["noun"], match["noun"])
            name = kind_of(unit) if unit in TIMES else match["noun"]
            kind = _STATISTICS.get(statistic, statistic)
            yield Result(name, value, unit if unit in TIMES else "1", line.number, kind, {})


def pairs_of(log: Log, line: Line, text: str, least: int) -> Iterator[Result]:
    """The pairs of name and figure of a line, `least` and more with units; words before them are
    what they are of."""
    found = list(_PAIR.finditer(text))
    own = [(match, *_of_pair(match)) for match in found]
    with_units = [entry for entry in own if entry[2]]
    if not with_units or len(with_units) < least:
        return
    label = as_label(_OF_LOGGER.sub("", text[: found[0].start()]))
    keys, end, labelled = [key for _, key, _ in with_units], len(text), set[tuple[str, str]]()
    for match, key, unit in with_units:
        own_words = as_label(text[end : match.start()]) if keys.count(key) > 1 else ""
        if own_words and "=" not in own_words:  # which would be a figure of something else
            label = own_words  # `GPU latency: 3 ms - Host latency: 4 ms`
        elif (label, key) in labelled:
            label = ""  # `Init Duration: 834 ms  Duration: 3 ms`
        labelled.add((label, key))
        of: dict[str, Any] = {"label": label} if 0 < len(label) <= _LONGEST_LABEL else {}
        end = match.end()
        if (value := log.number(match["value"])) is not None:
            name, statistic = _named(key)
            yield Result(name or kind_of(unit), value, unit, line.number, statistic, of)


def _of_pair(match: re.Match[str]) -> tuple[str, str]:
    """The name of a pair without its unit, and that."""
    if match["unit"]:
        return match["name"].replace("_", " "), unit_of(match["unit"])
    if len(match["name"]) == 1:  # `s=8192` may be a number of anything
        return match["name"], ""
    key, unit = named_unit(match["name"])
    return key.replace("_", " "), unit


def _parts(log: Log, line: Line, label: str, parts: Sequence[str]) -> Iterator[Result]:
    """The figures of a line of one thing: two and more, each with a unit; others are left."""
    found = [match for part in parts if (match := _PART.match(part.strip()))]
    if len(found) < 2 or len(found) * 2 < len(parts):
        return
    of: dict[str, Any] = {"label": as_label(label).rstrip(" .")}
    for match in found:
        if (value := log.number(match["value"])) is None:
            continue
        unit = unit_of(match["unit"])
        name, statistic = _named(f"{match['name'] or ''}{match['behind'] or ''}".strip())
        yield Result(name or kind_of(unit), value, unit, line.number, statistic, of)


def _named(text: str) -> tuple[str, str]:
    """A name without the word of its statistic, and that statistic."""
    if found := _PERCENTILE.match(text):
        return found["name"], f"p{found['percent']}"
    if found := _DEVIATION.match(text):
        return found["name"], "stddev"
    statistic = statistic_of(text)
    name = " ".join(_REMOVED.sub("", text).split()) if statistic else text
    return name, statistic
