"""Which files of a package a module depends on: itself, what it imports, and so on.

Imports are read from the text, inside of functions too, and nothing is imported for it. A string
that names a package of ours (`"benchbook.detect.detectors"`), or `plugins` called with `__name__`,
stands for all modules of that package: they are found by wildcard.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FROM = re.compile(r"^[ \t]*from ([\w.]+) import (\([^)]*\)|[^\n]+)", re.M)
_IMPORT = re.compile(r"^[ \t]*import ([\w.]+)", re.M)
_STRING = re.compile(r"[\"'](\w+(?:\.\w+)+)[\"']")
_OWN_PACKAGE = re.compile(r"plugins\.\w+\(__name__")
_TYPES_ONLY = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|\n)+", re.M)
_COMMENT = re.compile(r"[ \t]#[^\n]*")


class _Imported(NamedTuple):
    """Modules that a text imports, and packages that it names as a whole."""

    modules: tuple[str, ...]
    whole: tuple[str, ...]


def closure(root: Path, package: str, modules: Iterable[str]) -> list[str]:
    """Files, relative to `root`, that the modules (dotted names in `package`) depend on, sorted.

    Data that lies in a package of theirs (templates, tables) is among them.
    """
    reached: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in reached and _file(root, module):
            reached.add(module)
            waiting += _all(root, _imports(root, package, module))
    return sorted({path for module in reached for path in _files(root, module)})


def of_file(root: Path, package: str, path: Path) -> list[str]:
    """Modules that a file beside the package imports."""
    return _all(root, _imported(package, package, path.read_text(encoding="utf-8")))


@cache
def _file(root: Path, module: str) -> Path | None:
    base = root / module.replace(".", "/")
    return next(
        (file for file in (base / "__init__.py", base.with_suffix(".py")) if file.is_file()), None
    )


@cache
def _files(root: Path, module: str) -> tuple[str, ...]:
    path = _file(root, module)
    if not path:
        return ()
    data = _data(path.parent) if path.name == "__init__.py" else ()
    return tuple(str(file.relative_to(root)) for file in (path, *data))


def _data(folder: Path) -> Iterator[Path]:
    """What is no module in a package, without the packages in it."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").exists():
            yield from (file for file in path.rglob("*") if file.is_file())
        elif path.is_file() and path.suffix not in (".py", ".pyc"):
            yield path


@cache
def _imports(root: Path, package: str, module: str) -> _Imported:
    path = _file(root, module)
    if not path:
        return _Imported((), ())
    text = _TYPES_ONLY.sub("", path.read_text(encoding="utf-8"))
    return _imported(package, module, text)


def _imported(package: str, module: str, text: str) -> _Imported:
    modules = []
    for name, imported in _FROM.findall(text):
        if name.split(".")[0] == package:
            words = re.sub(r"[()]", " ", _COMMENT.sub("", imported)).split(",")
            modules += [name, *(f"{name}.{word.split()[0]}" for word in words if word.strip())]
    modules += [name for name in _IMPORT.findall(text) if name.split(".")[0] == package]
    whole = {name for name in _STRING.findall(text) if name.split(".")[0] == package}
    if _OWN_PACKAGE.search(text):
        whole.add(module)
    above = [above for name in (module, *modules, *whole) for above in _packages_of(name)]
    return _Imported((*modules, *above), tuple(sorted(whole)))


def _all(root: Path, imported: _Imported) -> list[str]:
    """With the modules that the packages have now: a file may have come since they were named."""
    names = [*imported.modules, *imported.whole]
    for package in imported.whole:
        folder = root / package.replace(".", "/")
        if (folder / "__init__.py").is_file():
            names += [f"{package}.{path.stem}" for path in sorted(folder.glob("[!_]*.py"))]
    return names


def _packages_of(module: str) -> list[str]:
    words = module.split(".")
    return [".".join(words[:k]) for k in range(1, len(words))]
