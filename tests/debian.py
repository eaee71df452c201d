"""Debian's packages by the mirror of this host's apt, and a root of Debian 13 for what this release
has no package of. No host of a mirror is named here.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUITE = "trixie"
LIMIT_S = 1200  # making the root downloads 200 MB
ORDINARY = {"PATH": "/usr/sbin:/usr/bin", "HOME": "/", "LC_ALL": "C.UTF-8"}
# The root's own /proc, and no process or mount of it outlives the command.
_ENTER = """
mount -t proc proc "$0/proc"
for folder in dev sys; do mount --rbind "/$folder" "$0/$folder"; done
exec chroot "$0" "$@"
"""


class UnavailableError(Exception):
    """Why something of Debian cannot be had here."""


def run(*command: str | Path, **more: Any) -> str:
    """What a command prints; CalledProcessError where it fails."""
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def last_words(error: subprocess.CalledProcessError) -> str:
    """The last line that a failed command printed."""
    return " ".join((error.stderr or error.stdout or "").strip().splitlines()[-1:])


def release() -> dict[str, str]:
    """The fields of /etc/os-release; none where that file is absent."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def mirror() -> str:
    """The address from which apt takes this release. Raises UnavailableError."""
    sites = run("apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)").splitlines()
    own = release().get("VERSION_CODENAME")
    site = next((line.split()[0] for line in sites if line.split()[1:] == [own]), None)
    if site is None:
        raise UnavailableError("apt's own configuration names no mirror of this release")
    return site


def acquire_settings() -> list[str]:
    """The lines of apt's configuration about the way to its mirror (a proxy, say)."""
    lines = run("apt-config", "dump").splitlines()
    return [line for line in lines if line.startswith("Acquire::") and "IndexTargets" not in line]


@dataclass(frozen=True)
class Root:
    """A folder with a Debian system, whose programs run in namespaces that end with them."""

    folder: Path

    def entering(self) -> list[str]:
        """The words before a command that runs it in here."""
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        return [*apart, "sh", "-ec", _ENTER, str(self.folder)]

    def run(
        self, *command: str, env: dict[str, str] = ORDINARY, limit_s: float = LIMIT_S
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in here, with this environment and no input."""
        assigned = [f"{name}={value}" for name, value in env.items()]
        return subprocess.run(
            [*self.entering(), "env", "-i", *assigned, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )

    def done(self, *command: str) -> str:
        """What a command prints in here; it must succeed."""
        process = self.run(*command)
        assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
        return process.stdout


@contextmanager
def root(packages: Sequence[str]) -> Iterator[Root]:
    """A new Debian 13 with these packages. Raises UnavailableError."""
    if os.geteuid() != 0:
        raise UnavailableError("debootstrap makes a root only as root")
    if release().get("ID") != "debian":
        raise UnavailableError("only the apt of a Debian knows a mirror for debootstrap")
    with tempfile.TemporaryDirectory(prefix="benchbook-debian-") as name:
        try:
            made = _make(Path(name), packages)
        except subprocess.CalledProcessError as error:
            why = f"no Debian root can be made: {error.cmd[0]} ended with {last_words(error)!r}"
            raise UnavailableError(why) from None
        yield made


def _make(place: Path, packages: Sequence[str]) -> Root:
    made = Root(place / "root")
    site = mirror()
    command, scripts = _debootstrap(place)
    environment = os.environ | scripts | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    run(*command, "--variant=minbase", SUITE, made.folder, site, env=environment, timeout=LIMIT_S)
    etc = made.folder / "etc"
    sources = [f"{kind} {site} {SUITE} main\n" for kind in ("deb", "deb-src")]
    (etc / "apt" / "sources.list").write_text("".join(sources))
    (etc / "apt" / "apt.conf.d" / "90host").write_text("\n".join(acquire_settings()) + "\n")
    for name in ("resolv.conf", "hosts"):
        shutil.copy(Path("/etc") / name, etc / name)
    install = ["apt-get", "install", "-qy", "--no-install-recommends", *packages]
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
    for words in (["apt-get", "update", "-q"], [*quiet, *install]):
        made.run(*words).check_returncode()
    return made


def _debootstrap(place: Path) -> tuple[list[str | Path], dict[str, str]]:
    """The command and its environment: the installed one, else its package unpacked in `place`."""
    if shutil.which("debootstrap", path="/usr/sbin:/sbin") is not None:
        return ["debootstrap"], {}
    run("apt-get", "download", "debootstrap", cwd=place)
    (package,) = place.glob("debootstrap_*.deb")
    unpacked = place / "debootstrap"
    run("dpkg-deb", "-x", package, unpacked)
    scripts = {"DEBOOTSTRAP_DIR": str(unpacked / "usr/share/debootstrap")}
    return [unpacked / "usr/sbin/debootstrap"], scripts
