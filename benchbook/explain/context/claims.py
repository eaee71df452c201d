"""What a text claims of the figures in it: `an average speedup of 40x`, `2x faster`, `30 % faster`.

Only lines that have no figure of their own, and one such claim. Rules compare them with the rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.context.same_runs import lines_of_results
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report

TOOLS = ("table", "figures")
LIBRARIES = ("benchmark.js", "tinybench", "vitest-bench", "benchmark-ips")
_WORDS = (
    "aster",
    "peedup",
    "peed-up",
    "mprove",
    "lower",
    "utperform",
    "educ",
    "ecrease",
    "quicker",
)
_CLAIM = late(
    r"(?<![\w.,/-])(?P<value>\d+(?:\.\d+)?) ?(?:(?P<percent>%)|[x\u00d7](?!\w)|-?times\b|-?fold\b)"
)
_OF_SPEED = late(
    r"(?i)faster|slower|quicker|speed-?up|improve|outperform|reduc(?:ed|es|tion)|decrease"
)
_MORE = late(r"(?i)\b(?:faster|slower|quicker)\b")
_AVERAGE = late(r"(?i)\b(?:average|avg|mean|geo-?mean|overall|on average)\b")
_MOST = late(r"(?i)\bup to\b|\bas much as\b|\bat most\b|\bmax(?:imum)?\b")
_FIGURE = late(r"\d ?(?:ns|us|µs|μs|ms|s|sec|[kMG]i?B(?:/s)?|ops(?:/s)?|rows|req/s)\b")
# Of memory, size or a goal it says nothing of speed.
_OTHER = late(
    r"(?i)memor|\bsize|alloc|bundle|disk|cost|token|accura|expect|target|goal|should|could|would"
    r"|theor|compress|throughput of|cpu usage|energy"
)
_OF_ALL = ("every ", " all ", " ALL ", "always ", "onsistent")
WINS = late(
    r"(?i)\b(?:outperform\w*|faster|fastest|wins?|beats?|leads?|leadership|ahead)\b.{0,80}"
    r"\b(?:every|all|always|consistent(?:ly)?)\b"
    r"|\b(?:every|all|always|consistent(?:ly)?)\b.{0,80}"
    r"\b(?:outperform\w*|faster|fastest|wins?|beats?|leads?|leadership|ahead)\b"
)
_NOT = late(r"(?i)\b(?:not|n't|except|but|nearly|almost|most)\b")
_LONGEST, _MANY = 300, 400


def tell(log: Log, reports: list[Report]) -> None:
    """Give the first table of the log the claims of its text: the value, whether it is in per cent,
    whether it is "faster", of what it is, and its line."""
    own = [report for report in reports if report.tool in (*TOOLS, *LIBRARIES)]
    if not own or len(own) < len(reports):
        return
    taken = lines_of_results(reports)
    claims = [
        claim
        for line in log.having(*_WORDS)[:_MANY]
        if line.number not in taken and len(line.text) <= _LONGEST and "|" not in line.text
        for claim in _claims(line)
    ]
    if claims:
        own[0].facts["claims"] = claims
    for line in log.having(*_OF_ALL)[:_MANY]:
        if line.number not in taken and "|" not in line.text and _says_always(line.text):
            own[0].facts |= {"said_always": line.text[:_LONGEST], "said_always_line": line.number}
            return


def _claims(line: Line) -> Iterator[tuple[float, bool, bool, str, int]]:
    text = line.text.replace("*", "").replace("`", "")
    found = list(_CLAIM.finditer(text))
    if len(found) != 1 or not _OF_SPEED.search(text) or _FIGURE.search(text) or _OTHER.search(text):
        return
    of = "average" if _AVERAGE.search(text) else "most" if _MOST.search(text) else ""
    is_more = bool(_MORE.search(text))  # "2 times faster" may mean 3 to 1
    yield float(found[0]["value"]), bool(found[0]["percent"]), is_more, of, line.number


def _says_always(text: str) -> bool:
    """Whether it says that something is faster in all cases, without an exception."""
    return len(text) <= _LONGEST and bool(WINS.search(text)) and not _NOT.search(text)
