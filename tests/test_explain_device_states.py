"""States of GPUs and links, graphics, models and kernels as their tools print them: what is read of
them, and what is said. The logs here are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Explained, Machine, of_content

QUERY = """GPU 00000000:0B:00.0
    Performance State                 : P{state}
    Clocks Event Reasons
        Idle                          : {idle}
        SW Power Cap                  : {cap}
        HW Slowdown                   : Not Active
    Temperature
        GPU Current Temp              : 77 C
        GPU Slowdown Temp             : 97 C
"""
BUSY = QUERY.format(state=2, idle="Not Active", cap="Active")
TABLE = """| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|   0  GeForce GTX 1070    On   | 00000000:01:00.0  On |                  N/A |
|100%   45C    P{state}    {draw}W / 100W |   2518MiB /  8119MiB |    {busy}%      Default |
"""
TOPOLOGY = """\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity
GPU0\t X \t{a}\tSYS\tPIX\t0-79
GPU1\t{a}\t X \tSYS\tPIX\t0-79
GPU2\tSYS\tSYS\t X \tSYS\t80-159
"""
ROCM = """idle:
 GPU  Temp    AvgPwr   SCLK     MCLK     Fan      Perf    SCLK OD    MCLK OD
  0   34c     32.2W    300Mhz   500Mhz   0.0%     manual    0%         0%
busy:
 GPU  Temp    AvgPwr   SCLK     MCLK     Fan      Perf    SCLK OD    MCLK OD
  0   43c     98.1W    1130Mhz  {memory}Mhz  0.0%     manual    0%         0%
"""
LINK = """LnkCap: Port #0, Speed 16GT/s, Width x16, ASPM L1
LnkSta: Speed {speed}GT/s{mark}, Width x{lanes}
"""
GEARS = """Running synchronized to the vertical refresh.  The framerate should be
approximately the same as the monitor refresh rate.
{frames} frames in 5.0 seconds = {rate} FPS
"""
MARK = """glmark2 {version}
GL_RENDERER:   Mesa DRI Intel(R) HD Graphics P4600
GL_VERSION:    3.0 Mesa {driver}
[build] use-vbo=false: FPS: {rate} FrameTime: 0.401 ms
glmark2 Score: {rate}
"""
FULL = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total "
    "capacity of 23.64 GiB of which 264.00 MiB is free. {others}Including non-PyTorch memory, this "
    "process has 8.04 GiB memory in use. Of the allocated memory 7.63 GiB is allocated by PyTorch, "
    "and {reserved} is reserved by PyTorch but unallocated.\n"
)
OTHER = "Process 27 has 14.85 GiB memory in use. "
OTHERS = FULL.format(asked="86.00 MiB", others=OTHER, reserved="40.11 MiB")
OVER_NICS = """\tGPU0\tGPU1\tNIC0\tCPU Affinity
GPU0\t X \tNV18\tSYS\t0-79
GPU1\tNV18\t X \tSYS\t0-79
"""
FIRST = """Device name Vega 20
kernel Execution time             = {first}ms
kernel2 Execution time             =  0.326ms
kernel3 Execution time             =  0.337ms
hipMemcpyDeviceToHost time taken  =  3.208ms
"""
WIDE = """| model | size | test | t/s |
| --- | ---: | ---: | ---: |
| llama 3B | 1.87 GiB | pp512 | 346.76 ± 0.45 |
| llama 3B | 1.87 GiB | tg128 | 36.23 ± {error} |
"""
PROFILE = """-----------  ------------  ------------  ------------  ------------  ------------
Name    Self CPU %      Self CPU     Self CUDA    CUDA total    # of Calls
-----------  ------------  ------------  ------------  ------------  ------------
aten::mm        50.64%       5.776ms       1.200ms       1.200ms            90
-----------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 11.407ms
Self CUDA time total: {device}
"""
TIMER = """sum(x)
  Median: 4.07 ms
  IQR:    {spread} ms (3.41 to 4.59)
  25 measurements, 1 runs per measurement, 10 threads
"""
KERNEL = """  Section: GPU Speed Of Light Throughput
  Metric Name                 Metric Unit  Metric Value
  Memory Throughput           %                   {memory}
  Compute (SM) Throughput     %                   31.20
  Duration                    usecond            889.31
"""
PEAKS = """device       = Intel(R) Arc(tm) A380 Graphics (DG2)

fp32-scalar  = 3978.75 GFLOPS
fp64-scalar  = {zero} GFLOPS
"""


def explained(log: str) -> Explained:
    """What is said of a log that is recognised."""
    own = of_content("log", log.encode(), Machine())
    assert own.trouble == ""
    return own


def text_of(log: str) -> str:
    """All that is said of a log."""
    own = explained(log)
    return " ".join([finding.explanation for finding in own.findings] + own.notes)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (BUSY, "this temperature is not why its clock is held back"),
        (BUSY, "P2 is the state in which GeForce cards mostly"),
        (QUERY.format(state=8, idle="Active", cap="Not Active"), "the GPU is idle"),
        (TABLE.format(state=8, draw=30, busy=99), "is in the state P8"),
        (TABLE.format(state=2, draw=98, busy="  0"), "is no idle GPU"),
        (TOPOLOGY.format(a="NV4"), "NV4: 0-1; SYS: 0-2, 1-2"),
        (TOPOLOGY.format(a="PHB"), "No pair has NVLink"),
        (FIRST.format(first="340.598"), "is 1,010 times the next ones"),
        (WIDE.format(error="17.62"), "the mean says little"),
        (OTHERS, "14.85 GiB of 23.64"),
        (TOPOLOGY.format(a="NV4"), "of GPU 2 no network adapter is near"),
        (ROCM.format(memory=500), "its memory clock stays at 500 MHz"),
        (ROCM.format(memory=500), "set by hand (Perf: manual)"),
        (LINK.format(speed=16, mark="", lanes=4), "4 of the 16 lanes"),
        (LINK.format(speed=2.5, mark=" (downgraded)", lanes=16), "carry at most 4 GB/s one way"),
        (GEARS.format(frames=300, rate=59.94), "the rate of a screen of 60 Hz"),
        (GEARS.format(frames=46715, rate=9342.961), "more than usual screens show"),
        (
            MARK.format(version="2017.07", driver="20.0.4", rate=2493)
            + MARK.format(version="2020.04", driver="20.2.2", rate=560),
            "two versions of glmark2",
        ),
        (FULL.format(asked="86.00 MiB", others="", reserved="9.35 GiB"), "may be in pieces"),
        (FULL.format(asked="1.00 GiB", others=OTHER, reserved="40.11 MiB"), "14.85 GiB of 23.64"),
        (FULL.format(asked="30.00 GiB", others="", reserved="0 bytes"), "it cannot fit"),
        (PROFILE.format(device="1.200ms"), "the device often waits for the calls"),
        (TIMER.format(spread="1.18"), "29 % of the median"),
        (KERNEL.format(memory=41), "neither limits it"),
        (KERNEL.format(memory=91), "near its limit, which is memory"),
        (PEAKS.format(zero="0.00"), "These are no rates"),
    ],
)
def test_a_state_is_said(log: str, words: str) -> None:
    assert words in text_of(log)


@pytest.mark.parametrize(
    ("log", "never"),
    [
        (QUERY.format(state=8, idle="Active", cap="Not Active"), "P2 is the state"),
        (TABLE.format(state=2, draw=98, busy=99), "is in the state"),
        (TABLE.format(state=8, draw=12, busy="  0"), "no idle GPU"),
        (ROCM.format(memory=2000), "memory clock stays"),
        (LINK.format(speed=16, mark="", lanes=16), "carry at most"),
        (GEARS.format(frames=1067, rate=213.4), "screen of"),
        (MARK.format(version="2020.04", driver="20.2.2", rate=560) * 2, "two versions"),
        (PROFILE.format(device="9.200ms"), "mostly waits"),
        (TIMER.format(spread="0.18"), "of the median"),
        (FIRST.format(first="0.598"), "times the next ones"),
        (WIDE.format(error="1.62"), "the mean says little"),
        (OVER_NICS, "connected over the host"),
        (BUSY, "GPU is at 97"),
        (PEAKS.format(zero="214.61"), "no rates"),
    ],
)
def test_nothing_is_said_nearby(log: str, never: str) -> None:
    assert never not in text_of(log)


@pytest.mark.parametrize(
    ("log", "figure"),
    [
        (BUSY, ("temperature", 77.0, "°C")),
        (
            "    Clocks\n        SM   : 2025 MHz\n    Max Clocks\n        SM   : 2100 MHz\n",
            ("highest clock", 2100.0, "MHz"),
        ),
        (TOPOLOGY.format(a="NV4"), ("pairs over NV4", 1.0, "pairs")),
        ("GPU[0]\t\t: Temperature (Sensor edge) (C): 67.0\n", ("temperature", 67.0, "°C")),
        ("GPU[0] : sclk clock level: 2 (2100Mhz)\n", ("clock", 2100.0, "MHz")),
        ("GPU: 0\n    POWER:\n        SOCKET_POWER: 20 W\n", ("power", 20.0, "W")),
        (
            "eval time = 10721.79 ms / 249 tokens ( 43.06 ms per token, 23.22 tokens per second)\n",
            ("eval rate", 23.22, "tokens/s"),
        ),
        (
            "0/18, RunningAvgSamplesPerSec=157.4, CurrSamplesPerSec=145.1, MaxMemAllocated=2.6GB\n",
            ("rate", 145.1, "samples/s"),
        ),
        (
            " iteration       71/     100 | consumed samples:         9088 | elapsed time per "
            "iteration (ms): 5361.6 | throughput per GPU (TFLOP/s/GPU): 243.6 | lr: 1.4E-05 |\n",
            ("rate of each GPU", 243.6, "Tflop/s"),
        ),
        (KERNEL.format(memory=41), ("Duration", 889.31, "us")),
        (
            "D2H_Bandwidth_pinned\t 65536kB\t GB/sec\t14.20\t14.19\t0.01\t14.18\t14.21\n",
            ("copy", 14.19, "GB/s"),
        ),
    ],
)
def test_a_figure_is_read(log: str, figure: tuple[str, float, str]) -> None:
    read = [
        (result.name, result.value, result.unit)
        for report in explained(log).reports
        for result in report.results
    ]
    assert figure in read
