"""Messages of programs that failed: what they mean is said to who has only the text."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.context import error_messages

LINES = {
    "link-aarch64-model": "lse.c: relocation truncated to fit: R_AARCH64_ADR_PREL_PG_HI21",
    "link-x86-model": "stream.c: relocation truncated to fit: R_X86_64_PC32 against `.bss'",
    "iperf3-socket-buffer": "iperf3: error - socket buffer size not set correctly",
    "iperf3-refused": "iperf3: error - unable to connect to server: Connection refused",
    "iperf3-busy": "iperf3: error - the server is busy running a test. try again later",
    "iperf3-error": "iperf3: error - unable to set TCP_CONGESTION: not supported",
    "mpi-slots": "There are not enough slots available in the system to satisfy the 64 slots",
    "mpi-root": "mpirun has detected an attempt to run as root.",
    "perf-paranoid": "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open",
    "likwid-msr": "ERROR - [./src/access.c:54] Cannot gain access to MSRs.",
    "opencl-no-platform": "ERROR: clGetPlatformIDs(-1001)",
    "opencl-invalid-buffer-size": "clCreateBuffer (-61)",
    "npb-verification": " Verification    =             UNSUCCESSFUL",
    "hpl-failed": "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 4.1e+04 ...... FAILED",
    "illegal-instruction": "Illegal instruction (core dumped)",
    "killed": "Killed",
    "cuda-fabric-manager": "-> system not yet initialized",
    "cuda-driver-mismatch": "Failed to initialize NVML: Driver/library version mismatch",
    "cuda-illegal-address": "CUDA error: an illegal memory access was encountered",
    "cuda-invalid-device-function": "CUDA error at stream.cu:12: invalid device function",
    "perf-not-in-kernel": "The sys_perf_event_open() syscall returned with 22 (Invalid argument)",
    "likwid-in-use": "ERROR: The selected register PMC0 is in use.",
    "likwid-daemon-timeout": "Exiting due to timeout: The socket file at '/tmp/likwid-1' could not",
    "mpi-lost-daemon": "ORTE has lost communication with a remote daemon.",
    "exit-137": "command terminated with exit code 137",
    "heap-corruption": "double free or corruption (out)",
    "bus-error": "Bus error (core dumped)",
    "mempolicy-refused": "set_mempolicy: Operation not permitted",
    "node-range": "libnuma: Warning: node argument 8 is out of range",
    "exec-format": "bash: ./stream: cannot execute binary file: Exec format error",
    "pie-static": "ld: a.o: relocation R_X86_64_32S can not be used when making a PIE object",
    "fortran-argument-mismatch": "Error: Type mismatch between actual argument at (1)",
    "slurm-memory": "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0",
    "perf-limited": "Access to performance monitoring and observability operations is limited.",
    "not-found-by-sh": "sh: 1: numactl: not found",
    "bad-alloc": "terminate called after throwing an instance of 'std::bad_alloc'",
    "mpi-errors-fatal": "[n1:12] *** MPI_ERRORS_ARE_FATAL (processes in this communicator abort",
    "cuda-ordinal": "CUDA error: invalid device ordinal",
    "make-failed": "make: *** [Makefile:12: stream] Error 1",
    "open-files": "accept: Too many open files",
    "openmp-missing": "clang: error: unsupported option '-fopenmp'",
    "nvbandwidth-wrong-data": " Invalid value when checking the pattern at 0x70a640000000",
    "nvbandwidth-waived": "Waiving device_to_device_memcpy_write_ce.",
    "gpu-burn-not-started": 'Couldn\'t init a GPU test: Error in "load module": ',
    "gpu-counters-denied": "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission",
    "osu-without-cuda": "CUDA support is not enabled. Please recompile",
    "osu-processes": "This test requires exactly two processes",
    "mpi-pml-mismatch": "[[6,1],8] selected pml cm, but peer [[6,1],0] on n1 selected pml ucx",
    "netperf-no-response": "recv_response_timed_n: no response received. errno 4 counter 0",
    "fio-option": "Bad option <finish=1>",
    "criterion-option": "error: Unrecognized option: 'output-format'",
    "perf-lost-chunks": "Processed 4346 events and lost 144 chunks!",
    "perf-no-samples": "Error: The perf.data data has no samples!",
    "perf-buffer-denied": "[ERROR]: mapping memory for recording events failed. You can try",
    "papi-no-counters": "Number Hardware Counters : 0",
    "papi-event": "PapiNoEventError: Event does not exist. (PAPI_ENOEVNT)",
    "likwid-register": "Power register read operation failed",
    "likwid-no-event": "ERROR: No event in given event string can be configured.",
    "rapl-denied": "cat: /sys/class/powercap/intel-rapl:0/energy_uj: Permission denied",
    "turbostat-denied": 'turbostat: capget(CAP_SYS_RAWIO) failed, try "# setcap cap_sys_rawio=ep"',
    "nvidia-limit-refused": "Changing power management limit is not supported for GPU",
    "hsa-failed": "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in an exception",
    "conda-environment": "CreateCondaEnvironmentException:",
    "snakemake-lock": "Error: Directory cannot be locked.",
    "snakemake-input": "MissingInputException in rule bench in line 4 of Snakefile:",
    "snakemake-rule": "Error in rule stream:",
    "nix-build": "error: builder for '/nix/store/abc-stream.drv' failed with exit code 2",
    "spack-failed": "==> Error: ProcessError: Command exited with status 2:",
    "pip-failed": "ERROR: Could not find a version that satisfies the requirement foo==9",
    "configure-failed": "CMake Error at CMakeLists.txt:4 (find_package):",
    "rust-build": 'error: could not compile `crate` (bench "b") due to 2 previous errors',
    "rust-panic": "thread 'main' panicked at src/main.rs:2:5:",
    "go-failed": "panic: test timed out after 10m0s",
    "jmh-failed": "<forked VM failed with exit code 134>",
    "benchmarkdotnet-failed": "Benchmarks with issues:",
    "sysbench-server": "FATAL: mysql_stmt_prepare() failed",
    "slurm-pmix": "slurmstepd: error:  mpi/pmix_v5: pmixp_p2p_send: n1 [4]: send failed, rc=1001",
    "slurm-binding": "srun: error: CPU binding outside of job step allocation",
    "slurm-node": "srun: error: Node failure on n1",
    "slurm-cancelled": "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-01T00:00:00 ***",
    "modules-missing": "Lmod has detected the following error: unknown module",
    "nccl-locked-memory": "ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error Cannot "
    "allocate memory",
    "fio-no-shared-memory": "error: failed to setup shm segment",
    "libfabric-registration": "fi_mr_reg failed, ret is:-12, Cannot allocate memory",
    "rustc-perf-active": "measurement of `cpu_atom/cycles/` only active for 4.00% of the time",
    "io-uring-refused": "io_uring_queue_init: Cannot allocate memory",
    "docker-failed": "docker: Error response from daemon: could not start",
    "assertion": "stream: stream.c:12: main: Assertion `n > 0' failed.",
    "python-exception": "Traceback (most recent call last):",
    "cuda-arch": "CUDA error: no kernel image is available for execution on the device",
}


@pytest.mark.parametrize("name", LINES)
def test_a_message_alone_is_a_report(name: str) -> None:
    explained = of_content("x", f"$ ./run\n{LINES[name]}\n".encode(), Machine())
    assert explained.trouble == ""
    (finding,) = explained.findings
    (entry,) = [entry for entry in error_messages.entries() if entry.name == name]
    assert (finding.artefact, finding.where) == (entry.artefact, ["line 2"])
    assert entry.means.partition("{")[0] in finding.explanation
    assert finding.remedy == entry.remedy


STATES = {
    "gpu-slowed-down": "        HW Slowdown                 : Active",
    "gpu-width-now": "   Link Width\n      Max            : 16x\n      Current        : 8x",
    "node-without-memory": "node 1 cpus: 8 9\nnode 1 size: 0 MB\nnode 1 free: 0 MB",
    "lspci-speed": "LnkSta: Speed 2.5GT/s (downgraded), Width x16 (ok)",
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_of_the_machine_is_no_failure(name: str) -> None:
    (finding,) = of_content("x", f"{STATES[name]}\n".encode(), Machine()).findings
    assert finding.artefact == "machine-state"
    (entry,) = [entry for entry in error_messages.entries() if entry.name == name]
    assert entry.means in finding.explanation


@pytest.mark.parametrize(
    "text",
    [
        "        HW Slowdown                 : Not Active",
        "   Link Width\n      Max            : 16x\n      Current        : 16x",
        "node 1 size: 131072 MB",
        "LnkSta: Speed 16GT/s, Width x16",
    ],
)
def test_a_state_as_it_should_be_is_none(text: str) -> None:
    assert error_messages.messages(log_of(text.encode())) == []


def test_a_crash_is_one_of_the_stack_where_its_limit_is_shown() -> None:
    text = "$ ulimit -s\n8192\n$ ./bt.C.x\nSegmentation fault (core dumped)\n"
    (finding,) = of_content("x", text.encode(), Machine()).findings
    assert "OMP_STACKSIZE" in finding.remedy
    assert "limit of the stack" in finding.explanation


def test_processes_that_are_alone_are_so_if_there_are_several() -> None:
    alone = "Hello from rank 0 of 1\n"
    assert error_messages.messages(log_of(alone.encode())) == []
    (message,) = error_messages.messages(log_of((alone * 4).encode()))
    assert "do not know of each other" in message.entry.means


def test_a_message_that_comes_again_is_said_once() -> None:
    text = "\n".join(["clCreateBuffer (-61)"] * 3)
    (message,) = error_messages.messages(log_of(text.encode()))
    assert "(3 such lines)" in message.finding.explanation
    assert message.finding.where == ["line 1", "line 2", "line 3"]


@pytest.mark.parametrize(
    "text",
    [
        "PASSED",
        "PID 7 was not killed",
        "out of memory bandwidth",
        "no error",
        "$ cat /proc/sys/kernel/perf_event_paranoid\n-1",
        "CPU type: Intel Xeon\nlikwid-accessD\nCannot gain access to MSRs",  # its reader says it
    ],
)
def test_what_only_has_such_words_is_none(text: str) -> None:
    assert error_messages.messages(log_of(text.encode())) == []


@pytest.mark.parametrize("entry", error_messages.entries(), ids=lambda entry: entry.name)
def test_entries_are_whole_sentences(entry: error_messages.Entry) -> None:
    assert entry.means.endswith(".") and entry.remedy.endswith(".")
    assert entry.words and all(entry.words)
