"""Kinds of faults that the seventh set of real logs showed: results of no work, decimals of ab's
percentiles, what h2load counts as failed, spreads of requests that are no errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.render import print_explained

Printed = Callable[[str], str]
OBJECT = """{{
  totalRequests: 3502,
  totalErrors: {errors},
  rps: 175,
  meanLatencyMs: 1025.5,
  maxLatencyMs: 7887,
}}
"""
CHUNKS = "".join(f"Chunk: {at} ({at}- {at + 9})MB Speed: {{}} GByte/s FALSE\n" for at in range(5))
AB = """Concurrency Level:      16
Time taken for tests:   {took} seconds
Complete requests:      1000
Failed requests:        0
Requests per second:    {rate} [#/sec]

Percentage of the requests served within a certain time (ms)
   50%      1.1 ms
   75%      1.5 ms
   99%      4.6 ms
"""
H2LOAD = """finished in 11.03s, 9711.00 req/s, 772.10KB/s
requests: 99420 total, 99999 started, 99420 done, 90115 succeeded, {failures}
status codes: {good} 2xx, 0 3xx, {bad} 4xx, 0 5xx
                     min         max         mean         sd        +/- sd
time for request:      158us     17.80ms       {mean}us       481us    81.73%
"""


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """A function that returns what explain prints of a log, in one line."""

    def said(log: str) -> str:
        print_explained(of_content("log", log.encode(), Machine()), alone=True)
        return " ".join(capsys.readouterr().out.split())

    return said


@pytest.mark.parametrize(
    ("errors", "says"),
    [
        (3502, "as many as totalRequests"),
        (300, "9 % of them"),
        (0, ""),
        (4, ""),
    ],
)
def test_errors_beside_all_requests(printed: Printed, errors: int, says: str) -> None:
    text = printed(OBJECT.format(errors=errors))
    assert "1,025.5" in text
    assert says in text
    assert ("load-errors" in text) == bool(says)


@pytest.mark.parametrize(("rate", "is_zero"), [("0.00", True), ("7.25", False)])
def test_rates_that_are_all_zero(printed: Printed, rate: str, is_zero: bool) -> None:
    assert ("rates are 0" in printed(CHUNKS.format(*[rate] * 5))) == is_zero


def test_decimals_and_runs_of_tables_like_those_of_ab(printed: Printed) -> None:
    text = printed(AB.format(took=88.8, rate=11808) + AB.format(took=34.3, rate=30603))
    assert "elapsed 88.8 s" in text
    assert "elapsed 34.3 s" in text
    assert "1.5 4.6" in text


@pytest.mark.parametrize(
    ("failures", "bad", "says"),
    [
        ("9305 failed, 2310 errored, 2312 timeout", 6995, "9,305 requests failed"),
        ("6995 failed, 0 errored, 0 timeout", 6995, "6,995 of"),
    ],
)
def test_what_failed_has_what_was_errored(
    printed: Printed, failures: str, bad: int, says: str
) -> None:
    text = printed(H2LOAD.format(failures=failures, bad=bad, good=90115, mean=946))
    assert says in text
    assert "2,310 requests failed" not in text


def test_the_spread_of_requests_is_no_error_of_their_mean(printed: Printed) -> None:
    fine = "0 failed, 0 errored, 0 timeout"
    first, again = (H2LOAD.format(failures=fine, bad=0, good=9, mean=mean) for mean in (946, 990))
    assert "no difference" not in printed(first + "\nafter the change\n" + again)
