"""Messages of drivers, graphics, compilers, batch systems and tools of the kernel: which entry
takes which line. (What holds for all entries is tested in test_explain_errors.)"""

from __future__ import annotations

import pytest

from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.context import error_messages

LINES = {
    "pcie-fatal": "port 0000:00:03.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Trans",
    "pcie-errors": "port 0000:00:03.1: PCIe Bus Error: severity=Correctable, type=Data Link Layer",
    "lspci-width": "LnkSta: Speed 5GT/s (downgraded), Width x1 (downgraded)",
    "lspci-speed": "LnkSta: Speed 2.5GT/s (downgraded), Width x16 (ok)",
    "lspci-errors": "CESta: RxErr- BadTLP+ BadDLLP+ Rollover- Timeout+ AdvNonFatalErr-",
    "gpu-not-started": "NVRM: RmInitAdapter failed! (0x26:0x56:1463)",
    "amdgpu-hang": "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
    "rocm-kfd-other": "Unable to open /dev/kfd read-write: Invalid argument",
    "kfd-permission": "Unable to open /dev/kfd read-write: Permission denied",
    "rocm-no-module": "ERROR:root:Driver not initialized (amdgpu not found in modules)",
    "rocm-smi-empty": "GPU[0] : WARNING: Empty SysFS value: pclk",
    "rocblas-no-kernels": "rocBLAS error: Cannot read /opt/rocm/lib/TensileLibrary.dat: No such",
    "smi-not-supported": "Not supported on the device(s)",
    "torch-no-gpu": "AssertionError: Torch not compiled with CUDA enabled",
    "torch-collective-timeout": "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL",
    "torch-shared-memory": "This might be caused by insufficient shared memory (shm).",
    "gpu-layers-ignored": "warning: no usable GPU found, --gpu-layers option will be ignored",
    "small-grid": "Grid size (4) < 2 * SM count (164) will likely result in GPU under utilization "
    "due to low occupancy.",
    "ncu-small-grid": "This kernel grid is too small to fill the available resources on this dev",
    "nsys-no-sampling": "Sampling trigger event available: Fail",
    "nvprof-too-new": "nvprof is not supported on devices with compute capability 8.0 and higher.",
    "vulkan-lost": "terminate called after throwing an instance of 'vk::DeviceLostError'",
    "vulkan-memory": "vk::CommandBuffer::end: ErrorOutOfDeviceMemory",
    "vulkan-no-driver": "vkCreateInstance failed -9",
    "software-renderer": "GL_RENDERER:    llvmpipe (LLVM 16.0.2, 128 bits)",
    "no-display": "Error: couldn't open display (null)",
    "graphics-driver": "libGL error: failed to load driver: swrast",
    "sycl-native": "Native API failed. Native API returns: 4 (UR_RESULT_ERROR_INVALID_VALUE)",
    "opencl-words": "clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR",
    "bpf-no-symbol": "Could not resolve symbol: /proc/self/exe:BEGIN_trigger",
    "bpf-no-headers": "WARNING: Could not find kernel headers in  or .",
    "bpf-no-function": "cannot attach kprobe, probe entry may not exist",
    "bpf-denied": "ERROR: bpftrace currently only supports running as the root user.",
    "aio-limit": "io_setup(81920, 0x7fff13155df0) = -1 EAGAIN (Resource temporarily unavailable)",
    "fio-most-jobs": "error: maximum number of jobs reached.",
    "fio-no-direct": "fio: looks like your file system does not support direct=1/buffered=0",
    "perf-events-refused": "perf_event_open for TID 5089 failed: Operation not permitted",
    "perf-not-sampling": "PMU Hardware doesn't support sampling/overflow-interrupts.",
    "msr-not-loaded": "ERROR: Could not open CPU for reading! Is the msr kernel module loaded?",
    "orte-not-started": "ORTE was unable to reliably start one or more daemons.",
    "hydra-no-proxy": "HYDU_create_process (launch.c:74): execvp error on file hydra_pmi_proxy (No",
    "pmi-harmless": "_pmi2_kvs_get:key [-NONEXIST-KEY] was not found.",
    "pmi-other-launcher": "[unset]: Unable to write to PMI_fd",
    "ucx-no-queue": "UCX  ERROR ibv_create_cq(cqe=4096) failed: Cannot allocate memory",
    "slurm-gres": "srun: error: step: Invalid generic resource (gres) specification",
    "slurm-memory-twice": "srun: fatal: SLURM_MEM_PER_CPU and SLURM_MEM_PER_NODE "
    "are mutually exclusive.",
    "slurm-account": "sbatch: error: Batch job submission failed: Invalid partition name specified",
    "slurm-too-much": "sbatch: error: Memory specification can not be satisfied",
    "assembler-too-old": "/tmp/cc.s:18475: Error: unsupported instruction `vpdpbusd'",
    "march-native-elsewhere": "unrecognized command line option ‘-march=native’; did you mean "
    "‘-mcpu=native’?",
    "link-library": "/usr/bin/ld: cannot find -lcuda: No such file or directory",
    "link-dso": "libpthread.so.0: error adding symbols: DSO missing from command line",
    "symbol-at-start": "./a.out: symbol lookup error: ./a.out: undefined symbol: cblas_dgemm",
    "valgrind-stripped": "valgrind:  Fatal error at startup: a function redirection",
    "dpdk-no-pages": "EAL: FATAL: Cannot get hugepage information.",
    "dpdk-gigabyte-pages": "EAL: No free hugepages reported in hugepages-1048576kB",
    "hugetlb-none": "EAL: No free hugepages reported in hugepages-2048kB",
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_taken_by_its_entry(name: str) -> None:
    messages = error_messages.messages(log_of(f"{LINES[name]}\n".encode()))
    assert [message.entry.name for message in messages] == [name]


@pytest.mark.parametrize(
    "line",
    [
        "LnkSta: Speed 16GT/s (ok), Width x16 (ok)",
        "CESta: RxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr+",
        "GL_RENDERER:   Mesa DRI Intel(R) HD Graphics P4600/P4700 (HSW GT2)",
        "We compare llvmpipe with the driver of the GPU.",
        "ld.lld: error: undefined symbol: foo",
        "io_setup(128, 0x7fff13155df0) = 0",
        "Sampling trigger event available: OK",
    ],
)
def test_a_like_line_is_no_error(line: str) -> None:
    assert error_messages.messages(log_of(f"{line}\n".encode())) == []


def test_names_of_entries_are_there_once() -> None:
    names = [entry.name for entry in error_messages.entries()]
    assert len(names) == len(set(names))
