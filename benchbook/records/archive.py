"""`benchbook record`: complete runs copied to data/recorded/<host>/, which the repository keeps.

A run is copied whole, nothing thinned: beside it the variants, the commit, and checksums in the
format of sha256sum. Whoever reads a recorded run verifies them first.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json, write_text
from benchbook.define import catalogue
from benchbook.records import journal, seal

VERSION = 1
FOLDER = Path("data/recorded")
SUMS, VARIANTS, ORIGIN, HOST = "SHA256SUMS", "variants.json", "recorded.json", "host.json"
LARGEST_BYTES = 5 * 10**6  # of a run; a repository is no archive
_NAME = re.compile(r"[\w+-][\w.+-]{0,199}", re.ASCII)
_KINDS: dict[str, type] = {
    **dict.fromkeys(("compiler", "compiler_version", "state", "reason", "sha256"), str),
    **dict.fromkeys(("flags", "isa"), list),
    **dict.fromkeys(("wrapper", "peer"), dict),
}
KEPT = ("variant", "compiler", "compiler_version", "flags", "wrapper", "state", "reason", "isa")


def record(root: Path, names: list[str]) -> list[Path]:
    """Copy each named run: its folder, its pointer's folder in results/, or an experiment of which
    results/ has one pointer. Returns where they are."""
    return [_copy(root, pointer) for pointer in [_pointer(root, name) for name in names]]


def _pointer(root: Path, name: str) -> dict[str, Any]:
    """The pointer that leads to a run: it also tells which variants were measured."""
    pointers = {path: read_json(path) for path in sorted(root.glob("results/*/*/*/current.json"))}
    wanted = {name.rstrip("/"), str(Path(name).resolve())}
    found = [
        pointer
        for path, pointer in pointers.items()
        if wanted
        & {
            pointer["experiment"],
            pointer["run"],
            pointer["folder"],
            str(path.parent.relative_to(root)),
        }
        or str((root / pointer["folder"]).resolve()) in wanted
    ]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(
            f"results/{pointer['host']}/{pointer['preset']}/{pointer['experiment']}"
            for pointer in found
        )
        raise BenchbookError(f"{name} has several runs; name one of {several}")
    raise BenchbookError(
        f"no results name a run {name!r}; give an experiment or a run that `snakemake` has "
        "measured here"
    )


def _copy(root: Path, pointer: dict[str, Any]) -> Path:
    run = root / pointer["folder"]
    if not (run / journal.MANIFEST).exists():
        raise BenchbookError(f"{pointer['folder']} is not complete; run `snakemake` to end it")
    if run.name.endswith(catalogue.SETTLING):
        raise BenchbookError(f"{run.name} settles one claim only; record the whole run instead")
    seal.verify(run)
    size = sum(file.stat().st_size for file in run.rglob("*") if file.is_file())
    if size > LARGEST_BYTES:
        raise BenchbookError(
            f"{run.name} has {size / 1e6:.1f} MB, and {LARGEST_BYTES / 1e6:.0f} MB is the most "
            "that the repository keeps of a run; record one of a smaller preset"
        )
    home = root / FOLDER / pointer["host"]
    target = home / pointer["experiment"] / run.name
    if target.exists():
        verify(target)
        return target
    draft = target.with_name(f".{target.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(run, draft)
    complete(draft, _variants(root, pointer), _origin(root, pointer))
    draft.replace(target)
    write_json(home / HOST, read_json(run / journal.PLAN)["host_facts"])
    return target


def complete(run: Path, variants: list[dict[str, Any]], origin: dict[str, Any]) -> None:
    """Write next to a run's own files what makes it a recorded one; the checksums last."""
    write_json(run / VARIANTS, {"version": VERSION, "items": variants})
    write_json(run / ORIGIN, {"version": VERSION, **origin})
    write_text(run / SUMS, "".join(f"{digest}  {name}\n" for name, digest in _sums(run)))


def _variants(root: Path, pointer: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        recorded_variant(name, read_json(root / folder / "variant.json"))
        for name, folder in pointer["variants"].items()
    ]


def recorded_variant(name: str, built: dict[str, Any]) -> dict[str, Any]:
    """What is recorded of a variant, out of its variant.json."""
    about = {key: built.get(key) for key in KEPT} | {"variant": name}
    return about | {"peer": built.get("peer"), "sha256": built.get("binary", {}).get("sha256")}


def variants(run: Path) -> dict[str, dict[str, Any]]:
    """{name: what was recorded of it} for each variant of a recorded run, which may be somebody
    else's; BenchbookError where its names are none, or its values of another kind."""
    path = run / VARIANTS
    items = read_json(path)["items"]
    if not isinstance(items, list):
        items = [items]
    for item in items:
        if reason := odd_part(item):
            raise BenchbookError(f"{path} has an odd {reason}; record the run anew, or remove it")
    return {item["variant"]: item for item in items}


def odd_part(item: Any) -> str:
    """The first part of what was recorded of a variant that is of another kind than it should be;
    "" where all is well. A name becomes the name of a folder."""
    if not isinstance(item, dict):
        return "variant"
    name = item.get("variant")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "name of a variant"
    for key, kind in _KINDS.items():
        value = item.get(key)
        words = value if isinstance(value, list) else []
        if not isinstance(value, kind | None) or not all(isinstance(word, str) for word in words):
            return f"{key!r} of a variant"
    return ""


def _origin(root: Path, pointer: dict[str, Any]) -> dict[str, Any]:
    """The checkout when it was recorded: its commit, whether anything was changed in it, and what
    measures and records such a run."""
    preset, experiment = pointer["preset"], pointer["experiment"]
    return {
        "recorded_at_commit": _git(root, "rev-parse", "HEAD"),
        "changed": bool(_git(root, "status", "--porcelain", "--untracked-files=no")),
        "command": f"snakemake --config preset={preset}; benchbook record {experiment}",
    }


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        raise BenchbookError(
            "the commit of this checkout is unknown to git; record runs in a clone"
        ) from None
    return done.stdout.strip()


def _sums(folder: Path) -> list[tuple[str, str]]:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != SUMS)
    return [
        (str(file.relative_to(folder)), hashlib.sha256(file.read_bytes()).hexdigest())
        for file in files
    ]


def verify(run: Path) -> None:
    """Refuse a recorded run that is not what was recorded; one without checksums was not."""
    if wrong := changed_files(run):
        raise BenchbookError(
            f"{run / wrong[0]} is not what was recorded; restore it with git, or remove {run}"
        )


def changed_files(run: Path) -> list[str]:
    """The files of a recorded run that are not what was recorded; none where it has no
    checksums."""
    path = run / SUMS
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    stated = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    present = dict(_sums(run))
    return sorted(name for name in {**stated, **present} if stated.get(name) != present.get(name))
