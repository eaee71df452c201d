"""Where the file of a run lies, by what the log shows of the mounts: fstab, mount, df -T, findmnt.

Only shares of another host and file systems in memory: what lies on a disk is told by no name.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log, Report
from benchbook.explain.readers.common.command_lines import option

_KINDS = (
    "9p", "nfs", "nfs4", "cifs", "smb3", "virtiofs", "tmpfs", "ramfs", "vboxsf", "prl_fs", "vmhgfs",
    "glusterfs", "ceph", "lustre", "beegfs", "gpfs", "afs", "fuse.sshfs", "fuse.s3fs",
    "fuse.vmhgfs-fuse",
    "fuse.glusterfs", "fuse.juicefs", "fuse.rclone",
)  # fmt: skip
_KIND = rf"(?P<kind>{'|'.join(sorted(map(str, _KINDS), key=len, reverse=True))})"
_PLACE = r"(?P<place>/[\w./@+-]{0,200})"
_LINES = (
    late(rf"^\s{{0,8}}\S{{1,200}} on {_PLACE} type {_KIND} \("),  # mount
    late(rf"^\s{{0,8}}\S{{1,200}}\s+{_PLACE}\s+{_KIND}\s+\S{{1,400}}(?:\s+\d\s+\d)?\s*$"),  # fstab
    late(
        rf"^\s{{0,8}}\S{{1,200}}\s+{_KIND}\s+[\d.]+\S?(?:\s+[\d.]+\S?){{2}}\s+\d+%\s+{_PLACE}\s*$"
    ),
    late(rf"^\s{{0,8}}(?:[\u251c\u2514\u2502\u2500 ]{{0,8}}){_PLACE}\s+\S{{1,200}}\s+{_KIND}\s+\S"),
)
_CD = late(r"^\s{0,8}(?:[^\s$#>]{0,60}[$#>] ?)?cd (?P<place>/[\w./@+-]{0,200})\s*$")
_OUTPUTS = ("--filename", "-filename", "--directory", "-directory")
_MOST = 200  # lines that name a mount


class _Mount(NamedTuple):
    place: str
    kind: str
    line: int


def tell(log: Log, reports: list[Report]) -> None:
    """Give each run of a disk's test the file system of its file."""
    tests = [report for report in reports if report.tool in ("dd", "fio", "ioping", "iozone")]
    mounts = list(islice(_mounts(log), _MOST)) if tests else []
    if not mounts:
        return
    moves = [
        (line.number, match["place"])
        for line in log.having("cd /")
        if (match := _CD.match(line.text[:300]))
    ]
    for report in tests:
        above = bisect_left(moves, report.line, key=lambda move: move[0])
        folder = moves[above - 1][1] if above else ""
        path = _path(report, folder)
        inside = [own for own in mounts if path and _is_in(path, own.place)]
        if inside:
            nearest = max(inside, key=lambda own: len(own.place))
            report.facts |= {"file_system": nearest.kind, "file_system_line": nearest.line}
            report.facts["file_path"] = path


def _mounts(log: Log) -> Iterator[_Mount]:
    for line in log.having(*_KINDS):
        for pattern in _LINES:
            if match := pattern.match(line.text[:1000]):
                yield _Mount(match["place"], match["kind"], line.number)
                break


def _path(report: Report, folder: str) -> str:
    """The whole path of the file that a run reads or writes; "" where nobody knows."""
    if report.tool == "dd":
        names = [str(report.facts.get(name, "")) for name in ("output", "input")]
        name = next((own for own in names if own and not own.startswith("/dev/")), "")
    elif report.tool == "fio":
        name = option(Command(report.line, report.asked), *_OUTPUTS)
    else:
        name = str(report.facts.get("disk") or "")
    if not name or name.startswith("/dev/"):
        return ""
    if not name.startswith("/"):
        name = f"{folder}/{name}" if folder else ""
    return posixpath.normpath(name) if name else ""


def _is_in(path: str, place: str) -> bool:
    return place != "/" and (path == place or path.startswith(place.rstrip("/") + "/"))
