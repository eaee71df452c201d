"""Programs that printed their help instead of a result."""

from __future__ import annotations

from benchbook.explain.context.error_messages import Entry, Message
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log
from benchbook.explain.source_code import is_source

_HEAD = late(
    r"(?i)^\W{0,4}(?:usage|synopsis|(?:supported|valid|available|optional) (?:arguments|options|"
    r"flags)|(?:command[- ]line )?(?:options|arguments|flags))\b[^:]{0,30}:"
)
_OPTION = late(r"^\s*(?:\[?-[A-Za-z]\b|\[?--[a-z][\w-]{1,40})(?:[ ,=<\[\t|]|$)")
_WORDS = (":",)
_NEAR, _LEAST = 14, 3  # lines below the head; options among them
_ENTRY = Entry(
    name="printed-help",
    tool="text",
    words=_WORDS,
    means=(
        "That is the help of a program, with its options, and no result. It is printed where an "
        "option is unknown, missing or not allowed next to another one. So most likely nothing was "
        "measured."
    ),
    remedy=(
        "Read the lines above it and its notes on options that exclude each other, and change the "
        "command."
    ),
)


def printed_help(log: Log) -> list[Message]:
    """The first head of a list of options, as a message; none where no such list is below it."""
    if is_source(log):
        return []
    for index, line in enumerate(log.lines):
        if len(line.text) <= 200 and _HEAD.match(line.text):
            below = log.lines[index + 1 : index + 1 + _NEAR]
            if sum(_OPTION.match(own.text[:200]) is not None for own in below) >= _LEAST:
                return [Message(_ENTRY, [line])]
    return []
