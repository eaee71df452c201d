"""dd: bytes, time and rate of a copy, and what its command asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Result
from benchbook.explain.printed_digits import half_digit
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "dd"
_ROW = late(
    r"^(?:[A-Za-z][\w ./=-]{0,40}: )?`?(?:# ?)?"
    r"(?P<bytes>\d+) (?:bytes|Bytes|octets|byte)\b(?: \([^)]*\))? ?(?:copied|transferred|kopiert"
    r"|copiés|copiados)?"
    r"[, ]+(?:in )?(?P<time>[\d.,]+(?:e[+-]?\d+)?) ?(?:s|secs?|seconds)\b,? ?\(?(?P<rate>"
    r"[\d.,]+) ?(?P<unit>[kMGT]?B/s|bytes/sec)"
)
# Of versions that print no rate: busybox without its option, toybox, and those of old systems.
_BYTES = late(
    r"^(?P<bytes>\d{1,18}) bytes(?: \([\d.]{1,9} ?[KMGT]i?B\))? (?:copied|transferred)\.?$"
)
_REAL = late(r"^[Rr]eal\s+(?:(?P<minutes>\d{1,6})m ?)?(?P<seconds>\d{1,9}\.\d{1,6}) ?s?$")
_COMMAND = late(r"(?:^|[\s;&|])dd (?P<words>\w+=[^\s;&|]+(?: \w+=[^\s;&|]+)*)")
_RECORDS = late(r"^(?:# ?)?\d+\+\d+ (?:records|enregistrements|Datensätze|registros) ")
_UNITS = {"bytes/sec": "B/s"}
_SYNCED = ("fdatasync", "fsync", "direct", "dsync", "sync")


@dataclass
class _Run(Run):
    """One copy; `asked`: options of the last command above what follows it."""

    asked: dict[str, str] = field(default_factory=dict)
    # Whether no copy was printed since that command: another one may be of what follows.
    is_new: bool = False
    has_records: bool = False  # since the last copy: what follows them is the whole one
    # Whether its copy may be one of status=progress: no records above, and whole seconds.
    may_go_on: bool = False
    bytes_alone: int = 0  # of a copy that was printed without its time
    # Files that were read or written, and may be in the cache; one set for all runs.
    seen: set[str] = field(default_factory=set)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _ROW.match(text):
        options, seen, is_whole = run.asked, run.seen, run.has_records
        goes_on = run.may_go_on and not run.is_new
        if goes_on and run.results:
            _is_so_far(run.results)
            run.is_new = run.has_records = False
        else:
            run = reading.begin(asked=options, seen=seen)
        run.may_go_on = (
            not is_whole and options.get("status") == "progress" and found["time"].isdecimal()
        )
        if options:
            source, target = options.get("if", ""), options.get("of", "")
            run.facts |= {"input": source, "output": target}
            run.facts["block"] = options.get("bs") or options.get("obs", "")
            flags = ",".join(options.get(name, "") for name in ("conv", "oflag", "iflag"))
            run.facts["flags"] = ", ".join(flag for flag in flags.split(",") if flag in _SYNCED)
            run.facts.setdefault("is_read_again", source in seen)
            seen.update((source, target))
        moved, took = int(found["bytes"]), reading.number(found["time"])
        of: dict[str, Any] = {}
        if took:
            of = {
                "bytes_moved": moved,
                "elapsed_s": took,
                "elapsed_error_s": half_digit(found["time"]),
            }
        reading.add("copy", found["rate"], _UNITS.get(found["unit"], found["unit"]), "mean", of)
    elif found := _BYTES.match(text):
        run = reading.begin(asked=run.asked, seen=run.seen)
        options = run.asked
        if options:
            run.facts |= {"input": options.get("if", ""), "output": options.get("of", "")}
            run.facts["block"] = options.get("bs") or options.get("obs", "")
        run.bytes_alone = int(found["bytes"])
        reading.show("bytes copied", found["bytes"], "B")
    elif run.bytes_alone and (found := _REAL.match(text)):
        seconds = 60 * int(found["minutes"] or 0) + float(found["seconds"])
        reading.show("time elapsed", seconds, "s")
        if seconds > 0:  # of the whole program, so that the copy itself is no slower
            reading.show(
                "bytes by the time elapsed", float(f"{run.bytes_alone / seconds / 1e3:.4g}"), "kB/s"
            )
        run.bytes_alone = 0
    elif _RECORDS.match(text):
        run.has_records = True
    elif "drop_caches" in text:
        run.seen.clear()
    elif "dd " in text and (commands := list(_COMMAND.finditer(text))):
        several = [dict(word.split("=", 1) for word in own["words"].split()) for own in commands]
        others = several[1:] + ([run.asked] if run.is_new else [])
        # Of two that differ nobody knows whose output comes next.
        is_one = all(_alike(own) == _alike(several[0]) for own in others)
        run.asked, run.is_new = several[0] if is_one else {}, True


def _is_so_far(results: list[Result]) -> None:
    """Take the last copy for one that was under way: it is shown, and judged by no rule."""
    last = results[-1]
    of = {**last.of, "shown_statistic": "mean"}
    results[-1] = replace(last, name="copy so far", statistic=GIVEN, of=of)


def _alike(options: dict[str, str]) -> list[str]:
    """What of a command matters here."""
    return [options.get(name, "") for name in ("if", "of", "conv", "oflag", "iflag")]


read = LineReader(TOOL, _Run, _line)
