"""Detectors of what round trips over a network hide, and the kernel of a service that stalls."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from test_artefacts_placement import judged, only

import kernels
from benchbook.detect.detectors import (
    coordinated_omission,
    interrupt_coalescing,
    loopback,
    resend_in_mean,
    seldom_polled,
    shallow_queue,
    short_ring,
    socket_lifetime,
    spin_against_block,
    wake_up,
)
from benchbook.detect.inputs.round_trips import TRAITS, differ_in
from kernels import KERNELS

SERVICE = KERNELS / "controls" / "coordinated-omission" / "service.c"
BLOCKS, TRIPS = 8, 100
Rows = list[dict[str, Any]]


def trip(where: str, time_us: float, **changes: Any) -> dict[str, Any]:
    """A point of round trips, asleep over a pair of interfaces unless changed."""
    row = {
        "where": where,
        "payload_bytes": 64,
        "gap_ns": 0,
        "switches": 0,
        "link_bits_per_s": 0,
        "round_trips": TRIPS,
        "sockets_opened": 1,
        "spinning": 0,
        "emulated_switches": 0,
        "device_is_loopback": 0,
        "device_mtu_bytes": 1500,
        "open_schedule": 0,
        "receive_buffer_errors": 0,
        "voluntary_switches": TRIPS,
        "compiler": "gcc",
        "flags_asked": ["-O2"],
        "samples": BLOCKS * TRIPS,
        "blocks": BLOCKS,
        "time_ns": 1000.0 * time_us,
    }
    return row | changes


def spins(where: str, time_us: float, **changes: Any) -> dict[str, Any]:
    return trip(where, time_us, **{"spinning": 1, "voluntary_switches": 0} | changes)


def starts(rows: Rows, blocks: int = BLOCKS) -> Rows:
    """Blocks that all points share, a little slower each."""
    return [
        {
            "where": row["where"],
            "block": block,
            "t_start_ns": 1000 * block,
            "median_ns": row["time_ns"] * (1 + 0.01 * block),
            "mean_ns": row["time_ns"] * (1 + 0.01 * block),
        }
        for row in rows
        for block in range(blocks)
    ]


def without(rows: Rows, *names: str) -> Rows:
    return [{key: value for key, value in row.items() if key not in names} for row in rows]


def wheres(*found: Iterable[str]) -> list[str]:
    return sorted(where for places in found for where in places)


# What two points share.


def test_traits_tell_two_points_apart() -> None:
    row = trip("a", 20)
    assert differ_in(row, trip("b", 99, samples=5, voluntary_switches=3)) == set()
    assert differ_in(row, trip("b", 20, sockets_opened=100)) == {"socket in the loop"}
    assert differ_in(row, trip("b", 20, receive_buffer_errors=None)) == {"counters of the far side"}
    assert differ_in(row, spins("b", 20, payload_bytes=65)) == {"spinning", "payload_bytes"}
    assert differ_in(row, trip("b", 20, gap_ns=None)) == {"gap_ns"}
    assert {"compiler", "flags_asked"} < set(TRAITS)


# socket-lifetime


def test_a_socket_each_is_dearer_than_one() -> None:
    rows = [trip("each", 30, sockets_opened=TRIPS), trip("one", 20), spins("other", 8)]
    found = judged(socket_lifetime, rows, starts(rows))
    finding = only(found, "opened 100 sockets in 100 round trips", "1.50 times as long")
    assert (finding.effect, finding.where) == ("biases", ["each"])
    assert finding.factor == pytest.approx(2 / 3)
    assert found.clean == ["one", "other"]


def test_a_socket_each_without_a_twin_has_no_factor() -> None:
    rows = [trip("each", 30, sockets_opened=TRIPS), trip("large", 20, payload_bytes=65)]
    finding = only(judged(socket_lifetime, rows, starts(rows)), "its cost is unknown")
    assert (finding.effect, finding.factor) == ("biases", None)


def test_a_socket_each_that_costs_nothing_informs() -> None:
    rows = [trip("each", 20, sockets_opened=TRIPS), trip("one", 20)]
    finding = only(judged(socket_lifetime, rows, starts(rows)), "no difference")
    assert (finding.effect, finding.factor) == ("informs", None)


def test_some_sockets_more_are_no_socket_each() -> None:
    rows = [trip("lost some", 20, sockets_opened=4)]
    found = judged(socket_lifetime, rows, starts(rows))
    assert (found.findings, found.clean) == ([], ["lost some"])


def test_uncounted_sockets_abstain() -> None:
    rows = [trip("a", 20, sockets_opened=None), trip("b", 20, round_trips=1)]
    found = judged(socket_lifetime, rows, starts(rows))
    assert (found.findings, wheres(found.abstained)) == ([], ["a", "b"])


# loopback


def test_loopback_is_no_wire() -> None:
    lo = {"device_is_loopback": 1, "device_mtu_bytes": 65536}
    rows = [trip("lo", 20, **lo), trip("veth", 22), trip("large", 30, payload_bytes=99)]
    found = judged(loopback, rows, starts(rows))
    finding = only(found, "MTU is 65,536 bytes", "1.10 times as long")
    assert (finding.where, finding.effect) == (["lo"], "biases")
    assert finding.factor == pytest.approx(1.1)
    assert (finding.confidence, found.clean) == (1.0, ["large", "veth"])


def test_an_mtu_of_loopback_is_believed_less() -> None:
    rows = [trip("a", 20, device_is_loopback=None, device_mtu_bytes=65536)]
    finding = only(judged(loopback, rows), "looks like loopback")
    assert finding.confidence < 1
    assert finding.factor is None


def test_an_unknown_interface_abstains_and_a_jumbo_one_is_none() -> None:
    rows = [
        trip("unknown", 20, device_is_loopback=None, device_mtu_bytes=None),
        trip("jumbo", 20, device_is_loopback=None, device_mtu_bytes=9000),
        {"where": "no network", "time_ns": 5.0},
    ]
    found = judged(loopback, rows)
    assert (found.findings, list(found.abstained), found.clean) == ([], ["unknown"], ["jumbo"])


# spin-against-block


def test_both_modes_of_one_thing_explain() -> None:
    rows = [trip("block", 30), spins("spin", 10), trip("also", 32, switches=1)]
    found = judged(spin_against_block, rows, starts(rows))
    finding = only(found, "3.00 times as long as with polling", "0.0 or 1.0 times")
    assert (finding.effect, finding.where) == ("explains", ["block", "spin"])
    assert finding.factor == pytest.approx(3)
    assert found.clean == ["also"]  # one of its kind was measured both ways


def test_unlike_things_in_unlike_modes_warn() -> None:
    rows = [spins("fast", 8, device_is_loopback=1), trip("slow", 32)]
    finding = only(
        judged(spin_against_block, rows, starts(rows)), "in another way too", "4.00 times"
    )
    assert (finding.effect, finding.factor) == ("biases", None)
    assert finding.where == ["fast", "slow"]
    # Two points of one side may be compared.
    assert finding.sides == [["fast"], ["slow"]]


def test_streams_datagrams_and_calls_are_unlike_things() -> None:
    """Only what spins as a stream without calls is set beside what sleeps as one."""
    stream, datagrams = {"stream": 1, "procedure_calls": 0}, {"stream": 0, "procedure_calls": 0}
    rows = [
        spins("stream, spinning", 10, **stream),
        trip("stream", 30, **stream),
        trip("call", 35, **{**stream, "procedure_calls": TRIPS}),
        trip("datagram", 25, **datagrams),
        trip("call by datagram", 32, **{**datagrams, "procedure_calls": TRIPS}),
    ]
    finding = only(
        judged(spin_against_block, rows, starts(rows)), "Two measurements differ only in"
    )
    assert (finding.effect, finding.where) == ("explains", ["stream", "stream, spinning"])
    assert finding.factor == pytest.approx(3)


def test_modes_that_show_no_difference_inform() -> None:
    rows = [trip("block", 10), spins("spin", 10)]
    finding = only(judged(spin_against_block, rows, starts(rows)), "no difference")
    assert (finding.effect, finding.factor) == ("informs", None)
    few = starts([trip("block", 30), spins("spin", 10)], blocks=2)
    assert only(judged(spin_against_block, rows, few)).effect == "informs"


def test_one_mode_or_two_sizes_are_no_comparison() -> None:
    for rows in (
        [spins("a", 8), spins("b", 9, switches=1)],
        [trip("a", 8), trip("b", 9, switches=1)],
        [spins("a", 8), trip("b", 30, payload_bytes=65)],
        [spins("a", 8), trip("b", 30, open_schedule=1)],
    ):
        found = judged(spin_against_block, rows, starts(rows))
        assert (found.findings, found.clean) == ([], ["a", "b"])


def test_an_unknown_way_of_waiting_abstains() -> None:
    rows = [trip("a", 8, spinning=None), spins("b", 9)]
    found = judged(spin_against_block, rows, starts(rows))
    assert (found.findings, list(found.abstained)) == ([], ["a"])


# wake-up


def gaps(cold_us: float, waking_us: float) -> Rows:
    """Points with and without a gap, asleep and spinning."""
    return [
        trip("asleep", 20),
        trip("woken", 20 + cold_us + waking_us, gap_ns=10**6, voluntary_switches=2 * TRIPS),
        spins("spins", 9),
        spins("late", 9 + cold_us, gap_ns=10**6, voluntary_switches=TRIPS),
    ]


def test_being_woken_is_what_spinning_does_not_add() -> None:
    rows = gaps(cold_us=5, waking_us=15)
    found = judged(wake_up, rows, starts(rows))
    finding = only(found, "1.00 ms between round trips", "40.0 µs instead of 20.0 µs")
    assert "adds 5.1" in finding.explanation
    assert (finding.effect, finding.where) == ("biases", ["woken"])
    assert finding.factor == pytest.approx(25 / 40, rel=0.03)
    assert found.clean == ["asleep", "late", "spins"]


def test_an_idle_core_that_delays_spinning_ends_as_much_is_no_wake_up() -> None:
    rows = gaps(cold_us=15, waking_us=0)
    found = judged(wake_up, rows, starts(rows))
    assert (found.findings, found.abstained) == ([], {})
    assert found.clean == ["asleep", "late", "spins", "woken"]


def test_without_a_spinning_twin_growth_informs() -> None:
    rows = gaps(cold_us=5, waking_us=15)[:2]
    finding = only(judged(wake_up, rows, starts(rows)), "was not measured")
    assert (finding.effect, finding.factor) == ("informs", None)


def test_ends_that_did_not_sleep_were_not_woken() -> None:
    rows = [trip("a", 20), trip("b", 40, gap_ns=10**6, voluntary_switches=3)]
    found = judged(wake_up, rows, starts(rows))
    assert (found.findings, found.clean) == ([], ["a", "b"])


def test_one_gap_few_blocks_and_unknown_ends_abstain() -> None:
    rows = gaps(cold_us=5, waking_us=15)
    assert list(judged(wake_up, rows, starts(rows, blocks=4)).abstained) == ["woken"]
    assert list(judged(wake_up, rows[:1], starts(rows)).abstained) == ["asleep"]
    unknown = [trip("a", 20, spinning=None)]
    assert list(judged(wake_up, unknown, starts(unknown)).abstained) == ["a"]


def test_noise_that_may_hide_a_waking_abstains() -> None:
    rows = gaps(cold_us=0, waking_us=5)
    noisy = starts(rows)
    for start in noisy:
        if start["where"] == "woken":
            start["median_ns"] += 20_000 * (start["block"] % 2) - 10_000
    assert list(judged(wake_up, rows, noisy).abstained) == ["woken"]


# coordinated-omission


def load(where: str, **changes: Any) -> dict[str, Any]:
    return {
        "where": where,
        "gap_ns": 10_000,
        "timed_from_intended": 0,
        "requests_sent": 1000,
        "sends_late": 400,
        "lateness_ns": 90_000.0,
        "time_ns": 10_000.0,
    } | changes


def test_what_waited_before_it_was_sent_is_omitted() -> None:
    rows = [load("sent"), load("intended", timed_from_intended=1), load("on time", sends_late=0)]
    rows[2]["lateness_ns"] = 30.0
    found = judged(coordinated_omission, rows, starts(rows))
    finding = only(found, "40\u00a0% of 1,000", "the mean is 100 µs instead of 10.3 µs")
    assert (finding.effect, finding.where) == ("biases", ["sent"])
    assert finding.factor == pytest.approx(100.35 / 10.35, rel=0.01)
    assert found.clean == ["intended", "on time"]


def test_a_schedule_of_which_nobody_tells_abstains() -> None:
    rows = [trip("open", 20, open_schedule=1), trip("one by one", 20)]
    found = judged(coordinated_omission, rows, starts(rows))
    assert (found.findings, list(found.abstained), found.clean) == ([], ["open"], [])
    rows = [load("a")]
    assert list(judged(coordinated_omission, rows).abstained) == ["a"]  # no mean


# shallow-queue


def sizes(rate: float, ns_per_byte: float, **changes: Any) -> Rows:
    return [
        trip(str(size), 10 + ns_per_byte * size / 1000, payload_bytes=size, link_bits_per_s=rate)
        | changes
        for size in (64, 512, 1408)
    ]


def test_a_rate_without_wire_time_is_no_link() -> None:
    rows = sizes(10**8, 0.5)
    finding = only(judged(shallow_queue, rows, starts(rows)), "100 Mbit/s", "add 160 ns")
    assert (finding.effect, finding.where) == ("biases", ["1408", "512", "64"])
    # (1408 + 66) bytes of 8 bits, there and back, are missing.
    assert finding.factor == pytest.approx(1 + 2 * 8 * 10 * 1474 / 10_704, rel=0.01)


@pytest.mark.parametrize(
    "rows",
    [sizes(10**8, 161), sizes(10**9, 64.5, emulated_switches=4), sizes(0, 0.5)],
    ids=["one link", "four switches", "no rate"],
)
def test_what_costs_its_wire_time_is_silent(rows: Rows) -> None:
    found = judged(shallow_queue, rows, starts(rows))
    assert (found.findings, found.abstained) == ([], {})
    assert len(found.clean) == (3 if rows[0]["link_bits_per_s"] else 0)


def test_half_the_links_are_not_all() -> None:
    rows = sizes(10**9, 32, emulated_switches=4)
    assert only(judged(shallow_queue, rows, starts(rows)), "64.0 ns there and back").factor > 1


def test_one_size_few_blocks_and_noise_abstain() -> None:
    rows = sizes(10**8, 0.5)
    assert list(judged(shallow_queue, rows[:1], starts(rows)).abstained) == ["64"]
    assert len(judged(shallow_queue, rows, starts(rows, blocks=3)).abstained) == 3
    noisy = starts(rows)
    for start in noisy:
        if start["where"] == "1408":
            start["median_ns"] += 400_000 * (start["block"] % 2)
    assert len(judged(shallow_queue, rows, noisy).abstained) == 3


# The kernel of a service that stalls.


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("method", ["from-send", "from-intended"])
def test_who_waits_for_a_stall_is_late(compiler: str, method: str, tmp_path: Path) -> None:
    program = kernels.build(tmp_path / "service", SERVICE, compiler=compiler)
    point = f"--point=method={method},gap_ns=1000,stall_ns=3000000,samples=400,warmup=7,loops=1"
    printed = kernels.run(program, point, "--seed=5").stdout
    (only,) = kernels.points(printed)
    told = only["observations"]
    assert (only["status"], only["reason"], told["requests_sent"]) == ("ok", "", 400)
    assert told["sends_late"] >= 1  # what was due while the service stood still
    assert told["timed_from_intended"] == (method == "from-intended")
    samples = [line for line in kernels.lines(printed) if line["kind"] == "sample"][7:]
    begins = [sample["t_start_ns"] for sample in samples]
    apart = {after - before for before, after in pairwise(begins)}
    assert (apart == {1000}) == (method == "from-intended")
    assert max(sample["time_ns"] for sample in samples) >= 3_000_000


def test_a_service_that_never_stalls_answers_too(tmp_path: Path) -> None:
    program = kernels.build(tmp_path / "service", SERVICE)
    point = "--point=method=from-send,gap_ns=1,stall_ns=0,samples=20,warmup=0,loops=1"
    assert kernels.outcome(program, point)["observations"]["requests_sent"] == 20


def test_a_request_that_was_answered_otherwise_is_caught(tmp_path: Path) -> None:
    source = tmp_path / "service.c"
    honest = SERVICE.read_text(encoding="utf-8")
    lazy = honest.replace("answers += answer_to(request);", "answers += request;")
    assert lazy != honest
    source.write_text(lazy, encoding="utf-8")
    program = kernels.build(tmp_path / "service", source)
    point = "--point=method=from-send,gap_ns=1,stall_ns=0,samples=9,warmup=0,loops=1"
    only = kernels.outcome(program, point)
    assert only["status"] == "fail"
    assert "9 answers have the sum" in only["reason"]


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("gap_ns=0,stall_ns=0,samples=1,warmup=0,loops=1", "gap_ns=0"),
        ("gap_ns=1,stall_ns=2000000000,samples=1,warmup=0,loops=1", "stall_ns=2000000000"),
        ("gap_ns=1,stall_ns=0,samples=1,warmup=0,loops=2", "loops=2 is not 1"),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(own: str, words: str, tmp_path: Path) -> None:
    program = kernels.build(tmp_path / "service", SERVICE)
    done = kernels.run(program, f"--point=method=from-send,{own}")
    assert done.returncode == 1
    assert words in done.stderr


# resend-in-mean


def resends(where: str, resent: float, repeated: float) -> dict[str, Any]:
    counts = {"frames_resent": resent, "frames_repeated": repeated, "resend_timeout_ns": 2e6}
    return trip(where, 3, **counts)


def with_means(rows: Rows, factor: float) -> Rows:
    return [start | {"mean_ns": factor * start["median_ns"]} for start in starts(rows)]


def test_lost_frames_that_make_the_mean_are_found() -> None:
    rows = [resends("lossy", 4, 1), resends("clean", 0, 0)]
    found = judged(resend_in_mean, rows, with_means(rows, 20))
    finding = only(found, "3 frames in 100 round trips", "20.00 times the median")
    assert (finding.effect, finding.where) == ("biases", ["lossy"])
    assert finding.factor == pytest.approx(20)
    assert found.clean == ["clean"]


def test_frames_that_were_only_late_are_not_lost() -> None:
    rows = [resends("late", 3, 3), resends("few", 1, 0)]
    found = judged(resend_in_mean, rows[:1], with_means(rows[:1], 20))
    assert (found.findings, found.clean) == ([], ["late"])
    found = judged(resend_in_mean, rows[1:], with_means(rows[1:], 1.05))
    assert (found.findings, found.clean) == ([], ["few"])


def test_lost_frames_without_a_mean_abstain_and_other_round_trips_are_no_concern() -> None:
    assert list(judged(resend_in_mean, [resends("lossy", 3, 0)]).abstained) == ["lossy"]
    found = judged(resend_in_mean, [trip("udp", 20)])
    assert (found.findings, found.abstained, found.clean) == ([], {}, [])


# seldom-polled


def polls(where: str, time_us: float, gap_us: float, **changes: Any) -> dict[str, Any]:
    counts = {"far_polls": 1000, "far_serving_ns": 1e6 * gap_us, "interrupting": 0}
    return spins(where, time_us, **counts | changes)


def test_a_receiver_that_polls_too_seldom_is_found_next_to_one_that_only_polls() -> None:
    rows = [polls("seldom", 52, 50), polls("always", 2, 0.1)]
    finding = only(
        judged(seldom_polled, rows, starts(rows)), "once in 50.0 µs", "0.962 round trips"
    )
    assert (finding.effect, finding.where) == ("biases", ["seldom"])
    assert finding.factor == pytest.approx(26)


def test_half_of_a_round_trip_is_a_time_one_way() -> None:
    row = polls("one way", 2, 1.5)
    assert judged(seldom_polled, [row]).findings
    assert judged(seldom_polled, [row | {"timed_one_way": 1}]).clean == ["one way"]


def test_ends_that_do_not_poll_are_no_concern_and_polls_not_counted_abstain() -> None:
    rows = [
        polls("asleep", 52, 50, spinning=0),
        polls("interrupted", 52, 50, interrupting=1),
        spins("tcp", 52),
        polls("unknown", 52, 50, far_serving_ns=None),
    ]
    found = judged(seldom_polled, rows)
    assert (found.findings, found.clean, list(found.abstained)) == ([], [], ["unknown"])


# short-ring


def rings(where: str, time_us: float, ring_frames: int, dropped: int | None) -> dict[str, Any]:
    counts: dict[str, int | None] = {
        "frames_dropped": dropped,
        "frames_resent": dropped,
        "ring_frames": ring_frames,
    }
    counts["messages_looked_at"] = 1000
    return trip(where, time_us, **counts)


def test_a_ring_without_room_is_found_with_what_it_costs() -> None:
    rows = [rings("short", 300, 32, 90), rings("long", 100, 256, 0)]
    found = judged(short_ring, rows, starts(rows))
    finding = only(found, "of 32 frames was full", "dropped up to 90 frames", "256 frames")
    assert (finding.effect, finding.where, found.clean) == ("biases", ["short"], ["long"])
    assert finding.factor == pytest.approx(3)


def test_rings_with_room_are_clean_and_drops_not_counted_abstain() -> None:
    found = judged(short_ring, [rings("room", 9, 256, 9), rings("?", 9, 32, None), trip("udp", 9)])
    assert (found.findings, found.clean, list(found.abstained)) == ([], ["room"], ["?"])


# interrupt-coalescing


def test_a_card_that_holds_interrupts_back_is_found_where_it_counts() -> None:
    rows = [
        trip("short", 40, interrupt_delay_ns=20_000),
        trip("long", 4000, interrupt_delay_ns=20_000),
        trip("never", 40, interrupt_delay_ns=0),
    ]
    found = judged(interrupt_coalescing, rows)
    finding = only(found, "for up to 20.0 µs", "up to 50\xa0% of it")
    assert (finding.effect, finding.where) == ("informs", ["short"])
    assert found.clean == ["long", "never"]


def test_an_interface_without_the_setting_abstains_and_loopback_is_no_concern() -> None:
    rows = [
        trip("veth", 40, interrupt_delay_ns=None),
        trip("lo", 40, interrupt_delay_ns=None, device_is_loopback=1),
    ]
    found = judged(interrupt_coalescing, rows)
    assert (found.findings, found.clean, list(found.abstained)) == ([], [], ["veth"])
    assert "virtual ones have no such setting" in found.abstained["veth"]
    assert not judged(interrupt_coalescing, [trip("not asked", 40)]).abstained
