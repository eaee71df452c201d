"""Detectors of what a transfer's figure counts and of what made it slow, and their kernels."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pandas as pd
import pytest

import kernels
from benchbook import network
from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import (
    delayed_ack,
    offload,
    receiver_drop,
    report_errors,
    sender_rate,
    unit_mix,
)
from benchbook.evidence.throughput.ends import figures
from benchbook.findings import Finding
from kernels import KERNELS, LIMIT_S, points

BURST = [KERNELS / "controls" / "receiver-drop" / name for name in ("burst.c", "arrivals.c")]
REQUEST = [
    KERNELS / "controls" / "delayed-ack" / name for name in ("request.c", "server.c", "offload.c")
]
OUTPUTS = Path(__file__).parent / "iperf3_outputs"
VETH = {"path": "veth", "switches": 0}
LOOPBACK = {"path": "loopback", "switches": 0}
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
needs_two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="both sides need a CPU each"
)


def detected(module: ModuleType, *rows: dict[str, Any], blocks: int = 6) -> Judged:
    """What a detector says of rows; each has starts that take its time in every block."""
    starts = [
        {"where": row["where"], "block": block, "t_start_ns": block, "median_ns": row["time_ns"]}
        for row in rows
        for block in range(blocks)
    ]
    judged: Judged = module.detect(Seen(pd.DataFrame(list(rows)), starts=pd.DataFrame(starts)))
    return judged


def only(judged: Judged, *said: str) -> Finding:
    """The one finding, in whose explanation these words stand."""
    (found,) = judged.findings
    for words in said:
        assert words in found.explanation
    return found


def datagrams(where: str, sent: int, received: int, **more: Any) -> dict[str, Any]:
    """A point that sent bursts of 100 datagrams of 1,000 bytes."""
    return {
        "where": where,
        "time_ns": 8e5,
        "payload_bytes": 1000,
        "datagrams": 100,
        "gap_ns": 0,
        "bytes_per_call": 1e5,
        "transfers": sent / 100,
        "datagrams_sent": sent,
        "datagrams_received": received,
        "bytes_sent": 1000 * sent,
        "bytes_received": 1000 * received,
        "receive_buffer_errors": sent - received,
        "interface_packets_received": sent,
        "socket_buffer_bytes": 8192,
    } | more


def stream(where: str, time_ns: float = 5e4, **more: Any) -> dict[str, Any]:
    """A point of 50 requests of 200 bytes over TCP, in two parts."""
    return {
        "where": where,
        "time_ns": time_ns,
        "request_bytes": 200,
        "writes": 2,
        "bytes_per_call": 200.0,
        "transfers": 50,
        "bytes_sent": 10_000,
        "bytes_received": 10_000,
        "tcp_nodelay": 0,
        "delayed_acks": 0,
        "segmentation_offload": 1,
        "interface_packets_sent": 100,
        "device_mtu_bytes": 1500,
    } | more


def bulk(where: str, packets: int, time_ns: float, **more: Any) -> dict[str, Any]:
    many = {"writes": 64, "request_bytes": 2**20, "bytes_per_call": 2.0**20, "tcp_nodelay": 1}
    moved = {"bytes_sent": 50 * 2**20, "bytes_received": 50 * 2**20}
    return stream(where, time_ns, **many, **moved, interface_packets_sent=packets) | more


class TestSenderRate:
    def test_what_did_not_arrive_is_no_throughput(self) -> None:
        found = only(
            detected(sender_rate, datagrams("a", 1000, 400), datagrams("b", 1000, 1000)),
            "Of 1,000,000 bytes declared in a run, 400,000 (40\u00a0%) reached",
            "1.00 Gbit/s sent are at most 0.400 Gbit/s at the receiver",
            "2.50 times too high",
            "full buffer dropped the rest",
        )
        assert (found.effect, found.factor, found.where) == ("biases", 2.5, ["a"])

    def test_of_two_that_lost_alike_no_name_decides_which_is_told(self) -> None:
        told = []
        for near, two in ("ab", "ba"):
            rows = datagrams(near, 600, 60), datagrams(two, 900, 90, time_ns=9e5)
            told.append(only(detected(sender_rate, *rows)).explanation)
        assert told[0] == told[1]

    def test_where_the_receiver_is_counted_it_is_silent(self) -> None:
        lossy = datagrams("a", 3000, 1000, transfers=10)
        judged = detected(sender_rate, lossy, datagrams("b", 1000, 995), stream("c"))
        assert (judged.findings, judged.clean) == ([], ["a", "b", "c"])

    def test_a_loss_on_the_way_is_not_the_sockets(self) -> None:
        lost = datagrams("a", 1000, 400, receive_buffer_errors=0)
        assert "buffer" not in only(detected(sender_rate, lost)).explanation

    @pytest.mark.parametrize("name", ["bytes_received", "transfers", "bytes_per_call"])
    def test_what_was_not_counted_is_not_judged(self, name: str) -> None:
        assert list(detected(sender_rate, datagrams("a", 9, 4) | {name: None}).abstained) == ["a"]

    def test_nothing_at_all_arrives(self) -> None:
        found = only(detected(sender_rate, datagrams("a", 1000, 0)))
        assert found.factor is not None
        assert math.isfinite(found.factor)

    def test_round_trips_are_not_its_concern(self) -> None:
        trip = {"where": "a", "time_ns": 3e4, "round_trips": 20, "datagrams_lost": 0}
        assert detected(sender_rate, trip) == Judged()


class TestReceiverDrop:
    def test_a_full_buffer_is_no_loss_of_the_network(self) -> None:
        room = datagrams("b", 1000, 1000, socket_buffer_bytes=2**20)
        found = only(
            detected(receiver_drop, datagrams("a", 1000, 400), room),
            "600 of 1,000 datagrams did not arrive",
            "counted 600 that found their socket’s buffer of 8 KiB full: all of them",
            "received all 1,000, so the network lost none",
            "With a buffer of 1 MiB, the same bursts lost none",
        )
        assert (found.effect, found.where) == ("explains", ["a"])

    def test_a_loss_on_the_way_is_left_to_the_network(self) -> None:
        way = {"receive_buffer_errors": 0, "interface_packets_received": 400}
        judged = detected(receiver_drop, datagrams("a", 1000, 400, **way))
        assert (judged.findings, judged.clean) == ([], ["a"])

    def test_both_kinds_of_loss_are_told_apart(self) -> None:
        way = {"receive_buffer_errors": 200, "interface_packets_received": 600}
        only(
            detected(receiver_drop, datagrams("a", 1000, 400, **way)),
            "counted 200",
            "33\u00a0% of them",
            "The others were lost earlier",
        )

    def test_a_host_that_does_not_tell_leaves_it_open(self) -> None:
        unknown = datagrams("a", 1000, 400, receive_buffer_errors=None)
        clean = datagrams("b", 1000, 1000, receive_buffer_errors=None)
        judged = detected(receiver_drop, unknown, clean)
        assert "600 datagrams did not arrive" in judged.abstained["a"]
        assert judged.clean == ["b"]

    def test_round_trips_that_were_lost(self) -> None:
        lost = {"where": "a", "time_ns": 3e4, "round_trips": 90, "datagrams_lost": 10}
        only(detected(receiver_drop, lost | {"receive_buffer_errors": 10}), "10 datagrams did not")
        assert detected(receiver_drop, lost | {"receive_buffer_errors": 0}).clean == ["a"]


class TestDelayedAck:
    def test_parts_that_wait_for_delayed_acknowledgements(self) -> None:
        found = only(
            detected(
                delayed_ack, stream("a", 44e6, delayed_acks=49), stream("b", 4e4, tcp_nodelay=1)
            ),
            "written in 2 parts without TCP_NODELAY in 1 measurement",
            "delayed 49 acknowledgements in 50 exchanges (98\u00a0%)",
            "takes 44.0 ms",
            "takes 1/1,100 of that time",
        )
        assert (found.effect, found.where, found.confidence) == ("biases", ["a"], 1.0)
        assert found.factor == pytest.approx(1 / 1100)

    def test_clean_ones(self) -> None:
        rows = [
            stream("at once", 4e4, tcp_nodelay=1),
            stream("one part", 4e4, writes=1),
            stream("a slow network", 42e6, delayed_acks=0),
            stream("a slow answer", 44e6, tcp_nodelay=1, delayed_acks=50),
            stream("seldom", 4e4, delayed_acks=2),
        ]
        judged = detected(delayed_ack, *rows)
        assert (judged.findings, len(judged.clean)) == ([], len(rows))

    def test_where_they_are_not_counted_the_time_tells(self) -> None:
        found = only(
            detected(delayed_ack, stream("a", 43e6, delayed_acks=None)), "acknowledgement (40.0 ms)"
        )
        assert found.confidence < 1
        slower = stream("a", 61e6, delayed_acks=None)
        assert detected(delayed_ack, slower).clean == ["a"]
        timeless = stream("a", math.nan, delayed_acks=None)
        assert list(detected(delayed_ack, timeless).abstained) == ["a"]

    def test_an_unpaired_twin_tells_no_factor(self) -> None:
        rows = [stream("a", 44e6, delayed_acks=49), stream("b", 4e4, tcp_nodelay=1)]
        assert only(detected(delayed_ack, *rows, blocks=0)).factor is None


class TestOffload:
    def test_giant_packets(self) -> None:
        found = only(
            detected(offload, bulk("a", 1000, 1e6), bulk("b", 36_500, 3e6)),
            "52,428,800 bytes in 1,000 packets of 52,429 bytes",
            "carry 1,500 bytes",
            "34.95 times too high",
            "3.00 times as long",
        )
        assert (found.effect, found.factor, found.where) == ("explains", pytest.approx(3), ["a"])

    def test_without_a_twin_it_only_informs(self) -> None:
        other = bulk("b", 36_500, 3e6, request_bytes=2**22)
        found = only(detected(offload, bulk("a", 1000, 1e6), other))
        assert (found.effect, found.factor) == ("informs", None)

    def test_frames_and_datagrams_are_what_they_are(self) -> None:
        rows = [bulk("a", 36_500, 1e6), stream("b"), datagrams("c", 100, 100)]
        judged = detected(offload, *rows)
        assert (judged.findings, judged.clean) == ([], ["a", "b"])

    @pytest.mark.parametrize("name", ["interface_packets_sent", "device_mtu_bytes"])
    def test_what_is_not_known_is_not_judged(self, name: str) -> None:
        assert list(detected(offload, bulk("a", 10, 1e6) | {name: None}).abstained) == ["a"]


class TestReportErrors:
    HONEST: ClassVar[dict[tuple[str, str], Any]] = {
        ("sent_bytes", "near"): 1e6,
        ("sent_datagrams", "near"): 1000,
        ("received_bytes", "far"): 4e5,
        ("expected_datagrams", "far"): 990,
        ("lost_datagrams", "far"): 590,
        ("lost_percent", "far"): 59.6,
        ("jitter_ms", "far"): 0.01,
        ("first_jitter_ms", "far"): 0.02,
        ("receiving_s", "far"): 0.5,
    }

    def said(self, *reports: dict[tuple[str, str], Any], state: str = "imported") -> Judged:
        rows = [
            {"where": "", "name": name, "value": value, "unit": "", "source": "iperf3",
             "state": state, "end": end, "transfer": {"number": number}}
            for number, report in enumerate(reports)
            for (name, end), value in report.items()
        ]  # fmt: skip
        judged: Judged = report_errors.detect(Seen(pd.DataFrame(), evidence=rows))
        return judged

    def test_honest_reports_are_clean(self) -> None:
        none_lost = {("lost_percent", "far"): 0.0, ("lost_datagrams", "far"): 0}
        all_lost = {("lost_percent", "far"): 100.0, ("lost_datagrams", "far"): 990}
        judged = self.said(self.HONEST, self.HONEST | none_lost, self.HONEST | all_lost)
        assert (judged.findings, judged.clean) == ([], ["host"])

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("lost_percent", 134.2, "a loss of 134.2 % (far end)"),
            ("lost_percent", 100.04, "a loss of 100.04 %"),
            ("lost_percent", -0.5, "a loss of -0.5 %"),
            ("lost_datagrams", -12, "-12 lost datagrams"),
            ("lost_datagrams", 1200, "1,200 lost datagrams of 990"),
            ("received_bytes", 2e6, "2,000,000 bytes received of 1,000,000 sent"),
            ("jitter_ms", -1.0, "a jitter of -1 ms"),
            ("jitter_ms", 600.0, "a jitter of 600 ms in 0.5 s"),
            ("first_jitter_ms", 9e7, "90,000,000 ms for the first interval"),
        ],
    )
    def test_what_cannot_be(self, name: str, value: float, words: str) -> None:
        found = only(self.said(self.HONEST, self.HONEST | {(name, "far"): value}), words)
        assert (found.effect, found.where) == ("invalidates", [])
        assert [row["value"] for row in found.evidence] == [value]

    def test_what_iperf3_printed_here_is_clean(self) -> None:
        recorded = {
            name: json.loads((OUTPUTS / f"iperf3-3.12-{name}.json").read_text(encoding="utf-8"))
            for name in ("tcp-near", "tcp-far", "udp-lossy-near", "udp-lossy-far")
        }
        reports = [
            {
                (figure["name"], end): figure["value"]
                for end in ("near", "far")
                for figure in figures(end, protocol, json.dumps(recorded[f"{name}-{end}"]))
            }
            for name, protocol in (("tcp", "tcp"), ("udp-lossy", "udp"))
        ]
        judged = self.said(*reports)
        assert (judged.findings, judged.clean) == ([], ["host"])

    def test_a_rough_start_is_no_error(self) -> None:
        rough = {("first_jitter_ms", "far"): 4.0}
        assert self.said(self.HONEST | rough).findings == []

    def test_what_is_absent_is_no_error(self) -> None:
        assert self.said(self.HONEST | {("lost_percent", "far"): None}).findings == []
        assert self.said(self.HONEST | {("lost_percent", "far"): 120}, state="absent") == Judged()
        assert self.said({("jitter_ms", "far"): 3.0}).clean == ["host"]


@pytest.mark.parametrize("module", [sender_rate, receiver_drop, delayed_ack, offload])
@pytest.mark.parametrize("gone", [None, 0, math.nan])
def test_zeros_and_gaps_stop_no_detector(module: ModuleType, gone: Any) -> None:
    beside = datagrams("b", 1, 1)
    for whole in (datagrams("a", 100, 40), stream("a", 44e6, delayed_acks=40), bulk("a", 9, 1e6)):
        for name in set(whole) - {"where"}:
            for finding in detected(module, whole | {name: gone}, beside).findings:
                assert finding.factor is None or 0 < finding.factor < math.inf
                assert "nan" not in finding.explanation.split()


def test_other_amounts_sent_are_no_other_unit() -> None:
    code: dict[str, Any] = {"loads_in_loop": 1, "stores_in_loop": 1, "library_calls": ["sendto"]}
    code |= {"non_temporal_stores": [], "string_instructions": [], "setting": "s", "series": "s"}
    rows = [
        datagrams("a", 100, 100) | code,
        datagrams("b", 100, 100, payload_bytes=2000, bytes_per_call=2e5) | code,
    ]
    assert detected(unit_mix, *rows).findings == []


@pytest.fixture(scope="module")
def hosts() -> Iterator[network.Network]:
    with network.made([VETH, LOOPBACK], None) as made:
        yield made


@pytest.fixture(scope="module")
def burst(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernels.build(tmp_path_factory.mktemp("burst") / "burst", *BURST)


@pytest.fixture(scope="module")
def request_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernels.build(tmp_path_factory.mktemp("request") / "request", *REQUEST)


def start(
    program: Path, hosts: network.Network, *arguments: str, factors: dict[str, Any] = VETH
) -> subprocess.CompletedProcess[str]:
    door = hosts.door(factors)
    if door.refused:
        pytest.skip(door.refused)
    command = [str(program), *(f"--{name}={value}" for name, value in door.options.items())]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=LIMIT_S, check=False,
        preexec_fn=door.enter, pass_fds=door.inherits,
    )  # fmt: skip


def sending(
    method: str = "sender", buffer_bytes: int = 2304, datagrams: int = 64, payload_bytes: int = 64,
    handling_ns: int = 5000,
) -> str:  # fmt: skip
    own = f"datagrams={datagrams},payload_bytes={payload_bytes},receive_buffer_bytes={buffer_bytes}"
    own += f",gap_ns=0,handling_ns={handling_ns}"
    return f"--point=method={method},{own},samples=5,warmup=1,loops=1"


def asking(request_bytes: int, writes: int, nodelay: int, offload: int = 1) -> str:
    own = f"request_bytes={request_bytes},writes={writes},nodelay={nodelay},offload={offload}"
    return f"--point=method=request,{own},samples=5,warmup=1,loops=1"


def test_both_compilers_take_the_kernels() -> None:
    for compiler in ("gcc", "clang"):
        kernels.all_compiled([*BURST, *REQUEST], "-O2", compiler=compiler)


@needs_two_cpus
@pytest.mark.parametrize("flags", [("-O2",), SANITIZERS])
def test_datagrams_are_counted_wherever_they_end(
    flags: tuple[str, ...], hosts: network.Network, tmp_path: Path
) -> None:
    program = kernels.build(tmp_path / "burst", *BURST, flags=flags, common=flags)
    room = 1 << 18
    said = start(program, hosts, sending(), sending(buffer_bytes=room), sending("receiver"))
    assert said.returncode == 0, said.stderr
    lossy, whole, made_up_for = (point["observations"] for point in points(said.stdout))
    for seen_at in (lossy, whole, made_up_for):
        assert seen_at["transfers"] == 6
        assert seen_at["datagrams_sent"] == (
            seen_at["datagrams_received"] + seen_at["receive_buffer_errors"]
        )
        assert seen_at["interface_packets_sent"] == seen_at["datagrams_sent"]
        assert seen_at["interface_packets_received"] == seen_at["datagrams_sent"]
        assert seen_at["bytes_received"] == 64 * seen_at["datagrams_received"]
    assert lossy["datagrams_sent"] == whole["datagrams_received"] == 6 * 64
    assert lossy["receive_buffer_errors"] > 0
    assert lossy["socket_buffer_bytes"] < room <= whole["socket_buffer_bytes"]
    assert made_up_for["datagrams_received"] >= 6 * 64 - 6


@needs_two_cpus
def test_bursts_over_loopback_need_no_namespace(burst: Path, hosts: network.Network) -> None:
    said = start(burst, hosts, sending(buffer_bytes=1 << 18), factors=LOOPBACK)
    (one,) = points(said.stdout)
    assert (one["status"], one["bytes_declared"]) == ("ok", 64 * 64)
    assert one["observations"]["datagrams_received"] == 6 * 64


@needs_two_cpus
@pytest.mark.parametrize(
    ("honest", "spoilt", "words"),
    [
        ("datagram.number = ++sent;", "datagram.number = ++sent & ~1u;", "out of order"),
        ("arrivals_fill(&datagram, settings->seed);", "", "changed"),
    ],
)
def test_datagrams_that_are_not_what_was_sent_are_caught(
    honest: str, spoilt: str, words: str, hosts: network.Network, tmp_path: Path
) -> None:
    program = with_fault(tmp_path, BURST, honest, spoilt)
    (one,) = points(start(program, hosts, sending(buffer_bytes=1 << 18)).stdout)
    assert one["status"] == "fail"
    assert words in one["reason"]


def with_fault(folder: Path, sources: list[Path], honest: str, spoilt: str) -> Path:
    """The kernel with one thing changed in one of its files."""
    copies, changes = [], 0
    for source in sources:
        text = source.read_text(encoding="utf-8")
        changes += text.count(honest)
        copies.append(folder / source.name)
        copies[-1].write_text(text.replace(honest, spoilt), encoding="utf-8")
    assert changes == 1
    return kernels.build(folder / "program", *copies, flags=("-O2", f"-I{sources[0].parent}"))


@needs_two_cpus
@pytest.mark.parametrize("flags", [("-O2",), SANITIZERS])
def test_requests_in_parts_wait_for_acknowledgements(
    flags: tuple[str, ...], hosts: network.Network, tmp_path: Path
) -> None:
    program = kernels.build(tmp_path / "request", *REQUEST, flags=flags, common=flags)
    said = start(program, hosts, asking(240, 2, 0), asking(240, 2, 1), asking(240, 1, 0))
    assert said.returncode == 0, said.stderr
    in_parts, at_once, in_one = (point["observations"] for point in points(said.stdout))
    assert [seen_at["tcp_nodelay"] for seen_at in (in_parts, at_once, in_one)] == [0, 1, 0]
    assert [seen_at["bytes_received"] for seen_at in (in_parts, at_once, in_one)] == [6 * 240] * 3
    assert in_parts["delayed_acks"] >= 3


@needs_two_cpus
def test_segments_are_cut_before_the_interface_or_not(
    request_program: Path, hosts: network.Network
) -> None:
    size = 1 << 20
    said = start(request_program, hosts, asking(size, 16, 1, 1), asking(size, 16, 1, 0))
    assert said.returncode == 0, said.stderr
    giant, cut = (point["observations"] for point in points(said.stdout))
    assert (giant["segmentation_offload"], cut["segmentation_offload"]) == (1, 0)
    assert giant["bytes_received"] == cut["bytes_received"] == 6 * size
    frames = 6 * size / cut["device_mtu_bytes"]
    assert giant["interface_packets_sent"] < frames < cut["interface_packets_sent"]


@needs_two_cpus
def test_an_answer_of_another_request_is_caught(hosts: network.Network, tmp_path: Path) -> None:
    counts = "atomic_fetch_add(&served->bytes, bytes);"
    program = with_fault(tmp_path, REQUEST, counts, f"{counts} tag[0]++;")
    (one,) = points(start(program, hosts, asking(240, 1, 1)).stdout)
    assert "6 of 6 answers were not those of their requests" in one["reason"]


@needs_two_cpus
@pytest.mark.parametrize(
    ("point", "words"),
    [
        (asking(241, 2, 1), "request_bytes=241 cannot be written in writes=2 equal parts"),
        (asking(8, 2, 1), "equal parts of 8 bytes or more"),
        (asking(240, 1, 2), "nodelay=2 or offload=1 is neither 0 nor 1"),
        (asking(240, 1, 1).replace("loops=1", "loops=2"), "loops=2 is not 1"),
    ],
)
def test_requests_that_cannot_be_are_refused(
    point: str, words: str, request_program: Path, hosts: network.Network
) -> None:
    assert_refused(start(request_program, hosts, point), words)


@needs_two_cpus
@pytest.mark.parametrize(
    ("point", "words"),
    [
        (sending(payload_bytes=7), "payload_bytes=7 is not from 8 to 1408"),
        (sending(datagrams=0), "datagrams=0 is not from 1 to 1048576"),
        (sending(buffer_bytes=0), "receive_buffer_bytes=0 is not from 1"),
        (sending(handling_ns=2000000), "handling_ns=2000000 is not from 0 to 1000000"),
    ],
)
def test_bursts_that_cannot_be_are_refused(
    point: str, words: str, burst: Path, hosts: network.Network
) -> None:
    assert_refused(start(burst, hosts, point), words)


@needs_two_cpus
def test_no_interface_of_others_is_switched(request_program: Path, hosts: network.Network) -> None:
    said = start(request_program, hosts, asking(240, 1, 1), factors=LOOPBACK)
    assert_refused(said, "segmentation is not switched at an interface that others use")


def assert_refused(said: subprocess.CompletedProcess[str], words: str) -> None:
    assert said.returncode == 1
    assert words in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1
