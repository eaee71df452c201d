"""perf stat: the events that answer our questions, its command line, and its JSON lines (`-j`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchbook.evidence.counters import Count, NotUnderstoodError
from benchbook.host.capabilities.place import as_root

PROGRAM = "perf"
SOFTWARE = ("task-clock", "page-faults", "context-switches", "cpu-migrations")
HARDWARE = ("instructions", "L1-dcache-load-misses", "LLC-load-misses", "LLC-store-misses")
DEVICES = Path("/sys/bus/event_source/devices")

# Memory controllers: their devices, and what they call the traffic. AMD's have no names in sysfs.
_CONTROLLERS = (
    ("uncore_imc_[0-9]*", "cas_count_read", "cas_count_write"),
    ("uncore_imc_free_running*", "data_read", "data_write"),
    ("uncore_imc", "data_reads", "data_writes"),
)
_BYTES = {"MiB": 2**20, "MB": 10**6, "Bytes": 1}
# The kernel counts these in its own code, so a count of user code alone is always 0.
_IN_KERNEL_ONLY = ("context-switches", "cs", "cpu-migrations", "migrations")
_DENIED = re.compile(
    r"perf_event_paranoid|[Pp]ermission|not permitted|monitoring and observability operations is"
)
_WORDS_KEPT = 300


def command(program: list[str], events: list[str], *, everywhere: bool = False) -> list[str]:
    """Count events of a program; `everywhere`: of the whole machine while it runs."""
    scope = ["-a"] if everywhere else []
    return [PROGRAM, "stat", "-j", *scope, "-e", ",".join(events), "--", *program]


def memory_events(devices: Path = DEVICES) -> dict[str, list[str]]:
    """bytes_read_from_memory and bytes_written_to_memory -> the events of all memory controllers,
    to be counted everywhere; {} where the kernel shows none."""
    for pattern, read, write in _CONTROLLERS:
        found = [
            device.name
            for device in sorted(devices.glob(pattern))
            if all((device / "events" / event).exists() for event in (read, write))
        ]
        if found:
            return {
                "bytes_read_from_memory": [f"{name}/{read}/" for name in found],
                "bytes_written_to_memory": [f"{name}/{write}/" for name in found],
            }
    return {}


def in_bytes(count: Count) -> float | None:
    """The value of a memory controller's event; None where its unit is no size."""
    if count.value is None or count.unit not in _BYTES:
        return None
    return count.value * _BYTES[count.unit]


def explain(words: str, *, everywhere: bool = False) -> tuple[str, str, str]:
    """(state, reason, remedy) from what perf says instead of counts."""
    short = " ".join(words.split())[:_WORDS_KEPT] or "perf stat printed nothing"
    if _DENIED.search(words):
        level = 0 if everywhere else 2
        return "denied", short, as_root(f"sysctl kernel.perf_event_paranoid={level}")
    if "unknown switch" in words:
        return "absent", f"this perf is too old for JSON: {short}", "install a newer perf"
    return "absent", short, ""


def parse(text: str, file: str) -> list[Count]:
    """All counts of what `perf stat -j` printed, in their order; the derived metrics are left out.
    What a program printed before the first count is skipped.

    NotUnderstoodError names `file` and the line.
    """
    found = []
    begun = False
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        begun = begun or words.startswith("{")
        if not begun or not words or words.startswith("#"):
            continue
        for record in _records(words, file, number):
            if "event" in record or "counter-value" in record:
                found.append(_count(record, file, number))
            elif "metric-value" not in record:
                raise NotUnderstoodError(file, number, f"{words[:60]!r} is no count of perf stat")
    if not found:
        raise NotUnderstoodError(file, 1, "there is no count of perf stat in it")
    return found


def _records(words: str, file: str, number: int) -> Iterator[dict[str, Any]]:
    """The objects of a line; some versions forget to end it after the first."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(words):
        begin = at
        try:
            record, at = decoder.raw_decode(words, at)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise NotUnderstoodError(file, number, f"{words[begin:][:60]!r} is no JSON object")
        yield record
        while at < len(words) and words[at] in " \t,":
            at += 1


def _count(record: dict[str, Any], file: str, number: int) -> Count:
    try:
        event, said = str(record["event"]), str(record["counter-value"])
        running = float(record.get("pcnt-running", 100)) / 100
        run_ns = float(record.get("event-runtime", 0))
        unit = str(record.get("unit") or "").replace("(null)", "")
        value = None if said.startswith("<") else _decimal(said)
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise NotUnderstoodError(file, number, f"{error} in a count of perf stat") from None
    name, _, scope = event.partition(":")
    reason = _why_absent(name, scope, said, value)
    core = str(record.get("cpu", ""))
    return Count(
        region="",
        core=int(core) if core.isdecimal() else None,
        group="",
        kind="event",
        name=name,
        counter=event,
        value=None if reason else value,
        unit=unit,
        run_time_s=run_ns / 1e9,
        multiplexed=value is not None and running < 1,
        running_fraction=running,
        state="absent" if reason else "ok",
        reason=reason,
    )


def _decimal(said: str) -> float:
    """Some locales write a decimal comma."""
    value = float(said.replace(",", ".") if said.count(",") == 1 and "." not in said else said)
    if not 0 <= value < float("inf"):
        raise ValueError(f"{said!r} is no count")
    return value


def _why_absent(name: str, scope: str, said: str, value: float | None) -> str:
    if value is None:
        known = {
            "<not supported>": "the kernel, the CPU or the hypervisor has no such event",
            "<not counted>": "it never had a counter while the program ran",
        }
        return f"{said}: {known.get(said, 'perf stat has no number')}"
    if value == 0 and name in _IN_KERNEL_ONLY and "u" in scope and "k" not in scope:
        return "0 because only user code was counted, and this happens in the kernel"
    if value == 0 and name not in SOFTWARE:
        return "0: nothing shows that it counts here"
    return ""
