"""Rules on transfers and exchanges: what they say, what keeps them silent, and other formats."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from benchbook.explain.api import explained
from benchbook.explain.rules import Machine

LOGS = Path(__file__).parent / "logs"
UDP = """[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-10.00  sec  {sent} MBytes   {rate} Mbits/sec  0.000 ms  0/86314 (0%)  sender
[  5]   0.00-10.00  sec  {got} MBytes  {arrived} Mbits/sec  {jitter} ms  {lost} ({share}%)  receiver
"""
CLEAN = {
    "sent": "119", "rate": "100", "got": "119", "arrived": "99.8", "jitter": "0.05",
    "lost": "20/86314", "share": "0.023",
}  # fmt: skip
TCP = """Connecting to host {far}, port 5201
[  5] local {near} port 40000 connected to {far} port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.10 GBytes   945 Mbits/sec    0             sender
[  5]   0.00-10.00  sec  1.10 GBytes   943 Mbits/sec                  receiver
"""
PING = """--- gw ping statistics ---
{sent} packets transmitted, {got} received, {lost}% packet loss, time 1000ms
rtt min/avg/max/mdev = {rtt} ms
"""


def artefacts(text: str) -> set[str]:
    return {
        finding["artefact"] for finding in explained("log", text.encode(), Machine())["findings"]
    }


def test_a_clean_transfer_is_passed_over() -> None:
    assert artefacts(UDP.format(**CLEAN)) == set()


@pytest.mark.parametrize(
    ("changed", "artefact"),
    [
        ({"got": "80.0", "arrived": "67.1", "lost": "28300/86314", "share": "33"}, "sender-rate"),
        ({"lost": "-12/86314", "share": "-0.014"}, "report-errors"),
        ({"lost": "90000/86314", "share": "104"}, "report-errors"),
        ({"jitter": "18000.5"}, "report-errors"),
        ({"lost": "8631/86314", "share": "1"}, "inconsistent-report"),
        ({"rate": "839"}, "inconsistent-report"),
        ({"got": "190", "arrived": "159"}, "report-errors"),
    ],
)
def test_a_planted_error_of_a_transfer_is_found(changed: dict[str, str], artefact: str) -> None:
    assert artefact in artefacts(UDP.format(**CLEAN | changed))


@pytest.mark.parametrize(
    ("near", "far", "expected"),
    [
        ("10.0.0.1", "10.0.0.2", set()),
        ("127.0.0.1", "127.0.0.1", {"loopback"}),
        ("::1", "::1", {"loopback"}),
        ("10.0.0.1", "10.0.0.1", {"loopback"}),
        ("0.0.0.0", "0.0.0.0", set()),
    ],
)
def test_loopback_is_known_by_its_addresses(near: str, far: str, expected: set[str]) -> None:
    assert artefacts(TCP.format(near=near, far=far)) == expected


def test_datagrams_lost_within_a_host_found_no_room() -> None:
    lost = CLEAN | {"got": "80.0", "arrived": "67.1", "lost": "28300/86314", "share": "33"}
    head = "[  5] local 127.0.0.1 port 1 connected to 127.0.0.1 port 5201\n"
    assert artefacts(head + UDP.format(**lost)) == {"loopback", "receiver-drop", "sender-rate"}


@pytest.mark.parametrize(
    ("sent", "got", "lost", "rtt", "expected"),
    [
        (100, 99, "1", "0.2/0.3/0.9/0.1", set()),
        (3, 2, "33", "0.2/0.3/0.9/0.1", set()),
        (100, 80, "2", "0.2/0.3/0.9/0.1", {"inconsistent-report"}),
        (100, 120, "0", "0.2/0.3/0.9/0.1", {"report-errors"}),
        (100, 100, "0", "0.2/1.3/0.9/0.1", {"inconsistent-report"}),
        (500, 500, "0", "0.2/1.3/410/9.7", {"heavy-tail"}),
        (5, 5, "0", "0.2/1.3/5.9/3.1", set()),
    ],
)
def test_what_ping_sums_up(sent: int, got: int, lost: str, rtt: str, expected: set[str]) -> None:
    assert artefacts(PING.format(sent=sent, got=got, lost=lost, rtt=rtt)) == expected


@pytest.mark.parametrize(
    ("ping", "another"),
    [
        ("ping/iputils", "ping_windows/english"),
        ("ping/cut", "ping_windows/chinese"),
        ("ping/mikrotik", "ping_windows/german"),
        ("ping/huawei", "ping_windows/russian"),
        ("ping/by-hand-table", "fping/replies"),
        ("ping_windows/french", "fping/all-times"),
    ],
)
def test_each_kind_of_ping_says_beside_another_what_it_says_alone(ping: str, another: str) -> None:
    def values(*contents: bytes) -> list[tuple[str, str, float]]:
        results = explained("log", b"\n".join(contents), Machine())["results"]
        return [(each["name"], each["statistic"], each["value"]) for each in results]

    first, second = ((LOGS / f"{name}.log").read_bytes() for name in (ping, another))
    assert values(first, second) == values(first) + values(second)
    assert values(second, first) == values(second) + values(first)


def sweep(head: str, row: str, values: list[float]) -> str:
    return head + "\n" + "\n".join(row.format(1024 << n, value) for n, value in enumerate(values))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, 2.4, 3.2, 4.8, 8.0, 14.4], set()),  # one line through all
        ([2.0, 2.4, 3.2, 4.8, 16.0, 22.4], {"eager-rendezvous"}),
        ([2.0, 2.4, 3.2, 30.0, 8.0, 14.4], set()),  # it comes back: noise
    ],
)
def test_a_switch_of_protocol_stays(values: list[float], expected: set[str]) -> None:
    head = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)"
    assert artefacts(sweep(head, "{}     {:.2f}", values)) == expected
    collective = head.replace("MPI Latency", "MPI Allreduce Latency")
    assert artefacts(sweep(collective, "{}     {:.2f}", values)) == set()


@pytest.mark.parametrize(
    ("device", "rate", "expected"),
    [
        ("Tesla T4", "12.4", set()),
        ("Tesla T4", "24.8", {"above-ceiling"}),
        ("NVIDIA GH200 480GB", "371.2", set()),
        ("NVIDIA Unheard 9000", "500.0", set()),
    ],
)
def test_a_link_carries_what_its_generation_does(
    device: str, rate: str, expected: set[str]
) -> None:
    text = (
        f"[CUDA Bandwidth Test] - Starting...\n Device 0: {device}\n"
        " Host to Device Bandwidth, 1 Device(s)\n PINNED Memory Transfers\n"
        f"   Transfer Size (Bytes)\tBandwidth(GB/s)\n   32000000\t\t\t{rate}\n"
    )
    assert artefacts(text) == expected


def test_numbers_that_are_none_are_passed_over() -> None:
    text = (
        "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n9e999   1.0\ninf  2.0\n8  nan\n"
    )
    found = explained("log", text.encode(), Machine())
    assert found["tool"] == "osu" and found["findings"] == []


TRANSFER = """{link}
[CUDA Bandwidth Test] - Starting...
 Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)\tBandwidth(GB/s)
   32000000\t\t\t{rate}
"""
LANES = "pcie.link.gen.max, pcie.link.width.max\n{generation}, 16"
CAPABLE = "LnkCap: Port #0, Speed {speed}GT/s, Width x16, ASPM L1\nLnkSta: Speed 2.5GT/s, Width x16"


@pytest.mark.parametrize(
    ("link", "rate", "found"),
    [
        (LANES.format(generation=3), 24.7, {"above-ceiling"}),
        (LANES.format(generation=4), 24.7, set()),
        (LANES.format(generation=4) + "\n3, 16", 24.7, set()),  # which of them is not known
        (CAPABLE.format(speed=8), 24.7, {"above-ceiling"}),
        (CAPABLE.format(speed=16), 24.7, set()),
    ],
)
def test_a_transfer_is_held_against_the_link_that_the_log_shows(
    link: str, rate: float, found: set[str]
) -> None:
    assert artefacts(TRANSFER.format(link=link, rate=rate)) == found


def test_json_of_another_program_with_a_version_is_not_iperf3() -> None:
    other = '{"start": {"version": "deploy 3.1"}, "intervals": [], "end": {"sum": {"bytes": 10}}}'
    assert explained("log", other.encode(), Machine())["tool"] is None
    assert explained("log", other.replace("deploy", "iperf").encode(), Machine())["results"]


def test_a_script_that_calls_netperf_is_no_result_of_it() -> None:
    script = "netperf -P 0 -H $1 -t TCP_RR >> rr.dat\n{}\n"
    assert explained("log", script.format("1 2 3 4 5 6").encode(), Machine())["tool"] is None
    ran = script.format("16384  131072 1        1       10.00    28455.12")
    assert [result["value"] for result in explained("log", ran.encode(), Machine())["results"]] == [
        28455.12
    ]


CUT = 8  # places where a log is cut
# What clears them stands in lines of their own: a tunnel, a ping of that network, omitted seconds.
CLEARED = {"through-a-tunnel", "far-private-network", "omitted-and-received"}
CLEAN_LOGS = [
    sample
    for kind in ("iperf", "iperf3", "netperf")
    for sample in sorted((LOGS / kind).glob("*.log"))
    if sample.stem not in CLEARED
    and not yaml.safe_load(sample.with_suffix(".yaml").read_text(encoding="utf-8"))["findings"]
]


@pytest.mark.parametrize(
    "sample", CLEAN_LOGS, ids=lambda sample: f"{sample.parent.name}/{sample.stem}"
)
def test_a_log_without_its_head_or_tail_is_no_wrong_one(sample: Path) -> None:
    lines = sample.read_text(encoding="utf-8", errors="replace").splitlines()
    for at in range(1, len(lines), max(1, len(lines) // CUT)):
        for rest in (lines[at:], lines[:at]):
            # Of datagrams a sender may stand alone, which is then told.
            assert artefacts("\n".join(rest)) <= {"sender-rate"}, f"cut at line {at}"


def test_bytes_tell_what_arrived_where_no_rate_of_the_receiver_does() -> None:
    text = (LOGS / "iperf3/udp-overload.log").read_text(encoding="utf-8")
    found = explained("log", text.replace(" 619 Mbits", " 6,1,9 Mbits").encode(), Machine())
    (told,) = [finding for finding in found["findings"] if finding["artefact"] == "sender-rate"]
    assert "the receiver read 148 MiB (line" in told["explanation"]


def test_delays_of_one_way_below_zero_tell_of_the_clocks() -> None:
    told = explained("log", (LOGS / "iperf" / "clocks-apart.log").read_bytes(), Machine())
    assert ["clocks of the two hosts differ" in note for note in told["notes"]] == [True]
