"""What people write above a run: `=== TIGER ===`, `**before**`, `no SEV:`; and runs of two machines
that nothing else parts."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchbook.explain.context.same_runs import plain
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.units import in_base

_WORDS = r"[^\W_](?:(?:[^=*#|<>]|->|=>){0,58}[^=*#|<>\s])?"
_TITLE = late(
    rf"^(?:#{{1,6}} +(?P<heading>{_WORDS}) *#*|[=-]{{2,80}} *(?P<ruled>{_WORDS}) *[=-]{{2,80}}"
    rf"|\*\*(?P<bold>{_WORDS}?)\*\*:?"
    rf"|__(?P<under>[^\W_][\w ()./+-]{{0,40}}[^\W_])__|(?P<named>[^\W\d_][\w ()./+=-]{{0,40}}):)$"
)
_MARKS = ("#", "==", "--", "**", "__", ":")
_SENTENCE = late(
    r"^(?:I|we|my|our|and|but|so|then|now|here|this|these|that|it|when|if|as|for|from|to|in|on|at"
    r"|the|output|outputs|results?|note|edit|update|example|e\.g\.|legends?|usage|options|hints?"
    r"|warnings?|errors?)\b",
    re.I,
)
# Heads within the output of a tool, and no titles of people.
_OF_TOOLS = late(
    r"^(?:Run status group \d|Disk stats \(|Latency \(|(?:General |SQL |per-request )?statistics:"
    r"|response time:|Threads fairness:|Throughput:|File operations:|queries performed:)"
)
_LEAD = late(r"^(?:the )?results? (?:for|of|on|with|from|in|using) ", re.I)
_MOST_NAMED = 4  # words of a line that ends with a colon
_FENCE = "```"
_FEW_WORDS = late(r"[^\W\d_][\w./+-]{0,30}(?: [\w./+-]{1,30}){0,3}(?<![.])")
_NEAR_LINES, _MOST_WORDS, _MOST_TITLES = 12, 7, 2
_LONGEST = 90


def parted(log: Log, reports: Sequence[Report]) -> list[Report]:
    """The reports, one for each machine where titles part what is alike."""
    numbers = [number for number, words in _titles(log) if words]
    return [part for report in reports for part in _parts(report, numbers)]


def tell(log: Log, reports: list[Report]) -> None:
    """Give each of several reports the words that stand above it, where these differ."""
    titles = _titles(log) if len(reports) > 1 else []
    if not titles:
        return
    numbers = [number for number, _ in titles]
    above = 0
    told: list[str] = []
    for report in reports:
        begin = bisect_right(numbers, max(above, report.line - _NEAR_LINES - 1))
        own = titles[begin : bisect_left(numbers, report.line)][-_MOST_TITLES:]
        last = max((at for at, (_, text) in enumerate(own) if not text), default=-1)
        told.append(", ".join(text for _, text in own[last + 1 :]))
        above = max([report.line, *(result.line for result in report.results)])
    if len(set(told)) > 1:
        for report, text in zip(reports, told, strict=True):
            if text:
                report.facts["titled"] = text


def _titles(log: Log) -> list[tuple[int, str]]:
    """Lines that are a title, with their words; "" where one is too long to be shown: what stands
    above it is of other runs."""
    found = list(_above_fences(log))
    for line in log.having(*_MARKS):
        text = line.text.strip()
        match = _TITLE.match(text) if len(text) <= _LONGEST else None
        if match and match["named"] and _OF_TOOLS.match(text):
            continue
        words = next((own for own in match.groups() if own), "") if match else ""
        words = _LEAD.sub("", words).rstrip(": ")
        most = _MOST_NAMED if match and match["named"] else _MOST_WORDS
        if match is None and text.startswith("##"):
            found.append((line.number, ""))  # a heading of other signs
        if words:
            count = sum(any(map(str.isalnum, word)) for word in words.split())
            is_title = count <= most and not _SENTENCE.match(words)
            found.append((line.number, words.strip() if is_title else ""))
    return sorted(dict(found).items())


def _above_fences(log: Log) -> Iterator[tuple[int, str]]:
    """Paragraphs of a few words right above a block of code, with their words."""
    is_open = False
    for line in log.having(_FENCE):
        if not line.text.lstrip().startswith(_FENCE):
            continue
        is_open = not is_open
        at = line.number - 2  # of the line above
        if not is_open or at < 0 or log.lines[at].number != line.number - 1:
            continue
        text = log.lines[at].text.replace("`", "").strip()
        before = log.lines[at - 1].text.strip() if at else ""
        is_alone = not before or before.startswith(_FENCE) or before.endswith((":", "."))
        if is_alone and _FEW_WORDS.fullmatch(text) and not _SENTENCE.match(text):
            yield log.lines[at].number, text


def _parts(report: Report, numbers: Sequence[int]) -> list[Report]:
    """A report for each title within it, where all have the same kinds of figures. `numbers`: the
    lines of all titles."""
    if len(report.results) < 2 or not numbers:
        return [report]
    lines = [result.line for result in report.results]
    if bisect_left(numbers, max(lines)) == bisect_left(numbers, min(lines)):
        return [report]
    parts = grouped(report.results, lambda result: bisect_left(numbers, result.line))
    kinds = [Counter(map(_kind, own)) for own in parts.values()]
    if len(parts) < 2 or any(own != kinds[0] for own in kinds):
        return [report]
    split: list[Report] = []
    for number, own in enumerate(parts.values()):
        first, last = own[0].line, own[-1].line
        part = replace(
            report,
            results=own,
            line=first if number else report.line,
            facts=dict(report.facts),
            notes=[] if number else report.notes,
            twice=[each for each in report.twice if first <= each.line <= last],
        )
        split.append(part)
    return split


def _kind(result: Result) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
    # How long each ran and how much it moved is measured: two runs differ in that.
    return result.name, result.statistic, in_base(1.0, result.unit)[1], plain(result.of)
