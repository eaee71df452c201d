"""The network of one's own: laid, used, and gone with who laid it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchbook import network
from benchbook.core.errors import BenchbookError
from benchbook.host import capabilities
from benchbook.measure.child_process import started
from benchbook.network import Network, counters, wiring
from benchbook.network.namespaces import Namespaces, NotAllowedError
from benchbook.network.serving import NotServingError, serving

DIRECT = {"path": "veth", "switches": 0}
LOOPBACK = {"path": "loopback", "switches": 0}
LIMIT_S = 120
BUCKET = {"path": "bucket", "switches": 0, "link_bits_per_s": 100_000_000}


def bridges(count: int) -> dict:
    return {"path": "bridges", "switches": count}


@pytest.fixture
def laid():
    """A network that is closed afterwards; skipped where the kernel gives none."""
    one = Network()
    try:
        one.namespaces.add(wiring.NEAR, wiring.FAR)
    except NotAllowedError as why:
        pytest.skip(f"network namespaces are not allowed here: {why}")
    one.namespaces.close()
    yield one
    one.close()


ECHO = """
import socket, sys
near, far, inside = sys.argv[1:4]
import os
ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ours.bind((near, 0))
ours.settimeout(2)
if inside:
    import ctypes
    handle = os.open(inside, os.O_RDONLY)
    assert ctypes.CDLL(None).setns(handle, 0x40000000) == 0
theirs = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
theirs.bind((far, 0))
theirs.settimeout(2)
for number in range(3):
    ours.sendto(bytes([number]) * 1408, theirs.getsockname())
    text, back = theirs.recvfrom(2000)
    theirs.sendto(text, back)
    assert ours.recv(2000) == bytes([number]) * 1408
print("came back")
"""


def echo(network: Network, factors: dict) -> str:
    """What a program in host A says that sends datagrams to host B and back, from the first on."""
    door = network.door(factors)
    assert not door.refused
    done = subprocess.run(
        [sys.executable, "-c", ECHO, door.options["near-address"], door.options["far-address"],
         door.options.get("far-namespace", "")],
        preexec_fn=door.enter, pass_fds=door.inherits, capture_output=True, text=True,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_datagrams_come_back_over_every_line_from_the_first_on(laid) -> None:
    settings = [DIRECT, bridges(1), bridges(4), BUCKET, LOOPBACK]
    laid.make(settings)
    assert laid.refused == {}
    for factors in settings:
        assert echo(laid, factors) == "came back\n"


def named_namespaces() -> set[str]:
    named = Path("/run/netns")
    return {path.name for path in named.iterdir()} if named.exists() else set()


def test_nothing_of_it_is_seen_outside(laid) -> None:
    before, named = Path("/proc/net/dev").read_text().count(":"), named_namespaces()
    laid.make([DIRECT, bridges(2)])
    assert Path("/proc/net/dev").read_text().count(":") == before
    assert named_namespaces() <= named  # others may have some of their own


def test_two_beside_each_other_do_not_meet(laid) -> None:
    other = Network()
    try:
        laid.make([DIRECT])
        other.make([DIRECT])
        assert echo(laid, DIRECT) == echo(other, DIRECT) == "came back\n"
    finally:
        other.close()
    assert echo(laid, DIRECT) == "came back\n"


def test_each_emulated_switch_has_two_interfaces(laid) -> None:
    factors = {"path": "emulated", "switches": 3, "link_bits_per_s": 0}
    laid.make([factors])
    door = laid.door(factors)
    assert door.options["emulated-switches"] == 3
    name = next(iter(laid.lines.values())).emulator
    said = subprocess.run(
        ["cat", "/proc/net/dev"], preexec_fn=laid.namespaces.entering(name), text=True,
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert {line.split(":")[0].strip() for line in said.splitlines()[2:]} == {
        "lo", "s1a", "s1b", "s2a", "s2b", "s3a", "s3b",
    }  # fmt: skip


def run(code: str, *before: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*before, sys.executable, "-c", code], capture_output=True, text=True,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip


WITHOUT_ROOT = """
from benchbook.network import Network
one = Network()
one.make([{"path": "bridges", "switches": 1}])
print(one.namespaces.user is not None, one.refused)
"""


def test_without_rights_it_is_in_a_user_namespace(laid) -> None:
    drop = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
    done = run(WITHOUT_ROOT, *(drop if os.geteuid() == 0 else []))
    if "could not be made" in done.stdout:
        pytest.skip(f"user namespaces are not allowed here: {done.stdout}")
    assert done.stdout == "True {}\n", done.stderr


STAYS = """
import subprocess, sys, time
from benchbook.network import Network
from benchbook.core.processes import child_setup
one = Network()
one.make([{"path": "bridges", "switches": 1}])
door = one.door({"path": "bridges", "switches": 1})
child = subprocess.Popen(["sleep", "60"], preexec_fn=child_setup([0], door.enter),
                         pass_fds=door.inherits)
print(child.pid, flush=True)
time.sleep(60)
"""


def holders(namespace: str) -> set[tuple[str, str]]:
    """Processes that are in a network namespace or hold it by a descriptor: id and start time."""
    processes = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            descriptors = [str(handle.readlink()) for handle in (place / "fd").iterdir()]
            if namespace in (str((place / "ns/net").readlink()), *descriptors):
                started = (place / "stat").read_text().rpartition(")")[2].split()[19]
                processes.add((place.name, started))
        except OSError:
            continue
    return processes


def test_killed_it_leaves_no_process_and_no_namespace(laid) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STAYS], stdout=subprocess.PIPE, text=True
    ) as measurer:
        assert measurer.stdout is not None
        child = int(measurer.stdout.readline())
        own = Path(f"/proc/{child}")
        namespace = str((own / "ns/net").readlink())
        before = holders(namespace)
        assert str(child) in {process for process, _ in before}
        measurer.send_signal(signal.SIGKILL)
        measurer.wait(LIMIT_S)
    until = time.monotonic() + LIMIT_S
    # Of these only: the system gives the number of a namespace that is gone to the next one.
    while (own.exists() or before & holders(namespace)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not before & holders(namespace)
    assert not own.exists()


def test_a_line_that_cannot_be_laid_has_its_reason_and_the_others_stand(laid, monkeypatch) -> None:
    real = wiring.commands

    def broken(line, where):
        if line.path == "bucket":
            yield wiring.NEAR, "ip", ["link add nonsense type nonsense"]
        yield from real(line, where)

    monkeypatch.setattr(wiring, "commands", broken)
    laid.make([BUCKET, DIRECT])
    assert "ip said:" in laid.door(BUCKET).refused
    assert echo(laid, DIRECT) == "came back\n"


def test_settings_that_cannot_be_written_are_a_reason(laid, monkeypatch) -> None:
    monkeypatch.setattr(wiring, "SYSCTLS", {"kernel/ostype": "none of ours"})  # as in a container
    laid.make([DIRECT])
    assert "make /proc/sys writable" in laid.door(DIRECT).refused


def test_counters_of_a_namespace_that_cannot_be_entered_are_an_error_with_words() -> None:
    def enter() -> None:
        raise OSError

    with pytest.raises(OSError, match="counters"):
        counters.read(enter)


def test_a_start_whose_cpus_are_gone_says_so() -> None:
    with pytest.raises(BenchbookError, match="on CPUs 100000"):
        started(["true"], cpus=[100_000], env={}, lock=None)


def test_a_server_whose_host_cannot_be_entered_does_not_serve() -> None:
    def enter() -> None:
        raise OSError

    with (
        pytest.raises(NotServingError, match="in its host"),
        serving(["true"], protocol="tcp", port=1, cpus=[0], enter=enter),
    ):
        pass


def test_a_program_that_is_absent_is_named(laid, monkeypatch) -> None:
    monkeypatch.setattr(network.shutil, "which", lambda *_, **__: None)
    laid.make([DIRECT])
    assert "ip is not on PATH" in laid.door(DIRECT).refused
    assert "iproute2" in network.refusal(DIRECT, None, Path())


def test_where_namespaces_are_forbidden_the_reason_and_remedy_are_told(monkeypatch) -> None:
    denied = capabilities.Capability("namespaces", "denied", "a setting is 0", "set it to 1")
    monkeypatch.setattr(network, "capability", lambda *_: denied)
    why = network.refusal(DIRECT, None, Path())
    assert "a setting is 0" in why
    assert "set it to 1" in why


def test_a_peer_needs_an_address() -> None:
    factors = {"path": "peer", "switches": 0}
    assert "udp_peer=ADDRESS" in network.refusal(factors, None, Path())
    assert network.refusal(factors, "192.0.2.1", Path()) == ""
    assert "udp_peer=ADDRESS" in Network().door(factors).refused
    door = Network(network.peer_of("192.0.2.1:99")).door(factors)
    assert door.options == {"far-address": "192.0.2.1", "port": 99}
    assert door.enter is None


def test_loopback_needs_no_namespace(monkeypatch) -> None:
    def refuse(*_) -> None:
        raise NotAllowedError("no")

    monkeypatch.setattr(Namespaces, "add", refuse)
    one = Network()
    one.make([LOOPBACK, DIRECT])
    assert echo(one, LOOPBACK) == "came back\n"
    assert one.door(DIRECT).refused == "the network could not be made: no"
    assert network.refusal(LOOPBACK, None, Path()) == ""


@pytest.mark.parametrize("text", ["192.0.2.1:0", "192.0.2.1:70000", "192.0.2.1:x"])
def test_a_port_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BenchbookError, match="from 1 to 65535"):
        network.peer_of(text)


def test_it_takes_a_cpu_for_each_end_and_one_for_switches() -> None:
    assert [network.cpus(DIRECT, usable) for usable in (1, 2, 3, 64)] == [2, 2, 3, 3]
    assert network.cpus({"threads": 4}, 8) == 0


def test_descriptors_are_let_go(laid) -> None:
    laid.make([DIRECT])
    held = laid.namespaces.descriptors()
    laid.close()
    for descriptor in held:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)
    assert Namespaces() == laid.namespaces


def test_no_interface_has_a_number_twice() -> None:
    """Nor that of its other end: the kernel would tell late that both are up."""
    lines = [wiring.Line(number, "bridges", 4) for number in range(3)]
    where = {name: "x" for line in lines for name in ("A", "B", *line.between)}
    said = " ".join(
        text for line in lines for *_, texts in wiring.commands(line, where) for text in texts
    )
    numbers = [words.split()[0] for words in said.split(" index ")[1:]]
    assert len(numbers) == 2 * 5 * 3
    assert len(set(numbers)) == len(numbers)
