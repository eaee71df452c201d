"""Patterns of importers and rules, compiled when first looked for: a log needs few of several
hundred, and to compile them all takes longer than to read most logs."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class Late:
    """A pattern that is compiled when it is first asked for anything."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a copy asks for these before it has a text
            raise AttributeError(name)
        compiled = re.compile(self._text, self._flags)
        # Its methods are attributes then: from the second call on none of this is in the way.
        for method in dir(compiled):
            if not method.startswith("_"):
                self.__dict__[method] = getattr(compiled, method)
        if name not in self.__dict__:
            raise AttributeError(name)
        return self.__dict__[name]


def late(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern as `re.compile` makes it, later; functions of `re` itself do not take it."""
    return cast("re.Pattern[AnyStr]", Late(text, flags))
