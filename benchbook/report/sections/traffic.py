"""What the page says of bytes moved and lines touched, in sentences, or why nothing is known."""

from __future__ import annotations

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.sections.evidence import (
    LITTLE,
    READ,
    SIDES,
    WRITTEN,
    Experiment,
    Row,
    claimed_lines,
    multiple,
    of_lines,
    state_of,
)
from benchbook.report.wording import Paper


def is_known(experiment: Experiment) -> bool:
    """Whether anything was counted or simulated."""
    return any(
        row[name]["value"] is not None
        for row in experiment["evidence"]["moved"]
        for name in (READ, WRITTEN, "lines_read", "lines_written")
    )


def why_unknown(experiment: Experiment) -> str:
    """Why there is no value at all, and what would help."""
    evidence = experiment["evidence"]
    lacking = {
        f"{item['source']}: {item['reason']}": item["remedy"] for item in evidence["lacking"]
    }
    reasons = {
        row["lines_read"]["reason"]: "" for row in evidence["moved"] if row["lines_read"]["reason"]
    }
    why = "; ".join([*lacking, *list(reasons)[:1]]) or "its evidence was not collected"
    remedies = number_format.listed([f"`{remedy}`" for remedy in lacking.values() if remedy])
    help_ = f" What helps: {remedies}." if remedies else " `benchbook doctor` says what helps."
    return f"What each method moved was neither counted nor simulated here ({why}).{help_}"


def sentences(paper: Paper, experiment: Experiment) -> list[str]:
    """Bytes moved against bytes declared, lines touched against lines claimed, and whose lines a
    program of others touches."""
    text = [_bytes_said(paper, experiment), *_lines_said(paper, experiment)]
    return [sentence for sentence in (*text, *_peers_said(paper, experiment)) if sentence]


def _bytes_said(paper: Paper, experiment: Experiment) -> str:
    by_method: dict[str, Row] = {}
    for row in experiment["evidence"]["moved"]:
        if row["moved"]["value"] is not None and row["main"] and not _is_stuck(row):
            by_method.setdefault(wording.method_name(paper, row["point"]), row)
    if not by_method:
        return ""
    values = [multiple(row["moved"]["value"]) for row in by_method.values()]
    parts = [f"{name} {value}" for name, value in zip(by_method, values, strict=True)]
    text = f"{next(iter(by_method))} moves {values[0]}"
    text = number_format.listed([text, *parts[1:]])
    declared = "it declares" if len(by_method) == 1 else "they declare"
    states = number_format.listed(
        list(dict.fromkeys(state_of(row["moved"]) for row in by_method.values()))
    )
    why = [
        "a line that is stored to is read first"
        for row in by_method.values()
        if (row["allocated"]["value"] or 0) > LITTLE
    ]
    why += ["a copied byte is declared once" for row in by_method.values() if _declares_once(row)]
    because = f": {number_format.listed(list(dict.fromkeys(why)))}" if why else ""
    return f"{wording.capitalised(text)} times the bytes that {declared} ({states}){because}."


def _declares_once(row: Row) -> bool:
    """Whether the method reads and writes a buffer and declares the bytes of one."""
    sides = [row[f"buffers_{side}"]["value"] or 0 for side in SIDES]
    return min(sides) > 0.5 and row["of_bytes"]["declared_bytes"] < 1.5 * row["of_bytes"]["bytes"]


def _is_stuck(row: Row) -> bool:
    """Touches a part of its buffers only, so that its ratio is that of one size."""
    sides = [row[f"buffers_{side}"]["value"] for side in ("read", "written")]
    return "block_bytes" in row["factors"] and any(
        side is not None and side < 0.5 for side in sides
    )


def _lines_said(paper: Paper, experiment: Experiment) -> list[str]:
    theirs = {peer["variant"] for peer in experiment["evidence"]["peers"]}
    parts: dict[str, str] = {}
    states: dict[str, None] = {}
    for row in of_lines(experiment):
        if "block_bytes" in row["factors"] and row["variant"] not in theirs:
            read, written = (number_format.count(row[f"lines_{side}"]["value"]) for side in SIDES)
            name = wording.method_name(paper, row["point"])
            of = number_format.count(claimed_lines(row) or 0)
            text = f"{name} reads {read} and writes {written} of the {of} lines that it claims"
            if parts:
                text = f"{name} {read} and {written} of {of}"
            if name not in parts:
                parts[name] = text
                states[state_of(row["lines_read"])] = None
    if not parts:
        return []
    return [
        f"{wording.capitalised('; '.join(parts.values()))} ({number_format.listed(list(states))})."
    ]


def _peers_said(paper: Paper, experiment: Experiment) -> list[str]:
    text = []
    rows = {row["point"]: row for row in experiment["evidence"]["moved"]}
    for program in experiment["evidence"]["peers"]:
        peer = _peer(experiment, program["variant"])
        row = rows.get(program["point"])
        if program["value"] is None or row is None:
            text.append(f"The lines of {peer} do not show which form it is: {program['reason']}.")
            continue
        name = experiment["names"].get(program["value"], program["value"])
        read, written = (number_format.count(row[f"lines_{side}"]["value"]) for side in SIDES)
        text.append(
            f"Unmodified, {peer} touches the lines of {name} ({program['state']}): it "
            f"reads {read} and writes {written} of {number_format.count(claimed_lines(row) or 0)}, "
            "as no other "
            "method of ours does."
        )
    return text


def _peer(experiment: Experiment, variant: str) -> str:
    peers = (record["peer"] for record in experiment["variants"] if record["variant"] == variant)
    peer = next(peers, None) or {}
    return " ".join(filter(None, (peer.get("tool") or variant, peer.get("version"))))
