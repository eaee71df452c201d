"""Messages that decide for one cause: which one is said, with the figures that belong to it, and
where the log leaves it open."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.context import error_messages

# The text, the entry that takes it, and words that have to be in what is said.
DECIDED = [
    (
        "x.c:(.text+0x2): undefined reference to `GOMP_barrier'",
        "link-openmp-in-the-objects",
        "GOMP",
    ),
    ("a.c:(.text+0x2): undefined reference to `omp_get_wtime'", "link-openmp", "-fopenmp"),
    ('  "_GOMP_parallel", referenced from:', "link-openmp-in-the-objects", "“GOMP_parallel”"),
    ("ld.lld: error: undefined symbol: __kmpc_fork_call", "link-openmp-in-the-objects", "kmpc"),
    ("ImportError: x.so: undefined symbol: GOMP_parallel", "openmp-at-start", "GOMP_parallel"),
    ("gl.o: undefined reference to symbol 'sqrtf@@GLIBC_2.2.5'", "link-math", "“sqrtf”"),
    ("cc -lm a.o -o a\na.c: undefined reference to `sqrt'", "link-math", "Line 1 names -lm before"),
    (
        "a.o: undefined reference to symbol 'pthread_create@@GLIBC_2.2.5'",
        "link-threads",
        "-pthread",
    ),
    ("a.c: undefined reference to `dlopen'", "link-dl", "libdl"),
    ("a.c: undefined reference to `ompi_mpi_comm_world'", "link-mpi", "headers of Open MPI"),
    ("gcc a.o -o a\na.c: undefined reference to `MPI_Init'", "link-mpi", "links with gcc"),
    ("a.c: undefined reference to `std::terminate()'", "link-cxx", "C++ library"),
    ("a: undefined reference to `f(std::__cxx11::basic_string<char>)'", "link-cxx-abi", "old kind"),
    ("a.c: undefined reference to `_gfortran_st_write'", "link-fortran", "gfortran"),
    ("a.c: undefined reference to `dgemm_'", "link-blas", "dgemm_"),
    ("a.c: undefined reference to `cudaMalloc'", "link-cuda", "cudaMalloc"),
    ("a.c: undefined reference to `numa_available'", "link-other-libraries", "-lnuma"),
    (
        "x:fake:(.text+0x4): relocation truncated to fit: R_X86_64_32S against symbol `b'",
        "link-assembler-addresses",
        "PIE",
    ),
    (
        "c++: fatal error: Morto signal terminated program lto1",
        "compiler-killed-by-name",
        "(lto1) was ended",
    ),
    (
        "CMake 3.18 or higher is required.  You are running version 3.16.3",
        "cmake-version",
        "CMake 3.16.3 is older",
    ),
    (
        "Could NOT find MPI_C (missing: MPI_C_LIB_NAMES MPI_C_HEADER_DIR MPI_C_WORKS)",
        "cmake-mpi-not-found",
        "nor mpi.h",
    ),
    ("fio-3.1\nfio: engine io_uring not loadable", "fio-io-uring-too-old", "fio-3.1 is older"),
    ("fio: engine liburing not loadable", "fio-engine-name", "called io_uring"),
    (
        "fio: pid=5, err=22/file:engines/io_uring.c:7, func=io_queue_init, error=Invalid argument",
        "fio-queue-setup",
        "not direct=1",
    ),
    (
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124",
        "cuda-driver-mismatch",
        "570.124 (line 2)",
    ),
    (
        "Driver Version: 340.93 and Cuda 7.0\n"
        "CUDA driver version is insufficient for CUDA runtime version",
        "cuda-driver-older",
        "346.46",
    ),
    (
        "GeForce RTX 3070 with CUDA capability sm_86 is not compatible with the current PyTorch "
        "installation.\nThe current PyTorch install supports CUDA capabilities sm_37 sm_75.",
        "torch-architectures",
        "built for sm_37 sm_75",
    ),
    (
        "  n1: slots=36 max_slots=0 slots_inuse=0\n  n2: slots=36 max_slots=0 slots_inuse=0\n"
        "There are not enough slots available in the system to satisfy the 72",
        "mpi-slots-listed",
        "72 slots in all",
    ),
    (
        "ssh: connect to host n2 port 22: Connection refused\nORTE was unable to reliably start",
        "ssh-refused",
        "n2, port 22",
    ),
    (
        "FATAL: Failed to read file! file: 2 pos: 9 errno = 0 (Success)",
        "sysbench-files-shorter",
        "9",
    ),
    (
        "stress-ng: info:  [1] skipped: 16: oom-pipe (16)\nstress-ng: info:  [1] passed: 0",
        "stress-nothing-ran",
        "16 were skipped",
    ),
    (
        "Task in /x killed as a result of limit of /x\nmemory: usage 8kB, limit 8kB, failcnt 3",
        "cgroup-limit",
        "8kB of 8kB, and hit that limit 3 times",
    ),
    (
        "received signal SIGILL, Illegal instruction.\n=> 0x5753b7 <+23>: vpbroadcastb zmm0,edx",
        "instruction-shown",
        "vpbroadcastb zmm0,edx",
    ),
    (
        "$ ulimit -n 50\nFATAL: Cannot open file errno = 24 (Too many open files)",
        "open-files-limit",
        "limit: 50",
    ),
    (
        "UCX  ERROR ibv_create_cq() failed: Cannot allocate memory. Please set max locked memory "
        "(ulimit -l) to 'unlimited' (current: 64 kbytes)",
        "locked-memory-limit",
        "64 kbytes here",
    ),
    (
        "CMake Error at x.cmake:83 (MESSAGE):\n  OpenMP found, but test code did not run",
        "cmake-error-says",
        "“OpenMP found, but test code did not run”",
    ),
    (
        "srun: error: n1: task 2: Bus error\nslurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT "
        "2021-10-27T20:22:22 ***",
        "slurm-step-ended",
        "task 2 had failed (Bus error",
    ),
    (
        "mce: [Hardware Error]: Machine check events logged\n"
        "CPU2: Core temperature above threshold, cpu clock throttled (total events = 7)",
        "machine-check-of-heat",
        "No faulty memory",
    ),
]
DECIDED += [
    (
        "=>> PBS: job killed: walltime 3612 exceeded limit 3600",
        "pbs-limit",
        "walltime: 3612, with a limit of 3600",
    ),
    ("nvlink error   : Undefined reference to 'foo' in 'x.o'", "device-link", "-rdc=true"),
    (
        "There is no domain decomposition for 10 ranks that is compatible with the",
        "gromacs-domains",
        "10 ranks",
    ),
    (
        "fio: pid=2, err=21/file:filesetup.c:6, func=open(/dev/), error=Is a directory",
        "fio-open",
        "/dev/ (Is a directory",
    ),
    (
        "image's platform (linux/amd64) does not match the detected host platform (linux/arm64)",
        "other-platform",
        "runs by emulation",
    ),
    ("mdrun\nFatal error:\nNumber of atoms is odd", "gromacs-fatal", "“Number of atoms is odd”"),
    ("ld: skipping incompatible /usr/lib/libm.so when searching", "link-wrong-processor", "32"),
    ("EAL: Error - exiting with code: 1\n  Cause: No ports", "dpdk-cause", "No ports"),
]
# The text, and the entry that must not take it: the log leaves it open, or says otherwise.
OPEN = [
    ("gcc a.o -fopenmp -o a\na.c: undefined reference to `GOMP_barrier'", "link-openmp-in-the-obj"),
    ("cc a.o -o a -lm\na.c: undefined reference to `sqrt'", "link-math"),
    ("a.c: undefined reference to `log_message'", "link-math"),
    ("a.c: undefined reference to `MPIX'", "link-mpi"),
    ("fio-3.28\nfio: engine io_uring not loadable", "fio-io-uring-too-old"),
    ("fio-3.13\nfio: engine io_uring not loadable", "fio-io-uring-too-old"),
    (
        "stress-ng: info:  [1] passed: 4: vm (4)\nstress-ng: info: [1] skipped: 0",
        "stress-nothing-ran",
    ),
    ("Flags : fpu sse2 avx avx2 avx512f\nIllegal instruction", "illegal-instruction-flags"),
    (
        "mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 7: 8c00004000010091\n"
        "CPU2: Core temperature above threshold, cpu clock throttled (total events = 7)",
        "machine-check-of-heat",
    ),
    ("Process exited with exit code 137", "killed-with-memory-free"),
    ("iperf3: error - unable to start listener: Address already in use", "address-in-use"),
    ("$ clang -fopenmp a.c\nundefined reference to `GOMP_barrier'", "link-openmp-in-the-obj"),
    ("a.c: undefined reference to `cudaWrap(float*)'", "link-cuda"),
    ("fatal: Could not read\nHost key verification failed.", "ssh-not-allowed"),
]


@pytest.mark.parametrize(("text", "name", "words"), DECIDED, ids=[row[1] for row in DECIDED])
def test_a_message_decides_for_a_cause(text: str, name: str, words: str) -> None:
    said = {
        own.entry.name: own.note for own in error_messages.messages(log_of(f"{text}\n".encode()))
    }
    assert name in said
    assert words in said[name]
    assert "{" not in said[name]


@pytest.mark.parametrize(("text", "name"), OPEN, ids=[row[1] for row in OPEN])
def test_what_the_log_leaves_open_is_not_decided(text: str, name: str) -> None:
    names = [own.entry.name for own in error_messages.messages(log_of(f"{text}\n".encode()))]
    assert not any(own.startswith(name) for own in names)


def test_what_only_follows_is_not_said() -> None:
    text = (
        "ssh: connect to host n2 port 22: Connection refused\nORTE was unable to reliably start\n"
    )
    (message,) = error_messages.messages(log_of(text.encode()))
    assert message.entry.name == "ssh-refused"


def test_entries_name_what_they_cover_and_fill() -> None:
    entries = error_messages.entries()
    names = {entry.name for entry in entries}
    assert len(names) == len(entries)
    assert {name for entry in entries for name in entry.covers} <= names
    for entry in entries:
        assert all(len(pair) == 2 and pair[1].endswith(".") for pair in entry.also), entry.name


WRK = """Running 10s test @ http://10.0.0.7:8080
  12 threads and {asked} connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.91ms   10.03ms 294.68ms   99.16%
    Req/Sec     6.25k     2.00k   11.33k    73.92%
  747990 requests in 10.02s, 122.69MB read
  Socket errors: connect {failed}, read 0, write 0, timeout 0
Requests/sec:  74615.22
"""


@pytest.mark.parametrize(
    ("asked", "failed", "words"),
    [(400, 155, "just below 256"), (400, 100, "300 did all the work."), (400, 900, None)],
)
def test_connections_that_were_not_opened(asked: int, failed: int, words: str | None) -> None:
    text = WRK.format(asked=asked, failed=failed)
    found = [own.explanation for own in of_content("x", text.encode(), Machine()).findings]
    said = [own for own in found if "attempts to connect failed" in own]
    assert (len(said) == 1 and words in said[0]) if words else not said


def test_a_full_device_is_not_called_one_in_pieces() -> None:
    text = (
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 22.00 MiB. GPU 0 has a "
        "total capacity of 23.65 GiB of which 11.06 MiB is free. Including non-PyTorch memory, "
        "this process has 23.60 GiB memory in use. Of the allocated memory 22.90 GiB is allocated "
        "by PyTorch, and 194.87 MiB is reserved by PyTorch but unallocated."
    )
    (first, *_) = of_content("x", text.encode(), Machine()).findings
    assert "uses 22.9 GiB of its 23.65 GiB" in first.explanation
