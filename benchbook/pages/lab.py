"""The pages about all papers: index and controls. Each is a template over analysis output."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from benchbook import digits
from benchbook.files import read_json, write_text
from benchbook.pages import answers, audited, claimed, marks, prose, provoked
from benchbook.pages.render import render, without_addresses
from benchbook.pages.reports import style

VERDICTS = ("reproduced", "only", "resting", *list(claimed.VERDICTS)[1:])
TOTALS = ("provoked", "detected", "abstained", "nulls", "false_alarms", "skipped")


def write_page(output: Path, template: str, title: str, **context: Any) -> None:
    """Render a template of a whole page into its file."""
    text = render(template, title=title, style=style(), prose=prose, **context)
    write_text(output, without_addresses(text))


def make_index(papers: list[Path], controls: Path, output: Path) -> None:
    """reports/index.html: what was run, a card per paper, the controls, what is missing."""
    contents = [read_json(path) for path in papers]
    artefacts = read_json(controls)["artefacts"]
    experiments = [one for content in contents for one in content["experiments"].values()]
    warnings = {prose.quietness(one): None for one in experiments}
    write_page(
        output,
        "index.html.j2",
        "Benchbook",
        cards=[_card(content) for content in contents],
        letters=marks.LETTERS,
        environment=prose.environment(experiments),
        presets=_each(content["preset"] for content in contents),
        hosts=_each(content["host"] for content in contents),
        dates=_each(_when(one["run"]) for one in experiments),
        facts=next((one["facts"] for one in experiments if one["facts"]), _NO_FACTS),
        warnings=[one for one in warnings if one],
        controls=artefacts,
        summary=provoked.summary(artefacts),
        totals={key: sum(one[key] for one in artefacts.values()) for key in TOTALS},
        missing=[*_missing(contents), *_skipped(artefacts)],
        noise=" ".join(_noise_line(name, one) for name, one in _by_name(contents)),
    )


REASONS = 3  # that a line of the index tells
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
    verdicts = Counter(_verdict(claim) for claim in prose.claims(paper))
    return {
        "paper": paper,
        "headline": answers.headline(paper),
        "answer": " ".join(said[0]) if said else paper["answer"],
        "verdicts": {name: verdicts[name] for name in VERDICTS if verdicts[name]},
        "rows": len(rows),
        "cells": sum(row["state"] == "ok" for row in rows),
        "findings": marks.counts(paper),
        "odd": sum(len(one["odd"]["pairs"]) for one in paper["experiments"].values()),
        "audit": audited.counts(paper) if paper["audit"] else "",
    }


def _verdict(claim: dict[str, Any]) -> str:
    """The verdict, or that it rests on an artefact: `only` or `resting`."""
    through = claim.get("through")
    if not through:
        return str(claim["verdict"])
    return "only" if through["kind"] == "only" else "resting"


def _missing(contents: list[dict[str, Any]]) -> list[dict[str, str]]:
    """A line per paper: rows of its tables without a rerun, and points that failed, by reason."""
    found = []
    for paper in contents:
        lost = [
            (prose.not_measured(paper, row), _cell(figure, row))
            for figure in paper["figures"]
            for row in figure["rows"]
            if row["state"] == "not_in_preset"
        ]
        larger = "quick" if paper["preset"] == "tiny" else "paper"
        remedy = f"`make PRESET={larger}`" if lost else ""
        lost += [
            (f"{prose.state(point)}: {point['reason']}", prose.point_name(paper, point["point"]))
            for point in paper["points"]
            if point["state"] != "ok"
        ]
        by_reason = prose.by_reason(lost)
        parts = [f"{_some(what)} ({reason})" for reason, what in list(by_reason.items())[:REASONS]]
        if len(by_reason) > REASONS:
            more = digits.plural(len(by_reason) - REASONS, "other reason")
            parts.append(f"{more} on its page")
        if parts:
            found.append(
                {"what": f"“{paper['title']}”", "reason": "; ".join(parts), "remedy": remedy}
            )
    return found


def _cell(figure: dict[str, Any], row: dict[str, Any]) -> str:
    """What a row without a rerun is called; the cells of a grid are not told apart."""
    return f"cells of {figure['id']}" if figure["grid"] else f"{figure['id']} {row['label']}"


def _some(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    shown = names[:4]
    more = len(names) - len(shown)
    return digits.listed(shown if not more else [*shown, f"{more} more"])


def _skipped(artefacts: dict[str, dict[str, Any]]) -> list[dict[str, str]]:
    return [
        {"what": f"control {name}", "reason": one["reason"], "remedy": ""}
        for name, one in artefacts.items()
        if one["skipped"]
    ]


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
