"""queued-echoes, way-to-disk, asked-rate: what speed tests of a line and of a rented host show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

LEAST_QUEUE_NS, TIMES = 5e7, 4.0  # of a time under load above the idle one; ÷ the idle one


@rule
def loaded_line(report: Report) -> Iterator[Finding]:
    """A line whose round trip grows many times while a speed test fills it."""
    if report.tool != "speedtest":
        return
    idle = report.only("idle latency", "mean")
    loaded = [own for own in report.called("time under load") if own.statistic == "mean"]
    if idle is None or not idle.is_positive or not loaded:
        return
    worst = max(loaded, key=lambda own: own.base_value)
    waited = worst.base_value - idle.base_value
    if waited >= LEAST_QUEUE_NS and worst.base_value >= TIMES * idle.base_value:
        words = {"idle": idle, "loaded": worst, "waited_ns": waited}
        yield finding("line-with-queue", words, way=worst.of.get("direction"))


@rule
def longest_under_load(report: Report) -> Iterator[str]:
    """A note for single echoes that wait far longer under load, where the mean does not."""
    if report.tool != "speedtest":
        return
    idle = report.only("idle latency", "mean")
    loaded = [own for own in report.called("time under load") if own.is_positive]
    means = [own for own in loaded if own.statistic == "mean"]
    longest = max(
        (own for own in loaded if own.statistic == "max"),
        key=lambda own: own.base_value,
        default=None,
    )
    if idle is None or not idle.is_positive or longest is None or not means:
        return
    mean = next((own for own in means if own.line == longest.line), means[0])
    if any(_is_queue(idle, own) for own in means) or not _is_queue(idle, longest):
        return
    yield (
        f"line {longest.line}: under the {longest.of.get('direction') or 'load'} an echo takes "
        f"{mean.value:g} ms on average, and up to {longest.value:g} ms. On the idle line it takes "
        f"{idle.value:g} ms (line {idle.line}). So most likely a queue on the way fills for "
        "moments. If that disturbs calls or games, "
        "shape the traffic to below the rate of the line (sqm, fq_codel)"
    )


def _is_queue(idle: Result, loaded: Result) -> bool:
    waited = loaded.base_value - idle.base_value
    return waited >= LEAST_QUEUE_NS and loaded.base_value >= TIMES * idle.base_value


TESTS_APART = 2.0


@rule
def speed_tests_apart(reports: Sequence[Report]) -> Iterator[str]:
    """A note for two speed tests of one log whose downloads are far apart."""
    first_rates = [
        own[0]
        for report in reports
        if report.tool == "speedtest"
        if (own := [rate for rate in report.called("throughput") if rate.is_positive])
    ]
    if len(first_rates) != 2:
        return
    slow, fast = sorted(first_rates, key=lambda rate: rate.base_value)
    if fast.base_value >= TESTS_APART * slow.base_value:
        yield (
            f"line {slow.line}: {slow.value:g} {slow.unit} and {fast.value:g} {fast.unit} (line "
            f"{fast.line}) are two tests of one kind. If both went over the same line, the slower "
            "one is hardly its limit: its server, its way or its program may be. "
            "speedtest-cli (Python) often reaches less than the program of Ookla"
        )


FLAT, SPAN = 1.25, 64
LEAST_SIZES = 3


@rule
def rate_of_all_sizes(report: Report) -> Iterator[Finding]:
    """A disk that does as many requests a second of any size: what holds it counts requests.

    Decided by three sizes that are 64 times apart and more.
    """
    if report.tool not in ("yabs", "table"):
        return
    counted = [own for own in report.results if own.unit == "operations/s" and own.is_positive]
    sized = [own for own in counted if own.of.get("block_bytes") and own.statistic != "sample"]
    for rates in grouped(sized, _called).values():
        rates.sort(key=lambda own: int(own.of["block_bytes"]))
        if (words := _flat(rates)) is not None:
            yield finding("same-for-sizes", words)
            return


def _called(rate: Result) -> tuple[str, str]:
    """What a rate is of, without the numbers of its row; of YABS only both ways together."""
    words = str(rate.of.get("label") or "").split()
    return rate.name, " ".join(word for word in words if not word[0].isdigit())


def _flat(rates: list[Result]) -> dict[str, Any] | None:
    """The words of rates that hardly differ from the smallest size to one far larger."""
    for end in range(len(rates), LEAST_SIZES - 1, -1):
        values = [own.value for own in rates[:end]]
        small, large = rates[0], rates[end - 1]
        is_wide = large.of["block_bytes"] >= SPAN * small.of["block_bytes"]
        if is_wide and max(values) <= FLAT * min(values):
            words = {"small": small, "large": large, "least": small.of["block_bytes"]}
            return words | {"most": large.of["block_bytes"]}
    return None


@rule
def remote_partition(report: Report) -> Iterator[Finding]:
    """A partition that is a share of another host, as its name shows (host:/path, //host/path)."""
    disk = str(report.facts.get("disk") or "")
    host, colon, path = disk.partition(":")
    is_share = bool(colon and path.startswith("/") and "/" not in host) or disk.startswith("//")
    if report.tool == "yabs" and is_share and report.results:
        yield finding("partition-on-share", disk=disk, figure=report.results[0])
