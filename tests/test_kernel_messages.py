"""The messages kernel: every carrier and primitive, and far sides that die or change a message."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from two_hosts import CPUS, HERE, LOOPBACK, SANITIZERS, VETH, children, good, is_running, start

import kernels
from benchbook import network
from benchbook.define.catalogue import definition
from kernels import DEATH_LIMIT_S, KERNELS, LIMIT_S, points

SOURCES = [KERNELS / "messages" / name for name in definition(ROOT, "messages")["sources"]]
PAIR = (f"--near-address={HERE}", f"--far-address={HERE}")
ETHERNET, STREAMS = ("rings", "xdp", "packet"), ("tcp", "tcp-nagle")
NOBODY = 65534
POLLED = ("write", "fifo", "signal-polled")
WINDOW = 128
PR_SET_DUMPABLE = 4

# One message of many arrives otherwise than it was sent.
FAULTS = r"""
#include <string.h>
#include <unistd.h>

#include "targets.h"

enum delivery __real_targets_deliver(struct targets *targets, const struct frame_header *header,
                                     const unsigned char *payload);
enum delivery __wrap_targets_deliver(struct targets *targets, const struct frame_header *header,
                                     const unsigned char *payload);

enum delivery __wrap_targets_deliver(struct targets *targets, const struct frame_header *header,
                                     const unsigned char *payload) {
    static unsigned char own[MESSAGES_BYTES_MOST];
    static int number;
    memcpy(own, payload, header->bytes);
    /* Each end another bit: what comes back would be right again. */
    own[header->bytes - 1] ^= ++number == 8 ? 1 << getpid() % 8 : 0;
    return __real_targets_deliver(targets, header, own);
}
"""

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="both sides need a CPU each")


def build(
    folder: Path, *flags: str, compiler: str = "gcc", more: tuple[Path, ...] = (), link: str = ""
) -> Path:
    own = kernels.all_compiled(
        [*SOURCES, *more], *(flags or ("-O2",)), f"-I{KERNELS / 'messages'}", compiler=compiler
    )
    harness = kernels.harness(*(flags or ("-O2",)), compiler=compiler)
    libraries = [link] if link else []
    return kernels.linked(
        folder / "messages", *own, harness, flags=flags, compiler=compiler, libraries=libraries
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("messages"))


@pytest.fixture(scope="module")
def hosts() -> Iterator[network.Network]:
    with network.made([VETH, LOOPBACK], None) as made:
        yield made


def needs_xdp(program: Path, hosts: network.Network, carrier: str) -> None:
    """Skips the test where the carrier is xdp and this user or kernel has none."""
    if carrier == "xdp":
        done = start(program, hosts, VETH, "--carrier=xdp", point(samples=1))
        if done.returncode == 77:
            pytest.skip(json.loads(done.stdout.splitlines()[-1])["reason"])


def point(
    primitive: str = "write", method: str = "round-trip", samples: int = 3, payload_bytes: int = 64
) -> str:
    own = f"primitive={primitive},payload_bytes={payload_bytes}"
    return f"--point=method={method},samples={samples},warmup=2,loops=1,{own}"


def primitives(carrier: str, wait: str) -> tuple[str, ...]:
    if carrier in STREAMS:
        return ("stream",)
    return (*POLLED, "signal") if wait == "spin" and carrier != "memory" else POLLED


@pytest.mark.parametrize("wait", ["spin", "block"])
@pytest.mark.parametrize("carrier", [*ETHERNET, "udp", "memory", "tcp"])
def test_every_message_comes_back_as_it_was_sent(
    program: Path, hosts: network.Network, carrier: str, wait: str
) -> None:
    needs_xdp(program, hosts, carrier)
    wanted = [
        point(primitive, method, payload_bytes=size)
        for primitive, method, size in itertools.product(
            primitives(carrier, wait), ("round-trip", "one-way"), (4, 1408)
        )
    ]
    where = (f"--carrier={carrier}", f"--wait={wait}")
    done = start(program, hosts, VETH, *where, *wanted, told=carrier != "memory")
    for values in good(done):
        assert values["round_trips"] == values["messages_looked_at"] == 5
        assert values["spinning"] == (wait == "spin")
        assert values["stream"] == (carrier in STREAMS)
        assert values["shared_memory"] == (carrier == "memory")
        if carrier not in STREAMS:
            assert values["frames_dropped"] == 0


@pytest.mark.parametrize("carrier", [*ETHERNET, "udp", "memory", "tcp"])
def test_windows_arrive_whole_one_way_and_both_ways(
    program: Path, hosts: network.Network, carrier: str
) -> None:
    needs_xdp(program, hosts, carrier)
    kinds = list(
        itertools.product(primitives(carrier, "spin"), ("half-duplex", "full-duplex"), (4, 1408))
    )
    wanted = [point(primitive, method, 3, size) for primitive, method, size in kinds]
    where = (f"--carrier={carrier}", "--wait=spin")
    done = start(program, hosts, VETH, *where, *wanted, told=carrier != "memory")
    for (_, method, size), values, result in zip(
        kinds, good(done), points(done.stdout), strict=True
    ):
        directions = 1 + (method == "full-duplex")
        assert values["message_windows"] == 5
        answers = 5 if directions == 1 else 0
        assert values["messages_looked_at"] == 5 * WINDOW * directions + answers
        assert result["bytes_declared"] == WINDOW * directions * size


def test_a_far_end_that_pauses_polls_seldom(program: Path) -> None:
    gaps = {}
    for pause_ns in (0, 200_000):
        where = ("--carrier=memory", "--wait=spin", f"--poll_pause_ns={pause_ns}")
        (values,) = good(kernels.run(program, *where, point(samples=100)))
        gaps[pause_ns] = values["far_serving_ns"] / values["far_polls"]
    # A pause comes after each poll that finds nothing; two polls take in the message before it.
    assert gaps[0] < 20_000 < 50_000 < gaps[200_000]


def test_a_ring_that_is_too_short_drops_frames_which_come_again(
    program: Path, hosts: network.Network
) -> None:
    wanted = point(method="half-duplex", samples=20, payload_bytes=1024)
    dropped = {}
    for frames in (32, 256):
        where = ("--carrier=rings", "--wait=block", f"--ring_frames={frames}")
        (values,) = good(start(program, hosts, VETH, *where, wanted))
        assert values["ring_frames"] == frames
        assert values["bytes_sent"] == values["bytes_received"] == 22 * WINDOW * 1024
        dropped[frames] = values["frames_dropped"]
    assert dropped[256] == 0 < dropped[32]


def test_a_lost_last_message_of_a_point_is_sent_again(program: Path) -> None:
    """The near side waits for the far side's end, and must go on polling meanwhile."""
    wanted = "--point=method=round-trip,primitive=write,payload_bytes=64,samples=5,warmup=0,loops=1"
    lossy = ["--carrier=memory", "--wait=block", "--lost_per_million=300000"]
    for seed in range(1, 21):
        command = [program, *lossy, f"--seed={seed}", wanted]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_points_of_one_start_take_turns(program: Path, hosts: network.Network) -> None:
    wanted = [point(primitive, samples=12) for primitive in (*POLLED, "signal")]
    done = start(program, hosts, VETH, "--carrier=rings", "--wait=spin", "--turns=3", *wanted)
    for values in good(done):
        assert values["round_trips"] >= 12


def test_loopback_needs_no_rights(program: Path, hosts: network.Network) -> None:
    for carrier, primitive in (("udp", "write"), ("tcp", "stream"), ("tcp-nagle", "stream")):
        done = start(program, hosts, LOOPBACK, f"--carrier={carrier}", point(primitive))
        (values,) = good(done)
        assert values["device_is_loopback"] == 1


@pytest.mark.parametrize(("carrier", "primitive"), [("udp", "write"), ("memory", "fifo")])
def test_a_changed_message_voids_the_point(tmp_path: Path, carrier: str, primitive: str) -> None:
    (tmp_path / "faults.c").write_text(FAULTS)
    link = "-Wl,--wrap=targets_deliver"
    faulty = build(tmp_path, more=(tmp_path / "faults.c",), link=link)
    where = PAIR if carrier != "memory" else ()
    done = kernels.run(faulty, *where, f"--carrier={carrier}", point(primitive, samples=10))
    (result,) = points(done.stdout)
    assert (done.returncode, result["status"]) == (1, "fail")
    assert "of 12 messages looked at were not as sent" in result["reason"]


@contextmanager
def endless(
    program: Path, hosts: network.Network, carrier: str, wait: str
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A kernel that goes on for long, and its far side."""
    door = hosts.door(VETH)
    if door.refused:
        pytest.skip(door.refused)
    options = [f"--{name}={value}" for name, value in door.options.items()]
    primitive = "stream" if carrier in STREAMS else "write"
    command = [
        str(program),
        *(options if carrier != "memory" else ()),
        f"--carrier={carrier}",
        f"--wait={wait}",
        point(primitive, samples=1_000_000),
    ]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=door.inherits,
        preexec_fn=door.enter,  # noqa: PLW1509  pytest's own threads hold no lock here
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # the start line: both sides are ready
            (far,) = children(process.pid)
            time.sleep(0.1)
            yield process, far
        finally:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("wait", ["spin", "block"])
@pytest.mark.parametrize("carrier", [*ETHERNET, "udp", "memory", "tcp"])
def test_a_far_side_that_is_killed_is_named_soon(
    program: Path, hosts: network.Network, carrier: str, wait: str
) -> None:
    needs_xdp(program, hosts, carrier)
    with endless(program, hosts, carrier, wait) as (process, far):
        began = time.monotonic()
        os.kill(far, signal.SIGKILL)
        _, errors = process.communicate(timeout=LIMIT_S)
        assert time.monotonic() - began < DEATH_LIMIT_S
        assert process.returncode == 1
        assert errors.startswith("the far side was ended by signal 9")
        assert errors.count("\n") == 1


@pytest.mark.parametrize("wait", ["spin", "block"])
@pytest.mark.parametrize("carrier", ["rings", "xdp"])
def test_a_near_side_that_is_killed_leaves_nothing(
    program: Path, hosts: network.Network, carrier: str, wait: str
) -> None:
    needs_xdp(program, hosts, carrier)
    with endless(program, hosts, carrier, wait) as (process, far):
        process.kill()
        process.wait(timeout=LIMIT_S)
        until = time.monotonic() + DEATH_LIMIT_S
        while is_running(far) and time.monotonic() < until:
            time.sleep(0.01)
        assert not is_running(far)
    if carrier == "xdp":  # its program at the interface is gone, too: there is room for another
        good(start(program, hosts, VETH, "--carrier=xdp", point()))


def as_nobody(program: Path, results: Path) -> None:
    """In a child process that can only be without rights afterwards."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    # Who has changed its user may not write its own /proc/self/uid_map before.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    found: dict[str, list[Any]] = {}
    with network.made([VETH], None) as own:
        refused = own.door(VETH).refused
        for carrier in ("rings", "packet", "udp", "tcp", "memory", "xdp"):
            if refused and carrier != "memory":
                found[carrier] = [77, refused]
                continue
            wanted = point("stream" if carrier == "tcp" else "write")
            where = (f"--carrier={carrier}", "--wait=block")
            if carrier == "memory":
                done = kernels.run(program, *where, wanted)
            else:
                done = start(program, own, VETH, *where, wanted)
            found[carrier] = [done.returncode, done.stdout.splitlines()[-1]]
    results.write_text(json.dumps(found))


def test_a_user_without_rights_measures_all_but_xdp(program: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else; any other user's tests are of that already")
    with tempfile.TemporaryDirectory() as name:  # pytest's folders are root's own
        folder = Path(name)
        folder.chmod(0o777)
        copy, results = Path(shutil.copy(program, folder)), folder / "results"
        copy.chmod(0o755)
        pid = os.fork()
        if pid == 0:
            try:
                as_nobody(copy, results)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        found = json.loads(results.read_text())
    assert found["memory"][0] == 0
    status, words = found.pop("xdp")
    assert status == 77
    if found["rings"][0] == 77:
        pytest.skip(found["rings"][1])
    assert {carrier: status for carrier, (status, _) in found.items()} == dict.fromkeys(found, 0)
    assert "AF_XDP sockets cannot be opened here" in words
    assert "CAP_BPF and CAP_NET_ADMIN" in words


BAD_ARGUMENTS = {
    point(): "--carrier is missing",
    f"--carrier=pigeons {point()}": "--carrier 'pigeons' is none of rings",
    f"--carrier=memory {point(payload_bytes=3)}": "payload_bytes=3 is not from 4 to 1408",
    f"--carrier=memory {point(payload_bytes=1409)}": "payload_bytes=1409 is not from 4 to 1408",
    f"--carrier=memory {point('stream')}": "give tcp or tcp-nagle",
    f"--carrier=tcp {' '.join(PAIR)} {point()}": "give primitive=stream",
    f"--carrier=memory --wait=spin {point('signal')}": "a carrier other than memory",
    f"--carrier=udp --wait=block {' '.join(PAIR)} {point('signal')}": "give --wait=spin",
    f"--carrier=tcp {' '.join(PAIR)} {point('stream', 'full-duplex')}": "give --wait=spin",
    f"--carrier=xdp {' '.join(PAIR)} {point()}": "Ethernet frames go between two hosts",
    f"--carrier=rings {' '.join(PAIR)} {point()}": "Ethernet frames go between two hosts",
    f"--carrier=memory {point(method='one-way').replace('loops=1', 'loops=2')}": "loops=2 is not",
    f"--carrier=udp {' '.join(PAIR)} --port=7707 {point()}": "here it is started with the near one",
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_in_one_sentence(program: Path, arguments: str) -> None:
    done = kernels.run(program, *arguments.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert BAD_ARGUMENTS[arguments] in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_cpu_is_too_few(program: Path) -> None:
    under = ("taskset", "--cpu-list", str(CPUS[0]))
    done = kernels.run(program, "--carrier=memory", point(), under=under)
    assert done.returncode == 77
    assert "may use 1 CPU" in json.loads(done.stdout.splitlines()[-1])["reason"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sanitizers_find_nothing(compiler: str, hosts: network.Network, tmp_path: Path) -> None:
    sanitized = build(tmp_path, *SANITIZERS, compiler=compiler)
    for carrier in (*ETHERNET, "udp", "memory"):
        if carrier == "xdp":
            has_xdp = start(sanitized, hosts, VETH, "--carrier=xdp", point()).returncode == 0
            if not has_xdp:
                continue
        wanted = [point(primitive, samples=5) for primitive in primitives(carrier, "spin")]
        wanted.append(point(method="full-duplex", samples=3, payload_bytes=1408))
        where = (f"--carrier={carrier}", "--wait=spin")
        good(start(sanitized, hosts, VETH, *where, *wanted, told=carrier != "memory"))
