"""What the page says of moved bytes and touched lines, out of small results made by hand."""

from __future__ import annotations

from typing import Any

import made_up_evidence
from made_up_evidence import row
from test_moved import LLC, MBW, STREAM, block, measured, stream
from test_stream_page import paper

from benchbook.core import number_format
from benchbook.judge import traffic
from benchbook.plan.plan import Point
from benchbook.report.sections import evidence, roofline
from benchbook.report.sections import traffic as traffic_section


def experiment(
    items: list[dict[str, Any]],
    points: list[dict[str, Any]],
    content: dict[str, Any] = STREAM,
    bounds: list[dict[str, Any]] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A paper of one experiment with this evidence, and that experiment."""
    made = paper([])
    made_experiment = made["experiments"]["e"]
    made_experiment["definitions"] = content["definitions"]
    made_experiment["evidence"] = traffic.evidence(items, points, content, bounds or [], LLC)
    return made, made_experiment


def test_nothing_at_all_is_a_sentence_with_reason_and_remedy() -> None:
    items = [
        row("", "hardware counters", None, "denied", "likwid", "msr is closed", remedy="modprobe"),
        row("", "hardware counters", None, "absent", "perf", "no counters", remedy=""),
        *(
            row(stream("copy").id, name, None, "absent", "cachegrind", "no valgrind here")
            for name in ("lines_read", "lines_written")
        ),
    ]
    _, made_experiment = experiment(items, [])
    assert not traffic_section.is_known(made_experiment)
    assert traffic_section.why_unknown(made_experiment) == (
        "What each method moved was neither counted nor simulated here (likwid: msr is closed; "
        "perf: no counters; no valgrind here). What helps: `modprobe`."
    )
    _, made_experiment = experiment([], [])
    assert "its evidence was not collected" in traffic_section.why_unknown(made_experiment)
    assert "`benchbook doctor`" in traffic_section.why_unknown(made_experiment)


def test_lines_are_told_where_no_bytes_are() -> None:
    items = [
        row_of_form
        for method in ("block-1.1.1", "block-1.2.2")
        for row_of_form in made_up_evidence.simulated(block(method))
    ]
    made, made_experiment = experiment(items, [], MBW)
    assert traffic_section.is_known(made_experiment)
    assert traffic_section.sentences(made, made_experiment) == [
        "Block-1.1.1 reads 64 and writes 64 of the 16,384 lines that it claims; block-1.2.2 64 and "
        "16,384 of 16,384 (simulated)."
    ]
    table = evidence.bytes_table(made, made_experiment, main=True)
    assert not table["known"]
    assert list(table["notes"]) == ["a"]
    first = evidence.lines_table(made, made_experiment)[0]
    assert first["read"] == {"text": "64", "state": "simulated", "note": ""}
    assert (
        first["name"]
        .replace(number_format.FIXED, " ")
        .startswith("block-1.1.1, 1 MiB in blocks of 4")
    )


def test_a_peer_is_named_by_the_lines_that_it_touches() -> None:
    ours = block("block-1.2.2")
    theirs = Point("tool", ours.factors)
    lines = made_up_evidence.simulated(theirs)
    known_form = row(theirs.id, "method_by_lines", "block-1.2.2", "simulated", "cachegrind")
    made, made_experiment = experiment([*lines, known_form | {"variant": "tool"}], [], MBW)
    made_experiment["variants"] = [
        {"variant": "tool", "peer": {"tool": "mbw", "version": "1.2.2-1"}}
    ]
    assert traffic_section.sentences(made, made_experiment) == [
        "Unmodified, mbw 1.2.2-1 touches the lines of block-1.2.2 (simulated): it reads 64 and "
        "writes 16,384 of 16,384, as no other method of ours does."
    ]
    unknown = known_form | {"variant": "tool", "value": None, "state": "absent", "reason": "like 2"}
    made, made_experiment = experiment([*lines, unknown], [], MBW)
    assert traffic_section.sentences(made, made_experiment) == [
        "The lines of tool do not show which form it is: like 2."
    ]


def test_counted_and_simulated_are_told_apart_in_the_picture() -> None:
    copy, triad = stream("copy"), stream("triad")
    items = made_up_evidence.simulated(copy) + made_up_evidence.counted(triad)
    bounds = [
        {
            "traffic": "read",
            "threads": 2,
            "method": "read",
            "point": "p",
            "rate_bytes_per_s": 12e9,
        }
    ]
    made, made_experiment = experiment(
        items, [measured(copy), measured(triad, 9e9)], STREAM, bounds
    )
    picture = roofline.picture(made, made_experiment)
    assert picture is not None
    assert picture.alt == (
        "Rates beyond all caches, GB/s. Copy, v: 10.0 declared, 15.0 moved, simulated; triad, v: "
        "9.0 declared, 12.0 moved, counted; read 12.0."
    )
    assert (
        roofline.title(made, made_experiment)
        == "Copy declares 10.0 GB/s and moves 15.0 (simulated)"
    )
    assert "hatched where it was simulated" in roofline.caption(made_experiment)
    assert roofline.picture(*experiment([], [])) is None


def test_a_rate_above_all_ceilings_that_delivers_little_is_the_title() -> None:
    points = [
        measured(block("block-1.1.1"), 90e9, work_done_fraction=0.01),
        measured(block("block-1.3.0"), 5e9),
    ]
    made, made_experiment = experiment([], points, MBW)
    assert roofline.title(made, made_experiment) == (
        "Block-1.1.1 declares 90 GB/s where nothing that delivers all passes 5.00"
    )
    assert "unknown at these sizes" in roofline.caption(made_experiment)


def test_reasons_are_lettered_once() -> None:
    notes = evidence.Notes()
    letters = [notes.letter(str(k % 30)) for k in range(60)]
    assert len(set(letters)) == 30
    assert (letters[0], letters[25], letters[26]) == ("a", "z", "aa")
    assert notes.by_letter()["aa"] == "26"


def test_multiples_too_small_to_print_are_not_none() -> None:
    assert [evidence.multiple(share) for share in (4 / 3, 0.0, 0.001, None)] == [
        "1.33",
        "0.00",
        "below 0.01",
        number_format.NONE,
    ]
