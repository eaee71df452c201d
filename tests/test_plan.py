"""What a run would measure: crosses, twins, limits, looks, fingerprint, the pilot's numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from conftest import ROOT

from benchbook.core.errors import BenchbookError
from benchbook.core.sizes import parse_counts
from benchbook.define import catalogue, points
from benchbook.define.models import Settings
from benchbook.define.settings import load_settings
from benchbook.host.capabilities import Capability
from benchbook.host.topology import pin_order, read_topology
from benchbook.measure.invocation import PointResult, Result, command_line
from benchbook.measure.pilot import StartCost, calibrate, fit, pilot
from benchbook.measure.starter import Starter
from benchbook.plan import devices, plan, programs
from benchbook.stats import least_blocks
from benchbook.workflow import Lab

CONTENT = {
    "factors": {
        "bytes": {"unit": "bytes"},
        "method": {},
        "threads": {},
    },
    "variants": {"v": {}, "w": {}},
    "base": "v",
}
SIZES = {"L1d": 32768, "L2": 2**20, "LLC": None}


def settings(**changes) -> Settings:
    return load_settings(ROOT, {"preset": "tiny", **changes})


def planned(**changes) -> plan.Plan:
    return plan.make_plan(ROOT, "mbw", settings(**changes))


def test_the_stated_cache_is_the_largest_that_anything_names(monkeypatch) -> None:
    machine = read_topology()
    own = points.host_sizes(machine)["LLC"] or 0
    for size, largest in ((own + 1, own + 1), (1, max(own, 1)), (None, own or None)):
        monkeypatch.setattr(points, "asked_llc_bytes", lambda size=size: size)
        assert points.host_sizes(machine)["stated LLC"] == largest


def test_ranks_nodes_and_the_ends_of_a_network_wait_for_each_other() -> None:
    parties = {"threads": 1, "processes": 1, "ranks": 4, "nodes": 4, "path": 2}
    found = {name: points.Point("v", {name: 4}).parties for name in parties}
    assert found == parties


def test_crosses_are_expanded_once_and_in_order() -> None:
    found, skipped = points.expand(
        CONTENT,
        [
            {"variant": ["v", "w"], "bytes": ["4 KiB", "1 MiB"], "method": "m"},
            {"bytes": 4096, "method": "m"},
        ],
        SIZES,
    )
    assert [point.id for point in found] == [
        "v,bytes=4096,method=m",
        "v,bytes=1048576,method=m",
        "w,bytes=4096,method=m",
        "w,bytes=1048576,method=m",
    ]
    assert skipped == []


def test_size_of_an_unknown_cache_is_skipped_with_the_reason() -> None:
    found, skipped = points.expand(CONTENT, [{"bytes": "4 x LLC", "method": "m"}], SIZES)
    assert found == []
    assert skipped[0]["state"] == "cannot_run"
    assert "unknown" in skipped[0]["reason"]


def test_misspelt_factor_or_variant_is_refused() -> None:
    with pytest.raises(BenchbookError, match="'byte'"):
        points.expand(CONTENT, [{"byte": 1}], SIZES)
    with pytest.raises(BenchbookError, match="'x'"):
        points.expand(CONTENT, [{"variant": "x"}], SIZES)


def test_counts_are_numbers_or_multiples_of_the_cores() -> None:
    assert parse_counts(3, 6) == [3]
    assert parse_counts("cores", 6) == [6]
    assert parse_counts("2 x cores", 6) == [12]
    assert parse_counts("1 to cores", 6) == [1, 2, 4, 6]
    assert parse_counts("1 to cores", 8) == [1, 2, 4, 8]
    assert parse_counts("1 to cores", 1) == [1]
    for wrong in (0, "0", "half", "1 to 4", 1.5):
        with pytest.raises(BenchbookError, match="write a whole number from 1"):
            parse_counts(wrong, 6)


def test_a_cross_expands_counts_of_cores_each_once() -> None:
    cross = {"bytes": 4096, "method": "m", "threads": ["1 to cores", "cores", 2]}
    found, _ = points.expand(CONTENT, [cross], {**SIZES, "cores": 6})
    assert [point.factors["threads"] for point in found] == [1, 2, 4, 6]


def test_processes_need_memory_each_and_cpus_as_far_as_there_are() -> None:
    point = points.Point("v", {"bytes": 100, "processes": 8})
    assert points.memory_needed(point, 2) == 1600
    assert points.cpus_needed(point, 4) == 4
    assert points.cpus_needed(points.Point("v", {"threads": 8}), 4) == 8


def test_presets_contain_the_smaller_ones() -> None:
    content = catalogue.definition(ROOT, "mbw")
    sizes = {"L1d": 32768, "L2": 2**20, "LLC": 2**25, "total LLC": 2**26, "cores": 6}
    ids = [
        {point.id for point in points.expand(content, catalogue.crosses(content, preset), sizes)[0]}
        for preset in ("tiny", "quick", "paper")
    ]
    assert ids[0] < ids[1] < ids[2]


def test_tiny_has_at_most_eight_points_and_eight_blocks() -> None:
    for experiment in catalogue.experiments(ROOT):
        made = plan.make_plan(ROOT, experiment, settings())
        assert len([point for point in made.points if not point.twin]) <= 8
        # What no paper has is drawn and not judged, from the least for an interval.
        assert made.looks == ([8] if catalogue.figures_of(ROOT, experiment) else [least_blocks(1)])
    assert settings().budget_s <= 10


def test_twins_stand_beside_their_point() -> None:
    twins = [point for point in planned().points if point.twin]
    assert [point.twin for point in twins] == ["again", "relinked"]
    assert {point.start(["bytes"]) for point in twins} == {
        ("gcc-O2", "again", 33554432),
        ("gcc-O2", "relinked", 33554432),
    }


def test_too_large_for_memory_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Available:
        bytes = 40 * 2**20

    monkeypatch.setattr(plan.memory, "memory_available_bytes", Available)
    made = planned()
    assert made.points
    assert all(point.factors["bytes"] == 8 * 2**20 for point in made.points)
    assert any("needs 64 MiB" in skip["reason"] for skip in made.skipped)
    monkeypatch.undo()
    # What is available at the moment decides what runs now, not which run is meant.
    assert made.fingerprint() == planned().fingerprint()


def test_nothing_is_measured_under_a_tracer(monkeypatch: pytest.MonkeyPatch) -> None:
    untraced = planned()
    monkeypatch.setattr(plan.host_facts, "tracer", lambda: "proot (process 77)")
    traced = planned()
    assert (traced.points, len(traced.skipped)) == (
        [],
        len(untraced.points) + len(untraced.skipped),
    )
    assert any("proot (process 77) traces" in skip["reason"] for skip in traced.skipped)
    assert traced.fingerprint() != untraced.fingerprint(), "another run once it is not traced"


def test_libraries_that_are_timed_are_part_of_a_run(monkeypatch, tmp_path) -> None:
    library = tmp_path / "libmpich.so.12"
    library.write_text("a library")
    said = f"\tlibmpich.so.12 => {library} (0x1)\n\tlibm.so.6 => /lib/libm.so.6 (0x2)\n"
    monkeypatch.setattr(programs, "_loaded", lambda record: said.encode() if record else b"")
    assert list(programs.libraries_of({"v": {"state": "ok"}, "w": {}})) == ["libmpich.so.12"]
    assert programs.libraries_of({"w": {}}) == {}


def test_fingerprint_follows_what_is_measured_and_nothing_else() -> None:
    base = planned()
    assert base.fingerprint() == planned().fingerprint()
    assert base.fingerprint() == planned(again=2).fingerprint()
    assert base.fingerprint() != planned(point_s=0.5).fingerprint()
    for change in (
        {"binaries": {"v~": {"sha256": "x"}}},
        {"libc": "another"},
        {"libraries": {"libmpi.so": "x"}},
    ):
        others = replace(base.programs, **change)
        assert base.fingerprint() != replace(base, programs=others).fingerprint()
    assert base.fingerprint() != replace(base, cpus=[7]).fingerprint()
    reworded = replace(base, claim_hashes={"p/f/c": "other"}, pairs=[])
    assert base.fingerprint() == reworded.fingerprint()
    assert base.fingerprint() != replace(base, least=10, looks=[10]).fingerprint()
    retold = {name: {**peer, "text": "x", "labels": None} for name, peer in base.peers.items()}
    assert retold
    assert base.fingerprint() == replace(base, peers=retold).fingerprint()
    assert base.fingerprint() != replace(base, starts=["bytes", "method"]).fingerprint()
    settling = [
        replace(base, settle={"claim": claim, "preset": "tiny", "number": number})
        for claim, number in (("p/f/c", 1), ("p/f/c", 2), ("p/f/d", 1))
    ]
    prints = [plan.fingerprint() for plan in (base, *settling)]
    assert prints[1] == prints[2]  # an interrupted one is resumed
    assert len(set(prints)) == 3


COPY = {"variant": "gcc-O2", "bytes": "8 MiB", "method": "copy", "call": "memcpy"}


def of_forms(*forms: str) -> dict:
    """A ratio over a whole copy for each form, as the claims of one figure."""
    block = {"variant": "gcc-O2", "bytes": "8 MiB", "call": "mempcpy", "block_bytes": "4 KiB"}
    estimand = {"kind": "ratio", "quantity": "rate", "denominator": COPY}
    claims = [
        {"id": form, "statistic": "median", "estimand": estimand | {"numerator": top}}
        for form, top in ((form, block | {"method": form}) for form in forms)
    ]
    return {"paper": "p", "id": "f", "select": [], "claims": claims}


def with_figures(monkeypatch: pytest.MonkeyPatch, *figures: dict, **changes) -> plan.Plan:
    monkeypatch.setattr(catalogue, "figures_of", lambda root, experiment: list(figures))
    return planned(**changes)


def test_blocks_follow_the_intervals_that_the_preset_can_measure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = with_figures(monkeypatch, of_forms("block-1.2.2"))
    assert (one.claims, one.least, len(one.pairs)) == (1, 8, 1)
    both = with_figures(monkeypatch, of_forms("block-1.2.2", "block-1.3.0"))
    assert (both.claims, len(both.pairs)) == (2, 2)
    # Tiny has no 1.1.1 at 8 MiB: what it cannot measure needs no interval there.
    absent = of_forms("block-1.2.2", "block-1.1.1")
    assert with_figures(monkeypatch, absent).claims == 1
    assert with_figures(monkeypatch, absent, preset="quick").claims == 2
    # Figures are simultaneous each for itself.
    assert with_figures(monkeypatch, of_forms("block-1.2.2"), of_forms("block-1.3.0")).claims == 1
    fact = {"id": "l", "estimand": {"kind": "link_limit", "variant": "gcc-O2"}}
    assert with_figures(monkeypatch, {**absent, "claims": [fact]}).claims == 0


def test_a_range_needs_one_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = ["16 KiB", "256 KiB", "1 MiB", "8 MiB", "32 MiB", "128 MiB"]
    points = COPY | {"bytes": sizes}
    estimand = {"kind": "range", "quantity": "rate", "points": points, "over": "bytes"}
    of_range = {"id": "r", "statistic": "median", "estimand": estimand | {"holds": "all"}}
    figure = of_forms("block-1.2.2")
    figure["claims"].append(of_range)
    made = with_figures(monkeypatch, figure, preset="quick")
    assert (made.claims, made.least) == (2, least_blocks(2))
    assert made.looks[0] == made.least == 8
    assert len(made.pairs) == 1 + len(sizes) - 1


def test_blocks_do_not_follow_the_memory_available_at_the_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Available:
        bytes = 40 * 2**20

    figures = [of_forms("block-1.2.2", "block-1.3.0")]
    large = {"numerator": COPY | {"bytes": "32 MiB"}, "denominator": COPY}
    estimand = {"kind": "ratio", "quantity": "rate", **large}
    figures[0]["claims"].append({"id": "large", "statistic": "median", "estimand": estimand})
    before = with_figures(monkeypatch, *figures)
    monkeypatch.setattr(plan.memory, "memory_available_bytes", Available)
    after = planned()
    assert (before.claims, len(before.pairs)) == (3, 3)
    assert (after.claims, after.least, after.looks) == (before.claims, before.least, before.looks)
    assert len(after.pairs) == 2  # what cannot run now cannot end the run either


def test_door_and_kernel_release_are_in_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    base = planned()
    before = base.fingerprint()
    monkeypatch.setenv("BENCHBOOK_DOOR", "nix")
    assert base.fingerprint() != before
    monkeypatch.delenv("BENCHBOOK_DOOR")
    # What a lock's revision brings into a measurement is in the binaries, and in libc.
    monkeypatch.setenv("BENCHBOOK_NIX_REVISION", "8fd9daa")
    assert base.fingerprint() == before
    monkeypatch.setattr(plan.platform, "release", lambda: "9.9.9")
    assert base.fingerprint() != before


def test_one_figure_takes_its_points_and_the_twins() -> None:
    made = planned(figure="slocum2013-mbw/mbw-b4096-32")
    methods = {point.factors["method"] for point in made.points}
    # The last two are shown by no row: a claim or an anomaly removes causes with them.
    assert methods == {"copy", "loop", "block-1.1.1", "block-1.2.2", "block-1.3.0"}
    assert {point.twin for point in made.points} == {"", "again", "relinked"}


def test_pilot_numbers_loop_short_calls_and_repeat_long_ones() -> None:
    made = planned()
    once = {"short": 200.0, "long": 50e6}
    numbers, block_ns = calibrate(made, once, overhead_ns=1e6)
    assert numbers["short"]["loops"] == 100  # 20 µs a sample at least
    assert numbers["long"]["loops"] == 1
    assert numbers["short"]["samples"] == made.settings.samples_most
    assert numbers["long"]["samples"] >= made.settings.samples_least
    counted = sum(
        once[name] * count["loops"] * (count["samples"] + count["warmup"])
        for name, count in numbers.items()
    )
    assert block_ns == pytest.approx(counted + 1e6)


def test_pilot_loops_by_the_least_time_and_pays_the_usual_one() -> None:
    made = planned()
    numbers, block_ns = calibrate(made, {"one": 200.0}, 1e6, usual_ns={"one": 500.0})
    count = numbers["one"]
    assert count["loops"] == 100
    assert block_ns == 1e6 + 500 * 100 * (count["samples"] + count["warmup"])


def test_pilot_counts_the_idle_time_between_samples() -> None:
    idle = points.Point("v", {"gap_ns": 10_000_000})
    busy = points.Point("v", {"gap_ns": 0})
    made = replace(planned(), points=[idle, busy])
    numbers, block_ns = calibrate(made, {idle.id: 20e3, busy.id: 20e3}, overhead_ns=0)
    assert numbers[idle.id]["samples"] < numbers[busy.id]["samples"]
    counted = {name: count["samples"] + count["warmup"] for name, count in numbers.items()}
    assert block_ns == pytest.approx(counted[idle.id] * 10.02e6 + counted[busy.id] * 20e3)


def test_pilot_shrinks_samples_to_the_budget_and_never_below_the_least() -> None:
    made = planned(budget_s=2)
    numbers, block_ns = calibrate(made, {f"p{n}": 3e6 for n in range(8)}, overhead_ns=0)
    assert block_ns * made.least <= 2e9
    numbers, _ = calibrate(made, {"p": 10e9}, overhead_ns=0)
    assert numbers["p"]["samples"] == made.settings.samples_least


def test_pilot_gives_up_samples_for_more_rounds_where_a_run_may_have_them() -> None:
    once = {f"p{n}": 3e6 for n in range(8)}
    few, more = planned(budget_s=2, looks=[8]), planned(budget_s=2, looks=[8, 24])
    blocks_ns = [calibrate(made, once, overhead_ns=0)[1] for made in (few, more)]
    assert blocks_ns[0] > blocks_ns[1]
    assert 12 * blocks_ns[1] <= 2e9 < 12 * blocks_ns[0]


def test_points_that_cost_next_to_nothing_keep_their_samples() -> None:
    made = planned(budget_s=2)
    most = made.settings.samples_most
    numbers, block_ns = calibrate(made, {"long": 20e6, "short": 50e3, "call": 20e3}, 0)
    assert numbers["long"]["samples"] < most
    assert numbers["short"]["samples"] == numbers["call"]["samples"] == most
    assert block_ns * made.least <= 2e9


def test_starts_that_the_budget_does_not_hold_are_left_out_the_costliest_first() -> None:
    pairs = [{"comparison": "paper/figure/claim", "numerator": "a", "denominator": "b"}]
    made = replace(planned(budget_s=2), least=8, pairs=pairs, shown=["a", "b", "d"])
    once = {"a": 30e6, "b": 1e6, "c": 25e6, "d": 10e6, "e": 1e6}
    costs = [StartCost([name], 1e6) for name in once]
    numbers, block_ns, shed = fit(made, once, costs)
    assert block_ns * made.least <= 2e9
    assert set(shed) == {"c"}  # "a" costs more, but a claim needs it
    assert set(numbers) == set(once) - {"c"}
    assert "Raise budget_s in" in shed["c"]
    _, _, shed = fit(replace(made, experiment="controls/drift"), once, costs)
    assert "Raise controls_budget_s in" in shed["c"]


def test_twins_stay_as_long_as_a_claim_does() -> None:
    made = planned(budget_s=1)
    twins = [point for point in made.points if point.twin]
    base = next(
        point for point in made.points if not point.twin and point.factors == twins[0].factors
    )
    claims = [("small", base.id, "other"), ("large", "top", "bottom/0"), ("large", "top", "end")]
    pairs = [
        {"comparison": f"paper/figure/{name}/0", "numerator": top, "denominator": bottom}
        for name, top, bottom in claims
    ]
    own = [base.id, *(point.id for point in twins)]
    once = dict.fromkeys([*own, "other", "drawn", "more", "top", "bottom/0", "end"], 30e6)
    once |= dict.fromkeys(own, 50e6) | {"top": 60e6}
    costs = [StartCost([name], 1e5) for name in [*once, "cheap", "as cheap"]]

    def shed(budget_s: float, pairs: list[dict[str, str]] = pairs) -> list[str]:
        settings = made.settings.having(budget_s=budget_s, turns=1)
        asked = replace(made, least=8, settings=settings, pairs=pairs, shown=["drawn"])
        return list(fit(asked, once, costs)[2])

    assert shed(11.0) == ["more"]
    assert shed(10.0) == ["more", "drawn"]
    # A claim goes as a whole: what else it compares is of no use then.
    assert shed(8.0) == ["more", "drawn", "top"]
    assert shed(6.0) == ["more", "drawn", "top", "bottom/0", "end"]
    # The last one stays with its twins, however long they take, and so does what is cheap.
    assert shed(0.1) == ["more", "drawn", "top", "bottom/0", "end"]
    # A control has no claims.
    assert set(shed(1.0, pairs=[])) & set(own)


def test_one_start_is_measured_however_long_it_takes() -> None:
    made = replace(planned(budget_s=1), least=8, pairs=[])
    once = dict.fromkeys("abcd", 1e9) | {"c": 5e8}
    costs = [StartCost([name], 0) for name in once]
    numbers, block_ns, shed = fit(made, once, costs)
    assert list(numbers) == ["c"]
    assert set(shed) == {"a", "b", "d"}
    assert block_ns * made.least > made.settings.budget_s * 1e9


def test_preset_paper_keeps_the_papers_own_n() -> None:
    made = plan.make_plan(ROOT, "mbw", load_settings(ROOT, {"preset": "paper", "budget_s": 1}))
    shown = made.shown[0]
    numbers, _ = calibrate(made, {shown: 1e9, "p": 1e9}, overhead_ns=0)
    assert numbers[shown]["samples"] == made.paper_samples == 10
    assert numbers["p"]["samples"] == made.settings.samples_least  # no figure shows it


def result(*states: str) -> Result:
    outcomes = [
        PointResult("ok", time_ns=[1000, 1000]) if state == "ok" else PointResult(state, "why")
        for state in states
    ]
    return Result(outcomes, {}, 5000, 0, 5000, None, None)


def not_asked(points, numbers) -> None:
    raise AssertionError(f"nothing of {points} sleeps before it measures")


def test_pilot_loses_only_the_guilty_point() -> None:
    made = planned()
    group = made.points[:3]

    def start(points, numbers):
        names = [point.id for point in points]
        if group[1].id not in names:
            return result(*["ok"] * len(points))
        at = names.index(group[1].id)
        return result(*["ok"] * at, *["failed"] * (len(points) - at))

    record = pilot(made, [group], start, not_asked)
    assert set(record["failed"]) == {group[1].id}
    assert set(record["points"]) == {group[0].id, group[2].id}


def test_pilot_forgives_a_program_that_somebody_else_ended() -> None:
    made = planned()
    answers = [result("failed"), result("ok")]
    record = pilot(made, [made.points[:1]], lambda points, numbers: answers.pop(0), not_asked)
    assert record["failed"] == {}


def test_pilot_prices_a_peer_that_sleeps_by_the_turn_it_slept_towards() -> None:
    made = replace(planned(), peers={"theirs": {"sleeps_after": "Warm"}})
    other = made.points[0]
    peer = replace(other, variant="theirs")
    walls = {peer.id: 1e9, other.id: 5000}
    calls, ahead = [], []

    def start(points, numbers):
        calls.append(points[0].id)
        return replace(result("ok"), wall_ns=int(walls[points[0].id]))

    def start_ahead(points, numbers):
        assert not calls
        ahead.append(points[0].id)

    record = pilot(made, [[peer], [other]], start, start_ahead)
    assert ahead == [peer.id]
    assert calls == [other.id, peer.id]
    assert record["failed"] == {}
    assert 1e9 <= record["block_ns"] < 2e9


@pytest.mark.parametrize("slower", [0.9, 3.5, 100])
def test_no_host_is_too_busy_for_an_answer(slower: float) -> None:
    made = planned()
    block_ns = int(slower * made.settings.budget_s * 1e9 / made.rounds)

    def start(points, numbers):
        return replace(result("ok"), wall_ns=block_ns)

    assert pilot(made, [made.points[:1]], start, not_asked)["points"]


def test_pilot_does_not_wait_twice_for_a_hanging_point() -> None:
    made = planned()
    calls = []

    def start(points, numbers):
        calls.append(points)
        return result("timeout")

    record = pilot(made, [made.points[:1]], start, not_asked)
    assert len(calls) == 1
    assert list(record["failed"].values()) == [{"state": "timeout", "reason": "why"}]


def transfers(monkeypatch: pytest.MonkeyPatch, **changes) -> plan.Plan:
    for name in catalogue.definition(ROOT, "hostdev")["passes"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        devices, "capability", lambda name, root: Capability(name, "absent", "none")
    )
    return plan.make_plan(ROOT, "hostdev", settings(**changes))


def test_threads_that_wait_for_a_device_get_all_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    found = transfers(monkeypatch, preset="quick")
    assert not [entry for entry in found.skipped if "CPUs" in entry["reason"]]
    assert max(point.factors["transfer_threads"] for point in found.points) == 64
    assert found.cpus == pin_order(read_topology())
    starter = Starter(found, ROOT, found.starts, lambda _: ROOT, None)
    assert starter.request(found.points[:1], {found.points[0].id: {}}, Random(1)).cpus == found.cpus


def test_compared_sizes_share_a_start_where_the_memory_is_of_one_node(monkeypatch) -> None:
    here = read_topology()

    def made_with(*nodes: int) -> plan.Plan:
        cpus = tuple(replace(here.cpus[0], id=i, core=i, node=node) for i, node in enumerate(nodes))
        monkeypatch.setattr(plan, "read_topology", lambda: replace(here, cpus=cpus))
        return plan.make_plan(ROOT, "stream", settings(preset="quick"))

    def sizes(made: plan.Plan) -> list[list[int]]:
        starter = Starter(made, ROOT, made.starts, lambda _: ROOT, None)
        groups = starter.groups([point for point in made.points if point.id in made.compared])
        return [sorted({point.factors["bytes"] for point in group}) for group in groups]

    one, two = made_with(0, 0), made_with(0, 1)
    assert (one.parts, two.parts) == (["bytes"], [])
    assert one.fingerprint() != two.fingerprint()
    assert max(map(len, sizes(one))) == 3
    assert max(map(len, sizes(two))) == 1
    starter = Starter(one, ROOT, one.starts, lambda _: ROOT, None)
    shared = max(
        starter.groups(one.points), key=lambda group: len({p.factors["bytes"] for p in group})
    )
    most = max(point.factors["bytes"] for point in shared)
    request = starter.request(shared, {point.id: {} for point in shared}, Random(1), turns=4)
    assert request.options["bytes"] == most
    assert [entry.get("bytes", most) for entry in request.points] == [
        point.factors["bytes"] for point in shared
    ]
    assert most not in [entry.get("bytes") for entry in request.points]
    assert request.cold_turns == all(one.begins_turns_cold(point.id) for point in shared)


def test_a_setting_becomes_an_option_of_each_start(monkeypatch: pytest.MonkeyPatch) -> None:
    without, with_one = transfers(monkeypatch), transfers(monkeypatch, hostdev_device="GeForce")
    assert (without.options, with_one.options) == ({}, {"device": "GeForce"})
    assert without.fingerprint() != with_one.fingerprint()
    # It is nothing to other experiments.
    assert planned().fingerprint() == planned(hostdev_device="GeForce").fingerprint()
    starter = Starter(with_one, ROOT, with_one.starts, lambda _: ROOT, None)
    first = with_one.points[0]
    request = starter.request([first], {first.id: {}}, Random(1))
    assert "--device=GeForce" in command_line(request)
    assert transfers(monkeypatch, hostdev_device=1).options == {"device": 1}


def test_a_long_program_needs_no_warm_up() -> None:
    made = planned(warmup=1)
    first, second = (point.id for point in made.points[:2])
    made.unlooped = [first]

    def warm_ups(once_ns: float) -> list[int]:
        numbers, _ = calibrate(made, {first: once_ns, second: once_ns}, 0)
        return [numbers[name]["warmup"] for name in (first, second)]

    assert (warm_ups(1e6), warm_ups(30e6)) == ([1, 1], [0, 1])


def test_a_serial_run_begins_with_its_first_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read of the machine before it may take seconds, in which nothing has slowed down."""
    made = plan.make_plan(ROOT, "controls/drift", settings())
    assert made.serial
    starter = Starter(made, ROOT, made.starts, lambda _: ROOT, None)
    first, second = made.points[:2]
    ticks = iter([7, 8])
    monkeypatch.setattr("benchbook.measure.starter.now_ns", lambda: next(ticks))
    requests = [starter.request([entry], {entry.id: {}}, Random(1)) for entry in (first, second)]
    assert [request.options["began-ns"] for request in requests] == [7, 7]


def test_each_library_may_have_a_device_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = transfers(monkeypatch, hostdev_device={"opencl": "portable", "cuda": 0})
    assert own.options == {"opencl-device": "portable", "cuda-device": 0}
    one = transfers(monkeypatch, hostdev_device={"cuda": 0})
    assert one.options == {"cuda-device": 0}
    assert one.fingerprint() != transfers(monkeypatch, hostdev_device=0).fingerprint()


def test_another_device_or_driver_is_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(*given: tuple[str, str], cuda: str = "") -> str:
        told = [{"name": name, "driver": driver} for name, driver in given]
        abilities = {
            "opencl": Capability("opencl", "ok", detail={"devices": told}),
            "cuda": Capability("cuda", "absent", cuda),
        }
        monkeypatch.setattr(devices, "capability", lambda name, root: abilities[name])
        return plan.make_plan(ROOT, "hostdev", settings()).fingerprint()

    before = planned().fingerprint()
    none = transfers(monkeypatch)
    assert none.devices == {}
    assert none.fingerprint() == seen()  # a loader without a device is none either
    prints = [none.fingerprint(), seen(("A", "1")), seen(("A", "2")), seen(("A", "1"), ("B", "1"))]
    assert len(set(prints)) == len(prints)
    assert seen(("A", "1"), cuda="another reason") == prints[1]
    assert planned().fingerprint() == before  # it is nothing to other experiments


def test_the_workflow_looks_again_where_a_device_came(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab(ROOT, settings(), "a-host")
    said = []
    for state, detail in (("absent", {}), ("ok", {"devices": [{"name": "A", "driver": "1"}]})):
        made = partial(Capability, state=state, detail=detail)
        monkeypatch.setattr(devices, "capability", lambda name, root, made=made: made(name))
        said.append([lab.devices(SimpleNamespace(experiment=name)) for name in ("hostdev", "mbw")])
    (before, other), (after, same) = said
    assert before != after
    assert other == same


def test_what_the_first_page_waits_for_is_built_alone() -> None:
    lab = Lab(ROOT, settings(), "a-host", catalogue.experiments(ROOT), [], catalogue.papers(ROOT))
    first, *others = catalogue.in_turn(ROOT)
    for name in (catalogue.PROBE, *catalogue.experiments_of(ROOT, first)):
        assert lab.cores_of_building(name, 8) == 8
    for name in ("controls", *catalogue.experiments_of(ROOT, others[-1])):
        assert lab.cores_of_building(name, 8) == 1


def test_variables_are_passed_on_where_an_experiment_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = transfers(monkeypatch).environments["gcc-O2"]
    assert "OCL_ICD_VENDORS" not in own
    monkeypatch.setenv("OCL_ICD_VENDORS", "/elsewhere")
    found = plan.make_plan(ROOT, "hostdev", settings())
    assert found.environments["gcc-O2"] == own | {"OCL_ICD_VENDORS": "/elsewhere"}
    assert "OCL_ICD_VENDORS" not in planned().environments.get("gcc-O2", {})


def test_a_file_of_a_variant_is_looked_for_in_the_folder_that_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PoCL alone, which the Nix shell has in a folder of its own."""
    spec = {"environment": {"OCL_ICD_VENDORS": "pocl.icd", "POCL_KERNEL_CACHE": "0"}}
    content = {"passes": ["OCL_ICD_VENDORS"], "variants": {"control": spec}}
    control = points.Point("control", {"method": "to-device"})

    def chosen() -> str:
        return plan._environments(content, [control])["control"]["OCL_ICD_VENDORS"]

    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    assert chosen() == "pocl.icd"
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    assert chosen() == "pocl.icd"
    (tmp_path / "pocl.icd").write_text("libpocl.so.2\n")
    assert chosen() == str(tmp_path / "pocl.icd")


def test_a_budget_is_divided_by_the_shares_that_a_paper_names(monkeypatch) -> None:
    paper = {"budget_factor": 0.5, "shares": {"b": 2.0, "c": 0.5}}
    monkeypatch.setattr(catalogue, "papers_of", lambda root, experiment: ["p"])
    monkeypatch.setattr(catalogue, "paper", lambda root, name: paper)
    monkeypatch.setattr(catalogue, "experiments_of", lambda root, name: ["a", "b", "c", "d"])
    quick = settings(budget_s=90, preset="quick")
    tiny = settings(budget_s=90)
    assert [plan._share(ROOT, name, quick) for name in "abcd"] == [10, 20, 5, 10]
    assert plan._share(ROOT, "b", tiny) == 40
    monkeypatch.setattr(catalogue, "papers_of", lambda root, experiment: [])
    assert plan._share(ROOT, "of no paper", quick) == 90 * plan.OF_NO_PAPER
    assert plan._share(ROOT, "of no paper", tiny) == 90


def test_only_what_waits_for_nobody_runs_at_real_time() -> None:
    def scheduling(made: plan.Plan, joined: object = None, **factors: int) -> str:
        starter = Starter(made, ROOT, made.starts, lambda _: ROOT, None, network=joined)
        alone = next(point for point in made.points if not point.twin)
        return starter._scheduling([replace(alone, factors=alone.factors | factors)])

    made = planned()
    assert scheduling(made) == "real_time"
    assert scheduling(made, processes=len(made.cpus) + 1) == "nice"
    assert scheduling(replace(made, cpus=[0, 1]), joined=object()) == "real_time"
    assert scheduling(replace(made, cpus=[0]), joined=object()) == "nice"
    for experiment in ("mpi", "hostdev"):
        slow = plan.make_plan(ROOT, experiment, settings())
        assert scheduling(replace(made, real_time=slow.real_time)) == "nice"
    foreign = Starter(made, ROOT, made.starts, lambda _: ROOT, None, peers={"theirs": {}})
    assert foreign._scheduling([replace(made.points[0], variant="theirs")]) == "nice"
    assert scheduling(replace(made, experiment="controls/drift")) == "nice"
    assert scheduling(planned(before_others=False)) == "normal"


def test_what_hangs_at_real_time_is_tried_again_among_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = planned()
    starter = Starter(made, ROOT, made.starts, lambda _: ROOT, None)
    asked = []

    def invoked(request):
        asked.append(request.scheduling)
        return result("timeout" if request.scheduling == "real_time" else "ok")

    monkeypatch.setattr("benchbook.measure.starter.invoke", invoked)
    point = next(point for point in made.points if not point.twin)
    for _ in range(2):
        request, outcome = starter.start([point], {point.id: {}}, Random(1))
        assert (request.scheduling, outcome.points[0].state) == ("nice", "ok")
    assert asked == ["real_time", "nice", "nice"]
