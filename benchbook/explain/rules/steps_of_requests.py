"""where-the-time-went, report-errors: the steps of a request that curl timed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report, Result
from benchbook.explain.readers.curl import TOTAL
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

# The phrases of the step that ends with each moment: what it is, and what it depends on.
STEPS = {
    "name found": ("name-found", "of-name-found"),
    "connected": ("connected", "of-connected"),
    "TLS ready": ("TLS-ready", "of-TLS-ready"),
    "first byte": ("first-byte", "of-first-byte"),
    TOTAL: ("total-time", "of-total-time"),
}
MOMENTS = ("name found", "connected", "TLS ready", "ready to send", "first byte", TOTAL)
LEAST_NS, MOST = 5e7, 0.6  # of the whole, and of it in one step
WRAPPED_S = (4294.967, 4360.0)  # 2 ** 32 microseconds and a request on top
REDIRECTED = 0.1  # of the whole
FAR = 10.0  # the total ÷ the elapsed time of the program


@rule
def longest_step(reports: Sequence[Report]) -> Iterator[Finding]:
    """The step of a request that has most of its time: looking up the name, connecting, TLS,
    waiting for the first byte, or the transfer. The longest such request of a log is told.

    Decided by the differences of the moments, which curl counts from the start.
    """
    found: list[tuple[float, Result, Result]] = []
    for report in reports:
        total = report.only(TOTAL)
        if report.tool != "curl" or total is None or not LEAST_NS <= total.base_value < 4e12:
            continue
        if (first := report.only("first byte")) and not first.is_positive:
            continue
        again = report.only("redirects")
        if again and again.value > REDIRECTED * total.value:
            continue  # the others are those of the last of several requests
        moments = [own for name in MOMENTS if (own := report.only(name)) and own.is_positive]
        if [own.base_value for own in moments] != sorted(own.base_value for own in moments):
            continue
        before = 0.0
        for moment in moments:
            step = moment.base_value - before
            before = moment.base_value
            if step >= MOST * total.base_value and moment.name in STEPS:
                found.append((step, moment, total))
    if found:
        step, moment, total = max(found, key=lambda entry: entry[0])
        kind, reason = STEPS[moment.name]
        words = {
            "step": step,
            "moment": moment,
            "total": total,
            "kind": kind,
            "reason": f"of-{kind}",
        }
        words |= {
            "reason": reason,
            "share": step / total.base_value,
            "left": len(found) - 1 or None,
        }
        yield finding("step-of-a-request", words, about=[total])


@rule
def times_of_no_request(reports: Sequence[Report]) -> Iterator[Finding]:
    """Times of curl that wrapped around, or are far above the elapsed time of the program."""
    elapsed = [own for report in reports if report.tool == "time" for own in report.results]
    for report in reports:
        total = report.only(TOTAL) if report.tool == "curl" else None
        if total is None:
            continue
        seconds = total.base_value / 1e9
        real = [own for own in elapsed if own.name == "time elapsed" and own.line > total.line]
        if WRAPPED_S[0] <= seconds <= WRAPPED_S[1]:
            yield finding("times-wrapped", total=total, rest=total.base_value - 4294967296e3)
        elif real and seconds >= FAR * real[0].base_value / 1e9:
            yield finding("times-above-elapsed", total=total, real=real[0])


@rule
def request_without_answer(report: Report) -> Iterator[str]:
    """A note on a request of which no byte came back."""
    total, first = report.only(TOTAL), report.only("first byte")
    if report.tool == "curl" and total and first and first.value == 0 and total.is_positive:
        yield (
            f"line {first.line}: no byte of an answer came (0). So the {total.value:g} "
            f"{total.unit} of line {total.line} are the time of a request that failed"
        )
