"""Notes on CPUs that are full of soft interrupts, on queues that drop, and on lines of two kinds
that come in turn."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule

LEAST_SOFT = 30.0  # per cent of all CPUs


@rule
def soft_interrupts(report: Report) -> Iterator[str]:
    """A note for CPUs that mostly handle packets; of top monitors.py speaks."""
    if report.tool in ("mpstat", "sar"):
        soft = [own for own in report.called("soft interrupts") if "core" not in own.of]
        idle = {own.line: own for own in report.called("idle")}
        high = [own for own in soft if own.is_number and own.value >= LEAST_SOFT]
        if high and 2 * len(high) > len(soft):
            most = max(high, key=lambda own: own.value)
            left = f", and {idle[most.line].value:g} % are idle" if most.line in idle else ""
            yield (
                f"line {most.line}: {most.value:g} % of the time of all CPUs are soft "
                f"interrupts{left}. That is mostly the kernel's work for packets, which no program "
                "is charged for. Fewer and larger packets, offloads and fewer firewall rules make "
                "it less"
            )


SHAPERS = ("htb", "tbf", "cake", "hfsc")
LEAST_DROPPED, LEAST_PACKETS = 0.01, 100.0


@rule
def dropped_by_queue(report: Report) -> Iterator[str]:
    """A note for the queue of tc that drops the largest share."""
    if report.tool != "tc":
        return
    by_name = {own.name: own for own in report.results}
    worst: tuple[float, Result, Result] | None = None
    for name, lost in by_name.items():
        queue, _, what = name.rpartition(": ")
        sent = by_name.get(f"{queue}: packets")
        if what == "dropped" and sent and sent.value >= LEAST_PACKETS:
            share = lost.value / (lost.value + sent.value)
            if share >= LEAST_DROPPED and (worst is None or share > worst[0]):
                worst = share, lost, sent
    if worst is None:
        return
    share, lost, sent = worst
    queue = lost.name.rpartition(": ")[0]
    over = by_name.get(f"{queue}: over its limit")
    is_shaper = queue.split()[0] in SHAPERS
    why = (
        f" It was over its limit {over.value:,.0f} times: it shapes, and senders offer more than "
        "the rate that it has"
        if is_shaper and over
        else " Its link, or a shaper around it, is slower than what is sent into it"
    )
    yield (
        f"line {lost.line}: the queue {queue} dropped {lost.value:,.0f} packets and sent "
        f"{sent.value:,.0f}, so {100 * share:.2g} % were lost there.{why}. That is how TCP learns "
        "the rate. If it is lower than the line, raise it"
    )


LEAST_LINES, FAR = 8, 3.0


@rule
def lines_in_turn(report: Report) -> Iterator[str]:
    """A note for figures of one name of which every second is of another kind."""
    if report.tool not in ("figures", "text"):
        return
    for several in grouped(report.results, lambda own: (own.name, own.unit)).values():
        values = [own.value for own in several]
        if len({own.line for own in several}) < max(LEAST_LINES, len(several)):
            continue  # two figures of a line are two columns
        if not all(own.is_positive for own in several):
            continue
        low, high = sorted((values[::2], values[1::2]), key=statistics.median)
        if min(high) >= FAR * max(low):
            yield (
                f"line {several[0].line}: every second {several[0].name} is near "
                f"{statistics.median(high):,.5g} {several[0].unit}, and the others are near "
                f"{statistics.median(low):,.5g}. So most likely two programs, or two "
                "directions, print in turn: a mean over all is of neither"
            )
            return


LEAST_SHARED, MOST_BLOCKS, APART = 2, 4, 1.25
BLOCKS = ("figures", "gocryptfs")  # whose runs are a few named rates each


@rule
def blocks_apart(reports: Sequence[Report]) -> Iterator[str]:
    """A note on blocks of the same named figures, for what differs most among their rates."""
    of_blocks = [report for report in reports if report.tool in BLOCKS]
    blocks = [_figures(report) for report in of_blocks]
    if len({report.tool for report in of_blocks}) != 1 or not 2 <= len(blocks) <= MOST_BLOCKS:
        return
    shared = set(blocks[0]).intersection(*blocks[1:])
    rates = [name for name in shared if name[1].endswith("/s")]
    if len(shared) < LEAST_SHARED or not rates:
        return
    pairs = []
    for name in rates:
        own = sorted((block[name] for block in blocks), key=lambda each: each.value)
        pairs.append((own[-1].value / own[0].value, own[0], own[-1]))
    times, low, high = max(pairs, key=lambda pair: pair[0])
    if times >= APART:
        titles = {
            own.line: report.facts.get("titled") for report in of_blocks for own in report.results
        }
        of = [f" ({titles[own.line]})" if titles.get(own.line) else "" for own in (high, low)]
        yield (
            f"line {high.line}: {high.name} is {high.value:,.6g} {high.unit}{of[0]} and "
            f"{low.value:,.6g} in line {low.line}{of[1]}, {times:,.3g} times less. Of the figures "
            "that these blocks share it differs most among the rates"
        )


def _figures(report: Report) -> dict[tuple[str, str], Result]:
    """The figures of a block that it gives once."""
    named = grouped(report.results, lambda own: (own.name, own.unit))
    return {key: own[0] for key, own in named.items() if len(own) == 1 and own[0].is_positive}
