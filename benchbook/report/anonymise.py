"""Names of people and machines stay out of pages: homes, prompts, and what this host is called.

Compiler messages, reasons and logs carry them in; a page is what gets sent to somebody.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

HOME, PROMPT, MACHINE = "~", "user@host", "this-host"
_HOMES = re.compile(r"/(?:home|Users)/[^/\s\"'<>:;,()&`]+|(?<![\w.])/root(?=[/\s:;,)\"'<]|$)")
_PROMPTS = re.compile(r"\b[A-Za-z_][\w.-]*@[A-Za-z][\w.-]*(?=:?\s?[~/$#])")
_UNAME = re.compile(r"\bLinux \S+ (?=\d+\.\d+)")
# Style, script, and tags: what stands in them is ours, but for what is read aloud or shown.
_APART = re.compile(r"(<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>)", re.DOTALL)
_TOLD = re.compile(r'( (?:aria-label|data-label|title|alt)=")([^"]*)')


def nameless(text: str) -> str:
    """Plain text without homes, prompts, and the names of this machine and checkout."""
    here = str(Path.cwd())
    if len(here) > 1:
        text = re.sub(re.escape(here) + r"(?:/|(?![\w.-]))", "", text)
    text = _UNAME.sub(f"Linux {MACHINE} ", _PROMPTS.sub(PROMPT, _HOMES.sub(HOME, text)))
    name = _machine(os.uname().nodename)
    return name.sub(MACHINE, text) if name else text


def nameless_page(html: str) -> str:
    """A page, in whose tags only what is told is changed: no link and no rule breaks."""
    pieces = _APART.split(html)
    return "".join(
        (nameless(piece) if piece.strip() else piece)
        if not piece.startswith("<")
        else _TOLD.sub(lambda match: match[1] + nameless(match[2]), piece)
        for piece in pieces
    )


@cache  # asked for each text between two tags: without it a page took 17 s on most hosts
def _machine(name: str) -> re.Pattern[str] | None:
    """What this host is called, by itself or with its domain; no word that pages are made of."""
    short = name.partition(".")[0]
    if len(short) < 4 or re.search(rf"\b{re.escape(short)}\b", _ours(), re.IGNORECASE):
        return None
    return re.compile(rf"(?<![\w-]){re.escape(short)}(?:\.[\w.-]*\w)?(?![\w-])")


@cache
def _ours() -> str:
    """The words of our own templates and of names that many machines have."""
    folder = Path(__file__).parent / "templates"
    texts = [template.read_text(encoding="utf-8") for template in sorted(folder.rglob("*.j2"))]
    return " ".join([*texts, "localhost debian ubuntu fedora host linux server test bench"])
