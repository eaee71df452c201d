"""Notes on transfers over a network of one log, by two tools or on two ways, that are far apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain import readers
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import SUM, Command, Report, Result
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.rules import rule

APART, MOST_RUNS = 1.1, 6
MANY_TIMES, LEAST_AGAIN = 10.0, 100.0  # of segments that were sent again
_NAME = late(r"(?i)^(?![\d.:a-f]+$)(?!.*:)[a-z\d.-]*[g-z][a-z\d.-]*$")
_LOOPBACK = late(r"^(?:127\.\d|::1$|localhost)")
FIRST_OF_THREADS = (3, 16)  # the version of iperf3 that gives each stream a thread


@rule
def transfers_apart(reports: Sequence[Report]) -> Iterator[str]:
    """A note on the fastest and the slowest of a few transfers of a log, and what is known to
    differ between them."""
    runs = [
        (report, rate)
        for report in reports
        if readers.comparers().get(report.tool) == transfers_apart.name
        if report.facts.get("protocol") != "udp"
        if (rate := main_rate(report))
    ]
    if not 2 <= len(runs) <= MOST_RUNS or "direction" in runs[0][0].columns:
        return
    (slow, low), (fast, high) = (
        choose(runs, key=lambda run: run[1].rate or 0.0) for choose in (min, max)
    )
    if (high.rate or 0.0) < APART * (low.rate or 0.0):
        return
    differs = " and ".join(_differences(slow, fast))
    if not differs or _are_other_hosts(slow, fast):
        return
    share = 100 * (low.rate or 0.0) / (high.rate or 1.0)
    yield (
        f"line {low.line}: {low.value:g} {low.unit} is {share:.3g} % of the {high.value:g} "
        f"{high.unit} of line {high.line}. They differ in {differs}, and maybe in more. "
        f"{_conclusion(slow, fast)}"
    )


def main_rate(report: Report) -> Result | None:
    """The total of all streams, as the receiver has it where that is known."""
    totals = [
        own
        for own in report.called("throughput")
        if own.statistic in ("total", "mean", "") and own.is_positive and own.rate
    ]
    sums = [own for own in totals if report.column(own, "stream") == SUM]
    got = [own for own in sums or totals if own.of.get("end") == "receiver"]
    of_all = got or sums or totals
    return of_all[-1] if of_all else None


def _are_other_hosts(slow: Report, fast: Report) -> bool:
    """Whether both name their far ends, and these are two names: no addresses, of which a host may
    have several."""
    ends = [str(report.facts.get("far_address") or "") for report in (slow, fast)]
    return all(map(_NAME.search, ends)) and ends[0] != ends[1]


def _differences(slow: Report, fast: Report) -> list[str]:
    """In words, what two runs are not alike in; the slower one is named first."""
    found: list[str] = []
    if slow.tool != fast.tool:
        found.append(f"{slow.tool} against {fast.tool}")
    titles = [str(report.facts.get("titled") or "") for report in (slow, fast)]
    if all(titles) and titles[0] != titles[1] and slow.tool == fast.tool:
        found.append(f"“{titles[0]}” against “{titles[1]}”")
    ends = [str(report.facts.get("far_address") or "") for report in (slow, fast)]
    if all(ends) and ends[0] != ends[1]:
        found.append(f"the way to {ends[0]} against that to {ends[1]}")
    counts = [report.facts.get("streams") for report in (slow, fast)]
    if None not in counts and counts[0] != counts[1]:
        found.append(f"{counts[0]} streams against {counts[1]}")
    again = [
        sum(own.value for own in report.called("retransmits") if own.statistic == "total")
        for report in (slow, fast)
    ]
    if again[0] >= max(LEAST_AGAIN, MANY_TIMES * again[1]):
        found.append(f"{again[0]:,.0f} segments sent again against {again[1]:,.0f}")
    return found


def _conclusion(slow: Report, fast: Report) -> str:
    command = Command(slow.line, slow.asked)
    several = option(command, "-P", "--parallel")
    version = _version(slow.version)
    is_old = not version or version < FIRST_OF_THREADS
    if slow.tool == "iperf3" and fast.tool == "iperf" and several not in ("", "1") and is_old:
        when = "So" if version else "So if it is older,"
        return (
            "iperf3 before 3.16 runs all streams in one thread, and iperf one thread for each. "
            f"{when} the slower figure is most likely that of one core: start several iperf3, or "
            "take a newer one"
        )
    same_way = slow.facts.get("far_address") == fast.facts.get("far_address")
    if same_way and slow.tool != fast.tool:
        return (
            "If both went over the same link, it carries the faster rate. "
            "Then the slower one is a limit of the tool or of its options"
        )
    titles = [report.facts.get("titled") for report in (slow, fast)]
    if same_way and all(titles) and titles[0] != titles[1]:
        # The titles may name two links.
        return "If nothing else was changed between them, that most likely makes the difference"
    for report, means in (
        (fast, "the faster one does not show what a link carries"),
        (slow, "no link is the limit of the slower one"),
    ):
        end = str(report.facts.get("far_address") or "")
        if _LOOPBACK.match(end):
            return (
                f"If no tunnel begins at {end}, what goes there stays within the host, and {means}"
            )
    return (
        "If both go over the same link, it is not the limit of the slower one. Then look at what "
        "is on its way only (a bridge, NAT, a tunnel, another setting). If each goes over its own, "
        "look at the slower link first: its speed, duplex and errors (ethtool, ip -s link)"
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
