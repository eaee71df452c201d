"""Sentences that some real logs did not bear out: each kind with a log where it must not be said,
and what is said there, or one next to it where it still is."""

from __future__ import annotations

import pytest

from benchbook.explain.api import of_content
from benchbook.explain.render import print_explained
from benchbook.explain.rules import Machine

TOPOLOGY = """        GPU0    GPU1    CPU Affinity
GPU0     X      {way}     0-5
GPU1    {way}      X      6-11
"""
VLLM = """============ Serving Benchmark Result ============
Successful requests:                     16
Benchmark duration (s):                  20.87
Mean TTFT (ms):                          2633.55
P99 TTFT (ms):                           4610.48
Mean ITL (ms):                           51.78
P99 ITL (ms):                            258.31
"""
PERF_TEST = """$ perf-test -x 5 -y 0 {rates}
id: test-1, time: 1.015s, sent: 45 msg/s
id: test-1, time: 2.015s, sent: 55 msg/s
id: test-1, time: 3.015s, sent: 55 msg/s
id: test-1, time: 4.015s, sent: 55 msg/s
id: test-1, time: 14.119s, sent: 0.49 msg/s
id: test-1, time: 15.119s, sent: 84 msg/s
"""
STREAM = """Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:         {copy}     1.719613     1.635737     1.852122
Scale:        {scale}     2.479552     2.344122     2.895374
Add:          {add}     3.703595     3.121796     7.633055
Triad:        {triad}     3.947682     3.836731     4.174377
"""
NETPERF = """$ netperf -H {host}
MIGRATED TCP STREAM TEST from ::0 (::) port 0 AF_INET6 to {host} () port 0 AF_INET6 : demo
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.04     {rate}
"""
WAYS = NETPERF.format(host="ranger", rate=294.61) + "{}"
TIMEIT = """In [83]: %timeit d[0] = 1
The slowest run took 26.20 times longer than the fastest. This could mean that an intermediate \
result is being cached.
{loops}
"""
NVBENCH = """|  T{{ct}}  |  Elements{{io}}  |   Ref Time |   Ref Noise |   Cmp Time |   Cmp Noise |\
       Diff |   %Diff |  Status  |
|---------|----------------|------------|-------------|------------|-------------|------------|\
---------|----------|
|   I8    |      2^16      |   9.516 us |       7.05% |   8.811 us |       8.45% |  -0.705 us |\
  {diff} |   FAST   |
|   I8    |      2^20      |  10.127 us |       7.39% |   9.538 us |       7.29% |  -0.589 us |\
  -5.81% |   SAME   |
"""
IPERF3 = """[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd
[  4]   0.00-1.00   sec  32.5 MBytes   272 Mbits/sec    {again}   33.9 KBytes
[  4]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    0   33.9 KBytes
[  4]   2.00-3.00   sec  0.00 Bytes  0.00 bits/sec    0   33.9 KBytes
[  4]   3.00-4.00   sec  0.00 Bytes  0.00 bits/sec    0   33.9 KBytes
[  4]   4.00-5.00   sec  0.00 Bytes  0.00 bits/sec    0   33.9 KBytes
[  4]   5.00-6.00   sec  0.00 Bytes  0.00 bits/sec    0   33.9 KBytes
"""
ETHTOOL = """NIC statistics:
     rx_tcp_checksum_errs: 1167054962
     {packets}: 388868824555
"""
EAL = "EAL: No free hugepages reported in hugepages-1048576kB\n"
NO_PAGES = "EAL: FATAL: Cannot get hugepage information.\n"
RANK = "#  Rank  0 Group  0 Pid   {pid} on   box device  0 [0x01] NVIDIA A10G\n"
NCCL = (
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 "
    "agg iters: 1 validation: 1 graph: 0\n# Using devices\n{ranks}"
)
TIMES = "$ time sudo wrk -d 240s http://a\nreal\t4m0.{}s\nuser\t0m22.352s\nsys\t0m28.356s\n\n"
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n{}'
MAC_TIME = """        5.01 real         0.51 user         0.89 sys
            87474176  maximum resident set size
               75930  messages sent
               10000  messages received
            11108122  instructions retired
             5581341  cycles elapsed
"""
CRITERION = """json-rust benchmark     time:   [24.540 us 24.773 us 25.061 us]
Found {count} outliers among 100 measurements ({count}.00%)
  4 (4.00%) high mild
"""
PING = "PING 192.168.10.1 (192.168.10.1) 56(84) bytes of data.\n" + "".join(
    f"64 bytes from 192.168.10.1: icmp_seq={at} ttl=64 time={ms} ms\n"
    for at, ms in enumerate(
        [
            7.4,
            848,
            21.2,
            1.9,
            1012,
            4.7,
            23.3,
            7.1,
            7.5,
            13.6,
            36.3,
            10.7,
            1867,
            859,
            2.9,
            7.3,
            877,
            10.2,
            5.2,
            7.3,
            13.7,
            3.0,
        ],
        1,
    )
)
SMIS = """turbostat: cpu3 jitter 26083 8533
Core\tCPU\tAvg_MHz\tBusy%\tBzy_MHz\tTSC_MHz\tIRQ\tSMI
-\t-\t63\t4.06\t1562\t2808\t1885\t70
0\t0\t73\t4.00\t1816\t2808\t916\t35
1\t1\t44\t3.06\t1436\t2808\t969\t35
"""
RUNS_OF_TIME = """1 thread, 1 plugin
real    1m28.974s
user    0m43.532s
sys     0m0.436s

1 thread, 3 plugins
real    {alone}
user    2m1.771s
sys     0m0.624s

8 threads, 8 plugins
real    1m50.864s
user    8m28.599s
sys     0m5.092s

16 threads, 16 plugins
real    2m36.466s
user    17m53.479s
sys     0m12.519s
"""
COARSE = """| Threads | Average Time |
|---------|--------------|
| 1       | {least}ms    |
| 8       | 11ms         |
| 16      | 22ms         |
| 32      | 55ms         |
"""
GAINS = """| Threads | Time (s) |
|---------|----------|
| 1       | 20.3     |
| 4       | 12.0     |
| 8       | 8.0      |
| 16      | {last}   |
"""
ECHOES = "PING 10.0.0.5 (10.0.0.5) 56(84) bytes of data.\n{head}" + "".join(
    f"64 bytes from 10.0.0.5: icmp_seq={number} ttl=64 time=11.2 ms\n" for number in range(12, 20)
)
RANGES = """Time (%)  Total Time (ns)  {count}  Avg (ns)    Min (ns)  Max (ns)  Range
--------  ---------------  ---------  ----------  --------  --------  -------
    50.2         22777979          1  22777979.0  22777979  22777979  :Encode
    21.8          9875718          1   9875718.0   9875718   9875718  :L2Norm
    21.4          9712611          1   9712611.0   9712611   9712611  :Alloc
"""
VTUNE = """IPC: 1.140
SP {unit}: 0.000
DP {unit}: 0.000
x87 {unit}: 0.000
"""
TRTEXEC = "".join(
    f"[05/10/2021-12:24:{second}] [I] Average on 10 runs - GPU latency: 3.05903 ms - "
    "Host latency: 3.5863 ms (end to end 6.07532 ms, enqueue 0.538281 ms)\n"
    for second in (30, 31)
)
PROFILE = """| Name | CPU total % | CPU total | CPU time avg | CUDA total % | CUDA total |
|---|---|---|---|---|---|
| aten::matmul | 99.05% | 523.401ms | 5.234ms | 49.91% | 791.184ms |
| aten::mm | 98.88% | 522.511ms | 5.225ms | 49.89% | 790.885ms |
"""
BENCHEE = """{note}
Name               ips        average  deviation         median         99th %
get(max, max)   2.08 M      481.84 ns     ±47.39%         459 ns         693 ns

Name               ips        average  deviation         median         99th %
get(max, max)   2.62 M      411.22 ns     ±39.06%         380 ns         440 ns
"""
LLAMA = """# llama-cpp-python Ver0.2.90
```
llama_print_timings: prompt eval time = 14805.69 ms / 13 tokens (1138.90 ms per token, 0.88 tokens per second)
llama_print_timings: total time = 18278.73 ms / 45 tokens
```

# llama-cpp-python Ver0.3.0
```
llama_perf_context_print: load time = 14788.07 ms
llama_perf_context_print: prompt eval time = 0.00 ms / 13 tokens (0.00 ms per token, inf tokens per second)
```
"""  # noqa: E501
NPM = """+ prom-client@11.1.3
added 3 packages from 3 contributors in 10.795s
- metrics with 64 ➭ current x 192,033 ops/sec ±5.57% (83 runs sampled)
- metrics with 64 ➭ prom-client@latest x 197,083 ops/sec ±5.02% (81 runs sampled)
"""
PPROF = """Duration: 21.52s, Total samples = 214.20ms (    1%)
Showing nodes accounting for 214.10ms, 100% of 214.20ms total
      flat  flat%   sum%        cum   cum%
  197.10ms 92.02% 92.02%   197.10ms 92.02%  math.Lgamma
         0     0%   100%   214.10ms   100%  testing.(*B).launch
"""
DENO = """date_now:  n = 500000, dt = 0.021s, r = 23809524/s, t = 42ns/op
{last}:  n = 500000, dt = 0.700s, r = 714286/s, t = 1400ns/op
"""
MODES = """WorkloadResult  99: 1 op, {q3} ns, {q3}00 ns/op

Mean = 164.000 ns, StdErr = 5.416 ns (3.30%), N = 100, StdDev = 54.160 ns
Min = 0.000 ns, Q1 = 100.000 ns, Median = 200.000 ns, Q3 = {q3}0 ns, Max = 300.000 ns
IQR = 100.000 ns, LowerFence = -50.000 ns, UpperFence = 350.000 ns
Skewness = -0.38, Kurtosis = 2.46, MValue = 3.28
"""
ROCM = """GPU[0] 		: Temperature: 81.0c
GPU[0] 		: GPU Clock Level: 1 (991Mhz)
GPU[0] 		: Current PowerPlay Level: manual
"""


@pytest.mark.parametrize(
    ("log", "said", "unsaid"),
    [
        (TOPOLOGY.format(way="SOC"), "connected in one way", "in several ways"),
        (TOPOLOGY.format(way="PHB"), "PHB is a bridge of the host", "between sockets"),
        (VLLM, "rests on 16 observations", "time between tokens p99 rests"),
        (PERF_TEST.format(rates="-vr 10:10 -vr 0:10"), "messages/s", "hardly anything was done"),
        (PERF_TEST.format(rates="-r 55"), "hardly anything was done", "The command varies"),
        (
            STREAM.format(copy="97.8", scale="68.3", add="76.9", triad="62.6"),
            "Its rates and times make arrays",
            "a call of memcpy",
        ),
        (
            STREAM.format(copy="9780.1", scale="6830.1", add="7690.1", triad="6260.1"),
            "If the compiler made Copy a call of memcpy",
            "Most likely the compiler",
        ),
        (
            WAYS.format(NETPERF.format(host="snapon.lab", rate=5.29)),
            "5.29",
            "is not the limit of the slower one",
        ),
        (
            WAYS.format(NETPERF.format(host="192.168.1.9", rate=5.29)),
            "is not the limit of the slower one",
            "most likely",
        ),
        (TIMEIT.format(loops="10000000 loops, best of 3: 54.8 ns per loop"), "IPython", "compiles"),
        (TIMEIT.format(loops="1 loop, best of 5: 2.43 ms per loop"), "compiles", "IPython"),
        (NVBENCH.format(diff="-7.41%"), "1 of 2 rows differ by less", "2 of 2 rows differ"),
        (NVBENCH.format(diff="-7.01%"), "2 of 2 rows differ by less", "They show no difference"),
        (IPERF3.format(again=0), "No segment was sent again", "wait for its timer"),
        (IPERF3.format(again=9), "wait for its timer", "No segment was sent again"),
        (ETHTOOL.format(packets="rxq0: rx_pkts"), "1,167,054,962 rx_tcp", "of both together"),
        (ETHTOOL.format(packets="rx_packets"), "0.30 % of both together", "the first of them"),
        (
            ETHTOOL.format(packets="rxq0: rx_drops_no_frags"),
            "388,868,824,555 rx_drops",
            "only with",
        ),
        (EAL, "alone it is no error", "did not start"),
        (EAL + NO_PAGES, "the program did not start", "it is no error"),
        (NCCL.format(ranks=RANK.format(pid=7)), "Only one rank takes part", "Each of the"),
        (
            NCCL.format(ranks=RANK.format(pid=7) + RANK.format(pid=9)),
            "Each of the 2 processes runs a test of its own",
            "Only one rank",
        ),
        (TIMES.format("220") + TIMES.format("195"), "240.195 s", "does not show which is faster"),
        (TRACE.format("ValueError: no rows\n"), "names it: “ValueError: no rows”", "Figures above"),
        (MAC_TIME, "5.01", "perf stat printed"),
        (CRITERION.format(count=5), "24.773", "criterion found"),
        (CRITERION.format(count=14), "14 outliers among", "the head"),
        (PING, "samples lie far above the others", "of the runs"),
        (MODES.format(q3="200.00"), "one tick of .NET's clock", "takes the times for bimodal"),
        (MODES.format(q3="237.25"), "takes the times for bimodal", "one tick of .NET's clock"),
        (ROCM, "The level of GPU 0 is manual", "line 1: the level"),
        (SMIS, "Line 4 counts 35 SMIs", "70 SMIs"),
        (RUNS_OF_TIME.format(alone="2m47.404s"), "156.466 s", "with each step of the threads"),
        (RUNS_OF_TIME.format(alone="1m29.404s"), "with each step of the threads", "stay with 1,"),
        (COARSE.format(least=0), "printed as 0 ms", "with each step of the threads"),
        (COARSE.format(least=5), "If they share one work, stay with 1.", "cores than"),
        (GAINS.format(last="7.4"), "hardly improves beyond 8 threads", "no longer"),
        (GAINS.format(last="8.1"), "no longer improves beyond", "hardly"),
        (ECHOES.format(head=""), "have no reply in this log", "radio"),
        (
            ECHOES.format(head="From 10.0.0.6 icmp_seq=1 Destination Host Unreachable\n"),
            "11.2",
            "have no reply in this log",
        ),
        (RANGES.format(count="Instances"), "22,777,979", "the longest time are the same"),
        (RANGES.format(count="Warnings "), "the longest time are the same", "Nothing wrong"),
        (VTUNE.format(unit="GFLOPS"), "IPC", "rates are 0"),
        (TRTEXEC, "3.58630 ms Host", "[I] Average on 10 runs - GPU 1"),
        (PROFILE, "49.91", "change"),
        (BENCHEE.format(note="# fast warning with I think"), "411.22", "closer than both errors"),
        (BENCHEE.format(note="# fast warning with I think"), "411.22", "last command above"),
        (BENCHEE.format(note="# mix run -e bench.exs"), "mix run -e bench.exs", "prose"),
        ("Before: median ~282 ms, max ~900 ms\n", "900", "possible"),
        (
            "cuda_driver.cc:936] failed to allocate 128.00M (134217728 bytes) from device: "
            "CUDA_ERROR_OUT_OF_MEMORY\n",
            "the program may have gone on",
            "do not use these figures",
        ),
        (LLAMA, "Ver0.3.0) value unit tokens line load time", "last command above"),
        (NPM, "192,033", "last command above"),
        ("It took 1425 ms in runs of b=4 s=8192 h=16.\n", "1,425 ms", "8,192"),
        (PPROF, "testing.(*B).launch 0 0 214.1 100", "samples"),
        (DENO.format(last="perf_now"), "1,400", "figures are there for"),
        (
            "stage 1 instructions: 314622 cycles: 83223 in a run that took 12 ms\n",
            "figure 12 ms",
            "314,622",
        ),
        ("        Speed: 10Mb/s\n        Duplex: Half\n", "shows half duplex", "is set to half"),
    ],
)
def test_no_more_is_said_than_is_shown(
    log: str, said: str, unsaid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_explained(of_content("a.log", log.encode(), Machine()), alone=True)
    printed = " ".join(capsys.readouterr().out.split())
    assert said in printed
    assert unsaid not in printed
