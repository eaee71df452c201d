"""Notes on a few runs of one tool in a log whose figures nobody compares: how far they are apart,
and in which words the log says that they differ. Not of tools whose readers name another rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from benchbook.core.number_format import listed
from benchbook.explain import readers
from benchbook.explain.context.same_runs import plain
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.readers.common.load_lines import RATE
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.load_counts import is_paced
from benchbook.explain.rules.near_runs import TOOLS as NEAR_TOOLS
from benchbook.explain.units import in_base

# Facts of what was done: runs that differ in one of them did other work, and on purpose.
OF_WORK = (
    "operation", "test", "block_bytes", "message_bytes", "working_set_bytes", "array_bytes",
    "queue_depth", "threads", "processes", "streams", "concurrency", "pipelined", "data_type",
    "block", "flags", "engine", "protocol", "scale", "problem_class", "job",
    "precision", "implementation", "request_bytes", "benchmark", "scope",
)  # fmt: skip
_ORDINAL = late(
    r"(?i)^(?:(?:(?:first|second|third|1st|2nd|3rd) )?(?:run|test|attempt|trial|iteration|round|try"
    r"|pass|report|result|output|again|no\.?)s?(?![^\W\d_])[ #]*\d{0,3}[ :.)-]*|#?\d{1,3}[:.)-]+ *)"
    r"(?=$|[^\W\d_])"
)
_PROMPT = late(r"(?i)\[sudo\]|\bpassword\b")
# Of a sentence that goes on, and of one about the log itself: no name of a run.
_PROSE = late(r"(?i)^(?:and|but|so|be|also|then|these|this|those|that|it|here|some)\s+\S+\s+\S")
_COUNT = late(r"\d+")  # of files: the second copy has another name than the first
_PACE = late(r"--?(?:load|rate|target|qps|bwlimit|limit)\b|-R\b")  # of a load that is paced
_OF_KERNEL = ("/dev/zero", "/dev/null", "/dev/urandom", "/dev/random", "/dev/full")
_WAY = late(r"(?i)(?:read|writ|rand|seq|upload|download|revers|insert|select|updat|delet)")
OF_RUN = (RATE, "time elapsed")  # of several figures these stand for a run
WHOLE = ("", "mean", "median", "total", "sum", "best")
APART, NEAR = 1.1, 1.05  # larger ÷ smaller figure
MOST_RUNS, MOST_WORDS, LONGEST, MOST_FIGURES = 12, 3, 81, 200


@dataclass(frozen=True)
class Side:
    """Runs that the log does not tell apart: their command and the words above them are alike."""

    report: Report
    figures: Sequence[Result]

    @property
    def last(self) -> Result:
        """The figure of its last run: what stands before may be its progress."""
        return self.figures[-1]


@rule
def sides_of_log(reports: Sequence[Report]) -> Iterator[str]:
    """A note on two kinds of runs of one tool that differ in their command or in the words above
    them, and whose figures are far apart or nearly the same.

    Decided by one figure that all of them have, which does not overlap between the two.
    """
    for tool, own in grouped(reports, lambda report: report.tool).items():
        if tool in readers.comparers() or not 2 <= len(own) <= MOST_RUNS:
            continue
        if any("message_bytes" in report.columns or is_paced(report) for report in own):
            continue  # a pace was asked for; message_tables.py compares what is of many sizes
        alike = [several for several in grouped(own, _work).values() if len(several) > 1]
        found = [sides for several in alike if (sides := _sides(several))]
        if not found:
            continue
        slow, fast = max(found, key=lambda sides: _ratio(*sides))
        differs = _differences(slow, fast)
        if not differs:
            continue
        low, high = slow.last, fast.last
        ratio = _ratio(slow, fast)
        if ratio >= APART:
            yield (
                f"line {low.line}: {low.name} is {low.value:,.6g} {low.unit}, {100 / ratio:.3g} % "
                f"of the {high.value:,.6g} {high.unit} of line {high.line} ({ratio:.3g} times "
                f"apart). They differ in {differs}, and maybe in more. Repeat both in turns with "
                "only one thing changed"
            )
        elif (
            len(own) == 2
            and 1 < ratio <= NEAR
            and tool not in NEAR_TOOLS
            and not _repeats(slow, fast)
        ):
            yield (
                f"line {high.line}: {low.name} is {high.value:,.6g} {high.unit}, and "
                f"{low.value:,.6g} {low.unit} in line {low.line}, {100 * (ratio - 1):.2g} % apart "
                f"by one run each. They differ in {differs}, and maybe in more. Single runs of one "
                "program often differ by as much, so these figures do not show that it matters"
            )


def _repeats(*sides: Side) -> bool:
    """Whether the tool took several runs itself: then its figure has a deviation, and is not of
    one."""
    return any(side.report.only(side.last.name, "stddev") for side in sides)


def _ratio(slow: Side, fast: Side) -> float:
    return fast.last.base_value / slow.last.base_value


def _work(report: Report) -> tuple[str, ...]:
    """What was done, as far as its facts say it."""
    facts = [str(report.facts.get(name)) for name in OF_WORK]
    if report.tool == "dd":  # of a copy, which ends are devices of the kernel
        ends = (str(report.facts.get(end) or "") for end in ("input", "output"))
        facts += [end if end in _OF_KERNEL else "" for end in ends]
    if report.tool == "hdparm":  # its drives are compared on purpose
        facts.append(str(report.facts.get("disk")))
    return tuple(facts)


def _sides(several: Sequence[Report]) -> tuple[Side, Side] | None:
    """The side with the least and the one with the most of a figure that all runs have, where these
    do not overlap; of several figures the one that differs most, and rates before times."""
    places = grouped(
        range(len(several)), lambda at: (_asked(several[at]), words_above(several[at]))
    )
    if len(places) < 2:
        return None
    found: list[tuple[tuple[bool, bool, float], Side, Side]] = []
    by_name = [
        grouped(report.results, _kind) for report in several if len(report.results) <= MOST_FIGURES
    ]
    for key, figures in by_name[0].items() if len(by_name) == len(several) else ():
        name, statistic, *_ = key
        if statistic not in WHOLE or any(len(own.get(key, ())) != 1 for own in by_name):
            continue
        first = figures[0]
        is_rate = first.rate is not None or first.unit.endswith("/s")
        are_good = all(own[key][0].is_positive for own in by_name)
        if not are_good or not (is_rate or (first.is_time and "connect" not in name)):
            continue
        if several[0].tool == "time" and name not in OF_RUN:
            continue
        sides = [
            Side(several[own[0]], [by_name[at][key][0] for at in own]) for own in places.values()
        ]
        low, high = (choose(sides, key=lambda side: side.last.base_value) for choose in (min, max))
        most = max(own.base_value for own in low.figures)
        least = min(own.base_value for own in high.figures)
        if low is not high and least > most:
            found.append(((is_rate, name in OF_RUN, least / most), low, high))
    if not found:
        return None
    _, low, high = max(found, key=lambda entry: entry[0])
    return low, high


def _kind(own: Result) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
    settings = {name: of for name, of in own.of.items() if name != "cpu_percent"}
    return own.name, own.statistic, in_base(1.0, own.unit)[1], plain(settings)


def _asked(report: Report) -> tuple[str, ...]:
    """The words of its command; of dd without one its two ends."""
    if report.asked or report.tool != "dd":
        return report.asked
    ends = (("if", report.facts.get("input")), ("of", report.facts.get("output")))
    return tuple(f"{name}={end}" for name, end in ends if end)


def words_above(report: Report) -> str:
    """What stands above a run as its title, without the number of the run."""
    words = str(report.facts.get("titled") or report.facts.get("said_above") or "")
    return "" if _PROMPT.search(words) else _ORDINAL.sub("", words)


def _differences(low: Side, high: Side) -> str:
    """In words, what two runs are not alike in, the one with the lower figure first; "" where the
    log shows nothing, commands that differ in much, or other work."""
    slow, fast = low.report, high.report
    found: list[str] = []
    above = [words_above(report) for report in (slow, fast)]
    words = ["" if _PROSE.match(text) else _shown(text) for text in above]
    ways = [{way.lower() for way in _WAY.findall(text)} for text in words]
    if all(ways) and ways[0] != ways[1]:
        return ""  # other work
    if all(words) and words[0] != words[1]:
        found.append(f"“{words[0]}” against “{words[1]}”")
    elif words[0] != words[1]:
        titled, bare = (low, high) if words[0] else (high, low)
        # A title above the first of them may be that of both.
        if titled.last.line > bare.last.line:
            found.append(f"“{words[0] or words[1]}” above line {titled.last.line}")
    if slow.version and fast.version and slow.version != fast.version:
        found.append(f"version {slow.version} against {fast.version}")
    asked = _asked(slow), _asked(fast)
    if all(asked) and asked[0] != asked[1]:
        only = [[word for word in own if word not in other] for own, other in (asked, asked[::-1])]
        if [*map(_of_file, only[0])] == [*map(_of_file, only[1])]:
            only = [[], []]
        if any(map(_PACE.match, chain(*only))):
            return ""
        if max(map(len, only)) <= MOST_WORDS and any(only):
            one, other = (" ".join(map(_shown, own)) for own in only)
            found.append(
                f"“{one}” against “{other}” in the command"
                if one and other
                else f"“{one or other}” in the command of line {(low if one else high).last.line}"
            )
        elif not found:
            return ""
    return listed(found)


def _of_file(word: str) -> str:
    """A word without the count in the name of a file."""
    is_file = ("/" in word or word.startswith(("of=", "if="))) and "/dev/" not in word
    return _COUNT.sub("#", word) if is_file else word


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
