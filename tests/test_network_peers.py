"""Peers with a server in host B: sockperf's recorded output, what it accepts, and starts of
stand-ins that go wrong."""

from __future__ import annotations

import os
import random
import shutil
import socket
import stat
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT

from benchbook import network
from benchbook.core.errors import BenchbookError
from benchbook.define import catalogue, peers
from benchbook.define.points import Point
from benchbook.measure import child_process as started_module
from benchbook.measure.child_process import Started
from benchbook.measure.invocation import PointResult, Request, invoke, start_ahead
from benchbook.measure.starter import Starter
from benchbook.network import Network, serving
from benchbook.network.serving import NotServingError, Server
from benchbook.peers.matching import matched, refusal
from benchbook.peers.parsers import NotUnderstoodError, sockperf
from benchbook.peers.start import PeerStart, ServerStart, prepare

OUTPUTS = Path(__file__).parent / "peer_outputs"
CPUS = sorted(os.sched_getaffinity(0))[:2]
TRIES = 3  # on a machine so busy that no round trip ends within half a second
COUNTS = {"loops": 1, "samples": 50, "warmup": 20}
SPINNING = (OUTPUTS / "sockperf-3.7-spinning.txt").read_text()
TRIP = {
    "path": "veth",
    "switches": 0,
    "link_bits_per_s": 0,
    "wait": "spin",
    "payload_bytes": 1024,
    "gap_ns": 0,
    "method": "one-socket",
}


# --- The parser


def test_sockperf_gives_every_round_trip_of_its_log() -> None:
    found = sockperf.parse(SPINNING)
    assert found.time_ns[:3] == [44_463, 11_902, 97_042]
    assert len(found.time_ns) == 23
    assert (min(found.time_ns), max(found.time_ns)) == (11_902, 42_492_683)  # as it says itself
    assert (found.declared_bytes, found.loops, found.cpus) == (1024, 1, [])


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("rtt(usec)", "latency(usec)", "no log of round trips"),
        ("--msg-size=1024", "--msg-size=all", "tell the size, number"),
        ("dropped messages = 0", "dropped messages = 3", "3 of its messages were lost, 0 came tw"),
        ("out-of-order messages = 0", "out-of-order messages = 1", "0 came twice and 1 late"),
        ("\n1, 2.40", "\n7, 2.40", "line 1 of its log is '7, 2.40"),
        ("11.902\n2,", "nan\n2,", "line 1 of its log is '1, 2.4"),
        ("11.902\n2,", "0.000\n2,", "line 1 of its log contradicts itself"),
        ("11.902\n2,", "11.992\n2,", "line 1 of its log contradicts itself"),
        ("1, 2.403413929, 2.403425831, 11.902\n", "", "its log has 22 of 23 round trips"),
    ],
)
def test_sockperf_that_says_something_else_is_not_understood(
    old: str, new: str, reason: str
) -> None:
    assert old in SPINNING
    with pytest.raises(NotUnderstoodError) as why:
        sockperf.parse(SPINNING.replace(old, new))
    assert reason in str(why.value)


@pytest.mark.parametrize(
    "text",
    ["", (OUTPUTS / "sockperf-3.7-no-server.txt").read_text(), SPINNING[: SPINNING.index("13, ")]],
)
def test_sockperf_without_a_whole_log_is_not_understood(text: str) -> None:
    with pytest.raises(NotUnderstoodError):
        sockperf.parse(text)


# --- What a peer with a server accepts


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return catalogue.definition(ROOT, "udp")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"path": "bridges", "switches": 4}, ""),
        ({"path": "loopback"}, ""),
        ({"payload_bytes": 14}, ""),
        ({"payload_bytes": 4}, "sockperf takes payload_bytes from 14 on"),
        ({"wait": "block"}, "sockperf measures one socket for all only with wait=spin"),
        ({"gap_ns": 1000}, "sockperf measures one socket for all only with gap_ns=0"),
        ({"method": "socket-each"}, "sockperf measures no a socket for each"),
        (
            {"path": "emulated", "switches": 1},
            "over path=emulated a program of ours answers or forwards, not sockperf",
        ),
        (
            {"path": "peer"},
            "over path=peer a program of ours answers or forwards, not sockperf",
        ),
    ],
)
def test_sockperf_measures_the_points_that_it_can(
    content: dict[str, Any], changes: dict[str, Any], reason: str
) -> None:
    factors = TRIP | changes
    spec = peers.of(content)["sockperf"]
    assert refusal("sockperf", spec, factors, content["names"]) == reason
    ours = Point(spec["twin"], factors)
    theirs, (row,) = matched(content, [ours])
    assert [start.factors for start in theirs] == ([] if reason else [factors])
    assert row["reason"] == reason


def test_its_command_lines_name_both_ends(content: dict[str, Any]) -> None:
    start = prepare(peers.of(content)["sockperf"], TRIP, COUNTS, "10.77.0.2")
    port = str(network.SERVER_PORT)
    assert {"--msg-size=1024", "--ip=10.77.0.2", f"--port={port}"} < set(start.arguments)
    assert start.server is not None
    assert start.server.arguments == ("server", "-i", "10.77.0.2", "-p", port, "--nonblocked")
    # It runs by time, and leaves out its warm-up itself.
    assert (start.repetitions, start.warmup, start.declared_bytes) == (None, 0, 1024)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"server": {"arguments": ["-l"], "protocol": "udp"}}, "must say where {port} goes"),
        ({"server": {"arguments": ["{bytes}{port}"], "protocol": "udp"}}, "names 'bytes'"),
        ({"server": {"arguments": ["{port"], "protocol": "udp"}}, "mend the braces"),
        ({"server": {"arguments": ["{port}"], "protocol": "sctp"}}, "sctp"),
        ({"least": {"pages": 1}}, "key 'least' names 'pages'"),
        ({"by_time": False}, "must say where {repetitions} go"),
        (
            {"measures": [{"setting": {}, "arguments": ["{repetitions}"]}]},
            "must not say where {repetitions} go",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence_that_names_it(
    tmp_path: Path, content: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    path = tmp_path / "peers" / "other.yaml"
    path.parent.mkdir()
    spec = yaml.safe_load((ROOT / "kernels/udp/peers/sockperf.yaml").read_text()) | changes
    path.write_text(yaml.safe_dump(spec))
    ours = {name: variant for name, variant in content["variants"].items() if "peer" not in variant}
    with pytest.raises(BenchbookError) as refused:
        peers.read(tmp_path, {**content, "variants": ours})
    assert words in str(refused.value)
    assert str(path) in str(refused.value)


# --- Starts: a stand-in plays both ends, as its first argument says

# Tells the client, by a file, who it is and on which CPUs, and listens where it is told.
SERVER = """
import os, socket, sys, time
with open(sys.argv[3], "w") as told:
    told.write(f"{os.getpid()} {os.sched_getaffinity(0)}\\n")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.bind((sys.argv[1], int(sys.argv[2])))
    time.sleep(60)
"""


def program(folder: Path, server: str, client: str) -> Path:
    path = folder / "standin"
    path.write_text(
        f"#!/bin/sh\nif [ $1 = server ]; then shift; {server}\nelse shift; {client}\nfi\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (folder / "server.py").write_text(SERVER)
    return path


def peer(port: int, **changes: Any) -> PeerStart:
    server = ServerStart(("server", "127.0.0.1", str(port)), "udp", port)
    return PeerStart(
        **{
            "tool": "sockperf",
            "parser": "sockperf",
            "arguments": ("client",),
            "repetitions": None,
            "warmup": 0,
            "declared_bytes": 1024,
            "server": server,
        }
        | changes
    )


@pytest.fixture
def port() -> int:
    """Free at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def started(path: Path, start: PeerStart, limit_s: float = 20) -> PointResult:
    (point,) = invoke(Request(path, {}, [{}], CPUS, time_limit_s=limit_s, peer=start)).points
    return point


def is_there(told: Path) -> bool:
    return Path(f"/proc/{told.read_text().split()[0]}").exists()


def test_the_server_listens_before_the_client_starts_and_ends_after_it(
    tmp_path: Path, port: int
) -> None:
    told, seen = tmp_path / "told", tmp_path / "seen"
    path = program(
        tmp_path,
        f'exec python3 {tmp_path}/server.py "$1" "$2" {told}',
        f"cat {told} > {seen}; grep Cpus_allowed_list /proc/self/status >> {seen}; "
        f"cat {OUTPUTS}/sockperf-3.7-spinning.txt",
    )
    point = started(path, peer(port))
    assert (point.state, point.reason, point.warm_up, len(point.time_ns)) == ("ok", "", 0, 23)
    assert point.bytes_declared == 1024
    # It was there when the client ran, on the second CPU where there is one, and is gone now.
    pid, where = seen.read_text().splitlines()[0].split(" ", 1)
    assert where == str({CPUS[-1]})
    assert seen.read_text().splitlines()[1].split() == ["Cpus_allowed_list:", str(CPUS[0])]
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("server", "client", "state", "reason"),
    [
        (
            "echo no such option; exit 3",
            "echo never",
            "failed",
            "sockperf: its server ended with exit status 3: no such option",
        ),
        ("kill -SEGV $$", "echo never", "failed", "sockperf: its server ended with signal 11"),
        ("{serve}", "echo lost >&2; exit 2", "failed", "exit status 2: lost"),
        ("{serve}", "kill -ILL $$", "failed", "was ended by signal 4 (SIGILL)"),
        ("{serve}", "exec sleep 60", "timeout", "did not end within its time limit of 0.6 s"),
        (
            "{serve}",
            "cat {silent}",
            "failed",
            "sockperf: No messages were received from the server. Is the server down?",
        ),
        (
            "{serve}",
            "kill -KILL `cut -d' ' -f1 {told}`; sleep 0.2; cat {good}",
            "failed",
            "sockperf: its server ended with signal 9",
        ),
    ],
)
def test_a_start_that_goes_wrong_is_a_result_and_leaves_no_server(
    tmp_path: Path, port: int, server: str, client: str, state: str, reason: str
) -> None:
    told = tmp_path / "told"
    names = {
        "serve": f'exec python3 {tmp_path}/server.py "$1" "$2" {told}',
        "told": told,
        "good": OUTPUTS / "sockperf-3.7-spinning.txt",
        "silent": OUTPUTS / "sockperf-3.7-no-server.txt",
    }
    path = program(tmp_path, server.format(**names), client.format(**names))
    point = started(path, peer(port), limit_s=0.6 if "sleep 60" in client else 120)
    assert (point.state, point.reason) == (state, reason)
    assert not point.time_ns
    assert not told.exists() or not is_there(told)


def test_a_server_that_never_listens_is_given_up(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LIMIT_S", 0.3)
    point = started(program(tmp_path, "exec sleep 60", "echo never"), peer(port))
    assert point.state == "failed"
    assert point.reason == f"sockperf: its server does not listen on udp port {port}"


def test_the_port_of_another_program_is_not_taken_for_the_servers(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LIMIT_S", 0.3)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", port))
        path = program(tmp_path, "exec sleep 60", "echo never")
        assert "does not listen" in started(path, peer(port)).reason


def test_what_a_server_prints_can_be_read_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "import socket, time\n"
        "one = socket.create_server(('127.0.0.1', 0))\n"
        "print('first', one.getsockname()[1], flush=True)\n"
        "one.accept()[0].close()\n"
        "print('second', flush=True)\n"
    )
    (tmp_path / "server.py").write_text(script)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(["python3", str(tmp_path / "server.py")], stdout=output)
        server = Server(process, output)
        until = time.monotonic() + 120
        while not (words := server.printed().split()) and time.monotonic() < until:
            time.sleep(0.01)
        assert words[0] == "first"
        assert server.ended() == ""
        socket.create_connection(("127.0.0.1", int(words[1]))).close()
        assert server.finish().split() == ["first", words[1], "second"]
    with tempfile.TemporaryFile() as output:
        slow = Server(subprocess.Popen(["sleep", "60"]), output)
        monkeypatch.setattr(serving, "LIMIT_S", 0.1)
        with pytest.raises(NotServingError, match="did not end within"):
            slow.finish()
        slow.process.kill()
        slow.process.wait()


# --- Started ahead, while others are measured


def state_of(process: Started) -> str:
    return Path(f"/proc/{process.process.pid}/stat").read_text().rpartition(")")[2].split()[0]


SLEEPS = "echo before; echo Warmup stage; sleep 0.2; touch {ran}; cat {good}"


@pytest.fixture
def sleeper(tmp_path: Path, port: int) -> Request:
    """A start of a client that sleeps before it measures, which it tells by a file."""
    names = {"ran": tmp_path / "ran", "good": OUTPUTS / "sockperf-3.7-spinning.txt"}
    path = program(
        tmp_path,
        f'exec python3 {tmp_path}/server.py "$1" "$2" {tmp_path}/told',
        SLEEPS.format(**names),
    )
    start = peer(port, sleeps_after="Warmup stage")
    return Request(path, {}, [{}], CPUS, time_limit_s=120, peer=start)


def test_a_client_that_sleeps_waits_stopped_for_its_turn(tmp_path: Path, sleeper: Request) -> None:
    waiting = start_ahead(sleeper)
    assert waiting is not None
    time.sleep(0.4)  # its sleep is over, and it still waits
    assert state_of(waiting) == "T"
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "told").exists()  # no server runs beside others
    (point,) = invoke(sleeper, waiting).points
    assert (point.state, point.reason, len(point.time_ns)) == ("ok", "", 23)
    assert (tmp_path / "ran").exists()
    assert waiting.process.returncode == 0


@pytest.mark.parametrize(
    "client",
    ["echo no stage at all", "echo Warmup stage; exit 3", "echo Warmup stage; while :; do :; done"],
)
def test_a_client_that_does_not_sleep_where_it_should_is_not_started_ahead(
    tmp_path: Path, port: int, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(started_module, "LIMIT_S", 0.3)
    path = program(tmp_path, "exit 1", f"echo $$ > {tmp_path}/pid; {client}")
    start = peer(port, sleeps_after="Warmup stage")
    assert start_ahead(Request(path, {}, [{}], CPUS, peer=start)) is None
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_a_waiting_client_ends_with_its_server(sleeper: Request, tmp_path: Path) -> None:
    waiting = start_ahead(sleeper)
    assert waiting is not None
    (tmp_path / "server.py").write_text("raise SystemExit('no port')")
    (point,) = invoke(sleeper, waiting).points
    assert point.reason == "sockperf: its server ended with exit status 1: no port"
    assert waiting.process.returncode is not None
    assert not (tmp_path / "ran").exists()


def test_each_turn_has_the_conditions_of_its_own_start(sleeper: Request, tmp_path: Path) -> None:
    """The padding of a start that was made ahead is that of the program that ran."""
    made = [replace(sleeper, environment_padding_bytes=16 * n) for n in range(1, 4)]

    class Made(Starter):
        def request(self, *_: Any) -> Request:
            return made.pop(0)

    here = Made(None, tmp_path, [], lambda _: sleeper.binary, None)  # type: ignore[arg-type]
    point = Point("sockperf", {})
    paddings = [here.start([point], {}, random.Random(1))[0] for _ in range(2)]
    assert [request.environment_padding_bytes for request in paddings] == [16, 32]
    (waiting,) = [process for _, process in here.ahead.values()]
    assert state_of(waiting) == "T"
    here.close()
    assert waiting.process.returncode is not None
    assert not here.ahead


# --- The real program, over a network of its own


def test_sockperf_goes_round_between_two_hosts(content: dict[str, Any]) -> None:
    program = shutil.which("sockperf")
    if program is None:
        pytest.skip("sockperf is not on PATH")
    one = Network()
    try:
        one.make([TRIP])
        door = one.door(TRIP)
        if door.refused:
            pytest.skip(door.refused)
        spec = peers.of(content)["sockperf"]
        start = prepare(spec, TRIP, COUNTS, door.options["far-address"])
        asked = Request(Path(program), {}, [{}], CPUS, time_limit_s=120, peer=start, door=door)
        for _ in range(TRIES):
            waiting = start_ahead(asked)
            assert waiting is not None
            assert state_of(waiting) == "T"
            (point,) = invoke(asked, waiting).points
            if "No valid observations" not in point.reason:
                break
    finally:
        one.close()
    assert (point.state, point.reason) == ("ok", "")
    assert point.time_ns
    assert point.bytes_declared == 1024
