"""An archive of somebody else, folder or zip, as files that are safe to read.

Nothing is written and nothing is executed. Before a byte of content is used, the list of files is
checked: no path leads out of the archive, no two name the same file, nothing is a link or a device,
and all of it together is no larger than a limit. What is read is cut off at the size that was
checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchbook.core.errors import BenchbookError
from benchbook.crate import contents

MOST_FILES = 20_000
MOST_BYTES = 4 << 30  # of all files together
MOST_TIMES = (
    200  # as large as its packed form: JSON of samples packs to a tenth, zeros to a thousandth
)
SMALL = 1 << 20  # bytes of a file that may be packed as well as it likes
LONGEST_PATH, DEEPEST = 400, 12
_CHUNK = 1 << 20
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class UnsafeArchiveError(BenchbookError):
    """An archive is refused; the sentence names it, the file in it, and the reason."""


@dataclass(frozen=True)
class Entry:
    """One file of an archive and its size in bytes."""

    name: str
    size: int


class SafeArchive:
    """The files of an archive whose list was checked; open it with `opened`."""

    def __init__(self, path: Path, entries: list[Entry], packed: zipfile.ZipFile | None) -> None:
        self.path = path
        self.entries = {entry.name: entry for entry in entries}
        self._packed = packed

    def refuse(self, reason: str) -> UnsafeArchiveError:
        """The error of this archive, for a reason that names the file."""
        return _refusal(self.path, reason)

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of a file, piece by piece; refused where it is not as long as was stated."""
        entry, seen = self.entries[name], 0
        try:
            with self._open(name) as stream:
                while chunk := stream.read(_CHUNK):
                    seen += len(chunk)
                    if seen > entry.size:
                        break
                    yield chunk
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            NotImplementedError,
            RuntimeError,
        ):
            raise self.refuse(f"{name} is damaged and cannot be unpacked") from None
        if seen != entry.size:
            raise self.refuse(f"{name} has another size than the archive states")

    def _open(self, name: str) -> IO[bytes]:
        if self._packed is not None:
            return self._packed.open(name)
        handle = os.open(
            self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
        return os.fdopen(handle, "rb")

    def read(self, name: str, most: int = contents.LARGEST_JSON) -> bytes:
        """A file's content, which has at most that many bytes."""
        if name not in self.entries:
            raise self.refuse(f"{shown(name, 160)} is missing")
        if self.entries[name].size > most:
            raise self.refuse(f"{name} has {self.entries[name].size:,} bytes, more than {most:,}")
        return b"".join(self.chunks(name))

    def text(self, name: str) -> str:
        """A file's content as UTF-8."""
        try:
            return self.read(name).decode("utf-8")
        except UnicodeDecodeError:
            raise self.refuse(f"{name} is no text") from None

    def json(self, name: str) -> Any:
        """A file's content as JSON."""
        try:
            return json.loads(self.text(name))
        except (ValueError, RecursionError):
            raise self.refuse(f"{name} is not valid JSON") from None

    def verify_sums(self) -> dict[str, str]:
        """Compare every file with SHA256SUMS, which names all others; refuse the first that
        differs, by its name. Returns {path: digest}."""
        try:
            stated = contents.read_sums(self.text(contents.SUMS))
        except UnsafeArchiveError:
            raise
        except BenchbookError as error:
            raise self.refuse(str(error)) from None
        present = {name for name in self.entries if name != contents.SUMS}
        for name in sorted(stated.keys() - present):
            raise self.refuse(f"{name} is missing, which {contents.SUMS} names")
        for name in sorted(present - stated.keys()):
            raise self.refuse(f"{name} is not named in {contents.SUMS}")
        for name in sorted(present):
            digest = hashlib.sha256()
            for chunk in self.chunks(name):
                digest.update(chunk)
            if digest.hexdigest() != stated[name]:
                raise self.refuse(f"{name} does not match its checksum")
        return stated

    def index(self) -> contents.Index:
        """The checked index of the archive."""
        try:
            return contents.Index.from_json(self.json(contents.INDEX))
        except UnsafeArchiveError:
            raise
        except BenchbookError as error:
            raise self.refuse(str(error)) from None

    def unpack(self, folder: Path, names: Iterator[str] | None = None) -> None:
        """Write files (all, or these) below an empty folder of ours."""
        for name in names if names is not None else self.entries:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as stream:
                for chunk in self.chunks(name):
                    stream.write(chunk)


@contextmanager
def opened(path: Path) -> Iterator[SafeArchive]:
    """The archive in this folder or zip; UnsafeArchiveError where its list of files is not safe."""
    with ExitStack() as stack:
        packed, entries = None, []
        try:
            if path.is_dir():
                entries = list(_of_folder(path, path))
            else:
                if not path.is_file():
                    raise _refusal(path, "there is no such folder or file")
                packed = stack.enter_context(zipfile.ZipFile(path))
                entries = list(_of_zip(path, packed))
        except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, OverflowError):
            raise _refusal(path, "it is no zip file, or is cut off") from None
        _check(path, entries)
        yield SafeArchive(path, entries, packed)


def _refusal(path: Path, reason: str) -> UnsafeArchiveError:
    return UnsafeArchiveError(
        f"{path}: {reason}; nothing was taken from it. Copy it again, or ask its author for another"
    )


def _of_folder(top: Path, folder: Path) -> Iterator[Entry]:
    with os.scandir(folder) as items:
        for item in items:
            name = str(Path(item.path).relative_to(top))
            about = item.stat(follow_symlinks=False)
            if stat.S_ISLNK(about.st_mode):
                raise _refusal(top, f"{shown(name)} is a link")
            if stat.S_ISDIR(about.st_mode):
                if name.count("/") >= DEEPEST:
                    raise _refusal(top, f"{shown(name)} lies too deep")
                yield from _of_folder(top, Path(item.path))
            elif stat.S_ISREG(about.st_mode):
                yield Entry(name, about.st_size)
            else:
                raise _refusal(top, f"{shown(name)} is no ordinary file")


def _of_zip(path: Path, packed: zipfile.ZipFile) -> Iterator[Entry]:
    items = packed.infolist()
    if len(items) > MOST_FILES:
        raise _refusal(path, f"it has {len(items):,} files, more than {MOST_FILES:,}")
    for item in items:
        kind = stat.S_IFMT(item.external_attr >> 16)
        name = shown(item.filename)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _refusal(path, f"{name} is a link or a device")
        if "\0" in item.orig_filename:
            raise _refusal(path, f"{name} is no plain path")
        if item.flag_bits & 0x1:
            raise _refusal(path, f"{name} is encrypted")
        if item.compress_type not in _PACKED:
            raise _refusal(path, f"{name} is packed by a method other than deflate")
        if item.file_size > max(item.compress_size * MOST_TIMES, SMALL):
            raise _refusal(path, f"{name} unpacks to more than {MOST_TIMES} times its size")
        if item.is_dir():
            _check_path(path, item.filename.rstrip("/"))
        else:
            yield Entry(item.filename, item.file_size)


def _check(path: Path, entries: list[Entry]) -> None:
    if len(entries) > MOST_FILES:
        raise _refusal(path, f"it has {len(entries):,} files, more than {MOST_FILES:,}")
    total, seen, folders = 0, set[str](), set[str]()
    for entry in entries:
        _check_path(path, entry.name)
        same = unicodedata.normalize("NFC", entry.name).casefold()
        if same in seen:
            raise _refusal(path, f"{shown(entry.name)} comes twice")
        seen.add(same)
        parts = same.split("/")
        folders |= {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        total += entry.size
        if total > MOST_BYTES:
            raise _refusal(path, f"it unpacks to more than {MOST_BYTES >> 30} GiB")
    for name in sorted(seen & folders):
        raise _refusal(path, f"{shown(name)} is a file and a folder")


def _check_path(path: Path, name: str) -> None:
    parts = name.split("/")
    plain = not any(unicodedata.category(letter).startswith("C") for letter in name)
    if not plain or "\\" in name or ":" in name or len(name) > LONGEST_PATH or len(parts) > DEEPEST:
        raise _refusal(path, f"{shown(name)} is no plain path")
    if any(part in ("", ".", "..") for part in parts):
        raise _refusal(path, f"{shown(name)} leads out of the archive")
    if any(len(part.encode()) > 255 for part in parts):
        raise _refusal(path, f"{shown(name)} is no plain path")


def shown(text: str, longest: int = 80) -> str:
    """A text from outside on one line: no letter of it does anything to a terminal."""
    escaped = ascii(text)[1:-1]
    return escaped if len(escaped) <= longest else f"{escaped[: longest - 3]}..."
