"""Tools that load a server: what their connections, rates and times decide, and what not."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

WRK = """Running 10s test @ http://{host}:8080/
  4 threads and {connections} connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {mean}ms    2.00ms  90.00ms   91.20%
    Req/Sec     9.95k     0.61k   11.80k    70.10%
  {count} requests in 10.00s, 195.10MB read
{errors}Requests/sec:  {rate}
Transfer/sec:      6.50MB
"""
USUAL = {"host": "10.0.0.2", "connections": 100, "mean": "10.00", "count": 100000, "errors": "",
         "rate": "10000.00"}  # fmt: skip
ERRORS = "  Socket errors: connect 0, read {read}, write 0, timeout {late}\n"
AB = """This is ApacheBench, Version 2.3 <$Revision: 1843412 $>
Concurrency Level:      {connections}
Time taken for tests:   10.000 seconds
Complete requests:      {count}
Failed requests:        {failed}
   (Connect: 0, Receive: 0, Length: {lengths}, Exceptions: 0)
Requests per second:    {rate} [#/sec] (mean)
Time per request:       100.000 [ms] (mean)
              min  mean[+/-sd] median   max
Total:          {least}  100  20.0     99     {most}
Percentage of the requests served within a certain time (ms)
  50%     99
  90%    {p90}
  95%    {p95}
  99%    {p95}
"""
OF_AB = {"connections": 50, "count": 5000, "failed": 0, "lengths": 0, "rate": 500.00, "least": 4,
         "most": 190, "p90": 120, "p95": 150}  # fmt: skip
PGBENCH = """transaction type: {test}
scaling factor: {scale}
number of clients: {clients}
number of threads: 1
duration: 30 s
number of transactions actually processed: 30000
latency average = {latency} ms
tps = 1000.000000 (without initial connection time)
"""
HEY = """$ hey -n {asked} -c 100 https://example.org/
Summary:
  Total:\t14.4000 secs
  Slowest:\t0.1200 secs
  Fastest:\t0.0310 secs
  Average:\t0.0700 secs
  Requests/sec:\t1388.0000

Status code distribution:
  [200]\t{got} responses
{errors}"""
K6 = """     http_req_blocked...............: avg={blocked}ms   min=0s     med=0s    max=1.89s
     http_req_duration..............: avg=20.00ms min=4.72ms  med=20.07ms max=56.67ms
     http_reqs......................: 60000  199.98/s
"""
REDIS = """{command}====== SET ======
  {count} requests completed in {took} seconds
  50 parallel clients
  3 bytes payload

100.00% <= 1 milliseconds
{rate} requests per second
"""
MEMTIER = """4         Threads
50        Connections per thread
ALL STATS
Type         Ops/sec     Hits/sec   Misses/sec      Latency       KB/sec
Totals      12066.21     12066.21         0.00   {latency}       963.62
"""


def wrk(**changed: object) -> str:
    return WRK.format(**{**USUAL, **changed})


def ab(**changed: object) -> str:
    return AB.format(**{**OF_AB, **changed})


def words(text: str) -> str:
    explained = of_content("log", text.encode(), Machine())
    assert explained.trouble == ""
    assert not any("failed on this log" in note for note in explained.notes), explained.notes
    return "\n".join([*(finding.explanation for finding in explained.findings), *explained.notes])


SAID = {
    "own host": (wrk(host="localhost"), "share its cores"),
    "timeouts": (wrk(errors=ERRORS.format(read=0, late=50)), "not in its latencies"),
    "broken reads": (wrk(errors=ERRORS.format(read=5000, late=0)), "may leave these out"),
    "statuses": (wrk(errors="  Non-2xx or 3xx responses: 100000\n"), "were no success"),
    "nothing": (
        wrk(count=0, rate="0.00", mean="0.00", errors=ERRORS.format(read=236, late=0)),
        "No request was completed",
    ),
    "more under way": (wrk(mean="40.00"), "next to 100 connections"),
    "saturated": (wrk() + wrk(connections=200, mean="20.00"), "is about the same"),
    "in turn": (ab(), "waiting in turn"),
    "lengths": (ab(failed=40, lengths=40), "only because their length"),
    "failed": (ab(failed=400, lengths=3), "400 requests failed"),
    "first ones": (ab(count=1000, p95=1500, most=2000, rate=100.0), "the first one on each"),
    "one client": (PGBENCH.format(test="a", scale=9, clients=1, latency="1.000"), "One request"),
    "scale": (PGBENCH.format(test="TPC-B", scale=1, clients=8, latency="8.000"), "branch"),
    "missing": (HEY.format(asked=20000, got=19912, errors=""), "only 19,912 have an answer"),
    "set-up": (K6.format(blocked="12.00"), "leaves that out"),
    "over soon": (REDIS.format(command="", count=10000, took="0.08", rate="125000.00"), "80.0 ms"),
    "pipelining": (
        REDIS.format(
            command="$ redis-benchmark -P 16\n", count=9**7, took="9.00", rate="531441.00"
        ),
        "pipelining",
    ),
    "impossible mean": (MEMTIER.format(latency="2164.04600"), "the mean can be 16.6 ms at most"),
}
NOT_SAID = {
    "another host": (wrk(), "share its cores"),
    "a few timeouts are said, nothing else": (wrk(errors=ERRORS.format(read=0, late=5)), "lucky"),
    "few broken reads": (wrk(errors=ERRORS.format(read=50, late=0)), "may leave these out"),
    "more at a rate": (
        wrk(mean="40.00").replace("  100000", "  Latency Distribution (HdrHistogram)\n  100000"),
        "but there were only",
    ),
    "faster with more": (wrk() + wrk(connections=200, rate="15000.00"), "is about the same"),
    "slow by itself": (ab(least=60), "waiting in turn"),
    "another page": (
        wrk() + wrk(host="10.0.0.3", connections=200, mean="20.00"), "is about the same",
    ),
    "tail of many": (ab(count=500000, p95=1500, most=2000), "the first one on each"),
    "several clients": (PGBENCH.format(test="a", scale=9, clients=4, latency="4.000"), "One req"),
    "reads": (PGBENCH.format(test="select only", scale=1, clients=8, latency="8.0"), "branch"),
    "rounded by the tool": (HEY.format(asked=20099, got=20000, errors=""), "have an answer"),
    "errors listed": (
        HEY.format(asked=20000, got=19912, errors="\nError distribution:\n  [88]\tEOF\n"),
        "have an answer",
    ),
    "short set-up": (K6.format(blocked="0.01"), "leaves that out"),
    "long enough": (REDIS.format(command="", count=10**6, took="8.00", rate="125000.00"), "lasted"),
    "possible mean": (MEMTIER.format(latency="16.50000"), "at most"),
}  # fmt: skip
CASES = [(*case, True) for case in SAID.values()] + [(*case, False) for case in NOT_SAID.values()]


@pytest.mark.parametrize(("text", "sign", "is_said"), CASES, ids=[*SAID, *NOT_SAID])
def test_each_kind_is_said_where_the_log_decides_it(text: str, sign: str, is_said: bool) -> None:
    assert (sign in words(text)) == is_said, words(text)


def figures(text: str) -> dict[tuple[str, str], float]:
    explained = of_content("log", text.encode(), Machine())
    return {
        (result.name, result.statistic): result.value
        for report in explained.reports
        for result in report.results
    }


def test_a_tail_alone_is_a_run_of_its_own() -> None:
    text = wrk() + "  921 requests in 10.03s, 169.09KB read\nRequests/sec:     91.85\n"
    explained = of_content("log", text.encode(), Machine())
    assert [report.facts["concurrency"] for report in explained.reports] == [100, 100]


def test_words_of_one_tool_are_not_taken_for_another() -> None:
    assert {
        report.tool
        for text in (wrk(), ab(), HEY.format(asked=1000, got=1000, errors=""))
        for report in of_content("log", text.encode(), Machine()).reports
    } == {"wrk", "ab", "hey"}
    explained = of_content("log", b"Requests/sec: 100\nService ran well.\n", Machine())
    assert explained.trouble != ""


def test_shares_that_matter_are_kept_of_hundreds() -> None:
    shares = "".join(f"{share:.2f}% <= {share} milliseconds\n" for share in range(1, 101))
    text = REDIS.format(command="", count=10**6, took="8.00", rate="125000.00")
    own = figures(text.replace("100.00% <= 1 milliseconds\n", shares))
    assert {key: own[key] for key in own if key[0] == "response time"} == {
        ("response time", "p50"): 50, ("response time", "p75"): 75, ("response time", "p90"): 90,
        ("response time", "p95"): 95, ("response time", "p99"): 99, ("response time", "max"): 100,
    }  # fmt: skip
