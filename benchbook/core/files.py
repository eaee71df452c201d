"""Files written whole or not at all, and read with their format version checked."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOBase
from pathlib import Path
from typing import Any, TextIO

from benchbook.core.errors import BenchbookError


class Tee(TextIOBase):
    """A stream that goes to where it went before and into a log file, line by line."""

    def __init__(self, stream: TextIO, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.stream = stream
        self.log = log.open("w", encoding="utf-8", buffering=1)

    def write(self, text: str) -> int:
        """Write to the stream and to the log."""
        with suppress(OSError):  # a full disk costs the log, not what a person reads
            self.log.write(text)
        return self.stream.write(text)

    def flush(self) -> None:
        """Flush the stream and the log."""
        self.stream.flush()
        with suppress(OSError):
            self.log.flush()

    def isatty(self) -> bool:
        """Whether a person is looking; the log never is."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """The stream's descriptor, for libraries that ask the terminal its width."""
        return self.stream.fileno()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError inside, such as that of a full disk, has the name of this file."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def write_text(path: Path, text: str) -> None:
    """Replace `path` in one step, so that no reader and no kill leaves half a file. OSError with
    its name where that cannot be done; nothing is left behind then."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with naming(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def write_json(path: Path, content: Any) -> None:
    """Write JSON, indented, with a final newline; NaN is refused."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


REMAKE = "remove it and run again"


class MissingKeyError(BenchbookError):
    """A file lacks a key; the sentence names both."""


class Record(dict[str, Any]):
    """A JSON object out of a file: a key that it lacks is a BenchbookError with the file's name."""

    __slots__ = ("remedy", "where")

    def __init__(self, content: dict[str, Any], where: str = "", remedy: str = REMAKE) -> None:
        super().__init__(content)
        self.where, self.remedy = where, remedy

    def __missing__(self, key: str) -> Any:
        raise MissingKeyError(f"{self.where} lacks {key!r}; {self.remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and other processes."""
        return Record, (dict(self), self.where, self.remedy)


def read_json(path: Path, version: int = 1) -> dict[str, Any]:
    """Read a JSON object of a known format version; a `Record`."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchbookError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise BenchbookError(f"{path}: is not valid JSON; {REMAKE}") from None
    if not isinstance(content, dict) or content.get("version") != version:
        own_version = content.get("version") if isinstance(content, dict) else None
        raise BenchbookError(
            f"{path}: format version {own_version!r} is unknown; this Benchbook reads version "
            f"{version}"
        )
    return Record(content, f"{path}")


def storable(value: Any) -> Any:
    """A JSON value with None for every number that JSON cannot hold (infinite ends, NaN)."""
    if isinstance(value, dict):
        return {key: storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
