"""Mutations of logs: what happens to text on its way, and what somebody does to it on purpose."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from benchbook import explain
from benchbook.explain import readers, sample_detectors
from benchbook.explain.api import Explained
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.model import Log, Report
from benchbook.explain.render import print_explained
from benchbook.explain.rules import Ask, Machine, rules
from benchbook.findings import Finding

CORPUS = Path(__file__).parent / "logs"
DECLARED = Path(explain.__file__).with_name("columns.toml")
RESULT_COLUMNS = tomllib.loads(DECLARED.read_text(encoding="utf-8"))
SEEDS = [path.read_bytes() for path in sorted(CORPUS.glob("*/*.log"))]
MACHINES = (
    Machine(),
    Machine(2**25, 8, 2**34, 4e10, "--host x"),
    Machine(1, 1, 1, 1e-300, "--l3"),
)
NUMBERS = [
    *(b"0", b"-0", b"-1", b"nan", b"-inf", b"inf", b"1e309", b"1e-320", b"9" * 400, b"0.0"),
    *(b"1,2,3", b"1.234.567,8", b"12,5", b"\xd9\xa3", b"0x10", b"1_0", b"+5", b".", b"-", b"1e"),
    *(b"", b"1.2.3", b"9" * 5000),
]
NUMBER = re.compile(rb"\d+(?:[.,]\d+)*")
HOSTILE = [
    *(b"<script>alert(1)</script>", b"\x1b]0;x\x07", b"\x00", b"\xff\xfe", b"\xc3", b"{{ 7 * 7 }}"),
    *(b"{", b'{"', b"[[[[", b"}]}]", b'"a": ', b"<pre>", b"&#0;&lt;", b"\r", b"\b\b", b"| ", b"> "),
    *(b"$ '", b"\\\n", "\u202e\u2028".encode(), b"\t" * 50, b" " * 500, b"%n%s", b"A" * 3000),
]
Mutation = Callable[[random.Random, bytes], bytes]


def _cut(rng: random.Random, content: bytes) -> bytes:
    begin, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return rng.choice([content[begin:], content[:end], content[begin:end]])


def _without_middle(rng: random.Random, content: bytes) -> bytes:
    begin, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:begin] + content[end:]


def _bytes(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content or b"x")
    for _ in range(rng.randrange(1, 20)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _numbers(rng: random.Random, content: bytes) -> bytes:
    share = rng.choice([0.01, 0.2, 1.0])
    return NUMBER.sub(
        lambda found: rng.choice(NUMBERS) if rng.random() < share else found[0],
        content,
    )


def _words(rng: random.Random, content: bytes) -> bytes:
    """Numbers where words were, and the other way round."""
    words = content.split(b" ")
    for _ in range(rng.randrange(1, 10)):
        first, other = rng.randrange(len(words)), rng.randrange(len(words))
        words[first], words[other] = words[other], words[first]
    return b" ".join(words)


def _lines(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    kind = rng.randrange(4)
    if kind == 0:
        rng.shuffle(lines)
    elif kind == 1:
        lines = [line for line in lines if rng.random() < 0.7]
    elif kind == 2:
        lines = [line for line in lines for _ in range(rng.choice([1, 1, 2, 5]))]
    else:
        lines = [
            line[: rng.randrange(len(line) + 1)] if rng.random() < 0.2 else line for line in lines
        ]
    return b"\n".join(lines)


def _insert(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(HOSTILE) * rng.choice([1, 1, 30]) + content[at:]


def _other(rng: random.Random, content: bytes) -> bytes:
    return _cut(rng, rng.choice(SEEDS)) + rng.choice([b"", b"\n"]) + content


def _wrapped(rng: random.Random, content: bytes) -> bytes:
    before = rng.choice([b"> ", b"2024-05-01T10:00:00Z ", b"    ", b"job | ", b"[    1.000000] "])
    after = rng.choice([b"", b"\r", b"\x1b[0m", b"  "])
    return b"\n".join(before + line + after for line in content.split(b"\n"))


def _encoded(rng: random.Random, content: bytes) -> bytes:
    encoding = rng.choice(["utf-16", "utf-16-be", "utf-16-le", "utf-32", "latin-1", "utf-7"])
    return content.decode("utf-8", "replace").encode(encoding, "replace")


def _random(rng: random.Random, content: bytes) -> bytes:
    return rng.randbytes(rng.randrange(2000)) + content[: rng.choice([0, len(content)])]


def _json(rng: random.Random, content: bytes) -> bytes:
    """Another kind of value somewhere in a document."""
    value = rng.choice(
        [b"null", b"[]", b"{}", b'""', b"true", b"-1", b"1e999", b'[{"a": 1}]', b"NaN"]
    )
    places = [match.end() for match in re.finditer(rb'": ', content)]
    if not places:
        return content
    at = rng.choice(places)
    end = re.compile(rb"[,\n}\]]|\Z").search(content, at)
    return content[:at] + value + content[end.start() if end else at :]


MUTATIONS: tuple[Mutation, ...] = (
    *(_cut, _without_middle, _bytes, _numbers, _words, _lines, _insert, _other, _wrapped),
    *(_encoded, _random, _json, _json, _numbers),
)


def mutated(rng: random.Random) -> bytes:
    """A log of the corpus after a few of these."""
    content = rng.choice(SEEDS)
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        content = rng.choice(MUTATIONS)(rng, content)
        if len(content) > 1 << 18:
            content = content[: 1 << 18]
    return content


def explained(content: bytes, machine: Machine) -> Explained:
    """As `benchbook explain` has it, but nothing that an importer or a rule raises is caught, and
    importers read what is not for them too."""
    log: Log = log_of(content)
    reports: list[Report] = []
    for name in readers.names():
        reports += readers.importer(name).read(log)
    reports.sort(key=lambda report: report.line)
    said = [finding for rule in rules() for finding in rule.check(reports, machine)]
    said += sample_detectors.findings(reports)
    return Explained(
        "fuzzed",
        reports,
        [statement for statement in said if isinstance(statement, Finding)],
        [statement for statement in said if isinstance(statement, Ask)],
        [
            *(note for report in reports for note in report.notes),
            *(x for x in said if isinstance(x, str)),
        ],
    )


def check(content: bytes, machine: Machine) -> None:
    """Whatever the content: facts as JSON, a table for people, nothing for the terminal."""
    found = explained(content, machine)
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert len(record["results"]) == sum(len(report.results) for report in found.reports)
    lines = content.count(b"\n") + content.count(b"\r") + 1
    for result in record["results"]:
        assert result["unit"] is not None
        assert 1 <= result["line"] <= 2 * lines + 2
    for report in found.reports:
        assert (report.columns | report.facts.keys()) <= RESULT_COLUMNS.keys()
    for finding in found.findings:
        assert finding.explanation
        assert finding.remedy
        assert 0 <= finding.confidence <= 1
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        print_explained(found, alone=False)
    assert all(character.isprintable() for character in shown.getvalue().replace("\n", ""))
