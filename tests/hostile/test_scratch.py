"""Temporary folders of measured programs."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

from benchbook.core import scratch
from benchbook.measure.invocation import Request, environment

SHOW = "from benchbook.core import scratch; print(scratch.folder(), flush=True); "


def start(temporary: Path, more: str = "", **how: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SHOW + more],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        text=True,
        **how,
    )


def test_a_measured_program_is_led_into_a_private_folder() -> None:
    """A measured program asks for its temporary folder, its caches and PoCL's: all three are one
    folder that only its user may enter, and none is named in advance."""
    seen = environment(Request(Path("/bin/true"), {}, [], [0]))
    own = {Path(seen[name]) for name in ("TMPDIR", "XDG_CACHE_HOME", "POCL_CACHE_DIR")}
    (folder,) = own
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.stat().st_uid == os.getuid()
    assert "HOME" not in seen


def test_two_processes_have_two_folders_that_go_with_them(tmp_path: Path) -> None:
    """Two measuring processes: each has a folder of its own, removed at its end."""
    processes = [start(tmp_path) for _ in range(2)]
    folders = {process.communicate()[0].strip() for process in processes}
    assert len(folders) == 2
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """kill -9 of a measuring process: the next start removes its folder, and none that is used."""
    left, used = (start(tmp_path, "import time; time.sleep(60)") for _ in range(2))
    places = [Path(process.stdout.readline().strip()) for process in (left, used)]
    left.send_signal(signal.SIGKILL)
    left.wait()
    for place in places:
        (place / "kernel-cache").mkdir()
        os.utime(place, (time.time() - 2 * scratch.OLD_S,) * 2)
    start(tmp_path).communicate()
    assert [place.exists() for place in places] == [False, True]
    used.send_signal(signal.SIGKILL)
    used.communicate()
    left.communicate()


def test_a_planted_folder_or_link_leads_nowhere(tmp_path: Path) -> None:
    """Another user plants links and folders under our prefix: they are neither used nor
    followed."""
    target = tmp_path / "precious"
    target.mkdir()
    (target / "file").touch()
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / f"{scratch.PREFIX}link").symlink_to(target)
    os.utime(shared / f"{scratch.PREFIX}link", (0, 0), follow_symlinks=False)
    (shared / "pocl").symlink_to(target)
    printed = start(shared).communicate()[0].strip()
    assert Path(printed).name != f"{scratch.PREFIX}link"
    assert (target / "file").exists()
    assert [path.name for path in target.iterdir()] == ["file"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root may start a program as another user")
@pytest.mark.skipif(
    not Path("/etc/OpenCL/vendors/pocl.icd").exists(), reason="PoCL is not installed"
)
def test_pocl_ignores_the_folder_that_another_user_holds(tmp_path: Path) -> None:
    """/tmp/pocl belongs to another user who keeps us out: OpenCL still finds its device, and
    nothing is written there."""
    shutil.copy(ROOT / "benchbook/core/scratch.py", tmp_path)
    planted = tmp_path / "pocl"
    planted.mkdir(mode=0o700)
    tmp_path.chmod(0o1777)
    ask = (
        "import ctypes; from ctypes import c_uint, byref, c_void_p, c_ulonglong;"
        "cl = ctypes.CDLL('libOpenCL.so.1'); ids = (c_void_p * 8)(); n = c_uint();"
        "cl.clGetPlatformIDs(8, ids, byref(n)); devices = (c_void_p * 8)(); m = c_uint();"
        "cl.clGetDeviceIDs(c_void_p(ids[0]), c_ulonglong(0xFFFFFFFF), 8, devices, byref(m));"
        "print(n.value, m.value)"
    )
    program = (
        "import subprocess, sys, scratch;"
        "sys.exit(subprocess.run([sys.executable, '-I', '-c', sys.argv[1]],"
        " env={'PATH': '/usr/bin:/bin'} | scratch.variables()).returncode)"
    )
    inside = 'mount --bind "$1" /tmp && cd /tmp && shift && exec setpriv --reuid 65534 "$@"'
    words = ["unshare", "-m", "sh", "-c", inside, "sh", tmp_path]
    done = subprocess.run(
        [*words, "/usr/bin/python3", "-c", program, ask],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["1", "1"], done.stderr
    assert list(planted.iterdir()) == []
    assert not list(tmp_path.glob(f"{scratch.PREFIX}*"))
