"""Arrays that may be larger than the memory: one start each, not timed, under a limit of address
space that is a fraction of the memory available, so that the host is never at risk.
"""

from __future__ import annotations

import resource
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.core.files import read_json
from benchbook.core.sizes import format_bytes, parse_bytes, parse_counts
from benchbook.define.points import COUNTS
from benchbook.host.memory import memory_available_bytes
from benchbook.measure.invocation import (
    Request,
    command_line,
    environment,
    explain_exit,
    read_output,
    run_program,
)

ONCE = {"samples": 1, "warmup": 0, "loops": 1}
_PT_LOAD = 1


def try_all(
    content: dict[str, Any], pointer: dict[str, Any], plan: dict[str, Any]
) -> list[dict[str, Any]]:
    """Evidence rows, one for each trial of an experiment's definition, in their order.

    `pointer` and `plan` are what current.json and plan.json hold. A trial that could not be made
    is `absent` with its reason. bytes: of each array as asked for; needed_bytes: of all of them,
    or of the program's file with its static arrays where that is more; outcome: ok, failed,
    cannot_run, timeout or not_tried; reason: the program's own words, or what ended it;
    exit_status or signal, never both.
    """
    if not content.get("trials"):
        return []
    available = memory_available_bytes().bytes
    limit = None
    if available is not None:
        limit = _allowed(int(plan["settings"]["memory_fraction"] * available))
    trials = _Trials(content, pointer, plan, available, limit)
    return [trials.row(trial) for trial in content["trials"]]


def _allowed(wanted: int) -> int:
    """Never more than a limit that is in force already."""
    return min([wanted, *(limit for limit in resource.getrlimit(resource.RLIMIT_AS) if limit >= 0)])


class _NotTriedError(Exception):
    """Why a trial could not be made here."""


@dataclass(frozen=True)
class _Trials:
    content: dict[str, Any]
    pointer: dict[str, Any]
    plan: dict[str, Any]
    available: int | None
    limit: int | None

    def row(self, trial: dict[str, Any]) -> dict[str, Any]:
        row = {
            "experiment": self.pointer["experiment"],
            "point": "",
            "variant": trial["variant"],
            "name": f"trial: {trial['text']}",
            "value": None,
            "unit": "",
            "source": f"trial under a limit of {self.limit} bytes of address space",
            "state": "ok",
            "bytes": None,
            "needed_bytes": None,
            "memory_bytes": self.available,
            "limit_bytes": self.limit,
            "exit_status": None,
            "signal": None,
            "command": [],
        }
        try:
            return row | self._start(trial, *self._limits())
        except _NotTriedError as why:
            return row | {"state": "absent", "outcome": "not_tried", "reason": str(why)}

    def _limits(self) -> tuple[int, int]:
        if self.available is None or self.limit is None:
            raise _NotTriedError("how much memory is available is unknown here")
        if shutil.which("prlimit") is None:
            raise _NotTriedError("prlimit is not on PATH; install util-linux")
        return self.available, self.limit

    def _binary(self, variant: str) -> Path:
        folder = self.pointer["variants"].get(variant)
        if folder is None:
            raise _NotTriedError(f"variant {variant!r} was not built for this run")
        record = read_json(Path(folder) / "variant.json")
        if record["state"] != "ok":
            raise _NotTriedError(record["reason"])
        return Path(folder) / record["binary"]["file"]

    def _value(self, name: str, value: Any, available: int) -> Any:
        """A factor's value with a size in bytes and a count as a number."""
        sizes = {**self.plan["sizes"], "memory": available}
        if name in COUNTS:
            return parse_counts(value, sizes["cores"] or 1)[0]
        if self.content["factors"][name].get("unit") != "bytes":
            return value
        size = parse_bytes(value, sizes)
        if size is None:
            raise _NotTriedError(f"a size on this host is unknown, and {value!r} is given in it")
        return size

    def _start(self, trial: dict[str, Any], available: int, limit: int) -> dict[str, Any]:
        binary = self._binary(trial["variant"])
        options, point = (
            {name: self._value(name, value, available) for name, value in trial[side].items()}
            for side in ("options", "point")
        )
        limit_s = self.plan["settings"]["time_limit_s"]
        cpus = self.plan["cpus"][: options.get("threads", 1)]
        request = Request(binary, options, [{**point, **ONCE}], cpus, time_limit_s=limit_s)
        program, *arguments = command_line(request)
        under = ["prlimit", f"--as={limit}", "--core=0"]
        status, out, err = run_program(
            [*under, program, *arguments],
            cpus=cpus,
            env=environment(request),
            time_limit_s=limit_s,
            lock=None,
        )
        _, (finished,) = read_output(out, 1)
        outcome, reason = explain_exit(status, out, err, limit_s)
        if finished is not None and (finished.state == "ok") == (status == 0):
            outcome, reason = finished.state, finished.reason or "ran, and passed its check"
        image = image_bytes(binary)
        if finished is None and image > limit:
            reason += (
                f"; its file claims {format_bytes(image)} of address space when it is loaded, and "
                f"{format_bytes(limit)} are allowed"
            )
        bytes_asked = options.get("bytes", 0)
        signal = -status if status is not None and status < 0 else None
        return {
            "value": status if signal is None else signal,
            "unit": "exit status" if signal is None else "signal",
            "outcome": outcome,
            "reason": reason,
            "bytes": bytes_asked,
            "needed_bytes": max(image, self.content["buffers"] * bytes_asked),
            "exit_status": status if signal is None else None,
            "signal": signal,
            "command": [*under, str(binary), *arguments],
        }


def image_bytes(program: Path) -> int:
    """Address space that a program's file claims when it is loaded, its static arrays included;
    0 where it is no 64-bit little-endian ELF."""
    with program.open("rb") as stream:
        head = stream.read(64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            return 0
        (table_at,) = struct.unpack_from("<Q", head, 32)
        length, count = struct.unpack_from("<HH", head, 54)
        stream.seek(table_at)
        table = stream.read(length * count)
    entries = [struct.unpack_from("<I36xQ", table, at) for at in range(0, len(table), length)]
    return sum(claimed for kind, claimed in entries if kind == _PT_LOAD)
