"""What reports of PyTorch and of profilers of kernels show: memory that others hold, calls that
take longer than the device, and kernels at no limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

FULL = "torch memory"
MUCH = 0.25  # of the device
LITTLE = 0.05  # of the device: to mend what lies in pieces gains no more than this
LARGE_PART = 0.5  # of what was missing
CPU_BEFORE = 3.0  # times the device's time
LEAST_NS = 1e6
WIDE = 0.15  # of the median
NEAR_PEAK, FAR_FROM_PEAK = 80.0, 60.0  # per cent


@rule
def device_is_full(report: Report) -> Iterator[Finding]:
    """Why the device had no memory for a request: it has less in all, others hold it, or the
    program holds what it does not use."""
    if report.tool != FULL:
        return
    asked, whole, free = (report.only(name) for name in ("asked", "whole", "free"))
    others = report.called("held by another process")
    reserved = report.only("reserved")
    allocated = report.only("allocated")
    if asked is None or whole is None:
        return
    words: dict[str, Any] = {"asked": asked, "whole": whole, "free": free}
    size = {own.name: own.base_value for own in (asked, whole, free, reserved, allocated) if own}
    held = sum(own.base_value for own in others)
    idle = size.get("reserved", 0.0)
    if reserved and allocated and idle >= size.get("allocated", 0.0) and _is_old(report):
        idle -= size["allocated"]  # older versions print both together
    missing = size["asked"] - size.get("free", 0.0)
    if size["asked"] > size["whole"]:
        yield finding("more-than-device", words, about=[asked, whole])
    elif others and held >= missing and (missing > 0 or held >= MUCH * size["whole"]):
        most = max(others, key=lambda own: own.base_value)
        words |= {"most": most, "count": len(others)}
        yield finding("held-by-others", words, about=[asked, most])
    elif reserved and allocated and idle >= missing > 0 and idle < LITTLE * size["whole"]:
        words |= {"idle": idle, "used": allocated}
        yield finding("device-used-up", words, about=[asked, allocated])
    elif reserved and idle >= missing > 0:
        words["idle"] = idle
        yield finding("memory-in-pieces", words, about=[asked, reserved])
    elif free and missing <= 0:
        yield finding("free-but-refused", words, about=[asked, free])
    else:
        words["idle"] = idle if reserved and idle >= LARGE_PART * missing else None
        yield finding("device-full", words, about=[asked])


def _is_old(report: Report) -> bool:
    """Whether it has the form of versions before 2.1, which print what is reserved in total."""
    return report.only("in use by this process") is None and not report.called(
        "held by another process"
    )


@rule
def calls_before_device(report: Report) -> Iterator[Finding | str]:
    """A profile in which the CPU needs far longer than the device, and one without the device."""
    if report.tool != "torch.profiler":
        return
    if "host_only_line" in report.facts:
        line = report.line
        yield (
            f"line {line}: this table has no columns of a device. Times of work on a GPU are not "
            "in it: for that work these are times in which calls were queued"
        )
    sums = {own.name: own for own in report.being("sum")}
    cpu, device = sums.get("self CPU time"), sums.get("self device time")
    if cpu and device and device.is_positive and cpu.base_value >= LEAST_NS:
        ratio = cpu.base_value / device.base_value
        if ratio >= CPU_BEFORE:
            yield finding("cpu-before-device", {"cpu": cpu, "device": device, "ratio": ratio})


@rule
def wide_quartiles(report: Report) -> Iterator[Finding]:
    """A measurement of torch.utils.benchmark whose middle half of samples is far apart."""
    if report.tool != "torch.utils.benchmark":
        return
    median, spread = (report.only("time", kind) for kind in ("median", "interquartile range"))
    if median and spread and median.is_positive:
        part = spread.base_value / median.base_value
        if part >= WIDE:
            words = {"median": median, "spread": spread, "part": part}
            words["count"] = report.facts.get("repetitions")
            yield finding("wide-quartiles", words, about=[spread])


@rule
def limits_of_kernels(report: Report) -> Iterator[Finding | str]:
    """A kernel that uses neither arithmetic nor memory near their peak, and one that is at one."""
    if report.tool != "ncu":
        return
    memory = report.only("Memory Throughput") or report.only("DRAM Throughput")
    compute = report.only("Compute (SM) Throughput")
    if memory is None or compute is None or {memory.unit, compute.unit} != {"%"}:
        return
    if max(memory.value, compute.value) < FAR_FROM_PEAK:
        yield finding("kernel-at-no-limit", {"memory": memory, "compute": compute})
    elif max(memory.value, compute.value) >= NEAR_PEAK:
        most, other = sorted((memory, compute), key=lambda own: -own.value)
        what = "memory or a cache" if most is memory else "arithmetic"
        yield (
            f"line {most.line}: the kernel is near its limit, which is {what} ({most.value:g} % of "
            f"the peak, next to {other.value:g} %)"
        )


@rule
def waits_of_threads(report: Report) -> Iterator[str]:
    """A note where calls of the operating system are waits."""
    if report.tool != "cuda-profile":
        return
    calls = [
        own for own in report.results if own.of.get("of_what") in ("system", "call") and own.is_time
    ]
    first = max(calls, key=lambda own: own.base_value, default=None)
    name = first.name.removesuffix(" time") if first else ""
    if first and name in _WAITS:
        yield (
            f"line {first.line}: {name} is a call in which a thread waits. These times are of all "
            "threads added up, those of the profiler too, and no work of a CPU or the GPU"
        )


_WAITS = frozenset(
    (
        "poll", "ppoll", "select", "sem_wait", "sem_timedwait", "sem_clockwait", "epoll_wait",
        "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "futex",
        "nanosleep", "clock_nanosleep", "usleep", "wait4", "waitpid", "sigtimedwait", "accept",
        "recv", "recvfrom",
    )
)  # fmt: skip
