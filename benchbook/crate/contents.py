"""What an archive holds: the names of its files, its index, and the profile that it conforms to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from benchbook.core.errors import BenchbookError

VERSION = 1
INDEX, SUMS, METADATA = "benchbook-archive.json", "SHA256SUMS", "ro-crate-metadata.json"
README = "README.md"
PROFILE = "Workflow Run Crate"
PROFILE_VERSION = "0.5"
CURRENT, EVIDENCE, ANALYSIS = "current.json", "evidence.json", "analysis.json"
SAMPLES, SUMMARIES, VERDICTS = "samples.parquet", "summaries.parquet", "verdicts.json"
LARGEST_JSON = 256 << 20  # bytes of a file that is parsed as a whole
_NAME = re.compile(r"[\w.+-]{1,200}", re.ASCII)


@dataclass(frozen=True)
class ArchivedRun:
    """One run of an archive: `folder` is its path there, `main` the run that is judged (the others
    settle a claim of it)."""

    experiment: str
    run: str
    folder: str
    main: bool


@dataclass(frozen=True)
class Index:
    """The content of benchbook-archive.json: whose results these are, and which.

    `commit` ends with + where files of the checkout had been changed.
    """

    commit: str
    host: str
    preset: str
    experiments: tuple[str, ...]
    papers: tuple[str, ...]
    runs: tuple[ArchivedRun, ...]

    @property
    def results(self) -> str:
        """The folder of the results in the archive."""
        return f"results/{self.host}/{self.preset}"

    def as_json(self) -> dict[str, Any]:
        """The fields by their names in the file."""
        profile = {"name": PROFILE, "version": PROFILE_VERSION}
        return {"version": VERSION, "profile": profile, **asdict(self)}

    @classmethod
    def from_json(cls, content: Any) -> Index:
        """The index out of its file; BenchbookError in one sentence where it is none."""
        if not isinstance(content, dict):
            raise BenchbookError(f"{INDEX} is no JSON object")
        if content.get("version") != VERSION:
            raise BenchbookError(
                f"{INDEX} has format version {content.get('version')!r}; "
                f"this Benchbook reads version {VERSION}"
            )
        profile = content.get("profile")
        if profile != {"name": PROFILE, "version": PROFILE_VERSION}:
            raise BenchbookError(
                f"{INDEX} names another profile than {PROFILE} {PROFILE_VERSION}, the one "
                "that this Benchbook reads"
            )
        commit = content.get("commit")
        if not isinstance(commit, str) or not re.fullmatch(r"[0-9a-f]{0,40}\+?", commit):
            raise BenchbookError(f"{INDEX}: 'commit' is no commit")
        runs = content.get("runs")
        if not isinstance(runs, list):
            raise BenchbookError(f"{INDEX}: 'runs' is no list")
        index = cls(
            commit,
            _name(content, "host"),
            _name(content, "preset"),
            _names(content, "experiments"),
            _names(content, "papers"),
            tuple(_run(run) for run in runs),
        )
        for run in index.runs:
            expected = f"data/runs/{index.host}/{run.experiment}/{run.run}"
            if run.folder != expected or run.experiment not in index.experiments:
                raise BenchbookError(f"{INDEX}: the run {run.run} is not where it belongs")
        mains = sorted(run.experiment for run in index.runs if run.main)
        if mains != sorted(index.experiments):
            raise BenchbookError(f"{INDEX}: not every experiment has exactly one run")
        return index


def _run(content: Any) -> ArchivedRun:
    if not isinstance(content, dict) or set(content) != {
        field.name for field in fields(ArchivedRun)
    }:
        raise BenchbookError(f"{INDEX}: an entry of 'runs' is no run")
    if not isinstance(content["folder"], str) or not isinstance(content["main"], bool):
        raise BenchbookError(f"{INDEX}: an entry of 'runs' is no run")
    return ArchivedRun(
        _name(content, "experiment"), _name(content, "run"), content["folder"], content["main"]
    )


def _name(content: dict[str, Any], key: str) -> str:
    return _checked(content.get(key), key)


def _names(content: dict[str, Any], key: str) -> tuple[str, ...]:
    values = content.get(key)
    if not isinstance(values, list):
        raise BenchbookError(f"{INDEX}: {key!r} is no list")
    return tuple(_checked(value, key) for value in values)


def _checked(value: Any, key: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or value.startswith("."):
        raise BenchbookError(f"{INDEX}: {key!r} has {str(value)[:40]!r}, which is no name")
    return value


def sums_text(digests: Iterable[tuple[str, str]]) -> str:
    """The text of SHA256SUMS out of (path, digest), in the format of sha256sum."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests))


def read_sums(text: str) -> dict[str, str]:
    """{path: digest} out of SHA256SUMS; BenchbookError where a line is none or comes twice."""
    stated: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        digest, _, name = line.partition("  ")
        if not re.fullmatch(r"[0-9a-f]{64}", digest) or not name or name in stated:
            raise BenchbookError(f"{SUMS}: line {number} is no checksum of a file")
        stated[name] = digest
    return stated


def sha256(content: bytes) -> str:
    """The checksum of these bytes."""
    return hashlib.sha256(content).hexdigest()
