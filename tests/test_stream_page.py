"""What pages say of sizes, flags, limits and trials, out of small results made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.chart import Chart
from benchbook.report.sections import answer as answer_section
from benchbook.report.sections import (
    builds,
    equivalence,
    figure_charts,
    grids,
    size_rule,
    timed_functions,
)

KIB, MIB = 2**10, 2**20
SETTING = "memory=heap,threads=2"


def point(size: int, method: str, variant: str = "v") -> str:
    return f"{variant},bytes={size},{SETTING},method={method}"


def claim(method: str, verdict: str, **changed: Any) -> dict[str, Any]:
    """One of `the rate of <method> stays within 5 % from 1 MiB to 2 MiB`."""
    sides = {"numerator": point(2 * MIB, method), "denominator": point(MIB, method)}
    measured = verdict != "not_measurable_here"
    return {
        "claim": method,
        "kind": "ratio",
        "paper": "p",
        "figure": "f",
        "blocks": 8 if measured else 0,
        "published": [1.0, 2.0],
        "price": None,
        "elsewhere": None,
        "settled": None,
        "notes": {},
        "left_out": [],
        "text": f"The size does not matter to {method}.",
        "unit": "ratio of rates",
        "region": [0.95, 1.05],
        "points": sides,
        "verdict": verdict,
        "estimate": 1.01 if measured else None,
        "interval": [0.99, 1.03] if measured else None,
        "reason": {"code": "stated", "text": "as made up"},
        **changed,
    }


def row(size: int, method: str, printed: str, **changed: Any) -> dict[str, Any]:
    """A cell of a table that no preset reran."""
    return {
        "group": method,
        "label": f"as={size}",
        "column": f"c{size}",
        "printed": printed,
        "printed_ratio": 1.0,
        "point": point(size, method),
        "state": "not_in_preset",
        "reason": "not in this preset",
        "ratio": None,
        "invocations": [],
        **changed,
    }


def paper(claims: list[dict[str, Any]], rows: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A paper with one figure and one experiment of which nothing else is known."""
    experiment = {
        "names": {"copy": "Copy", "add": "Add"},
        "definitions": {"copy": "", "add": ""},
        "odd": {"pairs": []},
        "forms": [],
        "variants": [],
        "curves": [],
        "flags": [],
        "ceilings": [],
        "limits": [],
        "trials": [],
        "caches": {},
        "facts": {},
        "buffers": 3,
        "cpus": [0, 1],
        "sweep_unit": "MB/s",
        "quantity": "rate",
        "blocks": 8,
    }
    figure = {"id": "f", "title": "F", "grid": True, "experiment": "e", "claims": claims}
    figure["quantity"] = "rate"
    return {
        "author": "not stated",
        "kind": "blog post",
        "date": "2020",
        "answer": "It does not matter.",
        "preset": "tiny",
        "sizing": None,
        "experiments": {"e": experiment},
        "figures": [{**figure, "rows": rows or []}],
        "points": [],
        "audit": [],
    }


def headline_and_answer(content: dict[str, Any]) -> tuple[str, str]:
    """Headline and first paragraph, with ordinary spaces."""
    first = " ".join(answer_section.answer(content)[0])
    return answer_section.headline(content).replace(number_format.FIXED, " "), first.replace(
        number_format.FIXED, " "
    )


def test_claims_that_all_hold_are_one_sentence() -> None:
    headline, first = headline_and_answer(
        paper([claim("copy", "reproduced"), claim("add", "reproduced")])
    )
    assert headline == "From 1 MiB to 2 MiB, the rates of Copy and Add stay within 5 % here"
    assert first.startswith("Yes, it holds here, for Copy and Add.")
    assert "1.010 (0.990 to 1.030) for Copy and 1.010 (0.990 to 1.030) for Add" in first


def test_claims_that_part_are_told_apart() -> None:
    ones = [claim("copy", "reproduced"), claim("add", "not_reproduced", estimate=0.8)]
    ones[1]["interval"] = [0.79, 0.81]
    headline, first = headline_and_answer(paper(ones))
    assert headline == (
        "From 1 MiB to 2 MiB, the rate of Copy stays within 5 % here; the rate of Add does not: "
        "0.800 times"
    )
    assert first.startswith("It holds here for Copy; it does not hold for Add.")
    none = [claim("copy", "not_reproduced"), claim("add", "inconclusive")]
    headline, _ = headline_and_answer(paper(none))
    assert headline == (
        "From 1 MiB to 2 MiB, the rate of Copy does not stay within 5 % here: 1.010 times; "
        "Add is not decided"
    )


def test_what_is_open_says_why_and_once() -> None:
    edge = {"code": "over_the_edge"}
    ones = [
        claim("copy", "inconclusive", reason=edge, interval=[0.99, 1.08]),
        claim("add", "inconclusive", reason=edge, interval=[None, None], blocks=2)
        | {"price": {"blocks": None, "margin": 0.1, "minutes": None, "guard": False, "least": 8}},
    ]
    headline, first = headline_and_answer(paper(ones))
    assert headline.startswith("Not decided here: whether the rates of Copy and Add stay within")
    assert "The reason for Copy: the interval reaches above 1.05, the most that counts" in first
    assert "The reason for Add: only 2 rounds could be used, too few for an interval" in first
    assert "1.01 (no finite interval) for Add over 2 of 8 rounds" in first
    left_out = {"code": "not_in_preset", "point": point(2 * MIB, "copy")}
    ones = [claim(name, "not_measurable_here", reason=left_out) for name in ("copy", "add")]
    headline, first = headline_and_answer(paper(ones))
    assert headline.startswith("Not measured in preset tiny: whether")
    assert first.count("The reason") == 1
    assert first.endswith("preset tiny leaves the sizes out that it compares.")
    failed = {"code": "point_missing", "why": "its check failed"}
    ones = [
        claim(name, "not_measurable_here", reason=failed | {"point": point(2 * MIB, name)})
        for name in ("copy", "add")
    ]
    headline, first = headline_and_answer(paper(ones))
    assert headline.startswith("Not measured here: whether")
    assert first.endswith("The reason: its check failed.")


@pytest.mark.parametrize(
    "changed",
    [
        {"region": [3.0, None]},
        {"points": {"numerator": None, "denominator": None}},
        {"points": {"numerator": point(MIB, "copy"), "denominator": point(MIB, "copy")}},
        {"points": {"numerator": point(MIB, "add"), "denominator": point(MIB, "copy")}},
    ],
)
def test_other_claims_are_not_taken_together(changed: dict[str, Any]) -> None:
    ones = [claim("copy", "reproduced", **changed), claim("add", "reproduced")]
    assert equivalence.no_effect_claims(paper(ones)) == []
    assert equivalence.no_effect_claims(paper([claim("copy", "reproduced")])) == []


def test_reasons_that_differ_in_sizes_only_are_one() -> None:
    reasons = [(f"needs {n} GiB of memory, over 50% of 4 GiB", n) for n in (1, 2, 8)]
    by_reason = wording.by_reason([*reasons, ("no 'x' on PATH", 0)])
    assert by_reason == {
        "needs 1 GiB to 8 GiB of memory, over 50% of 4 GiB": [1, 2, 8],
        "no 'x' on PATH": [0],
    }


def test_what_a_source_does_not_state_is_said_once() -> None:
    content = paper([])
    assert wording.byline(content) == "blog post, 2020, author not stated"
    assert wording.byline({**content, "date": "not stated"}) == (
        "blog post, author and date not stated"
    )
    assert wording.byline({**content, "author": "A B"}) == "A B, blog post, 2020"


def test_a_table_names_each_size_once_and_each_reason_once() -> None:
    rerun = {"state": "ok", "ratio": {"ratio": 0.98, "low95": 0.97, "high95": 0.99}}
    large = {"state": "cannot_run", "reason": "needs 12 GiB of memory"}
    rows = [
        row(MIB, "copy", "100", **rerun),
        row(MIB, "copy", "101", column="again", **rerun),
        row(2 * MIB, "copy", "99", **rerun),
        row(4 * MIB, "copy", "98"),
        row(8 * MIB, "copy", "97", **large),
    ]
    content = paper([], rows)
    figure = content["figures"][0]
    matrix = grids.matrix(content, figure)
    assert [cell["mark"] for cell in matrix["lines"]["copy"]] == ["", "", "", "a", "b"]
    assert matrix["notes"] == {
        "a": "not in preset tiny",
        "b": "not run: needs 12 GiB of memory",
    }
    assert len(grids.measured_cells(figure)) == 2
    picture = grids.picture(content, figure)
    assert picture is not None
    assert picture.alt.startswith("F. Over 2 sizes rates are 0.980 times that at the first here")
    assert grids.picture(content, {**figure, "rows": [{**rows[3], "printed_ratio": None}]}) is None
    assert grids.ratio_name(figure) == "rate ÷ rate at the first size"


def test_columns_that_are_methods_are_compared_with_the_first_of_them() -> None:
    """Two systems at each size of a message: no column is a size, and no ratio is one of sizes."""
    ours, theirs = (
        {"column": name, "label": name, "state": "ok", "rerun": 1.0, "group": "64"}
        for name in ("ours", "theirs")
    )
    cells = [
        {**row(64, "copy", "70"), **ours, "ratio": {"ratio": 1.0, "low95": 1.0, "high95": 1.0}},
        {
            **row(64, "add", "980", printed_ratio=14.0),
            **theirs,
            "ratio": {"ratio": 2.8, "low95": 2.7, "high95": 2.9},
        },
    ]
    content = paper([], cells)
    figure = {**content["figures"][0], "x": "message_bytes", "quantity": "time"}
    assert not grids.is_by_size(figure)
    assert grids.ratio_name(figure) == "time of theirs ÷ time of ours"
    assert grids.region(figure) is None
    title = "Theirs takes 2.80 times as long as ours here, published 14.0"
    assert grids.title(content, figure) == title
    assert wording.line_name(figure, "64") == "64\xa0B"
    drawn = figure_charts.of(content, figure)
    assert isinstance(drawn, Chart)
    (only,) = drawn.rows
    assert only.label == "64\xa0B"
    assert only.cells == ("14.0", "2.80 (2.70 to 2.90)")
    figure["rows"] = [cells[0], {**cells[1], "state": "not_in_preset"}]
    assert grids.title(content, figure).endswith("in print; not rerun here")
    away = figure_charts.of(content, figure)
    assert isinstance(away, Chart)
    assert away.rows[0].value is None


@pytest.mark.parametrize(
    ("label", "short"),
    [
        ("as_1=1 4000 0000", "140M"),
        ("as=400 0000 0000", "40G"),
        ("n=12", "12"),
        ("whole", "whole"),
    ],
)
def test_headings_become_short_numbers(label: str, short: str) -> None:
    assert grids.column_label(label) == short


FUNCTIONS = {
    "timed_copy_static": {"library_calls": ["GOMP_parallel", "memcpy"], "loads_in_loop": 0},
    "timed_copy_heap": {"library_calls": ["GOMP_parallel"], "loads_in_loop": 4, "isa": ["AVX"]},
    "timed_copy_nt_avx": {"library_calls": [], "loads_in_loop": 5},
    "timed_add_heap": {"library_calls": ["__kmpc_fork_call"], "loads_in_loop": 0, "isa": []},
}


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("v,bytes=1,memory=static,threads=2,method=copy", "timed_copy_static"),
        ("v,bytes=1,memory=heap,threads=2,method=copy", "timed_copy_heap"),
        ("v,bytes=1,memory=heap,method=copy-nt", "timed_copy_nt_avx"),
        ("v,bytes=1,method=add", "timed_add_heap"),
        ("v,bytes=1,method=copy,call=memcpy", "timed_copy_memcpy"),
        ("v,bytes=1,method=loop", "timed_loop"),
    ],
)
def test_a_timed_function_is_found_by_method_and_words(name: str, function: str) -> None:
    assert timed_functions.function_of(name, FUNCTIONS) == function


def test_what_compilers_made_of_a_loop_leaves_openmp_out() -> None:
    built = {"variant": "v", "state": "ok", "timed_functions": FUNCTIONS, "isa": ["SSE2"]}
    missing = {"variant": "w", "state": "cannot_run", "timed_functions": {}}
    experiment = {"variants": [built, missing]}
    copy, add = point(1, "copy"), point(1, "add")
    assert timed_functions.compiled_form(experiment, copy) == "no library call, 4 loads in its loop"
    assert (
        timed_functions.compiled_form(experiment, copy.replace("heap", "static")) == "calls memcpy"
    )
    assert timed_functions.compiled_form(experiment, add).startswith("its loop lies in a function")
    assert (
        timed_functions.compiled_form(experiment, point(1, "triad"))
        == "its disassembly was not looked at"
    )
    assert timed_functions.compiled_form(experiment, copy, "w") == "not built"
    assert timed_functions.vector_instructions(experiment, [copy, add], "v") == ["AVX"]
    assert timed_functions.vector_instructions(
        experiment, [copy.replace("heap", "static")], "v"
    ) == ["SSE2"]


def curve(sizes: list[int], rates: list[float], knee: tuple[int, int] | None) -> dict[str, Any]:
    values = [
        {"bytes": size, "rerun": rate, "low": rate, "high": rate, "invocations": []}
        for size, rate in zip(sizes, rates, strict=True)
    ]
    bracket = knee and {"low_bytes": knee[0], "high_bytes": knee[1], "ratio": 0.5}
    factors = {"memory": "heap", "threads": 2, "method": "copy"}
    return {
        "method": "copy",
        "variant": "v",
        "factors": factors,
        "values": values,
        "knee": bracket,
    }


@pytest.mark.parametrize(
    ("rule", "knee", "words"),
    [
        (8, (1, 2), "the rule demands 4.00 times that size."),
        (1, (1, 2), "which the rule’s size does not reach"),
        (8, None, "never falls by more than a fifth"),
        (None, (1, 2), "is unknown here, because the size of the caches is"),
    ],
)
def test_the_rule_is_set_against_the_last_fall(
    rule: int | None, knee: tuple[int, int] | None, words: str
) -> None:
    content = paper([])
    experiment = content["experiments"]["e"]
    scaled = knee and (knee[0] * MIB, knee[1] * MIB)
    experiment["curves"] = [curve([MIB, 2 * MIB, 4 * MIB, 8 * MIB], [9, 5, 5, 4.8], scaled)]
    content["sizing"] = {
        "text": "R.",
        "experiment": "e",
        "method": "copy",
        "total_llc_bytes": MIB,
        "here_bytes": rule and rule * MIB,
    }
    assert words in " ".join(size_rule.rule_sentences(content))
    picture = size_rule.picture(content, experiment)
    assert picture is not None
    assert words in picture.alt
    assert ("the rule: " in picture.svg) == (rule is not None)
    assert (">last fall<" in picture.svg) == (knee is not None)


def test_beyond_the_last_fall_lowest_and_highest_are_named() -> None:
    content = paper([])
    content["sizing"] = {"experiment": "e", "method": "copy", "here_bytes": None}
    sizes = [KIB, MIB, 2 * MIB, 4 * MIB]
    content["experiments"]["e"]["curves"] = [curve(sizes, [9, 5, 4.8, 4.9], (KIB, MIB))]
    text = " ".join(size_rule.rule_sentences(content)).replace(number_format.FIXED, " ")
    assert "From there to 4 MiB it lies between 4.80 and 5.00 MB/s, the lowest 96 %" in text
    content["experiments"]["e"]["curves"] = [curve(sizes, [9, 8, 7, 3], (2 * MIB, 4 * MIB))]
    assert "it is unknown whether the rate stays there" in " ".join(
        size_rule.rule_sentences(content)
    )


def test_caches_of_each_core_in_use_add_up_and_shared_ones_do_not() -> None:
    cache = {"kind": "unified", "bytes": MIB}
    private = [{**cache, "level": 2, "shared_cpus": [cpu]} for cpu in (0, 1)]
    shared = {**cache, "level": 3, "shared_cpus": [0, 1]}
    experiment = {
        "cpus": [0, 1],
        "buffers": 2,
        "caches": {"L2": MIB, "L3": MIB},
        "facts": {"caches": [*private, shared]},
    }
    assert size_rule.filled(experiment, 2) == {"L2": MIB, "L3": MIB // 2}
    assert size_rule.filled(experiment, 1) == {"L2": MIB // 2, "L3": MIB // 2}
    assert size_rule.filled({**experiment, "facts": {}}, 2) == {"L2": MIB // 2, "L3": MIB // 2}


def flag_row(variant: str, ratio: float | None, compiler: str | None = "gcc") -> dict[str, Any]:
    interval = ratio and {"ratio": ratio, "low95": ratio - 0.01, "high95": ratio + 0.01}
    return {
        "variant": variant,
        "compiler": compiler,
        "flags": [],
        "isa": [],
        "state": "ok",
        "reason": "",
        "point": "",
        "ratio": interval,
        "differs": interval is not None and not interval["low95"] <= 1 <= interval["high95"],
        "rate_bytes_per_s": 1e9,
        "rate_low_bytes_per_s": None,
        "rate_high_bytes_per_s": None,
    }


def test_programs_of_others_are_no_flags() -> None:
    experiment = paper([])["experiments"]["e"]
    factors = {"bytes": 256 * KIB, "memory": "static", "threads": 1, "method": "copy"}
    own = [flag_row("base", None), flag_row("slow", 0.25), flag_row("same", 1.005)]
    entry = {"factors": factors, "base": "base,method=copy", "rows": own}
    experiment["flags"] = [entry, {**entry, "rows": [*own[:2], flag_row("peer", 0.9, None)]}]
    settings = builds.entries_by_setting(experiment)
    (name,) = settings
    assert name.replace(number_format.FIXED, " ") == "256 KiB, static, 1 thread"
    assert len(settings[name]) == 1
    assert builds.title(experiment, entry) == (
        "Copy: 0.250 times with slow to 1.005 times with same; 1 of 2 variants cannot be "
        "distinguished from base"
    )
    widest = builds.sentence(experiment).replace(number_format.FIXED, " ")
    assert widest.startswith("Builds differ most for Copy at 256 KiB, static, 1 thread")
    assert widest.endswith("by a factor of 4.02.")
    assert "by a factor of 4.02 for Copy" in builds.spread_at(experiment, settings[name])


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ({"values_verified": 10, "verification_error": 9.3e-11}, "off by at most 9.3e-11"),
        ({"values_verified": 4, "verification_error": 0}, "verified, exactly"),
        ({"values_verified": None, "verification_error": None}, ""),
        ({}, ""),
    ],
)
def test_a_variant_shows_how_far_its_results_are_off(seen: dict[str, Any], text: str) -> None:
    """Whether a program still verifies under -Ofast is what its flags are compared for."""
    rows = [{**flag_row("Ofast", 0.9), "point": "Ofast,method=sp"}]
    measured = {"points": [{"point": "Ofast,method=sp", "observations": seen}]}
    shown = builds.verified(measured, {"rows": rows}, "Ofast")
    assert text in shown
    assert bool(shown) == bool(text)


def limit(variant: str, outcome: str, *flags: str) -> dict[str, Any]:
    links = {"limited": MIB, "every_size": 4 * MIB}.get(outcome)
    message = "a `word' & <more>" if outcome in ("limited", "no_size") else None
    return {
        "variant": variant,
        "compiler": "gcc",
        "flags": list(flags),
        "outcome": outcome,
        "links_bytes": links,
        "message": message,
        "reason": "",
    }


def test_limits_say_what_the_sources_own_flags_need() -> None:
    content = paper([], [row(MIB, "copy", "1")])
    experiment = content["experiments"]["e"]
    experiment["limits"] = [
        limit("small", "limited", "-O3", "-mcmodel=small"),
        limit("plain", "no_size", "-O3", "-fno-pic"),
        limit("gone", "cannot_run", "-O3"),
        limit("v", "every_size", "-fno-pic", "-O3", "-mcmodel=large"),
    ]
    text = " ".join(builds.limits_said(content, experiment)).replace(number_format.FIXED, " ")
    assert text.startswith("With the source’s own flags (v) arrays link at every size tried.")
    assert "with small up to 1 MiB each; with plain at no size (“a ‘word' & <more>”)." in text
    assert text.endswith("So those flags need `-mcmodel=large` here at any size.")
    experiment["limits"][1] = limit("plain", "no_size", "-static-pie")
    assert "at any size" not in " ".join(builds.limits_said(content, experiment))
    assert builds.limits_title(experiment["limits"]) == (
        "Of 3 sets of flags 1 link static arrays of every size tried, 1 up to a limit and 1 of "
        "no size"
    )


def test_trials_end_by_status_or_signal() -> None:
    def trial(outcome: str, status: int | None, signal: int | None) -> dict[str, Any]:
        return {"outcome": outcome, "exit_status": status, "signal": signal}

    trials = [
        trial("ok", 0, None),
        trial("failed", None, 11),
        trial("cannot_run", 77, None),
        trial("not_tried", None, None),
    ]
    assert [builds.ending(trial) for trial in trials] == [
        *("exit status 0", "signal 11 (SIGSEGV)", "exit status 77", "not tried"),
    ]
    assert builds.trials_title(trials) == (
        "Of 3 trials, 1 ended by signal 11 (SIGSEGV), 1 ended by exit status 77 and 1 ran"
    )
    assert builds.trials_title(trials[3:]) == "Nothing tried"
