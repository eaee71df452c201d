"""Fail on names and docstrings that say nothing to a stranger; CONTRIBUTING.md has the rules."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

VARIABLES = {"one"}  # of a loop, a comprehension or a parameter
FUNCTIONS = {"beside", "said", "told"}  # at the top of a module
# A docstring that only says in what it differs from the one before it.
BACKWARDS = re.compile(r"The same(,| (in|as|of|where|with|without|number|under|from|estimated)\b)")
FOLDERS = ("benchbook", "tests", "scripts", "kernels")


def bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, name) of each variable that a loop, a comprehension or a signature binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    yield name.lineno, name.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def faults(path: Path) -> list[str]:
    """What is wrong in one file, a line each."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [
        f"{path}:{line}: {name!r} names nothing; call it after what it holds"
        for line, name in sorted(bound(tree))
        if name in VARIABLES
    ]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS:
            found.append(f"{path}:{node.lineno}: {node.name}() does not say what it returns")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            docstring = ast.get_docstring(node) or ""
            if BACKWARDS.match(docstring):
                found.append(f"{path}:{node.lineno}: the docstring does not stand alone")
    return found


def main(folders: list[str]) -> int:
    """Return 0 when every name says something, else 1 with those that do not."""
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    found = [line for path in paths for line in faults(path)]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:] or list(FOLDERS)))
