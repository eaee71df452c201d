"""Tables of benchstat: two or more builds with their spread, changes with their test, and geometric
means. The old form has means, and the largest deviation of a run; the new one has medians."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "go-bench"
_OLD_HEAD = late(r"^name +(?:\\ +\S+ +)?old (?P<what>\S+) +new \S+ +delta$")
_NEW_HEAD = late(r"^[│|] +(?P<what>\S+?/(?:op|s)|B/s|sec/op|\S+) +[│|] +\S+ +vs base\b.*$")
_NAMES = late(r"[│|]([^│|]*)")
_VALUE = (
    r"(?P<value>\d+(?:\.\d+)?)(?P<unit>[nµm]?s|[kKMGT]?i?B/s|[kKMGT]?i?B|[nµmkMGT]|[KMGT]i|)"
    r"(?:/op|/s)?(?![\w%/.])"
    r"(?: ?± *(?P<spread>\d+|∞|NaN)%?)?(?: ?[¹²³⁴⁵])*"
)
_CELL = late(rf"\s+{_VALUE}")
_DELTA = late(
    r"\s+(?P<delta>~|[+-]\d+(?:\.\d+)?%|\?)(?: ?[¹²³⁴⁵])*"
    r"(?:\s+\((?:p=(?P<p>\d+(?:\.\d+)?)(?: n=(?P<n>\d+)(?:\+(?P<m>\d+))?)?"
    r"|(?P<alike>all (?:samples are )?equal)|[^()]{1,40})\))?(?: ?[¹²³⁴⁵])*"
)
_NAME = late(r"^(?P<name>\[Geo mean\]|\S+)(?=\s)")
_TIMES = {"n": (1.0, "ns"), "µ": (1.0, "us"), "m": (1.0, "ms"), "": (1.0, "s")}
_SI = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "m": 1e-3, "n": 1e-9, "µ": 1e-6}
_BINARY = {"Ki": "KiB", "Mi": "MiB", "Gi": "GiB", "Ti": "TiB"}
_SUFFIXES = {
    "": "", "time/op": "", "sec/op": "", "speed": "rate", "B/s": "rate", "alloc/op": "allocated",
    "B/op": "allocated", "allocs/op": "allocations",
}  # fmt: skip
_OF_CHANGE = ("benchmark", "quantity", "geometric_mean_of")
_COUNTED = ("allocated", "allocations")
_GEOMEAN = ("[Geo mean]", "geomean")
# Names that need no head above them: old tables have their units in the cells.
_WHOLE = late(r"[nµm]?s|[kKMGT]?i?B(?:/s)?")


@dataclass
class _Run(Run):
    """All tables of a log; `what` is what the last one compares, `heads` its builds."""

    line: int = 0
    what: str = ""
    is_old: bool = False
    heads: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "delta" in text and (found := _OLD_HEAD.match(text)):
        run.what, run.heads, run.is_old = found["what"], [], True
        return
    if text[0] in "│|":
        if found := _NEW_HEAD.match(text):
            run.what, run.heads, run.is_old = found["what"], run.names, False
        else:
            run.names = [name.strip() for name in _NAMES.findall(text)]
        return
    if "±" not in text and not text.startswith(_GEOMEAN) and not run.what:
        return
    found = _NAME.match(text)
    if found is None:
        return
    cells = _cells(text, found.end())
    if cells:
        _row(reading, found["name"], cells)


_Cell = tuple[re.Match[str], re.Match[str] | None]


def _cells(text: str, at: int) -> list[_Cell]:
    """The values of a row, each with the change behind it; none where it is no such row."""
    cells: list[_Cell] = []
    while found := _CELL.match(text, at):
        at = found.end()
        delta = _DELTA.match(text, at) if cells else None
        at = delta.end() if delta else at
        cells.append((found, delta))
    rest = text[at:].strip()
    whole = not rest or rest.startswith(("#", "//"))
    changes = [delta for _, delta in cells[1:] if delta is not None]
    return cells if whole and len(cells) > 1 and changes else []


def _row(reading: Reading[_Run], name: str, cells: list[_Cell]) -> None:
    run = reading.run
    whole = all(_WHOLE.fullmatch(cell["unit"]) for cell, _ in cells)
    what = "" if whole else run.what
    is_old = whole or run.is_old
    suffix = _suffix(run.what)
    benchmark = "geometric mean" if name in _GEOMEAN else name
    called = f"{benchmark} {suffix}".strip()
    for place, (cell, delta) in enumerate(cells):
        side = ("old", "new")[place] if place < 2 else _head(run, place)
        value, unit = _figure(cell, what)
        of: dict[str, Any] = {"benchmark": benchmark, "build": side, "quantity": suffix or "time"}
        tested = delta or (cells[1][1] if place == 0 else None)
        # What is counted differs or not: it needs no test.
        tested = None if suffix in _COUNTED else tested
        if tested and tested["p"]:
            of["p_value"] = float(tested["p"])
        if tested and tested["n"]:
            of["repetitions"] = int((tested["m"] if place else None) or tested["n"])
        if tested:
            of["is_same"] = tested["delta"] == "~"
        if cell["spread"] == "∞" and benchmark == name:
            of["is_unbounded"] = True
        if (cell["spread"] or "").isdecimal() and not is_old:
            of["spread_percent"] = int(cell["spread"])
        if benchmark != name:
            of = {"benchmark": benchmark, "quantity": suffix or "time", "geometric_mean_of": side}
            reading.add(f"{called} {side}", value, unit, "geometric mean", of)
        else:
            reading.add(f"{called} {side}", value, unit, "mean" if is_old else "median", of)
        if delta and delta["delta"].endswith("%"):
            reading.add(
                f"{called} {'' if place < 2 else f'{side} '}change",
                float(delta["delta"].rstrip("%")),
                "%",
                "change",
                {"side": side, **{key: of[key] for key in _OF_CHANGE if key in of}},
            )


def _suffix(what: str) -> str:
    """What tells the rows of one benchmark apart that stand in several tables."""
    return _SUFFIXES.get(what, what)


def _head(run: _Run, place: int) -> str:
    return run.heads[place] if place < len(run.heads) and run.heads[place] else f"build {place + 1}"


def _figure(cell: re.Match[str], what: str) -> tuple[float, str]:
    """A value with its unit; `what` is what its table is of, where the cell has no unit."""
    value, unit = float(cell["value"]), cell["unit"]
    if _WHOLE.fullmatch(unit):
        return value, unit.replace("µ", "u")
    if unit in _BINARY:
        return value, _BINARY[unit] + ("/s" if what == "B/s" else "")
    if what in ("sec/op", "time/op", ""):
        factor, own = _TIMES.get(unit, (1.0, "s"))
        return value * factor, own
    factor = _SI.get(unit, 1.0)
    value = float(f"{value * factor:.12g}")
    units = {"B/op": "B", "alloc/op": "B", "allocs/op": "allocations", "B/s": "B/s", "speed": "B/s"}
    return value, units.get(what, "1")


read = LineReader(TOOL, _Run, _line)
