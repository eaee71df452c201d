"""What a change of the files that decide an outcome leaves of a count."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchbook.controls import campaign_fingerprint
from benchbook.controls.campaign_counts import REPLAYED, Line
from benchbook.controls.score import Outcome

ROOT = Path(__file__).resolve().parent.parent
STRIDE, BIMODAL = "controls/power-of-two-stride", "controls/bimodal"
UNPINNED = "controls/unpinned"  # with the kernel of STRIDE
SOCKETS = "controls/socket-lifetime"  # with the kernel of the experiment udp


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    for name in ("benchbook", "kernels", "tests/counter_outputs"):
        shutil.copytree(ROOT / name, root / name)
    return root


def left(copy: Path, changed: str, *, gone: bool = False) -> dict[str, set[str]]:
    """Of four lines: what still stands, and of whom, when a file was changed, or is gone."""
    lines = [
        Line(
            name,
            "none",
            1,
            1.0,
            False,
            [
                Outcome(artefact, name, "null", False, "silent", False)
                for artefact in ("bimodal", "unpinned", "power-of-two-stride", "socket-lifetime")
            ],
        )
        for name in (STRIDE, UNPINNED, BIMODAL, SOCKETS)
    ]
    now = campaign_fingerprint.files(copy)
    before = now | {changed: "another"}
    if gone:
        now, before = before, now
    change = campaign_fingerprint.change(copy, before, now)
    return {line.control: {said.artefact for said in line.outcomes} for line in change.left(lines)}


ALL = {"bimodal", "unpinned", "power-of-two-stride", "socket-lifetime"}


def test_a_version_is_named_by_what_decides_and_by_nothing_else(copy: Path) -> None:
    before = campaign_fingerprint.digest(campaign_fingerprint.files(copy))
    for name in ("benchbook/report/new.py", "benchbook/controls/campaign_new.py", "kernels/mbw.md"):
        (copy / name).write_text("")
        assert campaign_fingerprint.digest(campaign_fingerprint.files(copy)) == before
    for name in (
        "benchbook/detect/detectors/new.py",
        "kernels/controls/new.c",
        "kernels/stream/new.c",
    ):
        (copy / name).write_text("")
        before, after = campaign_fingerprint.digest(campaign_fingerprint.files(copy)), before
        assert before != after
        (copy / name).unlink()
        assert campaign_fingerprint.digest(campaign_fingerprint.files(copy)) == after
        before = after


@pytest.mark.parametrize("gone", [False, True])
def test_a_detector_takes_with_it_what_it_said_and_its_own_controls(copy: Path, gone: bool) -> None:
    found = left(copy, "benchbook/detect/detectors/bimodal.py", gone=gone)
    assert found == dict.fromkeys((STRIDE, UNPINNED, SOCKETS), ALL - {"bimodal"})


def test_a_new_detector_takes_nothing_with_it(copy: Path) -> None:
    found = left(copy, "benchbook/detect/detectors/not_yet_known.py")
    assert found == dict.fromkeys((STRIDE, UNPINNED, BIMODAL, SOCKETS), ALL)


def test_a_kernel_takes_all_controls_with_it_that_use_it(copy: Path) -> None:
    assert set(left(copy, f"kernels/{STRIDE}/places.c")) == {BIMODAL, SOCKETS}
    assert set(left(copy, f"kernels/{UNPINNED}/control.yaml")) == {STRIDE, BIMODAL, SOCKETS}
    assert set(left(copy, "kernels/udp/udp.c")) == {STRIDE, UNPINNED, BIMODAL}


def test_a_replay_takes_what_was_replayed_with_it(copy: Path) -> None:
    now = campaign_fingerprint.files(copy)
    change = campaign_fingerprint.change(
        copy, now | {f"kernels/{STRIDE}/replay.py": "another"}, now
    )
    lines = [
        Line(name, load, 1, 1.0, False, [])
        for name in (STRIDE, BIMODAL)
        for load in ("none", REPLAYED)
    ]
    assert list(change.left(lines)) == [lines[0], *lines[2:]]


def test_what_is_gone_is_not_counted(copy: Path) -> None:
    change = campaign_fingerprint.change(copy, {"kernels/controls/gone/control.yaml": "1"}, {})
    line = Line("controls/gone", "none", 1, 1.0, False, [])
    assert list(change.left([line])) == []


@pytest.mark.parametrize(
    "path",
    [
        "benchbook/stats/shape.py",
        "benchbook/detect/__init__.py",
        "kernels/common/bench.c",
        "kernels/controls/shared.h",
        "tests/counter_outputs/likwid.csv",
    ],
)
def test_any_other_file_takes_all_with_it(copy: Path, path: str) -> None:
    assert left(copy, path) == {}


def test_what_did_not_change_takes_nothing_with_it(copy: Path) -> None:
    deciding = campaign_fingerprint.files(copy)
    change = campaign_fingerprint.change(copy, deciding, dict(deciding))
    assert change == campaign_fingerprint.Change(False, frozenset(), frozenset(), frozenset())
