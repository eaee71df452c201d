"""closed-loop, load-errors, missed-reference: benchmarks of models that serve requests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchbook.core.number_format import listed
from benchbook.explain.model import Command, Report
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

SERVING, MLPERF = "serving-benchmark", "mlperf"
LEAST_WAITING = 8  # requests without a first token at a time
OF_REQUESTS = 0.05  # of all
LONGER = 10.0  # time to the first token ÷ time of a token
SERVED = 0.8  # of the rate that was asked for
FAR = 1.3  # mean ÷ median
SENT = 0.98  # of the requests that a progress bar counts
BUNDLED = 20.0  # mean ÷ median of the times between tokens
LEAST_ALIKE = 4  # statistics of the latency


@rule
def first_tokens_wait(report: Report) -> Iterator[Finding]:
    """Times to the first token that are the queue: rate times mean is how many wait for one.

    By Little's law, which holds for the whole of a run that begins and ends without requests.
    """
    if report.tool != SERVING:
        return
    rate = report.only("request rate", "mean")
    first = report.only("time to first token", "mean") or report.only("latency", "mean")
    count = report.only("requests", "total")
    if rate is None or first is None or not rate.is_positive or not first.is_positive:
        return
    waiting = rate.value * first.base_value / 1e9
    asked = _asked(report)
    each = report.only("time per output token", "mean")
    is_behind = asked is not None and rate.value < SERVED * asked
    is_long = each is None or first.base_value >= LONGER * each.base_value
    is_many = count is None or waiting >= OF_REQUESTS * count.value
    if waiting < LEAST_WAITING or not is_long or not (is_many or is_behind):
        return
    at_once = True if asked is not None and math.isinf(asked) else None
    words: dict[str, Any] = {"rate": rate, "first": first, "waiting": waiting, "at_once": at_once}
    words["state"] = "under way" if first.name == "latency" else "that wait for it"
    words |= {"asked": asked if is_behind and not at_once else None}
    yield finding("queue-of-requests", words, about=[first])


def _asked(report: Report) -> float | None:
    """The requests a second that were to be sent: infinite where all come at once."""
    asked = report.facts.get("asked_per_s")
    if asked is None:
        text = option(Command(report.line, report.asked), "--request-rate")
        asked = float(text) if text.replace(".", "", 1).isdecimal() else None
    return float(asked) if asked is not None else None


@rule
def one_token_each(report: Report) -> Iterator[str]:
    """A note on requests that make one token each: there is no time between tokens."""
    if report.tool != SERVING:
        return
    count, tokens = report.only("requests", "total"), report.only("generated tokens", "total")
    if count and tokens and count.is_positive and count.value == tokens.value:
        yield (
            f"line {tokens.line}: {tokens.value:,.0f} tokens of {count.value:,.0f} requests are "
            "one each. So there is no time between tokens, and the time to the first one is "
            "that of the whole request"
        )


@rule
def tokens_with_tail(report: Report) -> Iterator[str]:
    """A note on times of tokens whose mean is far above the median."""
    if report.tool != SERVING:
        return
    name = "time per output token"
    mean, median, far = (report.only(name, which) for which in ("mean", "median", "p99"))
    if mean and median and median.is_positive and mean.value >= FAR * median.value:
        words = {"mean": mean, "median": median, "far": far}
        yield finding("tokens-with-tail", words).explanation


@rule
def requests_that_failed(report: Report) -> Iterator[Finding]:
    """Requests that failed next to those that are counted."""
    failed, done = report.only("failed requests"), report.only("requests", "total")
    if report.tool != SERVING:
        return
    if failed and failed.is_positive:
        yield finding("failed-requests-left-out", {"failed": failed, "done": done}, about=[failed])
    elif done and done.is_number and done.value < SENT * (sent := report.facts.get("sent", 0)):
        words = {"done": done, "sent": sent, "line": report.facts["sent_line"]}
        yield finding("fewer-succeeded-than-sent", words, about=[done])


@rule
def tokens_in_bundles(report: Report) -> Iterator[str]:
    """A note on times between tokens whose median is next to nothing of their mean."""
    if report.tool != SERVING:
        return
    name = "time between tokens"
    mean, median = (report.only(name, which) for which in ("mean", "median"))
    if mean and median and median.value >= 0 and mean.value >= BUNDLED * max(median.value, 0.001):
        yield finding("tokens-in-bundles", {"mean": mean, "median": median}).explanation


@rule
def verdict_of_loadgen(report: Report) -> Iterator[Finding]:
    """Results that MLPerf's load generator calls invalid, or whose log has errors."""
    if report.tool != MLPERF:
        return
    facts = report.facts
    if facts.get("verdict") == "invalid":
        missed = facts.get("unsatisfied") or []
        words: dict[str, Any] = {"line": facts["verdict_line"]}
        words["recommended"] = facts.get("recommended")
        words["missed"] = listed(missed) if missed else None
        yield finding("result-invalid", words, about=report.results[:1])
    elif count := facts.get("load_errors"):
        words = {"count": count, "line": facts["load_errors_line"]}
        yield finding("errors-of-valid", words, about=report.results[:1])
    latencies = [own for own in report.called("latency") if own.is_positive]
    if len(latencies) >= LEAST_ALIKE and len({own.value for own in latencies}) == 1:
        words = {"first": latencies[0], "count": len(latencies)}
        yield finding("one-latency", words, about=latencies[:1])
