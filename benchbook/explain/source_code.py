"""Whether a text is source code: what it says of times and errors is no report of a run."""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log

LINE = late(
    r"^\s*(?:#\s*(?:include|define|if|endif|pragma)|import |from [\w.]+ import|def |func |fn "
    r"|class |return\b|raise |yield |elif |else:|try:|except\b|with .{1,200}:$|assert |self\."
    r"|public |private |static |const |let |var |using |namespace |void |int "
    r"|(?:if|for|while|switch) .{1,200}[:{)]$"
    r"|[A-Z][A-Z_\d]{2,60}(?:, [A-Z_\d]{2,60})* = |\"\"\"|//|/\*|@\w)|[;{}]\s*$|^\s*[})\]]"
)
_SHARE, _LEAST, _LOOKED_AT = 0.25, 8, 2000  # of the lines with words; lines


def is_source(log: Log) -> bool:
    """Whether a part of the lines is code, in a text without fences: a page with them has words of
    its own."""
    if log.has("```"):
        return False
    texts = [line.text for line in log.lines[:_LOOKED_AT] if line.text and not line.text.isspace()]
    code = sum(LINE.search(text[:400]) is not None for text in texts)
    return code >= _LEAST and code > _SHARE * len(texts)
