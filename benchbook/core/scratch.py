"""Private folders for what measured programs leave in temporary places: made fresh, removed.

Without them a driver such as PoCL falls back to /tmp/pocl, which a second user cannot use and in
which another user's link may lead anywhere.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "benchbook-scratch-"
OLD_S = 60.0  # a folder of this age that nobody holds was left by a process that was killed


@cache
def folder() -> Path:
    """This process's own folder, which no other user may enter; it goes with the process, and what
    killed processes of this user left is removed. OSError where none can be made."""
    made = new_folder(Path(tempfile.gettempdir()), PREFIX)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def new_folder(parent: Path, prefix: str) -> Path:
    """A folder in `parent` that this process holds until it ends; those of this prefix that killed
    processes left there are removed. OSError where none can be made."""
    _remove_left(parent, prefix)
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    _hold(made)
    return made


def variables() -> dict[str, str]:
    """Environment variables that lead programs of other people into `folder`."""
    own = str(folder())
    return {"TMPDIR": own, "XDG_CACHE_HOME": own, "POCL_CACHE_DIR": own}


def _hold(place: Path) -> bool:
    """Whether this process holds the folder from now on, until it ends."""
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return False
    return True


def _remove_left(parent: Path, prefix: str) -> None:
    for place in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # it is somebody else's, or has just gone
            about = place.lstat()
            own = about.st_uid == os.getuid()
            if own and about.st_mtime < time.time() - OLD_S and _hold(place):
                shutil.rmtree(place, ignore_errors=True)
