"""dd: bytes, time and rate of a copy, and what its command asked for."""

from __future__ import annotations

import math
import re
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
# In any language: a count and its size in brackets, then the time and the rate.
_TRANSLATED = late(
    r"^(?:[^\W\d_]{2,20}:? ){0,2}(?P<bytes>[0-9]{1,18}) ?(?:[^\W\d_]{2,14} ?)?"
    r"[(（][\d.,]{1,9} ?[kKMGTP]i?B(?:[,，] ?[\d.,]{1,9} ?[KMGTP]i?B)?[)）]"
    r"(?: ?[^\W\d_]{1,20}){0,2} ?[,，、] ?"
    r"(?P<time>\d[\d.,]{0,20}(?:e[+-]?\d{1,3})?) ?[^\W\d_]{1,9}\.? ?[,，、] ?"
    r"(?P<rate>\d[\d.,]{0,20}) ?(?P<unit>[kMGT]?B)/[^\W\d_]{1,8}\.?$"
)
_NEAR = 1.1  # times: how far a rate may be from its bytes over its time
# Of versions that print no rate: busybox without its option, toybox, and those of old systems.
_BYTES = late(
    r"^(?P<bytes>\d{1,18}) bytes(?: \([\d.]{1,9} ?[KMGT]i?B\))? (?:copied|transferred)\.?$"
)
_REAL = late(r"^[Rr]eal\s+(?:(?P<minutes>\d{1,6})m ?)?(?P<seconds>\d{1,9}\.\d{1,6}) ?s?$")
_COMMAND = late(r"(?:^|[\s;&|])dd (?P<words>\w+=[^\s;&|]+(?: \w+=[^\s;&|]+)*)")
_RECORDS = late(
    r"^(?:# ?)?(?:\d+\+\d+ (?:records|enregistrements|Datensätze|registros) "
    r"|(?:[^\d+]{2,30})?\d{1,12}\+\d{1,12} ?[^\W\d_][^\d+]{0,30}$"
    r"|[^\d+]{2,30}\d{1,12}\+\d{1,12}$)"
)
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
    if found := _ROW.match(text) or _translated(reading, text):
        options, seen, is_whole = run.asked, run.seen, run.has_records
        most = _most_bytes(options)
        if is_other := int(found["bytes"]) > _NEAR * most:
            options = {}
        goes_on = run.may_go_on and not run.is_new
        if goes_on and run.results:
            _is_so_far(run.results)
            run.is_new = run.has_records = False
        else:
            run = reading.begin(asked=options, seen=seen)
        if is_other:
            run.facts["is_of_another"] = True
            run.notes.append(
                f"line {reading.line.number}: {int(found['bytes']):,} bytes were copied, and the "
                f"command above copies at most {most:,.0f}. So the two are not of one run, or one "
                "of them was edited"
            )
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
        unit = found["unit"] if "/" in found["unit"] else f"{found['unit']}/s"
        reading.add("copy", found["rate"], _UNITS.get(unit, unit), "mean", of)
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
    elif "+" in text and _RECORDS.match(text):
        run.has_records = True
    elif "drop_caches" in text:
        run.seen.clear()
    elif "dd " in text and (commands := list(_COMMAND.finditer(text))):
        several = [dict(word.split("=", 1) for word in own["words"].split()) for own in commands]
        others = several[1:] + ([run.asked] if run.is_new else [])
        # Of two that differ nobody knows whose output comes next.
        is_one = all(_alike(own) == _alike(several[0]) for own in others)
        run.asked, run.is_new = several[0] if is_one else {}, True


def _translated(reading: Reading[_Run], text: str) -> re.Match[str] | None:
    """A copy in another language: below what is of dd, or with the rate of its bytes and time."""
    if not ("B/" in text and (found := _TRANSLATED.match(text))):
        return None
    if reading.run.has_records or (reading.run.asked and reading.run.is_new):
        return found
    took, rate = reading.number(found["time"]), reading.number(found["rate"])
    if not took or not rate:
        return None
    made = float(found["bytes"]) / took / _PREFIXES[found["unit"][:-1]]
    return found if 1 / _NEAR <= made / rate <= _NEAR else None


_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def _most_bytes(options: dict[str, str]) -> float:
    """How many bytes a command copies at most; infinite where it does not say."""
    if "cbs" in options or "count_bytes" in options.get("iflag", ""):
        return math.inf
    sizes = [_SIZE.fullmatch(options.get("bs") or options.get("ibs") or "512")]
    sizes.append(_SIZE.fullmatch(options.get("count", "")))
    if sizes[1] is None or sizes[1]["unit"] == "B":
        return math.inf  # a count of bytes, or none
    units = [(int(own["number"]), own["unit"]) for own in sizes if own]
    return math.prod(count * _bytes_of(unit) for count, unit in units) if sizes[0] else math.inf


_SIZE = late(r"(?P<number>\d{1,15})(?P<unit>[cwbB]?|[kKmMgGtT](?:i?B)?)")


def _bytes_of(unit: str) -> float:
    """How many bytes a suffix of bs= or count= is."""
    if unit[:1].lower() not in ("k", "m", "g", "t"):
        return {"w": 2.0, "b": 512.0}.get(unit, 1.0)
    thousand = 1000.0 if unit[1:] == "B" else 1024.0
    return thousand ** ("kmgt".index(unit[0].lower()) + 1)


def _is_so_far(results: list[Result]) -> None:
    """Take the last copy for one that was under way: it is shown, and judged by no rule."""
    last = results[-1]
    of = {**last.of, "shown_statistic": "mean"}
    results[-1] = replace(last, name="copy so far", statistic=GIVEN, of=of)


def _alike(options: dict[str, str]) -> list[str]:
    """What of a command matters here."""
    return [options.get(name, "") for name in ("if", "of", "conv", "oflag", "iflag")]


read = LineReader(TOOL, _Run, _line)
