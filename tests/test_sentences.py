"""The language of every sentence of the product, as far as a machine can hear it.

`pytest tests/test_sentences.py` writes build/sentences.txt, for whoever reads them aloud.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sentences
from sentences import Sentence

# What nobody says -> what to say instead.
FAULTS = {
    r"\bbeside\b": "next to, compared with",
    r"\bby (itself|themselves)\b": "alone, on its own",
    r"\bstands? in\b(?! (the|this|line|a)\b)": "replaces",
    r"\bon and on\b|\bagain and again\b": "in a loop, polls, many times",
    r"\btells? of\b": "means, shows",
    r"\b(told|tells)\b(?! from noise)": "shows, says, distinguishes",
    r"\btwins?\b": "control build, control measurement",
    r"\bwas had\b": "was obtained, was returned",
    r"\bremed(y|ies)\b": "what to do",
    r"\bgo(es)? with it\b": "what goes: name it",
    r"\binconclusive\b": "not decided",
    r"\bwhoever\b|\banybody waits\b": "who does it",
    r"\b(is|are) left\b(?! (alone|as|out|side))": "remains",
    r"\bits own null\b": "the same program timed twice differs by …",
    r"\bof the logarithm\b": "on a log scale",
    r"\bstart (beside|by) start\b": "paired run by run",
}
LONGEST = 25  # words
# How many wait for the editor's pass; both only fall.
UNEDITED_UNUSUAL, UNEDITED_LONG = 0, 8
SENTENCE_END = re.compile(r"(?<=[.?!])(?<!\be\.g\.)(?<!\bi\.e\.)[)”\"]?\s+")
CONDITIONAL = re.compile(r"\[([^\]]*)\]")  # parts of which one or none is said
WORD = re.compile(r"[\w’'./-]*[A-Za-z0-9][\w’'./%-]*")
# What we do not write: words of the sources, names, what is filled in.
NOT_OURS = re.compile(r"`[^`]*`|“[^”]*”|‹[^›]*›")


@pytest.fixture(scope="module")
def collected() -> list[Sentence]:
    """All sentences, which build/sentences.txt lists."""
    found = sentences.collected()
    file = Path(sentences.ROOT, "build", "sentences.txt")
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"{sentence.line()}\n" for sentence in found), encoding="utf-8")
    return found


def unusual(sentence: Sentence) -> list[str]:
    """What nobody would say aloud, with what to say instead."""
    text = NOT_OURS.sub("…", sentence.text)
    return [
        f"{sentence.file}:{sentence.place}: {found[0]!r}; say: {better}"
        for pattern, better in FAULTS.items()
        if (found := re.search(pattern, text))
    ]


def too_long(sentence: Sentence) -> list[str]:
    """The sentences in a text that have to be read twice."""
    texts = [CONDITIONAL.sub("", sentence.text), *CONDITIONAL.findall(sentence.text)]
    parts = (part for text in texts for part in SENTENCE_END.split(text))
    counted = ((len(WORD.findall(part)), part) for part in parts)
    return [
        f"{sentence.file}:{sentence.place}: {words} words: {part}"
        for words, part in counted
        if words > LONGEST
    ]


def test_no_sentence_is_unusual(collected: list[Sentence]) -> None:
    found = [line for sentence in collected for line in unusual(sentence)]
    assert len(found) <= UNEDITED_UNUSUAL, "\n".join(found)


def test_no_sentence_is_too_long(collected: list[Sentence]) -> None:
    found = [line for sentence in collected for line in too_long(sentence)]
    assert len(found) <= UNEDITED_LONG, "\n".join(found)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("benchbook/detect/detectors/bimodal.toml", "The median describes the largest group"),
        ("benchbook/explain/rules/findings.toml", "No set of samples has such statistics."),
        ("benchbook/report/wording.py", "Caution: other programs were running during A, B and C"),
        ("benchbook/report/templates/parts/claims_table.html.j2", "verdict"),
        ("benchbook/commands/serve.py", "Send each datagram back"),
        ("data/published/slocum2013-mbw/paper.yaml", "looks ten times as fast as memcpy"),
        ("kernels/controls/bimodal/control.yaml", "arithmetic in which"),
        ("kernels/common/refuse.c", "see --help"),
        ("scripts/setup", "installing by"),
        ("Makefile", "the tests that take seconds"),
        ("config/default.yaml", "repetitions are looped inside"),
        ("README.md", "your own machine"),
        ("benchbook/host/tools.csv", "compiles the kernels"),
    ],
)
def test_every_kind_of_source_is_read(file: str, text: str, collected: list[Sentence]) -> None:
    assert any(text in sentence.text for sentence in collected if sentence.file == file)
