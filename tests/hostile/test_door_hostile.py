"""A home or a checkout that cannot be written to."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from setup_place import Place

ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="only root may change user or mount")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("home", ["", "absent", "a file", "/proc/1"])
def test_a_home_that_cannot_be_used(place: Place, tmp_path: Path, home: str) -> None:
    """HOME is unset, absent, a file or a folder of the system: build/home takes its place, in one
    sentence, and nothing is made elsewhere."""
    (tmp_path / "a file").touch()
    wanted = str(tmp_path / home) if home else ""
    done = place.run("scripts/in-env", "sh", "-c", "echo $HOME", HOME=wanted)
    if home == "/proc/1" and not done.stderr:
        pytest.skip("this user may write to /proc/1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(place.root / "build/home")
    (line,) = sentences(done)
    assert "is not a folder that can be written to" in line
    assert not (tmp_path / "absent").exists()


def sentences(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What it said, without the set-up's lines."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("set-up: ")]
    assert all(line.startswith("benchbook: ") for line in lines), done.stderr
    return lines


def as_nobody(place: Place, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in a checkout of root, by another user."""
    below = [folder for folder in place.root.parents if "pytest-of-" in str(folder)]
    for folder in below:
        folder.chmod(0o755)
    words = ["/usr/bin/setpriv", "--reuid", "65534", "--clear-groups", *command]
    return place.run(*words, PATH="/usr/bin:/bin")


@ROOT_ONLY
@pytest.mark.parametrize("command", ["snakemake", "pytest", "jupyter"])
@pytest.mark.parametrize("how", ["another user's", "read-only"])
def test_a_checkout_that_cannot_be_written_to(place: Place, how: str, command: str) -> None:
    """A checkout of another user, or on a read-only disk: make, its tests and its notebooks end
    with one sentence."""
    if how == "read-only":
        script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
        words = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", f"PATH=$PATH:/bin:/usr/bin; {script}"]
        done = place.run(*words, str(place.root), "scripts/in-env", command)
        if "mount" in done.stderr:
            pytest.skip("mounts are refused here")
    else:
        done = as_nobody(place, "scripts/in-env", command)
    assert done.returncode == 1
    (line,) = sentences(done)
    assert "cannot be written to" in line
    assert "work in a checkout of your own" in line
