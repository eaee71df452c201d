"""The contents of a page, out of its headings, so that no part of it is named twice."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PLACE = "<!-- contents -->"
UNLISTED = ("flags-", "loops-")  # anchors of sections that are one of many alike
MOST, LONG = 20, 10  # sections in all; where there are more, lists of LONG and more are left out
LEAST = 4  # headings of second order: a shorter page is seen at a glance
_HEADING = re.compile(
    r'(?:<(?:section|details)[^>]*? id="(?P<section>[^"]+)"[^>]*>\s*(?:<summary>)?)?'
    r"<h(?P<order>[23])(?P<more>[^>]*)>(?P<text>.*?)</h(?P=order)>",
    re.DOTALL,
)
_ID = re.compile(r' id="([^"]+)"')
_SAID = re.compile(
    r"<a [^>]*>.*?</a>|<span class=\"(?:verdict|grey|mark)[^>]*>.*?</span>", re.DOTALL
)


@dataclass
class _Entry:
    text: str
    anchor: str
    below: list[_Entry] = field(default_factory=list)

    def alone(self) -> _Entry:
        """The entry without those below it."""
        return _Entry(self.text, self.anchor)


def with_contents(html: str) -> str:
    """The page with its contents where PLACE is: headings of second order, each with the sections
    below it that can be linked to; headings without a name get one."""
    entries: list[_Entry] = []
    taken = set(_ID.findall(html))

    def heading(match: re.Match[str]) -> str:
        text = re.sub(r"<[^>]+>", "", _SAID.sub("", match["text"])).strip()
        named = _ID.search(match["more"])
        anchor = (named[1] if named else "") or match["section"] or ""
        if match["order"] == "3":
            if entries and anchor and text and not anchor.startswith(UNLISTED):
                entries[-1].below.append(_Entry(text, anchor))
            return match[0]
        whole = match[0]
        if not anchor:
            anchor = _free("at-" + re.sub(r"\W+", "-", text.lower()).strip("-"), taken)
            whole = whole.replace("<h2", f'<h2 id="{anchor}"', 1)
        entries.append(_Entry(text, anchor))
        return whole

    html = _HEADING.sub(heading, html)
    contents = ""
    if len(entries) >= LEAST:
        if sum(len(entry.below) for entry in entries) > MOST:
            entries = [entry if len(entry.below) < LONG else entry.alone() for entry in entries]
        contents = f'<nav class="contents scroll" aria-label="Contents">{_list(entries)}</nav>'
    return html.replace(PLACE, contents, 1)


def _free(name: str, taken: set[str]) -> str:
    anchor, k = name, 1
    while anchor in taken:
        k += 1
        anchor = f"{name}-{k}"
    taken.add(anchor)
    return anchor


def _list(entries: list[_Entry]) -> str:
    """Entries as an HTML list, those below them as lists inside; empty without any."""
    if not entries:
        return ""
    items = (
        f'<li><a href="#{entry.anchor}">{entry.text}</a>{_list(entry.below)}</li>'
        for entry in entries
    )
    return f"<ol>{''.join(items)}</ol>"
