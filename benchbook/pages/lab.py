"""The pages about all papers: index and controls. Each is a template over analysis output."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchbook import digits
from benchbook.files import read_json, write_text
from benchbook.pages import (
    answers,
    audited,
    catalogue,
    claimed,
    marks,
    missing,
    prose,
    provoked,
    thumbnails,
)
from benchbook.pages.render import frame, render, svg_of, without_addresses

VERDICTS = ("reproduced", "only", "resting", *list(claimed.VERDICTS)[1:])
# Where the index leads to the page that compares two runs, once there is one.
NOT_COMPARED = Markup("<!-- compared -->")
COMPARED = Markup(
    "<h2>Two runs compared</h2>\n<p>Runs, hosts or presets held against each other as last asked "
    'for, point by point: <a href="compare.html">compare</a>.</p>'
)
TOTALS = ("provoked", "detected", "abstained", "nulls", "false_alarms", "skipped")


def write_page(output: Path, template: str, title: str, **context: Any) -> None:
    """Render a template of a whole page into its file."""
    text = render(template, title=title, frame=frame(), prose=prose, **context)
    write_text(output, without_addresses(text))


def make_index(papers: list[Path], controls: Path, output: Path) -> None:
    """reports/index.html: what was run, a card per paper, the controls, what is missing."""
    contents = [read_json(path) for path in papers]
    artefacts = read_json(controls)["artefacts"]
    experiments = [one for content in contents for one in content["experiments"].values()]
    entries = catalogue.entries(contents)
    kinds = Counter(one.kind for one in entries)
    write_page(
        output,
        "index.html.j2",
        "Benchbook",
        cards=[_card(content) for content in contents],
        imported=output.with_name("imported.html").exists(),
        compared=COMPARED if output.with_name("compare.html").exists() else NOT_COMPARED,
        letters=marks.LETTERS,
        environment=prose.environment(experiments),
        presets=_each(content["preset"] for content in contents),
        hosts=_each(content["host"] for content in contents),
        dates=_each(_when(one["run"]) for one in experiments),
        facts=next((one["facts"] for one in experiments if one["facts"]), _NO_FACTS),
        warning=prose.quietness(dict(_by_name(contents))),
        controls=artefacts,
        summary=provoked.summary(artefacts),
        totals={key: sum(one[key] for one in artefacts.values()) for key in TOTALS},
        missing=[(content, lines) for content in contents if (lines := missing.of_paper(content))],
        skipped=missing.controls(artefacts),
        entries=entries,
        kinds=digits.listed([digits.plural(amount, kind) for kind, amount in kinds.items()]),
        verdicts=_verdicts(contents),
        open=sum(len(content.get("open", [])) for content in contents),
        noise=" ".join(_noise_line(name, one) for name, one in _by_name(contents)),
    )


SENTENCES = 3  # of the answer on a card: whether it holds, what was said, what was seen here
_NO_FACTS: dict[str, Any] = {"cpu_model": None, "usable_cores": None}


def _each(values: Any) -> list[str]:
    return list(dict.fromkeys(values))


def _by_name(contents: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return list({n: one for c in contents for n, one in c["experiments"].items()}.items())


def _when(run: str) -> str:
    """`2026-11-21 15:54` out of a run's name."""
    stamp = run.split("-")[0]
    if len(stamp) < 13 or not stamp[:8].isdigit():
        return run
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]} {stamp[9:11]}:{stamp[11:13]}"


def _card(paper: dict[str, Any]) -> dict[str, Any]:
    rows = [row for figure in paper["figures"] for row in figure["rows"]]
    said = answers.answer(paper)
    return {
        "paper": paper,
        "headline": answers.headline(paper),
        "answer": " ".join(said[0][:SENTENCES]) if said else paper["answer"],
        "verdicts": _verdicts([paper]),
        "rows": len(rows),
        "cells": sum(row["state"] == "ok" for row in rows),
        "findings": marks.counts(paper),
        "odd": sum(len(one["odd"]["pairs"]) for one in paper["experiments"].values()),
        "audit": audited.counts(paper) if paper["audit"] else "",
        "open": len(paper.get("open", [])),
        "svg": svg_of(thumbnails.small(paper)),
    }


def _verdicts(papers: list[dict[str, Any]]) -> dict[str, int]:
    found = Counter(claimed.verdict(claim) for paper in papers for claim in prose.claims(paper))
    return {name: found[name] for name in VERDICTS if found[name]}


def _noise_line(name: str, one: dict[str, Any]) -> str:
    cost = one["probing_s"] / one["measuring_s"] if one["measuring_s"] else None
    return (
        f"Experiment {name}: {len(one['disturbed'])} of {digits.plural(one['blocks'], 'block')} "
        f"disturbed, {digits.share(cost)} of the time spent on reading the machine’s state."
    )


def make_controls(controls: Path, output: Path) -> None:
    """reports/controls.html: per artefact what was provoked and what the detector said."""
    content = read_json(controls)
    artefacts = content["artefacts"]
    write_page(
        output,
        "controls.html.j2",
        "Controls",
        headline=provoked.headline(artefacts),
        summary=provoked.summary(artefacts),
        rows=provoked.rows(artefacts),
        value=marks.value,
        preset=content.get("preset", ""),
        host=content.get("host", ""),
        environment=prose.environment(content.get("runs", [])),
    )
