"""What could not be measured, and what helps: a line per thing for the index."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.wording import Paper

REASONS = 3  # that a line tells


def of_paper(paper: Paper) -> list[dict[str, Any]]:
    """Lines {reason, what, remedy}: rows of tables without a rerun, points that failed, and claims
    that need what this host lacks; each reason once."""
    absent = [
        _cell(figure, row)
        for figure in paper["figures"]
        for row in figure["rows"]
        if row["state"] == "not_in_preset"
    ]
    lines = []
    if absent:
        preset = f"not in preset {paper['preset']}"
        lines.append(_line(preset, absent, f"`make PRESET={larger_preset(paper)}`"))
    failed = wording.by_reason(
        (
            f"{wording.state_in_words(point)}: {point['reason']}",
            wording.point_name(paper, point["point"]),
        )
        for point in paper["points"]
        if point["state"] != "ok"
    )
    lines += [_line(reason, what, "") for reason, what in list(failed.items())[:REASONS]]
    if len(failed) > REASONS:
        more = number_format.plural(len(failed) - REASONS, "other reason")
        lines.append(_line(f"{more} on its page", [], ""))
    return lines + _claims(paper)


def larger_preset(paper: Paper) -> str:
    """The preset that measures more."""
    return "quick" if paper["preset"] == "tiny" else "paper"


def _claims(paper: Paper) -> list[dict[str, Any]]:
    needs: dict[str, list[str]] = {}
    for claim in wording.all_claims(paper):
        if claim["verdict"] == "not_measurable_here" and claim.get("requires"):
            text = wording.lower_first(claim["text"].strip().rstrip("."))
            needs.setdefault(str(claim["requires"]), []).append(text)
    return [
        _line("this machine cannot decide", ["; ".join(texts)], f"it needs {what}")
        for what, texts in needs.items()
    ]


def skipped_controls(artefacts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Controls that could not be provoked, with the reason."""
    skipped: dict[str, list[str]] = {}
    for name, artefact in artefacts.items():
        if artefact["skipped"]:
            skipped.setdefault(artefact["reason"], []).append(name)
    return [_line(reason, names, "") for reason, names in skipped.items()]


def _line(reason: str, what: list[str], remedy: str) -> dict[str, str]:
    return {"reason": reason, "what": _some(what), "remedy": remedy}


def _cell(figure: dict[str, Any], row: dict[str, Any]) -> str:
    """What a row without a rerun is called; the cells of a grid are not told apart."""
    return f"cells of {figure['id']}" if figure["grid"] else f"{figure['id']} {row['label']}"


def _some(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    shown = names[:4]
    more = len(names) - len(shown)
    return number_format.listed(shown if not more else [*shown, f"{more} more"]) if names else ""
