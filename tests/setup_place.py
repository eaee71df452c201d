"""A copy of the set-up scripts and a PATH of stand-ins, so that nothing is installed or fetched.

PATH holds only the stand-ins and the few tools that the scripts are written with. Each stand-in
writes its name and arguments to the file `calls`.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchbook.host import tools

ROOT = Path(__file__).resolve().parent.parent
LOCKS = sorted(ROOT.glob("requirements*.lock"))
# What the scripts are written with.
TOOLS = ["cat", "cksum", "date", "dirname", "env", "flock", "head", "mkdir", "mv", "readlink", "rm"]
TOOLS += ["awk", "make", "setpriv", "sh", "sleep", "tail", "timeout", "true"]
# What the stand-ins are written with.
TOOLS += ["chmod", "ln"]

RPC_HEADER = "tirpc/rpc/rpc.h"  # that an experiment names
# What of the kernels the set-up reads.
KERNELS = ("experiment.yaml", "peers/*.yaml")
# Whose programs the set-up installs.
WANTED = {"make", "test", "points"}

# A Python as far as the set-up sees one; pip, ensurepip and the module venv are recorded, not run.
PYTHON = """
case "$1 $2" in
  "-c "*version_info*) echo "$0" ;;
  "-c "*WHEEL_PKG_DIR*) echo /nowhere/pip.whl ;;
  "-m venv") mkdir -p "$4/bin"
    echo "#!/bin/sh" > "$4/bin/python"; echo "exec '$0' \\"\\$@\\"" >> "$4/bin/python"
    chmod +x "$4/bin/python" ;;
  "-m ensurepip") ln -s python .venv/bin/pip ;;
esac
"""
# Put this behind it, and pip brings a uv.
BRINGS_UV = """
case "$*" in *" -r requirements-uv.lock"*)
  echo "#!/bin/sh" > .venv/bin/uv; echo "'$0' uv-of-venv \\"\\$@\\"; echo uv 0.9.0" >> .venv/bin/uv
  chmod +x .venv/bin/uv ;;
esac
"""
UV = """
[ "$1" != --version ] || echo uv 0.9.0
"""


def wanted() -> set[str]:
    """A program of each package that the set-up looks for: of ours, and of peers."""
    ours = {tool.programs[0] for tool in tools.table() if WANTED & {*tool.wanted_by}}
    peers = [path.read_text() for path in ROOT.glob("kernels/*/peers/*.yaml")]
    return ours | {re.findall(r"(?m)^tool: *(\S+)", text)[0] for text in peers}


class Place:
    """A copy of what the set-up consists of, and a PATH of stand-ins."""

    def __init__(self, folder: Path):
        self.root = folder / "a checkout"
        self.bin = folder / "bin"
        self.calls_file = folder / "calls"
        self.bin.mkdir()
        self.vendors = folder / "vendors"
        self.vendors.mkdir()
        (self.vendors / "made-up.icd").touch()
        self.headers = folder / "headers"
        (self.headers / RPC_HEADER).parent.mkdir(parents=True)
        (self.headers / RPC_HEADER).touch()
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        setup = self.root / "scripts/setup"
        setup.write_text(setup.read_text().replace("/usr/include", str(self.headers)))
        for path in [ROOT / "Makefile", ROOT / "pyproject.toml", *LOCKS]:
            shutil.copy(path, self.root)
        kernels = [path for kind in KERNELS for path in ROOT.glob(f"kernels/*/{kind}")]
        for path in [ROOT / "benchbook/host/tools.csv", *kernels]:
            copy = self.root / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for tool in wanted() - set(TOOLS):
            self.stand_in(tool)
        self.stand_in("id", "echo 0")
        self.stand_in("python3", PYTHON)
        self.stand_in("uv", UV)
        self.stand_in("apt-get")

    def stand_in(self, name: str, script: str = "") -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.calls_file}"\n{script}\n')
        path.chmod(0o755)

    def remove(self, *names: str) -> None:
        for name in names:
            (self.bin / name).unlink()

    def installs(self, *names: str, condition: str = "") -> None:
        """Make apt-get put these stand-ins in place when it is asked to install."""
        made = "".join(
            f'printf "#!/bin/sh\\n" > {self.bin}/{n}; chmod +x {self.bin}/{n};' for n in names
        )
        self.stand_in("apt-get", f'{condition}\ncase "$*" in *" install "*) {made} ;; esac')

    def calls(self, *names: str) -> list[str]:
        """Return the recorded calls in order, of these programs only, and forget them all."""
        if not self.calls_file.exists():
            return []
        lines = self.calls_file.read_text().splitlines()
        self.calls_file.unlink()
        return [line for line in lines if not names or line.split()[0] in names]

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        known = {"HOME": str(self.root.parent), "OCL_ICD_VENDORS": str(self.vendors)}
        return {"PATH": str(self.bin), **known, **(more or {})}

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.root,
            env=self.environment(more),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def set_up(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return self.run("scripts/setup", *words, **more)
