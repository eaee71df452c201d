"""What pages say of a source: its own words in quotation marks, our readings without them."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import made_up
import pytest
from conftest import ROOT
from test_crosscheck import PAPER, ROUND_TRIPS, change, checkout, refusal  # noqa: F401

from benchbook.define import catalogue
from benchbook.define.claim_hashes import claim_hashes
from benchbook.judge.paper_source import PaperSource
from benchbook.report import wording
from benchbook.report.render import part, without_addresses
from benchbook.report.sections import answer, claims, source_words

SEEDS = ROOT.parent / "shared" / "seeds"
SEED_OF = {
    "spursengine-pcie": "000",
    "ssscore": "001",
    "e7udpip-latency": "002",
    "slocum2013-mbw": "003",
    "stream-array-size": "004",
}
PAPERS = catalogue.papers(ROOT)
SENTENCE = {"verbatim": "速い。", "translation": "it is fast", "note": "", "reading": []}
CELLS = {"table": "t.csv", "column": "latency_us", "cells": ["145", "101"]}
READING = {"verbatim": "", "translation": "", "note": "", "reading": [CELLS]}
JAPANESE = {"language": "ja", "title": "題", "gloss": "A title", "kind": "web page"}


def statements(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Where a statement of the source stands in paper.yaml, and the statement."""
    paper = catalogue.paper(ROOT, name)
    found = [
        (f"{figure['id']}/{claim['id']}", claim["source"])
        for figure in paper["figures"]
        for claim in figure.get("claims", [])
    ]
    found += [("remarks", remark["source"]) for remark in paper.get("remarks", [])]
    return [*found, ("thesis", paper["thesis"]["source"])]


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_says_where_it_stands_and_when_it_was_read(name: str) -> None:
    paper = catalogue.paper(ROOT, name)
    assert paper["url"] or paper["url_note"]
    assert paper["read"] >= "2026-11-21"
    assert paper["thesis"]["text"]


@pytest.mark.parametrize("name", SEED_OF)
def test_words_called_verbatim_are_those_of_the_source(name: str) -> None:
    files = sorted(SEEDS.glob(f"{SEED_OF[name]}_*"))
    if not files:
        pytest.skip(f"the sources are not here; they lie in {SEEDS} where the papers are written")
    source = "".join(files[0].read_text(encoding="utf-8").split())
    for place, statement in statements(name):
        words = "".join(statement.get("verbatim", "").split())
        assert words in source, (place, statement["verbatim"])


def test_what_the_source_does_not_say_is_a_reading() -> None:
    """This one stood in quotation marks though the page never says it."""
    reading = dict(statements("ssscore"))["task-identity/costs-a-system-call"]
    assert "verbatim" not in reading
    assert reading["reading"]


def test_only_the_sources_own_words_are_quoted() -> None:
    said = source_words.of_claim(JAPANESE, {"source": SENTENCE})
    assert said == "The source: “it is fast” (our translation from Japanese)."
    read = source_words.of_claim(JAPANESE, {"source": READING})
    assert "“" not in read
    assert "our reading of 145\u00a0µs and 101\u00a0µs in t.csv" in read
    english = {"language": "en"}
    own = {**SENTENCE, "verbatim": "Why?", "translation": ""}
    assert source_words.of_claim(english, {"source": own}) == "The source: “Why?”"


def test_many_cells_are_told_by_their_column() -> None:
    many = {**READING, "reading": [{**CELLS, "cells": ["1", "2", "3", "4", "5"]}]}
    assert source_words.cells(many) == "the column latency of t.csv"


def test_a_translated_title_leads_and_an_invented_one_is_not_quoted() -> None:
    assert source_words.title(JAPANESE) == "“A title”"
    assert source_words.original_title(JAPANESE) == "題"
    ours = {"language": "zh", "title": "The size", "title_is_ours": True}
    assert "“" not in source_words.title(ours)


def test_the_source_of_a_claim_enters_no_hash() -> None:
    figure = {"paper": "p", "id": "f", "claims": [{"id": "c", "text": "t"}]}
    quoted = {**figure, "claims": [{"id": "c", "text": "t", "source": {"verbatim": "v"}}]}
    assert claim_hashes([figure]) == claim_hashes([quoted])


def test_the_page_leads_with_what_the_source_concludes() -> None:
    """Also where it cannot be measured here and another claim was decided."""
    decided = {"figure": "a", "claim": "decided", "verdict": "reproduced"}
    concluded = {"figure": "b", "claim": "concluded", "verdict": "not_measurable_here"}
    figures = [{"claims": [decided]}, {"claims": [concluded]}]
    paper: dict[str, Any] = {"figures": figures}
    assert answer.leading(paper) is decided
    assert answer.leading({**paper, "thesis": {"claim": "b/concluded"}}) is concluded


@pytest.mark.parametrize("name", PAPERS)
def test_readings_carry_the_cells_as_printed(name: str) -> None:
    source = PaperSource.read(ROOT, name)
    for place, statement in statements(name):
        made = source.with_cells(statement)
        assert bool(made["verbatim"]) != bool(made["reading"]), place
        assert all(cells["cells"] for cells in made["reading"]), place


def test_a_page_keeps_the_address_of_its_source_alone() -> None:
    link = f'<a class="source" href="{made_up.ADDRESS}">t</a>'
    assert without_addresses(link) == link
    assert "://" not in without_addresses(f"<p>{made_up.ADDRESS}</p>")


@pytest.mark.parametrize(
    ("file", "edit", "words"),
    [
        (PAPER, ("source", {}), "needs the source's sentence"),
        (PAPER, ("source", {"verbatim": "a", "translation": "b"}), "translates nothing"),
        (ROUND_TRIPS, ("source", {"verbatim": "a"}), "translate the sentence"),
        (PAPER, ("source", {"reading": [{"table": "no.csv", "column": "a"}]}), "no.csv"),
    ],
)
def test_statements_that_rest_on_nothing_are_refused(
    checkout: Path,  # noqa: F811
    file: str,
    edit: tuple[str, Any],
    words: str,
) -> None:
    def put(content: Any) -> None:
        figure = next(figure for figure in content["figures"] if figure.get("claims"))
        figure["claims"][0][edit[0]] = edit[1]

    change(checkout / file, put)
    assert words in refusal(checkout, file)


def test_a_paper_without_its_conclusion_is_refused(checkout: Path) -> None:  # noqa: F811
    change(checkout / PAPER, lambda content: content.pop("thesis"))
    assert "thesis" in refusal(checkout, PAPER)


def test_a_title_in_another_language_needs_an_english_one(checkout: Path) -> None:  # noqa: F811
    change(checkout / ROUND_TRIPS, lambda content: content.pop("gloss"))
    assert re.search(r"'gloss' is missing", refusal(checkout, ROUND_TRIPS))


def test_a_claim_by_two_libraries_is_one_claim() -> None:
    """The 14 claims of the page about PCI Express were 7, each for two libraries."""
    paper = PaperSource.read(ROOT, "spursengine-pcie")
    figures = [
        {
            "id": figure.id,
            "claims": [
                {"figure": figure.id, "claim": claim.id, "repeats": claim.repeats}
                | {"verdict": "not_measurable_here"}
                for claim in figure.claims
            ],
        }
        for figure in paper.figures
    ]
    assert sum(len(figure["claims"]) for figure in figures) == 14
    assert len(wording.all_claims({"figures": figures})) == 7
    figures[3]["claims"][0]["verdict"] = "reproduced"  # by the second library alone
    (shown,) = [c for c in wording.all_claims({"figures": figures}) if c["verdict"] == "reproduced"]
    assert shown["figure"] == "to-device-cuda"
    assert len(wording.all_claims({"figures": figures})) == 7


def test_what_a_claim_repeats_must_be_there(checkout: Path) -> None:  # noqa: F811
    def put(content: Any) -> None:
        figure = next(figure for figure in content["figures"] if figure.get("claims"))
        figure["claims"][1]["repeats"] = "no/such"

    change(checkout / PAPER, put)
    assert "repeats" in refusal(checkout, PAPER)


def test_no_region_is_met_by_what_the_source_calls_its_opposite() -> None:
    """At most 64 times as long was met by 0.95, where the source prints 15.2."""
    for figure in PaperSource.read(ROOT, "ssscore").figures:
        for claim in figure.claims:
            low, high = claim.region
            assert low is not None or (high or 0) <= 1, (figure.id, claim.id)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ssscore", "presumed to be due to a bottleneck in the hardware of the Ultra 60"),
        ("stream-array-size", "Copy falls by about 4 % from 2·10⁹ elements on"),
        ("spursengine-pcie", "does not state whether the functions that transfer"),
        ("spursengine-pcie", "compares what comes back with what was sent"),
        ("e7udpip-latency", "have not been verified sufficiently"),
    ],
)
def test_what_else_the_source_says_is_on_the_page(name: str, words: str) -> None:
    source = PaperSource.read(ROOT, name)
    page = part("conditions", paper=source.about, wording=wording, source_words=source_words)
    text = html.unescape(re.sub(r"<[^>]+>", "", page.html))
    assert words in text
    about = [remark for remark in source.about["remarks"] if remark.get("figure")]
    for remark in about:
        (sentence,) = source_words.remarks_on(source.about, remark["figure"])
        assert sentence.startswith(remark["text"].strip())


def test_artefacts_are_named_in_words_on_a_page() -> None:
    part_of = {"artefacts": ["source-not-advanced"], "points": None, "kind": "only"}
    part_of |= {"without": 0.95, "interval": [0.89, 1.02], "effect": "invalidates"}
    claim = {"through": {"kind": "only", "parts": [part_of]}, "kind": "ratio", "region": [3, None]}
    assert claims.dependence(claim) == (
        "it holds only because the source pointer never moves; without that the ratio is "
        "0.95 (0.89 to 1.02)"
    )
