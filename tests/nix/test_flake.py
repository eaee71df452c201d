"""The flake's own logic under real Nix, with a package set made of this host's programs.

What this cannot show: that the packages of nixpkgs build, and what its compiler wrappers do.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
NAMED += [name for name in ("rpcgen",) if shutil.which(name)]  # the host's own, as all stand-ins
# A check runs them as they are, and they start nothing; all the others are left out here for time.
FEW_TESTS = [
    "test_records.py",
    "test_stats_summaries.py",
    "starts_nothing.py",
    "conftest.py",
    "browser.py",
]


@dataclass
class Place:
    """A checkout, tracked by git as a user's is, with one Nix and the stand-in for nixpkgs."""

    nix: Nix
    checkout: Path
    nixpkgs: Path

    def run(self, verb: str, *words: str, **more: float) -> subprocess.CompletedProcess[str]:
        """`nix VERB --override-input nixpkgs path:… WORDS`, never writing the lock."""
        given = ("--override-input", "nixpkgs", f"path:{self.nixpkgs}", "--no-write-lock-file")
        return self.nix.run(self.checkout, *verb.split(), *given, *words, **more)

    def made(self, verb: str, *words: str, **more: float) -> subprocess.CompletedProcess[str]:
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


@pytest.fixture(autouse=True)
def the_lock_stays(place: Place) -> Iterator[None]:
    yield
    assert (place.checkout / "flake.lock").read_bytes() == (ROOT / "flake.lock").read_bytes()


def variables(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_the_shell_has_the_names_and_says_three_lines(place: Place) -> None:
    script = f"for name in {' '.join(NAMED)}; do command -v $name; done; env"
    done = place.made("develop", "-c", "sh", "-c", script)
    lines = done.stdout.splitlines()
    assert [Path(line).name for line in lines[: len(NAMED)]] == NAMED, "and nothing before them"
    assert all(line.startswith(str(place.nix.place)) for line in lines[: len(NAMED)])
    seen = variables(done.stdout)
    assert seen["BENCHBOOK_DOOR"] == "nix"
    assert seen["BENCHBOOK_NIX_REVISION"]
    # Neither hardening nor a dropped -march=native, nor what hooks leave in every command line.
    assert (seen["NIX_HARDENING_ENABLE"], seen["NIX_ENFORCE_NO_NATIVE"]) == ("", "0")
    assert not {"NIX_CFLAGS_COMPILE", "NIX_LDFLAGS"} & seen.keys()
    greeting = done.stderr.splitlines()[-3:]
    assert greeting[0].startswith("Benchbook: ")
    assert [line.split("  ")[1] for line in greeting[1:]] == ["snakemake", "benchbook doctor"]


def test_no_nix_is_left_on_path(place: Place) -> None:
    assert place.run("develop", "-c", "sh", "-c", "command -v nix").returncode != 0
    assert shutil.which("nix") is None or not shutil.which("nix").startswith(str(ROOT))


def test_rules_find_the_python_that_has_the_library(place: Place) -> None:
    """Snakemake's own wrapper would put a Python without it first on the PATH of every rule."""
    rule = place.checkout.parent / "rule"
    rule.write_text("rule one:\n    shell: \"python3 -c 'import numpy, benchbook; print(2)'\"\n")
    done = place.made("develop", "-c", "snakemake", "-q", "all", "-s", str(rule))
    assert done.stdout == "2\n"


@pytest.mark.timeout(WORKFLOW_LIMIT_S + 120)
def test_a_workflow_runs(place: Place) -> None:
    if place.nix.program.parent.name != nix_programs.suites()[0]:
        pytest.skip("measured once, with the Nix of this Debian; `nix run` builds with both")
    place.made("develop", "-c", "snakemake", *TINY, limit_s=WORKFLOW_LIMIT_S)
    assert (place.checkout / "reports" / "figures" / f"{FIGURE}.html").stat().st_size > 2000
    (plan,) = place.checkout.glob("data/runs/*/mbw/*/plan.json")
    assert json.loads(plan.read_text())["door"] == "nix"


def test_nix_run_builds_by_the_names_of_the_shell(place: Place) -> None:
    made = [f"build/mbw/{variant}/variant.json" for variant in ("gcc-O3", "clang-O2")]
    place.made("run", ".", "--", *made)
    records = [json.loads((place.checkout / path).read_text()) for path in made]
    assert [record["compiler"] for record in records] == ["gcc", "clang"]
    for record in records:
        # On a host without that compiler it is a result too, but never "failed".
        wanted = "ok" if shutil.which(record["compiler"]) else "cannot_run"
        assert record["state"] == wanted


def test_the_package_is_the_command(place: Place) -> None:
    done = place.made("run", f".#packages.{SYSTEM}.default", "--", "plan", "--help")
    assert "--config" in done.stdout


def test_checks_are_evaluated_and_built(place: Place, tmp_path: Path) -> None:
    if place.nix.program.parent.name != nix_programs.suites()[0]:
        done = place.made("flake check", "--no-build", "--all-systems")
        assert "warning: app" not in done.stderr
        return
    few = tracked(copy_checkout(tmp_path / "checkout"))
    for path in (few / "tests").glob("*"):
        if path.is_file() and path.name not in FEW_TESTS:
            path.unlink()
    done = Place(place.nix, few, place.nixpkgs).made("flake check", "--print-build-logs")
    assert "lint: clean" in done.stderr
    assert " passed" in done.stderr


def test_the_formatter_runs(place: Place) -> None:
    place.made("fmt")
    assert (place.checkout / "formatted").exists()


def test_only_x86_has_likwid(place: Place) -> None:
    def tools(system: str) -> list[str]:
        which = f".#devShells.{system}.default.packages"
        return json.loads(place.made("eval", which, "--json", "--apply", "map (p: p.name)").stdout)

    assert sorted(set(tools("x86_64-linux")) - set(tools("aarch64-linux"))) == ["likwid"]


@pytest.mark.parametrize("name", ["gcc14", "python3Packages.scipy", "lib.genAttrs"])
def test_a_name_that_nixpkgs_lacks_is_an_error_that_names_it(
    place: Place, tmp_path: Path, name: str
) -> None:
    poorer = Place(place.nix, place.checkout, stand_in.make(tmp_path / "stand-in", name))
    done = poorer.run("eval", f".#devShells.{SYSTEM}.default.drvPath")
    assert done.returncode != 0
    assert f"attribute '{name.split('.')[-1]}' missing" in done.stderr
