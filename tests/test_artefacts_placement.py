"""Detectors of where threads, pages, addresses and arrays are, and the kernel of their controls."""

from __future__ import annotations

import math
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

import kernels
from benchbook.controls import score
from benchbook.controls.replays import seen_of_scene
from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import (
    aliasing_4k,
    cache_size_disagrees,
    exceeds_memory,
    huge_page_state,
    numa_first_touch,
    oversubscribed_sum,
    power_of_two_stride,
    size_does_not_link,
    unpinned,
)
from benchbook.findings import Finding
from kernels import KERNELS, points, run

ROOT = KERNELS.parent
KIB, MIB, GIB = 2**10, 2**20, 2**30
L1 = {"level": 1, "kind": "data", "bytes": 48 * KIB, "ways": 12, "line_bytes": 64}
CACHES = [{"level": 1, "kind": "instruction", "bytes": 32 * KIB, "ways": 8, "line_bytes": 64}, L1]


def judged(
    module: ModuleType, rows: list[dict[str, Any]], starts: list[dict[str, Any]] | None = None,
    **rest: Any,
) -> Judged:  # fmt: skip
    """What a detector says of these rows; of the same in another order, and renamed, it says the
    same."""
    table = pd.DataFrame(starts or [])
    found = module.detect(Seen(pd.DataFrame(rows), starts=table, **rest))
    wheres = [row["where"] for row in rows]
    names = {old: f"z{len(wheres) - number}" for number, old in enumerate(wheres)}
    other = Seen(
        pd.DataFrame([row | {"where": names[row["where"]]} for row in reversed(rows)]),
        starts=table.assign(where=table["where"].map(names))[::-1] if len(table) else table,
        **rest,
    )
    back = {new: old for old, new in names.items()}
    again = module.detect(other)
    assert _told(found, {}) == _told(again, back)
    assert {back.get(where, where): why for where, why in again.abstained.items()} == {
        **found.abstained
    }
    return found


def _told(judgement: Judged, back: dict[str, str]) -> set[Any]:
    return {
        (
            finding.effect,
            None if finding.factor is None else round(finding.factor, 9),
            tuple(sorted(back.get(where, where) for where in finding.where)),
            finding.explanation,
        )
        for finding in judgement.findings
    }


def only(judgement: Judged, *said: str) -> Finding:
    """The one finding, which carries these words, evidence and a remedy."""
    (finding,) = judgement.findings
    for words in said:
        assert words in finding.explanation
    assert finding.remedy
    assert finding.evidence
    assert 0 < finding.confidence <= 1
    assert finding.explanation.count(". ") <= 4
    return finding


def row(where: str, **changes: Any) -> dict[str, Any]:
    clean = {
        "where": where,
        "setting": "s",
        "flags_asked": ["-O2"],
        "bytes": MIB,
        "bytes_per_call": float(MIB),
        "time_ns": 10_000.0,
    }
    return clean | changes


# aliasing-4k


def summed(distance: int, slower: float = 1.0, blocks: int = 12) -> tuple[dict, list[dict]]:
    """A point at this distance, and its starts, in half of which something else runs too."""
    where = f"at {distance}"
    starts = [
        {
            "where": where,
            "block": block,
            "t_start_ns": block * 1000 + distance,
            "best_ns": 300 * slower * (1 + block % 3 / 500),
        }
        for block in range(blocks)
    ]
    return row(where, destination_minus_source_mod_4096=distance), starts


def aliased(*made: tuple[dict, list[dict]]) -> Judged:
    starts = [start for _, some in made for start in some]
    return judged(aliasing_4k, [row for row, _ in made], starts)


def test_loads_that_look_like_stores_are_slower() -> None:
    found = aliased(summed(0, 1.25), summed(16, 1.2), summed(2048), summed(3072), summed(4000, 3))
    finding = only(
        found, "0 B and 16 B behind the source", "1.23 times as long", "12 rounds", "2 KiB"
    )
    assert finding.where == ["at 0", "at 16"]
    assert finding.factor == pytest.approx(1 / 1.225, rel=1e-3)
    assert finding.effect == "biases"
    assert found.abstained == {}


def test_a_processor_without_the_effect_raises_nothing() -> None:
    assert aliased(summed(8), summed(2048)) == Judged()
    assert aliased(summed(2048, 1.3), summed(1024)) == Judged()  # slower, but not for this


def test_nothing_to_compare_with_abstains() -> None:
    assert "not measured at a distance" in aliased(summed(8, 1.5)).abstained["at 8"]
    few = aliased(summed(8, 1.5, blocks=4), summed(2048, blocks=4))
    assert few.abstained == {"at 8": "4 rounds are too few for an interval"}
    rows = [summed(8)[0], summed(2048)[0]]
    assert judged(aliasing_4k, rows).abstained == {"at 8": "its runs were not observed"}


def test_without_a_distance_there_is_no_question() -> None:
    assert judged(aliasing_4k, [row("copy")]) == Judged()


# power-of-two-stride


def walk(stride: int, time_ns: float, lines: int | None = 512, **changes: Any) -> dict[str, Any]:
    return row(
        f"by {stride}", stride_bytes=stride, lines_touched=lines, bytes_per_call=4096.0,
        time_ns=time_ns, **changes,
    )  # fmt: skip


def walked(*rows: dict[str, Any], caches: list[dict[str, Any]] | None = CACHES) -> Judged:
    return judged(power_of_two_stride, list(rows), host={"caches": caches})


def test_a_power_of_two_reaches_one_set() -> None:
    found = walked(walk(4096, 1000), walk(4160, 200), walk(4032, 250), walk(8000, 10))
    finding = only(found, "4 KiB uses only 1 of the 64 sets", "12 lines", "touches 512", "4160 B")
    assert (finding.where, finding.factor) == (["by 4096"], pytest.approx(0.2))
    assert "5.00 times as fast" in finding.explanation


def test_some_sets_are_too_few_as_well() -> None:
    assert only(walked(walk(3840, 300), walk(3904, 200))).where == ["by 3840"]  # 16 sets: 192 lines


@pytest.mark.parametrize(
    "rows",
    [
        [walk(4096, 205), walk(4160, 200)],  # the cache behind it is as fast
        [walk(4160, 900), walk(4032, 200)],  # slow, but all sets are reached
        [walk(4096, 900, lines=12), walk(4160, 200, lines=12)],  # one set has room for them
        [row("no stride")],
    ],
)
def test_what_finds_room_is_silent(rows: list[dict[str, Any]]) -> None:
    assert walked(*rows) == Judged()


def test_an_unknown_stride_twin_or_cache_abstains() -> None:
    rows = (walk(4096, 1000), walk(4160, 200))
    assert "associativity" in walked(*rows, caches=[]).abstained["by 4096"]
    assert "associativity" in walked(*rows, caches=[L1 | {"ways": None}]).abstained["by 4096"]
    assert "no similar stride" in walked(rows[0], walk(6208, 200)).abstained["by 4096"]
    other = walk(4160, 200, flags_asked=["-O3"])
    assert "no similar stride" in walked(rows[0], other).abstained["by 4096"]
    blind = walked(walk(4096, 1000, lines=None), walk(4160, 200, lines=None))
    assert blind.abstained["by 4096"] == "lines_touched was not observed"


# unpinned


def bound(where: str, moves: list[int | None], given: int | None = 1, **changes: Any) -> Any:
    starts = [
        {"where": where, "t_start_ns": number, "migrations": move, "cpus_given": given}
        for number, move in enumerate(moves)
    ]
    return row(where, **changes), starts


def freely(*made: Any) -> Judged:
    return judged(unpinned, [row for row, _ in made], [start for _, some in made for start in some])


def test_a_program_that_moved_is_slower_than_the_bound_one() -> None:
    found = freely(
        bound("free", [0, 7, 2], affinity_cpus=8, time_ns=12_500.0),
        bound("bound", [0, 0, 0], affinity_cpus=1),
    )
    finding = only(found, "9 times in 3 runs", "8 CPUs", "1.25 times as fast")
    assert (finding.where, finding.effect) == (["free"], "biases")
    assert finding.factor == pytest.approx(0.8)


def test_a_wide_mask_informs() -> None:
    found = freely(bound("free", [0, 0], affinity_cpus=2), bound("other", [0], flags_asked=["-O3"]))
    finding = only(found, "has 1 thread and may run on 2 CPUs")
    assert (finding.effect, finding.factor, finding.where) == ("informs", None, ["free"])


def test_threads_that_share_a_cpu_are_found() -> None:
    finding = only(freely(bound("many", [0], given=2, threads=4)), "4 threads run on 2 CPUs")
    assert finding.where == ["many"]


@pytest.mark.parametrize(
    "made",
    [
        bound("one", [0, 0]),
        bound("team", [0, 0], given=4, threads=4),
        bound("crowd", [0, 0], given=2, processes=8),  # each on one CPU; too many is another fault
        bound("ranks", [0, 0], given=2, rank_count=2),  # one CPU for each
        bound("nodes", [0, 0], given=2, node_count=2),
        bound("peer", [None, None]),  # it was given one CPU, and cannot leave it
    ],
)
def test_bound_programs_are_silent(made: Any) -> None:
    assert freely(made) == Judged()


def test_unknown_masks_and_moves_abstain() -> None:
    assert "neither" in judged(unpinned, [row("peer")]).abstained["peer"]
    found = freely(bound("peer", [None], given=2, threads=2))
    assert "kept their CPUs" in found.abstained["peer"]


# huge-page-state


def paged(where: str, shares: list[float | None], times: list[float], **changes: Any) -> Any:
    starts = [
        {
            "where": where,
            "t_start_ns": number,
            "anon_huge_bytes": None if share is None else share * 64 * MIB,
            "buffers_bytes": 64 * MIB,
            "median_ns": time,
        }
        for number, (share, time) in enumerate(zip(shares, times, strict=True))
    ]
    return row(where, **changes), starts


def pages(*made: Any) -> Judged:
    starts = [start for _, some in made for start in some]
    return judged(huge_page_state, [row for row, _ in made], starts)


def test_starts_of_one_point_differ_in_their_pages() -> None:
    finding = only(
        pages(paged("p", [1, 0, 0], [80, 100, 104])),
        "Of 64 MiB of buffers, 64 MiB were in huge pages in 1 run, and 0 B in 2 runs",
        "1.27 times",
        "too few or too mixed to prove",
    )
    assert (finding.effect, finding.where) == ("informs", ["p"])
    assert finding.factor is None


def test_four_starts_on_each_side_that_do_not_overlap_explain() -> None:
    shares = [1.0] * 4 + [0.0] * 4
    apart = only(pages(paged("p", shares, [80, 81, 82, 83, 100, 101, 102, 103])), "1.25 times")
    assert apart.effect == "explains"
    mixed = only(
        pages(paged("p", shares, [80, 81, 82, 101, 100, 101, 102, 103])),
        "too few or too mixed to prove",
    )
    assert mixed.effect == "informs"


def test_points_of_one_binary_differ_in_their_pages() -> None:
    made = paged("a", [0.95, 0.97], [80, 80]), paged("b", [0, 0.02], [81, 81])
    finding = only(pages(*made), "2 runs")
    assert (finding.effect, finding.where) == ("informs", ["a", "b"])  # no difference to speak of
    other = paged("b", [0, 0], [81, 81], flags_asked=["-O3"])
    assert pages(made[0], other) == Judged()
    assert pages(made[0], paged("b", [0, 0], [81, 81], setting="t")) == Judged()


@pytest.mark.parametrize("share", [0, 0.9, 1])
def test_the_same_pages_each_time_are_silent(share: float) -> None:
    assert pages(paged("p", [share] * 3, [80, 100, 120])) == Judged()


def test_unknown_pages_abstain() -> None:
    assert "AnonHugePages" in pages(paged("p", [None, None], [80, 90])).abstained["p"]
    peer = row("peer", working_set_bytes=2 * MIB)
    assert "AnonHugePages" in judged(huge_page_state, [peer]).abstained["peer"]
    assert judged(huge_page_state, [row("peer")]) == Judged()  # no buffers


# oversubscribed-sum


def crowd(
    processes: int, mean: float, *, cpus: int | None = 2, overlap: float | None = 1.0, **more: Any
) -> Any:
    where = f"{processes} of them"
    starts = [
        {
            "where": where,
            "t_start_ns": block,
            "cpus_given": cpus,
            "median_ns": 10_000.0,
            "mean_ns": mean,
            "on_cpu_ns": 2e9,
            "wall_ns": 1e9,
        }
        for block in range(3)
    ]
    point = row(where, processes=processes, overlap_fraction=overlap, **more)
    return point | {"bytes_per_call": float(processes * MIB)}, starts


def crowds(*made: Any, **rest: Any) -> Judged:
    starts = [start for _, some in made for start in some]
    return judged(oversubscribed_sum, [row for row, _ in made], starts, **rest)


def test_rates_of_processes_that_take_turns_are_too_much() -> None:
    finding = only(
        crowds(crowd(4, 20_000.0), crowd(2, 20_000.0)),
        "4 processes share 2 CPUs", "419 GB/s", "210 GB/s", "2.00 times too high",
    )  # fmt: skip
    assert (finding.where, finding.factor) == (["4 of them"], pytest.approx(2))
    share = {item["name"]: item["value"] for item in finding.evidence}["share of the time on a CPU"]
    assert share == pytest.approx(0.5)


def test_what_turns_cannot_explain_is_told() -> None:
    finding = only(crowds(crowd(4, 60_000.0)), "6.00 times too high", "a factor of at most 2")
    assert "other programs" in finding.explanation


def test_processes_one_after_the_other_overlap_little() -> None:
    assert only(crowds(crowd(4, 10_000.0, overlap=0.0))).factor == pytest.approx(2)


@pytest.mark.parametrize(
    "made",
    [
        crowd(2, 30_000.0),  # a CPU each
        crowd(4, 10_200.0),  # turns shorter than a sample: each sample holds them
        crowd(4, 20_000.0, overlap=None, start_skew_ns=500.0),  # timed as one
        (row("alone"), []),
    ],
)
def test_honest_crowds_are_silent(made: Any) -> None:
    assert crowds(made) == Judged()


def test_unknown_crowds_abstain() -> None:
    assert "overlap" in crowds(crowd(4, 20_000.0, overlap=None)).abstained["4 of them"]
    assert "CPUs" in crowds(crowd(4, 20_000.0, cpus=None)).abstained["4 of them"]
    from_host = crowds(crowd(4, 20_000.0, cpus=None), host={"cpus": [1, 0]})
    assert only(from_host).where == ["4 of them"]
    point, _ = crowd(4, 20_000.0)
    assert "runs" in judged(oversubscribed_sum, [point], host={"cpus": [0]}).abstained[
        "4 of them"
    ]  # fmt: skip


# size-does-not-link

REFUSED = "gcc ended with 1: x.c:(.text+0x1): relocation truncated to fit: R_X86_64_PC32 in `.bss'"


def limit(outcome: str, **changes: Any) -> dict[str, Any]:
    clean = {
        "name": "largest static array", "where": "", "outcome": outcome, "arrays": 3,
        "links_bytes": None, "fails_bytes": None, "message": "", "reason": "",
    }  # fmt: skip
    return clean | changes


def test_points_that_did_not_link_are_one_finding() -> None:
    missing = [
        {"where": name, "state": "failed", "reason": reason}
        for name, reason in (("b", REFUSED), ("a", REFUSED), ("c", "error: unknown flag"))
    ]
    found = judged(size_does_not_link, [row("good")], missing=missing)
    finding = only(found, "2 measurements", "relocation truncated to fit", "2 GiB")
    assert (finding.where, finding.effect) == (["a", "b"], "informs")


def test_the_code_model_is_blamed_for_relocations_only() -> None:
    reason = "x.c:1: error: size of array 'a' is too large"
    missing = [{"where": "a", "state": "failed", "reason": reason}]
    finding = only(judged(size_does_not_link, [row("good")], missing=missing), "too large”")
    assert "2 GiB" not in finding.explanation


def test_a_bound_twin_is_of_the_same_compiler() -> None:
    found = freely(
        bound("free", [0, 7], affinity_cpus=8, compiler="gcc"),
        bound("bound", [0, 0], affinity_cpus=1, compiler="clang", time_ns=8000.0),
    )
    assert only(found).factor is None


def test_pages_on_one_node_are_not_called_shared_out() -> None:
    near = nodes("near", [1000, 0], nodes_given=[0], time_ns=5000.0)
    assert only(touched(nodes("one", [1000, 0]), near)).factor is None


def test_limits_that_were_searched_are_told() -> None:
    sizes = {"links_bytes": 682 * MIB, "fails_bytes": 683 * MIB, "message": REFUSED}
    rows = [limit("limited", **sizes), limit("limited", **sizes), limit("every_size")]
    found = judged(size_does_not_link, [row("good")], evidence=rows)
    finding = only(found, "In 2 builds, 3 static arrays of 682 MiB each", "Another build")
    assert finding.where == []
    assert judged(size_does_not_link, [row("good")], evidence=rows[2:]) == Judged()


def test_a_search_that_could_not_be_made_abstains() -> None:
    rows = [limit("cannot_run", reason="compiler 'gcc' is not on PATH")]
    found = judged(size_does_not_link, [row("good")], evidence=rows)
    assert found.abstained == {"host": "compiler 'gcc' is not on PATH"}


def test_what_was_built_is_silent() -> None:
    missing = [{"where": "x", "state": "cannot_run", "reason": "needs 4 CPUs"}]
    assert judged(size_does_not_link, [row("good")], missing=missing) == Judged()


# exceeds-memory


def trial(needed: int | None, outcome: str, **changes: Any) -> dict[str, Any]:
    clean = {
        "name": "trial", "where": "trial 1", "needed_bytes": needed, "memory_bytes": 16 * GIB,
        "limit_bytes": 8 * GIB, "outcome": outcome, "exit_status": None, "signal": None,
        "reason": "a buffer could not be had; ask for less",
    }  # fmt: skip
    return clean | changes


def tried(*rows: dict[str, Any]) -> Judged:
    return judged(exceeds_memory, [row("good")], evidence=list(rows))


def test_arrays_beyond_memory_are_told_with_their_end() -> None:
    killed = only(tried(trial(64 * GIB, "failed", signal=11)), "64 GiB", "4.0 times", "SIGSEGV")
    assert (killed.where, killed.effect) == (["trial 1"], "informs")
    refused = trial(64 * GIB, "cannot_run", exit_status=77)
    only(tried(refused), "gave up (a buffer could not be had)")
    only(tried(trial(64 * GIB, "failed", exit_status=137)), "exit status 137")


def test_trials_within_memory_are_silent_and_untried_ones_abstain() -> None:
    assert tried(trial(GIB, "ok", exit_status=0)) == Judged()
    assert tried(trial(GIB, "failed", signal=11)) == Judged()  # another fault
    assert tried(trial(64 * GIB, "ok", exit_status=0)) == Judged()
    found = tried(trial(64 * GIB, "not_tried", reason="prlimit is not on PATH"))
    assert found.abstained == {"trial 1": "prlimit is not on PATH"}
    assert tried(trial(None, "failed", signal=9)).abstained


def test_points_larger_than_the_machine_are_one_finding() -> None:
    missing = [
        {"where": "b", "state": "cannot_run", "reason": "", "working_set_bytes": 96 * GIB},
        {"where": "a", "state": "cannot_run", "reason": "", "working_set_bytes": 48.0 * GIB},
        {"where": "c", "state": "failed", "reason": "", "working_set_bytes": GIB},
        {"where": "d", "state": "failed", "reason": "", "working_set_bytes": math.nan},
    ]
    host = {"memory_bytes": 24 * GIB}
    found = judged(exceeds_memory, [row("good")], missing=missing, host=host)
    assert only(found, "2 measurements need 48 GiB to 96 GiB", "24 GiB").where == ["a", "b"]
    assert judged(exceeds_memory, [row("good")], missing=missing) == Judged()


# numa-first-touch


def nodes(where: str, pages_per_node: Any, **changes: Any) -> dict[str, Any]:
    return row(where, threads=8, pages_per_node=pages_per_node, nodes_given=[0, 1]) | changes


def touched(*rows: dict[str, Any], numa_nodes: int | None = 2) -> Judged:
    return judged(numa_first_touch, list(rows), host={"numa_nodes": numa_nodes})


def test_pages_on_one_node_under_threads_of_two() -> None:
    found = touched(nodes("one", {0: 990, 1: 10}, time_ns=20_000.0), nodes("fair", [500, 500]))
    finding = only(found, "990 of 1000 pages", "node 0", "2 nodes (0, 1)", "2.00 times as fast")
    assert (finding.where, finding.factor, finding.effect) == (["one"], 0.5, "biases")
    alone = only(touched(nodes("one", [0, 1000])), "node 1")
    assert (alone.factor, alone.effect) == (None, "informs")


@pytest.mark.parametrize(
    "nodes_of_pages",
    [
        nodes("fair", [520, 480]),
        nodes("near", [1000, 0], nodes_given=[0]),
        nodes("alone", [1000, 0], threads=1),
    ],
)
def test_pages_beside_their_threads_are_silent(nodes_of_pages: dict[str, Any]) -> None:
    assert touched(nodes_of_pages) == Judged()


def test_unknown_nodes_abstain_unless_there_is_one() -> None:
    assert "pages" in touched(nodes("x", None)).abstained["x"]
    assert "CPUs" in touched(nodes("x", [9, 0], nodes_given=None)).abstained["x"]
    assert touched(nodes("x", None), numa_nodes=1) == Judged()


# The controls


@pytest.mark.parametrize(
    ("artefact", "module"),
    [
        ("numa-first-touch", numa_first_touch),
        ("cache-size-disagrees", cache_size_disagrees),
        ("aliasing-4k", aliasing_4k),
        ("huge-page-state", huge_page_state),
    ],
)
def test_replays_are_told_apart(artefact: str, module: ModuleType) -> None:
    path = ROOT / "kernels/controls" / artefact / "replay.py"
    seen = set()
    for seed in range(5):
        for scene in score.replayed(path, seed):
            found = module.detect(seen_of_scene(scene))
            assert bool(found.findings) == scene.provoked
            seen.add(scene.provoked)
    assert seen == {True, False}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = KERNELS / "controls/power-of-two-stride"
    target = tmp_path_factory.mktemp("places") / "places"
    flags = ("-O2", "-falign-loops=64", f"-I{folder}")
    return kernels.build(target, folder / "places.c", folder / "start.c", flags=flags)


COUNTS = "samples=2,warmup=1,loops=2"


def started(places: Path, point: str, *under: str, size: int = 64 * KIB) -> Any:
    offsets = ("--source-offset=64", "--destination-offset=1088")
    return run(places, f"--bytes={size}", f"--point={point},{COUNTS}", *offsets, under=under)


def observed(places: Path, point: str, *under: str) -> dict[str, Any]:
    done = started(places, point, *under)
    (told,) = points(done.stdout)
    assert (done.returncode, told["status"]) == (0, "ok"), done.stderr
    return dict(told["observations"])


@pytest.mark.parametrize("apart", [0, 8, 2056, 4088])
def test_the_destination_stands_where_it_was_asked_for(places: Path, apart: int) -> None:
    seen = observed(places, f"method=neighbours,apart_bytes={apart}")
    assert seen["destination_minus_source_mod_4096"] == apart
    assert seen["work_done_fraction"] == 1


def test_a_column_has_a_line_for_each_stride(places: Path) -> None:
    seen = observed(places, "method=column,stride_bytes=4160")
    assert (seen["lines_touched"], seen["work_done_fraction"]) == (15, 1)


@pytest.mark.parametrize("stride", [8, 100, 128 * KIB])
def test_bad_strides_are_refused(places: Path, stride: int) -> None:
    done = started(places, f"method=column,stride_bytes={stride}")
    assert done.returncode == 1
    assert f"stride_bytes={stride} is not a multiple" in done.stderr


@pytest.mark.parametrize("apart", [4, 4096])
def test_bad_distances_are_refused(places: Path, apart: int) -> None:
    assert started(places, f"method=neighbours,apart_bytes={apart}").returncode == 1


def test_a_program_is_bound_as_it_was_started_unless_it_frees_itself(places: Path) -> None:
    point = "method=column,stride_bytes=4160"
    cpu = sorted(os.sched_getaffinity(0))[0]
    assert observed(places, point, "taskset", "-c", str(cpu))["affinity_cpus"] == 1
    free = started(places, point, "env", "BENCH_BINDING=wide", "taskset", "-c", str(cpu))
    if len(os.sched_getaffinity(0)) == 1:
        assert free.returncode == 77
    else:
        assert points(free.stdout)[0]["observations"]["affinity_cpus"] > 1


def test_pages_are_as_asked_for_or_the_program_says_why_not(places: Path) -> None:
    point = "method=column,stride_bytes=4160"
    small = started(places, point, "env", "BENCH_PAGES=small", size=16 * MIB)
    assert points(small.stdout)[0]["usage"]["anon_huge_bytes"] in (0, None)
    huge = started(places, point, "env", "BENCH_PAGES=huge", size=16 * MIB)
    if huge.returncode == 77:
        assert "huge pages" in huge.stdout
    else:
        assert points(huge.stdout)[0]["usage"]["anon_huge_bytes"] >= 8 * MIB
