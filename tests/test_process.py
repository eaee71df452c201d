"""One measurement per host and one workflow per checkout, and who dies with whom: real processes,
whose first words say whether they hold the right, wait for it or are refused."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchbook.core import processes
from benchbook.core.errors import BenchbookError

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user is played by root only")
# Does as told on its command line: uid, what to hold, and whether a program inherits the right.
# It ends at the end of its standard input, so that no test leaves one behind.
HOLDER = """
import os, subprocess, sys
from pathlib import Path
from benchbook.core.errors import BenchbookError
from benchbook.core.processes import measuring_lock, only_workflow

def say(line):
    print(line, flush=True)

uid, what, inherits = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "inherits"
if uid != os.getuid():
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
try:
    if what == "measuring":
        with measuring_lock("stream", Path("/elsewhere"), say) as lock:
            if inherits:
                subprocess.Popen(["cat"], pass_fds=(lock,), stdout=subprocess.DEVNULL)
            say("holding")
            sys.stdin.read()
    else:
        handle = only_workflow(Path(what), 0)
        say("holding")
        sys.stdin.read()
except BenchbookError as error:
    say(f"refused: {error}")
"""


class Holder:
    """A process that takes a lock, or tries to."""

    def __init__(self, what: str, *, uid: int, inherits: bool) -> None:
        options = [str(uid), what, "inherits" if inherits else "alone"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def says(self) -> str:
        """Its next line."""
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        """It gives the right back, and so does the program that inherited it."""
        self.process.stdin.close()
        self.process.wait()

    def kill(self) -> None:
        """Kill it alone; the program that inherited the right lives on."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the lock as /tmp is: everybody may write, nobody removes another's file."""
    # Not tmp_path, which no other user can reach.
    made = Path(tempfile.mkdtemp(prefix="benchbook-test-", dir="/tmp"))
    made.chmod(0o1777)
    monkeypatch.setenv("BENCHBOOK_LOCK_DIR", str(made))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., Holder]]:
    """Start a holder; all are ended with the test."""
    started: list[Holder] = []

    def begin(what: str = "measuring", *, uid: int = os.getuid(), inherits: bool = False) -> Holder:
        started.append(Holder(what, uid=uid, inherits=inherits))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.process.stdin.close()
        process.process.stdout.close()


def refusal(checkout: Path = Path("/elsewhere")) -> str:
    """The one sentence by which measuring is refused here."""
    with (
        pytest.raises(BenchbookError) as caught,
        processes.measuring_lock("stream", checkout, lambda line: None),
    ):
        pass
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "BENCHBOOK_LOCK_DIR" in sentence
    return sentence


def test_the_waiting_one_names_the_holder_and_follows_it(start, folder: Path) -> None:
    first = start()
    assert first.says() == "holding"
    second = start()
    assert second.says() == (
        f"waiting for process {first.process.pid} measuring stream in /elsewhere: "
        f"one measurement at a time on a host ({folder / processes.LOCK_NAME})"
    )
    first.end()
    assert second.says() == "holding"


def test_a_killed_holder_gives_the_right_back(start) -> None:
    first = start()
    assert first.says() == "holding"
    first.kill()
    assert start().says() == "holding"


def test_the_program_of_a_killed_holder_keeps_the_right(start) -> None:
    first = start(inherits=True)
    assert first.says() == "holding"
    first.kill()
    second = start()
    assert f"process {first.process.pid} measuring stream" in second.says()
    first.end()  # the end of input, which ends the program
    assert second.says() == "holding"


@pytest.mark.parametrize("inherits", [False, True], ids=["measurer", "its last program"])
def test_removing_the_file_does_not_free_the_right(start, folder: Path, inherits: bool) -> None:
    first = start(inherits=inherits)
    assert first.says() == "holding"
    (folder / processes.LOCK_NAME).unlink()
    if inherits:
        first.kill()
    second = start()
    assert second.says().startswith("waiting for another measurement:")
    first.end()
    assert second.says() == "holding"


@pytest.mark.parametrize("put_back", [False, True], ids=["removed", "replaced"])
def test_a_file_that_went_before_it_was_locked_is_not_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch, put_back: bool
) -> None:
    path = folder / processes.LOCK_NAME
    path.write_text("")
    lock_it, calls = processes._try, []

    def first_remove_it(handle: int, *rest) -> bool:
        if not calls:
            path.rename(folder / "away")
            if put_back:
                path.write_text("")
        calls.append(handle)
        return lock_it(handle, *rest)

    monkeypatch.setattr(processes, "_try", first_remove_it)
    handle = processes._take(path, "")
    assert len(calls) == 2
    assert os.path.samestat(os.fstat(handle), path.stat())
    os.close(handle)


def test_a_shell_may_lock_the_file(start, folder: Path) -> None:
    path = folder / processes.LOCK_NAME
    path.write_text('{"pid": 1, "what": "mine", "checkout": "/there"}')
    shell = subprocess.Popen(
        ["flock", path, "sh", "-c", "echo held; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with shell:
        assert shell.stdout.readline() == b"held\n"
        second = start()
        assert second.says().startswith("waiting for process 1 measuring mine in /there:")
        shell.stdin.close()
    assert second.says() == "holding"


@pytest.mark.parametrize("user", [os.getuid(), pytest.param(NOBODY, marks=needs_root)])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="nothing"),
        pytest.param("[1]", id="list"),
        pytest.param("no JSON", id="garbage"),
        pytest.param("[" * 9999, id="deep"),
        pytest.param('{"pid": 1}', id="part"),
        pytest.param("\xff\x00", id="bytes"),
        pytest.param('{"pid": 1, "what": "\\u001b[2J", "checkout": "/"}', id="terminal codes"),
    ],
)
def test_a_holder_that_cannot_be_read_is_another_measurement(
    folder: Path, content: str, user: int
) -> None:
    path = folder / processes.LOCK_NAME
    path.write_bytes(content.encode("latin-1"))
    os.chown(path, user, -1)
    assert processes._holder(path) == "another measurement"
    # What was written there does not matter to who takes it.
    with processes.measuring_lock("stream", Path("/elsewhere"), pytest.fail):
        assert processes._holder(path).startswith(f"process {os.getpid()} measuring stream")
    assert path.read_bytes() == b""


def test_the_place_is_the_same_for_all_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHBOOK_LOCK_DIR", raising=False)
    monkeypatch.setattr(os, "access", lambda *_: pytest.fail("chosen by permission"))
    assert processes.lock_file() == Path("/tmp") / processes.LOCK_NAME


@needs_root
@pytest.mark.parametrize("users", [(0, NOBODY), (NOBODY, 0), (NOBODY, NOBODY - 1)])
def test_users_exclude_each_other(start, users: tuple[int, int]) -> None:
    first = start(uid=users[0])
    assert first.says() == "holding"
    second = start(uid=users[1])
    assert f"process {first.process.pid} measuring stream" in second.says()
    first.end()
    assert second.says() == "holding"


@needs_root
def test_a_folder_of_root_alone_is_refused_not_replaced(start, folder: Path) -> None:
    folder.chmod(0o755)
    assert re.match(
        rf"refused: .*{folder}: Permission denied; .*BENCHBOOK_LOCK_DIR", start(uid=NOBODY).says()
    )
    first = start()
    assert first.says() == "holding"  # and made the file, for every user
    assert f"process {first.process.pid}" in start(uid=NOBODY).says()
    folder.chmod(0o700)
    assert "Permission denied" in start(uid=NOBODY).says()


@needs_root
def test_a_file_of_root_alone_is_refused_and_not_to_be_removed(start, folder: Path) -> None:
    path = folder / processes.LOCK_NAME
    path.write_text("")
    path.chmod(0o600)
    said = start(uid=NOBODY).says()
    assert re.match(r"refused: .*Permission denied; .*writable by every user", said)
    assert "remove" not in said


@pytest.mark.parametrize("plant", ["symlink_to", "hardlink_to"])
def test_a_planted_link_does_not_empty_its_target(folder: Path, plant: str) -> None:
    precious = folder / "precious"
    precious.write_text("kept")
    getattr(folder / processes.LOCK_NAME, plant)(precious)
    assert "symbolic link" in (said := refusal()) or "one name" in said
    assert precious.read_text() == "kept"


def test_a_dangling_link_is_not_followed(folder: Path) -> None:
    (folder / processes.LOCK_NAME).symlink_to(folder / "made")
    assert "symbolic link" in refusal()
    assert not (folder / "made").exists()


@pytest.mark.parametrize(("make", "words"), [(Path.mkdir, "directory"), (os.mkfifo, "plain file")])
def test_what_is_no_plain_file_is_refused(folder: Path, make: Callable, words: str) -> None:
    make(folder / processes.LOCK_NAME)
    assert words in refusal()


def test_a_folder_that_is_none_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").write_text("")
    for name, words in [("gone", "No such file"), ("file", "Not a directory")]:
        monkeypatch.setenv("BENCHBOOK_LOCK_DIR", str(folder / name))
        assert words in refusal()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BENCHBOOK_LOCK_DIR", ".")
    assert "not an absolute path" in refusal()


def test_the_checkout_itself_is_no_place(folder: Path) -> None:
    assert "is this checkout" in refusal(folder)


def test_a_right_that_was_refused_or_given_back_is_free(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), processes.measuring_lock("a", Path("/x"), pytest.fail):
        raise ZeroDivisionError
    (folder / processes.LOCK_NAME).rename(folder / "away")
    (folder / processes.LOCK_NAME).symlink_to("away")
    refusal()
    (folder / processes.LOCK_NAME).unlink()
    with processes.measuring_lock("b", Path("/x"), pytest.fail):
        pass


def test_a_second_workflow_is_refused(start, tmp_path: Path) -> None:
    first = start(str(tmp_path))
    assert first.says() == "holding"
    refused = f"refused: another workflow is running in {tmp_path};"
    assert start(str(tmp_path)).says().startswith(refused)
    shutil.rmtree(tmp_path / ".snakemake")
    assert start(str(tmp_path)).says().startswith(refused)
    first.kill()
    assert start(str(tmp_path)).says() == "holding"


def test_a_workflow_waits_for_one_that_is_only_dying(
    start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = start(str(tmp_path))
    assert first.says() == "holding"
    monkeypatch.setattr(processes.time, "sleep", lambda _: first.kill())
    os.close(processes.only_workflow(tmp_path))


def test_a_workflow_lock_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    inner = tmp_path / ".snakemake"
    precious = tmp_path / "precious"
    precious.write_text("kept")

    def refused(words: str) -> None:
        with pytest.raises(BenchbookError, match=rf"{words}.*; it must be a plain file in a"):
            processes.only_workflow(tmp_path, 0)

    inner.write_text("")
    refused("File exists")
    inner.unlink()
    inner.mkdir()
    (inner / "benchbook.lock").mkdir()
    refused("directory")
    (inner / "benchbook.lock").rmdir()
    (inner / "benchbook.lock").symlink_to(precious)
    refused("symbolic link")
    assert precious.read_text() == "kept"
    os.close(processes.only_workflow(inner, 0))


@needs_root
def test_a_workflow_in_a_checkout_of_another_is_refused(start, folder: Path) -> None:
    checkout = folder / "checkout"
    checkout.mkdir(mode=0o755)
    assert re.match(
        r"refused: .*Permission denied; .*use your own", start(str(checkout), uid=NOBODY).says()
    )


# A child that dies with its parent, or says after a while that it did not.
FOLLOWER = """
import os, signal, sys, time
from benchbook.core.processes import child_setup, die_with_parent, follow_parent
{setup}
print("following", flush=True)
time.sleep(20)
print("outlived", flush=True)
"""
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
child.wait()
"""


@pytest.mark.parametrize(
    "setup",
    [
        "follow_parent(os.getppid())",
        "follow_parent(None)",
        "die_with_parent()",
        "child_setup([min(os.sched_getaffinity(0))])()",
    ],
)
def test_a_follower_dies_when_its_parent_is_killed(setup: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, FOLLOWER.format(setup=setup)],
        stdout=subprocess.PIPE,
        text=True,
    )
    with parent:
        assert parent.stdout.readline() == "following\n"
        parent.send_signal(signal.SIGKILL)
        # The end of output: nobody is left who could write.
        assert parent.stdout.read() == ""


def test_a_follower_of_a_wrong_parent_ends_at_once() -> None:
    follower = FOLLOWER.format(setup="follow_parent(os.getpid())")
    done = subprocess.run([sys.executable, "-c", follower], stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


SCHEDULED = """
import os, sys
from benchbook.core.processes import Scheduling, child_setup, scheduling_of
if sys.argv[2] == "nobody":
    os.setgroups([])
    os.setuid(65534)
child_setup([min(os.sched_getaffinity(0))], scheduling=Scheduling(sys.argv[1]))()
print(scheduling_of(os.getpid()))
"""


@needs_root
@pytest.mark.parametrize(
    ("wanted", "user", "got"),
    [
        ("real_time", "root", {"real_time", "nice", "normal"}),  # as far as this container lets it
        ("nice", "root", {"nice", "normal"}),
        ("normal", "root", {"normal"}),
        ("real_time", "nobody", {"normal"}),
    ],
)
def test_a_program_goes_before_others_as_far_as_it_may(
    wanted: str, user: str, got: set[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCHEDULED, wanted, user], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.strip() in got


def test_a_process_that_has_ended_is_normal() -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    assert processes.scheduling_of(ended.pid) == "normal"
