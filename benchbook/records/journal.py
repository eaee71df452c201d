"""A run on disk: plan.json, journal.jsonl, probes.jsonl, samples/, manifest.json.

Append-only. Every line is written whole and synced before the next invocation starts; a line torn
by a kill is cut on resume; manifest.json, renamed into place, means complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchbook.core.errors import BenchbookError
from benchbook.core.files import Record, naming, read_json, write_json
from benchbook.define.catalogue import SETTLING

VERSION = 1
INLINE_SAMPLES = 10_000  # above this they go into a binary file beside the journal
AWAY = "move this run folder away, remove the current.json in results/ that names it, and run again"
# Of what kind a value is, in every line that has it.
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("kind", "point", "state", "reason", "samples_file"), str),
    **dict.fromkeys(("block", "blocks", "invocation", "loops", "warm_up", "samples"), int),
    **dict.fromkeys(("bytes_declared", "share_ns", "wall_ns", "block_ns", "t_end_ns"), int),
    **dict.fromkeys(("t_block_ns", "t_invocation_ns", "read_ns", "cost_ns"), int),
    **dict.fromkeys(("observations", "usage", "conditions", "half_widths", "failed"), dict),
    **dict.fromkeys(("order", "process", "cpus"), list),
    "disturbed": (list, bool),
    **dict.fromkeys(("cpu", "a", "b"), int),
    # Null where a reading had no time for one.
    **dict.fromkeys(("ns_per_iteration", "round_trip_ns", "median_ns"), (int, float, type(None))),
}
_OF_SAMPLES = ("t_start_ns", "time_ns")  # lists in an invocation, numbers of a reading
SAMPLES_FILE = re.compile(r"samples/[0-9a-f]{64}\.i64")
PLAN, JOURNAL, PROBES, MANIFEST = "plan.json", "journal.jsonl", "probes.jsonl", "manifest.json"


def new_run(folder: Path, plan: dict[str, Any]) -> Path:
    """Make a run folder under `folder` with its plan; the name tells time and fingerprint, and
    that a run is for one claim only."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    name = f"{stamp}-{plan['fingerprint'][:8]}-{secrets.token_hex(2)}"
    run = folder / (name + SETTLING if plan.get("settle") else name)
    run.mkdir(parents=True)
    write_json(run / PLAN, plan)
    return run


def runs_with(
    folder: Path, fingerprint: str, say: Callable[[str], None]
) -> tuple[list[Path], list[Path]]:
    """Complete and partial runs of that fingerprint, oldest first.

    A folder whose plan or manifest cannot be read is passed over, and `say` is told.
    """
    complete: list[Path] = []
    partial: list[Path] = []
    for run in sorted(folder.glob("*/")):
        try:
            if not (run / PLAN).exists() or read_json(run / PLAN).get("fingerprint") != fingerprint:
                continue
            finished = (run / MANIFEST).exists() and bool(read_json(run / MANIFEST))
        except BenchbookError as error:
            say(f"passing over {run.name}: {error}")
            continue
        (complete if finished else partial).append(run)
    return complete, partial


def repair(path: Path) -> int:
    """Cut a torn last line off a JSON-lines file; returns the bytes cut."""
    if not path.exists():
        return 0
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end == len(content):
        return 0
    with path.open("rb+") as stream:
        stream.truncate(end)
        os.fsync(stream.fileno())
    return len(content) - end


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a JSON-lines file; a torn last line is left out, other damage is an error."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                return
            record = _parsed(line, f"{path}: line {number}")
            if record.get("version") != VERSION:
                raise BenchbookError(
                    f"{path}: line {number} has format version {record.get('version')!r}; "
                    f"this Benchbook reads version {VERSION}"
                )
            yield record


def _parsed(line: bytes, where: str) -> Record:
    """The record of a line; BenchbookError where it is none."""
    try:
        record = json.loads(line, object_hook=lambda content: Record(content, where, AWAY))
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, Record):
        raise BenchbookError(f"{where} is damaged; {AWAY}")
    kinds = _KINDS | dict.fromkeys(_OF_SAMPLES, list if "point" in record else int)
    for name, value in record.items():
        if name in kinds and not isinstance(value, kinds[name]):
            raise BenchbookError(f"{where} has an odd value of {name!r}; {AWAY}")
    return record


def append(path: Path, records: list[dict[str, Any]]) -> None:
    """Append records as whole lines in one write, synced before it returns."""
    text = "".join(
        json.dumps({"version": VERSION, **record}, ensure_ascii=False, allow_nan=False) + "\n"
        for record in records
    ).encode()
    with naming(path):
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            while text:
                text = text[os.write(handle, text) :]
            os.fsync(handle)
        finally:
            os.close(handle)


class Samples(NamedTuple):
    """The samples of one invocation and point, int64 each: in order within each process."""

    t_start_ns: np.ndarray
    time_ns: np.ndarray
    process: np.ndarray

    def timed_ns(self) -> float:
        """How long one process was inside timed regions, on average."""
        return float(self.time_ns.sum()) / max(len(np.unique(self.process)), 1)


def store_samples(
    run: Path, t_start_ns: list[int], time_ns: list[int], process: list[int] | None = None
) -> dict[str, Any]:
    """The samples of one invocation and point as journal fields, in ns.

    Up to INLINE_SAMPLES as arrays; more as int64 rows (starts, times, and processes where there
    are several) in samples/<sha256>.
    """
    fields = {"t_start_ns": t_start_ns, "time_ns": time_ns}
    if process:
        fields["process"] = process
    if len(time_ns) <= INLINE_SAMPLES:
        return fields
    raw = np.array(list(fields.values()), dtype="<i8").tobytes()
    name = f"samples/{hashlib.sha256(raw).hexdigest()}.i64"
    path = run / name
    with naming(path):
        path.parent.mkdir(exist_ok=True)
        draft = path.with_suffix(".part")
        with draft.open("wb") as stream:
            stream.write(raw)
            os.fsync(stream.fileno())
        draft.replace(path)
    return {"samples_file": name, "samples": len(time_ns)}


def load_samples(run: Path, record: dict[str, Any]) -> Samples:
    """What store_samples stored; a binary file is checked against its name."""
    if "samples_file" not in record:
        times = _whole_numbers(run, record.get("time_ns", []))
        starts = _whole_numbers(run, record.get("t_start_ns", []))
        processes = _whole_numbers(run, record.get("process") or [0] * len(times))
        if not len(times) == len(starts) == len(processes):
            raise BenchbookError(f"{run / JOURNAL}: samples without their starts; {AWAY}")
        return Samples(starts, times, processes)
    if not SAMPLES_FILE.fullmatch(record["samples_file"]):
        raise BenchbookError(f"{run / JOURNAL}: a sample file of an odd name; {AWAY}")
    path = run / record["samples_file"]
    raw = path.read_bytes() if path.exists() else b""
    if hashlib.sha256(raw).hexdigest() != path.stem:
        raise BenchbookError(f"{path}: does not match its checksum; the run is damaged")
    try:
        starts, times, *process = np.frombuffer(raw, dtype="<i8").reshape(-1, record["samples"])
    except ValueError:
        raise BenchbookError(f"{path}: has another number of samples; {AWAY}") from None
    return Samples(starts, times, process[0] if process else np.zeros_like(times))


def _whole_numbers(run: Path, values: Any) -> np.ndarray:
    """Values of a journal line as int64."""
    try:
        numbers = np.asarray(values)
        if numbers.ndim == 1 and (numbers.dtype.kind == "i" or not len(numbers)):
            return numbers.astype(np.int64)
    except (ValueError, TypeError, OverflowError):
        pass
    raise BenchbookError(f"{run / JOURNAL}: samples that are no whole numbers; {AWAY}")


@dataclass
class Progress:
    """What a journal says has been done."""

    pilot: dict[str, Any] | None = None
    complete: list[int] = field(default_factory=list)
    open_block: int | None = None
    abandoned: list[int] = field(default_factory=list)
    disturbed: list[int] = field(default_factory=list)
    spent_ns: int = 0
    last_ns: int = 0
    looks: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)  # of points, in blocks
    repeated: str = ""  # an invocation whose line occurs twice

    @property
    def next_block(self) -> int:
        """The number of the block that is begun next."""
        started = [*self.complete, *self.abandoned]
        return max(started, default=-1) + 1


def progress(run: Path) -> Progress:
    """Replay the journal (after `repair`)."""
    seen = Progress()
    invocations: set[tuple[Any, ...]] = set()
    for record in read_lines(run / JOURNAL):
        for name in ("t_end_ns", "t_block_ns"):
            seen.last_ns = max(seen.last_ns, record.get(name, 0))
        match record["kind"]:
            case "pilot":
                seen.pilot = record
                seen.spent_ns += record["wall_ns"]
            case "block":
                seen.open_block = record["block"]
            case "invocation":
                seen.spent_ns += record.get("share_ns", 0)
                invocation = tuple(record.get(name) for name in ("block", "invocation", "point"))
                if invocation in invocations:
                    seen.repeated = f"block {invocation[0]}, {invocation[2]}"
                invocations.add(invocation)
                if record.get("state", "ok") not in ("ok", "not_reached"):
                    name = record["point"]
                    seen.failures[name] = seen.failures.get(name, 0) + 1
            case "block_end":
                seen.open_block = None
                seen.complete.append(record["block"])
                if record["disturbed"]:
                    seen.disturbed.append(record["block"])
            case "abandoned":
                seen.open_block = None
                seen.abandoned.append(record["block"])
            case "look":
                seen.looks.append(record)
    return seen
