"""Causes in counters, meters of the machine and GPUs: said of a log that shows them, and not of one
nearby."""

# ruff: noqa: E501 (logs have longer lines)

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

BURN = """GPU 0: {first} (UUID: GPU-1)
GPU 1: {second} (UUID: GPU-2)
Initialized device 0 with 8119 MB of memory (7989 MB available, using 7190 MB of it), using FLOATS
10.0%  proc'd: 29 (7124 Gflop/s) - 26 (6963 Gflop/s)   errors: 0 - {errors}   temps: 56 C - 70 C
23.3%  proc'd: 54 (7020 Gflop/s) - 57 (6944 Gflop/s)   errors: 0 - {errors}   temps: 57 C - {hot} C
35.0%  proc'd: 84 (7051 Gflop/s) - 79 ({mid} Gflop/s)   errors: 0 - {errors}   temps: 59 C - {hot} C
46.7%  proc'd: 113 (7109 Gflop/s) - 111 ({mid} Gflop/s)   errors: 0 - 0   temps: 62 C - {hot} C
68.3%  proc'd: 168 (7100 Gflop/s) - 159 ({end} Gflop/s)   errors: 0 - 0   temps: 62 C - {hot} C
80.0%  proc'd: 193 (7081 Gflop/s) - 186 ({end} Gflop/s)   errors: 0 - 0   temps: 63 C - {hot} C
"""
SAME = {"first": "GTX 1080", "second": "GTX 1080", "errors": "0"}
STEADY = BURN.format(**SAME, hot="82", mid="6950", end="6940")
HOT = BURN.format(**SAME, hot="82", mid="6750", end="6500")
COLD = BURN.format(**SAME, hot="66", mid="6750", end="6500")
MIXED = BURN.format(first="Tesla K40m", second="Quadro M4000", errors="0", hot="60", mid="6950",
                    end="6940")  # fmt: skip
WRONG = BURN.format(**{**SAME, "errors": "12  (WARNING!)"}, hot="60", mid="6950", end="6940")
DIED = """50.0%  proc'd: -1 (0 Gflop/s) - 0 (0 Gflop/s)   errors: 797249520  (DIED!)- 0   temps: 33 C - 29 C
"""
NONE = """GPU 0: NVIDIA RTX A2000 (UUID: GPU-1)
Initialized device 0 with 7866 MB of memory (7765 MB available, using 6989 MB of it), using FLOATS
Tested 1 GPUs:
        GPU 0: {verdict}
"""
STAT = """Core CPU Avg_MHz Busy% Bzy_MHz TSC_MHz IPC IRQ SMI PkgWatt
- - {average} {busy} {clock} 2800 1.02 8637 {smi} {watts}
0 0 {average} {busy} {clock} 2800 1.02 916 {smi} {watts}
"""
BUSY = {"average": "2790", "busy": "99.6", "clock": "2801", "smi": "0", "watts": "60.1"}
LIMITED = "cpu0: PKG Limit #1: ENabled (65.000000 Watts, 8.000000 sec, clamp DISabled)\n"
SMI = """+-----------------------------------------------------------------------------+
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|   0  Tesla V100-PCIE...  On   | 00000000:3B:00.0 Off |                    0 |
| N/A   {temperature}C    P0   {draw}W / 250W |   4000MiB / 16160MiB |     {busy}%      Default |
"""
QUERY = """index, name, pcie.link.width.current, power.draw [W], power.limit [W], pcie.link.width.max
0, NVIDIA GeForce RTX 3090, {lanes}, {draw} W, 350.00 W, 16
"""
METER = """Runtime: 10.0 s
Measure for socket 0 on CPU 0
Domain PKG:
Energy consumed: 400 Joules
Power consumed: 40 Watt
Domain PP0:
Energy consumed: {cores} Joules
Power consumed: {power} Watt
"""
RAPL = """rapl:::PACKAGE_ENERGY:PACKAGE0      190.4 J	(Average Power 190.3W)
rapl:::DRAM_ENERGY:PACKAGE0        {first} J	(Average Power {first}W)
rapl:::DRAM_ENERGY:PACKAGE1         6.0 J	(Average Power 6.0W)
"""
NCCL = """# nThread 1 nGpus {ranks} minBytes 1048576 maxBytes 33554432 step: 2(factor) warmup iters: 5 iters: 20
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    18.56   56.50   {bus}      0     0.78  1344.3    {bus}      0
   134217728      33554432     float     sum      -1    19.56 1715.44   {bus}      0     0.78 43046.1    {bus}      0
"""
PEERS = """Device: 0, {name}, pciBusID: 2, pciDeviceID: 0, pciDomainID:0
Device: 1, {name}, pciBusID: 17, pciDeviceID: 0, pciDomainID:0
Device=0 CAN Access Peer Device=1
Device=1 CAN Access Peer Device=0
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1
     0 1008.06   {rate}
     1   {rate} 926.75
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\\D     0      1
     0 1015.27   {rate}
     1   {rate} 945.63
"""
PERF = """ Performance counter stats for './work':

              9.40 msec task-clock                #    0.980 CPUs utilized
                 {count}      cpu_core/cycles/
                 {count}      cpu_core/instructions/
                 {count}      cpu_core/branches/

       0.009603849 seconds time elapsed
"""
ENERGY = """ Performance counter stats for 'sleep 1':

   <not supported> Joules {event}
         1,990,524      cycles

       1.000000000 seconds time elapsed
"""
INTERVAL = """   123.100852112      5,109,360,888      cycles                    #    0.638 GHz
   123.100852112      5,574,865,332      instructions              #    {ipc}  insn per cycle
"""
LIKWID = """+----------------------------------+-----------+-----------+-----------+
|              Metric              |   Core 0  |   Core 1  |   Core 2  |
+----------------------------------+-----------+-----------+-----------+
|        Runtime (RDTSC) [s]       |   10.5141 |   10.5141 |   10.5141 |
|  {name} |  104.9465 | {other}  | {other}  |
+----------------------------------+-----------+-----------+-----------+
"""
RECORD = "[ perf record: Captured and wrote 0.021 MB perf.data ({count} samples) ]\n"
REPORT = """# Total Lost Samples: {lost}
# Samples: 9000 of event 'cycles'
# Event count (approx.): 9876543210
    45.32%  work     work               [.] multiply
"""
MIXBENCH = """Compute iters, Flops/byte, ex.time,  GFLOPS, GB/sec, Flops/byte, ex.time,  GFLOPS, GB/sec
           40,     20.250,    0.43, 6370.11, 314.57,     10.125,    {time},     {rate},    {rate}
"""
BOARD = """# nThread 1 nGpus 2 minBytes 134217728 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid  28307 on      gpu59 device  0 [0x16] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid  28307 on      {host} device  1 [0x27] NVIDIA A100-SXM4-80GB
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
   134217728      33554432     float     sum      -1   {time}   {rate}   {rate}      0   {time}   {rate}   {rate}      0
"""
EVENTS = """| event | main | PR | change |
|---|---|---|---|
| cycles | 4,000,000,000 | 5,200,000,000 | +30 % |
| instructions | 6,000,000,000 | {work} | |
| branch-misses | 1.2M | 1.3M | |
"""
ROWS = """| run | cycles | instructions | branches | branch-misses |
|---|---|---|---|---|
| sorted | 4,000,000,000 | 6,000,000,000 | 800M | {misses} |
"""
TABLE = """| Transfer | pageable (GB/s) | pinned (GB/s) |
|---|---|---|
| {way} 64 MB | 3.1 | 12.2 |
| {way} 256 MB | 3.2 | 12.4 |
"""
COPY = """nvbandwidth Version: v0.8
Device 0: NVIDIA A100-SXM4-40GB (00000000:99:00)
Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0
 0     {rate}
SUM host_to_device_memcpy_ce {rate}
"""
MESSAGES = """# OSU MPI{kind} Bandwidth Test v5.7
# Send Buffer on HOST (H) and Receive Buffer on {place} (D)
# Size      Bandwidth (MB/s)
65536                7404.09
131072               9214.82
262144               9511.51
524288               7860.72
1048576              5196.33
2097152              4323.20
4194304              4036.15
"""
# By what is said: a log of which it is, and one nearby of which it is not.
SYNC = """| Operation | w/o cuda sync (ms) | w/ cuda sync (ms) |
|---|---|---|
| Concat | 0.02 | {first} |
| MatMul | 0.03 | {second} |
"""
DMON = """# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk
# Idx      W      C      C      %      %      %      %    MHz    MHz
    0    298     84      -    {busy}     45      0      0   6800   1905
    0    299     86      -    {busy}     44      0      0   6800   1830
    0    299     87      -    {busy}     44      0      0   6800   1710
"""
SIZES = """#       size         count      type   redop    root     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)
    16777216       4194304     float     sum      -1    1334.9   12.57   24.09      0
    33554432       8388608     float     sum      -1    2180.1   15.39   29.50      0
    67108864      16777216     float     sum      -1  {middle}      0
   268435456      67108864     float     sum      -1  {largest}      0
"""
FALLEN = {"middle": "24410    2.75    5.27", "largest": "125807    2.13    4.09"}
RISING = {"middle": "4221.0   15.90   30.47", "largest": "16777.2   16.00   30.67"}
CAUSES: dict[str, tuple[str, str]] = {
    "lowers its clock as it becomes hot": (HOT, STEADY),
    "becomes hot. GPU 0 keeps its rate": (HOT, COLD),
    "in the order of CUDA": (MIXED, STEADY),
    "computed results that differ": (WRONG, STEADY),
    "The process of GPU 0 ended": (DIED, STEADY),
    "no line of this log shows that any work was done": (NONE.format(verdict="OK"), STEADY),
    "calls GPU 0 faulty": (NONE.format(verdict="FAULTY"), NONE.format(verdict="OK")),
    "something slows it down": (
        STAT.format(**{**BUSY, "clock": "1900"}),
        STAT.format(**{**BUSY, "clock": "1900", "busy": "40.0"}),
    ),
    "which is about its limit of 65 W": (
        LIMITED + STAT.format(**{**BUSY, "watts": "64.9"}),
        LIMITED + STAT.format(**{**BUSY, "watts": "44.9"}),
    ),
    "the firmware stops all cores": (
        STAT.format(**{**BUSY, "smi": "35"}),
        STAT.format(**BUSY),
    ),
    "and not that of a load": (
        STAT.format(**{**BUSY, "busy": "4.06"}),
        STAT.format(**BUSY),
    ),
    "of the 250 W that it may": (
        SMI.format(temperature="65", draw="248", busy="99"),
        SMI.format(temperature="65", draw="148", busy="99"),
    ),
    "Processors and GPUs lower their clock near this temperature": (
        SMI.format(temperature="93", draw="148", busy="99"),
        SMI.format(temperature="65", draw="148", busy="99"),
    ),
    "no GPU of this table works": (
        SMI.format(temperature="35", draw="48", busy="0"),
        SMI.format(temperature="35", draw="48", busy="9"),
    ),
    "has 4 of its 16 lanes": (
        QUERY.format(draw="120.00", lanes="4"),
        QUERY.format(draw="120.00", lanes="16"),
    ),
    "has no such meter": (
        METER.format(cores="0", power="0"),
        METER.format(cores="200", power="20"),
    ),
    "hardly do that": (RAPL.format(first="200.0"), RAPL.format(first="9.0")),
    "Only one rank takes part": (
        NCCL.format(ranks="1", bus="0.00"),
        NCCL.format(ranks="2", bus="56.50"),
    ),
    "In place there is nothing to copy": (
        NCCL.format(ranks="1", bus="0.00"),
        NCCL.format(ranks="2", bus="56.50"),
    ),
    "It is about what 8 lanes of PCIe 3 or 4 lanes of PCIe 4": (
        PEERS.format(name="NVIDIA GeForce RTX 4090", rate="6.60"),
        PEERS.format(name="NVIDIA GeForce RTX 4090", rate="20.60"),
    ),
    "of the processor are 0": (PERF.format(count="0"), PERF.format(count="12,345,678")),
    "perf cannot count it for one program": (
        ENERGY.format(event="power/energy-pkg/"),
        ENERGY.format(event="branches"),
    ),
    "keep a mean of all intervals so far": (
        INTERVAL.format(ipc="0.53"),
        INTERVAL.format(ipc="1.09"),
    ),
    "is counted once for each socket": (
        LIKWID.format(name="Memory bandwidth [MBytes/s]", other="0"),
        LIKWID.format(name="Memory bandwidth [MBytes/s]", other="99.1"),
    ),
    "rows of one sample mean nothing": (
        RECORD.format(count="47"),
        RECORD.format(count="5648"),
    ),
    "samples were lost": (REPORT.format(lost="800"), REPORT.format(lost="0")),
    "nothing was measured there": (
        MIXBENCH.format(time="0.00", rate="inf"),
        MIXBENCH.format(time="1.00", rate="512.5"),
    ),
    "the data do not go over NVLink": (
        BOARD.format(host="gpu59", time="11184.8", rate="12.00"),
        BOARD.format(host="gpu59", time="596.5", rate="225.0"),
    ),
    "All ranks are on one host": (
        BOARD.format(host="gpu59", time="11184.8", rate="12.00"),
        BOARD.format(host="gpu60", time="11184.8", rate="12.00"),
    ),
    "of the other and executes 1.30 times the instructions": (
        EVENTS.format(work="7,800,000,000"),
        EVENTS.format(work="6,000,000,000"),
    ),
    "of the branches were mispredicted": (
        ROWS.format(misses="100M"),
        ROWS.format(misses="1M"),
    ),
    "is pageable memory, which most devices cannot access directly": (
        TABLE.format(way="Host to Device"),
        TABLE.format(way="Disk to Host"),
    ),
    "no processor executes more than ten": (
        LIKWID.format(name="CPI", other="0.01"),
        LIKWID.format(name="CPI", other="0.31"),
    ),
    "no more than all of them can be so": (
        LIKWID.format(name="L2 miss ratio", other="1.21").replace("104.9465", "0.9465"),
        LIKWID.format(name="L2 miss ratio", other="0.21").replace("104.9465", "0.9465"),
    ),
    "uncorrected errors of its memory": (
        SMI.format(temperature="65", draw="148", busy="99").replace(" 0 |\n", " 2 |\n"),
        SMI.format(temperature="65", draw="148", busy="99"),
    ),
    "The buffers of these messages are host to device": (
        MESSAGES.format(kind="-CUDA", place="DEVICE"),
        MESSAGES.format(kind="", place="HOST"),
    ),
    "likwid counts the memory once for each socket": (
        "\n".join(
            line[:48]
            for line in LIKWID.format(name="Memory bandwidth [MBytes/s]", other="0").splitlines()
        ),
        "\n".join(line[:48] for line in LIKWID.format(name="CPI", other="0").splitlines()),
    ),
    "are those of queueing": (
        SYNC.format(first="1.29", second="1.36"),
        SYNC.format(first="0.04", second="0.05"),
    ),
    "while it is busy all the time, at 87 °C": (DMON.format(busy="99"), DMON.format(busy="20")),
    "They may take another way": (SIZES.format(**FALLEN), SIZES.format(**RISING)),
    "A pinned transfer of this size": (COPY.format(rate="6.60"), COPY.format(rate="24.60")),
}


def all_said(text: str) -> list[str]:
    """All that is said of a log."""
    explained = of_content("x", text.encode(), Machine())
    assert not [note for note in explained.notes if "please report" in note]
    return [*(finding.explanation for finding in explained.findings), *explained.notes]


@pytest.mark.parametrize("words", CAUSES)
def test_a_cause_is_said_where_it_is_and_not_nearby(words: str) -> None:
    shown, nearby = CAUSES[words]
    assert any(words in text for text in all_said(shown)), all_said(shown)
    assert not any(words in text for text in all_said(nearby))


def test_zero_joules_of_one_socket_are_no_power() -> None:
    (report,) = of_content("x", METER.format(cores="0", power="0").encode(), Machine()).reports
    states = {result.name: result.of.get("state") for result in report.results}
    assert states["PKG energy"] is None
    assert states["PP0 energy"] == "absent"


def test_nvidia_smi_is_no_benchmark_where_there_is_one() -> None:
    table = SMI.format(temperature="65", draw="248", busy="99")
    reports = of_content("x", f"{table}\n{COPY.format(rate='24.60')}".encode(), Machine()).reports
    assert {report.tool for report in reports} == {"nvbandwidth"}
    failed = of_content("x", f"{table}\nCUDA error: out of memory\n".encode(), Machine())
    assert any("out of memory" in finding.explanation for finding in failed.findings)


def test_the_mean_of_all_sizes_is_named_where_small_ones_lower_it() -> None:
    rows = "\n".join(
        f"{size:>12} {size // 4:>12} float sum -1 {size / 1e4 + 20:.2f} {rate} {rate} 0 "
        f"{size / 1e4 + 20:.2f} {rate} {rate} 0"
        for size, rate in [(32768, 1.22), (131072, 2.84), (1048576, 11.06), (134217728, 21.4)]
    )
    text = f"{rows}\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 9.13\n"
    assert any("is a mean over all sizes" in own for own in all_said(text))
    assert not any(
        "is a mean over all sizes" in own for own in all_said(text.replace("9.13", "19.1"))
    )


def test_a_count_of_guests_may_be_none() -> None:
    guests = PERF.format(count="0").replace("cpu_core/cycles/", "cycles:G")
    guests = guests.replace("cpu_core/instructions/", "instructions:G")
    guests = guests.replace("cpu_core/branches/", "branches:G")
    assert not any("of the processor are 0" in text for text in all_said(guests))


def test_devices_in_two_groups_are_so_by_their_pairs() -> None:
    slow, fast = 22.0, 26.3
    rows = [
        f" {row}  "
        + "  ".join(
            "N/A" if row == to else f"{fast if row // 3 == to // 3 else slow:.2f}"
            for to in range(6)
        )
        for row in range(6)
    ]
    head = "nvbandwidth Version: v0.8\nRunning device_to_device_memcpy_read_ce.\n"
    head += "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n      0   1   2   3   4   5\n"
    assert any("form two groups" in own for own in all_said(head + "\n".join(rows) + "\n"))
    mixed = [rows[0].replace("26.30", "22.00"), *rows[1:]]
    assert not any("form two groups" in own for own in all_said(head + "\n".join(mixed) + "\n"))


def test_two_runs_of_perf_without_heads_are_two() -> None:
    one = """      21,606.85 msec task-clock                #    0.322 CPUs utilized
    78,571,991,365      cycles                    #    3.636 GHz
    51,665,022,850      instructions              #    0.66  insn per cycle
"""
    other = one.replace("21,606", "23,893").replace("78,5", "87,0").replace("51,6", "57,6")
    explained = of_content("x", f"Before:\n{one}\nAfter:\n{other}".encode(), Machine())
    assert [len(report.results) for report in explained.reports] == [6, 6]


def test_a_short_kernel_of_mixbench_is_noted() -> None:
    row = "0, 0.250, {time}, 299.68,1198.72, 0.125, {time}, 179.03,1432.24\n"
    head = "Experiment ID, Single Precision ops,,,, Double precision ops,,,\n"
    head += (
        "Compute iters, Flops/byte, ex.time, GFLOPS, GB/sec, Flops/byte, ex.time, GFLOPS, GB/sec"
    )
    for time, is_short in [("0.11", True), ("11.20", False)]:
        said = all_said(f"{head}\n{row.format(time=time)}")
        assert any("To start one takes" in own for own in said) == is_short


def test_a_broken_line_of_gpu_burn_is_no_progress() -> None:
    text = "GPU 0: Tesla K40m (UUID: GPU-1)\n10.0%  proc'd: 1 (6950 Gflop/s)   errors: 0\n"
    assert all_said(text.replace("10.0%", "x") + "proc'd: \n") == []
