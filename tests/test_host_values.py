"""The value of every host for a claim, in one picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import made_up_findings
import pytest
from browser import look
from playwright.sync_api import Browser

from benchbook.judge.paper_json import read_paper
from benchbook.report import wording
from benchbook.report.hosts_page import HostResults, claim_rows, make_hosts, verdict_context
from benchbook.report.plots.palette import INK, PALETTE
from benchbook.report.sections import host_values
from benchbook.report.sections.host_values import ClaimRow


def claim(estimate: float | None, verdict: str, **more: Any) -> dict[str, Any]:
    """A claim with region 2 to 4 as a host judged it."""
    ends = None if estimate is None else [estimate - 0.1, estimate + 0.1]
    asked = {"text": "T", "region": [2.0, 4.0], "kind": "ratio", "unit": "ratio of rates"}
    answer = {"estimate": estimate, "interval": ends, "verdict": verdict, "published": [3.0]}
    return {**asked, **answer, "through": None, "blocks": 8, "points": {}, **more}


def row(*claims: dict[str, Any], name: str = "c") -> ClaimRow:
    by_host = {f"h{place}": judged for place, judged in enumerate(claims)}
    return ClaimRow("p", "f", name, name, by_host)


HOLDS, FAILS = claim(3.0, "reproduced"), claim(9.0, "not_reproduced")
ABSENT = claim(None, "not_measurable_here")


def test_each_host_has_a_row_with_interval_and_region() -> None:
    drawn = host_values.of_claim(row(HOLDS, FAILS, ABSENT).claims, "h1")
    assert drawn is not None
    assert [line.label for line in drawn.rows] == ["published", "h0", "h1 (this one)", "h2"]
    assert [line.value for line in drawn.rows] == [None, 3.0, 9.0, None]
    assert (drawn.rows[2].low, drawn.rows[2].high) == (8.9, 9.1)
    assert {line.bounds for line in drawn.rows} == {(2.0, 4.0)}
    assert [line.cells[0][-1] for line in drawn.rows] == ["0", "✓", "✗", "–"]
    assert [line.colour for line in drawn.rows[1:]] == [INK, PALETTE[0], INK]
    assert "shaded: what counts as holding (2 to 4)" in drawn.unit
    assert drawn.scale.low < 2 and drawn.scale.high > 9.1


def test_without_a_value_there_is_no_picture() -> None:
    assert host_values.of_claim({"h": ABSENT}) is None
    assert host_values.values([row(HOLDS, ABSENT)]) == []
    assert len(host_values.values([row(HOLDS, ABSENT)], least=1)) == 1
    assert host_values.values([row(HOLDS, HOLDS)], own="elsewhere") == []


def test_claims_on_which_hosts_disagree_come_first_and_open() -> None:
    same = [row(HOLDS, HOLDS, name=f"same{place}") for place in range(4)]
    differ = [row(HOLDS, FAILS, name=f"differ{place}") for place in range(7)]
    shown = host_values.values([*same, *differ])
    names = [f"differ{place}" for place in range(7)] + [f"same{place}" for place in range(4)]
    assert [values.row.text for values in shown] == names
    assert [values.folded for values in shown] == [False] * 6 + [True] * 5
    assert [values.folded for values in host_values.values(same)] == [False] * 3 + [True]


def test_claims_of_other_units_or_kinds_are_never_in_one_picture() -> None:
    def host(name: str, judged: dict[str, Any]) -> HostResults:
        figures = [{"id": "f", "claims": [judged | {"claim": "c"}]}]
        return HostResults(name, name, [{"paper": "p", "figures": figures, "experiments": {}}])

    changes: list[dict[str, Any]] = [{}, {"unit": "ratio of times"}, {"kind": "slope"}]
    changes += [{"statistic": "best"}, {"region": [2.0, None]}]
    hosts = [host(str(place), HOLDS | change) for place, change in enumerate(changes)]
    assert [len(row.claims) for row in claim_rows([*hosts, host("again", HOLDS)])] == [
        2,
        1,
        1,
        1,
        1,
    ]


def test_the_page_of_hosts_shows_them(
    tmp_path: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = read_paper(made_up_findings.results(tmp_path_factory.mktemp("made"), "quick", {}))
    for name, factor in (("a", 1.0), ("b", 1.5)):
        for judged in wording.all_claims(content):
            if judged["estimate"] is not None:
                judged["estimate"] *= factor
        path = tmp_path / "results" / name / "quick" / content["paper"] / "paper.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
    page = tmp_path / "reports/hosts.html"
    make_hosts(tmp_path, [], "quick", page)
    seen = look(browser, page)
    assert seen["text"].count("what counts as holding") >= 3
    assert (seen["messages"], seen["requests"]) == ([], [page.as_uri()])
    assert seen["overlaps"] == [] and seen["cut_off"] == []
    assert all(inner == width for width, inner in seen["widths"].items())


def test_one_claim_by_two_libraries_counts_once() -> None:
    first = row(HOLDS, HOLDS, name="with-opencl")
    again = row(*[{**HOLDS, "repeats": "f/with-opencl"}] * 2, name="with-cuda")
    other = row(HOLDS, FAILS, name="another")
    hosts = [HostResults(name, name, []) for name in ("h0", "h1")]
    counted = verdict_context([first, again, other], hosts)
    assert (counted["claims"], counted["everywhere"], counted["differ"]) == (2, 1, 1)
