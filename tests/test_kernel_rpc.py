"""The rpc kernel: calls and as many bytes without them, and far sides that misbehave."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from two_hosts import CPUS, HERE, LOOPBACK, SANITIZERS, VETH, children, good, is_running, start

import kernels
from benchbook import network
from benchbook.define.catalogue import definition
from benchbook.host import link_libraries
from kernels import DEATH_LIMIT_S, KERNELS, LIMIT_S, points

SOURCES = [KERNELS / "rpc" / source for source in definition(ROOT, "rpc")["sources"]]
PAIR = (f"--near-address={HERE}", f"--far-address={HERE}")
METHODS, PROTOCOLS = ("call", "exchange"), ("tcp", "udp")
EVERY = [(method, protocol) for method in METHODS for protocol in PROTOCOLS]
# Calls sleep.
WAITED = [
    *((method, protocol, "block") for method, protocol in EVERY),
    *(("exchange", protocol, "spin") for protocol in PROTOCOLS),
]
# Over messages calls may spin too, for the library does not wait for them.
OVER_MESSAGES = [
    (method, protocol, wait)
    for method in METHODS
    for protocol in ("fifo", "signal")
    for wait in ("block", "spin")
]
SERVERS = 3
HOSTILE_CALLS = 10_000
MOST_LOST = 4  # then the kernel gives up

# Stands before the far side's taking in, and does to one request, or to each from it on, what the
# environment says.
FAULTS = r"""
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t __real_far_take(int socket, const void *payload, size_t bytes);
uint32_t __wrap_far_take(int socket, const void *payload, size_t bytes);

static int is_asked(const char *fault) {
    const char *asked = getenv("FAULT");
    return asked && strcmp(asked, fault) == 0;
}

uint32_t __wrap_far_take(int socket, const void *payload, size_t bytes) {
    static unsigned char own[8192];
    static int number;
    uint32_t changed = 0;
    memcpy(own, payload, bytes);
    if (++number == 8) {
        own[bytes - 1] ^= is_asked("a bit") ? 128 : 0;
        bytes -= is_asked("shorter");
        changed = is_asked("answer");
        if (is_asked("killed")) {
            raise(SIGKILL);
        }
        if (is_asked("late")) {
            usleep(1300000);
        }
    }
    while (number >= 8 && is_asked("dumb")) {
        pause();
    }
    return __real_far_take(socket, own, bytes) ^ changed;
}
"""

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="both sides need a CPU each")


@cache
def made_stubs() -> tuple[str, list[Path]]:
    """The folder of the stubs, and those in C. One for all builds: what is compiled is kept by its
    options, and this is one of them."""
    place = tempfile.TemporaryDirectory(prefix="benchbook-stubs-")
    atexit.register(place.cleanup)
    return place.name, link_libraries.stubs(KERNELS / "rpc/transfer.x", Path(place.name))


def build(
    folder: Path,
    *flags: str,
    name: str = "gcc",
    sources: Sequence[Path] = SOURCES,
    more: tuple[Path, ...] = (),
    link: str = "",
) -> Path:
    """As the build stage does; the stubs are nobody's, and their warnings too."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    needed = link_libraries.find(definition(ROOT, "rpc"), [name])
    if needed.missing:
        pytest.skip(needed.missing)
    folder.mkdir(exist_ok=True)
    place, stubs = made_stubs()
    given = [*(flags or ("-O2",)), *needed.compile, f"-I{place}"]
    own = kernels.all_compiled([*sources, *more], *given, compiler=name)
    made = kernels.all_compiled(stubs, *given, link_libraries.UNWARNED, compiler=name)
    harness = kernels.harness(*(flags or ("-O2",)), compiler=name)
    libraries = [*needed.link, *([link] if link else [])]
    return kernels.linked(
        folder / "rpc", *own, *made, harness, flags=flags, compiler=name, libraries=libraries
    )


@pytest.fixture(scope="module")
def rpc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("rpc"))


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faulty")
    (folder / "faults.c").write_text(FAULTS)
    return build(folder, more=(folder / "faults.c",), link="-Wl,--wrap=far_take")


@pytest.fixture(scope="module")
def hosts() -> Iterator[network.Network]:
    with network.made([VETH, LOOPBACK], None) as made:
        yield made


def point(
    method: str = "call", protocol: str = "tcp", samples: int = 20, payload_bytes: int = 1024
) -> str:
    own = f"protocol={protocol},payload_bytes={payload_bytes}"
    return f"--point=method={method},samples={samples},warmup=3,loops=1,{own}"


def test_every_payload_arrives_and_is_answered(rpc: Path, hosts: network.Network) -> None:
    sizes = [4, 9, 1024]
    asked = [point(*pair, payload_bytes=size) for pair in EVERY for size in sizes]
    done = start(rpc, hosts, VETH, *asked)
    seen = good(done)
    assert [result["bytes_declared"] for result in points(done.stdout)] == sizes * 4
    libraries = {values.pop("procedure_library") for values in seen}
    assert re.fullmatch(r"libtirpc\.so[.\d]*", *libraries)
    # None, but where a loaded machine keeps the far side from its CPU for 40 ms.
    assert min(values.pop("delayed_acks") for values in seen if values["stream"]) == 0
    both = {
        "round_trips": 23,
        "sockets_opened": 1,
        "spinning": 0,
        "affinity_cpus": 1,
        "device_is_loopback": 0,
        "device_mtu_bytes": 1500,
    }
    # The library sets TCP_NODELAY at the far end alone.
    own = {
        "tcp": {"tcp_nodelay": 0, "tcp_retransmits": 0, "transfers": 23},
        "udp": {"datagrams_lost": 0, "receive_buffer_errors": 0},
    }
    expected = []
    for method, protocol in EVERY:
        of_call = {"procedure_calls": 23 * (method == "call"), "stream": int(protocol == "tcp")}
        if protocol == "tcp":
            of_call["far_tcp_nodelay"] = int(method == "call")
        for size in (4, 12, 1024):  # in whole words
            mark = 4 * (protocol == "tcp")
            message = {"request_bytes": mark + 44 + size, "answer_bytes": mark + 28}
            expected.append({**both, **of_call, **own[protocol], **message})
    assert seen == expected


@pytest.mark.parametrize("wait", ["block", "spin"])
def test_every_payload_arrives_by_messages_and_is_answered(
    rpc: Path, hosts: network.Network, wait: str
) -> None:
    kinds = [pair[:2] for pair in OVER_MESSAGES if pair[2] == wait]
    sizes = {4: 4, 9: 12, 1024: 1024}  # in whole words
    wanted = [point(*pair, payload_bytes=size) for pair in kinds for size in sizes]
    done = start(rpc, hosts, VETH, f"--wait={wait}", *wanted)
    seen = good(done)
    assert [result["bytes_declared"] for result in points(done.stdout)] == [*sizes] * len(kinds)
    # A side without a CPU for 2 ms is taken for one that lost a frame. What was sent again at the
    # end of a point may arrive in the next one.
    resent = sum(values.pop("frames_resent") for values in seen)
    assert resent >= sum(values.pop("frames_repeated") for values in seen)
    for values in seen:
        values.pop("procedure_library")
    assert seen == [
        {
            "round_trips": 23,
            "sockets_opened": 0,
            "stream": 0,
            "procedure_calls": 23 * (method == "call"),
            "request_bytes": 44 + words,
            "answer_bytes": 28,
            "spinning": int(wait == "spin"),
            "affinity_cpus": 1,
            "device_is_loopback": 0,
            "device_mtu_bytes": 1500,
            "ethernet_frames": 1,
            "mapped_rings": 1,
            "queued": int(protocol == "fifo"),
            "interrupting": 0,
            "resend_timeout_ns": 2_000_000,
        }
        for method, protocol in kinds
        for words in sizes.values()
    ]


def hostile(folder: Path, *flags: str, name: str = "gcc") -> Path:
    sources = [source for source in SOURCES if source.name != "rpc.c"]
    return build(folder, *flags, name=name, sources=sources, more=(ROOT / "tests/rpc_hostile.c",))


def answered(program: Path, calls: int, seed: int) -> tuple[int, int, str]:
    """Hostile calls that were accepted and refused, and how the killed server was named."""
    done = kernels.run(program, str(calls), str(seed))
    assert (done.returncode, done.stderr) == (0, "")
    accepted, refused, sentence = done.stdout.splitlines()
    return int(accepted.split()[1]), int(refused.split()[1]), sentence


def test_hostile_calls_by_messages_are_refused_and_good_ones_still_served(tmp_path: Path) -> None:
    program = hostile(tmp_path / "hostile")
    for seed in range(2):
        accepted, refused, sentence = answered(program, HOSTILE_CALLS, seed)
        assert accepted + refused == HOSTILE_CALLS
        # A change of credentials' contents, or of a call's number, is no fault of the call.
        assert refused > HOSTILE_CALLS / 2
        assert sentence.startswith("the server of messages has ")


def test_without_rpc_as_many_bytes_go_there_and_back(rpc: Path, tmp_path: Path) -> None:
    """Over datagrams, where no acknowledgement is sent by itself."""
    count = tmp_path / "count"
    count.write_text('#!/bin/sh\ngrep "a0:" /proc/net/dev\n"$@"\ngrep "a0:" /proc/net/dev\n')
    count.chmod(0o755)
    moved = []
    for method in METHODS:
        with network.made([VETH], None) as hosts:
            door = hosts.door(VETH)
            options = [f"--{name}={value}" for name, value in door.options.items()]
            asked = point(method, "udp", payload_bytes=509)
            done = start(count, hosts, VETH, *([str(rpc), *options, asked]), told=False)
        assert done.returncode == 0, done.stderr
        before, after = (
            [int(word) for word in line.split(":")[1].split()]
            for line in done.stdout.splitlines()
            if "a0:" in line
        )
        moved.append([late - early for early, late in zip(before, after, strict=True)])
    assert moved[0] == moved[1]
    assert moved[0][0] == 23 * (14 + 20 + 8 + 28)  # received
    assert moved[0][8] == 23 * (14 + 20 + 8 + 44 + 512)  # sent


def test_who_spins_does_not_sleep(rpc: Path, hosts: network.Network) -> None:
    for wait, sleeps in (("block", True), ("spin", False)):
        asked = [point("exchange", protocol, samples=200) for protocol in PROTOCOLS]
        done = start(rpc, hosts, VETH, f"--wait={wait}", *asked)
        assert [values["spinning"] for values in good(done)] == [int(not sleeps)] * 2
        # Far less than all: on a loaded machine an answer may be there before it is asked for.
        for result in points(done.stdout):
            assert (result["usage"]["voluntary_switches"] > 10) is sleeps


def test_loopback_is_seen_to_be_one(rpc: Path, hosts: network.Network) -> None:
    (seen,) = good(start(rpc, hosts, LOOPBACK, point()))
    assert (seen["device_is_loopback"], seen["device_mtu_bytes"]) == (1, 65536)


def with_fault(
    faulty: Path, fault: str, *asked: str, wait: str = "block"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(faulty), *PAIR, f"--wait={wait}", *asked],
        env={**os.environ, "FAULT": fault},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


WRONG = {
    "a bit": "what arrived is not what was sent",
    "shorter": "what arrived is not what was sent",
    "answer": "an answer is not that of its request",
}


@pytest.mark.parametrize(("method", "protocol"), EVERY)
@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_fails_the_point(
    faulty: Path, fault: str, method: str, protocol: str
) -> None:
    done = with_fault(faulty, fault, point(method, protocol))
    (result,) = points(done.stdout)
    assert (done.returncode, result["status"]) == (1, "fail")
    assert result["reason"] == f"{WRONG[fault]} (1 wrong of 23 round trips)"
    assert result["observations"]["round_trips"] == 22


@pytest.mark.parametrize(
    ("method", "wait"), [(method, wait) for method, protocol, wait in WAITED if protocol == "udp"]
)
def test_one_late_answer_of_many_is_lost(faulty: Path, method: str, wait: str) -> None:
    """And when it comes it is no other one's."""
    (seen,) = good(with_fault(faulty, "late", point(method, "udp", samples=200), wait=wait))
    # Under load the far side may get no CPU for as long again, which is no answer either.
    lost = seen["datagrams_lost"]
    assert 1 <= lost < MOST_LOST
    assert (seen["round_trips"], seen["sockets_opened"]) == (203 - lost, 1 + lost)


@pytest.mark.parametrize(("method", "protocol", "wait"), WAITED)
def test_who_answers_no_more_ends_the_point_in_time(
    faulty: Path, method: str, protocol: str, wait: str
) -> None:
    done = with_fault(faulty, "dumb", point(method, protocol, samples=1000), wait=wait)
    assert done.returncode == 1
    if protocol == "tcp":
        assert done.stderr == (
            "a request of 1072 bytes over tcp has no answer (time is out); check the network "
            "between the sides\n"
        )
        return
    (result,) = points(done.stdout)
    assert result["status"] == "fail"
    assert result["reason"].startswith("4 requests of 1003 planned have no answer")


@pytest.mark.parametrize(("method", "protocol"), EVERY)
def test_a_server_that_dies_ends_the_measuring(faulty: Path, method: str, protocol: str) -> None:
    done = with_fault(faulty, "killed", point(method, protocol))
    server = {"tcp": "streams", "udp": "datagrams"}[protocol] if method == "exchange" else "calls"
    assert done.returncode == 1
    assert done.stderr.startswith(f"the server of {server} was ended by signal 9")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("method", "protocol", "wait"), OVER_MESSAGES)
def test_a_server_of_messages_that_dies_or_stops_is_named_in_time(
    faulty: Path,
    hosts: network.Network,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    protocol: str,
    wait: str,
) -> None:
    wanted = point(method, protocol, samples=1000)
    for fault, words in (
        ("killed", "the server of messages was ended by signal 9"),
        ("dumb", "the server of messages has not answered for "),
    ):
        monkeypatch.setenv("FAULT", fault)
        began = time.monotonic()
        done = start(faulty, hosts, VETH, f"--wait={wait}", wanted)
        assert time.monotonic() - began < DEATH_LIMIT_S
        assert done.returncode == 1
        assert words in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("fault", WRONG)
@pytest.mark.parametrize(
    ("method", "protocol"), [pair[:2] for pair in OVER_MESSAGES if pair[2] == "block"]
)
def test_what_is_wrong_by_messages_fails_the_point(
    faulty: Path,
    hosts: network.Network,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    method: str,
    protocol: str,
) -> None:
    monkeypatch.setenv("FAULT", fault)
    done = start(faulty, hosts, VETH, point(method, protocol))
    (result,) = points(done.stdout)
    assert (done.returncode, result["status"]) == (1, "fail")
    assert result["reason"] == f"{WRONG[fault]} (1 wrong of 23 round trips)"


@contextmanager
def endless(rpc: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A kernel that goes on for long, and its servers."""
    command = [str(rpc), *PAIR, *(point(*pair, samples=1_000_000) for pair in EVERY)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # the start line: all servers are ready
            yield process, children(process.pid)
        finally:
            process.kill()
            process.communicate()


ENDS: dict[str, Callable[[int], None]] = {
    "Ctrl-C": lambda pid: os.killpg(pid, signal.SIGINT),
    "kill": lambda pid: os.kill(pid, signal.SIGTERM),
    "kill -9": lambda pid: os.kill(pid, signal.SIGKILL),
}


@pytest.mark.parametrize("end", ENDS)
def test_nothing_is_left_running(rpc: Path, end: str) -> None:
    with endless(rpc) as (process, servers):
        assert len(servers) == SERVERS
        ENDS[end](process.pid)
        process.wait(timeout=LIMIT_S)
        until = time.monotonic() + LIMIT_S
        while any(map(is_running, servers)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(map(is_running, servers))


@pytest.mark.parametrize(("server", "name"), list(enumerate(("calls", "streams", "datagrams"))))
def test_a_server_that_is_killed_is_named_also_where_nobody_asks_it(
    rpc: Path, server: int, name: str
) -> None:
    """The point that is measured is one of calls."""
    with endless(rpc) as (process, servers):
        os.kill(servers[server], signal.SIGKILL)
        _, errors = process.communicate(timeout=DEATH_LIMIT_S)
        assert errors.startswith(f"the server of {name} was ended by signal 9")
        assert not any(map(is_running, servers))


@pytest.mark.parametrize("end", ["kill", "kill -9"])
def test_nothing_is_left_running_of_messages(rpc: Path, hosts: network.Network, end: str) -> None:
    door = hosts.door(VETH)
    if door.refused:
        pytest.skip(door.refused)
    options = [f"--{name}={value}" for name, value in door.options.items()]
    command = [str(rpc), *options, point("call", "fifo", samples=1_000_000)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=door.inherits,
        preexec_fn=door.enter,  # noqa: PLW1509  pytest's own threads hold no lock here
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the start line: all servers are ready
        servers = children(process.pid)
        assert len(servers) == SERVERS + 1
        ENDS[end](process.pid)
        process.communicate(timeout=LIMIT_S)
        until = time.monotonic() + DEATH_LIMIT_S
        while any(map(is_running, servers)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(map(is_running, servers))


def test_taken_ports_are_named_with_a_remedy(rpc: Path, tmp_path: Path) -> None:
    """One free port is one too few: two servers listen for streams."""
    few = tmp_path / "few"
    few.write_text(
        "#!/bin/sh\necho 20000 20000 > /proc/sys/net/ipv4/ip_local_port_range || exit 99\n"
        'exec "$@"\n'
    )
    few.chmod(0o755)
    with network.made([VETH, LOOPBACK], None) as hosts:
        options = [f"--{name}={value}" for name, value in hosts.door(LOOPBACK).options.items()]
        done = start(few, hosts, LOOPBACK, str(rpc), *options, point(), told=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr == (
        f"the far side has no socket at {HERE} (Address already in use); free ports there, or "
        "check its limits\n"
    )


BAD_ARGUMENTS = {
    point(): "--far-address is missing",
    f"{' '.join(PAIR)} --port=7707 {point()}": "here it is started with the near one",
    f"{' '.join(PAIR)} --wait=spin {point()}": "method=call sleeps until its answer comes",
    f"{' '.join(PAIR)} {point(payload_bytes=3)}": "payload_bytes=3 is not from 4 to 8192",
    f"{' '.join(PAIR)} {point(payload_bytes=8193)}": "payload_bytes=8193 is not from 4 to 8192",
    f"{' '.join(PAIR)} {point(protocol='fifo', payload_bytes=1365)}": "give at most 1364",
    f"{' '.join(PAIR)} {point(protocol='fifo')}": "Ethernet frames go between two hosts",
    f"{' '.join(PAIR)} {point(protocol='sctp')}": "protocol=sctp is not a value of this key",
    f"{' '.join(PAIR)} {point().replace('loops=1', 'loops=2')}": "each round trip is a sample",
    f"{' '.join(PAIR)} --far-namespace=/nowhere {point()}": "/nowhere cannot be opened",
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_in_one_sentence(rpc: Path, arguments: str) -> None:
    done = kernels.run(rpc, *arguments.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert BAD_ARGUMENTS[arguments] in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_cpu_is_too_few(rpc: Path) -> None:
    under = ("taskset", "--cpu-list", str(CPUS[0]))
    done = kernels.run(rpc, *PAIR, point(), under=under)
    assert done.returncode == 77
    assert "may use 1 CPU" in json.loads(done.stdout.splitlines()[-1])["reason"]


@pytest.mark.parametrize("name", ["gcc", pytest.param("clang", marks=pytest.mark.long)])
def test_sanitizers_find_nothing(name: str, hosts: network.Network, tmp_path: Path) -> None:
    program = build(tmp_path / "built", *SANITIZERS, name=name)
    asked: list[Any] = [point(*pair, 5, size) for pair in EVERY for size in (4, 1023, 8192)]
    good(start(program, hosts, VETH, *asked))
    spinning = [point("exchange", protocol, 5, 1023) for protocol in PROTOCOLS]
    good(start(program, hosts, VETH, "--wait=spin", *spinning))
    for wait in ("block", "spin"):
        by_messages = [
            point(method, protocol, 5, size)
            for method, protocol, own_wait in OVER_MESSAGES
            if own_wait == wait
            for size in (4, 1023, 1364)
        ]
        good(start(program, hosts, VETH, f"--wait={wait}", *by_messages))
    answered(hostile(tmp_path / "hostile", *SANITIZERS, name=name), 2000, 5)
