"""What this machine lets us observe: each ability with its state, the reason and the remedy.

A probe is a module of `PROBES`, found by wildcard. It believes no exit code: what counts is asked
to count a loop of a known length. The answers are kept in build/capabilities.json, for one host,
one boot and one user, until a program or a setting that a probe names is another one. No setting
is changed.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from benchbook.core import plugins
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.host import facts
from benchbook.host.capabilities import known_loop
from benchbook.host.capabilities.place import Capability, Place
from benchbook.host.sysfs import ROOT, read_text

__all__ = ["Capability", "all_capabilities", "capability", "table"]
VERSION = 1
PROBES = "benchbook.host.capabilities.probes"
CACHE = Path("build/capabilities.json")


def capability(name: str, checkout: Path = Path(), machine: Path = ROOT) -> Capability:
    """One ability by its name; an unknown name is a mistake of the caller's (LookupError)."""
    for capability in all_capabilities(checkout, machine):
        if capability.name == name:
            return capability
    raise LookupError(f"no probe answers for {name!r}")


def all_capabilities(
    checkout: Path = Path(), machine: Path = ROOT, *, fresh: bool = False
) -> list[Capability]:
    """Every ability, by the name of its probe; `fresh` asks anew, whatever is kept.

    `machine` stands in for `/` where files are read; programs are those on PATH.
    """
    key = _key(machine)
    file = checkout / CACHE
    kept = None if fresh else _kept(file, key)
    if kept is not None:
        return kept
    abilities, in_time = _look(checkout, machine)
    # A machine that was too busy to answer must not lack an ability until it is started again.
    # Only the workflow makes build/; elsewhere nothing is kept.
    if in_time and file.parent.is_dir():
        items = [asdict(ability) for ability in abilities]
        with suppress(OSError):
            write_json(file, {"version": VERSION, "key": key, "items": items})
    return abilities


def table(checkout: Path = Path(), machine: Path = ROOT) -> list[dict[str, str]]:
    """Rows for a page: {name, state, said, remedy}; `said` is what was seen, or the reason."""
    return [
        {
            "name": capability.name,
            "state": capability.state,
            "said": capability.sentence,
            "remedy": capability.remedy,
        }
        for capability in all_capabilities(checkout, machine)
    ]


def _modules() -> list[ModuleType]:
    return plugins.load_all(PROBES)


def _look(checkout: Path, machine: Path) -> tuple[list[Capability], bool]:
    """Ask all probes at once: some wait, none computes for long; and whether all answered."""
    modules = list(_modules())
    with _folder(checkout) as folder:
        place = Place(machine, checkout, folder, known_loop.write(folder))
        with ThreadPoolExecutor(len(modules)) as pool:
            answers = list(pool.map(lambda module: _ask(module, place), modules))
    return [ability for each in answers for ability in each], not place.timed_out


def _ask(module: ModuleType, place: Place) -> list[Capability]:
    try:
        return list(module.look(place))
    except OSError as error:
        reason = f"its probe failed: {error.strerror or error}"
        return [Capability(name, "absent", reason) for name in module.NAMES]


@contextmanager
def _folder(checkout: Path) -> Iterator[Path]:
    """A folder of our own, removed afterwards; in build/, where programs may be started, if any."""
    build = checkout / CACHE.parent
    inside = build if os.access(build, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="capabilities-", dir=inside) as name:
        yield Path(name).absolute()


def _kept(file: Path, key: dict[str, Any]) -> list[Capability] | None:
    try:
        content = read_json(file, VERSION)
        if content["key"] == key:
            return [Capability(**item) for item in content["items"]]
    except (BenchbookError, KeyError, TypeError):
        pass
    return None


def _key(machine: Path) -> dict[str, Any]:
    """What the answers hold for. A remedy that was taken changes it, so that it is seen at once."""
    modules = list(_modules())
    programs = sorted({name for module in modules for name in module.PROGRAMS})
    files = sorted({name for module in modules for name in module.FILES})
    # Few probes ask what depends on any.
    variables = sorted({name for module in modules for name in getattr(module, "VARIABLES", ())})
    status = read_text(machine / "proc/self/status") or ""
    return {
        "host": facts.host_id(facts.facts(machine)),
        "boot_id": read_text(machine / "proc/sys/kernel/random/boot_id"),
        "uid": os.geteuid(),
        "rights": "".join(re.findall(r"(?m)^CapEff:\s*(\w+)", status)),
        "door": facts.door(),
        "names": [name for module in modules for name in module.NAMES],
        "programs": {name: _stamp(shutil.which(name)) for name in programs},
        "files": {
            name: (_setting if name.startswith(("proc/", "sys/")) else _stamp)(machine / name)
            for name in files
        },
        "variables": {name: _variable(name) for name in variables},
    }


def _variable(name: str) -> list[Any] | None:
    """Its value, and a stamp of each file and folder that it names: what is put there counts."""
    value = os.environ.get(name)
    if value is None:
        return None
    return [value, [_stamp(word) for word in value.split(os.pathsep) if "/" in word]]


def _stamp(path: Path | str | None) -> list[Any]:
    """Another one after an upgrade, a chmod or a setcap, and for each device made anew."""
    if path is None:
        return []
    real = Path(path).resolve()
    try:
        seen = real.stat()
    except OSError:
        return []
    if stat.S_ISCHR(seen.st_mode):  # its times are those of the boot, or of nothing
        return [seen.st_mode, seen.st_uid, seen.st_gid]
    return [str(real), seen.st_mode, seen.st_size, seen.st_ctime_ns]


def _setting(path: Path) -> Any:
    """What a file of the kernel says, or a folder holds: neither size nor time tell of a change."""
    try:
        return sorted(entry.name for entry in path.iterdir())
    except OSError:
        return read_text(path)
