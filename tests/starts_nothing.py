"""A pytest plugin: a test that starts a program or opens a connection is skipped.

The others need no compiler, network, root, quiet machine or Nix, so they may run in a sandbox. What
a test does decides, not a list or a marker that somebody must remember. The ids of those that
passed are written to build/check.passed, one a line, for `pytest --passed-before`, and after them
the files in which no other test ran.
"""

import sys
from pathlib import Path

import matplotlib.font_manager  # noqa: F401  # asks fc-list for fonts at its first import
import pytest

STARTING = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"}
CONNECTING = {"socket.connect"}
PASSED = Path("build/check.passed")

running = False
refusal = ""  # what the test that runs now was refused
refused_fixtures: dict[int, tuple[BaseException, str]] = {}  # id of an error -> error, refusal
passed: list[str] = []
unfinished: set[str] = set()  # files with a test that did not pass


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """What Python tells before it starts a program; the audit hook of this process for good."""
    global refusal  # noqa: PLW0603
    if running and event in STARTING | CONNECTING:
        what = repr(arguments[0]) if arguments else ""  # os.fork has none
        refusal = f"not among the tests that start nothing: {event} {what}"
        pytest.skip(refusal)


sys.addaudithook(refuse)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    global running, refusal  # noqa: PLW0603
    running, refusal = True, ""
    try:
        return (yield)
    finally:
        running = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Count as skipped what was refused anything, whatever the code made of that: some catches it,
    and a shared fixture that failed by it raises the same error for every test that needs it.
    """
    report = yield
    error = call.excinfo.value if call.excinfo else None
    reason = refusal or refused_fixtures.get(id(error), (None, ""))[1]
    if reason and (report.failed or (report.passed and report.when != "teardown")):
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, reason)
        if error is not None:
            refused_fixtures[id(error)] = error, reason
    return report


def pytest_runtest_logreport(report):
    if report.when == "call" and report.passed:
        passed.append(report.nodeid)
    if not report.passed:
        unfinished.add(report.nodeid.partition("::")[0])


def pytest_collectreport(report):
    if not report.passed:
        unfinished.add(report.nodeid.partition("::")[0])


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):  # a worker of xdist saw only its own
        PASSED.parent.mkdir(exist_ok=True)
        files = {test.partition("::")[0] for test in passed} - unfinished
        PASSED.write_text("".join(f"{line}\n" for line in [*passed, *sorted(files)]))
