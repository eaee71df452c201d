"""A pytest plugin: a test that starts a program or opens a connection is skipped.

The others need no compiler, network, root, quiet machine or Nix, so they may run in a sandbox. What
a test does decides, not a list or a marker that somebody must remember.
"""

import sys

import matplotlib.font_manager  # noqa: F401  # asks fc-list for fonts at its first import
import pytest

STARTING = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"}
CONNECTING = {"socket.connect"}
running = False


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """What Python tells before it starts a program; the audit hook of this process for good."""
    if running and event in STARTING | CONNECTING:
        what = repr(arguments[0]) if arguments else ""  # os.fork has none
        pytest.skip(f"not among the tests that start nothing: {event} {what}")


sys.addaudithook(refuse)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    global running  # noqa: PLW0603
    running = True
    try:
        return (yield)
    finally:
        running = False
