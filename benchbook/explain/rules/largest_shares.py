"""where-the-time-went: tables that print the share of each part, one of which has most of it."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding

TOOLS = ("table", "table without units", "table of text")
LEAST_PARTS, MOST_PARTS = 2, 500
LARGE = 50.0  # per cent
WHOLE = (90.0, 101.5)  # what all parts make: a list may leave out the least
_SHARES = late(
    r"(?i)^(?:%|pct|percent(?:age)?|share)(?: of (?:the )?(?:total |wall |run ?)?time)?$"
    r"|^(?:total |wall |cpu |cuda |gpu |self |run ?)?time ?\(?%\)?$"
    r"|^% ?(?:of )?(?:the )?(?:total )?(?:wall |run)?time$"
    r"|^(?:self |total )?(?:cpu|cuda|gpu) ?(?:time )?%$"
)
_OF_ALL = late(r"(?i)^\W*(?:total|sum|all|overall|together)\b")
# Of a device: what moves its data and computes nothing.
_COPIES = late(r"(?i)copy ?host ?to ?device|copy ?device ?to ?host|memcpy ?(?:htod|dtoh)")


@rule
def largest_share(report: Report) -> Iterator[str]:
    """A note on the part that has more than half of a column of shares which make up the whole.

    Decided by the head of the column and by the sum of its figures.
    """
    if report.tool not in TOOLS:
        return
    shares: dict[str, list[Result]] = {}
    for own in report.results:
        label = str(own.of.get("label") or "")
        if label and not _OF_ALL.match(label) and _SHARES.search(own.name.strip()):
            shares.setdefault(own.name, []).append(own)
    for several in shares.values():
        whole = sum(own.value for own in several)
        is_alone = len({own.of["label"] for own in several}) == len(several)
        if not LEAST_PARTS <= len(several) <= MOST_PARTS or not is_alone:
            continue
        if not WHOLE[0] <= whole <= WHOLE[1] or any(own.value < 0 for own in several):
            continue
        most = max(several, key=lambda own: own.value)
        if most.value >= LARGE:
            label = str(most.of["label"])[:60]
            words = {"most": most, "label": label}
            words["copied"] = True if _COPIES.search(label) else None
            yield finding("largest-share", words).explanation
            return
