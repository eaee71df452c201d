"""Words of a page in another script: marked with their language, so that they are read as such and
give way where no font has them."""

from __future__ import annotations

import re

# Kana, Han characters and their full-width punctuation.
_SCRIPT = r"\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60"
_WORDS = re.compile(rf"[{_SCRIPT}](?:[{_SCRIPT}\s]*[{_SCRIPT}])?")
# What holds no markup of its own, and a tag, whose attributes are no text.
_KEPT = re.compile(r"(<(svg|style|script|title|option)\b.*?</\2>|<[^>]*>)", re.DOTALL)
LANGUAGES = ("ja", "zh")


def has_foreign(text: str) -> bool:
    """Whether a text has such words: no font of a picture is sure to draw them."""
    return _WORDS.search(text) is not None


def marked(html: str, language: str) -> str:
    """The markup with each run of such words in a span of its language; other languages than
    LANGUAGES, which are written in these scripts, leave it as it is."""
    if language not in LANGUAGES:
        return html
    parts, end = [], 0
    for kept in _KEPT.finditer(html):
        parts += [_in_spans(html[end : kept.start()], language), kept[0]]
        end = kept.end()
    return "".join([*parts, _in_spans(html[end:], language)])


def _in_spans(text: str, language: str) -> str:
    return _WORDS.sub(rf'<span class="foreign" lang="{language}">\g<0></span>', text)
