"""No input whatever makes explain fail: mutations of the corpus, seeded; minutes in test-long.

Minutes of the long one: BENCHBOOK_FUZZ_MINUTES; another BENCHBOOK_FUZZ_SEED begins where no run
was yet. A log that fails is kept under build/fuzz.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import time
from pathlib import Path

import pytest
from log_fuzz import CORPUS, MACHINES, NUMBER, NUMBERS, SEEDS, check, mutated

from benchbook.explain import readers
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.machine import Machine
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rules

ROOT = Path(__file__).resolve().parent.parent
MINUTES = float(os.environ.get("BENCHBOOK_FUZZ_MINUTES", "10"))
SEED = int(os.environ.get("BENCHBOOK_FUZZ_SEED", "1000000"))
SHORT, BLOCK, EVERY = 300, 25, 6
LARGE = 1 << 20  # bytes: what takes longer than linear ends by the timeout there


def kept(seed: int) -> None:
    """Check one mutation."""
    rng = random.Random(seed)
    content = mutated(rng)
    checked(content, rng.choice(MACHINES), str(seed))


def checked(content: bytes, machine: Machine, name: str) -> None:
    """Check one log; one that fails is kept for whoever mends it."""
    try:
        check(content, machine)
    except Exception:
        folder = ROOT / "build/fuzz"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}-{hashlib.sha256(content).hexdigest()[:8]}.log").write_bytes(content)
        raise


@pytest.mark.parametrize("first", range(0, SHORT, BLOCK))
def test_mutations_of_the_corpus(first: int) -> None:
    for seed in range(first, first + BLOCK):
        kept(seed)


@pytest.mark.long
@pytest.mark.timeout(MINUTES * 60 + 300)
def test_mutations_for_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    end, seed = time.monotonic() + MINUTES * 60, SEED
    while time.monotonic() < end:
        kept(seed)
        seed += 1
    with capsys.disabled():
        print(f"\n{seed - SEED:,} mutated logs in {MINUTES:g} minutes")


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("folder", sorted({path.parent.name for path in CORPUS.glob("*/*.log")}))
def test_any_number_in_any_place(folder: str) -> None:
    """Each number of each line that has no like in its log, replaced by odd ones in turn."""
    turn = 0
    for path in sorted((CORPUS / folder).glob("*.log")):
        content, like = path.read_bytes(), set[bytes]()
        for line in re.finditer(rb"[^\n]+", content):
            form = NUMBER.sub(b"0", line[0])
            if form in like:
                continue
            like.add(form)
            for place in NUMBER.finditer(content, line.start(), line.end()):
                turn += 1
                for odd in NUMBERS[turn % EVERY :: EVERY]:
                    changed = content[: place.start()] + odd + content[place.end() :]
                    checked(changed, MACHINES[0], path.stem)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_large_mutations_end(capsys: pytest.CaptureFixture[str]) -> None:
    """A mutated log many times over; the slowest are printed by what a byte of them takes."""
    slowest: list[tuple[float, int]] = []
    for seed in range(40):
        rng = random.Random(2_000_000 + seed)
        content = mutated(rng) or b"x"
        for size in (LARGE // 4, LARGE):
            began = time.process_time()
            check((content * (size // len(content) + 1))[:size], MACHINES[0])
            slowest.append(((time.process_time() - began) / size * 1e6, seed))
    with capsys.disabled():
        print("\nslowest, µs per byte:", *(f"{took:.2f}" for took, _ in sorted(slowest)[-5:]))


def test_the_fuzzer_has_a_corpus() -> None:
    assert len(SEEDS) >= 60


@pytest.mark.parametrize(
    "line",
    [
        "Performance:       4.028        5..",
        "Average load imbalance: 1.2.3 %",
        "Average PME mesh/force load: 0..8",
        "ExecutionTime = 1..5 s  ClockTime = 2 s",
        "Elapsed time (sec):  3.1.",
        "Timing for main: time 2000-01-24_12:00:00 on domain   1:  1.2.3 elapsed seconds",
        "Loop time of 1.2.3 on 4 procs for 100 steps with 32000 atoms",
        "summary = 223955 in 00:00:51 = 44..9/s Avg: 439 Min: 1 Max: 607 Err: 0 (0.00%)",
        "benchOf....R1 I4 [Mo1..2ms vs. Mo1.1ms] +1.2.3% (±1.1.1%)",
        "> mean response time (ms) |       1.2.3 |     4..5 |     -",
        "> request count  |  1,2.3.45 |  1.2.3 |  -",
        "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=1.2.3 ms (DUP!)",
        "CPU times: user -1min +5s, sys: inf s, total: 1.2.3min s\nWall time: 1e s",
        "bytes iters total time MB/sec usec/xfer\n64  1k  =1k  1.2.3k  0.00s  4.10  15.6  0.06",
    ],
)
def test_numbers_with_two_points_are_none(line: str) -> None:
    check(f"      Core t (s)   Wall t (s)        (%)\n{line}\n".encode(), MACHINES[0])


def test_a_statistic_that_is_no_percentile_is_not_taken_for_one() -> None:
    """A letter next to p9, as a changed byte leaves it."""
    of_times = [
        Result("response time", 1.0 + n, "ms", n + 1, name)
        for n, name in enumerate(("median", "p9ß", "p99", "max"))
    ]
    report = Report("wrk", of_times, 1)
    assert all(list(rule.check([report], MACHINES[0])) is not None for rule in rules())


@pytest.mark.parametrize(
    "folder",
    (
        *("artillery", "bonnie", "cuda_profile", "memtier", "packet_generators"),
        *("r_microbenchmark", "vitest_bench"),
    ),
)
def test_readers_that_failed_on_a_number_read_all_of_these(folder: str) -> None:
    """Each number of their samples, replaced in turn; the reader alone is asked."""
    for path in sorted((CORPUS / folder).glob("*.log")):
        content = path.read_bytes()
        for place in NUMBER.finditer(content):
            for odd in (b".", b",", b"", b"inf", b"1,2,3", b"0x10"):
                changed = content[: place.start()] + odd + content[place.end() :]
                readers.importer(folder).read(log_of(changed))
