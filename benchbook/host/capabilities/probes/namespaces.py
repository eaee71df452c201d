"""Network namespaces: with root's rights, and in a user namespace, which needs none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchbook.host.capabilities.place import (
    Answer,
    Capability,
    Place,
    able,
    as_root,
    first,
    missing,
)
from benchbook.host.sysfs import read_int

NAMES = ("namespaces",)
PROGRAMS = ("unshare",)
_ROOT_ONLY = "lets only root make user namespaces: "
# Settings that forbid them: (file, the value that does, one that does not, in words).
_SETTINGS = (
    ("proc/sys/kernel/unprivileged_userns_clone", 0, 1, f"the kernel {_ROOT_ONLY}"),
    ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1, 0, f"AppArmor {_ROOT_ONLY}"),
    ("proc/sys/user/max_user_namespaces", 0, 15000, ""),
    ("proc/sys/user/max_net_namespaces", 0, 15000, ""),
)
FILES = tuple(setting[0] for setting in _SETTINGS)
_OWN = ("--user", "--map-root-user")


def look(place: Place) -> Iterator[Capability]:
    """Network namespaces: make one and ask for its name; it ends with the program that asks."""
    if first(PROGRAMS) is None:
        yield missing("namespaces", "unshare")
        return
    root = os.geteuid() == 0
    by_user = _enter(place, *_OWN)
    by_root = _enter(place) if root else by_user
    ways = {"with root's rights": root and _is_new(by_root), "without": _is_new(by_user)}
    sentence = ", ".join(
        f"{way}: {'yes' if works else 'no'}"
        for way, works in ways.items()
        if root or way == "without"
    )
    if any(ways.values()):
        yield able("namespaces", f"network namespaces {sentence}", ways=ways)
        return
    for file, bad, good, words in _SETTINGS:
        if read_int(place.machine / file) == bad:
            setting = file.removeprefix("proc/sys/").replace("/", ".")
            remedy = as_root(f"sysctl {setting}={good}")
            yield Capability("namespaces", "denied", f"{words}{setting} is {bad}", remedy)
            return
    state = "denied" if by_root.refused else "absent"
    yield Capability("namespaces", state, by_root.why("unshare --net"))


def _enter(place: Place, *options: str) -> Answer:
    return place.ask("unshare", *options, "--net", "readlink", "/proc/self/ns/net")


def _is_new(answer: Answer) -> bool:
    ours = ""
    with suppress(OSError):
        ours = str(Path("/proc/self/ns/net").readlink())
    name = answer.out.strip()
    return answer.status == 0 and name.startswith("net:[") and name != ours
