"""Nix for these tests, taken from Debian's packages and never installed: unpacked with all that it
needs, down to the C library, into build/nix-for-tests, and started through its own loader. So it
runs beside any host's libraries, and it is on nobody's PATH.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import debian
import pytest

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "nix-for-tests"
OLDEST = "bookworm"  # has 2.8
NEWER = "trixie"  # has 2.26, and the pin asks for 2.18
LIMIT_S = 120
SETTINGS = """
experimental-features = nix-command flakes
sandbox = false
substituters =
build-users-group =
flake-registry =
"""


# Asked whether another machine should build: without it Nix looks for itself where it is installed.
HOOK = "#!/bin/sh\necho '# decline-permanently' >&2\nexec cat >/dev/null\n"


@dataclass(frozen=True)
class Nix:
    """One Nix with a store of its own."""

    program: Path
    place: Path

    def run(
        self, folder: Path, *words: str, limit_s: float = LIMIT_S, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `nix words…` in a folder, without terminal, with extra variables; the two streams are
        kept apart."""
        return subprocess.run(
            [str(self.program), *words],
            cwd=folder,
            env=self.environment(**extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )

    def environment(self, **extra: str) -> dict[str, str]:
        """A caller's variables, with those that give this Nix its own store."""
        place = {
            f"NIX_{name}": str(self.place / name.lower())
            for name in ("STORE_DIR", "STATE_DIR", "LOG_DIR", "CONF_DIR", "LOCALSTATE_DIR")
        }
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(
                ("PYTEST", "BENCHBOOK", "SNAKEMAKE", "MAKE", "NIX", "XDG", "IN_NIX")
            )
        }
        home = self.place / "home"
        home.mkdir(parents=True, exist_ok=True)
        hook = self.place / "hook"
        hook.write_text(HOOK)
        hook.chmod(0o755)
        settings = {"HOME": str(home), "NIX_CONFIG": f"{SETTINGS}build-hook = {hook}\n"}
        return {**kept, **extra, **place, **settings}

    def version(self) -> str:
        """As it says itself."""
        return self.run(self.place, "--version").stdout.split()[-1]


def suites() -> list[str]:
    """This Debian's release first, then the newer one."""
    own = debian.release().get("VERSION_CODENAME", OLDEST)
    return list(dict.fromkeys([own, NEWER]))


def must_work(suite: str) -> bool:
    """On Debian 12 as root there is no excuse for the release's own Nix."""
    return suite == debian.release().get("VERSION_CODENAME") == OLDEST and os.geteuid() == 0


def program(suite: str) -> Path:
    """A script that starts the Nix of a Debian release; fetched once.

    Raises UnavailableError of debian.py.
    """
    kept = KEPT / suite / "nix"
    if kept.exists():
        return kept
    if debian.release().get("ID") != "debian" or shutil.which("apt-get") is None:
        raise debian.UnavailableError("Nix is taken from Debian's packages, and this is no Debian")
    if platform.machine() not in ("x86_64", "aarch64"):
        raise debian.UnavailableError(f"Benchbook's flake has no system {platform.machine()}")
    shutil.rmtree(KEPT / suite, ignore_errors=True)
    try:
        unpacked = _unpack(suite, KEPT / suite)
    except subprocess.CalledProcessError as error:
        raise debian.UnavailableError(
            f"apt-get cannot bring the Nix of {suite}: {debian.last_words(error)}"
        ) from None
    (loader,) = (path for path in unpacked.rglob("ld-linux-*.so.*") if not path.is_symlink())
    folders = [*unpacked.glob("lib/*-linux-gnu"), *unpacked.glob("usr/lib/*-linux-gnu")]
    folders += unpacked.glob("usr/lib/nix")
    command = [loader, "--library-path", ":".join(map(str, folders)), unpacked / "usr/bin/nix"]
    script = kept.with_suffix(".new")
    script.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n')
    script.chmod(0o755)
    script.rename(kept)
    return kept


def _unpack(suite: str, place: Path) -> Path:
    """nix-bin of a release and every library under it; Perl is only for parts that nobody calls."""
    apt = place / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "unpacked"):
        (apt / folder).mkdir(parents=True)
    (
        apt / "status"
    ).touch()  # nothing is installed there, so that apt resolves down to the C library
    (apt / "sources").write_text(f"deb {debian.mirror()} {suite} main\n")
    # The machine's way to its mirror, and nothing else of its configuration.
    ours = debian.acquire_settings()
    for name, value in {
        "Dir::Etc::sourcelist": apt / "sources",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::main": "/dev/null",
        "Dir::Etc::parts": "/dev/null",
        "Dir::State::lists": apt / "lists",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "root",
    }.items():
        ours.append(f'{name} "{value}";')
    (apt / "conf").write_text("\n".join(ours) + "\n")
    environment = {**os.environ, "APT_CONFIG": str(apt / "conf"), "LC_ALL": "C"}
    debian.run("apt-get", "update", "-o", "APT::Update::Error-Mode=any", env=environment)
    planned = debian.run(
        "apt-get", "--simulate", "--no-install-recommends", "install", "nix-bin", env=environment
    )
    names = [line.split()[1] for line in planned.splitlines() if line.startswith("Inst ")]
    wanted = [
        name for name in names if name.startswith(("lib", "zlib", "nix-bin")) and "perl" not in name
    ]
    debian.run("apt-get", "download", *wanted, cwd=apt / "cache", env=environment)
    for package in sorted((apt / "cache").glob("*.deb")):
        debian.run("dpkg-deb", "-x", str(package), str(apt / "unpacked"))
    unpacked = (apt / "unpacked").rename(place / "unpacked")
    shutil.rmtree(apt)
    return unpacked


def fetched(suite: str) -> Path:
    """The program, or the test is skipped with the reason (fails where it must work)."""
    try:
        return program(suite)
    except debian.UnavailableError as reason:
        if must_work(suite):
            pytest.fail(str(reason))
        pytest.skip(str(reason))
