"""Notes on zeros of dd next to random data of fio, and on requests that wait for each other in
programs that keep a fixed number of them under way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.core.number_format import duration
from benchbook.explain.model import Command, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.rules import rule

APART = 1.3  # larger ÷ smaller rate


@rule
def zeros_and_random_data(reports: Sequence[Report]) -> Iterator[str]:
    """A note on zeros that dd wrote next to writes of fio, which are random by default."""
    zeros = [
        copy
        for report in reports
        if report.tool == "dd" and report.facts.get("input") == "/dev/zero"
        if not str(report.facts.get("output") or "/dev/null").startswith("/dev/null")
        if (copy := report.only("copy", "mean")) and copy.is_positive
    ]
    written = [
        own
        for report in reports
        if report.tool == "fio" and not _writes_zeros(report)
        for own in report.called("write bandwidth")
        if own.statistic in ("mean", "sum") and own.is_positive
    ]
    if not zeros or not written:
        return
    one, other = zeros[-1], max(written, key=lambda own: own.rate or 0.0)
    low, high = sorted((one.rate or 0.0, other.rate or 0.0))
    if low and high >= APART * low:
        yield (
            f"lines {one.line} and {other.line}: dd wrote zeros at {one.value:,.4g} {one.unit}, "
            f"and fio {other.value:,.4g} {other.unit}, {high / low:.3g} times apart. fio writes "
            "random data unless an option asks for zeros (zero_buffers). Drives, file systems and "
            "volumes that compress or leave out zeros take them faster. So give both the same "
            "data, block size and flushes before you compare them"
        )


def _writes_zeros(report: Report) -> bool:
    given = ("zero_buffers", "buffer_pattern", "buffer_compress", "dedupe_percentage")
    return any(name in word for word in report.asked for name in given)


OF_STORAGE = ("rados-bench", "btest")
STEADY = 0.25  # of the middle rate, by which the intervals may differ
LEAST, ALIKE = 16, (0.85, 1.15)  # requests under way, and what rate times latency makes of them


@rule
def waits_for_others(report: Report) -> Iterator[str]:
    """A note on a latency that is the number of requests under way over the rate (Little's law), of
    programs for storage that keep a fixed number of them under way."""
    if report.tool not in OF_STORAGE:
        return
    most, rate = _under_way(report), _per_second(report)
    if rate is None or not most or most < LEAST:
        return
    per_s, line = rate
    time = report.only("response time", "mean")
    if time and time.is_positive:
        made = per_s * time.base_value / 1e9
        if not ALIKE[0] <= made / most <= ALIKE[1]:
            return
        took = f"each takes {time.value:,.4g} {time.unit} (line {time.line})"
    else:
        took = f"each takes about {duration(1e9 * most / per_s)}"
    yield (
        f"line {line}: with {most:,.0f} requests always under way at {per_s:,.4g} a second {took}. "
        "So this latency goes with their number. It need not be the time of one request alone: "
        f"one is finished every {duration(1e9 / per_s)}"
    )


def _under_way(report: Report) -> float:
    known = report.facts.get("concurrency")
    if is_number(known):
        return float(known)
    if report.tool == "btest":  # -w is the window of each thread and device
        command = Command(report.line, report.asked)
        window, threads = (option(command, name) for name in ("-w", "-T"))
        devices = sum(word.startswith("/dev/") for word in report.asked)
        if window.isdecimal() and threads.isdecimal() and len(window + threads) < 9:
            return float(int(window) * int(threads) * max(1, devices))
    return 0.0


def _per_second(report: Report) -> tuple[float, int] | None:
    """Requests a second and the line of the figure that they are made of."""
    rates: list[Result] = [
        own
        for own in report.being("mean")
        if own.unit in ("operations/s", "requests/s") and own.is_positive
    ]
    if len(rates) == 1:
        return rates[0].value, rates[0].line
    size = report.facts.get("message_bytes")
    moved = [own for own in report.called("throughput") if own.rate and own.statistic == "sample"]
    if not is_number(size) or size <= 0 or len(moved) < 3:
        return None
    later = sorted(moved[1:], key=lambda own: own.rate or 0.0)  # the first second only begins
    usual = later[(len(later) - 1) // 2]
    middle = usual.rate or 0.0
    if not all(abs((own.rate or 0.0) - middle) <= STEADY * middle for own in later):
        return None  # the number under way divided by a rate that changes is the time of nothing
    return middle / size, usual.line
