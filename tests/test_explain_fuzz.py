"""No input whatever makes explain fail: mutations of the corpus, seeded; minutes in test-long.

Minutes of the long one: BENCHBOOK_FUZZ_MINUTES. A log that fails is kept under build/fuzz.
"""

from __future__ import annotations

import hashlib
import os
import random
import time
from pathlib import Path

import pytest
from log_fuzz import MACHINES, SEEDS, check, mutated

ROOT = Path(__file__).resolve().parent.parent
MINUTES = float(os.environ.get("BENCHBOOK_FUZZ_MINUTES", "10"))
SHORT, BLOCK = 300, 25
LARGE = 1 << 20  # bytes: what takes longer than linear ends by the timeout there


def kept(seed: int) -> None:
    """Check one mutation; one that fails is kept for whoever mends it."""
    rng = random.Random(seed)
    content = mutated(rng)
    try:
        check(content, rng.choice(MACHINES))
    except Exception:
        folder = ROOT / "build/fuzz"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{seed}-{hashlib.sha256(content).hexdigest()[:8]}.log").write_bytes(content)
        raise


@pytest.mark.parametrize("first", range(0, SHORT, BLOCK))
def test_mutations_of_the_corpus(first: int) -> None:
    for seed in range(first, first + BLOCK):
        kept(seed)


@pytest.mark.long
@pytest.mark.timeout(MINUTES * 60 + 300)
def test_mutations_for_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    end, seed = time.monotonic() + MINUTES * 60, 1_000_000
    while time.monotonic() < end:
        kept(seed)
        seed += 1
    with capsys.disabled():
        print(f"\n{seed - 1_000_000:,} mutated logs in {MINUTES:g} minutes")


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
