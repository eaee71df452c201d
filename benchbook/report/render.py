"""Templates -> HTML; nothing in it leads outside."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup, escape

from benchbook.core import number_format
from benchbook.report import artefacts, foreign_words, run_groups
from benchbook.report.anonymise import nameless, nameless_page
from benchbook.report.plots import palette

if TYPE_CHECKING:  # who exports a notebook draws nothing
    from benchbook.report.plots.style import Picture

TEMPLATES = Path(__file__).parent / "templates"
# Every address but that of a link to a paper's source, which is followed only by who clicks on it.
_ADDRESS = re.compile(r'(?<!<a class="source" href=")https?://', re.IGNORECASE)


@dataclass(frozen=True)
class Html:
    """A piece of a page; Jupyter shows it as such."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


@dataclass(frozen=True)
class Frame:
    """What stands around every page: its head below the title, and the script at its end."""

    head: Markup
    script: Markup


@cache
def frame() -> Frame:
    """Style and script out of templates/; the policy lets only this very script run, so that text
    from outside cannot, whatever it holds, and nothing is fetched."""
    style, script = (
        (TEMPLATES / name).read_text(encoding="utf-8") for name in ("style.css", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return Frame(
        Markup(
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<style>\n{palette.page_css()}{style}</style>"
        ),
        Markup(f"<script>{script}</script>"),
    )


@cache
def environment() -> jinja2.Environment:
    """The templates, with the filters that they use."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {
        "number": number_format.number,
        "printed": number_format.printed,
        "recomputed": recomputed,
        "share": number_format.share,
        "count": number_format.count,
        "seconds": number_format.seconds,
        "code": code,
        "artefact": artefacts.title,
        "hue": palette.variable,
        "sentence": lambda text: text[:1].upper() + text[1:],
    }
    templates.globals |= {
        "interval": number_format.interval,
        "with_interval": number_format.with_interval,
        "plural": number_format.plural,
        "run_groups": run_groups.sentences,
        "listed": number_format.listed,
    }
    return templates


def render(template: str, **context: Any) -> str:
    """The template's text with this context."""
    return environment().get_template(template).render(**context)


def part(name: str, **context: Any) -> Html:
    """A section of a page, out of templates/parts/; of a paper in another script, its words are
    marked with their language."""
    html = render(f"parts/{name}.html.j2", **context)
    return Html(foreign_words.marked(html, (context.get("paper") or {}).get("language", "")))


def recomputed(value: float | str | None) -> str:
    """A number of the audit with all the digits that it has, or its words."""
    if value is None:
        return number_format.NONE
    return value if isinstance(value, str) else f"{value:,.10g}"


def code(text: str) -> Markup:
    """Text in which `words` between backticks are set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def data_address(text: str, kind: str) -> str:
    """A file inside its own link, so that a page sent to somebody still holds it."""
    return f"data:{kind};base64,{base64.b64encode(nameless(text).encode()).decode()}"


def without_addresses(html: str) -> str:
    """The page with the scheme cut off every address, and without names of people and machines: a
    compiler's message may hold them."""
    return nameless_page(_ADDRESS.sub("", html))


def svg_of(picture: Picture | None) -> Markup | None:
    """A picture's SVG for a template, or None."""
    return None if picture is None else Markup(picture.inline)
