"""core-clock: clocks far below the limits of the processor, where a tool prints both."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.printed_digits import LONGEST

_UNIT = {"MHz": 1.0, "GHz": 1e3}
_CLOCK = r"(?P<{0}>\d{{1,5}}(?:\.\d{{1,6}})?) ?(?P<{0}_unit>[MG]Hz)"
_LIMITS = late(rf"hardware limits: {_CLOCK.format('low')} - {_CLOCK.format('high')}")
_CURRENT = late(rf"current CPU frequency(?: is|:)? ?{_CLOCK.format('now')}(?! \(asserted)")
_HIGHEST = late(r"(?i)\bCPU max(?:imum)? (?:frequency|MHz): *(?P<most>\d{3,5}(?:\.\d+)?)")
_ROW = late(
    r"^\s*CPU(?P<core>\d{1,4}):?\s+(?P<busy>\d{1,3}(?:\.\d)?) ?%.{0,30}?\s"
    r"(?P<now>\d{3,5}) ?MHz\s*$"
)
BUSY, LOW, LEAST_CPUS = 90.0, 0.7, 2
_MOST = 4096
Found = tuple[Report, str, dict[str, object]]


def clocks_of_limits(log: Log) -> Iterator[Found]:
    """The clocks of CPUs as a tool prints them, with the kind of finding and its words; no kind
    where they are within the limits."""
    limits: tuple[float, float] | None = None
    clocks: list[Result] = []
    for line in log.having("hardware limits:", "current CPU frequency")[:_MOST]:
        if len(line.text) > LONGEST:
            continue
        if found := _LIMITS.search(line.text):
            low, high = (float(found[key]) * _UNIT[found[f"{key}_unit"]] for key in ("low", "high"))
            limits = limits or (low, high)
        elif found := _CURRENT.search(line.text):
            mhz = float(found["now"]) * _UNIT[found["now_unit"]]
            clocks.append(Result("clock", mhz, "MHz", line.number, "sample"))
    if clocks and limits:
        slow = min(clocks, key=lambda clock: clock.value)
        is_low = 0 < slow.value < 0.95 * limits[0]
        words: dict[str, object] = {"slow": slow, "low": limits[0], "high": limits[1]}
        report = Report("cpufreq", clocks, clocks[0].line)
        yield report, "below-lowest-clock" if is_low else "", words if is_low else {}
    yield from _busy_rows(log)


def _busy_rows(log: Log) -> Iterator[Found]:
    """Rows of CPUs with how busy each is and its clock, below a line with the highest clock."""
    highest: Result | None = None
    rows: list[tuple[float, Result]] = []
    for line in log.having("MHz")[:_MOST]:
        if len(line.text) > LONGEST:
            continue
        if found := _HIGHEST.search(line.text):
            highest = highest or Result("highest clock", float(found["most"]), "MHz", line.number)
        elif found := _ROW.match(line.text):
            of = {"core": int(found["core"])}
            clock = Result("clock", float(found["now"]), "MHz", line.number, "sample", of)
            rows.append((float(found["busy"]), clock))
    if highest is None or len(rows) < LEAST_CPUS:
        return
    clocks = [clock for _, clock in rows]
    fastest = max(clocks, key=lambda clock: clock.value)
    busy = sum(share >= BUSY for share, _ in rows)
    is_low = busy == len(rows) and fastest.value < LOW * highest.value
    words: dict[str, object] = {"fastest": fastest, "highest": highest, "count": len(rows)}
    report = Report("cpufreq", [highest, *clocks], min(highest.line, clocks[0].line))
    yield report, "busy-below-highest" if is_low else "", words if is_low else {}
