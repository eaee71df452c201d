"""The audit: rounding, each rule on a clean made-up table and with planted errors, real papers."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from benchbook.audit import all_rules, audit, write
from benchbook.audit.rounding import Interval, compare, exactly, plain, rounded
from benchbook.audit.slips import KINDS, slips
from benchbook.audit.tables import Item, Tables
from benchbook.core.errors import BenchbookError
from benchbook.core.number_format import FIXED
from benchbook.define import catalogue
from benchbook.define.audit_models import Audit
from benchbook.report.audit_sentences import CATALOGUE, in_words, sentence
from benchbook.report.paper_page import PaperPage
from benchbook.report.sections import audit as audit_section

RULES = {rule.RULE: rule for rule in all_rules()}


def table(text: str) -> list[dict[str, str]]:
    """Rows of a made-up table: `;` ends a row, `|` a cell."""
    head, *rows = ([cell.strip() for cell in line.split("|")] for line in text.split(";"))
    return [dict(zip(head, row, strict=True)) for row in rows]


@dataclass(frozen=True)
class Worded(Item):
    """A check with its sentence."""

    words: str = ""


def check(rule: str, declared: dict[str, Any], tables: Tables) -> list[Worded]:
    """What a rule says; `declared` must be what audit.yaml may say."""
    Audit.model_validate({"version": 1, rule: [declared]})
    items = RULES[rule].check(tables, [declared])
    assert items
    assert {item.rule for item in items} == {rule}
    return [Worded(**vars(item), words=sentence(item.record("p", tables))) for item in items]


def odd(items: list[Worded]) -> list[str]:
    """What the inconsistent items say."""
    return [item.words for item in items if not item.consistent]


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("1 3119 9999", "131199999"),
        ("1,234.50", "1234.50"),
        ("-2.5", "-2.5"),
        ("segment fault", None),
        ("", None),
        ("1,23", None),
    ],
)
def test_printed_numbers_are_read(text: str, digits: str | None) -> None:
    assert plain(text) == digits


@pytest.mark.parametrize(
    ("text", "value", "consistent", "hint"),
    [
        ("1.66", "1.657", True, ""),
        ("1.65", "1.657", False, "cut-off"),
        ("1.65", "1.655", True, ""),  # a half goes either way
        ("-1.65", "-1.657", False, "cut-off"),
        ("1.64", "1.657", False, ""),
        ("120", "116.85", False, "fewer-digits"),
        ("120", "114", False, ""),
        ("131199999", "131200000", False, "cut-off"),
        ("0", "0.4", True, ""),
    ],
)
def test_rounding_is_told_from_cutting_off(
    text: str, value: str, consistent: bool, hint: str
) -> None:
    seen = compare(text, exactly(value))
    assert seen.consistent == consistent
    assert (seen.hint.code if seen.hint else "") == hint


def test_intervals_are_exact_and_dropped_zeros_count() -> None:
    assert rounded("2.50").half == Fraction(1, 200)
    assert rounded("301173", decimals=1).half == Fraction(1, 20)
    assert exactly(4.1) * exactly(10) == exactly(41)
    low, high = Fraction(-1), Fraction(2)
    assert Interval(low, high) * Interval(low, high) == Interval(Fraction(-2), Fraction(4))
    with pytest.raises(ZeroDivisionError):
        exactly(1) / Interval(low, high)
    assert compare("4", exactly("4.4")).consistent
    assert not compare("4", exactly("4.4"), exact=True).consistent


def test_every_rule_can_be_declared() -> None:
    said = {"version", "tables", "exact", "decimals", "swept"}
    assert set(Audit.model_fields) - said == set(RULES)
    assert {rule.KIND for rule in RULES.values()} <= set(KINDS)
    sentences = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    assert set(sentences) == {*RULES, "reasons", "slips"}
    assert all(sentences[rule]["asks"] and sentences[rule]["text"] for rule in RULES)


def test_every_reason_has_its_words() -> None:
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "benchbook/audit").rglob("*.py"))
    named = {code for text in texts for code in re.findall(r'Reason\("([\w-]+)"', text)}
    assert named == set(tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))["reasons"])


FORMULA = {"tables": ["t.csv"], "label": "m", "result": "mib", "times": ["s", "rate"]}


@pytest.mark.parametrize(
    ("row", "consistent"),
    [("a | 0.00600 | 5332.889 | 32.00000", True), ("a | 0.00600 | 5432.889 | 32.00000", False)],
)
def test_a_result_follows_from_its_row(row: str, consistent: bool) -> None:
    items = check("formula", FORMULA, Tables({"t.csv": table(f"m | s | rate | mib; {row}")}))
    assert [item.consistent for item in items] == [consistent]
    assert items[0].tolerance is not None
    assert items[0].tolerance < 0.03


def test_an_empty_cell_is_not_recomputed_and_words_are_refused() -> None:
    cells = Tables({"t.csv": table("m | s | rate | mib; a | | 2 | 8; b | 4 | 2 | 8")})
    assert [item.where for item in check("formula", FORMULA, cells)] == ["row ‘b’, column ‘mib’"]
    cells = Tables({"t.csv": table("m | s | rate | mib; a | none | 2 | 8")})
    with pytest.raises(BenchbookError, match="'none' in column s is no number"):
        RULES["formula"].check(cells, [FORMULA])


def test_constants_shares_and_units_of_bytes() -> None:
    cells = Tables(
        {
            "t.csv": table(
                "m | n | share | mb; a | 1024 | 614.4 | 8.2; b | 4 000 000 | 2400000 | 30.5"
            )
        },
        exact={"t.csv": ["n"]},
    )
    share = {"tables": ["t.csv"], "label": "m", "result": "share", "times": [0.6, "n"]}
    assert not odd(check("formula", share, cells))
    size = {"tables": ["t.csv"], "label": "m", "result": "mb", "times": ["n", 8], "bytes_in": "MB"}
    first, second = odd(check("formula", size, cells))
    assert "MiB" not in first
    assert "in MiB it fits (30.52)" in second
    clean = Tables({"t.csv": table("m | n | mb; b | 4 000 000 | 32.0")}, exact={"t.csv": ["n"]})
    assert not odd(check("formula", size, clean))


RATES = "m | x | y | z; Copy | 100.0 | 98.0 | 90.0; Add | 50.0 | 49.0 | segment fault"
OF = {"table": "r.csv", "label": "m"}


def spreads(printed: str) -> list[str]:
    cells = Tables({"r.csv": table(RATES), "d.csv": table(f"l | p; {printed}")})
    place = {"table": "d.csv", "label": "l", "value": "p"}
    return odd(check("spread", {"of": OF, "printed": place}, cells))


def rates(text: str) -> Tables:
    """A made-up table of rates beside one of times."""
    times = table("size | us ; 4 | 10 ; 16 | 20 ; 64 | ")
    return Tables({"a.csv": table(text), "b.csv": times}, exact={"a.csv": ["size"]})


BOUND = {"table": "a.csv", "label": "size", "because": "the line is full"}


def test_what_a_line_carries_bounds_the_rates_on_it() -> None:
    tables = rates("size | rate | other ; 4 | 9.9 | 12.54 ; 16 | 12.6 | 12.46 ; 64 | | 13.1")
    asked = BOUND | {"values": ["rate", "other"], "times": [100], "divided_by": [8]}
    items = check("most", asked, tables)
    assert [item.consistent for item in items] == [True, False, False, True, False]
    assert odd(items)[0] == ("12.6 is printed; it can be at most 12.5 (100 ÷ 8): the line is full.")
    assert [item.cells[0].row for item in items] == [1, 2, 1, 2, 3]
    # One line is full, in however many rows; each column is a slip of its own.
    assert [group for _, group in slips(items, {"most": "number"})] == [[1], [2, 4]]


def test_a_bound_may_stand_under_the_same_label_in_another_table() -> None:
    """Digits count on both sides; a label without its counterpart is not judged."""
    term = {"table": "b.csv", "label": "size", "value": "us"}
    asked = BOUND | {"values": ["rate"], "times": ["size", 10], "divided_by": [term]}
    tables = rates("size | rate ; 4 | 4.2 ; 16 | 8.3 ; 64 | 1 ; 256 | 1")
    items = check("most", asked, tables)
    assert [item.consistent for item in items] == [True, False]  # 4 × 10 ÷ 9.5 is 4.21
    below = asked | {"relation": "at_least"}
    tables = rates("size | rate ; 4 | 3.7 ; 16 | 8.3")
    assert [item.consistent for item in check("most", below, tables)] == [False, True]
    said = "it can be at least 4 × 10 ÷ 10 (by its digits 3.81): the line is full."
    assert said in odd(check("most", below, tables))[0]


@pytest.mark.parametrize(
    ("cells", "direction", "slack", "holds"),
    [
        ("10 | 12 | 12 | 15", "rise", 0, True),
        ("10 | 12 | 9 | 15", "rise", 0, False),
        ("10 | 12 | 11 | 15", "rise", 0, True),  # 11.5 and 11.5, as the digits allow
        ("100 | 120 | 110 | 150", "rise", 0, False),
        ("100 | 120 | 110 | 150", "rise", 9, True),
        ("15 | 12 | 12 | 10", "fall", 0, True),
        ("15 | 12 | 14 | 10", "fall", 0, False),
    ],
)
def test_numbers_rise_or_fall_along_their_labels(
    cells: str, direction: str, slack: float, holds: bool
) -> None:
    sizes = dict(zip((4, 16, 64, 256), cells.split(" | "), strict=True))
    # In whatever order the rows stand.
    rows = [{"size": str(size), "us": sizes[size]} for size in (64, 4, 256, 16)]
    asked = {"table": "a.csv", "label": "size", "values": ["us"], "because": "more take longer"}
    asked |= {"direction": direction, "slack_percent": slack}
    (item,) = check("order", asked, Tables({"a.csv": rows}))
    assert item.consistent is holds
    if not holds:
        assert item.words.endswith(": more take longer.")
        assert {cell.column for cell in item.cells} == {"us"}
    with pytest.raises(BenchbookError, match="is no number to step along"):
        check("order", asked, Tables({"a.csv": [*rows, {"size": "all", "us": "1"}]}))


def test_spreads_are_recomputed_and_slips_named() -> None:
    assert spreads("copy | 10.0; ADD | 2.0") == []
    (wrong,) = spreads("copy | 7.0; add | 2.0")
    assert "from 90.0 to 100.0" in wrong
    assert wrong.startswith("7.0 is printed")
    assert wrong.endswith("gives 10.00, which does not fit (rounding allows ±\u00a00.1).")
    first, second = spreads("copy | 2.0; add | 10.0")
    assert "it is the spread of add" in first
    assert "it is the spread of copy" in second
    (slip,) = spreads("copy | 2.00")
    assert "it is the spread of add" in slip
    cells = Tables({"r.csv": table("m | x | y | z; Copy | 100.0 | 97.0 | 90.0")})
    cells.cells["d.csv"] = table("l | p; Copy | 3.0")
    place = {"table": "d.csv", "label": "l", "value": "p"}
    (slip,) = odd(check("spread", {"of": OF, "printed": place}, cells))
    assert "97.0 in place of the smallest would give it" in slip


@pytest.mark.parametrize("over", ["max", "min", "mean"])
def test_a_spread_may_be_over_another_number(over: str) -> None:
    value = {"max": "50.0", "min": "100.0", "mean": "66.7"}[over]
    cells = Tables({"r.csv": table("m | x | y; a | 10.00 | 20.00")})
    cells.cells["d.csv"] = table(f"l | p; a | {value}")
    place = {"table": "d.csv", "label": "l", "value": "p"}
    assert not odd(check("spread", {"of": OF, "over": over, "printed": place}, cells))


@pytest.mark.parametrize(
    ("which", "right", "wrong"),
    [("max", "100", "98"), ("min", "90.0", "98.0"), ("mean", "96", "97")],
)
def test_extremes_are_recomputed(which: str, right: str, wrong: str) -> None:
    for value, expected in ((right, 0), (wrong, 1)):
        cells = Tables({"r.csv": table(RATES), "d.csv": table(f"l | p; COPY | {value}")})
        place = {"table": "d.csv", "label": "l", "value": "p"}
        items = check("extreme", {"of": OF, "which": which, "printed": place}, cells)
        assert len(odd(items)) == expected


def test_stated_bounds_count_recomputed_spreads() -> None:
    cells = Tables(
        {"r.csv": table("m | x | y; a | 100.0 | 99.0; b | 100.0 | 98.0; c | 100.0 | 90.0")}
    )

    def bound(percent: float, share: str) -> list[str]:
        declared = {"of": [OF], "at_most_percent": percent, "share": share}
        return odd(check("bound", declared, cells))

    assert bound(5, "most") == bound(15, "all") == []
    assert "1 of 3 do" in bound(1.4, "most")[0]
    assert "c in r.csv" in bound(5, "all")[0]


def test_one_quantity_in_two_tables() -> None:
    first = {"table": "a.csv", "label": "l", "value": "p", "where": {"m": "one"}}
    second = {"table": "b.csv", "label": "t", "value": "q"}
    a = table("m | l | p; one | add | 1.0; one | scale | 2.0; one | copy | 3.0; two | add | 7.0")

    def same(other: str) -> list[str]:
        cells = Tables({"a.csv": a, "b.csv": table(f"t | q; {other}")})
        return odd(check("same", {"first": first, "second": second}, cells))

    assert same("ADD | 1.00; Scale | 2; Copy | 3.0; Triad | 9") == []
    swapped = same("ADD | 2.0; Scale | 1.0; Copy | 3.0")
    assert len(swapped) == 2
    assert "in another order" not in swapped[0]
    copied = same("Scale | 1.0; ADD | 2.0; Copy | 3.0")
    assert "a.csv and b.csv print the same numbers in the same order, but under" in copied[0]
    (wrong,) = same("ADD | 1.0; Scale | 2.0; Copy | 3.2")
    assert "another order" not in wrong
    with pytest.raises(BenchbookError, match="'add' labels two rows"):
        RULES["same"].check(
            Tables({"a.csv": a, "b.csv": table("t | q; x | 1")}),
            [{"first": {**first, "where": {}}, "second": second}],
        )


SWEPT = {
    "s.csv": {"pattern": r"n(?:_\d)?_(\d+)", "unit": "elements", "bytes_each": 24, "buffers": 3}
}


TRIPS = Tables(
    {
        "t.csv": table(
            "n | way | us; 0 | a | 101; 1 | a | 118; 2 | a | 135; 0 | b | 145; 1 | b | 159"
        ),
        "s.csv": table("what | us; a buffer | 8; a lap | 17"),
    },
    exact={"t.csv": ["n"]},
)
SERIES = {"table": "t.csv", "label": "n", "value": "us"}
A, B = ({**SERIES, "where": {"way": way}} for way in "ab")


@pytest.mark.parametrize(
    ("what", "ways", "consistent"),
    [("a lap", 1, True), ("a buffer", 1, False), ("a buffer", 2, True)],
)
def test_what_a_step_is_stated_to_add_stands_against_the_slope(
    what: str, ways: int, consistent: bool
) -> None:
    stated = {"table": "s.csv", "value": "us", "where": {"what": what}}
    (item,) = check("slope", {"of": A, "stated": stated, "ways": ways, "step": "one"}, TRIPS)
    assert item.consistent == consistent
    assert ("17" if ways == 1 else "8.5") in str(item.recomputed)
    # What the check is about is the statement, not the table that it is recomputed from.
    assert [cell.table for cell in item.cells] == ["s.csv"]


def test_a_slope_over_unequal_steps_is_that_of_least_squares() -> None:
    cells = Tables({"t.csv": table("n | us; 0 | 1; 1 | 3; 4 | 4"), "s.csv": TRIPS.cells["s.csv"]})
    stated = {"table": "s.csv", "value": "us", "where": {"what": "a lap"}}
    (item,) = check("slope", {"of": SERIES, "stated": stated, "step": "one"}, cells)
    assert not item.consistent
    assert item.recomputed == "0.7"  # 17 ÷ 26; from end to end it would be 3 ÷ 4


def test_a_difference_stands_against_what_is_stated_of_it() -> None:
    declared = {"first": B, "second": A}
    stated = {"from": "0", "to": ["1"], "relation": "smaller", "when": "with one"}
    (item,) = check("gap", {**declared, "stated": stated}, TRIPS)
    assert item.consistent
    assert "41 against 44 at 0" in item.words
    (item,) = check("gap", {**declared, "stated": {**stated, "relation": "larger"}}, TRIPS)
    assert odd([item])
    assert [cell.row for cell in item.cells] == [5, 2]
    # By a single unit rounding tells nothing.
    close = Tables({"t.csv": table("n | way | us; 0 | a | 1; 1 | a | 2; 0 | b | 5; 1 | b | 7")})
    for relation in ("smaller", "larger"):
        (item,) = check("gap", {**declared, "stated": {**stated, "relation": relation}}, close)
        assert item.consistent


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("n | us; 0 | 10; 1 | 20; 2 | 30", "even"),
        ("n | us; 0 | 10; 1 | 20; 2 | 31", "even"),  # as far as rounding tells
        ("n | us; 0 | 10; 1 | 20; 3 | 40", "even"),
        ("n | us; 0 | 10; 1 | 20; 2 | 40", "uneven"),
    ],
)
def test_growth_is_even_where_one_step_fits(text: str, found: str) -> None:
    cells = Tables({"t.csv": table(text)}, exact={"t.csv": ["n"]})
    for stated in ("even", "uneven"):
        (item,) = check("growth", {"of": SERIES, "stated": stated, "step": "one"}, cells)
        assert item.consistent == (stated == found)


def test_steps_need_numbers_and_two_of_them() -> None:
    for text in ("n | us; few | 1; many | 2", "n | us; 1 | 1"):
        with pytest.raises(BenchbookError, match=r"no number to step along|makes no step"):
            check(
                "growth",
                {"of": SERIES, "stated": "even", "step": "one"},
                Tables({"t.csv": table(text)}),
            )


def test_a_gap_of_a_row_that_is_not_there_is_refused() -> None:
    stated = {"from": "0", "to": ["2"], "relation": "smaller", "when": "with one"}
    with pytest.raises(BenchbookError, match="no row '2' in both series"):
        check("gap", {"first": B, "second": A, "stated": stated}, TRIPS)


@pytest.mark.parametrize(
    ("text", "relation", "failing"),
    [
        ("n | r; 1 | 10.0; 2 | 12.0; 4 | 10.5", "above", ""),
        ("n | r; 1 | 10.0; 2 | 12.0; 4 | 9.5", "above", "4"),
        ("n | r; 1 | 10.0; 2 | 12.0; 4 | 9.5", "below", "2"),
        # Rounding may hide what lies above.
        ("n | r; 1 | 10.0; 2 | 10.0; 4 | 11.0", "above", ""),
    ],
)
def test_rows_are_held_against_the_one_that_they_beat(
    text: str, relation: str, failing: str
) -> None:
    of = {"table": "r.csv", "label": "n", "value": "r"}
    declared = {"of": of, "beside": "1", "relation": relation, "stated": "several are faster"}
    (item,) = check("beyond", declared, Tables({"r.csv": table(text)}))
    assert item.consistent == (not failing)
    assert item.words.startswith("The source states that several are faster; with n 1 its table")
    assert item.words.endswith(f"Not so with n {failing}.") == bool(failing)
    with pytest.raises(BenchbookError, match="no row '3' among others"):
        check("beyond", {**declared, "beside": "3"}, Tables({"r.csv": table(text)}))


def swept(text: str, memory: str = "8") -> Tables:
    return Tables(
        {"s.csv": table(text), "e.csv": table(f"memory_g | cache_mb; {memory} | 4")},
        swept=SWEPT,
        exact={"e.csv": ["memory_g", "cache_mb"]},
        units={("e.csv", "memory_g"): "G"},
    )


def test_sizes_stand_against_stated_memory() -> None:
    place = {"table": "e.csv", "value": "memory_g"}
    limit = {"table": "s.csv", "available": place, "unit_bytes": [10**9, 2**30]}
    clean = "m | n_300000000 | n_350000000 | n_400000000; a | 1 | 2 | segment fault"
    # 8.4e9 bytes lie within 8 G of 2^30 bytes only: counted against neither outcome.
    assert odd(check("limits", limit, swept(clean))) == []
    (below,) = odd(check("limits", limit, swept("m | n_300000000; a | killed")))
    assert "need 7.2 G of the 8 G stated" in below
    assert "within" in below
    (above,) = odd(check("limits", limit, swept("m | n_400000000; a | 12.5")))
    assert "beyond" in above


def test_one_setting_has_one_outcome() -> None:
    clean = "m | n_1_5 | n_2_5 | n_6 | n_7; a | 1 | 2 | fault | "
    assert odd(check("outcomes", {"table": "s.csv"}, swept(clean))) == []
    planted = "m | n_1_5 | n_2_5 | n_5; a | 1 | 2 | fault; b | 1 | 2 | "
    (words,) = odd(check("outcomes", {"table": "s.csv"}, swept(planted)))
    assert "5 elements were measured 3 times: numbers (2 times) and fault (1 time)" in words


def test_announced_scenarios_are_measured() -> None:
    declared = {
        "announced": {"table": "a.csv", "label": "size", "value": "times"},
        "relations": {"smaller": "below", "equal": "equal", "far above": "above"},
        "measured": [
            {"table": "s.csv", "times": [{"table": "e.csv", "value": "cache_mb"}, 1_000_000]}
        ],
    }

    def scenarios(columns: str, cells: str) -> list[str]:
        tables = swept(f"m | {columns}; a | {cells}")
        tables.cells["a.csv"] = table("size | times; smaller | 4; equal | 4; far above | 4")
        return odd(check("scenarios", declared, tables))

    # 8 bytes an element, 4 MB of cache: 2,000,000 elements are four times.
    assert scenarios("n_1000000 | n_2000000 | n_9000000", "1 | 2 | 3") == []
    assert len(scenarios("n_2000000 | n_9000000", "2 | 3")) == 1
    first, second = scenarios("n_1000000 | n_2200000 | n_9000000", "fault | 2 | 3")
    assert "‘smaller 4 times’ was announced" in first
    assert "none is that, to within 5" in second


def test_labels_are_spelled_and_ordered_alike() -> None:
    def labels(other: str) -> list[str]:
        cells = Tables({"a.csv": table("l; Copy; Scale; Add"), "b.csv": table(f"l; {other}")})
        columns = [{"table": name, "label": "l"} for name in ("a.csv", "b.csv")]
        return odd(check("labels", {"columns": columns}, cells))

    assert labels("Copy; Scale; Add") == []
    assert "ADD for Add" in labels("Copy; Scale; ADD")[0]
    assert "another order" in labels("Copy; Add; Scale")[0]
    assert "Scale missing; Triad in addition" in labels("Copy; Add; Triad")[0]


@pytest.mark.parametrize(
    ("first", "second", "consistent"),
    [
        ("MB", "GB", True),
        ("MB/s", "GB/s", True),
        ("MiB", "KiB", True),
        ("MB", "MiB", False),
        ("MB", "G", False),
        ("MB", "MB/s", False),
        ("", "", False),
        ("us", "us", True),
        ("us", "ms", False),
    ],
)
def test_units_of_one_quantity(first: str, second: str, consistent: bool) -> None:
    units = {("a.csv", "x"): first, ("b.csv", "y"): second}
    cells = Tables({"a.csv": table("x; 1"), "b.csv": table("y; 1")}, units=units)
    declared = {"quantity": "memory", "columns": {"a.csv": ["x"], "b.csv": ["y"]}}
    assert bool(odd(check("units", declared, cells))) != consistent


def printed_by(factor: str, unit: str, *microseconds: int) -> tuple[Tables, dict[str, Any]]:
    """What a program prints that moved 2^26 bytes in so many microseconds."""
    rates = "; ".join(f"{2**26 * float(factor) / microsecond:.6f}" for microsecond in microseconds)
    cells = Tables(
        {
            "p.csv": table(f"program | n | factor; a.c | {2**26} | {factor}"),
            "r.csv": table(f"r; {rates}"),
        },
        units={("p.csv", "factor"): unit},
        exact={"p.csv": ["n"]},
    )
    return cells, {
        "factor": {"table": "p.csv", "value": "factor"},
        "bytes": {"table": "p.csv", "value": "n"},
        "rates": {"r.csv": ["r"]},
    }


@pytest.mark.parametrize(
    ("factor", "unit", "fits"),
    [
        ("1.000", "MB/s", "MB/s"),
        ("0.953674", "MiB/s", "MiB/s"),
        ("0.953674", "MB/s", "MiB/s"),
        ("0.001000", "MB/s", "GB/s"),
        ("0.7", "MB/s", "no known unit"),
        ("1.000", "", "MB/s"),
    ],
)
def test_a_factor_makes_the_unit_that_is_printed(factor: str, unit: str, fits: str) -> None:
    cells, declared = printed_by(factor, unit, 441_138, 346_238, 394_896)
    (item,) = check("conversion", declared, cells)
    assert (item.printed, item.recomputed) == (unit or "no unit", fits)
    assert item.consistent == (unit == fits)
    assert ("prints MB/s, for which the factor is 1" in item.words) == (unit == "MB/s")


def test_that_the_factor_made_the_rates_is_seen_from_them() -> None:
    cells, declared = printed_by("0.953674", "MB/s", 441_138, 346_238, 394_896)
    (item,) = check("conversion", declared, cells)
    assert "With it 3 of 3 printed rates took whole microseconds" in item.words
    assert "with that of MB/s 1 would have" in item.words  # one in ten does by chance
    other, _ = printed_by("1.000", "MB/s", 441_138, 346_238, 394_896)
    cells.cells["r.csv"][:] = other.cells["r.csv"]
    (item,) = check("conversion", declared, cells)
    assert "With it 0 of 3" in item.words


def test_shares_of_a_theoretical_rate_are_told_in_either_unit() -> None:
    cells, declared = printed_by("0.953674", "MB/s", 441_138, 346_238, 394_896)
    cells.cells["t.csv"] = table("ways | most_mb_per_s; 1 | 250; 2 | 0.5")
    cells.exact["t.csv"] = ["most_mb_per_s"]
    declared["theory"] = [
        {
            "most": {"table": "t.csv", "value": "most_mb_per_s", "where": {"ways": "1"}},
            "rates": {"r.csv": ["r"]},
        }
    ]
    (item,) = check("conversion", declared, cells)
    # 2^26 bytes in 346,238 µs are 193.8 MB/s, and 184.8 MiB/s.
    assert "Of the theoretical 250 MB/s: 184.84389" in item.words
    assert "of ‘r’ is 74 % as printed, 78 % as MiB/s." in item.words.replace(FIXED, " ")
    # One that prints what it makes has one share.
    cells, _ = printed_by("0.953674", "MiB/s", 441_138)
    (item,) = check("conversion", declared, cells)
    assert "theoretical" not in item.words


def test_in_few_words_a_slip_is_its_first_sentence() -> None:
    checks = in_words(audit(ROOT, "spursengine-pcie"))
    found = [item["slip"] for item in checks if item.get("slip")]
    (slip,) = (slip_row for slip_row in found if "program multiplies" in slip_row["brief"])
    assert slip["brief"].endswith("makes MiB/s")
    assert "Of the theoretical 500 MB/s: 193.719781" in slip["words"]


def test_units_may_stand_in_a_columns_name() -> None:
    cells = Tables({"a.csv": table("copy_mib_per_s | size_mib | n; 1 | 2 | 3")})
    unit_of = RULES["units"].unit_of
    names = ("copy_mib_per_s", "size_mib", "n")
    assert [unit_of(cells, "a.csv", name) for name in names] == ["MiB/s", "MiB", ""]


def test_groups_of_digits_are_equally_long() -> None:
    cells = table("m | n; a | 1 2000 0000; b | 2000 0000; c | 12")
    assert odd(check("grouping", {"tables": ["a.csv"]}, Tables({"a.csv": cells}))) == []
    headings = {("a.csv", "n"): "as=4000 000 0000"}
    (words,) = odd(check("grouping", {"tables": ["a.csv"]}, Tables({"a.csv": cells}, headings)))
    assert "4000 000 0000 is 400 0000 0000" in words


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"result": "gone"}, "t.csv has no column 'gone'"),
        ({"tables": ["u.csv"]}, "there is no table 'u.csv'; known: t.csv"),
    ],
)
def test_names_that_are_not_there_are_refused(declared: dict[str, Any], said: str) -> None:
    cells = Tables({"t.csv": table("m | s | rate | mib; a | 1 | 2 | 2")})
    with pytest.raises(BenchbookError, match=said):
        RULES["formula"].check(cells, [{**FORMULA, **declared}])


@pytest.fixture
def made_up_paper(tmp_path: Path) -> Path:
    folder = tmp_path / "data/published/p"
    folder.mkdir(parents=True)
    (folder / "t.csv").write_text("m,s,rate,mib\na,4,2,8\n", encoding="utf-8")
    return tmp_path


def test_a_paper_that_declares_nothing_has_no_checks(made_up_paper: Path) -> None:
    assert audit(made_up_paper, "p") == []


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("formulas: []", "key 'formulas' is unknown"),
        ("formula: [{tables: [t.csv], label: m, result: mib}]", "key 'times' is missing"),
        (
            "formula: [{tables: [t.csv], label: m, result: mib, times: [gone]}]",
            "p/audit.yaml: t.csv has no column 'gone'",
        ),
        (
            "formula: [{tables: [t.csv], label: m, result: mib, times: [s], divided_by: [0]}]",
            "p/audit.yaml: rule formula divides by a printed number that may be 0",
        ),
    ],
)
def test_a_broken_audit_is_one_sentence(made_up_paper: Path, declared: str, said: str) -> None:
    path = made_up_paper / "data/published/p/audit.yaml"
    path.write_text(f"version: 1\n{declared}\n", encoding="utf-8")
    with pytest.raises(BenchbookError, match=said):
        audit(made_up_paper, "p")


FOR_SENTENCES = {"label", "cause", "value", "name", "titles", "column"}
KEYS = {"paper", "table", "rule", "where", "printed", "recomputed", "consistent", "tolerance"}


def test_the_real_papers_are_audited(tmp_path: Path) -> None:
    write(ROOT, tmp_path / "audit.json")
    content = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert content["version"] == 2
    assert {item["paper"] for item in content["items"]} == set(catalogue.papers(ROOT))
    for item in content["items"]:
        assert set(item) == KEYS | {*FOR_SENTENCES, "facts", "cells", "slip", "qualified"}
        assert bool(item["slip"]) != item["consistent"]
        assert item["rule"] in RULES
        assert sentence(item).endswith(".")
        assert item["printed"]


def test_a_slip_planted_into_a_real_table_is_found(tmp_path: Path) -> None:
    paper = "slocum2013-mbw"
    folder = tmp_path / "data/published" / paper
    shutil.copytree(ROOT / "data/published" / paper, folder)
    before = audit(tmp_path, paper)
    path = folder / "mbw-32.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("5332.889", "5532.889"), "utf-8")
    changed = [row for row in audit(tmp_path, paper) if row not in before]
    assert [(row["rule"], row["table"], row["consistent"]) for row in changed] == [
        ("formula", "mbw-32.csv", False)
    ]


def planted(declared: dict[str, list[dict[str, Any]]], cells: Tables) -> list[dict[str, Any]]:
    """The slips that these rules find together, each with its number of checks."""
    items = [item for rule, ones in declared.items() for item in RULES[rule].check(cells, ones)]
    kinds = {name: rule.KIND for name, rule in RULES.items()}
    checks = [item.record("p", cells) | {"slip": None} for item in items]
    groups = slips(items, kinds)
    for slip, group in groups:
        checks[group[0]]["slip"] = slip
    worded = in_words(checks)
    return [worded[group[0]]["slip"] | {"checks": len(group)} for _, group in groups]


SUMMARY = {"table": "s.csv", "label": "t", "value": "q"}
LISTED = {"table": "d.csv", "label": "l", "value": "p"}
TWICE = {
    "spread": [{"of": OF, "printed": LISTED}, {"of": OF, "printed": SUMMARY}],
    "same": [{"first": LISTED, "second": SUMMARY}],
}
SPREADS = "m | x | y; Copy | 100.0 | 90.0; Scale | 50.0 | 49.0; Add | 80.0 | 60.0"


def two_tables(listed: str, summary: str) -> Tables:
    return Tables(
        {
            "r.csv": table(SPREADS),
            "d.csv": table(f"l | p; {listed}"),
            "s.csv": table(f"t | q; {summary}"),
        },
        headings={("s.csv", "q"): "spread"},
        names={"s.csv": {"name": "the closing table", "heading": "Results"}},
    )


RIGHT = "Copy | 10.0; Scale | 2.0; Add | 25.0"


def test_clean_tables_have_no_slip() -> None:
    assert planted(TWICE, two_tables(RIGHT, RIGHT)) == []


def test_exchanged_numbers_are_one_slip_whatever_rules_see_them() -> None:
    (slip,) = planted(TWICE, two_tables(RIGHT, "Copy | 10.0; Scale | 25.0; Add | 2.0"))
    assert slip["checks"] == 4  # two spreads, and two numbers that differ between the tables
    assert slip["kind"] == "number"
    assert slip["title"] == ("the closing table (Results): rows ‘Scale’ and ‘Add’, column ‘spread’")
    assert slip["brief"] == "the numbers of Scale and Add are exchanged in the closing table"
    assert (
        "25.0 is printed for Scale and 2.0 for Add, recomputed are 2.00 and 25.0" in slip["words"]
    )
    assert "exchanged" in slip["words"]
    assert "another order" not in slip["words"]
    by_place = two_tables(
        "Copy | 10.0; Add | 25.0; Scale | 2.0", "Copy | 10.0; Scale | 25.0; Add | 2.0"
    )
    (slip,) = planted(TWICE, by_place)
    assert "but under labels in another order" in slip["words"]


def test_two_wrong_numbers_that_are_no_exchange_are_two_slips() -> None:
    found = planted(TWICE, two_tables(RIGHT, "Copy | 10.0; Scale | 24.0; Add | 2.4"))
    assert [slip["checks"] for slip in found] == [2, 2]
    assert "24.0" in found[0]["words"]  # the larger difference first
    assert not any("exchanged" in slip["words"] for slip in found)


def test_a_number_that_is_wrong_alike_in_two_tables_is_one_slip() -> None:
    wrong = RIGHT.replace("10.0", "7.0")
    (slip,) = planted(TWICE, two_tables(wrong, wrong))
    assert slip["checks"] == 2
    assert slip["words"].endswith(
        "The same number stands in the closing table (Results): row ‘Copy’, column ‘spread’."
    )
    elsewhere = planted(TWICE, two_tables(wrong, RIGHT.replace("2.0;", "3.0;")))
    assert len(elsewhere) == 2


def test_one_cause_down_a_column_is_one_slip_and_another_cause_is_not() -> None:
    size = {"tables": ["t.csv"], "label": "m", "result": "mb", "times": ["n", 8], "bytes_in": "MB"}
    rows = "m | n | mb; a | 4 000 000 | 30.5; b | 20 000 000 | 153; c | 1 000 000 | 9.0"
    cells = Tables({"t.csv": table(rows)}, exact={"t.csv": ["n"]})
    one, other = planted({"formula": [size]}, cells)
    assert (one["checks"], other["checks"]) == (1, 2)
    assert "9.0 is printed" in one["words"]
    assert other["words"].endswith("Likewise row ‘b’, column ‘mb’: 153 is printed, 160 recomputed.")


def test_a_contradicted_statement_comes_first_and_form_last() -> None:
    declared = {
        "labels": [
            {"columns": [{"table": "r.csv", "label": "m"}, {"table": "d.csv", "label": "l"}]}
        ],
        "spread": [{"of": OF, "printed": LISTED}],
        "bound": [{"of": [OF], "at_most_percent": 3, "share": "all"}],
    }
    found = planted(declared, two_tables("copy | 50.0; Scale | 2.0; Add | 25.0", RIGHT))
    assert [slip["kind"] for slip in found] == ["claim", "number", "label"]
    assert [slip["slip"] for slip in found] == [1, 2, 3]
    assert found[0]["brief"] == (
        "of the spreads of all rows it states all within 3 %, and its own tables give 1 of 3"
    )


def test_what_two_rules_say_of_one_column_is_one_slip_and_its_unit_another() -> None:
    cells = swept("m | n_1_300000000 | n_2_300000000; a | 1 | killed")
    place = {"table": "e.csv", "value": "memory_g"}
    declared = {
        "limits": [{"table": "s.csv", "available": place, "unit_bytes": [10**9]}],
        "outcomes": [{"table": "s.csv"}],
        "units": [{"quantity": "the rate", "columns": {"s.csv": ["n_2_300000000"]}}],
    }
    outcome, unit = planted(declared, cells)
    assert (outcome["kind"], outcome["checks"], unit["kind"]) == ("outcome", 2, "unit")
    assert "within the memory stated" in outcome["words"]
    assert "were measured 2 times" in outcome["words"]


def test_slips_of_the_real_papers_share_no_check_and_are_numbered_by_gravity() -> None:
    for paper in catalogue.papers(ROOT):
        found = {row["slip"]["slip"]: row["slip"] for row in audit(ROOT, paper) if row["slip"]}
        assert sorted(found) == list(range(1, len(found) + 1))
        order = [KINDS.index(found[number]["kind"]) for number in sorted(found)]
        assert order == sorted(order)


def page_of(items: list[dict[str, Any]], figure: str = "") -> str:
    return PaperPage({"figure": figure, "audit": items}).audit().html


def test_the_page_counts_the_checks_and_folds_those_that_hold() -> None:
    items = in_words(audit(ROOT, "slocum2013-mbw"))
    slip = {"slip": 1, "kind": "number", "title": "the table: row ‘a’", "brief": "b", "words": "W."}
    wrong = [{**row, "consistent": False, "slip": slip} for row in items[:2]]
    html = page_of([*wrong, *items[2:]])
    said = f"2 of {len(items)} checks of the source’s own numbers disagree: 1 distinct slip"
    before = html.partition("<details>")[0]
    assert f"{said}, 1 in its numbers." in before
    assert "<strong>The table: row ‘a’.</strong> W." in before
    assert f"{len(items) - 2} checks that hold" in html
    assert "checks of units of one quantity" in html
    of_form = [{**row, "slip": {**slip, "kind": "label"}} for row in wrong]
    assert "1 slip in form" in page_of([*of_form, *items[2:]])
    assert f"No disagreement in {len(items)} checks" in page_of(items)
    assert "no audit.yaml" in page_of([])
    assert "<h2" not in page_of(items, "p/f")


def test_the_answer_quotes_the_gravest_slip_and_only_where_something_disagrees() -> None:
    items = in_words(audit(ROOT, "slocum2013-mbw"))
    assert audit_section.sentence({"audit": items}) == []
    slip = {"slip": 1, "kind": "number", "brief": "7 is printed"}
    wrong = [{**items[0], "consistent": False, "slip": slip}, *items[1:]]
    (one,) = audit_section.sentence({"audit": wrong})
    checks = f"Of {len(items)} checks of the source’s own numbers"
    assert one == f"{checks} 1 disagrees: 7 is printed."
    other = {"slip": 2, "kind": "label", "brief": "ADD for Add"}
    wrong[1] = {**items[1], "consistent": False, "slip": other}
    (both,) = audit_section.sentence({"audit": wrong})
    assert both == f"{checks} 2 disagree, 2 distinct slips; the gravest: 7 is printed."
    assert audit_section.sentence({"audit": wrong, "figure": "p/f"}) == []


def test_what_the_source_qualifies_itself_is_no_disagreement() -> None:
    """A straight line was held against 8 µs, of a growth that the text calls not linear."""
    checks = [check for check in audit(ROOT, "e7udpip-latency") if check["rule"] == "slope"]
    assert [check["recomputed"] for check in checks] == ["12.5", "9.9"]
    assert all(
        check["consistent"] and "not really grow linearly" in check["qualified"] for check in checks
    )
    assert not any(check["slip"] for check in checks)
    paper = {"audit": audit(ROOT, "e7udpip-latency")}
    assert audit_section.disagreeing(paper) == []
    assert audit_section.sentence(paper) == []
    first, _ = audit_section.informing(paper)
    assert first.startswith("The source states 8 for what a switch with one packet buffer adds")
    assert first.endswith("that it cannot call this a conclusion.")
    assert "2 do not fit a statement that it qualifies itself" in audit_section.summary(paper)
