"""Notes that compare rows or columns of one table: rows that differ in one word, columns of one
unit, and a first row that is far from others like it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule

# Heads of what is done, and not how: rows that differ in it are other work.
_OF_WORK = late(
    r"(?i)(?:name|tests?|bench\w*|operations?|op|workload|case|metric|function|method|quer\w+|"
    r"data ?sets?|size|file|run|iteration|#|no\.?|date|time|commit|model|description|"
    r"result ?types?|shape|input|label|row|id|node|host|region|unit|notes?|comments?|status)s?"
)
_NUMBER = late(r"[-+]?\d[\d.,]*%?")
# Heads of options of llama-bench and others that are off or on.
_SWITCH = late(
    r"(?i)nkvo|no_kv_offload|fa|flash_?attn|mmap|nommap|embd|embeddings|dio|nopo|norepack|use_mmap|"
    r"(?:enable|disable|use|with|no)[_ -]\w{2,20}|\w{2,20}[_ -](?:enabled|disabled|on)|cache"
    r"|hugepages?|turbo|smt|direct"
)
_RANGE = late(r"\d[\d.,]* ?(?:-|\u2013|±|\.\.|to) ?\d")  # the ends of a figure, and no setting
LEAST_RATIO, MOST_ROWS, MOST_TOLD, FEW_ROWS = 1.15, 80, 2, 3


@rule
def rows_that_differ(report: Report) -> Iterator[str]:
    """Notes on rows of a table that are alike in all words but one: what that one makes.

    Decided by all such pairs, which have to agree on which side is ahead.
    """
    if report.tool != "table" or not 2 <= len({own.line for own in report.results}) <= MOST_ROWS:
        return
    told: dict[tuple[str, str, str], list[tuple[float, Result, Result]]] = {}
    unique = _heads_without_repeats(report)
    for figures in grouped(_judged(report), lambda own: (own.name, own.unit)).values():
        if len({own.line for own in figures}) != len(figures):
            continue
        for first, second in combinations(figures[:MOST_ROWS], 2):
            if (head := _only_difference(first, second)) is None or head in unique:
                continue
            one, other = (str(own.of["label_parts"][head]) for own in (first, second))
            pair = first.value / second.value, first, second
            if one > other:
                one, other, pair = other, one, (1 / pair[0], second, first)
            told.setdefault((f"{first.name}\n{head}", one, other), []).append(pair)
    kinds = [
        (statistics.median(ratio for ratio, *_ in pairs), key, pairs)
        for key, pairs in told.items()
        if _agree([ratio for ratio, *_ in pairs])
    ]
    kinds = [own for own in kinds if max(own[0], 1 / own[0]) >= LEAST_RATIO]
    kinds.sort(key=lambda own: -max(own[0], 1 / own[0]))
    for middle, (named, *words), pairs in kinds[:MOST_TOLD]:
        name, _, head = named.partition("\n")
        high, low = words if middle > 1 else reversed(words)
        times = sorted(max(ratio, 1 / ratio) for ratio, *_ in pairs)
        span = f"{times[0]:.3g}" if len(times) == 1 else f"{times[0]:.3g} to {times[-1]:.3g}"
        _, first, second = pairs[0]
        which = "two rows" if len(pairs) == 1 else f"{len(pairs)} pairs of rows"
        yield (
            f"line {second.line}: {which} differ only in {head} (first lines {first.line} and "
            f"{second.line}). {name} is {span} times as high with {_called_so(head, high)} as with "
            f"{_called_so(head, low)}"
        )


def _called_so(head: str, word: str) -> str:
    """A setting in words: 0 and 1 say nothing without their head."""
    return f"{head} {word}" if _NUMBER.fullmatch(word) else word


def _heads_without_repeats(report: Report) -> set[str]:
    """Heads of many rows whose words hardly come again: they name the rows."""
    by_line = {own.line: own.of["label_parts"] for own in _judged(report)}
    words: dict[str, set[str]] = {}
    for parts in by_line.values():
        for head, word in parts.items():
            words.setdefault(head, set()).add(str(word))
    many = len(by_line) > FEW_ROWS
    return {head for head, own in words.items() if many and 2 * len(own) > len(by_line)}


def _judged(report: Report) -> list[Result]:
    return [
        own
        for own in report.results
        if own.is_positive and own.statistic in ("", "mean", "median", "best")
        if own.unit != "%" and own.of.get("label_parts")
    ]


def _only_difference(first: Result, second: Result) -> str | None:
    """The head of the one word in which two rows differ; None where it is none, or other work."""
    parts: tuple[Mapping[str, Any], Mapping[str, Any]]
    parts = first.of["label_parts"], second.of["label_parts"]
    if parts[0].keys() != parts[1].keys() or _counts(first) != _counts(second):
        return None
    heads = [
        head
        for head in parts[0]
        if parts[0][head] != parts[1][head]
        if not all(_RANGE.match(str(own[head])) for own in parts)
    ]
    if len(heads) != 1 or not heads[0] or _OF_WORK.fullmatch(heads[0].strip()):
        return None
    words = [str(own[heads[0]]) for own in parts]
    is_swept = any(not word or _NUMBER.fullmatch(word) for word in words)
    is_swept = is_swept and not (set(words) == {"0", "1"} and _SWITCH.fullmatch(heads[0].strip()))
    is_alone = len(parts[0]) < 2 and not _counts(first)
    return None if is_swept or is_alone else heads[0]


def _counts(own: Result) -> tuple[tuple[str, Any], ...]:
    known = ("threads", "processes", "devices", "streams", "concurrency", "queue_depth")
    names = (*known, "message_bytes", "block_bytes", "repetitions")
    return tuple((name, own.of[name]) for name in names if name in own.of)


def _agree(ratios: Sequence[float]) -> bool:
    return all(ratio >= 1 for ratio in ratios) or all(ratio <= 1 for ratio in ratios)


# Columns that are no settings of one figure: directions, statistics, parts.
_NO_SETTING = late(
    r"(?i)\b(?:read|write|rx|tx|recv|send|sent|received|up|down|upload|download|min|max|avg|mean|"
    r"median|std\w*|total|sum|diff\w*|delta|change|error|p\d\w*|\d+ ?%|expected|peak|limit|stddev|"
    r"user|sys|system|real|elapsed|cpu)\b"
)
LEAST_ROWS, MOST_COLUMNS = 3, 6


@rule
def columns_apart(report: Report) -> Iterator[str]:
    """A note on columns of one unit: in which rows which of them is ahead, and by how much.

    Silent where the table compares them itself.
    """
    if report.tool != "table" or report.being("change", "ratio", "noise"):
        return
    by_line: dict[int, dict[str, Result]] = {}
    for own in report.results:
        if own.statistic == "" and own.is_positive and not _NO_SETTING.search(own.name):
            by_line.setdefault(own.line, {})[own.name] = own
    names = list(next(iter(by_line.values()), {}))
    rows = [row for row in by_line.values() if list(row) == names]
    if len(rows) < LEAST_ROWS or not 2 <= len(names) <= MOST_COLUMNS or len(rows) != len(by_line):
        return
    units = {own.unit for row in rows for own in row.values()}
    if len(units) != 1 or "%" in units:
        return
    middles = {name: statistics.median(row[name].value for row in rows) for name in names}
    low, high = (choose(names, key=lambda name: middles[name]) for choose in (min, max))
    ratios = [(row[high].base_value / row[low].base_value, row[high]) for row in rows]
    ahead = [own for own in ratios if own[0] > 1]
    (least, at_least), (most, at_most) = min(ratios, key=_first), max(ratios, key=_first)
    if most < LEAST_RATIO:
        return
    if len(ahead) == len(rows):
        yield (
            f"line {at_most.line}: in all {len(rows)} rows of this table {high} is above {low}, by "
            f"a factor of {least:,.3g} (line {at_least.line}) to {most:,.3g} (line {at_most.line})"
        )
    elif 1 / least >= LEAST_RATIO:
        yield (
            f"line {at_most.line}: {high} is above {low} in {len(ahead)} of {len(rows)} rows, by "
            f"up to {most:,.3g} times. In line {at_least.line} it is below, by {1 / least:,.3g} "
            "times. So which is ahead depends on the row"
        )


def _first(own: tuple[float, Result]) -> float:
    return own[0]


LEAST_ALIKE, NEAR, FIRST_APART = 4, 1.15, 1.3


@rule
def first_row_apart(report: Report) -> Iterator[str]:
    """A note on rows of a table that are alike in all words, of which the first is far from the
    others, which are near each other."""
    if report.tool != "table":
        return
    judged = [
        own
        for own in report.results
        if own.is_positive and own.statistic == "" and own.unit != "%" and own.of.get("label")
    ]
    for several in grouped(
        judged, lambda own: (own.name, own.unit, str(own.of["label"]), _counts(own))
    ).values():
        if len(several) < LEAST_ALIKE or several[0].line == several[1].line:
            continue
        first, others = several[0], [own.value for own in several[1:]]
        middle = statistics.median(others)
        ratio = first.value / middle
        if max(others) <= NEAR * min(others) and max(ratio, 1 / ratio) >= FIRST_APART:
            yield (
                f"line {first.line}: the first of {len(several)} rows that are alike has "
                f"{first.value:,.6g} {first.unit}, and the others have {min(others):,.6g} to "
                f"{max(others):,.6g} (to line {several[-1].line}). Something may have been "
                "other at its time (an empty disk, a cache): leave it out, or say what it was"
            )
            return
