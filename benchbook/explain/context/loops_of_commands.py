"""Numbers of threads and processes that a loop of the shell goes through, given to the runs below:
`for t in 1 2 4 8; do OMP_NUM_THREADS=$t ./stream; done`."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

_LOOP = late(
    r"\bfor (?P<name>[A-Za-z_]\w{0,30}) in (?P<items>\d{1,5}(?: +\d{1,5}){1,60}) ?;? *do\b"
    r"(?P<rest>.{1,600})$"
)
_THREADS = late(
    r"(?:(?:OMP|MKL|OPENBLAS|RAYON)_NUM_THREADS=|GOMAXPROCS=|--(?:num[_-]|n)?threads[= ]|-t ?)"
    r"[\"']?\$\{?(?P<name>[A-Za-z_]\w{0,30})\}?"
)
_PROCESSES = late(
    r"\b(?:mpirun|mpiexec|srun)\b.{0,200}? (?:-np|-n|--ntasks[= ]) ?[\"']?"
    r"\$\{?(?P<name>[A-Za-z_]\w{0,30})\}?"
)
_LONGEST = 1200  # characters of a line


def tell(log: Log, reports: Sequence[Report]) -> None:
    """Give each run below a loop its number, where there are as many runs as numbers."""
    lines = [line for line in log.having("for") if len(line.text) <= _LONGEST]
    loops = [(line.number, found) for line in lines if (found := _LOOP.search(line.text))]
    for at, (number, found) in enumerate(loops):
        end = loops[at + 1][0] if at + 1 < len(loops) else float("inf")
        below = [report for report in reports if number < report.line < end]
        items = [int(item) for item in found["items"].split()]
        if len(below) != len(items) or len({report.tool for report in below}) != 1:
            continue
        for what, pattern in (("threads", _THREADS), ("processes", _PROCESSES)):
            used = pattern.search(found["rest"])
            if used and used["name"] == found["name"]:
                for report, item in zip(below, items, strict=True):
                    report.facts.setdefault(what, item)
                break
