"""How much memory may still be used: MemAvailable, and the cgroups (v1, v2) above this process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchbook.host.sysfs import ROOT, read_int, read_text

_NO_LIMIT_BYTES = 1 << 60  # cgroup v1 writes "no limit" as a number near 2^63


@dataclass(frozen=True)
class Available:
    """Memory that may still be used; `source` names the file that decided, or why it is unknown."""

    bytes: int | None
    source: str


def meminfo(root: Path = ROOT) -> dict[str, int]:
    """The fields of proc/meminfo that are in kB, as bytes; empty when unreadable."""
    text = read_text(root / "proc/meminfo") or ""
    return {k: int(v) << 10 for k, v in re.findall(r"(?m)^(\w+):\s+(\d{1,15}) kB$", text)}


def memory_total_bytes(root: Path = ROOT) -> int | None:
    """All memory in whole GiB, which is the same after every boot; None where it is unknown."""
    total = meminfo(root).get("MemTotal")
    return None if total is None else round(total / 2**30) * 2**30


def memory_available_bytes(root: Path = ROOT) -> Available:
    """The least of MemAvailable and what each memory cgroup above this process still allows."""
    info = meminfo(root)
    bounds = [(info[k], f"proc/meminfo {k}") for k in ("MemAvailable", "MemFree") if k in info][:1]
    for folder, names in _memory_cgroups(root):
        *limits, usage, stat, cache = names
        used = read_int(folder / usage) or 0
        # Page cache that nobody touched lately counts as used but is given back under pressure.
        match = re.search(rf"(?m)^{cache} (\d{{1,18}})$", read_text(folder / stat) or "")
        used = max(0, used - int(match[1])) if match else used
        for name in limits:
            limit = read_int(folder / name)  # `max` is no number: no limit
            if limit is not None and 0 <= limit < _NO_LIMIT_BYTES:
                bounds.append((max(0, limit - used), str((folder / name).relative_to(root))))
    return Available(*min(bounds)) if bounds else Available(None, "proc/meminfo cannot be read")


def _memory_cgroups(root: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Each cgroup folder from this process's own upwards, with its limit, usage and stat files."""
    v2 = ("memory.max", "memory.high", "memory.current", "memory.stat", "inactive_file")
    v1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_inactive_file")
    mounts = {"v2": ("/", "sys/fs/cgroup"), "v1": ("/", "sys/fs/cgroup/memory")}
    for line in reversed((read_text(root / "proc/self/mountinfo") or "").splitlines()):
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) > 4 and len(kind) > 2:
            if kind[0] == "cgroup2":
                mounts["v2"] = (fields[3], fields[4].lstrip("/"))
            elif kind[0] == "cgroup" and "memory" in kind[2].split(","):
                mounts["v1"] = (fields[3], fields[4].lstrip("/"))
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        version = "v1" if "memory" in controllers.split(",") else "v2"
        if version == "v2" and controllers:
            continue
        top, mount = mounts[version]
        base = root / mount
        inside = path == top or path.startswith(top.rstrip("/") + "/")
        # A path from outside this cgroup namespace is not visible here: start at the mount itself.
        below = path[len(top.rstrip("/")) :].strip("/") if inside and ".." not in path else ""
        folder = base / below
        for here in (folder, *folder.parents):
            yield here, v1 if version == "v1" else v2
            if here == base:
                break
