"""Recorded runs next to the figures of a paper: each is analysed anew once.

Nothing is pooled with them and no verdict rests on them. One that is damaged says so in a sentence
where its figure would stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import MissingKeyError, read_json, write_json
from benchbook.core.parquet import read_parquet
from benchbook.define.models import Figure
from benchbook.judge.figures import rerun_figure
from benchbook.judge.plain_ratio import against_plain
from benchbook.judge.recorded_analysis import analysed
from benchbook.records import archive, journal

VERSION = 1
ANALYSIS, SUMMARIES = "analysis.json", "summaries.parquet"
OK, DAMAGED = "ok", "damaged"
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)T")
MOVED = (
    "point",
    "state",
    "twin",
    "factors",
    "bytes_per_call",
    "rate_bytes_per_s",
    "rate_low_bytes_per_s",
    "rate_high_bytes_per_s",
    "observations",
)
KEPT = ("row", "group", "label", "column", "point", "rerun", "low", "high", "state", "emulates")


def analyse_recorded(root: Path, run: Path, output: Path) -> None:
    """Write `output`: what `run` is (its folder, relative to `root`: …/<host>/<experiment>/<run>),
    and next to it analysis.json and summaries.parquet as of a run of this host, or why not.
    """
    host, experiment, name = run.parts[-3:]
    day = _DAY.match(name)
    about: dict[str, Any] = {"version": VERSION, "host": host, "experiment": experiment}
    about |= {"run": name, "folder": str(run), "date": "-".join(day.groups()) if day else name}
    output = output.absolute()
    with chdir(root):  # analysis reads definitions out of the working folder
        try:
            about |= _analysed(run, output.parent) | {"state": OK, "reason": ""}
        except (MissingKeyError, KeyError, TypeError, ValueError) as error:
            # Of another version's format.
            reason = f"{run} is not understood by this version ({type(error).__name__}: {error}); "
            about |= {"state": DAMAGED, "reason": f"{reason}record the run anew, or remove it"}
        except BenchbookError as error:
            about |= {"state": DAMAGED, "reason": str(error)}
    write_json(output, about)


def _analysed(run: Path, folder: Path) -> dict[str, Any]:
    for needed in (archive.SUMS, journal.MANIFEST):
        if not (run / needed).exists():
            raise BenchbookError(f"{run / needed} is missing; restore it with git, or remove {run}")
    archive.verify(run)
    plan, origin = read_json(run / journal.PLAN), read_json(run / archive.ORIGIN)
    if (plan["host"], plan["experiment"]) != run.parts[-3:-1]:
        raise BenchbookError(
            f"{run} is of {plan['host']}, {plan['experiment']}; move it to where it belongs"
        )
    analysis = read_json(analysed(run, folder))
    return {
        "model": plan["host_facts"]["cpu_model"],
        "cores": plan["host_facts"]["cores"],
        "preset": analysis["preset"],
        "blocks": analysis["blocks"],
        "commit": origin["recorded_at_commit"],
        "changed": origin["changed"],
    }


def recorded_rows(
    root: Path,
    paper: str,
    figure: Figure,
    content: dict[str, Any],
    own: dict[str, Any],
    recorded: list[Path],
) -> list[dict[str, Any]]:
    """The recorded runs of a figure's experiment, each with its rows (values in the figure's unit,
    ranges in percent, pointwise 95 % intervals) and the findings at them; `own`, the analysis of
    the run that the figure shows, is not among them.

    `recorded`: what `analyse_recorded` wrote, of all experiments of the paper, whose order numbers
    them; `content`: the experiment's definition.
    """
    if not figure.select and not figure.ranges:
        return []  # nothing of it is measured
    return [
        about | _rows(root, paper, figure, content, path)
        for about, path in _numbered(recorded)
        if _is_another(about, own)
    ]


def transfers(
    content: dict[str, Any], own: dict[str, Any], recorded: list[Path]
) -> list[dict[str, Any]]:
    """The recorded runs that moved data to a device or from it: what each is, its points with the
    findings at them, and how near these come to their plain twins (`against_plain`). Those of the
    experiment whose definition is `content`; `own`, the analysis of the run that the page shows, is
    not among them.
    """
    moved = []
    for about, path in _numbered(recorded):
        if not _is_another(about, own) or about["state"] != OK:
            continue
        analysis = read_json(path.with_name(ANALYSIS))
        points = [
            {key: point[key] for key in MOVED}
            | {"experiment": about["experiment"], "findings": _at(analysis, [point["point"]])}
            for point in analysis["points"]
            if point["state"] == "ok" and "bytes_to_device" in point["observations"]
        ]
        if points:
            summaries = read_parquet(path.with_name(SUMMARIES))
            plain = against_plain(analysis["points"], summaries, content.get("plain", {}))
            moved.append(about | {"points": points, "plain": plain})
    return moved


def _is_another(about: dict[str, Any], own: dict[str, Any]) -> bool:
    """Whether this is a run of the same experiment, and not the very run that is shown."""
    return bool(
        about["experiment"] == own["experiment"]
        and (about["host"], about["run"]) != (own["host"], own["run"])
    )


def _numbered(recorded: list[Path]) -> Iterator[tuple[dict[str, Any], Path]]:
    """In the order of their dates, whichever host; a name is the same in all figures of a page."""
    runs = [(read_json(path), path) for path in recorded]
    runs.sort(key=lambda run: tuple(run[0][key] for key in ("run", "host", "experiment")))
    for number, (about, path) in enumerate(runs, 1):
        yield about | {"name": f"R{number}"}, path


def _rows(
    root: Path, paper: str, figure: Figure, content: dict[str, Any], path: Path
) -> dict[str, Any]:
    if read_json(path)["state"] != OK:
        return {"rows": [], "ranges": []}
    analysis = read_json(path.with_name(ANALYSIS))
    summaries = read_parquet(path.with_name(SUMMARIES))
    made = rerun_figure(root, paper, figure, analysis, summaries, content, [])
    return {
        "rows": [
            {key: row[key] for key in KEPT} | {"findings": _at(analysis, [row["point"]])}
            for row in made["rows"]
        ],
        "ranges": [
            {key: row.get(key) for key in KEPT} | {"findings": _at(analysis, row["points"])}
            for row in made["ranges"]
        ],
    }


def _at(analysis: dict[str, Any], points: list[str | None]) -> list[str]:
    """The artefacts found at any of these points in the recorded run."""
    return sorted(
        {finding["artefact"] for finding in analysis["findings"] if {*points} & {*finding["where"]}}
    )
