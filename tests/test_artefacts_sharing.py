"""False sharing of a line, its detector and its control's kernel; and of a page, its detector."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from test_artefacts_placement import judged as judged_with
from test_artefacts_placement import only
from test_artefacts_round_trips import starts

import kernels
from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import false_sharing, page_bounce
from kernels import KERNELS, outcome

WORDS = KERNELS / "controls/false-sharing/words.c"


def words(apart: int, took_ns: float, threads: int = 2, **changes: Any) -> dict[str, Any]:
    """Threads that count in words so far apart."""
    on_line = min(threads, -(-64 // apart))
    return {
        "where": f"{threads} by {apart}",
        "method": "count",
        "threads": threads,
        "threads_writing": threads,
        "threads_writing_the_line": on_line,
        "apart_bytes": apart,
        "line_bytes": 64,
        "bytes_per_call": 8000,
        "time_ns": took_ns,
        **changes,
    }


def judged(*rows: dict[str, Any]) -> Judged:
    return false_sharing.detect(Seen(pd.DataFrame(list(rows))))


def test_words_on_one_line_are_slower_than_their_padded_twin() -> None:
    found = judged(words(8, 15000), words(32, 14000), words(256, 5000), words(8, 5000, threads=1))
    (finding,) = found.findings
    assert finding.where == ["2 by 32", "2 by 8"]
    assert finding.factor == pytest.approx(1 / 3)
    assert "8 B apart, on one cache line of 64 B" in finding.explanation
    assert "3.00 times as fast" in finding.explanation
    assert not found.abstained


def test_a_line_that_costs_nothing_raises_nothing() -> None:
    assert judged(words(8, 5100), words(256, 5000)) == Judged()


def test_without_a_padded_twin_or_addresses_it_abstains() -> None:
    assert "on lines of their own" in judged(words(8, 15000)).abstained["2 by 8"]
    slow = words(8, 15000), words(1024, 5000, threads=4)
    assert "on lines of their own" in judged(*slow).abstained["2 by 8"]
    blind = judged(words(8, 15000, threads_writing_the_line=None), words(256, 5000))
    assert "threads_writing_the_line was not observed" in blind.abstained["2 by 8"]


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernels.build(tmp_path_factory.mktemp("words") / "words", WORDS)


def point(apart: int) -> str:
    return f"--point=method=count,apart_bytes={apart},samples=20,warmup=1,loops=2"


@pytest.mark.parametrize(("threads", "apart", "on_line"), [(1, 8, 1), (2, 8, 2), (2, 64, 1)])
def test_the_kernel_counts_who_writes_the_line(
    counting: Path, threads: int, apart: int, on_line: int
) -> None:
    if len(os.sched_getaffinity(0)) < threads:
        pytest.skip("each thread needs a CPU")
    only = outcome(counting, f"--threads={threads}", point(apart))
    assert (only["status"], only["reason"]) == ("ok", "")
    seen = only["observations"]
    if seen["line_bytes"] == 64:
        assert seen["threads_writing_the_line"] == on_line
    assert (seen["counts_of_others"] > 0) == (threads > 1)


@pytest.mark.parametrize("apart", [4, 12, 8192])
def test_bad_distances_are_refused(counting: Path, apart: int) -> None:
    done = kernels.run(counting, point(apart))
    assert done.returncode == 1
    assert f"apart_bytes={apart} is not a multiple of 8 from 8 to 4096" in done.stderr


def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    flags = ("-O1", "-fsanitize=thread")
    program = kernels.build(tmp_path / "words", WORDS, flags=flags, common=flags)
    threads = min(2, len(os.sched_getaffinity(0)))
    assert outcome(program, f"--threads={threads}", point(8))["status"] == "ok"


# page-bounce


def pages(where: str, time_us: float, apart: int | None, several: int | None) -> dict[str, Any]:
    """Two processes that write pages of shared memory."""
    return {
        "where": where,
        "time_ns": 1000 * time_us,
        "node_count": 2,
        "values_verified": 16,
        "pages_fetched": several or 0,
        "pages_written_by_several": several,
        "apart_bytes": apart,
    }


def test_a_page_that_several_processes_write_is_slower_than_pages_of_their_own() -> None:
    rows = [pages("near", 900, 32, 200), pages("page", 600, 1024, 200), pages("own", 300, 8192, 0)]
    found = judged_with(page_bounce, rows, starts(rows))
    finding = only(found, "32 B apart, on one page", "200 times", "8,192 B apart", "3.00 times")
    assert (finding.effect, sorted(finding.where)) == ("biases", ["near", "page"])
    assert finding.factor == pytest.approx(3)
    assert (found.clean, found.abstained) == (["own"], {})


def test_a_page_that_costs_nothing_is_clean() -> None:
    rows = [pages("near", 300, 32, 200), pages("own", 300, 8192, 0)]
    found = judged_with(page_bounce, rows, starts(rows))
    assert (found.findings, sorted(found.clean)) == ([], ["near", "own"])


def test_pages_without_a_padded_control_or_not_counted_abstain() -> None:
    rows = [pages("radix", 300, None, 7), pages("older", 300, 32, None), pages("lu", 300, None, 0)]
    found = judged_with(page_bounce, rows, starts(rows))
    assert (found.findings, found.clean) == ([], ["lu"])
    assert "on a page of its own" in found.abstained["radix"]
    assert "were not counted" in found.abstained["older"]
    assert judged_with(page_bounce, [{"where": "mbw", "time_ns": 1.0}]) == Judged()
