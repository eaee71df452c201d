"""Load tools, packet generators and sweeps: what their counts, rates and times contradict, and near
each kind a log of which it must not be said. The logs are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.rules import rule
from benchbook.findings import Finding

GHZ = """Summary:
  Count:	1000
  Total:	1246.66 ms
  Slowest:	458.03 ms
  Fastest:	1.25 ms
  Average:	52.86 ms
  Requests/sec:	{rate}

Status code distribution:
  [OK]	1000 responses
"""
HEY = """$ hey {options} http://10.0.0.2/
Summary:
  Total:	10.0000 secs
  Slowest:	{most} secs
  Fastest:	0.0100 secs
  Average:	{mean} secs
  Requests/sec:	{rate}

Status code distribution:
  [200]	{got} responses
{errors}"""
BINS = """Summary:
  Total:	199.9830 secs
  Slowest:	0.1966 secs
  Fastest:	0.0112 secs
  Average:	0.0165 secs
  Requests/sec:	50.0042

Response time histogram:
  {first} [4391] |**
  0.038 [78]   |
"""
VEGETA = """$ vegeta report {inputs}
Requests      [total, rate]            12000, 9.18
Duration      [total, attack, wait]    21m47.89116987s, 21m47.890442635s, 727.235us
Latencies     [mean, 50, 95, 99, max]  667.931us, 661.355us, 814.57us, 915.14us, 3.56416ms
"""
OF_HEY = {"options": "-z 10s -c 100", "most": "0.1200", "mean": "0.0700", "rate": "1400.0000",
          "got": 14000, "errors": ""}  # fmt: skip
WRK = """$ wrk2 -t8 -c100 -d60s -R{asked} -L http://10.0.0.2/
Running 1m test @ http://10.0.0.2/
  8 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {mean}s     1.00s    9.38s    57.81%
    Req/Sec    12.00k    31.57    12.15k    66.16%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    4.71s
  5760000 requests in {took}, 200.00MB read
Requests/sec:  {rate}
"""
OF_WRK = {"asked": 110000, "mean": "4.71", "took": "1.00m", "rate": "96000.00"}
K6 = """checks.........................: {share}% ✓ {yes}       ✗ {no}
http_req_duration..............: avg=144.56ms min=104.11ms med=110.47ms max=1.14s    p(90)=203.54ms
http_reqs......................: 180    4.36938/s
"""
SWEEP = """#       size         count      type   redop    root     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)
       262144          2048     float    none      -1    211.1    1.24    1.20      0
       524288          4096     float    none      -1    692.3    0.76    0.73      0
      1048576          8192     float    none      -1   1456.6    0.72    0.70      0
      2097152         16384     float    none      -1    {time}    0.03    0.03      0
"""
PERFTEST = """                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 {size}       {count}             2450.00             2441.40            2.500000
"""
RINGS = """RX packets:2059646370 errors:0 dropped:{dropped} overruns:0 frame:0
Ring parameters for eth2:
Pre-set maximums:
RX: 4096
TX: 4096
Current hardware settings:
RX: {ring}
TX: 512
"""
PKTGEN = """Pkts/s Rx           :                     0                    0
       Tx           :            10,657,024           10,657,024
MBits/s Rx/Tx       :              0/88,666             0/88,666

Pkts/s Rx           :            {got}            {got}
       Tx           :                     0                    0
MBits/s Rx/Tx       :              52,184/0             52,184/0
"""
MTR = """HOST: orion                       Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 192.168.2.1                0.0%    60    1.1   2.2   0.9  12.8   3.0
  2.|-- ???                       100.0    60    0.0   0.0   0.0   0.0   0.0
  3.|-- host11.example             0.0%    60   61.6  50.6  33.4 1386. 257.2
"""


def statements(log: str) -> str:
    """What all findings and notes of a log say, as one text."""
    explained = of_content("log", log.encode(), Machine())
    assert explained.trouble == ""
    return " ".join([*(own.explanation for own in explained.findings), *explained.notes])


@pytest.mark.parametrize(
    ("log", "words", "near"),
    [
        (GHZ.format(rate="802142.94"), "A factor of 1,000 is a wrong unit",
         GHZ.format(rate="802.14")),
        (
            HEY.format(**OF_HEY | {"rate": "139688.1", "got": 1000000}),
            "exactly 1,000,000",
            HEY.format(**OF_HEY | {"rate": "100000.0", "got": 1000000}),
        ),
        (
            HEY.format(**OF_HEY | {"errors": "Error distribution:\n  [900]\tdial tcp: refused\n"}),
            "900 requests failed",
            HEY.format(**OF_HEY),
        ),
        (
            HEY.format(options="-q 10 -c 100 -z 20s", most="19.4", mean="7.4746", rate="10.05",
                       got=200, errors=""),
            "fits that, and the fastest",
            HEY.format(options="-q 1000 -c 100 -z 20s", most="0.4", mean="0.0200", rate="1000.05",
                       got=20000, errors=""),
        ),
        (WRK.format(**OF_WRK), "96,000 were done", WRK.format(**OF_WRK | {"asked": 96000})),
        (
            WRK.format(**OF_WRK | {"took": "307445734491.24m", "rate": "0.00"}),
            "years (line",
            WRK.format(**OF_WRK),
        ),
        (
            K6.format(share="50.00", yes=45, no=45),
            "45 of 90 checks failed",
            K6.format(share="100.00", yes=90, no=0),
        ),
        (SWEEP.format(time=70248), "protocol costs that. Mostly", SWEEP.format(time="2900.1")),
        (
            PERFTEST.format(size=1024, count=1000),
            "1,000 messages of 1 KiB",
            PERFTEST.format(size=1024, count=5000000),
        ),
        (PERFTEST.format(size=65536, count=10), "rests on 10 requests",
         PERFTEST.format(size=65536, count=100000)),
        (RINGS.format(dropped=7142467, ring=512), "could have 4,096",
         RINGS.format(dropped=7142467, ring=4096)),
        (RINGS.format(dropped=7142467, ring=512), "could have 4,096",
         RINGS.format(dropped=0, ring=512)),
        (BINS.format(first="0.003"), "from another moment", BINS.format(first="0.011")),
        (VEGETA.format(inputs="-inputs=a.bin,b.bin"), "joins several files",
         VEGETA.format(inputs="-inputs=a.bin")),
        (PKTGEN.format(got="6,272,144"), "41 % is lost", PKTGEN.format(got="10,650,000")),
    ],
)  # fmt: skip
def test_a_kind_is_said_of_its_log_and_not_of_the_near_one(log: str, words: str, near: str) -> None:
    assert words in statements(log)
    assert words not in statements(near)


def test_a_load_with_errors_and_answers_is_not_called_unanswered() -> None:
    log = HEY.format(**OF_HEY | {"errors": "Error distribution:\n  [900]\tdial tcp: refused\n"})
    assert "No request was completed" not in statements(log)


def test_times_that_end_with_a_point_are_read_and_no_hop_is_left_out() -> None:
    explained = of_content("log", MTR.encode(), Machine())
    assert [own.value for own in explained.reports[0].called("hop time") if own.of["hop"] == 3] == [
        50.6, 33.4, 1386.0, 257.2,
    ]  # fmt: skip
    assert "100 % are lost to the last hop" not in statements(MTR)


def test_two_rules_of_one_name_are_refused() -> None:
    def rate_of_counts(report: object) -> list[Finding]:
        raise AssertionError(report)

    with pytest.raises(ValueError, match="two rules are called rate_of_counts"):
        rule(rate_of_counts)  # type: ignore[arg-type]
