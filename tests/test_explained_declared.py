"""Anomalies as papers declare them: what is refused before anything runs, and what is planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_up_chain import CONTENT, MOVED, STILL, STUCK, WHOLE

from benchbook.core.errors import BenchbookError
from benchbook.crosscheck import anomalies
from benchbook.crosscheck.spaces import Place, Space
from benchbook.define import catalogue
from benchbook.evidence import memcpy_thresholds
from benchbook.judge import causes

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def space() -> Space:
    found = Space(content=CONTENT, file="kernels/e/experiment.yaml")
    for setting in (STUCK, STILL, MOVED, WHOLE):
        found.planned |= set(found.points(Place("f"), setting))
    return found


def figure(**changes: Any) -> dict[str, Any]:
    """One anomaly with two steps."""
    steps = [
        {"cause": "destination-not-advanced", "removed": STILL},
        {"cause": "source-not-advanced", "removed": MOVED},
    ]
    named = {"id": "a", "text": "t", "odd": STUCK, "base": WHOLE, "steps": steps}
    return {"anomalies": [named | changes]}


def test_a_chain_from_odd_to_base_passes(space: Space) -> None:
    anomalies.check(Place("p"), figure(), space)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"base": STUCK}, "compares a point with itself"),
        ({"odd": STUCK | {"bytes": "33 MiB"}}, "is in no preset"),
        ({"steps": [{"cause": "bad-luck"}]}, "is 'bad-luck', which is no module"),
        ({"steps": [{"cause": "first-touch"}] * 2}, "listed twice"),
        (
            {"steps": [{"cause": "source-not-advanced", "removed": STUCK}]},
            "is a point that stands before it",
        ),
        (
            {
                "steps": [
                    {"cause": "destination-not-advanced", "removed": WHOLE},
                    {"cause": "source-not-advanced", "removed": MOVED},
                ]
            },
            "stands behind the base",
        ),
    ],
)
def test_a_chain_that_explains_nothing_is_refused(
    space: Space, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BenchbookError, match=said):
        anomalies.check(Place("p"), figure(**changes), space)


def test_the_papers_look_at_the_causes_that_they_must() -> None:
    wanted = {
        "slocum2013-mbw": {
            "destination-not-advanced",
            "source-not-advanced",
            "copy-path-switch",
            "first-touch",
            "zero-page",
            "cache-resident",
            "write-allocate",
        },
        "stream-array-size": {
            "cache-resident",
            "write-allocate",
            "libcall-substituted",
            "not-vectorised",
            "state-flip",
        },
    }
    for name, least in wanted.items():
        figures = catalogue.paper(ROOT, name)["figures"]
        named = {
            step["cause"]
            for figure in figures
            for anomaly in figure.get("anomalies", [])
            for step in anomaly["steps"]
        }
        assert least <= named
        assert named <= set(causes.names())


def test_one_figure_measures_its_chains() -> None:
    found = catalogue.crosses_of_figure(ROOT, "mbw", "slocum2013-mbw/mbw-b4096-32")
    variants = {figure.get("variant") for figure in found}
    assert "gcc-O2-one-way" in variants


DIAGNOSTICS = """\
env_filtered[0x0]="PATH"
x86.cpu_features.data_cache_size=0xc000
x86.cpu_features.non_temporal_threshold=0x12000000
x86.cpu_features.rep_movsb_threshold=0x840
x86.cpu_features.rep_movsb_stop_threshold=0x100000
"""


def test_the_loader_says_how_the_library_copies() -> None:
    found = memcpy_thresholds.thresholds_in(DIAGNOSTICS)
    for isa in (["avx2", "erms"], ["fsrm"]):
        assert memcpy_thresholds.path_of(2111, found, isa) == memcpy_thresholds.LOOP
        assert memcpy_thresholds.path_of(2112, found, isa) == memcpy_thresholds.STRING
        assert memcpy_thresholds.path_of(2**20, found, isa) == memcpy_thresholds.LOOP
        assert memcpy_thresholds.path_of(0x12000000, found, isa) == memcpy_thresholds.PAST


def test_a_processor_without_fast_strings_does_not_take_them() -> None:
    found = memcpy_thresholds.thresholds_in(DIAGNOSTICS)
    assert memcpy_thresholds.path_of(2112, found, ["avx2"]) == ""
    assert memcpy_thresholds.path_of(2111, found, []) == memcpy_thresholds.LOOP


def test_a_library_that_does_not_say_is_no_vector_loop() -> None:
    assert memcpy_thresholds.thresholds_in("aarch64.whatever=0x1\n") == {}
    assert memcpy_thresholds.path_of(4096, {}, ["erms"]) == ""
    assert memcpy_thresholds.copy_thresholds("/nowhere/ld.so", {}) == {}


@pytest.mark.parametrize(
    ("said", "loader"),
    [
        (b"\tlibc.so.6 => /lib/libc.so.6 (0x1)\n\t/lib64/ld-linux-x86-64.so.2 (0x2)\n",
         "/lib64/ld-linux-x86-64.so.2"),
        (b"\t/nix/store/x-glibc/lib/ld-linux-x86-64.so.2 => /lib64/ld-linux-x86-64.so.2 (0x2)\n",
         "/nix/store/x-glibc/lib/ld-linux-x86-64.so.2"),
        (b"\tnot a dynamic executable\n", None),
    ],
)  # fmt: skip
def test_the_loader_of_a_binary_is_found(said: bytes, loader: str | None) -> None:
    assert memcpy_thresholds.loader_in(said) == loader
