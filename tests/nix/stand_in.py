"""The stand-in for nixpkgs: this host's programs under the names of attributes.txt."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VENV = ROOT / ".venv" / "bin"
# What each package of nixpkgs brings, as far as something here starts it; a name=the name here.
PROGRAMS = {
    "binutils": ["ar", "as", "ld", "nm", "objdump", "readelf", "strip"],
    "clang": ["clang"],
    "clang-tools": ["clang-format"],
    "gcc14": ["cpp", "gcc"],
    "gcc15": ["gcc"],
    "glibc": ["ldd"],
    "gnumake": ["make"],
    "hwloc": ["lstopo-no-graphics"],
    "iperf3": ["iperf3"],
    "iproute2": ["bridge", "ip", "tc"],
    "likwid": ["likwid-bench", "likwid-perfctr", "likwid-topology"],
    "mbw": ["mbw"],
    "mpich": ["mpicc=mpicc.mpich", "mpiexec=mpiexec.mpich"],
    "numactl": ["numactl"],
    "openmpi": ["mpicc=mpicc.openmpi", "mpiexec=mpiexec.openmpi"],
    "perf": ["perf"],
    "python3Packages.jupyterlab": ["jupyter"],
    "python3Packages.pytest": ["pytest"],
    "rpcsvc-proto": ["rpcgen"],
    "ruff": ["ruff"],
    "snakefmt": ["snakefmt"],
    "sockperf": ["sockperf"],
    "stdenv.initialPath": ["bash", "dirname", "env", "ln", "mkdir", "sh", "uname"],
    "util-linux": ["flock", "prlimit", "setpriv", "taskset"],
    "valgrind": ["valgrind"],
}
TREEFMT = "#!/bin/sh\necho formatted >>formatted\n"


def attributes() -> dict[str, str]:
    """Name -> where it was seen."""
    lines = (HERE / "attributes.txt").read_text().splitlines()
    return dict(line.split(None, 1) for line in lines if line and not line.startswith("#"))


def make(folder: Path, *without: str, broken: tuple[str, ...] = ()) -> Path:
    """A stand-in flake in `folder`, without some of the names; `broken` packages do not build."""
    shutil.copytree(HERE / "stand-in", folder)
    treefmt = folder / "treefmt"
    treefmt.write_text(TREEFMT)
    treefmt.chmod(0o755)
    packages = {
        package: {
            name.partition("=")[0]: path
            for name in names
            if (path := _program(name.rpartition("=")[2]))
        }
        for package, names in PROGRAMS.items()
    }
    packages["nixfmt-tree"] = {"treefmt": str(treefmt)}
    host = {
        "attributes": [name for name in attributes() if name not in without],
        "broken": broken,
        "bash": shutil.which("bash"),
        "packages": packages,
        "python": {
            "base": str(Path(sys.executable).resolve()),
            "programs": {
                "python": sys.executable,
                "python3": sys.executable,
                "snakemake": str(VENV / "snakemake"),
            },
        },
    }
    (folder / "host.json").write_text(json.dumps(host))
    return folder


def _program(name: str) -> str | None:
    in_venv = VENV / name
    return str(in_venv) if in_venv.exists() else shutil.which(name)
