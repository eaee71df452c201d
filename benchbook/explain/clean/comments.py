"""Text out of what programmers keep it in: comments of C and its kin, of scripts, and patches.

Each line stays one, and where there is nothing to do it costs a search.
"""

from __future__ import annotations

import re

from benchbook.explain.lazy_regex import late
from benchbook.explain.line_index import has

_SLASHES = late(r"^[ \t]{0,80}//[/!]{0,2}(?: |$|(?=[|+]))", re.M)
_OPENS, _STAR = late(r"[ \t]*/\*+!? ?"), late(r"[ \t]*\*(?: |$)")
_HUNK = late(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
# What knitr puts before what a command printed, inside of a page that has headings as well.
_KNITTED = late(r"(?:^[ \t]{0,12}## .*+\n?+|^[ \t]{0,12}##[ \t]*+\n){3,}+", re.M)
_HASHES = late(r"^##? ?")  # knitr has two
_KNITTED_MARK = late(r"^[ \t]{0,12}## ?", re.M)
# The same of R's reprex.
_OF_REPREX = late(r"^[ \t]{0,12}#>(?: |$)", re.M)
_LEAST = 3  # lines that all begin with a #: tools have such heads, and lines without one below


def may_be_commented(text: str) -> bool:
    """Whether there may be something to do, whatever else stands before its lines."""
    marked = any(has(text, mark) for mark in ("//", "*/", "@@ -", "#> "))
    return marked or ("#" in text and text.count("#") > text.count("\n") / 4)


def uncommented(text: str) -> str:
    """Without marks of comments and patches before its lines."""
    if "\n@@ -" in text or text.startswith("@@ -"):
        text = "\n".join(_unpatched(text.split("\n")))
    if "//" in text:
        text = _SLASHES.sub("", text)
    if "*/" in text:
        text = "\n".join(_without_stars(text.split("\n")))
    if "#> " in text:
        text = _OF_REPREX.sub("", text)
    if text.lstrip()[:1] == "#":
        lines = text.split("\n")
        if sum(line[:1] == "#" for line in lines) >= max(_LEAST, sum(map(bool, lines))):
            text = "\n".join(_HASHES.sub("", line) for line in lines)
    if "## " in text:
        text = _KNITTED.sub(lambda block: _KNITTED_MARK.sub("", block[0]), text)
    return text


def _without_stars(lines: list[str]) -> list[str]:
    """Of each comment that is opened and closed, what its lines have behind their stars."""
    last = max(number for number, line in enumerate(lines) if "*/" in line)
    inside, kept = False, list[str]()
    for number, line in enumerate(lines):
        text = line
        if inside and (star := _STAR.match(line)):
            text = line[star.end() :]
        elif not inside and number < last and (opening := _OPENS.match(line)):
            inside, text = True, line[opening.end() :]
        if inside and "*/" in line:
            inside = False
        kept.append(text)
    return kept


def _unpatched(lines: list[str]) -> list[str]:
    """Of each part of a patch what it leaves in the file; what it takes away is emptied."""
    left, kept = 0, list[str]()
    for line in lines:
        text = line
        if hunk := _HUNK.match(line):
            left = int((hunk[2] or "1")[:9])
        elif left and line[:1] in ("+", " ", ""):
            text, left = line[1:], left - 1
        elif left and line[:1] == "-":
            text = ""
        elif not line.startswith("\\ No newline"):
            left = 0
        kept.append(text)
    return kept
