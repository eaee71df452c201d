"""The page of round trips: times in µs, sweeps with their steps, and no word of bytes moved."""

from __future__ import annotations

import copy
import csv
import html
import json
import re
from pathlib import Path
from typing import Any

import made_up
import made_up_udp
import pytest
from conftest import ROOT
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from benchbook.core import number_format
from benchbook.report import notebook_export, paper_page, wording
from benchbook.report.plots.forest import HEAD_FONT, Row, forest
from benchbook.report.plots.style import WIDTH_IN
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import sweeps as sweeps_section
from benchbook.report.sections import titles

NOTEBOOK = ROOT / "notebooks" / f"{made_up.UDP}.ipynb"
PARTS = ("forms", "odd", "sweep", "sizing", "whole_machine", "moved", "calls")
OF_BYTES = re.compile(r"\b[KMG]i?B/s|\bnan\b|\bNone\b|\binf\b|\bcopies\b|Rate (in|of|by)")


def text_of(markup: str) -> str:
    """What a reader sees, without pictures and files."""
    for pattern in (r"<style.*?</style>", r'href="data:[^"]*"'):
        markup = re.sub(pattern, "", markup, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", markup)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """paper.json of preset quick."""
    folder = tmp_path_factory.mktemp("quick")
    path = made_up.results(folder, "quick", paper=made_up.UDP, blocks=12, spread=0.005)
    return dict(json.loads(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def shown(made: dict[str, Any]) -> paper_page.PaperPage:
    return paper_page.PaperPage(made)


def claims(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {claim["claim"]: claim for claim in wording.all_claims(made)}


def sweep(made: dict[str, Any], name: str) -> dict[str, Any]:
    return next(sweep for sweep in made["sweeps"] if sweep["id"] == name)


def series(made: dict[str, Any], of: str, name: str) -> dict[str, Any]:
    return next(
        series_of_sweep
        for series_of_sweep in sweep(made, of)["series"]
        if series_of_sweep["id"] == name
    )


def test_every_part_shows_times_and_nothing_of_bytes(
    made: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "paper.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    monkeypatch.setenv(paper_page.VARIABLE, str(path))
    text = text_of(notebook_export.export(made_up.executed_here(NOTEBOOK), ""))
    assert not (sizes := OF_BYTES.findall(text)), sizes
    for words in ("takes", "µs", "Time in µs", "mean of 10", "Here a switch is a Linux bridge"):
        assert words in text


@pytest.mark.parametrize("name", PARTS)
def test_parts_about_bytes_are_empty(shown: paper_page.PaperPage, name: str) -> None:
    assert not text_of(getattr(shown, name)().html).strip()


def test_a_part_of_flags_says_that_there_are_none(shown: paper_page.PaperPage) -> None:
    assert "too few builds" in text_of(shown.flags().html)


def test_every_point_of_ours_has_its_percentiles(shown: paper_page.PaperPage) -> None:
    text = text_of(shown.spreads().html)
    assert "99th" in text
    assert "one socket for all, emulated, 4 switches, link 1 Gb/s, spin" in text
    assert "simulated" in text


def test_figures_and_sweeps_have_csv_in_us(made: dict[str, Any], tmp_path: Path) -> None:
    notebook_export.write_figures(paper_page.PaperPage(made), tmp_path)
    for name in ("no-switch", "one-socket", "socket-each", "switches", "emulated-switches"):
        with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert {"printed_us", "rerun_us", "rerun_low95_us", "rerun_high95_us"} <= set(rows[0])
        assert "<svg" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    states = {row["state"] for row in rows}
    assert states == {"simulated"}


def test_rows_hold_median_and_mean_in_us(made: dict[str, Any]) -> None:
    base, switched = made["figures"][0]["rows"]
    factors = {"wait": "block", "link_bits_per_s": 0, "path": "veth", "switches": 0}
    truth = made_up_udp.time_ns(factors | {"payload_bytes": 1024, "method": "one-socket"}) / 1e3
    assert base["rerun"] == pytest.approx(truth, rel=0.01)
    assert base["paper_statistic"] == pytest.approx(truth, rel=0.01)
    assert (base["paper_statistic_name"], base["printed"]) == ("mean", "101")
    assert switched["ratio"]["ratio"] > 1
    assert switched["printed_ratio"] == pytest.approx(145 / 101)


def test_titles_say_what_takes_how_long(made: dict[str, Any]) -> None:
    figure = made["figures"][1]
    title = titles.figure(made, figure)
    assert title.startswith("4 switches take ")
    assert "times as long as 0 switches here, published 1.99" in title
    assert "takes up to" in titles.overview(made)


def test_a_long_heading_is_broken_into_lines_that_fit_into_the_picture() -> None:
    title = "One socket for all round trips, by number of switches"
    aside = "(0 switches: B1 E1 i1)".replace(" ", number_format.FIXED)
    rows = [
        Row(label=f"{title} {aside}", head=True),
        Row(label="1 switch", published=[1.5], value=1.1),
    ]
    shown = forest("headed", "", rows, unit="ratio")
    assert shown
    lines = re.findall(r"<text[^>]*font-weight: 700[^>]*>([^<]*)</text>", shown.svg)
    assert lines == [title, aside]
    bold = FontProperties(family="DejaVu Sans", weight="bold", size=HEAD_FONT)
    for line in lines:
        assert TextPath((0, 0), line, prop=bold).get_extents().width < 72 * WIDTH_IN


def test_titles_tell_of_what_only_emulates_where_there_is_nothing_else(
    made: dict[str, Any],
) -> None:
    figure = copy.deepcopy(made["figures"][1])
    last, before = figure["rows"][-1], figure["rows"][-2]
    last["emulates"] = "something stands in"
    only = {**made, "figures": [figure]}
    assert titles.figure(made, figure).startswith(wording.row_name(figure, before))
    assert "simulated" not in titles.figure(made, figure) + titles.overview(only)
    for row in figure["rows"]:
        row["emulates"] = "something stands in"
    assert titles.figure(made, figure).startswith(wording.row_name(figure, last))
    for title in (titles.figure(made, figure), titles.overview(only)):
        assert "here (simulated), published 1.99" in title


# Verdicts.


def test_nothing_is_decided_on_emulated_switches(made: dict[str, Any]) -> None:
    claim = claims(made)["a-packet-buffer-takes-8-us"]
    assert (claim["verdict"], claim["estimate"]) == ("not_measurable_here", None)
    assert claim["reason"]["code"] == "emulated"
    assert "stand for those of a real network" in claim["reason"]["why"]
    assert "It needs switches with wires" in claims_section.not_measurable(made, claim)
    emulated = [point for point in made["points"] if point.get("emulates")]
    assert emulated
    assert all(point["factors"]["path"] == "emulated" for point in emulated)
    decided = [claim for claim in wording.all_claims(made) if claim["estimate"] is not None]
    at = {point for claim in decided for point in wording.points_of(claim)}
    assert not at & {point["point"] for point in emulated}


def test_a_claim_on_a_real_network_names_the_remedy(made: dict[str, Any]) -> None:
    claim = claims(made)["a-socket-each-costs-time-on-a-wire"]
    assert claim["verdict"] == "not_measurable_here"
    reason = claims_section.not_measurable(made, claim)
    assert made_up_udp.NO_PEER.split(";")[0] in reason
    assert "--config udp_peer=ADDRESS" in reason
    assert claim["published"] == pytest.approx([145 / 101])


def test_claims_of_time_have_units_and_a_twin_beside_them(made: dict[str, Any]) -> None:
    by_name = claims(made)
    gap = by_name["a-switch-narrows-the-gap"]
    assert gap["published"] == pytest.approx([159 - 150 - 145 + 101] * len(gap["published"]))
    assert claims_section.published(gap) == f"-35.0{number_format.FIXED}µs"
    assert claims_section.value(gap).endswith(f"{number_format.FIXED}µs")
    assert claims_section.under_other_factors(made, gap).startswith("with spin ")
    uneven = by_name["time-grows-unevenly"]
    assert uneven["published"] == pytest.approx([48 / 25] * len(uneven["published"]))
    assert "Steps, in µs" in claims_section.steps(uneven)
    assert by_name["a-switch-adds-time"]["verdict"] == "reproduced"
    beyond = by_name["software-costs-50-us-more"]
    assert beyond["verdict"] == "not_measurable_here"
    assert (
        claims_section.region(beyond) == f"45{number_format.FIXED}µs to 55{number_format.FIXED}µs"
    )


def test_claims_of_one_figure_are_told_apart(made: dict[str, Any]) -> None:
    for figure in made["figures"]:
        names = [claims_section.name(made, claim) for claim in figure["claims"]]
        assert len(set(names)) == len(names)


# Sweeps.


def test_what_storing_adds_is_the_time_on_the_wire(made: dict[str, Any]) -> None:
    lines = {"fast-64": (64, 100), "gigabit-512": (512, 1000), "gigabit-1024": (1024, 1000)}
    lines |= {"gigabit-1408": (1408, 1000)}
    for name, (payload, bits_per_us) in lines.items():
        line = series(made, "emulated-switches", name)
        wire_us = 8 * (payload + 66) / bits_per_us
        assert line["wire"] == pytest.approx(wire_us)
        assert line["above"]["low95"] < wire_us < line["above"]["high95"]
        assert line["above"]["estimate"] == pytest.approx(wire_us, rel=0.03)
        # One way through an emulated switch is 2 µs more than that, in the made-up times.
        assert line["slope"]["estimate"] == pytest.approx(wire_us + 2, rel=0.03)
        assert line["emulates"]
        share = number_format.share(line["above"]["estimate"] / wire_us)
        assert sweeps_section.excess_over_wire(line).endswith(f", {share} of the wire’s")
    assert series(made, "emulated-switches", "free-512")["wire"] is None
    assert (
        sweeps_section.excess_over_wire(series(made, "emulated-switches", "free-512"))
        == number_format.NONE
    )


def test_slopes_stand_beside_the_sources_own(made: dict[str, Any]) -> None:
    line = series(made, "switches", "one-socket")
    assert line["printed_slope"] == pytest.approx(12.5)
    assert line["slope"]["estimate"] == pytest.approx(made_up_udp.BRIDGE_NS / 2e3, rel=0.2)
    assert [value["printed"] for value in line["values"]] == [101, 150, 154, 200, 201]
    assert not line["emulates"]
    sentences = " ".join(sweeps_section.sentences(sweep(made, "switches")))
    assert "8.72 µs on the wire" in sentences
    assert "about 8 µs for a packet through one packet buffer" in sentences
    assert (
        "slopes of its own figures are 12.5 (one socket) and 9.95 (a socket each) µs" in sentences
    )


def test_a_sweep_along_payloads_has_no_steps(made: dict[str, Any]) -> None:
    payloads = sweep(made, "payloads")
    assert [value["at"] for value in payloads["series"][0]["values"]] == [
        4,
        64,
        256,
        512,
        1024,
        1408,
    ]
    assert payloads["series"][0]["slope"] is None
    assert sweeps_section.axis_label(payloads) == "payload, bytes"


def test_the_smallest_preset_says_which_steps_it_lacks(tmp_path: Path) -> None:
    path = made_up.results(tmp_path, "tiny", paper=made_up.UDP)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert series(content, "switches", "one-socket")["slope"]["blocks"] == 8
    assert series(content, "payloads", "one-socket")["slope"] is None
    text = text_of(paper_page.PaperPage(content).sweeps().html)
    assert "Nothing of this sweep was measured in preset tiny" in text
    assert "one socket at 2, 3 and 4" in text


def test_a_single_figure_has_no_sweeps(tmp_path: Path) -> None:
    path = made_up.results(tmp_path, "tiny", paper=made_up.UDP, figure=f"{made_up.UDP}/no-switch")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["sweeps"] == []
    assert not paper_page.PaperPage(content).sweeps().html.strip()


# Words.


@pytest.mark.parametrize(
    ("factor", "value", "words"),
    [
        ("switches", "1", "1 switch"),
        ("switches", "0", "0 switches"),
        ("link_bits_per_s", "1000000000", "link 1 Gb/s"),
        ("link_bits_per_s", "100000000", "link 100 Mb/s"),
        ("gap_ns", "100000", "gap 100 µs"),
        ("payload_bytes", "1024", f"1{number_format.FIXED}KiB"),
        ("threads", "2", "2 threads"),
        ("wait", "spin", "spin"),
    ],
)
def test_factors_are_said_in_their_units(factor: str, value: str, words: str) -> None:
    assert wording.setting_word(factor, value) == words


def test_what_is_none_is_left_out_of_a_points_name(made: dict[str, Any]) -> None:
    row = made["figures"][0]["rows"][0]
    name = wording.point_name(made, row["point"])
    assert name == f"one socket for all, veth, block, 1{number_format.FIXED}KiB, gcc-O2"
