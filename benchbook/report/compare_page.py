"""The page that holds one run, host or preset against another; nothing is computed here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchbook.compare import Comparison
from benchbook.compare.matched import Conclusion, Floor
from benchbook.core import number_format
from benchbook.core.files import write_text
from benchbook.define.points import Point
from benchbook.report import wording
from benchbook.report.compare_sentences import CONCLUSIONS, as_json, floor_sentence, headline
from benchbook.report.index_page import COMPARED, NOT_COMPARED, write_page
from benchbook.report.plots.forest import Row, forest
from benchbook.report.plots.palette import GREY, INK
from benchbook.report.plots.style import Picture
from benchbook.report.render import svg_of

DRAWN = 24  # rows of a picture; the table has all points
DECIDED = (Conclusion.A_FASTER, Conclusion.B_FASTER)


def make_compare(comparison: Comparison, output: Path) -> None:
    """Write reports/compare.html, and lead to it from the index in the same folder."""
    content = as_json(comparison)
    floors = [experiment.floor for experiment in comparison.experiments]
    write_page(
        output,
        "compare.html.j2",
        "Compare",
        content=content,
        headline=headline(comparison),
        said=CONCLUSIONS,
        experiments=[_experiment(*both) for both in zip(content["items"], floors, strict=True)],
        environment="",
    )
    index = output.with_name("index.html")
    if index.exists():  # made before there was anything to lead to
        text = index.read_text(encoding="utf-8")
        write_text(index, text.replace(NOT_COMPARED, COMPARED))


def _experiment(experiment: dict[str, Any], floor: Floor) -> dict[str, Any]:
    name, points = experiment["experiment"], experiment["points"]
    drawn = _furthest(points)
    decided = [row for row in points if row["said"] in DECIDED]
    return {
        **experiment,
        "title": _title(name, decided, points),
        "svg": svg_of(_picture(name, drawn)),
        "left_out": sum(row["ratio"] is not None for row in points) - len(drawn),
        "floor_sentence": floor_sentence(floor),
    }


def _title(name: str, decided: list[dict[str, Any]], points: list[dict[str, Any]]) -> str:
    if not decided:
        return (
            f"{name}: no point is shown to differ, of {number_format.plural(len(points), 'point')}"
        )
    worst = max(decided, key=lambda row: abs(math.log(row["ratio"])))
    value = number_format.number(worst["ratio"], worst["low95"], worst["high95"])
    many = f"{len(decided)} of {number_format.plural(len(points), 'point')} differ"
    return f"{name}: {many}; where they lie furthest apart, B is {value} times as fast"


def _furthest(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The points of the picture, in their order: those that differ first, then by their ratio."""
    with_ratio = [row for row in points if row["ratio"] is not None]
    order = sorted(
        with_ratio, key=lambda row: (row["said"] not in DECIDED, -abs(math.log(row["ratio"])))
    )
    chosen = {row["point_a"] for row in order[:DRAWN]}
    return [row for row in with_ratio if row["point_a"] in chosen]


def _picture(name: str, points: list[dict[str, Any]]) -> Picture | None:
    rows = [
        Row(
            label=label(row),
            colour=INK if row["said"] in DECIDED else GREY,
            value=row["ratio"],
            low=row["low95"] or None,
            high=row["high95"],
            here=number_format.number(row["ratio"], row["low95"], row["high95"]),
            emulated=bool(row["emulates"]),
        )
        for row in points
    ]
    rows_in_words = "; ".join(f"{row.label} {row.here}" for row in rows)
    alt = f"{name}: how many times as fast B is as A. {rows_in_words}."
    unit = "how many times as fast B is as A"
    return forest(
        f"compare-{name}", alt, rows, unit=unit, label_at_1="1", columns=("", "B ÷ A"), above=True
    )


def label(row: dict[str, Any]) -> str:
    """A point by its factors, for a row of a picture: `copy, 32 MiB, memcpy, gcc-O2`."""
    variant = Point.of_id(row["point_a"]).variant
    words = (str(row["factors"].get("method", "")), wording.setting_name(row["factors"]), variant)
    return ", ".join(word for word in words if word)
