"""Notes on transfers whose rate is just what an option of their command allows."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Report
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.rules import rule

# By tool, the options that limit a rate, with how many of their unit are a bit a second.
_LIMITS = {
    "iperf3": {"-b": 1.0, "--bitrate": 1.0, "--bandwidth": 1.0, "--fq-rate": 1.0},
    "iperf": {"-b": 1.0, "--bandwidth": 1.0},
    "rsync": {"--bwlimit": 8192.0},  # KiB where no unit is given
    "scp": {"-l": 1000.0},
}
_ASKED = late(r"(\d{1,12}(?:\.\d{1,6})?)([kKmMgG]?)[bB]?(?:its?)?(?:/\d+)?")
_SIZES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
AS_ASKED, LEAST_RATES = (0.85, 1.05), 3


@rule
def limited_as_asked(report: Report) -> Iterator[str]:
    """A note on a transfer over TCP whose rate is the one that an option of its command limits."""
    limits = _LIMITS.get(report.tool)
    if not limits or report.facts.get("protocol") == "udp":
        return
    command = Command(report.line, report.asked)
    for name, bits in limits.items():
        found = _ASKED.fullmatch(option(command, name))
        if found is None or not float(found[1]):
            continue
        size = found[2].lower()
        if report.tool == "rsync":  # its letters are powers of 1024 bytes
            wanted = (
                float(found[1]) * 8 * {"": 1024.0, "k": 1024.0, "m": 2.0**20, "g": 2.0**30}[size]
            )
        else:
            wanted = float(found[1]) * bits * _SIZES[size]
        rate = _rate(report)
        streams = report.facts.get("streams") or 1
        if rate is None or streams != 1:
            return
        value, line = rate
        if AS_ASKED[0] <= 8 * value / wanted <= AS_ASKED[1]:
            yield (
                f"line {line}: about {8 * value / wanted:.0%} of the rate that {name} "
                f"{found[0]} allows came out. So that option holds the rate, and the path may "
                "carry more"
            )
        return


def _rate(report: Report) -> tuple[float, int] | None:
    """Bytes a second of the whole, or of a typical interval, with the line."""
    named = [own for own in report.results if own.rate and own.is_positive]
    whole = [own for own in named if own.statistic in ("total", "mean", "")]
    if whole:
        return whole[-1].rate or 0.0, whole[-1].line
    parts = [own for own in named if own.statistic == "interval"]
    if len(parts) < LEAST_RATES:
        return None
    middle = statistics.median(own.rate or 0.0 for own in parts)
    return middle, min(parts, key=lambda own: abs((own.rate or 0.0) - middle)).line
