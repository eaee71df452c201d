"""What somebody says again in other words beside a tool's output: a rate with its digits, and bits
where the tool has bytes, or the other way round."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.context.same_runs import lines_of_results
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.units import bytes_per_s

QUOTED = "quoted"
_WORDS = ("bit/s", "bits/s", "bps", "B/s", "Bytes/s", "Byte/s")
_RATE = late(
    r"(?<![\w.,])(?P<digits>\d[\d.,]*\d) ?(?P<prefix>[KkMGT])(?P<binary>i?)"
    r"(?P<what>bits?|b|Bytes?|B)(?:/s(?:ec)?|ps)\b"
)
_OF_WHOLE = ("total", "mean", "best", "sum", "")
_SHORT, _MOST = 300, 1000  # characters of such a line; lines
_MOST_RESULTS = 10_000  # of a log that somebody speaks of
_LEAST_DIGITS = 3  # that are not zeros at the end: fewer are alike by chance
# Lines of other programs, and of who says what a figure is not.
_OTHERS = ("copied", "=", " not ", "n't ", "instead", "rather than")


def tell(log: Log, reports: list[Report]) -> None:
    """Add such a rate to the report whose figure it has."""
    few = sum(len(report.results) for report in reports) <= _MOST_RESULTS
    rates = _rates(reports) if few else {}
    result_lines = lines_of_results(reports) if rates else set()
    lines = (
        (line for line in log.having(*_WORDS) if line.number not in result_lines) if rates else ()
    )
    for line, _ in zip(lines, range(_MOST), strict=False):
        rates_in_line = list(_said(line))
        if len(rates_in_line) != 1 or any(word in line.text for word in _OTHERS):
            continue
        for unit, digits in rates_in_line:
            value = log.number(digits)
            report, result = rates.get((value, _same(unit[0])), (None, None))
            if (
                report is None
                or result is None
                or log.commands_above(result.line) != log.commands_above(line.number)
            ):
                continue
            if result.line < line.number and (("bit" in result.unit) != ("bit" in unit)):
                of = {"quoted_from_line": result.line, "quoted_from_unit": result.unit}
                report.add(Result(result.name, result.value, unit, line.number, QUOTED, of))


def _rates(reports: list[Report]) -> dict[tuple[float | None, str], tuple[Report, Result]]:
    """Printed rates that have digits enough, by value and prefix."""
    return {
        (result.value, _same(result.unit[0])): (report, result)
        for report in reports
        for (_, statistic, unit), several in report.groups.items()
        if statistic in _OF_WHOLE and bytes_per_s(1.0, unit) is not None and unit[0] in "kKMGT"
        for result in several
        if len(f"{result.value:.10g}".replace(".", "").strip("0")) >= _LEAST_DIGITS
    }


def _said(line: Line) -> Iterator[tuple[str, str]]:
    """The unit and the digits of each rate of a line."""
    for match in _RATE.finditer(line.text) if len(line.text) < _SHORT else ():
        prefix = _same(match["prefix"])
        of_bytes = match["what"].startswith("B")
        prefix = f"{prefix.upper()}i" if match["binary"] else prefix
        yield f"{prefix}{'B' if of_bytes else 'bit'}/s", match["digits"]


def _same(prefix: str) -> str:
    return prefix.replace("K", "k")
