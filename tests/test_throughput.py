"""Throughput by iperf3: recorded output of both ends, counters, what is made of them, and starts
that go wrong. The last test runs the real program between two hosts."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook import network
from benchbook.define.catalogue import OWN
from benchbook.evidence.collectors import iperf3
from benchbook.evidence.stage import Context
from benchbook.evidence.throughput import FAR, NEAR
from benchbook.evidence.throughput.ends import NotPrintedError, figures
from benchbook.evidence.throughput.table import table
from benchbook.host import capabilities
from benchbook.network import Door, counters
from benchbook.report.render import part
from benchbook.report.sections import throughput as words

OUTPUTS = Path(__file__).parent / "iperf3_outputs"
CPUS = sorted(os.sched_getaffinity(0))[:2]
UDP = {"protocol": "udp", "bytes": 25_000_000, "bits_per_s": 10**9, "datagram_bytes": 1024}
TCP = {"protocol": "tcp", "bytes": 50_000_000, "bits_per_s": 0, "datagram_bytes": None}


def recorded(name: str, end: str) -> str:
    return (OUTPUTS / f"iperf3-3.12-{name}-{end}.json").read_text()


def values(end: str, protocol: str, text: str) -> dict[str, Any]:
    return {figure["name"]: figure["value"] for figure in figures(end, protocol, text)}


# --- What the ends print


def test_each_end_tells_its_own_bytes_and_datagrams() -> None:
    near = values(NEAR, "udp", recorded("udp-lossy", NEAR))
    far = values(FAR, "udp", recorded("udp-lossy", FAR))
    assert (near["sent_bytes"], near["sent_datagrams"]) == (25_000_960, 24_415)
    assert (far["received_bytes"], far["expected_datagrams"]) == (6_590_464, 24_124)
    assert far["lost_datagrams"] == 17_688
    assert near["lost_percent"] == pytest.approx(100 * 17_688 / 24_415)
    assert far["lost_percent"] == pytest.approx(100 * 17_688 / 24_124)
    assert far["first_jitter_ms"] == far["jitter_ms"]  # of one interval
    near = values(NEAR, "tcp", recorded("tcp", NEAR))
    far = values(FAR, "tcp", recorded("tcp", FAR))
    assert (near["sent_bytes"], near["retransmits"]) == (50_069_504, 0)
    assert near["congestion_control"]
    assert far["received_bytes"] == 43_164_624


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "printed no JSON"),
        ("iperf3: error - x", "printed no JSON: iperf3: error - x"),
        ("[]", "said: no object"),
        ('{"end": {}}', "printed none of its sums"),
        ((OUTPUTS / "iperf3-3.12-refused.json").read_text(), "said: unable to connect to server"),
    ],
)
def test_an_end_that_failed_says_why(text: str, reason: str) -> None:
    with pytest.raises(NotPrintedError, match=reason):
        figures(NEAR, "udp", text)


def test_a_figure_that_is_not_printed_is_none_and_no_zero() -> None:
    said = json.loads(recorded("udp-lossy", FAR))
    del said["end"]["sum"]["lost_packets"]
    said["end"]["sum"]["jitter_ms"] = "much"
    found = values(FAR, "udp", json.dumps(said))
    assert (found["lost_datagrams"], found["jitter_ms"]) == (None, None)
    assert found["received_bytes"] == 6_590_464


# --- What the kernels count

PROC = """\
Tcp: RtoAlgorithm InSegs
Tcp: 1 7
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors
Udp: {0} 0 {1} {2} {1}
UdpLite: InDatagrams NoPorts
UdpLite: 99 99
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo: 5000 50 0 0 0 0 0 0 5000 50 0 0 0 0 0 0
    b0:{3} {4} 0 2 0 0 0 0 100 1 0 3 0 0 0 0
"""


def test_counters_are_those_of_udp_and_of_all_interfaces_but_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cat"
    path.write_text('#!/bin/sh\nwhile read -r line; do echo "$line"; done <"$COUNTERS"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("COUNTERS", str(tmp_path / "proc"))
    (tmp_path / "proc").write_text(PROC.format(1, 0, 1, 64, 1))
    before = counters.read(None)
    (tmp_path / "proc").write_text(PROC.format(11, 5, 2, 1_000_064, 101))
    seen = counters.since(before, counters.read(None))
    assert {key: seen[key] for key in ("InDatagrams", "RcvbufErrors", "OutDatagrams")} == {
        "InDatagrams": 10,
        "RcvbufErrors": 5,
        "OutDatagrams": 1,
    }
    assert (seen["interface_received_bytes"], seen["interface_received_packets"]) == (10**6, 100)
    assert (before["interface_received_dropped"], before["interface_sent_dropped"]) == (2, 3)


# --- Both ends beside each other


def rows(transfer: dict[str, Any], **counted: int | None) -> list[dict[str, Any]]:
    """Evidence rows of a recorded transfer; the counters default to those of its loss."""
    name = "tcp" if transfer["protocol"] == "tcp" else "udp-lossy"
    seen = {
        (NEAR, "interface_sent_packets"): 24_430,
        (FAR, "interface_received_packets"): 24_430,
        (FAR, "receive_buffer_errors"): 17_960,
    } | {(FAR, key): value for key, value in counted.items()}
    printed = [
        {**figure, "source": "iperf3"}
        for end in (NEAR, FAR)
        for figure in figures(end, transfer["protocol"], recorded(name, end))
    ]
    counts = [
        {"end": end, "name": key, "value": value, "unit": "", "source": "kernel counters"}
        for (end, key), value in seen.items()
    ]
    return [{**row, "transfer": transfer, "point": "", "state": "ok"} for row in printed + counts]


def changed(found: list[dict[str, Any]], end: str, name: str, value: Any) -> list[dict[str, Any]]:
    """The rows with another value in one of them."""
    assert any((row["end"], row["name"]) == (end, name) for row in found)
    return [
        {**row, "value": value} if (row["end"], row["name"]) == (end, name) else row
        for row in found
    ]


def test_a_loss_is_reconciled_with_what_the_kernels_counted() -> None:
    (one,) = table(rows(UDP))["transfers"]
    # 6,590,464 bytes are 6,436 datagrams.
    assert one["missing"] == {
        "unit": "datagrams",
        "sent": 24_415,
        "read": 6_436,
        "missing": 17_979,
        "receive_buffer": 17_960,
        "on_the_way": 0,
        "unread": 19,
        "unseen": 24_415 - 24_124,
    }
    assert [said.split(":")[0] for said in one["doubts"]] == [
        "The ends print losses of 72.45 % (near) and 73.32 % (far) of the same datagrams.",
        "The far end prints 17688 lost datagrams where 17979 were sent and not read. It cannot "
        "miss what comes after the last one that it saw.",
    ]


def test_frames_lost_between_the_interfaces_are_told_apart_from_a_full_buffer() -> None:
    (one,) = table(rows(UDP, interface_received_packets=24_425))["transfers"]
    assert (one["missing"]["on_the_way"], one["missing"]["unread"]) == (5, 14)
    (one,) = table(rows(UDP, receive_buffer_errors=None))["transfers"]
    assert (one["missing"]["missing"], one["missing"]["unread"]) == (17_979, None)


def test_bytes_of_tcp_are_compared_at_both_ends() -> None:
    (one,) = table(rows(TCP))["transfers"]
    assert one["missing"]["unit"] == "bytes"
    assert one["missing"]["missing"] == 50_069_504 - 43_164_624
    assert one["missing"]["receive_buffer"] is None
    assert one["doubts"] == []


@pytest.mark.parametrize(
    ("end", "name", "value", "said"),
    [
        (FAR, "lost_percent", 104.2, "The far end prints a loss of 104.2 %"),
        (NEAR, "lost_percent", -3.0, "The near end prints a loss of -3 %"),
        (FAR, "lost_datagrams", -12, "prints -12 lost datagrams, which cannot be"),
        (FAR, "jitter_ms", -0.2, "prints a jitter of -0.2 ms"),
        (FAR, "first_jitter_ms", 53_687.1, "prints a jitter of 53687.1 ms for the first interval"),
        (FAR, "received_bits_per_s", 3e9, "The far end prints 3e+09 bit/s, but"),
        (NEAR, "sent_bits_per_s", 3e8, "The near end prints 3e+08 bit/s, but"),
    ],
)
def test_values_that_cannot_be_are_kept_as_printed_and_doubted(
    end: str, name: str, value: float, said: str
) -> None:
    (clean,) = table(rows(UDP))["transfers"]
    assert not any(said in doubt for doubt in clean["doubts"])
    (one,) = table(changed(rows(UDP), end, name, value))["transfers"]
    assert one[end][name] == value
    assert any(said in doubt for doubt in one["doubts"]), one["doubts"]


def test_a_transfer_that_failed_stands_beside_the_others() -> None:
    failed = {
        "name": "throughput",
        "source": "iperf3",
        "value": None,
        "state": "absent",
        "reason": "iperf3: said: x",
        "transfer": TCP,
    }
    found = table([failed, *rows(UDP)])
    assert [transfer["failed"] for transfer in found["transfers"]] == ["iperf3: said: x", ""]
    assert found["transfers"][0]["missing"] is None
    assert found["lacking"] == []


# --- The page


def shown(items: list[dict[str, Any]]) -> str:
    experiment = {"throughput": table(items)}
    return part("throughput", experiment=experiment, throughput=words).html


def test_the_page_says_what_became_of_a_loss() -> None:
    html = shown([*rows(TCP), *rows(UDP)])
    assert "Throughput in the same network (iperf3, once, not paired)" in html
    assert "TCP carried 2.63\N{NO-BREAK SPACE}Gbit/s." in html
    assert "At 352\N{NO-BREAK SPACE}Mbit/s sent, host B’s program read 92.2" in html
    assert "Of these 17,979 datagrams 17,960 found the buffer of its socket full" in html
    assert "so the receiver lost them, not the network" in html
    assert html.count("<tr>") == 3
    assert "24,430 → 24,430" in html
    assert "not taken at its word" in html


def test_the_page_does_not_blame_the_receiver_for_frames_lost_on_the_way() -> None:
    html = shown(rows(UDP, receive_buffer_errors=10, interface_received_packets=6_450))
    assert "17,980 were lost between the interfaces" in html
    assert "not the network" not in html
    html = shown(rows(UDP, receive_buffer_errors=12_000, interface_received_packets=18_430))
    assert "6,000 were lost between the interfaces" in html
    assert "so the receiver lost most of them." in html


def test_the_page_shows_an_impossible_value_as_printed() -> None:
    html = shown(changed(rows(UDP), FAR, "lost_percent", 104.2))
    assert "104.2\N{NO-BREAK SPACE}%</td>" in html
    assert "The far end prints a loss of 104.2 %, which cannot be." in html


def test_the_page_says_why_nothing_was_measured_and_nothing_where_nothing_was_asked() -> None:
    lacking = {"name": "throughput", "source": "iperf3", "value": None, "state": "absent"}
    html = shown([{**lacking, "reason": "iperf3 is not on PATH", "remedy": "install it"}])
    assert "Not measured here: iperf3 is not on PATH; install it." in html
    assert "<table" not in html
    assert shown([]).strip() == ""
    assert part("throughput", experiment={}, throughput=words).html.strip() == ""


# --- The source of evidence

ASKED = {
    "path": "veth",
    "datagram_bytes": 1024,
    "transfers": {
        "tiny": [{"protocol": "tcp", "bytes": 1_000_000}],
        "quick": [{"protocol": "udp", "bytes": 200_000, "bits_per_s": 10**8}],
        "paper": [{"protocol": "udp", "bytes": 400_000}],
    },
}


def context(preset: str = "quick", **definition: Any) -> Context:
    pointer = {"experiment": "udp", "preset": preset}
    return Context(pointer, Path(), {"cpus": CPUS}, definition, {}, [])


@pytest.fixture(autouse=True)
def lock_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHBOOK_LOCK_DIR", str(tmp_path))


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = folder / "bin" / "iperf3"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")


def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the machine's own network: these tests are not of namespaces."""
    door = Door({"far-address": "127.0.0.1"})
    joined = SimpleNamespace(door=lambda _: door)
    with socket.socket() as one:  # a port that is free at the moment
        one.bind(("127.0.0.1", 0))
        monkeypatch.setattr(network, "SERVER_PORT", one.getsockname()[1])
    monkeypatch.setattr(network, "refusal", lambda *_: "")
    monkeypatch.setattr(network, "made", lambda *_: nullcontext(joined))


def test_an_experiment_that_does_not_ask_has_no_rows() -> None:
    assert iperf3.rows(context()) == []
    assert "throughput" in OWN  # so that no control with the same kernel asks either


def test_without_the_program_the_remedy_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (row,) = iperf3.rows(context(throughput=ASKED))
    assert (row["state"], row["value"]) == ("absent", None)
    assert (row["reason"], row["remedy"]) == (
        "iperf3 is not on PATH",
        "install it (Debian: apt-get install iperf3)",
    )


@pytest.mark.parametrize("state", ["denied", "absent"])
def test_without_namespaces_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    stand_in(tmp_path, monkeypatch, "exit 1")
    able = capabilities.Capability("namespaces", state, "the kernel refuses", "ask for them")
    for module in (network, iperf3):
        monkeypatch.setattr(module, "capability", lambda *_: able)
    monkeypatch.setattr(network, "_program", lambda name: name)
    (row,) = iperf3.rows(context(throughput=ASKED))
    assert row["state"] == state
    assert row["reason"] == (
        "network namespaces are not allowed here: the kernel refuses; ask for them"
    )


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo broken; exit 1", "iperf3: its server ended with exit status 1: broken"),
        (
            'if [ $1 = -s ]; then exec python3 {listen} "$@"; fi; echo garbage',
            "iperf3: printed no JSON: garbage",
        ),
        (
            'if [ $1 = -s ]; then exec python3 {listen} "$@"; fi; cat {refused}; exit 1',
            "iperf3: said: unable to connect to server: Connection refused",
        ),
        (
            'if [ $1 = -s ]; then exec python3 {listen} "$@"; fi; kill -SEGV $$',
            "iperf3: the sending end was ended by signal 11",
        ),
    ],
)
def test_a_transfer_that_goes_wrong_is_a_row_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    listen = tmp_path / "listen.py"
    listen.write_text(
        "import socket, sys, time\n"
        "one = socket.create_server((sys.argv[5], int(sys.argv[7])))\ntime.sleep(60)\n"
    )
    refused = OUTPUTS / "iperf3-3.12-refused.json"
    stand_in(tmp_path, monkeypatch, script.format(listen=listen, refused=refused))
    loopback(monkeypatch)
    (row,) = iperf3.rows(context("tiny", throughput=ASKED))
    assert (row["state"], row["value"], row["name"]) == ("absent", None, "throughput")
    assert row["reason"] == reason
    assert row["transfer"]["bytes"] == 1_000_000


def test_a_preset_adds_its_transfers_to_those_of_the_smaller_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in(tmp_path, monkeypatch, "exit 1")
    loopback(monkeypatch)
    seen = {
        preset: [row["transfer"]["bytes"] for row in iperf3.rows(context(preset, throughput=ASKED))]
        for preset in ("tiny", "quick", "paper")
    }
    assert seen == {
        "tiny": [10**6],
        "quick": [10**6, 200_000],
        "paper": [10**6, 200_000, 400_000],
    }


def test_the_real_program_between_two_hosts() -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not on PATH")
    if why := network.refusal({"path": "veth"}, None, Path()):
        pytest.skip(why)
    found = iperf3.rows(context(throughput=ASKED))
    assert {row["state"] for row in found} == {"ok"}, found
    tcp, udp = table(found)["transfers"]
    assert (tcp["failed"], udp["failed"]) == ("", "")
    assert tcp["near"]["sent_bytes"] >= 10**6
    assert udp["missing"]["sent"] == -(-200_000 // 1024)
    # All that host A sent is accounted for: iperf3 and two kernels agree to the datagram.
    assert udp["missing"]["on_the_way"] == 0
    assert udp["missing"]["unread"] >= 0
    assert udp["far"]["udp_read_datagrams"] == udp["missing"]["read"] + 1  # the first is a greeting
