"""A Slurm of its own for a test: munged, slurmctld and a slurmd for each node, all on loopback.

Each process sees the test's slurm.conf at /etc/slurm in a mount namespace of its own, since jobs do
not inherit SLURM_CONF. All are ended by their ids.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "unshare", "setpriv")
PACKAGES = "slurm-wlm and munge"
STARTS_S = 30.0


class Cluster:
    """Nodes of the given names, each with some CPUs of this machine and a partition of its name."""

    def __init__(self, folder: Path, nodes: dict[str, Sequence[int]]) -> None:
        self.folder, self.nodes = folder, nodes
        self.configuration = folder / "etc"
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start all daemons; skips the test, with the reason, where Slurm cannot start."""
        missing = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
        if missing:
            pytest.skip(f"Slurm cannot start: {missing[0]} is absent ({PACKAGES})")
        if os.geteuid() != 0:
            pytest.skip("Slurm cannot start: its daemons need root")
        self._write()
        tried = self.call("true", check=False)
        if tried.returncode:
            pytest.skip(f"Slurm cannot start: no mount namespace ({tried.stderr.strip()})")
        munge = self.folder / "munge"
        options = {
            "key-file": munge / "key",
            "socket": munge / "socket",
            "pid-file": munge / "pid",
            "log-file": munge / "log",
            "seed-file": munge / "seed",
        }
        words = [f"--{name}={path}" for name, path in options.items()]
        self._daemon("munged", ["munged", "--foreground", "--force", *words])
        _until((munge / "socket").exists, "munged")
        self._daemon("slurmctld", ["slurmctld", "-D"])
        for node, cpus in self.nodes.items():
            self.start_node(node, cpus)
        _until(self._all_idle, f"Slurm: {self.folder}/slurmctld.out")

    def start_node(self, node: str, cpus: Sequence[int]) -> None:
        """Start a node's slurmd, on its CPUs only: that makes it another host."""
        listed = ",".join(map(str, cpus))
        self._daemon(node, ["taskset", "-c", listed, "slurmd", "-D", "-N", node])

    def stop(self) -> None:
        """End the jobs, then all daemons, by their ids."""
        if "slurmctld" in self._daemons:
            self.call("scancel", "--full", "--user=root", check=False)
            time.sleep(1)
        for daemon in reversed(self._daemons.values()):
            daemon.terminate()
        for daemon in self._daemons.values():
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def inside(self, *command: str) -> list[str]:
        """A command that sees this Slurm."""
        bind = 'mount --bind "$0" /etc/slurm && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", bind, str(self.configuration), *command]

    def call(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm and return what it printed."""
        return subprocess.run(
            self.inside(*command),
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=check,
        )

    def jobs(self) -> list[tuple[str, str, str, str]]:
        """Id, partition, state and node of each job in the queue."""
        lines = self.call("squeue", "--noheader", "--format=%i|%P|%T|%N").stdout.splitlines()
        jobs = [line.strip().split("|") for line in lines]
        return [(job[0], job[1], job[2], job[3]) for job in jobs]

    def _all_idle(self) -> bool:
        states = self.call("sinfo", "--noheader", "--format=%T", check=False).stdout.split()
        return bool(states) and set(states) == {"idle"}

    def _daemon(self, name: str, command: Sequence[str]) -> None:
        out = (self.folder / f"{name}.out").open("wb")
        self._daemons[name] = subprocess.Popen(
            self.inside(*command),
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        out.close()

    def _write(self) -> None:
        munge = self.folder / "munge"
        for folder in (self.configuration, munge, self.folder / "state"):
            folder.mkdir(parents=True)
        munge.chmod(0o755)
        (munge / "key").write_bytes(secrets.token_bytes(128))
        (munge / "key").chmod(0o400)
        control, *ports = _free_ports(1 + len(self.nodes))
        lines = [
            "ClusterName=test",
            f"SlurmctldHost={socket.gethostname()}(127.0.0.1)",
            f"SlurmctldPort={control}",
            "SlurmUser=root",
            "AuthType=auth/munge",
            f"AuthInfo=socket={munge}/socket",
            "CredType=cred/munge",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core",
            "SlurmdParameters=config_overrides",  # a node has some of the machine's CPUs
            "MpiDefault=none",
            "SchedulerParameters=batch_sched_delay=1,sched_interval=2",
            "ReturnToService=0",
            "SlurmdTimeout=30",
            "KillWait=3",
            f"StateSaveLocation={self.folder}/state",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid",
            f"SlurmdPidFile={self.folder}/slurmd-%n.pid",
            f"SlurmdSpoolDir={self.folder}/spool-%n",
            "JobRequeue=0",
        ]
        for (node, cpus), port in zip(self.nodes.items(), ports, strict=True):
            lines += [
                f"NodeName={node} NodeAddr=127.0.0.1 NodeHostname={socket.gethostname()} "
                f"Port={port} CPUs={len(cpus)}",
                f"PartitionName={node} Nodes={node} MaxTime=INFINITE State=UP",
            ]
        (self.configuration / "slurm.conf").write_text("\n".join(lines) + "\n")


def _path() -> str:
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": _path()}


def _free_ports(amount: int) -> list[int]:
    holders = [socket.create_server(("127.0.0.1", 0)) for _ in range(amount)]
    ports = [holder.getsockname()[1] for holder in holders]
    for holder in holders:
        holder.close()
    return ports


def _until(condition: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + STARTS_S
    while not condition():
        if time.monotonic() > ends:
            raise TimeoutError(f"{what} does not start")
        time.sleep(0.3)
