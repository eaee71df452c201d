"""The detector of ranks that have more work than others, and what pages say of ranks."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from conftest import ROOT

from benchbook.define import catalogue
from benchbook.define.models import Paper
from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import rank_imbalance
from benchbook.judge.figures import rerun_figure
from benchbook.report.sections import rank_traffic, time_shares


def row(where: str, **columns: Any) -> dict[str, Any]:
    """A point of two ranks that share the work evenly, but for these columns."""
    even = {"rank_count": 2, "rank_cpus": 2, "busiest_rank_ratio": 1.02, "busy_fraction": 0.8}
    return {"where": where, **even, **columns}


def judged(*rows: dict[str, Any]) -> Judged:
    return rank_imbalance.detect(Seen(pd.DataFrame(list(rows)), starts=pd.DataFrame()))


def test_the_busiest_rank_is_named_with_what_equal_shares_would_gain() -> None:
    made = judged(row("even"), row("uneven", busiest_rank_ratio=1.5), row("worse", rank_count=4,
                  rank_cpus=4, busiest_rank_ratio=2.0, busy_fraction=0.5))  # fmt: skip
    first, second = made.findings
    assert (first.where, second.where) == (["uneven"], ["worse"])
    assert "1.50 times as long" in first.explanation
    assert "40% less time" in first.explanation
    assert "The busiest of 4 ranks" in second.explanation
    assert made.clean == ["even"]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"busiest_rank_ratio": None}, "was not counted"),
        ({"busiest_rank_ratio": 1.9, "rank_cpus": 1}, "share CPUs"),
    ],
)
def test_it_abstains_where_time_tells_nothing_of_work(columns: dict[str, Any], why: str) -> None:
    made = judged(row("here", **columns))
    assert made.findings == []
    assert why in made.abstained["here"]


def test_one_rank_and_ranks_that_hardly_compute_are_no_imbalance() -> None:
    made = judged(row("one", rank_count=1), row("idle", busiest_rank_ratio=3, busy_fraction=0.01))
    assert (made.findings, made.abstained, made.clean) == ([], {}, ["idle"])


def measured(variant: str, path: str, time_ns: float, **seen: Any) -> dict[str, Any]:
    """A measured point of a page, of two ranks of CG."""
    factors = {"path": path, "ranks": 2, "class": "S", "method": "cg"}
    point = ",".join([variant, *(f"{key}={value}" for key, value in factors.items())])
    observations = {
        "rank_count": 2, "rank_messages": 2000, "rank_message_bytes": 4_000_000,
        "collective_calls": 0, "collective_bytes": 0, "operations": 66_000_000,
        "busy_fraction": 0.7, "waiting_fraction": 0.2, "sending_fraction": 0.1,
        "collective_fraction": 0.0, "busiest_rank_ratio": 1.1, **seen,
    }  # fmt: skip
    return {
        "experiment": "nas", "point": point, "variant": variant, "twin": "", "factors": factors,
        "state": "ok", "time_ns": time_ns, "observations": observations,
    }  # fmt: skip


def test_rates_are_of_the_median_time_and_gains_of_the_same_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchbook.report.wording.point_name", lambda paper, point: point)
    nothing = {"rank_messages": None}
    points = [
        measured("mpich", "veth", 40e6),
        measured("mpich", "memory", 20e6),
        measured("uncounted", "veth", 32e6, **nothing),
        measured("messages", "veth", 16e6),
    ]
    over_tcp, in_memory, over_messages = rank_traffic.rows({"points": points}, "nas")
    assert (over_tcp["rate"], over_tcp["size"]) == ("1,650", "2,000")
    assert (over_tcp["data"], over_tcp["messages"]) == ("100", "50,000")
    assert (over_tcp["gain"], over_tcp["uncounted"]) == ("2.00", "1.25")
    assert over_tcp["own"] == "2.50"
    assert (in_memory["gain"], in_memory["own"], in_memory["uncounted"]) == ("–", "–", "–")
    assert (over_messages["gain"], over_messages["own"]) == ("–", "–")
    assert [share.split()[0] for share in over_tcp["shares"]] == ["70", "20", "10", "0"]


def test_bars_show_all_of_the_time_of_who_waits_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchbook.report.wording.point_name", lambda paper, point: point)
    alone = {"busy_fraction": 1.0, "waiting_fraction": 0.0, "sending_fraction": 0.0}
    points = [
        measured("mpich", "veth", 40e6, sending_fraction=0.05, waiting_fraction=0.25),
        measured("mpich", "memory", 20e6, **alone),
        measured("mpich", "veth", 20e6, waiting_fraction=None),
    ]
    (bar,) = time_shares.bars({"points": points}, "nas")
    assert sum(part.share for part in bar.parts) == pytest.approx(1)
    assert [part.text.split()[0] for part in bar.parts if part.text] == ["70", "25"]
    assert [part.name for part in time_shares.legend([bar])] == list(rank_traffic.SHARES.values())
    assert time_shares.bars({"points": points}, "mpi") == []
    assert time_shares.legend([]) == []


def test_rates_of_messages_stand_next_to_those_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collective call is a message to each other rank; the run with the most ranks counts."""
    monkeypatch.setattr("benchbook.report.wording.method_name", lambda paper, point: "LU")
    sent = {"rank_messages": 100, "rank_message_bytes": 3000}
    collective = {"collective_calls": 100, "collective_bytes": 1000}
    points = [
        measured("mpich", "veth", 1e9, rank_count=2, **sent),
        measured("mpich", "veth", 1e9, rank_count=4, **sent, **collective),
        measured("mpich", "memory", 1e6, rank_count=4, **sent),
    ]
    published = [
        {"label": "LU", "messages_per_s": 1199.0, "message_bytes": 1580.0, "at_most": False},
        {"label": "EP", "messages_per_s": 4.0, "message_bytes": 5.0, "at_most": True},
    ]
    paper = {"points": points, "figures": [{"experiment": "nas", "traffic": published}]}
    (own,) = rank_traffic.measured_traffic(paper, "nas")
    # 100 messages, and 100 calls that reach 3 others each.
    assert (own.messages_per_s, own.message_bytes) == (400, 10)
    drawn = rank_traffic.picture(paper, "nas")
    assert drawn is not None
    assert "LU 400 of 10. Published: LU 1,199 of 1,580; EP 4 of at most 5." in drawn.alt
    assert "EP, at most" in drawn.svg
    title = rank_traffic.title(paper, "nas")
    assert title == "The programs send 400 to 400 messages a second here, published 4 to 1,199"
    assert rank_traffic.caption(paper, "nas").endswith("rounds to it, 5 bytes.")
    assert rank_traffic.picture({**paper, "figures": []}, "nas") is None


def test_published_messages_are_those_of_the_table() -> None:
    """The seven programs of the source; EP's mean size is printed as 0.00 KB, so below 5 bytes."""
    name = "ssscore"
    content = Paper.model_validate(catalogue.paper(ROOT, name))
    figure = next(figure for figure in content.figures if figure.traffic)
    nothing = {"points": [], "sizes": {}}
    definition = catalogue.definition(ROOT, figure.experiment)
    made = rerun_figure(ROOT, name, figure, nothing, pd.DataFrame(), definition, [])
    ep, mg, *others = made["traffic"]
    assert ep == {
        "label": "EP", "messages_per_s": 4.0, "message_bytes": 5.0, "at_most": True
    }  # fmt: skip
    assert (mg["label"], mg["messages_per_s"], mg["message_bytes"]) == ("MG", 4670, 2070)
    assert len(others) == 5
