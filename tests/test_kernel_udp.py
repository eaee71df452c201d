"""The udp kernel: round trips over a network of the test's own, and far sides that misbehave."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from two_hosts import CPUS, HERE, LOOPBACK, SANITIZERS, VETH, children, good, is_running, start

import kernels
from benchbook import network
from kernels import KERNELS, LIMIT_S, lines, points

SOURCES = sorted((KERNELS / "udp").glob("*.c"))
EMULATED = {"path": "emulated", "switches": 2}
WAITS = ["block", "spin"]
METHODS = ["one-socket", "socket-each"]

THREE_CPUS = r"""
#define _GNU_SOURCE
#include <sched.h>

int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus);
int __wrap_sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *cpus);

int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus) {
    CPU_ZERO_S(bytes, cpus);
    for (int cpu = 0; cpu < 3; cpu++) {
        CPU_SET_S(cpu, bytes, cpus);
    }
    return (int)pid;
}

int __wrap_sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *cpus) {
    return (int)pid + (bytes == 0 || !cpus);
}
"""

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="both sides need a CPU each")


def build(target: Path, *flags: str, name: str = "gcc") -> Path:
    own = flags or ("-O2",)
    return kernels.build(target, *SOURCES, flags=own, common=own, compiler=name)


@pytest.fixture(scope="module")
def udp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("udp") / "udp")


@pytest.fixture(scope="module")
def hosts() -> Iterator[network.Network]:
    with network.made([VETH, EMULATED, LOOPBACK], None) as made:
        yield made


# 200 datagrams of 64 bytes fit into the queue of a socket, whatever its reader is doing.
def point(
    method: str = "one-socket", samples: int = 20, payload_bytes: int = 1024, gap_ns: int = 0
) -> str:
    own = f"payload_bytes={payload_bytes},gap_ns={gap_ns}"
    return f"--point=method={method},samples={samples},warmup=3,loops=1,{own}"


def samples(text: str) -> list[tuple[int, int]]:
    """(start, time) of each, without warm-ups."""
    kept = [line for line in lines(text) if line["kind"] == "sample" and not line["warm_up"]]
    return [(sample["t_start_ns"], sample["time_ns"]) for sample in kept]


@pytest.mark.parametrize("wait", WAITS)
def test_every_datagram_comes_back(udp: Path, hosts: network.Network, wait: str) -> None:
    sizes = [4, 9, 1408]
    asked = [point(method, payload_bytes=size) for method in METHODS for size in sizes]
    done = start(udp, hosts, VETH, f"--wait={wait}", *asked)
    seen = good(done)
    assert [values.pop("sockets_opened") for values in seen] == [1] * 3 + [23] * 3
    assert [result["bytes_declared"] for result in points(done.stdout)] == sizes * 2
    assert seen == [
        {
            "round_trips": 23,
            "datagrams_lost": 0,
            "spinning": WAITS.index(wait),
            "emulated_switches": 0,
            "open_schedule": 0,
            "affinity_cpus": 1,
            "device_is_loopback": 0,
            "device_mtu_bytes": 1500,
            "interrupt_delay_ns": None,
            "receive_buffer_errors": 0,
        }
    ] * len(asked)


def test_who_blocks_sleeps_and_who_spins_does_not(udp: Path, hosts: network.Network) -> None:
    for wait, sleeps in (("block", True), ("spin", False)):
        done = start(udp, hosts, VETH, f"--wait={wait}", point(samples=200))
        (only,) = points(done.stdout)
        # Far less than all: on a loaded machine an answer may be there before it is asked for.
        assert (only["usage"]["voluntary_switches"] > 10) is sleeps


def test_loopback_is_seen_to_be_one(udp: Path, hosts: network.Network) -> None:
    (seen,) = good(start(udp, hosts, LOOPBACK, point()))
    assert (seen["device_is_loopback"], seen["device_mtu_bytes"]) == (1, 65536)


@pytest.fixture(scope="module")
def with_three_cpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel where there seem to be three CPUs, whatever there is."""
    folder = tmp_path_factory.mktemp("three")
    (folder / "three.c").write_text(THREE_CPUS)
    wrapped = ("-O2", *(f"-Wl,--wrap=sched_{verb}affinity" for verb in ("get", "set")))
    return kernels.build(folder / "udp", *SOURCES, folder / "three.c", flags=wrapped)


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("cpus", [2, 3])
def test_switches_stand_between(
    udp: Path, with_three_cpus: Path, hosts: network.Network, wait: str, cpus: int
) -> None:
    """With two CPUs one thread plays both sides; with three each has its own."""
    methods = METHODS if cpus == 2 else [*METHODS, "open"]
    asked = [point(method, gap_ns=50_000) for method in methods]
    options = [f"--wait={wait}", "--link_bits_per_s=1000000000"]
    program = udp if cpus == 2 else with_three_cpus
    seen = good(start(program, hosts, EMULATED, *options, *asked, cpus=2))
    assert [values["emulated_switches"] for values in seen] == [2] * len(methods)
    assert [values["round_trips"] for values in seen] == [23] * len(methods)


def test_an_open_schedule_through_switches_wants_three_cpus(
    udp: Path, hosts: network.Network
) -> None:
    done = start(udp, hosts, EMULATED, point("open", gap_ns=1000), cpus=2)
    assert done.returncode == 77
    assert "needs 3 CPUs" in done.stderr


def test_companions_tell_why_they_could_not_begin(udp: Path, hosts: network.Network) -> None:
    """Switches in a namespace without their interfaces."""
    door = hosts.door(VETH)
    if door.refused:
        pytest.skip(door.refused)
    where = f"--switch-namespace={door.options['far-namespace']}"
    done = start(udp, hosts, VETH, "--emulated-switches=1", where, point())
    assert done.returncode == 1
    assert done.stderr.startswith("the emulated switches: ")
    assert done.stderr.count("\n") == 1


def test_the_gap_lies_between_round_trips(udp: Path, hosts: network.Network) -> None:
    gap_ns = 2_000_000
    for wait in WAITS:
        done = start(udp, hosts, VETH, f"--wait={wait}", point(gap_ns=gap_ns))
        pairs = itertools.pairwise(samples(done.stdout))
        assert all(after - (before + time) >= gap_ns for (before, time), (after, _) in pairs)


@pytest.mark.parametrize("wait", WAITS)
def test_an_open_schedule_begins_when_it_says(udp: Path, hosts: network.Network, wait: str) -> None:
    """Far too fast to be kept: the intended starts stay where they are, the sendings do not."""
    asked = [point(method, 200, 64, gap_ns=1) for method in ("open", "open-from-send")]
    for path in (VETH, LOOPBACK):
        done = start(udp, hosts, path, f"--wait={wait}", *asked)
        told = good(done)
        assert [values["open_schedule"] for values in told] == [1, 1]
        assert [values["timed_from_intended"] for values in told] == [1, 0]
        assert [values["requests_sent"] for values in told] == [200, 200]
        # Each but the first, at the least.
        assert min(values["sends_late"] for values in told) >= 199
        assert min(values["lateness_ns"] for values in told) > 200
        starts = [begin for begin, _ in samples(done.stdout)]
        assert starts[:200] == [starts[0] + i for i in range(200)]
        sent = [later - earlier for earlier, later in itertools.pairwise(starts[200:])]
        assert min(sent) > 0
        assert sum(sent) > 10 * 200


@contextmanager
def far_side(
    answers: Callable[[int, bytes], Sequence[bytes | int]],
) -> Iterator[tuple[list[str], list[bytes]]]:
    """A far side in a thread: options that lead to it, and what it has got.

    `answers` has the number of the datagram, from 0 on, and the datagram; its result goes to the
    sender, and where it is a number, that earlier datagram goes back to its own sender.
    """
    got: list[tuple[bytes, Any]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind((HERE, 0))

        def run() -> None:
            while True:
                got.append(here.recvfrom(65536))
                if not got[-1][0]:
                    return
                for answer in answers(len(got) - 1, got[-1][0]):
                    here.sendto(*(got[answer] if isinstance(answer, int) else (answer, got[-1][1])))

        thread = threading.Thread(target=run)
        thread.start()
        datagrams: list[bytes] = []
        try:
            yield [f"--far-address={HERE}", f"--port={here.getsockname()[1]}"], datagrams
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", here.getsockname())
            thread.join()
            datagrams += [datagram for datagram, _ in got[:-1]]


def only(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    (result,) = points(done.stdout)
    assert done.returncode == (0 if result["status"] == "ok" else 1), done.stderr
    return result


def test_a_real_far_side_is_not_started(udp: Path) -> None:
    with far_side(lambda _, datagram: [datagram]) as (way, got):
        result = only(kernels.run(udp, *way, point(payload_bytes=99)))
    assert [len(datagram) for datagram in got] == [99] * 23
    assert result["observations"]["round_trips"] == 23
    assert result["observations"]["receive_buffer_errors"] is None


def test_no_two_payloads_are_alike(udp: Path) -> None:
    with far_side(lambda _, datagram: [datagram]) as (way, kept):
        asked = [point(method, 100, 4, gap_ns=1) for method in (*METHODS, "open")]
        good(kernels.run(udp, *way, *asked))
    assert len(set(kept)) == len(kept) == 3 * 103


WRONG = {
    "a bit": (lambda data: [data[:700] + bytes([data[700] ^ 1]) + data[701:]], "from byte 700 on"),
    "the last byte": (lambda data: [data[:-1] + bytes([data[-1] ^ 128])], "from byte 1023 on"),
    "its number": (lambda data: [b"\x01\x02\x03\x04" + data[4:]], "from byte "),
    "shorter": (lambda data: [data[:-1]], "has 1023 bytes instead of 1024"),
    "longer": (lambda data: [data + b"x"], "has 1025 bytes instead of 1024"),
    "empty": (lambda data: [b""], "has 0 bytes instead of 1024"),
    "zeros": (lambda data: [bytes(len(data))], "from byte 0 on"),
    "doubled": (lambda data: [data, data], "differs from byte "),
}
WRONG_ON_SCHEDULE = {
    **{name: WRONG[name] for name in ("a bit", "shorter", "longer")},
    "doubled": (WRONG["doubled"][0], "answered twice"),
    "a foreign one": (
        lambda data: [b"\x01\x02\x03\x04" + data[4:], data],
        "is to no datagram that",
    ),
    "an empty one": (lambda data: [b"", data], "of 0 bytes is to no datagram"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_fails_the_point(udp: Path, wrong: str) -> None:
    spoil, reason = WRONG[wrong]
    with far_side(lambda n, data: spoil(data) if n == 7 else [data]) as (way, _):
        result = only(kernels.run(udp, *way, point()))
    assert result["status"] == "fail"
    assert reason in result["reason"]


@pytest.mark.parametrize("wrong", WRONG_ON_SCHEDULE)
def test_a_wrong_answer_fails_a_schedule(udp: Path, wrong: str) -> None:
    spoil, reason = WRONG_ON_SCHEDULE[wrong]
    with far_side(lambda n, data: spoil(data) if n == 7 else [data]) as (way, _):
        result = only(kernels.run(udp, *way, point("open", gap_ns=50_000)))
    assert result["status"] == "fail"
    assert reason in result["reason"]


@pytest.mark.parametrize("method", [*METHODS, "open"])
def test_one_lost_of_many_is_counted(udp: Path, method: str) -> None:
    """And its answer, which comes too late, is no other one's."""

    def answers(number: int, datagram: bytes) -> list[bytes | int]:
        late = [50] if number == 51 and method != "open" else []
        return [] if number == 50 else [*late, datagram]

    with far_side(answers) as (way, _):
        result = only(kernels.run(udp, *way, point(method, 200, 64, gap_ns=1000)))
    seen = result["observations"]
    assert (result["status"], seen["datagrams_lost"], seen["round_trips"]) == ("ok", 1, 202)


@pytest.mark.parametrize("wait", WAITS)
def test_too_many_lost_fail_and_are_given_up(udp: Path, wait: str) -> None:
    with far_side(lambda n, data: [] if n > 5 else [data]) as (way, got):
        result = only(kernels.run(udp, *way, f"--wait={wait}", point()))
    assert result["status"] == "fail"
    assert "2 datagrams of 23 planned have no answer" in result["reason"]
    assert len(got) == 6 + 2


@contextmanager
def endless(udp: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A kernel that goes on for long, and its far side."""
    options = [f"--near-address={HERE}", f"--far-address={HERE}"]
    process = subprocess.Popen(
        [str(udp), *options, point(samples=100_000, gap_ns=1_000_000)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        far: list[int] = []
        while not far and process.poll() is None:
            far = children(process.pid)
            time.sleep(0.01)
        assert process.stdout is not None
        process.stdout.readline()  # the start line: the far side is ready
        yield process, far[0]
    finally:
        process.kill()
        process.communicate()


def test_a_far_side_that_is_killed_ends_the_measuring(udp: Path) -> None:
    with endless(udp) as (process, far):
        os.kill(far, signal.SIGKILL)
        _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert err.startswith("the far side was ended by signal 9")
    assert err.count("\n") == 1


@pytest.mark.parametrize("order", [CPUS[:2], CPUS[1::-1]])
def test_each_side_stands_where_it_is_wanted(
    udp: Path, monkeypatch: pytest.MonkeyPatch, order: list[int]
) -> None:
    """Where those of a program beside it stand, which the measurer starts in this order."""
    absent = max(CPUS) + 1
    monkeypatch.setenv("OMP_PLACES", "".join(f",{{{cpu}}}" for cpu in [absent, *order])[1:])
    with endless(udp) as (process, far):
        assert [os.sched_getaffinity(pid) for pid in (process.pid, far)] == [{cpu} for cpu in order]


def test_the_far_side_dies_with_the_near_one(udp: Path) -> None:
    with endless(udp) as (process, far):
        process.kill()
        process.communicate()
        until = time.monotonic() + LIMIT_S
        while is_running(far) and time.monotonic() < until:
            time.sleep(0.01)
        assert not is_running(far)


@contextmanager
def served(udp: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The kernel as an echo server at a free port, once it says that it answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind((HERE, 0))
        port = free.getsockname()[1]
    command = [str(udp), "--serve", f"--bind={HERE}", f"--port={port}", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert f"{HERE} port {port}" in process.stdout.readline()
        yield process, port
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_quietly(udp: Path, wait: str, end: signal.Signals) -> None:
    with served(udp, f"--wait={wait}") as (process, _):
        process.send_signal(end)
        assert process.communicate(timeout=LIMIT_S) == ("", "")
        assert process.returncode == 0


def test_a_server_answers_as_much_as_it_got_and_never_a_server(udp: Path) -> None:
    """Another one like itself has its port; the two would answer each other for ever."""
    with (
        served(udp) as (_, port),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as alike,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        alike.bind(("127.0.0.2", port))
        other.settimeout(LIMIT_S)
        alike.sendto(b"again", (HERE, port))
        for datagram in (b"", b"x", bytes(range(256)) * 200):
            other.sendto(datagram, (HERE, port))
            assert other.recv(65536) == datagram
        for side in (alike, other):
            side.setblocking(False)
            with pytest.raises(BlockingIOError):
                side.recv(65536)


def test_a_server_measured_from_here(udp: Path) -> None:
    with served(udp, "--wait=spin") as (_, port):
        way = [f"--far-address={HERE}", f"--port={port}", "--wait=spin"]
        (seen,) = good(kernels.run(udp, *way, point()))
    assert seen["device_is_loopback"] == 1  # found out by the way to it, without --near-address


REFUSED_SERVERS = {
    "--serve": "lacks --port, or --bind",
    "--serve --bind=127.0.0.1": "lacks --port, or --bind",
    "--serve --port=7707": "lacks --port, or --bind",
    "--serve --bind=0.0.0.0 --port=7707": "lacks --port, or --bind",
    "--serve --bind=198.51.100.7 --port=7707": "198.51.100.7 is not an address of this host",
    "--serve --bind=224.0.0.1 --port=7707": "224.0.0.1 is not an address of this host",
    "--serve --bind=localhost --port=7707": "'localhost' is not an IPv4 address",
    "--serve --bind=127.0.0.1 --port=0": "'0' is not a whole number from 1 to 65535",
    "--serve --bind=127.0.0.1 --port=TAKEN": "Address already in use",
    "--serve --bind=127.0.0.1 --port=7707 --wait=doze": "'doze' is neither block nor spin",
    f"--bind=127.0.0.1 {point()}": "--bind is for --serve alone",
}


@pytest.mark.parametrize("arguments", REFUSED_SERVERS)
def test_servers_that_cannot_be_are_refused(udp: Path, arguments: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((HERE, 0))
        port = str(taken.getsockname()[1])
        done = kernels.run(udp, *arguments.replace("TAKEN", port).split())
    assert (done.returncode, done.stdout) == (1, "")
    assert REFUSED_SERVERS[arguments] in done.stderr
    assert done.stderr.count("\n") == 1


PAIR = f"--near-address={HERE} --far-address={HERE}"
BAD_ARGUMENTS = {
    point(): "--far-address is missing",
    f"--far-address=10.0.0 {point()}": "'10.0.0' is not an IPv4 address",
    f"--far-address=198.51.100.7 --near-address={HERE} {point()}": "not an address of the far side",
    f"--far-address={HERE} --near-address=198.51.100.7 {point()}": "not an address of this host",
    f"{PAIR} --far-namespace=/nowhere {point()}": "/nowhere cannot be opened",
    f"{PAIR} --far-namespace=/proc/self/ns/net --port=9 {point()}": "leave one out",
    f"{PAIR} --emulated-switches=5 {point()}": "'5' is not a whole number from 0 to 4",
    f"{PAIR} --emulated-switches=1 {point()}": "--switch-namespace is missing",
    f"{PAIR} --link_bits_per_s=fast {point()}": "'fast' is not a whole number",
    f"{PAIR} {point(payload_bytes=3)}": "payload_bytes=3 is not from 4 to 1408",
    f"{PAIR} {point(payload_bytes=1409)}": "payload_bytes=1409 is not from 4 to 1408",
    f"{PAIR} {point('open')}": "gap_ns=0 is not from 1",
    f"{PAIR} {point(gap_ns=60_000_000_001)}": "gap_ns=60000000001 is not from 0",
    f"{PAIR} {point()},loops=1": "loops= twice",
    f"{PAIR} {point().replace('loops=1', 'loops=2')}": "each round trip is a sample",
    f"{PAIR} --bytes=64 {point()}": "'--bytes=64' is unknown",
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_in_one_sentence(udp: Path, arguments: str) -> None:
    done = kernels.run(udp, *arguments.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert BAD_ARGUMENTS[arguments] in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_cpu_is_too_few(udp: Path) -> None:
    under = ("taskset", "--cpu-list", str(CPUS[0]))
    done = kernels.run(udp, *PAIR.split(), point(), under=under)
    assert done.returncode == 77
    end = json.loads(done.stdout.splitlines()[-1])
    assert "may use 1 CPU" in end["reason"]


def test_what_is_no_network_namespace_is_not_entered(udp: Path) -> None:
    done = kernels.run(udp, *PAIR.split(), "--far-namespace=/proc/self/ns/uts", point())
    assert done.returncode == 77
    assert "cannot be entered" in done.stderr


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_sanitizers_find_nothing(name: str, hosts: network.Network, tmp_path: Path) -> None:
    program = build(tmp_path / "udp", *SANITIZERS, name=name)
    asked = [point(method, 5, 1407) for method in METHODS]
    on_schedule = [point(method, 5, 1407, gap_ns=1000) for method in ("open", "open-from-send")]
    for wait in WAITS:
        good(start(program, hosts, VETH, f"--wait={wait}", *asked, *on_schedule))
        good(start(program, hosts, EMULATED, f"--wait={wait}", *asked))
    with far_side(lambda _, data: [data[:-1], data, data]) as (way, _):
        assert only(kernels.run(program, *way, asked[0]))["status"] == "fail"
