"""The kernels of pages and sums: right results, and the faults that they are there for."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernels
from benchbook.build import disassembly
from kernels import KERNELS, compiled, outcome, run

PAGES = KERNELS / "controls" / "zero-page" / "pages.c"
SUMS = KERNELS / "controls" / "dead-code" / "sums.c"
MIB = 1 << 20
SMALL_PAGES = MIB // 4096
COMPILERS = ["gcc", "clang"]
COUNTS = "samples=3,warmup=1,loops=1"


@pytest.fixture(scope="module", params=COMPILERS)
def compiler(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("fate", ["touched", "untouched", "renewed"])
def test_copies_are_right_wherever_their_pages_come_from(
    compiler: str, level: str, fate: str, tmp_path: Path
) -> None:
    program = kernels.build(tmp_path / "pages", PAGES, flags=(level,), compiler=compiler)
    point = f"--point=method=copy,source_pages=written,destination_pages={fate},{COUNTS}"
    only = outcome(program, f"--bytes={MIB}", point, "--source-offset=64")
    assert (only["status"], only["observations"]) == ("ok", {"work_done_fraction": 1})
    faults = only["usage"]["minor_faults"]
    assert faults < 16 if fate != "renewed" else faults >= 3 * SMALL_PAGES


def test_what_was_never_written_has_no_memory(compiler: str, tmp_path: Path) -> None:
    program = kernels.build(tmp_path / "pages", PAGES, flags=("-O3",), compiler=compiler)
    keys = "source_pages=unwritten"
    for method, held in ((f"copy,{keys},destination_pages=touched", MIB), (f"sum,{keys}", 0)):
        only = outcome(program, f"--bytes={MIB}", f"--point=method={method},{COUNTS}")
        assert only["status"] == "ok"
        assert held <= only["usage"]["anonymous_bytes"] < held + MIB // 8
    written = outcome(
        program, f"--bytes={MIB}", f"--point=method=sum,source_pages=written,{COUNTS}"
    )
    assert written["observations"] == {"result_is_right": 1}
    assert written["usage"]["anonymous_bytes"] >= MIB


def test_zeros_that_nobody_could_check_are_refused(compiler: str, tmp_path: Path) -> None:
    program = kernels.build(tmp_path / "pages", PAGES, compiler=compiler)
    point = f"--point=method=copy,source_pages=unwritten,destination_pages=renewed,{COUNTS}"
    done = run(program, f"--bytes={MIB}", point)
    assert done.returncode == 1
    assert "destination_pages=touched" in done.stderr


@pytest.mark.parametrize(("level", "is_kept"), [("-O2", False), ("-O0", True)])
def test_what_compilers_leave_of_the_sums(compiler: str, level: str, is_kept: bool) -> None:
    found = disassembly.timed_functions([compiled(SUMS, level, compiler=compiler)])
    assert found["timed_used"].loop_loads > 0
    for name in ("timed_unused", "timed_constant"):
        assert (found[name].loop_loads > 0) == is_kept
        assert found[name].calls == []


def test_sums_are_right_and_an_unused_one_is_unknown(compiler: str, tmp_path: Path) -> None:
    program = kernels.build(tmp_path / "sums", SUMS, compiler=compiler)
    seen = {"used": 1, "constant": 1, "unused": None}
    for method, right in seen.items():
        only = outcome(program, f"--bytes={8 * MIB}", f"--point=method={method},{COUNTS}")
        assert only["status"] == "ok"
        assert only["observations"] == {"result_is_right": right}
        held = only["usage"]["resident_bytes"]
        assert (held < 4 * MIB) == (method == "constant")
    too_large = run(program, f"--bytes={1024 * MIB}", f"--point=method=used,{COUNTS}")
    assert too_large.returncode == 77
