"""The modules of the kernels: a header and a C file of one name are one, and no two need each
other, neither by the headers that they include nor by the functions and data that they use.
"""

from __future__ import annotations

import graphlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from benchbook.define.catalogue import definition
from benchbook.host import link_libraries
from kernels import ALWAYS, COMMON, KERNELS, all_compiled

INCLUDED = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)
EXPERIMENTS = sorted(path.parent.name for path in KERNELS.glob("*/experiment.yaml"))
CONTROLS = sorted(path.parent.name for path in (KERNELS / "controls").glob("*/kernel.yaml"))
# The harness calls the kernel that it is linked with: this is what a kernel defines for it.
ENTRY = "bench_kernel"
# Several C files without headers of their own behind one header, with what they keep in this one:
# together they are one module, called after it.
STATE = "state.h"
Modules = dict[str, set[str]]


def circle(needs: Modules) -> list[str]:
    """The modules of a circle, in order; empty where there is none."""
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def behind_one_header(folder: Path) -> set[str]:
    """The names of a folder's files that are one module: STATE, the C files that include it and
    have no header, and those whose header it includes."""
    if not (folder / STATE).exists():
        return set()
    names = {"state", *(Path(name).stem for name in INCLUDED.findall((folder / STATE).read_text()))}
    return {name for name in names if (folder / f"{name}.h").exists()} | {
        file.stem
        for file in folder.glob("*.c")
        if STATE in INCLUDED.findall(file.read_text()) and not file.with_suffix(".h").exists()
    }


def joined(needs: Modules, together: set[str], name: str) -> Modules:
    """The modules with some of them taken for one."""
    result: Modules = {}
    for module, needed in needs.items():
        group = result.setdefault(name if module in together else module, set())
        group |= {name if other in together else other for other in needed}
    if together:
        result.get(name, set()).discard(name)
    return result


def includes() -> Modules:
    """Module -> the modules whose headers its header or C file includes."""
    needs: Modules = {}
    for file in sorted(KERNELS.rglob("*.[ch]")):
        module = needs.setdefault(str(file.with_suffix("")), set())
        for name in INCLUDED.findall(file.read_text()):
            folder = next((f for f in (file.parent, COMMON) if (f / name).exists()), None)
            if folder and (folder / name).with_suffix("") != file.with_suffix(""):
                module.add(str((folder / name).with_suffix("")))
    for state in KERNELS.rglob(STATE):
        names = {str(state.parent / name) for name in behind_one_header(state.parent)}
        needs = joined(needs, names, str(state))
    return needs


def symbols(objects: list[Path]) -> Modules:
    """Module -> the modules whose functions or data its object uses, as `nm` lists them."""
    command = ["nm", "--extern-only", "--format=posix", "--print-file-name", *map(str, objects)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    defined: dict[str, str] = {}
    used: Modules = {}
    for line in listing.splitlines():
        file, name, kind = line.split()[:3]
        module = Path(file.rstrip(":")).stem
        if kind in "Uw":
            used.setdefault(module, set()).add(name)
        else:
            defined[name] = module
    return {
        module: {defined[name] for name in names - {ENTRY} if name in defined}
        for module, names in used.items()
    }


@pytest.fixture(scope="module")
def common() -> list[Path]:
    return all_compiled(sorted(COMMON.glob("*.c")), "-O0")


def test_a_circle_is_seen() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}


def test_no_two_modules_include_each_other() -> None:
    needs = includes()
    assert str(COMMON / "emit") in needs[str(COMMON / "cannot_run")]
    assert circle(needs) == []


KERNEL_NAMES = [*EXPERIMENTS, *(f"controls/{name}" for name in CONTROLS)]


def sources_of(name: str, folder: Path) -> tuple[str, list[Path], list[str]]:
    """The compiler of a kernel's base, its sources, and the options that they need; what is made of
    files of Sun RPC comes into the folder."""
    content = definition(ROOT, name)
    compiler = content["variants"][content["base"]]["compiler"]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    needed = link_libraries.find(content, [compiler])
    if needed.missing:
        pytest.skip(needed.missing)
    for procedure in content.get("procedures", []):
        link_libraries.stubs(KERNELS / name / procedure, folder)
    sources = [KERNELS / name / source for source in content["sources"]]
    return compiler, sources, [*needed.compile, f"-I{folder}"]


@pytest.mark.parametrize("name", ["dsm", "nas", "rpc"])
def test_clang_warns_of_nothing(name: str, tmp_path: Path) -> None:
    """Of kernels that it builds with all warnings in `make test-long` alone: its sanitizers."""
    compiler, sources, flags = sources_of(name, tmp_path)
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    command = [compiler if compiler.startswith("mpicc") else "clang", *ALWAYS, *flags]
    quiet = ["-fsyntax-only", "-Wno-unused-command-line-argument"]
    for define in ([], ["-DMPI_OVER_MESSAGES"]) if name == "nas" else ([],):
        done = subprocess.run(
            [*command, *quiet, *define, *map(str, sources)],
            env={**os.environ, "MPICH_CC": "clang", "OMPI_CC": "clang"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_no_two_modules_use_each_other(name: str, common: list[Path], tmp_path: Path) -> None:
    compiler, sources, flags = sources_of(name, tmp_path)
    flags = ["-O0", *flags]
    needs = symbols([*all_compiled(sources, *flags, compiler=compiler), *common])
    assert "refuse" in needs["emit"]
    folder = KERNELS / name  # its sources may be with those of others that have the same names
    together = {part for part in behind_one_header(folder) if (folder / f"{part}.c").exists()}
    assert circle(joined(needs, together, STATE)) == []
