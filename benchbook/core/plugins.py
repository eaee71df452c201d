"""Modules that are found by wildcard: whoever adds one adds a file, and no list."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def module_names(package: str) -> list[str]:
    """Names of the modules in `package` (dotted), sorted; folders in it are not modules."""
    paths = importlib.import_module(package).__path__
    return sorted(module.name for module in pkgutil.iter_modules(paths) if not module.ispkg)


def load(package: str, name: str) -> ModuleType:
    """The module `name` of `package`; ModuleNotFoundError where there is none."""
    return importlib.import_module(f"{package}.{name}")


def load_all(package: str) -> list[ModuleType]:
    """All modules of `package`, by name."""
    return [load(package, name) for name in module_names(package)]
