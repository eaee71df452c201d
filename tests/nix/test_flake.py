"""The flake's own logic under real Nix, with a package set made of this host's programs.

What this cannot show: that the packages of nixpkgs build, and what its compiler wrappers do.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nix_programs
import pytest
import stand_in
from conftest import copy_checkout
from nix_programs import ROOT, Nix

SYSTEM = f"{platform.machine()}-linux"
FIGURE = "slocum2013-mbw/mbw-32"
# A larger budget, for a host that is busy; eight blocks as in tiny, and no more.
TINY = ("--config", "preset=tiny", "budget_s=60", f"figure={FIGURE}")
WORKFLOW_LIMIT_S = 240
NAMED = ["gcc", "gcc-alt", "clang", "snakemake", "python3", "benchbook", "mbw", "ldd", "objdump"]
NAMED += ["mpicc.mpich", "mpiexec.mpich", "mpicc.openmpi", "mpiexec.openmpi"]
COMPILERS = ["gcc", "gcc-alt", "clang", "mpicc.mpich", "mpicc.openmpi"]
# The words of flake.nix that keep frame pointers out of command lines.
MEND = ' + "\\n: >$out/nix-support/cc-cflags-before\\n"'
SHELL_AND_FOLDER = "echo $BENCHBOOK_DOOR $BENCHBOOK_SHELL; pwd"
# Reaches every pin, and takes the stand-in for it.
NIX_WITH_STAND_IN = """#!/bin/sh
case "$*" in *' flake metadata '*) exit ;; esac
for word; do
    shift
    set -- "$@" "$word"
    [ "$word" != develop ] || set -- "$@" {overrides}
done
exec {program} "$@"
"""
# Prints {compiler: flags that a wrapper added or dropped}; {} of one that the host does not have.
WRAPPERS = """
import json, shutil, sys
from pathlib import Path
from typing import Any
from benchbook.build.effective_flags import Line, look
seen = {}
for name in sys.argv[1:]:
    line = Line([shutil.which(name)], Path("kernels/mbw/mbw.c").absolute(), ["-Ikernels/common"])
    wrapper = look(line, ["-O3", "-march=native"])["wrapper"]
    if wrapper["state"] != "unknown":
        seen[name] = sorted(wrapper["added"] + wrapper["dropped"])
print(json.dumps(seen))
"""
NAMED += [name for name in ("rpcgen",) if shutil.which(name)]  # the host's own, as all stand-ins
# A check runs them as they are, and they start nothing; all the others are left out here for time.
FEW_TESTS = [
    "test_records.py",
    "test_stats_summaries.py",
    "starts_nothing.py",
    "conftest.py",
    "browser.py",
    "hostile_table.py",
    "debian.py",  # imported by the tests beside this one
]


@dataclass
class Place:
    """A checkout, tracked by git as a user's is, with one Nix and the stand-in for nixpkgs."""

    nix: Nix
    checkout: Path
    nixpkgs: Path

    def run(self, verb: str, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """`nix VERB --override-input nixpkgs path:… WORDS`, never writing the lock."""
        return self.nix.run(self.checkout, *verb.split(), *self.overrides(), *words, **more)

    def overrides(self) -> list[str]:
        """The options of nix that put the stand-in in the place of nixpkgs."""
        return ["--override-input", "nixpkgs", f"path:{self.nixpkgs}", "--no-write-lock-file"]

    def added_flags(self) -> dict[str, list[str]]:
        """Compiler -> flags that its wrapper in the shell adds to -O3 -march=native or drops."""
        start = ("env", "PYTHONPATH=.", "python3", "-c", WRAPPERS, *COMPILERS)
        return json.loads(self.made("develop", "-c", *start).stdout)

    def made(self, verb: str, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """What `run` gives; it must succeed."""
        done = self.run(verb, *words, **more)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done


def tracked(checkout: Path) -> Path:
    """The checkout as a git tree: a flake in one sees the tracked files only."""
    for words in (["init", "-q"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    return checkout


# The newer one takes as long again.
SUITES = [
    pytest.param(suite, marks=pytest.mark.long) if suite == nix_programs.NEWER else suite
    for suite in nix_programs.suites()
]


@pytest.fixture(scope="module", params=SUITES)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    program = nix_programs.fetched(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    nix = Nix(program, folder / "nix")
    nix.place.mkdir()
    checkout = tracked(copy_checkout(folder / "checkout"))
    return Place(nix, checkout, stand_in.make(folder / "stand-in"))


def unmended(place: Place, folder: Path) -> Place:
    """A checkout whose flake leaves the compilers of nixpkgs as they are, with the same Nix."""
    checkout = copy_checkout(folder / "unmended")
    flake = checkout / "flake.nix"
    text = flake.read_text()
    assert text.count(MEND) == 1
    flake.write_text(text.replace(MEND, ""))
    return Place(place.nix, tracked(checkout), place.nixpkgs)


@pytest.fixture(autouse=True)
def the_lock_stays(place: Place) -> Iterator[None]:
    yield
    assert (place.checkout / "flake.lock").read_bytes() == (ROOT / "flake.lock").read_bytes()


def variables(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_the_shell_has_the_names_and_says_three_lines(place: Place) -> None:
    script = f"for name in {' '.join(NAMED)}; do command -v $name; done; env"
    callers = {"MPLBACKEND": "agg", "PYTHONPATH": "/nowhere", "LC_ALL": "de_DE.UTF-8"}
    done = place.made("develop", "-c", "sh", "-c", script, **callers)
    lines = done.stdout.splitlines()
    assert [Path(line).name for line in lines[: len(NAMED)]] == NAMED, "and nothing before them"
    assert all(line.startswith(str(place.nix.place)) for line in lines[: len(NAMED)])
    seen = variables(done.stdout)
    assert seen["BENCHBOOK_DOOR"] == "nix"
    assert seen["BENCHBOOK_NIX_REVISION"]
    # Neither hardening nor a dropped -march=native, nor what hooks leave in every command line.
    assert (seen["NIX_HARDENING_ENABLE"], seen["NIX_ENFORCE_NO_NATIVE"]) == ("", "0")
    assert not {"NIX_CFLAGS_COMPILE", "NIX_LDFLAGS"} & seen.keys()
    # Nor what a caller's shell or the hooks of a Python application would change.
    assert not {"MPLBACKEND", "PYTHONPATH", "PYTHONHASHSEED"} & seen.keys()
    assert seen["LC_ALL"] == "C.UTF-8"
    greeting = done.stderr.splitlines()[-3:]
    assert greeting[0].startswith("Benchbook: ")
    assert [line.split("  ")[1] for line in greeting[1:]] == ["snakemake", "benchbook doctor"]


def test_no_wrapper_changes_a_flag(place: Place, tmp_path: Path) -> None:
    flags = place.added_flags()
    assert {"gcc", "gcc-alt"} <= flags.keys()
    assert set(map(tuple, flags.values())) == {()}
    flags = unmended(place, tmp_path).added_flags()
    for compiler, changed in flags.items():
        assert [flag for flag in changed if "frame-pointer" in flag], compiler


@pytest.mark.parametrize(
    ("shell", "has"),
    [("default", []), ("test", ["pytest", "ruff", "snakefmt"]), ("lab", ["jupyter"])],
)
def test_each_shell_has_what_its_make_starts(place: Place, shell: str, has: list[str]) -> None:
    script = "echo $BENCHBOOK_SHELL; for name in pytest ruff snakefmt jupyter; do "
    script += "if command -v $name >$TMPDIR/here && grep -q $NIX_STORE_DIR $TMPDIR/here; "
    script += "then echo $name; fi; done; env | grep PYTHONHASHSEED"
    done = place.run("develop", f".#{shell}", "-c", "sh", "-c", script)
    assert done.stdout.split() == [shell, *has]


def test_a_package_of_another_shell_that_does_not_build_breaks_no_workflow(
    place: Place, tmp_path: Path
) -> None:
    poorer = Place(place.nix, place.checkout, stand_in.make(tmp_path / "tests", broken=("ruff",)))
    poorer.made("develop", "-c", "true")
    assert poorer.run("develop", ".#test", "-c", "true").returncode != 0
    # What does break the shell of the workflow is seen by `nix flake check`.
    poorer = Place(place.nix, place.checkout, stand_in.make(tmp_path / "shell", broken=("gcc14",)))
    done = poorer.run("build", f".#checks.{SYSTEM}.shell", "--no-link")
    assert done.returncode != 0
    assert "gcc14.drv" in done.stderr
    place.made("build", f".#checks.{SYSTEM}.shell", "--no-link")


@pytest.mark.parametrize("name", ["a # b?c", "plain"])
def test_in_env_takes_the_shell_of_a_checkout_of_any_name(
    place: Place, tmp_path: Path, name: str
) -> None:
    if place.nix.program.parent.name != nix_programs.NEWER:
        pytest.skip("in-env does not take a Nix that is too old for the pin")
    checkout = tracked(copy_checkout(tmp_path / name))
    overrides = shlex.join(Place(place.nix, checkout, place.nixpkgs).overrides())
    program = tmp_path / "bin" / "nix"
    program.parent.mkdir()
    program.write_text(NIX_WITH_STAND_IN.format(overrides=overrides, program=place.nix.program))
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [str(checkout / "scripts" / "in-env"), "--with", "test", "sh", "-c", SHELL_AND_FOLDER],
        cwd=checkout / "kernels",
        env=place.nix.environment(PATH=path),
        capture_output=True,
        text=True,
        timeout=nix_programs.LIMIT_S,
        check=False,
    )
    assert done.stdout.splitlines() == ["nix test", str(checkout / "kernels")], done.stderr


def test_the_callers_drivers_of_opencl_and_libraries_are_kept(place: Place, tmp_path: Path) -> None:
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    (vendors / "gpu.icd").write_text("libgpu.so.1\n")
    caller = {"OCL_ICD_VENDORS": str(vendors), "LD_LIBRARY_PATH": "/of/the/caller"}
    # `benchbook` sets the same once more: nothing may grow by it.
    script = "ls $OCL_ICD_VENDORS; cat $OCL_ICD_VENDORS/gpu.icd; env; . $(grep -o '/.*settle' "
    script += "$(command -v benchbook)); echo again=$LD_LIBRARY_PATH; echo once=$OCL_ICD_VENDORS"
    done = place.made("develop", "-c", "bash", "-c", script, **caller)
    assert done.stdout.splitlines()[:3] == ["gpu.icd", "pocl.icd", "libgpu.so.1"]
    seen = variables(done.stdout)
    folders = seen["LD_LIBRARY_PATH"].split(":")
    assert folders[0].endswith("-ocl-icd/lib")
    assert "/run/opengl-driver/lib" in folders
    assert folders[-1] == "/of/the/caller"
    assert (seen["again"], seen["once"]) == (seen["LD_LIBRARY_PATH"], seen["OCL_ICD_VENDORS"])
    # A caller who wants one driver has that one.
    caller["OCL_ICD_VENDORS"] = str(vendors / "gpu.icd")
    done = place.made("develop", "-c", "sh", "-c", "echo $OCL_ICD_VENDORS", **caller)
    assert done.stdout.strip() == caller["OCL_ICD_VENDORS"]


@pytest.fixture(scope="module")
def built(place: Place) -> dict[str, dict[str, Any]]:
    """What one `nix run` built, by the variant's name; the peer where this host has it."""
    names = ["gcc-O3", "clang-O2", *(["mbw-1.2.2"] if shutil.which("mbw") else [])]
    paths = {name: f"build/mbw/{name}/variant.json" for name in names}
    place.made("run", ".", "--", *paths.values())
    return {name: json.loads((place.checkout / path).read_text()) for name, path in paths.items()}


def test_the_peer_of_the_shell_has_its_version(place: Place, built: dict[str, Any]) -> None:
    """No package manager of the host knows the program of a store."""
    if "mbw-1.2.2" not in built:
        pytest.skip("mbw is absent")
    record = built["mbw-1.2.2"]
    assert record["binary"]["file"].startswith(str(place.nix.place))
    assert (record["peer"]["version"], record["state"]) == ("1.2.2", "ok")


def test_the_image_has_the_names_of_the_shell(place: Place, tmp_path: Path) -> None:
    image = tmp_path / "image"
    place.made("build", ".#image", "--out-link", str(image))
    config = json.loads(subprocess.run([image], check=True, capture_output=True).stdout)
    seen = variables("\n".join(config["Env"]))
    for name in NAMED:
        assert shutil.which(name, path=seen["PATH"]), name
    assert (seen["BENCHBOOK_DOOR"], seen["NIX_HARDENING_ENABLE"]) == ("nix", "")
    # `make` in it takes what is here, and nothing but the image is needed.
    in_env = [*config["Entrypoint"], str(place.checkout / "scripts" / "in-env"), "env"]
    done = subprocess.run(in_env, env=seen, check=True, capture_output=True, text=True)
    inside = variables(done.stdout)
    assert (inside["BENCHBOOK_DOOR"], inside["LC_ALL"]) == ("nix", "C.UTF-8")
    assert "/run/opengl-driver/lib" in inside["LD_LIBRARY_PATH"]


def test_no_nix_is_left_on_path(place: Place) -> None:
    assert place.run("develop", "-c", "sh", "-c", "command -v nix").returncode != 0
    assert shutil.which("nix") is None or not shutil.which("nix").startswith(str(ROOT))


def test_rules_find_the_python_that_has_the_library(place: Place) -> None:
    """Snakemake's own wrapper would put a Python without it first on the PATH of every rule."""
    rule = place.checkout.parent / "rule"
    rule.write_text("rule one:\n    shell: \"python3 -c 'import numpy, benchbook; print(2)'\"\n")
    done = place.made("develop", "-c", "snakemake", "-q", "all", "-s", str(rule))
    assert done.stdout == "2\n"


def impure_flags(place: Place) -> list[str]:
    """The points of mbw with the finding impure-flags, after a workflow in the shell."""
    place.made("develop", "-c", "snakemake", *TINY, limit_s=WORKFLOW_LIMIT_S)
    assert (place.checkout / "reports" / "figures" / f"{FIGURE}.html").stat().st_size > 2000
    (plan,) = place.checkout.glob("data/runs/*/mbw/*/plan.json")
    assert json.loads(plan.read_text())["door"] == "nix"
    (analysis,) = place.checkout.glob(f"results/*/tiny/figures/{FIGURE}/mbw/analysis.json")
    findings = json.loads(analysis.read_text())["findings"]
    assert findings
    return [
        point
        for finding in findings
        if finding["artefact"] == "impure-flags"
        for point in finding["where"]
    ]


@pytest.mark.timeout(WORKFLOW_LIMIT_S + 120)
def test_a_workflow_runs_and_calls_no_figure_impure(place: Place) -> None:
    assert impure_flags(place) == []


@pytest.mark.long
@pytest.mark.timeout(WORKFLOW_LIMIT_S + 120)
def test_with_the_compilers_of_nixpkgs_as_they_are_every_figure_is_impure(
    place: Place, tmp_path: Path
) -> None:
    assert impure_flags(unmended(place, tmp_path))


def test_nix_run_builds_by_the_names_of_the_shell(built: dict[str, Any]) -> None:
    records = [built[name] for name in ("gcc-O3", "clang-O2")]
    assert [record["compiler"] for record in records] == ["gcc", "clang"]
    for record in records:
        # On a host without that compiler it is a result too, but never "failed".
        wanted = "ok" if shutil.which(record["compiler"]) else "cannot_run"
        assert record["state"] == wanted
        if wanted == "ok":
            assert record["wrapper"]["state"] == "unchanged", record["wrapper"]


def test_the_package_is_the_command(place: Place) -> None:
    done = place.made("run", f".#packages.{SYSTEM}.default", "--", "plan", "--help")
    assert "--config" in done.stdout


def test_checks_are_evaluated_and_built(place: Place, tmp_path: Path) -> None:
    if place.nix.program.parent.name != nix_programs.suites()[0]:
        done = place.made("flake check", "--no-build", "--all-systems")
        assert "warning: app" not in done.stderr
        return
    few = tracked(copy_checkout(tmp_path / "checkout"))
    for path in [*(few / "tests").glob("*"), *(few / "tests/hostile").glob("*")]:
        if path.is_file() and path.name not in FEW_TESTS:
            path.unlink()
    done = Place(place.nix, few, place.nixpkgs).made("flake check", "--print-build-logs")
    assert "lint: clean" in done.stderr
    assert " passed" in done.stderr


def test_the_formatter_runs(place: Place) -> None:
    place.made("fmt")
    assert (place.checkout / "formatted").exists()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86 has likwid")
def test_compilers_see_likwid(place: Place) -> None:
    """Programs that mark regions are built with its header and its library."""
    done = place.made("develop", "-c", "sh", "-c", 'cat "$(command -v gcc)"')
    assert re.search(r"C_INCLUDE_PATH=\S*-likwid/include", done.stdout)
    assert re.search(r"LIBRARY_PATH=\S*-likwid/lib", done.stdout)


def test_only_x86_has_likwid(place: Place) -> None:
    def tools(system: str) -> list[str]:
        which = f".#devShells.{system}.default.packages"
        return json.loads(place.made("eval", which, "--json", "--apply", "map (p: p.name)").stdout)

    assert sorted(set(tools("x86_64-linux")) - set(tools("aarch64-linux"))) == ["likwid"]


FEW_NAMES = ["gcc14", "python3Packages.scipy", "lib.genAttrs"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in FEW_NAMES else pytest.mark.long)
        for name in stand_in.attributes()
        # The flake takes the one of these two that the revision has.
        if name not in ("perf", "linuxPackages.perf")
    ],
)
def test_a_name_that_nixpkgs_lacks_is_an_error_that_names_it(
    place: Place, tmp_path: Path, name: str
) -> None:
    poorer = Place(place.nix, place.checkout, stand_in.make(tmp_path / "stand-in", name))
    # `nix flake check` leaves the formatter alone.
    done = poorer.run("fmt" if name == "nixfmt-tree" else "flake check --no-build")
    assert done.returncode != 0
    # Of a set with no other member the set is missing.
    assert any(f"attribute '{part}' missing" in done.stderr for part in name.split("."))
