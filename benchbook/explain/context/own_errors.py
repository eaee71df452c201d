"""Lines in which a text that nobody can read names a failure itself: `error: …`, `fatal: …`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter

from benchbook.explain.context.error_messages import Entry, Message
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log
from benchbook.explain.source_code import is_source

# At the beginning of a line, behind the name of a program or a place in a file.
_FAILED = late(
    r"^\W{0,4}(?:[\w./+-]{1,60}(?::\d{1,6}){0,2}: )?(?:(?:fatal|internal|runtime|uncaught) )?"
    r"(?:(?:errors?|fatal|panic|(?-i:[A-Z]\w{1,40}(?:Error|Exception)))"
    r"(?: ?[\[(][^\])\n]{1,60}[\])])?\]?"
    r"(?:\s*:(?!:)\s*(?!0\b|none\b|no errors?\b)\S|!)|segmentation fault|bus error|core dumped)",
    re.I,
)
_WORDS = ("rror", "RROR", "atal", "ATAL", "anic", "xception", "egmentation fault", "core dumped")
_ENTRY = Entry(
    name="own-error",
    tool="text",
    words=_WORDS,
    means=(
        "That is a failure in the words of the program. Nothing else in this text could be read, "
        "so no figure of it counts."
    ),
    remedy="Read the first such line and what stands above it: later ones mostly follow from it.",
)
_LONGEST, _MOST = 600, 20
_WARNED = late(
    r"^\W{0,4}(?:[\w.-]{1,40}: )?\[?(?:warn(?:ing)?|caution|attention)\b\]?[: !]\s*\S", re.I
)
_WARNINGS = ("arning", "ARN", "arn:", "aution", "ttention")
_MOST_WARNINGS, _LONGEST_WARNING = 3, 300


def own_warnings(log: Log, messages: Sequence[Message]) -> list[str]:
    """The warnings and failures of a program that nobody knows, as sentences that quote them, but
    those that a message has already."""
    if is_source(log):
        return []
    taken = {line.number for message in messages for line in message.lines}
    lines = {
        line.text.strip(): line.number
        for line in reversed(log.having(*_WARNINGS, *_WORDS))
        if line.number not in taken
        and len(line.text) <= _LONGEST_WARNING
        and "umb terminal" not in line.text  # of no meaning for its figures
        and (_WARNED.match(line.text.strip()) or _FAILED.match(line.text.strip()))
    }
    first = sorted(lines.items(), key=itemgetter(1))[:_MOST_WARNINGS]
    return [f"Line {number} of the log says: “{text.rstrip('.')}”." for text, number in first]


_OF_RESULTS = late(
    r"(?i)\b(?:results?|reliable|unstable|inaccurate|median|outliers?|timings?|noisy|slow(?:er)?"
    r"|measurements?)\b"
)


def warnings_of_results(log: Log, messages: Sequence[Message], notes: Sequence[str]) -> list[str]:
    """The warnings of a known program about its own results, quoted, but those that a message or a
    note has already: where nothing else is found, they are not to be missed."""
    taken = {line.number for message in messages for line in message.lines}
    lines = [
        line
        for line in log.having(*_WARNINGS)
        if line.number not in taken
        and len(line.text) <= _LONGEST_WARNING
        and _WARNED.match(line.text.strip())
        and _OF_RESULTS.search(line.text)
        and not any(line.text.strip() in note or f"line {line.number}" in note for note in notes)
    ]
    first = {line.text.strip(): line.number for line in reversed(lines)}
    return [
        f"Line {number} is a warning of the program: “{text.rstrip('.')}”."
        for text, number in sorted(first.items(), key=itemgetter(1))[:_MOST_WARNINGS]
    ]


def own_errors(log: Log) -> list[Message]:
    """The lines that name a failure, as one message; none where no line does."""
    if is_source(log):
        return []
    lines = [
        line
        for line in log.having(*_WORDS)
        if len(line.text) <= _LONGEST and _FAILED.match(line.text.strip())
    ]
    return [Message(_ENTRY, lines[:_MOST])] if lines else []
