"""What runs on many cores, nodes and GPUs show: said where the log has it, and not in the log next
to it. The logs here are cut down or made up after posted ones."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

HOST = Machine()
OSU = """# OSU MPI Bandwidth Test v5.6
# Size      Bandwidth (MB/s)
65536                9000.00
131072               9500.00
262144               9490.00
524288               {a}
1048576              {b}
2097152              {c}
"""
SEFF = """Job ID: 4711
State: COMPLETED (exit code 0)
Nodes: {nodes}
Cores per node: {cores}
CPU Utilized: {cpu}
CPU Efficiency: 5.00% of 20-00:00:00 core-walltime
Job Wall-clock time: 10:00:00
Memory Utilized: 7.70 GB
Memory Efficiency: {memory}% of 32.00 GB
"""
SACCT = """$ sacct -j 4711 --format=JobID,Elapsed,TotalCPU,AllocCPUS,NNodes,MaxRSS
       JobID    Elapsed   TotalCPU  AllocCPUS   NNodes     MaxRSS
------------ ---------- ---------- ---------- -------- ----------
4711           02:00:00 {cpu}         64        2
4711.batch     02:00:00 {cpu}         32        1    120000K
"""
BOUND = """$ OMP_NUM_THREADS=16 mpirun -n 2 {first}./pi | grep Time
Time taken: 4.15 seconds
$ OMP_NUM_THREADS=16 mpirun -n 2 {second}./pi | grep Time
Time taken: {took} seconds
"""
STRESS = """stress-ng: info:  [29] dispatching hogs: 4 {name}
stress-ng: info:  [29] stressor  bogo ops real time usr time sys time bogo ops/s bogo ops/s
stress-ng: info:  [29]                 (secs) (secs) (secs)   (real time) (usr+sys time)
stress-ng: info:  [29] {name}    {ops}     30.08     {user}      0.06        39.06        21.14
"""
TOP = """top - 12:49:02 up 23 days, 23:21,  1 user,  load average: 7.05, 4.80, 2.21
%Cpu(s):  0.7 us,  1.9 sy,  0.0 ni, 88.8 id,  0.0 wa,  0.0 hi,  8.6 si,  0.0 st
  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   62 root      20   0       0      0      0 R {share}   0.0   1445:17 {name}
"""
SPEED = """$ openssl speed {options}
Doing {name} for 3s on 16 size blocks: {small} {name}'s in 3.00s
Doing {name} for 3s on 8192 size blocks: 22131 {name}'s in 3.00s
"""
ROCM = """GPU  Temp    AvgPwr   SCLK     MCLK     Fan      Perf    SCLK OD    MCLK OD
0   35c     73.68W   {core}Mhz  {memory}Mhz   0.0%     auto      0%         0%
"""
CORES = "ncores,time,speedup\n1,100.2,1.0\n2,52.1,1.92\n4,27.3,3.67\n8,{a},3.7\n16,{b},3.2\n"
NS_DAY = "| cores | ns/day |\n|---|---|\n| 8 | 21.3 |\n| 16 | 39.8 |\n| 32 | {a} |\n| 64 | {b} |\n"
NP = "np=1  : 10.2 s\nnp=2  : 5.3 s\nnp=4  : 2.9 s\nnp=8  : {a} s\nnp=16 : {b} s\n"
SAID = (
    "With 1 thread it takes 12.1 seconds, with 2 threads 6.4 seconds, with 4 threads {a} seconds."
)
HYBRID = """It ran on a node with two processors, 20 (physical) cores each.
MPI Processes 1 | OpenMP Threads 20 | simulation time = 6.8361e+02 seconds
MPI Processes 2 | OpenMP Threads {threads} |  simulation time =  {took} seconds
"""
WEAK = """| nodes | ranks | wall/step | efficiency |
|---|---|---|---|
| 1 | 8 | 204.5 ms | 100 % |
| 2 | 16 | 214.1 ms | 95.5 % |
| 4 | 32 | {a} ms | {b} % |
"""
TIMED = """* OPENBLAS_NUM_THREADS unset
CPU times: user 2min 53s, sys: 11min 38s, total: 14min 31s
Wall time: {free} s
* OPENBLAS_NUM_THREADS=4
CPU times: user 9.45 s, sys: 3.26 s, total: 12.7 s
Wall time: 3.29 s
"""
PERF = """$ OMP_NUM_THREADS=16 perf stat ./solver
 Performance counter stats for './solver':
         {clock} msec task-clock                #    2.041 CPUs utilized
            12,233      context-switches          #  199.774 /sec
      30.002345678 seconds time elapsed
"""
LIKWID = """+-------------------------------+-----------+
|             Metric            |   Core 0  |
+-------------------------------+-----------+
|      Runtime (RDTSC) [s]      |  104.5141 |
|      Runtime unhalted [s]     |  {busy} |
|              CPI              |    {cpi} |
|  Memory bandwidth [MBytes/s]  | {rate} |
+-------------------------------+-----------+
"""
MODELS = """ggml_cuda_init: found 1 CUDA devices:
  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes
| model                  |       size |     params | backend    | ngl |   test |             t/s |
| ---------------------- | ---------: | ---------: | ---------- | --: | -----: | --------------: |
| {model}                |   6.67 GiB |     7.00 B | CUDA       |  99 |  pp512 |   5221.91 ± 20.84 |
| {model}                |   6.67 GiB |     7.00 B | CUDA       |  99 |  tg128 |   {rate} ± 0.22 |
"""
TOKENS = "runs   (   75.95 ms per token,    13.17 tokens per second)"
LLAMA = f"""llama_print_timings:        eval time =   15189.10 ms /   200 {TOKENS}
llama_print_timings:       total time =   15249.22 ms /   201 tokens

llama_print_timings:        eval time =   {{took}} ms /   200 {TOKENS}
llama_print_timings:       total time =   12475.78 ms /   201 tokens
"""
RYZEN = "I tested with 8 threads and get 195343.00 MFlops. With all 16 threads I get {a} MFlops."
RANKS = "rank 0: 12.31 s\nrank 1: 12.40 s\nrank 2: {a} s\nrank 3: {b} s\nrank 4: 12.36 s\n"
NODES = "| node | Triad (MB/s) |\n|---|---|\n| c01 | 9020 |\n| c02 | 9015 |\n"
NODES += "| c03 | {a} |\n| c04 | 9024 |\n"
LINES = "[0] iteration time: 0.412 s\n[1] iteration time: {a} s\n[2] iteration time: 0.411 s\n"
LINES += "[3] iteration time: {b} s\n"
CLOCKS = "index, utilization.gpu [%], clocks.current.sm [MHz], power.draw [W]\n"
CLOCKS += "0, 99 %, 1980 MHz, 612.31 W\n1, 99 %, {a} MHz, 131.77 W\n2, {b} %, 1980 MHz, 615.02 W\n"
EACH = "Threads: 1, time: 12.4 s, speedup: 1.00\nThreads: 2, time: 6.5 s, speedup: 1.91\n"
EACH += "Threads: 4, time: {a} s, speedup: 1.94\nThreads: 8, time: {b} s, speedup: 1.25\n"
ROW = "Triad:          {}     0.040621     0.040499     0.040799\n"
LOOP = "$ for t in 1 2 4 8; do OMP_NUM_THREADS=$t ./stream | grep Triad; done\n"
LOOP += "".join(map(ROW.format, ("11852.3", "21998.1", "{a}", "{b}")))
ABOVE = "On a 64-core node, OMP_NUM_THREADS=8:\nTime for 100 steps: {a} s\n"
ABOVE += "Same with OMP_NUM_THREADS=2:\nTime for 100 steps: 30.4 s\n"
CPU_TIMES = """MPI process    CPU time [s]
1              25
2              12
3              {a}
4              {b}
"""


def text_of(log: str) -> str:
    """All findings and notes of a log."""
    explained = of_content("-", log.encode(), HOST)
    assert not any("failed on this log" in note for note in explained.notes)
    text = " ".join([*(own.explanation for own in explained.findings), *explained.notes])
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("log", "faulty", "near", "words"),
    [
        (OSU, {"a": 9490, "b": 4100, "c": 4050}, {"a": 9500, "b": 9510, "c": 9520}, "stays low"),
        (OSU, {"a": 8500, "b": 8400, "c": 8390}, {"a": 9300, "b": 9250, "c": 9200}, "it is lower"),
        (
            SEFF,
            {"nodes": 20, "cores": 36, "cpu": "14-22:00:00", "memory": 24},
            {"nodes": 2, "cores": 8, "cpu": "6-12:00:00", "memory": 24},
            "ran on one node",
        ),
        (
            SEFF,
            {"nodes": 1, "cores": 16, "cpu": "10:00:00", "memory": 24},
            {"nodes": 1, "cores": 16, "cpu": "6-12:00:00", "memory": 24},
            "one core did the work",
        ),
        (
            SEFF,
            {"nodes": 1, "cores": 16, "cpu": "6-12:00:00", "memory": 182.8},
            {"nodes": 1, "cores": 16, "cpu": "6-12:00:00", "memory": 99.8},
            "182.8 % of the memory",
        ),
        (SACCT, {"cpu": "  02:01:10"}, {"cpu": "4-20:00:00"}, "one core did the work"),
        (
            BOUND,
            {"first": "", "second": "--bind-to none ", "took": 0.5},
            {"first": "", "second": "--bind-to none ", "took": 4.1},
            "launcher's binding",
        ),
        (
            STRESS,
            {"name": "cpu", "ops": 1175, "user": 55.51},
            {"name": "cpu", "ops": 1175, "user": 119.51},
            "1.85 CPUs",
        ),
        (
            STRESS,
            {"name": "inode-flags", "ops": 0, "user": 0.1},
            {"name": "inode-flags", "ops": 7, "user": 0.1},
            "counts 0 operations",
        ),
        (
            TOP,
            {"share": "99.7", "name": "ksoftirqd/10"},
            {"share": "12.0", "name": "ksoftirqd/10"},
            "soft interrupts of CPU 10 alone",
        ),
        (
            SPEED,
            {"options": "aes-256-cbc", "name": "aes-256 cbc", "small": 10210845},
            {"options": "-evp aes-256-cbc", "name": "aes-256-cbc", "small": 10210845},
            "without -evp",
        ),
        (
            SPEED,
            {"options": "-evp a -engine devcrypto", "name": "aes-256-cbc", "small": 614340},
            {"options": "-evp a -engine devcrypto", "name": "aes-256-cbc", "small": 99614340},
            "hands each block to the kernel",
        ),
        (ROCM, {"core": 1411, "memory": 300}, {"core": 1411, "memory": 945}, "memory clock of 300"),
        (CORES, {"a": 26.9, "b": 31.4}, {"a": 14.1, "b": 7.5}, "beyond 4 threads"),
        (CORES, {"a": 18.0, "b": 14.4}, {"a": 14.1, "b": 7.5}, "Most is lost from 8 to 16"),
        (NS_DAY, {"a": 55.1, "b": 54.0}, {"a": 79.0, "b": 150.0}, "beyond 32 threads"),
        (NP, {"a": 9.8, "b": 24.1}, {"a": 1.5, "b": 0.8}, "best with about 4 processes"),
        (SAID, {"a": 9.9}, {"a": 3.3}, "best with about 2 threads"),
        (HYBRID, {"threads": 40, "took": "1.2219e+03"}, {"threads": 20, "took": 351}, "40 cores"),
        (WEAK, {"a": 315.9, "b": 64.7}, {"a": 221.0, "b": 92.5}, "weak scaling"),
        (TIMED, {"free": 11.9}, {"free": 2.9}, "waited actively"),
        (PERF, {"clock": "61,234.12"}, {"clock": "412,234.12"}, "2.04 CPUs were busy"),
        (
            LIKWID,
            {"busy": "159.5837", "cpi": 2.79, "rate": 104.9},
            {"busy": "159.5837", "cpi": 0.79, "rate": 104.9},
            "2.79 cycles for an instruction",
        ),
        (
            LIKWID,
            {"busy": "159.5837", "cpi": 2.79, "rate": 104.9},
            {"busy": "1.5837", "cpi": 2.79, "rate": 104.9},
            "carried only 104.9",
        ),
        (
            MODELS,
            {"model": "llama 7B Q8_0", "rate": 21.5},
            {"model": "llama 7B Q8_0", "rate": 71.5},
            "something else holds it back",
        ),
        (
            MODELS,
            {"model": "llama 7B Q8_0", "rate": 321.5},
            {"model": "llama 7B Q8_0", "rate": 71.5},
            "a token reads a part",
        ),
        (LLAMA, {"took": "12414.54"}, {"took": "15014.54"}, "22 % apart"),
        (RYZEN, {"a": "157717.47"}, {"a": "203717.47"}, "19 % less"),
        (RANKS, {"a": 30.12, "b": 12.25}, {"a": 30.12, "b": 30.25}, "rank 2 has 30.12 s"),
        (NODES, {"a": 4510}, {"a": 8510}, "c03 has 4,510 MB/s"),
        (LINES, {"a": 0.415, "b": 0.923}, {"a": 0.415, "b": 0.423}, "of all such lines"),
        (CLOCKS, {"a": 345, "b": 99}, {"a": 1800, "b": 99}, "GPU 1 is as busy as the others"),
        (EACH, {"a": 6.4, "b": 9.9}, {"a": 3.4, "b": 1.9}, "best with about 2 threads"),
        (LOOP, {"a": 24108.7, "b": 24011.2}, {"a": 43108.7, "b": 84011.2}, "beyond 2 threads"),
        (ABOVE, {"a": 81.2}, {"a": 11.2}, "with 8 threads"),
        (CPU_TIMES, {"a": 113, "b": 118}, {"a": 13, "b": 14}, "something else begins"),
    ],
)
def test_it_is_said_where_the_log_has_it_alone(
    log: str, faulty: dict[str, object], near: dict[str, object], words: str
) -> None:
    assert words in text_of(log.format(**faulty))
    assert words not in text_of(log.format(**near))


def test_what_is_no_use_no_thread_and_no_test_is_not_taken_for_it() -> None:
    explained = of_content("-", ROCM.format(core=1411, memory=945).encode(), HOST)
    assert not any(own.name == "busy" for report in explained.reports for own in report.results)
    eps = "Threads started!\n[ 10s ] thds: 8 eps: 7410.46 lat (ms,95%): 2.07\nCPU speed:\n"
    eps += "    events per second:  7378.92\nGeneral statistics:\n"
    eps += "    total time:                          10.0018s\n"
    eps += "    total number of events:              73803\n"
    assert "do not say the number" not in text_of(eps)
    head = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n"
    rows = [f"{1 << size} 40 {{0}} {{0}} {{0}} 1{size}.00" for size in range(16, 22)]
    first = "\n".join(row.format(10 * at + 20) for at, row in enumerate(rows))
    second = "\n".join(row.format(40 * at + 80) for at, row in enumerate(rows))
    tables = f"Sendrecv:\n{head}{first}\n\nExchange:\n{head}{second}\n"
    assert "One side at all sizes" not in text_of(tables)


def test_a_rate_that_was_asked_for_of_a_served_model_breaks_no_rule() -> None:
    log = "Namespace(backend='vllm', num_prompts=1000, request_rate=200.0)\nTotal time: 166.88 s\n"
    log += "Throughput: 5.99 requests/s\nAverage latency: 67.59 s\n"
    log += "Average latency per token: 0.21 s\nAverage latency per output token: 1.10 s\n"
    assert "405 requests under way" in text_of(log)


PINNED = """$ numactl -N{node} -m{node} bandwidthTest
[CUDA Bandwidth Test] - Starting...
 Device 0: Tesla P100-PCIE-16GB
 Quick Mode
 Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)        Bandwidth(MB/s)
   33554432                     {rate}
"""


def test_a_link_that_another_placement_fills_is_not_blamed() -> None:
    slow = PINNED.format(node=1, rate=3783.4)
    assert "fewer lanes" in text_of(slow)
    assert "fewer lanes" not in text_of(PINNED.format(node=0, rate=12150.7) + slow)
