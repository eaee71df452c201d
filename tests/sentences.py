"""Every sentence of the product, collected out of its sources, each with an example filled in.

A template is a text in which an expression is to be filled: an f-string, a text of a catalogue, a
line of a page's template, a message of a script. The example is made from what the expression is
called, since most sentences need a measured machine to be made for real.
"""

from __future__ import annotations

import ast
import csv
import json
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
SOURCES = (
    *("benchbook", "scripts", "kernels", "config", "profiles", "workflows", "docs", "notebooks"),
    *("data/published", "Makefile", "Snakefile", "flake.nix", "README.md", "CONTRIBUTING.md"),
)
SKELETONS = "benchbook/commands/new/templates/"  # files of code, each with names to fill in
GENERATED = ("docs/example/", "config/local.yaml", "benchbook/define/schemas/")


@dataclass(frozen=True)
class Sentence:
    """One template: the file and the place in it (a line or a key), and the text with an example
    where something is filled in."""

    file: str
    place: str
    text: str

    def line(self) -> str:
        """As build/sentences.txt has it."""
        return f"{self.file}:{self.place}: {self.text}"


def collected(root: Path = ROOT) -> list[Sentence]:
    """Every sentence of the product, in the order of its files."""
    found = []
    for path in _files(root):
        name = path.relative_to(root).as_posix()
        reader = reader_of(name)
        if reader is None or name.startswith(GENERATED):
            continue
        content = path.read_text(encoding="utf-8")
        if name.startswith(SKELETONS):
            content = _without_jinja(content)
        for place, text in reader(content):
            shown = " ".join(text.split())
            if is_prose(shown):
                found.append(Sentence(name, str(place), shown))
    return found


def _files(root: Path) -> Iterator[Path]:
    for source in SOURCES:
        place = root / source
        if place.is_file():
            yield place
        else:
            yield from sorted(
                path
                for path in place.rglob("*")
                if path.is_file() and "__pycache__" not in path.parts
            )


def reader_of(name: str) -> Callable[[str], Iterator[tuple[int | str, str]]] | None:
    """What reads (place, text) out of a file of that name; None where it holds no sentences."""
    path = Path(name.removesuffix(".j2")) if name.startswith(SKELETONS) else Path(name)
    if path.suffix == ".csv":
        return of_csv if path.name == "tools.csv" else None
    if name.startswith(SKELETONS) and path.suffix == ".yaml":
        return of_yaml_and_remarks
    by_suffix: dict[str, Callable[[str], Iterator[tuple[int | str, str]]]] = {
        ".py": of_python,
        ".toml": of_toml,
        ".yaml": of_yaml,
        ".j2": of_template,
        ".c": of_c,
        ".h": of_c,
        ".js": of_c,
        ".cu": of_c,
        ".md": of_markdown,
        ".ipynb": of_notebook,
    }
    if path.suffix in by_suffix:
        return by_suffix[path.suffix]
    if path.parts[0] in ("scripts", "Makefile", "Snakefile", "workflows", "flake.nix"):
        return of_shell
    return None


# ---- what is prose ------------------------------------------------------------------------------

# Patterns, addresses, options and code are for programs.
CODE = re.compile(r"^import |\\[bdswAZ(.\[|]|\(\?|\[\^|\[a-z|\]\+|^[<{#./-]|::|->|=>|\|\||&&|;$")
WORDS = re.compile(r"(?<![\w-])[a-z]{2,}(?![\w(=-])")


def is_prose(text: str) -> bool:
    """Whether a text is for people: at least two words of lower case, and no code."""
    return " " in text and len(WORDS.findall(text)) >= 2 and not CODE.search(text)


# ---- examples -----------------------------------------------------------------------------------

# What an expression is called -> an example; the first that is found in it counts.
EXAMPLES = (
    (r"\.line$|_line$|^line$", "17"),
    (r"\.name$", "Copy"),
    (r"\.unit$|^unit$", "MB/s"),
    (r"\.value$", "57,000"),
    (r"plural\((.*)\)", lambda found: f"3 {_noun(found[1])}"),
    (r"duration|_ns\b|seconds|elapsed", "15.6 ms"),
    (r"with_interval|interval", "9.2 (8.8 to 9.7)"),
    (r"bytes|size", "32 MiB"),
    (r"rate\b|per_s|GB/s", "12.5 GB/s"),
    (r"share|percent|fraction|overlap", "12 %"),
    (r"factor|ratio|times", "1.51"),
    (r"listed|names|joined|join", "A, B and C"),
    (r"point|setting", "memcpy, 32 MiB, gcc-O2"),
    (r"variant|build", "gcc-O2"),
    (r"path|file|folder|where|root|source", "data/x.yaml"),
    (r"line", "17"),
    (r"count|number|blocks|rounds|runs|len\(|how_many|total|samples|of\b", "8"),
    (r"tool|program|command|peer", "mbw"),
    (r"unit", "MiB/s"),
    (r"date|stamp", "2026-11-27"),
    (r"error|reason|why|words|text|sentence|message", "the reason"),
    (r"name|label|title|key|id\b", "the name"),
)
SPECS = (
    (r"plural .*\|(.*)", lambda found: f"3 {found[1]}"),
    (r"%$", "12 %"),
    (r"duration|seconds", "15.6 ms"),
    (r"plural (\w+)", lambda found: f"3 {found[1]}s"),
    (r"listed|clauses", "A, B and C"),
    (r"bytes", "32 MiB"),
    (r"GB/s", "12.5 GB/s"),
    (r"percent|share", "12 %"),
    (r"count|,d$|^,$", "8,192"),
    (r"number|[efg]$", "1.51"),
)


def _noun(arguments: str) -> str:
    """The plural of the noun among the arguments of `plural`."""
    nouns = re.findall(r"['\"]([^'\"]+)['\"]", arguments)
    return f"{nouns[0]}s" if len(nouns) == 1 else nouns[-1] if nouns else "things"


def example(expression: str, spec: str = "") -> str:
    """What could be filled in for an expression; its own name in ‹› where nothing is like it."""
    for table, text in ((SPECS, spec), (EXAMPLES, expression)):
        for pattern, value in table:
            found = re.search(pattern, text) if text else None
            if found:
                return value if isinstance(value, str) else value(found)
    return f"‹{re.split(r'[(.]', expression.strip() + '(')[0].replace('_', ' ')}›"


def filled(text: str) -> str:
    """A text of a catalogue with an example at each of its places."""
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError:
        return text
    return "".join(
        literal + (example(name, spec or "") if name is not None else "")
        for literal, name, spec, _ in parts
    )


# ---- Python -------------------------------------------------------------------------------------

# Calls whose texts are for programs.
FOR_PROGRAMS = re.compile(
    r"^(re\.|regex|pattern|lazy|compiled?$|split$|replace$|startswith|endswith|strip|get$|find|"
    r"match|search|sub$|parse|query|execute|run$|Literal|TypeVar|cast$|getenv|read_csv)"
)


def of_python(content: str) -> Iterator[tuple[int | str, str]]:
    """Texts of a module: strings and f-strings, and the docstrings that --help shows."""
    tree = ast.parse(content)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            skipped |= {
                id(part.value)
                for part in body
                if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
            }
            if isinstance(node, ast.FunctionDef) and _is_command(node):
                yield node.lineno, ast.get_docstring(node) or ""
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).split(".")
            if FOR_PROGRAMS.search(name[-1]) or name[0] == "re":
                skipped |= {id(argument) for argument in node.args}
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node) if part is not node}
            skipped -= {
                id(inner)
                for part in node.values
                if isinstance(part, ast.FormattedValue)
                for inner in ast.walk(part.value)
            }
        if isinstance(node, ast.arg | ast.AnnAssign | ast.FunctionDef):
            annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
            if annotation and "Annotated" not in ast.unparse(annotation):
                skipped |= {id(part) for part in ast.walk(annotation)}
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, filled(node.value)
        elif isinstance(node, ast.JoinedStr):
            yield node.lineno, _of_f_string(node)


def _is_command(node: ast.FunctionDef) -> bool:
    """Whether --help shows the docstring of a function."""
    decorated = any("command" in ast.unparse(decorator) for decorator in node.decorator_list)
    return node.name == "command" or decorated


def _of_f_string(node: ast.JoinedStr) -> str:
    parts = []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            spec = _of_f_string(value.format_spec) if value.format_spec else ""  # type: ignore[arg-type]
            parts.append(example(ast.unparse(value.value), spec))
        elif isinstance(value, ast.Constant):
            parts.append(str(value.value))
    return "".join(parts)


# ---- data ---------------------------------------------------------------------------------------

# Keys whose values are words of sources (translated too) and of tools that we read, or are for
# programs.
FOREIGN = {
    "verbatim",
    "translation",
    "original",
    "words",
    "evidence",
    "flags",
    "arguments",
    "heading",
    "printed",
}


def of_toml(content: str) -> Iterator[tuple[int | str, str]]:
    """Texts of a catalogue; a text of several parts is one, with [brackets] around
    those that depend on a condition."""
    yield from _texts(tomllib.loads(content), "")


def of_yaml(content: str) -> Iterator[tuple[int | str, str]]:
    """Texts of a definition, and the remarks on its settings."""
    yield from _texts(yaml.safe_load(content), "")
    for number, line in enumerate(content.splitlines(), 1):
        if "#" in line and content.startswith("# What every preset"):
            yield number, line.partition("#")[2]


def of_yaml_and_remarks(content: str) -> Iterator[tuple[int | str, str]]:
    """Texts of a definition that somebody fills in, and all remarks on it."""
    yield from _texts(yaml.safe_load(content), "")
    for number, line in enumerate(content.splitlines(), 1):
        if line.lstrip().startswith("#"):
            yield number, line.lstrip(" #")


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, filled(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in FOREIGN:
                yield from _texts(inner, f"{place}.{key}".strip("."))
    elif isinstance(value, list):
        if place.endswith("text") or any(_is_part(part) for part in value):
            yield place, filled("".join(_text_of(part) for part in value))
            return
        for number, inner in enumerate(value):
            name = inner.get("id", number) if isinstance(inner, dict) else number
            yield from _texts(inner, f"{place}.{name}")


def _text_of(part: Any) -> str:
    return f"[{part['text']}]" if isinstance(part, dict) else str(part)


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and "text" in part and bool(part.keys() & {"if", "unless"})


def of_csv(content: str) -> Iterator[tuple[int | str, str]]:
    """Cells of a table that describes columns or tools."""
    for number, row in enumerate(csv.reader(content.splitlines()), 1):
        yield from ((number, cell) for cell in row)


# ---- pages and documents ------------------------------------------------------------------------

INLINE = r"</?(?:a|abbr|b|bdi|code|em|i|small|span|strong|sub|sup|time|var)\b[^>]*>"


def of_template(content: str) -> Iterator[tuple[int | str, str]]:
    """Texts of a page's template: between its blocks, and in attributes that people read."""
    content = re.sub(r"\{#.*?#\}", _blank, content, flags=re.S)
    for found in re.finditer(r"(['\"])((?:(?!\1).)*)\1", content, flags=re.S):
        inside = content.rfind("{", 0, found.start()) > content.rfind("}", 0, found.start())
        if inside and "{" not in found[2]:
            yield _line(content, found.start()), found[2]
    for found in re.finditer(r"(?:title|aria-label|alt|placeholder)=\"([^\"]+)\"", content):
        yield _line(content, found.start()), _without_jinja(found[1])
    text = re.sub(r"<(style|script)\b.*?</\1>", _blank, content, flags=re.S)
    text = _without_jinja(re.sub(INLINE, "", text))
    text = re.sub(r"<[^>]*>", lambda tag: "\0" + _blank(tag), text)
    for found in re.finditer(r"[^<>\x00]+", text):
        begin = found.start() + len(found[0]) - len(found[0].lstrip())
        yield _line(text, begin), found[0]


def _without_jinja(text: str) -> str:
    text = re.sub(r"\{%.*?%\}", _blank, text, flags=re.S)
    return re.sub(
        r"\{\{(.*?)\}\}", lambda found: example(found[1]) + _blank(found), text, flags=re.S
    )


def _blank(found: re.Match[str]) -> str:
    """The line ends of what is left out, so that lines keep their numbers."""
    return "\n" * found[0].count("\n")


def _line(content: str, offset: int) -> int:
    return content.count("\n", 0, offset) + 1


def of_markdown(content: str) -> Iterator[tuple[int | str, str]]:
    """Paragraphs, items and cells of a document, without its blocks of code."""
    content = re.sub(r"^```.*?^```", _blank, content, flags=re.S | re.M)
    for found in re.finditer(r"(?:^(?!\s*$).*\n?)+", content, flags=re.M):
        start = found.start()
        for piece in re.split(r"(?m)^(?=\s*(?:[-*] |\d+\. |\||#))|(?<=\|)", found[0]):
            yield _line(content, start), re.sub(r"^[\s|#*-]+|\|$", "", piece)
            start += len(piece)


def of_notebook(content: str) -> Iterator[tuple[int | str, str]]:
    """The paragraphs of a notebook's cells of text."""
    for number, cell in enumerate(json.loads(content)["cells"]):
        if cell["cell_type"] == "markdown":
            for _, text in of_markdown("".join(cell["source"])):
                yield f"cell {number}", text


# ---- other programs -----------------------------------------------------------------------------


def of_c(content: str) -> Iterator[tuple[int | str, str]]:
    """Texts of a C or JavaScript file; neighbouring literals are one."""
    content = re.sub(r"/\*.*?\*/|(?<![:\"'\w])//[^\n]*", _blank, content, flags=re.S)
    literal = r"\"(?:[^\"\\\n]|\\.)*\""
    for found in re.finditer(
        rf"{literal}(?:(?:\s|PRI\w+)*{literal})*|'[^'\n]{{8,}}'|`[^`]+`", content
    ):
        text = (
            re.sub(r"\"(?:\s|PRI\w+)*\"", "", found[0])[1:-1]
            .replace("\\n", " ")
            .replace('\\"', '"')
        )
        text = re.sub(
            r"%[-+ #0-9.*]*(?:l|ll|z|j)?(?:[diufgexXsc]|(?=[ ,;:.)%]|$))|\$\{[^}]*\}", "8", text
        )
        yield _line(content, found.start()), text.replace("%%", "%")


def of_shell(content: str) -> Iterator[tuple[int | str, str]]:
    """Messages of a script, a recipe or a rule, and the help of a Makefile's goals."""
    for found in re.finditer(r"^[a-z-]+:[^#\n]*## (.*)$", content, flags=re.M):
        yield _line(content, found.start()), found[1]
    for number, line in enumerate(content.splitlines(), 1):
        if line.lstrip().startswith("#"):
            if line.startswith("# usage") or number <= 3:
                yield number, line.lstrip("# ")
            continue
        for quoted in re.findall(r"'([^'$]{12,})'|\"((?:[^\"\\]|\\.){12,})\"", line):
            yield number, re.sub(r"\$\{?[\w:]+[^}\s]*\}?", "the name", quoted[0] or quoted[1])
