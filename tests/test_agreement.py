"""Agreement with peers: made-up rates of a known ratio, and what the machine's page says of it."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from benchbook.analyse.peer_agreement import agreement
from benchbook.core.reason_codes import Unpaired
from benchbook.report.render import part
from benchbook.report.sections import peer_agreement as page

SIZES = (2**20, 2**23, 2**25)
ABOUT = {"tool": "mbw", "package": "mbw", "version": "1.2.2-1.1", "text": "Somebody's <copy>."}
VARIANTS = [
    {"variant": "ours", "state": "ok", "reason": "", "peer": None},
    {"variant": "theirs", "state": "ok", "reason": "", "peer": ABOUT},
]


def identity(variant: str, size: int) -> str:
    return f"{variant},bytes={size},method=copy"


def row(size: int, reason: str = "") -> dict[str, Any]:
    theirs = None if reason else identity("theirs", size)
    names = {"peer": "theirs", "twin": "ours", "point": identity("ours", size)}
    return {**names, "peer_point": theirs, "reason": reason}


def point(variant: str, size: int, state: str = "ok", reason: str = "") -> dict[str, Any]:
    return {
        "point": identity(variant, size),
        "variant": variant,
        "factors": {"bytes": size, "method": "copy"},
        "state": state,
        "reason": reason,
        "rate_bytes_per_s": 1e9 if state == "ok" else None,
    }


def summaries(ratios: dict[int, float], states: dict[int, tuple[str, str]]) -> pd.DataFrame:
    """Blocks whose speed differs widely, in which ours is `ratio` times as fast; `states` of ours
    and theirs by block, else "1" for both, and there ours is ten times too fast."""
    rows = []
    for size, ratio in ratios.items():
        for block in range(8):
            mine, other = states.get(block, ("1", "1"))
            wrong = 10 if block in states else 1
            slow = 1 + block % 3
            common = {"block": block, "invocation": 0, "bytes_declared": float(size), "samples": 10}
            time_ns = {"ours": 1e6 * slow / ratio / wrong, "theirs": 1e6 * slow}
            rows += [
                {**common, "point": identity(name, size), "median_ns": ns, "machine_state": state}
                for (name, ns), state in zip(time_ns.items(), (mine, other), strict=True)
            ]
    return pd.DataFrame(rows)


def both(*sizes: int) -> list[dict[str, Any]]:
    return [point(variant, size) for size in sizes for variant in ("ours", "theirs")]


def test_the_ratio_is_that_of_the_rates_in_the_blocks_of_one_state() -> None:
    ratios = dict(zip(SIZES, (1.02, 0.90, 1.04), strict=True))
    flips = {2: ("1", "2"), 5: ("mixed", "mixed")}
    table = summaries(ratios, flips)
    (found,) = agreement([row(size) for size in SIZES], both(*SIZES), table, VARIANTS)
    assert [row["ratio"] for row in found["rows"]] == pytest.approx([1.02, 0.90, 1.04])
    assert [row["blocks"] for row in found["rows"]] == [6, 6, 6]
    for line in found["rows"]:
        assert line["low95"] <= line["ratio"] * 1.000001
        assert line["high95"] >= line["ratio"] * 0.999999
    assert found["median_ratio"] == pytest.approx(1.02)
    assert found["worst_ratio"] == pytest.approx(0.90)  # 1/0.90 is further than 1.04
    assert (found["compared"], found["not_compared"]) == (3, 0)
    assert {key: found[key] for key in ABOUT} == ABOUT


def test_what_is_not_compared_stays_with_its_reason() -> None:
    gone = point("theirs", SIZES[2], "failed", "exit status 3: no memory")
    points = [*both(SIZES[0]), point("ours", SIZES[1]), point("ours", SIZES[2]), gone]
    rows = [row(SIZES[0]), row(SIZES[1], "too small"), row(SIZES[2])]
    flips = dict.fromkeys(range(8), ("1", "2"))
    (found,) = agreement(rows, points, summaries({SIZES[0]: 1.0}, flips), VARIANTS)
    assert [(row["state"], row["lacking"], row["reason"]) for row in found["rows"]] == [
        (Unpaired.NO_BLOCK, "", ""),
        (Unpaired.NOT_ACCEPTED, "", "too small"),
        ("failed", "theirs", "exit status 3: no memory"),
    ]
    assert [page.not_compared(row) for row in found["rows"]] == [
        "no round ran both at one speed level",
        "too small",
        "theirs: exit status 3: no memory",
    ]
    assert (found["compared"], found["not_compared"]) == (0, 3)
    assert found["median_ratio"] is None
    assert found["worst_ratio"] is None


def test_few_blocks_have_no_finite_interval_and_json_can_hold_them() -> None:
    table = summaries({SIZES[0]: 1.1}, dict.fromkeys(range(3, 8), ("1", "2")))
    (found,) = agreement([row(SIZES[0])], both(SIZES[0]), table, VARIANTS)
    (only,) = found["rows"]
    assert (only["blocks"], only["high95"]) == (3, None)
    assert math.isfinite(only["ratio"])


def test_no_peer_no_agreement() -> None:
    assert agreement([], [], pd.DataFrame(), []) == []


def shown(peers: list[dict[str, Any]]) -> str:
    analyses = [{"experiment": "mbw", "agreement": peers}]
    papers = [{"experiments": {"mbw": {"names": {"copy": "whole copy"}}}, "points": []}]
    papers[0]["figures"] = []  # type: ignore[assignment]
    return part("agreement", peers=page.sections(analyses, papers), preset="quick").html


def test_the_page_has_the_table_and_lists_what_was_not_accepted() -> None:
    rows = [*(row(size) for size in SIZES), row(2**14, "16 KiB is too small")]
    rows += [row(2**15, "16 KiB is too small")]
    points = [*both(*SIZES), point("ours", 2**14), point("ours", 2**15)]
    table = summaries(dict.fromkeys(SIZES, 1.25), {})
    html = shown(agreement(rows, points, table, VARIANTS))
    assert (
        "Rate of ours ÷ theirs (mbw 1.2.2-1.1): 1.250 in the median of 3 points, 1.250 at worst"
    ) in html
    assert "ours, GB/s" in html
    assert "Somebody&#39;s &lt;copy&gt;." in html
    assert html.count("<tr>") == 1 + len(SIZES)
    assert "whole copy, 8\N{NO-BREAK SPACE}MiB</th>" in html
    assert "2 points of ours not compared, and why" in html
    assert "16 KiB is too small: whole copy, 16\N{NO-BREAK SPACE}KiB; whole copy, 32" in html


def timed(variant: str, time_ns: float) -> dict[str, Any]:
    """A round trip: bytes that it declares, and none of a buffer."""
    name = f"{variant},payload_bytes=1024,method=one-socket"
    return {
        "point": name,
        "variant": variant,
        "factors": {"payload_bytes": 1024, "method": "one-socket"},
        "state": "ok",
        "time_ns": time_ns,
        "rate_bytes_per_s": 1024 / time_ns * 1e9,
    }


def test_of_what_moves_no_buffer_times_are_compared() -> None:
    points = [timed("ours", 9000.0), timed("theirs", 10_000.0)]
    names = {"peer": "theirs", "twin": "ours", "point": points[0]["point"]}
    table = pd.DataFrame(
        {
            "block": block,
            "invocation": 0,
            "point": point["point"],
            "median_ns": point["time_ns"] * (1 + block % 3),
            "bytes_declared": 1024.0,
            "samples": 50,
            "machine_state": "1",
        }
        for block in range(8)
        for point in points
    )
    rows = [{**names, "peer_point": points[1]["point"], "reason": ""}]
    (found,) = agreement(rows, points, table, VARIANTS)
    assert found["quantity"] == "time"
    assert found["median_ratio"] == pytest.approx(0.9)
    html = shown([found])
    assert "Time of ours ÷ theirs (mbw 1.2.2-1.1): 0.900 in the median of 1 point" in html
    assert "ours, µs" in html
    assert "9.00</td>" in html
    assert "10.0</td>" in html
    assert "GB/s" not in html


def test_the_page_says_what_to_install() -> None:
    reason = "mbw is not on PATH; install it (Debian: apt-get install mbw)"
    gone = [VARIANTS[0], {**VARIANTS[1], "state": "cannot_run", "reason": reason}]
    points = [point("ours", SIZES[0]), point("theirs", SIZES[0], "cannot_run", reason)]
    html = shown(agreement([row(SIZES[0])], points, pd.DataFrame(), gone))
    assert f"Not measured here: {reason}" in html
    assert "1 point of ours not compared" in html
    assert "<code>benchbook doctor</code> names their packages" in shown([])
