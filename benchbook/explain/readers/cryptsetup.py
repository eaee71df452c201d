"""cryptsetup benchmark: the rates of ciphers, and iterations a second of the derivation of keys."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "cryptsetup"
_RATE = r"(?:\d{1,6}\.\d MiB/s|N/A)"
_ROW = late(
    rf"^(?P<cipher>[a-z][a-z0-9()_,-]{{2,40}})\s+(?P<bits>\d{{2,4}})b\s+(?P<there>{_RATE})\s+"
    rf"(?P<back>{_RATE})$"
)
_DERIVED = late(
    r"^(?P<name>PBKDF2-\w{2,20})\s+(?P<count>\d{1,10}) iterations per second for (?P<bits>\d{2,4})"
)
_BEGINS = "Tests are approximate using memory only"


def _line(reading: Reading[Run], text: str) -> None:
    run = reading.run
    if _BEGINS in text:
        run = reading.begin() if run.results else run
        run.line = run.line or reading.line.number
    elif found := _DERIVED.match(text):
        reading.add(found["name"], found["count"], "iterations/s")
    elif found := _ROW.match(text):
        of: dict[str, Any] = {"operation": found["cipher"], "key_bits": int(found["bits"])}
        for name, key in (("encryption", "there"), ("decryption", "back")):
            if found[key] != "N/A":
                rate = found[key].removesuffix(" MiB/s")
                reading.add(f"{found['cipher']} {found['bits']}b {name}", rate, "MiB/s", "", of)
            else:
                absent = str(run.facts.get("absent_ciphers", "")).split(", ")
                names = dict.fromkeys([*filter(None, absent), found["cipher"]])
                run.facts["absent_ciphers"] = ", ".join(names)
                run.facts.setdefault("absent_ciphers_line", reading.line.number)


read = LineReader(TOOL, Run, _line)
