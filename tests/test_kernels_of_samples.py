"""The kernels behind the controls of what samples hide: they do all of their uneven work."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernels
from kernels import KERNELS, outcome, run

UNEVEN = KERNELS / "controls" / "heavy-tail" / "uneven.c"
RING = KERNELS / "controls" / "warm-up" / "ring.c"
POINTS = {
    "even": "method=even,passes=3",
    "seldom": "method=seldom,passes=3",
    "often": "method=often,passes=3,more_percent=100",
}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_every_pass_of_every_call_is_in_the_buffer(
    compiler: str, level: str, tmp_path: Path
) -> None:
    program = kernels.build(tmp_path / "uneven", UNEVEN, flags=(level,), compiler=compiler)
    for own in POINTS.values():
        point = f"--point={own},samples=20,warmup=3,loops=5"
        only = outcome(program, "--bytes=1024", point, "--seed=9")
        assert (only["status"], only["reason"]) == ("ok", "")
        assert only["observations"] == {"work_done_fraction": 1}
        assert only["bytes_declared"] == 5 * 1024


def test_a_pass_that_is_left_out_is_caught(tmp_path: Path) -> None:
    source = tmp_path / "uneven.c"
    honest = UNEVEN.read_text(encoding="utf-8")
    lazy = honest.replace("*work->done += passes;", "*work->done += passes + 1;")
    assert lazy != honest
    source.write_text(lazy, encoding="utf-8")
    program = kernels.build(tmp_path / "uneven", source)
    only = outcome(program, "--bytes=64", f"--point={POINTS['even']},samples=1,warmup=0,loops=1")
    assert only["status"] == "fail"
    assert "word 0 is not what" in only["reason"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_ring_is_written_and_its_pages_are_new_or_not(compiler: str, tmp_path: Path) -> None:
    program = kernels.build(tmp_path / "ring", RING, compiler=compiler)
    faults = {}
    for method in ("untouched", "touched"):
        point = f"--point=method={method},pieces=5,samples=17,warmup=0,loops=1"
        only = outcome(program, "--bytes=8192", point)
        assert (only["status"], only["observations"]) == ("ok", {"work_done_fraction": 1})
        faults[method] = only["usage"]["minor_faults"]
    assert faults == {"untouched": 10, "touched": 0}


@pytest.mark.parametrize(
    ("kernel", "size", "own", "words"),
    [
        (UNEVEN, "100", "method=even,passes=1", "100 is not a multiple of 64"),
        (UNEVEN, "64", "method=even,passes=0", "passes=0 or more_percent=0 is none"),
        (RING, "5000", "method=touched,pieces=2", "5000 is not a multiple of 4096"),
        (RING, "4096", "method=touched,pieces=65", "pieces=65 is not from 1 to 64"),
        (RING, None, "method=touched,pieces=2", "--bytes is missing"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(
    kernel: Path, size: str | None, own: str, words: str, tmp_path: Path
) -> None:
    program = kernels.build(tmp_path / "program", kernel)
    sized = [f"--bytes={size}"] if size else []
    said = run(program, *sized, f"--point={own},samples=1,warmup=0,loops=1")
    assert said.returncode == 1
    assert words in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1
