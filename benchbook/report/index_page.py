"""The pages about all papers: index and controls. Each is a template over analysis output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchbook.controls.controls_json import read_controls
from benchbook.core import number_format
from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_text
from benchbook.judge.paper_json import PAPER, read_paper
from benchbook.report import controls_page, wording
from benchbook.report.render import frame, render, svg_of, without_addresses
from benchbook.report.sections import audit as audit_section
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections import (
    first_screen,
    machine_summary,
    not_measured,
    search_index,
    source_words,
    thumbnail,
)

# Where the index leads to the page that compares two runs, once there is one.
NOT_COMPARED = Markup("<!-- compared -->")
COMPARED = Markup(
    "<h2>Two runs compared</h2>\n<p>Runs, hosts or presets held against each other as last asked "
    'for, point by point: <a href="compare.html">compare</a>.</p>'
)
TOTALS = ("provoked", "detected", "abstained", "nulls", "false_alarms", "skipped")


def write_page(output: Path, template: str, title: str, **context: Any) -> None:
    """Render a template of a whole page into its file."""
    shared = {"wording": wording, "source_words": source_words}
    text = render(template, title=title, frame=frame(), **shared, **context)
    write_text(output, without_addresses(text))


def make_index(
    papers: list[Path], controls: Path | None, output: Path, waiting: list[str] | None = None
) -> None:
    """reports/index.html: what was run, a card per paper, the controls, what is missing.

    `waiting` are papers that have not been measured yet, `controls` is None until the controls have
    been played."""
    contents = [read_paper(path) for path in papers]
    artefacts = read_controls(controls)["artefacts"] if controls else {}
    experiments = [
        experiment for content in contents for experiment in content["experiments"].values()
    ]
    entries = search_index.entries(contents)
    kinds = Counter(entry.kind for entry in entries)
    write_page(
        output,
        "index.html.j2",
        "Benchbook",
        cards=list(map(card, contents)),
        waiting=waiting,
        imported=output.with_name("imported.html").exists(),
        several_hosts=output.with_name("hosts.html").exists(),
        compared=COMPARED if output.with_name("compare.html").exists() else NOT_COMPARED,
        letters=findings_section.LETTERS,
        environment=wording.environment(experiments),
        presets=_each(content["preset"] for content in contents),
        hosts=_each(content["host"] for content in contents),
        measured=_span(sorted(_when(experiment["run"]) for experiment in experiments)),
        facts=next(
            (experiment["facts"] for experiment in experiments if experiment["facts"]), _NO_FACTS
        ),
        warning=wording.disturbance_warning(dict(_by_name(contents))),
        controls=artefacts,
        summary=controls_page.summary(artefacts),
        totals={key: sum(artefact[key] for artefact in artefacts.values()) for key in TOTALS},
        missing=[
            (content, lines) for content in contents if (lines := not_measured.of_paper(content))
        ],
        skipped=not_measured.skipped_controls(artefacts),
        entries=entries,
        kinds=number_format.listed(
            [number_format.plural(amount, kind) for kind, amount in kinds.items()]
        ),
        verdicts=verdict_counts(contents),
        open=sum(len(content.get("open", [])) for content in contents),
        noise=machine_summary.noise(dict(_by_name(contents)), of=" of the papers"),
    )


def make_index_so_far(names: list[str], results: Path, output: Path) -> None:
    """`make_index` of those papers of `names` whose results are there; what an older Benchbook left
    is made anew later in the same workflow, and counts as missing until then."""
    files = {name: results / name / PAPER for name in names}
    ready = [name for name in names if _can_be_read(files[name], read_paper)]
    controls = results / "controls.json"
    make_index(
        [files[name] for name in ready],
        controls if _can_be_read(controls, read_controls) else None,
        output,
        waiting=[name for name in names if name not in ready],
    )


def _can_be_read(path: Path, read: Callable[[Path], Any]) -> bool:
    try:
        read(path)
    except BenchbookError:
        return False
    return True


_NO_FACTS: dict[str, Any] = {"cpu_model": None, "usable_cores": None}


def _each(values: Any) -> list[str]:
    return list(dict.fromkeys(values))


def _by_name(contents: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return list(
        {n: experiment for c in contents for n, experiment in c["experiments"].items()}.items()
    )


def _when(run: str) -> str:
    """`2026-11-21 15:54` out of a run's name."""
    stamp = run.split("-")[0]
    if len(stamp) < 13 or not stamp[:8].isdigit():
        return run
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]} {stamp[9:11]}:{stamp[11:13]}"


def _span(stamps: list[str]) -> str:
    """The time from the first run to the last: `2026-11-21, 15:54 to 16:02 UTC`."""
    if not stamps:
        return ""
    first, last = stamps[0].split(" "), stamps[-1].split(" ")
    if len(first) < 2 or len(last) < 2:
        return number_format.listed(_each(stamps))
    if stamps[0] == stamps[-1]:
        return f"{first[0]}, {first[1]} UTC"
    until = last[1] if first[0] == last[0] else f"{last[0]} {last[1]}"
    return f"{first[0]}, {first[1]} to {until} UTC"


def card(paper: dict[str, Any]) -> dict[str, Any]:
    """What a list of papers shows of one: its question, answers, verdicts, counts and picture."""
    rows = [row for figure in paper["figures"] for row in figure["rows"]]
    claims = first_screen.leading_claims(paper)
    return {
        "paper": paper,
        "question": first_screen.title(paper),
        "answered": first_screen.badges(claims),
        "sentences": first_screen.sentences(paper),
        "happened": first_screen.in_a_row(paper, claims) if claims else "",
        "verdicts": verdict_counts([paper]),
        "rows": len(rows),
        "cells": sum(row["state"] == "ok" and not row["emulates"] for row in rows),
        "findings": findings_section.counts_by_effect(paper),
        "odd": sum(len(experiment["odd"]["pairs"]) for experiment in paper["experiments"].values()),
        "audit": audit_section.summary(paper) if paper["audit"] else "",
        "open": len(paper.get("open", [])),
        "svg": svg_of(thumbnail.small(paper)),
    }


def verdict_counts(papers: list[dict[str, Any]]) -> dict[str, int]:
    """How many claims of these papers have each verdict, in the order of pages."""
    counted = Counter(
        claims_section.verdict(claim) for paper in papers for claim in wording.all_claims(paper)
    )
    return {name: counted[name] for name in claims_section.ORDER if counted[name]}


def make_controls(controls: Path, output: Path) -> None:
    """reports/controls.html: per artefact what was provoked and what the detector said."""
    content = read_controls(controls)
    artefacts = content["artefacts"]
    write_page(
        output,
        "controls.html.j2",
        "Controls",
        headline=controls_page.headline(artefacts),
        summary=controls_page.summary(artefacts),
        rows=controls_page.rows(artefacts),
        value=findings_section.evidence_value,
        preset=content.get("preset", ""),
        host=content.get("host", ""),
        environment=wording.environment(content.get("runs", [])),
    )
