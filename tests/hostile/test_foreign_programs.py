"""Programs that are not what was built."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from benchbook.measure.invocation import Request, invoke

LINE = '{"version":1,"kind":"%s","point":0,"status":"ok","loops":1,"bytes_declared":8}'
PROGRAMS = {
    "says nothing": "exit 0",
    "random bytes": "head -c 100000 /dev/urandom",
    "lines of another kind": "echo 5; echo null; echo '[]'; echo '{\"version\":1}'",
    "a point without its fields": f"echo '{LINE % 'point'}'",
    "a sample without its fields": f"echo '{LINE % 'sample'}'; echo '{LINE % 'point'}'",
    "a point of another name": 'echo \'{"version":1,"kind":"point","point":"x"}\'',
    "a point out of range": 'echo \'{"version":1,"kind":"point","point":-7}\'',
    "deep brackets": "head -c 200000 /dev/zero | tr '\\0' '['",
    "killed as by the kernel's OOM killer": "kill -9 $$",
    "cannot run, without a reason": "exit 77",
    "cannot run, with brackets": "echo '{\"reason\":[[['; exit 77",
    "another status": "echo help >&2; exit 200",
    "keeps its output open": "sleep 30 & exit 0",
}


def request(binary: Path) -> Request:
    cpu = min(os.sched_getaffinity(0))
    return Request(binary, {}, [{"samples": 3}], [cpu], time_limit_s=2.0)


@pytest.mark.parametrize("how", PROGRAMS)
def test_a_kernel_that_was_replaced(tmp_path: Path, how: str) -> None:
    """The binary of a kernel is replaced under the run by one that says nothing, says nonsense or
    dies: its point fails with a reason, and the run goes on."""
    binary = tmp_path / "kernel"
    binary.write_text(f"#!/bin/sh\n{PROGRAMS[how]}\n")
    binary.chmod(0o755)
    (point,) = invoke(request(binary)).points
    assert point.state in ("failed", "cannot_run", "timeout")
    assert point.reason
    assert "\n" not in point.reason
    json.dumps(point.reason)
    if "OOM" in how:
        assert signal.SIGKILL.name in point.reason


CGROUP = Path("/sys/fs/cgroup/memory")


@pytest.mark.skipif(
    os.getuid() != 0 or not (CGROUP / "memory.limit_in_bytes").exists(),
    reason="no memory cgroup (v1) that root may write to",
)
def test_a_kernel_that_the_system_kills_for_memory(tmp_path: Path) -> None:
    """A memory cgroup of 20 MiB and a program that fills 200 MiB: a real OOM kill is a failed point
    that names the signal."""
    group = CGROUP / f"benchbook-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(20 << 20))
    except OSError:
        pytest.skip("cgroups are refused here")
    binary = tmp_path / "kernel"
    fill = "x = []\nwhile True: x.append(bytearray(1 << 20))"
    python = shutil.which("python3", path="/usr/bin:/bin") or "/usr/bin/python3"
    script = f'echo $$ >{group}/cgroup.procs\nexec {python} -c "{fill}"\n'
    binary.write_text(f"#!/bin/sh\n{script}")
    binary.chmod(0o755)
    try:
        (point,) = invoke(request(binary)).points
    finally:
        group.rmdir()
    assert point.state == "failed"
    assert signal.SIGKILL.name in point.reason
