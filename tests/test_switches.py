"""The emulated store-and-forward switches: what passes, what is dropped, and that they end.

Between two hosts in network namespaces of the test's own (switched.py). How long a frame is held is
measured, not tested: here only that none leaves before its wire time.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import kernels
from kernels import KERNELS

HERE = Path(__file__).parent
SOURCE = KERNELS / "udp" / "switches.c"
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
ALONE = ("unshare", "--user", "--map-root-user", "--net")
LIMIT_S = 300
QUEUE_FRAMES = 128
TAG = bytes.fromhex("8100600a")
OTHER = {"left": "right", "right": "left"}

# Starts the switches in a process of their own, prints its id, and what they counted once its input
# ends.
PROGRAM = r"""
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "switches.h"

static int ready[2];

static void tell(void *context) {
    const pid_t own = getpid();
    if (write(*(int *)context, &own, sizeof own) != sizeof own) {
        _exit(3);
    }
}

int main(int arguments, char **argument) {
    struct switches_count *counts =
        mmap(NULL, 2 * SWITCHES_MOST * sizeof *counts, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct switches config = {.count = arguments > 1 ? (unsigned)atoi(argument[1]) : 0,
                                    .link_bits_per_s = arguments > 2 ? strtoull(argument[2], 0, 10)
                                                                     : 0,
                                    .switching_ns = arguments > 3 ? strtoull(argument[3], 0, 10)
                                                                  : 0,
                                    .counts = counts,
                                    .parent = getpid(),
                                    .ready = tell,
                                    .context = &ready[1]};
    pid_t pid = 0;
    if (pipe(ready) != 0 || counts == MAP_FAILED || (pid = fork()) < 0) {
        return 3;
    }
    if (pid == 0) {
        switches_run(&config);
    }
    close(ready[1]);
    pid_t said = 0;
    if (read(ready[0], &said, sizeof said) != sizeof said) {
        int status = 0;
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
    }
    printf("%d\n", (int)said);
    fflush(stdout);
    while (getchar() != EOF) {
    }
    uint64_t sent = 0;
    uint64_t dropped = 0;
    for (unsigned i = 0; i < 2 * config.count; i++) {
        sent += counts[i].frames_sent;
        dropped += counts[i].frames_dropped;
    }
    printf("{\"sent\": %" PRIu64 ", \"dropped\": %" PRIu64 "}\n", sent, dropped);
    return 0;
}
"""


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    """Skip where this user may not make any, or the tools for it are missing."""
    for tool in ("unshare", "ip", "setpriv"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no network namespace of one's own is allowed here")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("switches") / "starter.c"
    path.write_text(PROGRAM)
    return path


def build(source: Path, name: str, compiler: str, *flags: str) -> Path:
    both = (*flags, f"-I{SOURCE.parent}")
    return kernels.build(
        source.with_name(name), source, SOURCE, flags=both, common=flags, compiler=compiler
    )


@pytest.fixture(scope="module")
def program(source: Path) -> Path:
    return build(source, "sanitized", "gcc", *SANITIZERS)


def play(
    program: Path,
    sent: list[tuple[str, bytes]],
    switches: int = 1,
    link_bits_per_s: int = 0,
    switching_ns: int = 0,
    scene: str = "frames",
) -> dict[str, Any]:
    """What came of what was sent, `came` as a list of frames for either side."""
    words = [scene, str(program), str(switches), str(link_bits_per_s), str(switching_ns)]
    done = subprocess.run(
        [*ALONE, sys.executable, str(HERE / "switched.py"), *words],
        input=json.dumps([(side, data.hex()) for side, data in sent]),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    seen: dict[str, Any] = json.loads(done.stdout)
    came = [(side, bytes.fromhex(data)) for side, data in seen["came"]]
    return {**seen, "came": {at: [data for side, data in came if side == at] for at in OTHER}}


def arriving(sent: list[tuple[str, bytes]]) -> dict[str, list[bytes]]:
    """Everything that was sent, at the other side, in its order."""
    return {at: [data for side, data in sent if side == OTHER[at]] for at in OTHER}


def frame(bytes_: int, seed: int, to: str = "02be000000aa") -> bytes:
    """A frame of random data from a made-up sender; `bytes_` without the checksum."""
    head = bytes.fromhex(f"{to}02be000000bb88b5")
    return head + random.Random(seed).randbytes(bytes_ - len(head))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_frames_pass_unchanged_in_order_and_once(source: Path, compiler: str) -> None:
    program = build(source, f"by-{compiler}", compiler, "-O2")
    sizes = [15, 59, 60, 61, 508, 1450, 1513, 1514] * 10
    sent = [(random.Random(i).choice(list(OTHER)), frame(b, i)) for i, b in enumerate(sizes)]

    seen = play(program, sent, switches=4)

    assert seen["came"] == arriving(sent)
    assert (seen["dropped"], seen["marks_lost"]) == (0, 0)
    assert seen["sent"] == 4 * (len(sent) + 2)


def test_held_frames_pass_unchanged_in_order_and_once(program: Path) -> None:
    sent = [(side, frame(60 + i, i)) for i in range(50) for side in OTHER]

    seen = play(program, sent, switches=3, link_bits_per_s=10_000_000)

    assert seen["came"] == arriving(sent)
    assert (seen["dropped"], seen["marks_lost"]) == (0, 0)


def test_broadcast_multicast_and_tags_pass(program: Path) -> None:
    everyone, group = frame(100, 1, to="ffffffffffff"), frame(200, 2, to="01005e0000fb")
    tagged = frame(300, 3)
    tagged = tagged[:12] + TAG + tagged[12:]
    sent = [(side, entry) for side in OTHER for entry in (everyone, group, tagged)]

    seen = play(program, sent, switches=2)

    assert seen["came"] == arriving(sent)


def test_what_others_send_by_an_interface_of_a_switch_is_not_taken_in(program: Path) -> None:
    sent = [("s1a", frame(100, 1)), ("s1b", frame(100, 2))]

    seen = play(program, sent)

    assert seen["came"] == {"left": [sent[0][1]], "right": [sent[1][1]]}


def test_hosts_that_leave_the_checksum_to_a_card_understand_each_other(program: Path) -> None:
    sent = [(side, bytes([i]) * (1 + 300 * i)) for i in range(5) for side in OTHER]

    seen = play(program, sent, switches=2, link_bits_per_s=1_000_000_000, scene="datagrams")

    assert seen["came"] == arriving(sent)


def test_a_full_queue_drops_and_counts(program: Path) -> None:
    sent = [("left", frame(60, i)) for i in range(3 * QUEUE_FRAMES)]

    seen = play(program, sent, link_bits_per_s=250_000)

    came = seen["came"]["right"]
    ordered = arriving(sent)["right"]
    assert QUEUE_FRAMES <= len(came) < len(sent)
    assert came[:QUEUE_FRAMES] == ordered[:QUEUE_FRAMES]
    assert came == [message for message in ordered if message in set(came)]
    assert seen["dropped"] == len(sent) - len(came) + seen["marks_lost"]


def test_a_frame_that_no_slot_holds_is_dropped_and_counted(program: Path) -> None:
    sent = [("left", frame(bytes_, bytes_)) for bytes_ in (60, 4000, 61)]

    seen = play(program, sent)

    assert seen["came"] == {"left": [], "right": [sent[0][1], sent[2][1]]}
    assert seen["dropped"] == 1


def test_no_frame_leaves_before_its_wire_time(program: Path) -> None:
    # Padded to 60 bytes, with preamble, checksum and gap: each keeps the link for 67.2 ms.
    seen = play(program, [("left", frame(20, i)) for i in range(5)], link_bits_per_s=10_000)

    assert len(seen["came"]["right"]) == 5
    assert seen["took_s"] >= 6 * 0.0672  # with the mark


def test_no_frame_leaves_before_it_is_switched(program: Path) -> None:
    sent = [("left", frame(60, 1))]

    seen = play(program, sent, 2, link_bits_per_s=1_000_000_000, switching_ns=50_000_000)

    assert seen["came"] == arriving(sent)
    assert seen["took_s"] >= 2 * 0.05


def test_switches_that_fell_asleep_go_on(program: Path) -> None:
    sent = [("left", frame(100, 1)), ("right", frame(100, 2))]

    seen = play(program, sent, switches=2, scene="idle")

    assert seen["came"] == arriving(sent)


def wait_for_end(pid: int) -> bool:
    """False where it still runs after all patience."""
    limit_s = time.monotonic() + LIMIT_S / 2
    while time.monotonic() < limit_s:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def in_place(made: str, *command: str) -> list[str]:
    """A command in a namespace of its own where interfaces were made before."""
    return [*ALONE, "sh", "-euc", f'{made}; exec "$@"', "sh", *command]


PAIR = "ip link add s1a type veth peer name s1b"
PAIR_UP = f"{PAIR}; ip link set s1a up; ip link set s1b up"


def test_switches_end_with_their_parent(program: Path) -> None:
    pipe = subprocess.PIPE
    command = in_place(PAIR_UP, str(program), "1")
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.send_signal(signal.SIGKILL)
        parent.wait()

        assert wait_for_end(pid)


@pytest.mark.parametrize(
    ("made", "before", "switches", "status", "sentence"),
    [
        ("true", [], "1", 1, "the interface s1a of an emulated switch is missing; make it first"),
        (PAIR, [], "1", 1, "of an emulated switch gives no frames (Network is down)"),
        (PAIR_UP, [], "17", 1, "17 emulated switches are not from 1 to 16; ask for as many"),
        (PAIR_UP, [], "0", 1, "0 emulated switches are not from 1 to 16; ask for as many"),
        (PAIR_UP, ["setpriv", "--bounding-set=-net_raw"], "1", 77, "emulated switches need raw"),
    ],
    ids=["missing", "down", "many", "none", "denied"],
)
def test_what_cannot_be_served_is_said_in_one_sentence(
    program: Path, made: str, before: list[str], switches: str, status: int, sentence: str
) -> None:
    done = subprocess.run(
        in_place(made, *before, str(program), switches),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )

    assert done.returncode == status, done.stderr
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
