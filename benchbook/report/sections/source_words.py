"""What a page says of its source: title, address, the source's own words and our readings of it.

Only words that the source really has stand in quotation marks.
"""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.core.units import UNITS, in_names
from benchbook.define.published import words_of
from benchbook.report import wording
from benchbook.report.wording import Paper

Statement = dict[str, Any]
LANGUAGES = {"ja": "Japanese", "zh": "Chinese", "de": "German", "fr": "French"}
ENGLISH = "en"
LISTED = 4  # cells that are listed; of more only the columns are named


def title(paper: Paper) -> str:
    """`“Testing Memory I/O Bandwidth”`; of a title that is not English our translation leads, and
    one that is ours stands without quotation marks."""
    if paper.get("title_is_ours"):
        return f"a text without a title ({wording.lower_first(paper['title'])})"
    return f"“{paper.get('gloss') or paper['title']}”"


def original_title(paper: Paper) -> str:
    """The title in its own language where a translation leads, else empty."""
    return str(paper["title"]) if paper.get("gloss") else ""


def language(paper: Paper) -> str:
    """`Japanese`, by its code; a code that has no name here stands for itself."""
    code = str(paper["language"])
    return LANGUAGES.get(code, code)


def byline(paper: Paper) -> str:
    """`Japanese web page, author and date not stated`."""
    words = wording.byline(paper)
    return (
        words
        if paper["language"] == ENGLISH
        else words.replace(paper["kind"], f"{language(paper)} {paper['kind']}", 1)
    )


def quote(paper: Paper, statement: Statement) -> str:
    """The source's own sentence in quotation marks, translated where it is not English; of a
    reading the cells that it rests on."""
    if not statement["verbatim"]:
        return f"our reading of {cells(statement)}"
    if not statement["translation"]:
        return f"“{statement['verbatim']}”"
    return f"“{statement['translation']}” (our translation from {language(paper)})"


def original(statement: Statement) -> str:
    """The source's sentence in its own language, where `quote` shows a translation; else empty."""
    return str(statement["verbatim"]) if statement["translation"] else ""


def cells(statement: Statement) -> str:
    """`145 µs and 101 µs in round_trips.csv`; of many cells only their columns."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for part in statement["reading"]:
        tables.setdefault(part["table"], []).append(part)
    return number_format.listed([_of_table(table, parts) for table, parts in tables.items()])


def _of_table(table: str, parts: list[dict[str, Any]]) -> str:
    printed = [_with_unit(cell, part["column"]) for part in parts for cell in part["cells"] if cell]
    if len(printed) <= LISTED:
        return f"{number_format.listed(printed)} in {table}"
    columns = list(dict.fromkeys(words_of(part["column"]) for part in parts))
    word = "column" if len(columns) == 1 else "columns"
    return f"the {word} {number_format.listed(columns)} of {table}"


def _with_unit(printed: str, column: str) -> str:
    unit = next((unit for unit in UNITS if column.endswith(f"_{in_names(unit)}")), "")
    return f"{printed}{number_format.FIXED}{unit}" if unit else printed


def concludes(paper: Paper) -> str:
    """What the source itself concludes, as a sentence; empty where no conclusion is named."""
    thesis = paper.get("thesis")
    if not thesis:
        return ""
    if thesis["source"]["verbatim"]:
        return _ended(f"The source says: {quote(paper, thesis['source'])}")
    return f"The source’s tables show, as we read them: {thesis['text']}"


def of_claim(paper: Paper, claim: dict[str, Any]) -> str:
    """Whose words a claim is made of, as a sentence: the source's, or ours on its cells."""
    statement = claim.get("source")
    if not statement:
        return ""
    note = f" {statement['note']}" if statement["note"] else ""
    if statement["verbatim"]:
        return _ended(f"The source: {quote(paper, statement)}") + note
    return f"The source does not say so; it is {quote(paper, statement)}.{note}"


def remarks(paper: Paper) -> dict[str, list[dict[str, Any]]]:
    """What else the source says, and what else its tables show: heading -> remarks."""
    every: dict[str, list[dict[str, Any]]] = {}
    for remark in paper.get("remarks") or []:
        word = "Also says" if remark["source"]["verbatim"] else "Also shows"
        every.setdefault(word, []).append(remark)
    return every


def remarks_on(paper: Paper, figure: str) -> list[str]:
    """What else the source says or shows of a figure, each in our words and with its source."""
    return [
        _ended(f"{remark['text']} {wording.capitalised(quote(paper, remark['source']))}")
        for remark in paper.get("remarks") or []
        if remark.get("figure") == figure
    ]


def _ended(sentence: str) -> str:
    """A sentence with its full stop, where a quotation at its end has none."""
    return sentence if sentence.endswith((".”", "?”", "!”")) else f"{sentence}."


def read_on(paper: Paper) -> str:
    """`, read on 2026-11-27`, to follow what a source is; empty where no day is named."""
    return f", read on {paper['read']}" if paper.get("read") else ""
