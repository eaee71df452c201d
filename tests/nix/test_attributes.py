"""What flake.nix takes from nixpkgs is in attributes.txt, with the place where it was seen."""

import json
import re
import tomllib

import stand_in
from stand_in import ROOT

FLAKE = (ROOT / "flake.nix").read_text()
# A member of a package, not another package.
MEMBERS = r"\.(overrideAttrs)$"


def named() -> set[str]:
    """Every attribute that flake.nix names, itself or through the packages of pyproject.toml."""
    code = re.sub(r"^\s*#.*$", "", FLAKE, flags=re.MULTILINE)
    found = set(re.findall(r"\bpkgs\.([\w-]+(?:\.[a-zA-Z][\w-]*)?)", code))
    for group in re.findall(r"inherit \(pkgs\)([^;]+);", code):
        found |= set(group.split())
    found |= {f"lib.{name}" for name in re.findall(r"\blib\.(\w+)", code)}
    found |= {f"python3Packages.{name}" for name in re.findall(r"\bps\.(\w+)", code)}
    found = {re.sub(MEMBERS, "", name) for name in found}
    return found | {f"python3Packages.{name}" for name in modules()}


def modules() -> set[str]:
    """Names of the required Python packages that are no program in nixpkgs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    lines = [*project["project"]["dependencies"], *groups["test"], *groups["lab"]]
    names = {re.match(r"[\w-]+", line)[0] for line in lines}
    return names - {"clang-format", "ruff", "snakefmt", "snakemake"}


def test_every_attribute_was_seen_somewhere() -> None:
    known = stand_in.attributes()
    assert named() - known.keys() == set(), "named in flake.nix, not in attributes.txt"
    assert known.keys() - named() == set(), "in attributes.txt, not named in flake.nix"
    for name, seen in known.items():
        assert re.fullmatch(r"(pkgs|lib)/\S+\.nix", seen), name


def test_names_stand_once_and_in_order() -> None:
    lines = (stand_in.HERE / "attributes.txt").read_text().splitlines()
    names = [line.split()[0] for line in lines if not line.startswith("#")]
    assert names == sorted(set(names))


def test_the_lock_pins_the_one_input_of_the_flake() -> None:
    lock = json.loads((ROOT / "flake.lock").read_text())
    assert lock["version"] == 7
    assert lock["nodes"].keys() == {"root", "nixpkgs"}
    locked, original = (lock["nodes"]["nixpkgs"][name] for name in ("locked", "original"))
    url = "{type}:{owner}/{repo}/{ref}".format(**original)
    assert re.findall(r"inputs\.\S+ = \"(\S+)\";", FLAKE) == [url]
    assert (locked["owner"], locked["repo"]) == (original["owner"], original["repo"])
    assert re.fullmatch(r"[0-9a-f]{40}", locked["rev"])
    assert re.fullmatch(r"sha256-[A-Za-z0-9+/]{43}=", locked["narHash"])


def test_no_python_package_comes_from_elsewhere() -> None:
    assert not re.search(r"\bpip\b|\buv\b|\.venv", FLAKE)
