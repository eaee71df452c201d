"""System calls that a container refuses."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import pytest
from conftest import ROOT, copy_checkout, run

REFUSE = ROOT / "tests/hostile/refuse_calls.py"
# perf_event_open, userfaultfd, unshare
NUMBERS = {"x86_64": "298,323,272", "aarch64": "241,282,97"}.get(platform.machine(), "")
FIGURES = {
    "e7udpip-latency/no-switch": "Operation not permitted",
    "ssscore/adsm-lu": "",
}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not NUMBERS, reason="the numbers of the calls are not known here"),
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_checkout(tmp_path_factory.mktemp("refused") / "checkout")


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_has_its_page_and_names_what_was_refused(checkout: Path, figure: str) -> None:
    make = ["make", "PRESET=tiny", f"FIGURE={figure}"]
    done = run(checkout, sys.executable, str(REFUSE), NUMBERS, *make, BENCHBOOK_ENV="host")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Traceback" not in done.stdout
    assert (checkout / "reports/figures" / f"{figure}.html").exists()
    (analysis,) = (checkout / "results").glob(f"*/tiny/figures/{figure}/*/analysis.json")
    points = json.loads(analysis.read_text())["points"]
    assert all(point["state"] == "ok" or point["reason"] for point in points)
    assert any(FIGURES[figure] in point["reason"] for point in points)
