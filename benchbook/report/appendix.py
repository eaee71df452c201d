"""`benchbook export --appendix`: what a reviewer of an artefact needs, as Markdown and as PDF."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchbook.core import number_format, stage_times
from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_text
from benchbook.core.sizes import format_bytes
from benchbook.define import catalogue
from benchbook.host import facts as host_facts
from benchbook.judge.paper_json import PAPER, read_paper
from benchbook.report import reasons, wording
from benchbook.report.anonymise import nameless
from benchbook.report.measurements import seconds_of
from benchbook.report.print_pdf import print_pdf
from benchbook.report.render import frame, render
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import source_words
from benchbook.report.wording import Paper

NAME = "appendix"
SUFFIXES = (".md", ".pdf")
ANY_HARDWARE = "any Linux machine"
# What Markdown would read as its own signs, or a browser as a tag.
_SIGNS = re.compile(r"([\\`*_\[\]<>|#$~])")


@dataclass(frozen=True)
class Appendix:
    """The files that were written; `no_pdf` says why there is no PDF, and is empty where it is."""

    markdown: Path
    pdf: Path
    no_pdf: str


def write_appendix(
    root: Path, target: Path, names: Sequence[str], host: str, preset: str
) -> Appendix:
    """Write the appendix of these papers, of all with results if none is named.

    `target` is a folder, which gets appendix.md and appendix.pdf, or the name of one of the two
    files. BenchbookError where a paper has no results.
    """
    papers = _papers(root, names, host, preset)
    base = target.with_suffix("") if target.suffix in SUFFIXES else target / NAME
    markdown, pdf = (base.with_name(f"{base.name}{suffix}") for suffix in SUFFIXES)
    text = nameless(
        appendix(papers, host_facts.commit(root), workflow_s(root / stage_times.NOTES, papers))
    )
    base.parent.mkdir(parents=True, exist_ok=True)
    write_text(markdown, text)
    pdf.unlink(missing_ok=True)  # an older one would show other numbers
    return Appendix(markdown, pdf, print_pdf(page(text), pdf))


def _papers(root: Path, names: Sequence[str], host: str, preset: str) -> list[Paper]:
    results = root / "results" / host / preset
    judged = [name for name in catalogue.in_turn(root) if (results / name / PAPER).exists()]
    if not judged:
        raise BenchbookError(f"{results} has no results; run `snakemake` first, or name --preset")
    for name in names:
        if name not in judged:
            there = ", ".join(judged)
            raise BenchbookError(f"{results} has no results of {name!r}; name one of {there}")
    return [read_paper(results / name / PAPER) for name in judged if not names or name in names]


def workflow_s(notes: Path, papers: Iterable[Paper]) -> float | None:
    """How long the workflow took that measured all of these papers, in seconds; None where its
    notes are gone, or several workflows measured them."""
    runs = [experiment["run"] for paper in papers for experiment in paper["experiments"].values()]
    return stage_times.workflow_s(notes, list(map(seconds_of, runs)))


def appendix(papers: Sequence[Paper], commit: str, took_s: float | None) -> str:
    """The Markdown of the appendix; `took_s` is what the whole workflow took here, if known."""
    lines = [f"# Artifact appendix: {_title(papers)}", "", "## Abstract", "", _abstract(papers), ""]
    lines += ["## Check-list", "", *_check_list(papers, commit, took_s), ""]
    lines += ["## What a reviewer types", "", *_commands(papers, commit), ""]
    lines += ["## How long it takes", "", *_times(papers, took_s), ""]
    lines += ["## Tolerance", "", *_tolerance(), ""]
    for paper in papers:
        lines += [*_claims(paper), ""]
    return "\n".join(lines)


def page(markdown: str) -> str:
    """The appendix as a page to print."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    renderer = IPythonRenderer(escape=True, exclude_anchor_links=True)
    body = Markup(MarkdownWithMath(renderer=renderer).render(markdown))
    return render(
        "appendix.html.j2", title="Artifact appendix", frame=frame(), body=body, environment=""
    )


def _title(papers: Sequence[Paper]) -> str:
    if len(papers) > 1:
        return number_format.plural(len(papers), "paper")
    return _plain(source_words.title(papers[0]))


def _abstract(papers: Sequence[Paper]) -> str:
    claims = [claim for paper in papers for claim in wording.all_claims(paper)]
    verdicts = Counter(claim["verdict"] for claim in claims)
    counted = [
        f"{verdicts[key]} {words}" for key, words in reasons.VERDICTS.items() if verdicts[key]
    ]
    titles = number_format.listed([_plain(source_words.title(paper)) for paper in papers])
    return (
        f"Benchbook measures again what {titles} reports. "
        f"It judges {number_format.plural(len(claims), 'claim')}: "
        f"{number_format.listed(counted) or 'none could be judged'} on the machine named below."
    )


def _check_list(papers: Sequence[Paper], commit: str, took_s: float | None) -> list[str]:
    experiments = [run for paper in papers for run in paper["experiments"].values()]
    facts: dict[str, Any] = next((run["facts"] for run in experiments if run["facts"]), {})
    names = list(dict.fromkeys(name for paper in papers for name in paper["experiments"]))
    asking = sum(bool(claim["requires"]) for paper in papers for claim in wording.all_claims(paper))
    hardware = ANY_HARDWARE
    if asking:
        needed = number_format.plural(asking, "claim")
        hardware += f"; more is needed by {needed}, as the tables of claims say"
    time = f"{_minutes(took_s)} for all of it" if took_s else "see below"
    items = {
        "Program": f"Benchbook at {_version(commit)}; kernels {number_format.listed(names)}",
        "Environment": wording.environment(experiments),
        "Hardware": hardware,
        "Measured on": _machine(facts),
        "Execution": "in rounds of random order, one measurement at a time, on a quiet machine",
        "Metrics": "ratios, times and rates, each with its 95 % confidence interval",
        "Output": "`reports/index.html`, and `results/` for programs",
        "Preset": number_format.listed(list(dict.fromkeys(paper["preset"] for paper in papers))),
        "Time": time,
        "Disk and memory": "`benchbook plan` names both before anything is measured",
        "Network": "for the set-up only",
    }
    return [
        f"- **{name}**: {value if '`' in value else _plain(value)}" for name, value in items.items()
    ]


def _version(commit: str) -> str:
    """The commit in words; + at its end means that files were changed."""
    changed = " with changes that are not committed" if commit.endswith("+") else ""
    return f"commit `{commit.rstrip('+') or 'unknown'}`{changed}"


def _machine(facts: dict[str, Any]) -> str:
    words = [facts.get("cpu_model") or "an unknown CPU"]
    if cores := facts.get("usable_cores"):
        words.append(number_format.plural(cores, "core"))
    if memory := facts.get("memory_total_bytes"):
        words.append(f"{memory / 2**30:.1f} GiB of memory")
    if cache := facts.get("llc_bytes"):
        words.append(f"{format_bytes(cache)} of last-level cache")
    words += [word for word in (facts.get("virtualisation"), facts.get("os")) if word]
    return ", ".join(words)


def _commands(papers: Sequence[Paper], commit: str) -> list[str]:
    preset, names = papers[0]["preset"], " ".join(paper["paper"] for paper in papers)
    checkout = [f"git checkout {commit.rstrip('+')}"] if commit.rstrip("+") else []
    return [
        "In a checkout of Benchbook, on Linux with git, make, gcc and Python 3.11 or later:",
        "",
        "```sh",
        *checkout,
        f"make PRESET={preset}",
        f"benchbook export --appendix mine --preset {preset} {names}",
        "```",
        "",
        "`make` names the packages that it needs, measures, and writes `reports/index.html`. "
        "The last line writes the tables below with the numbers of the reviewer's machine.",
    ]


def _times(papers: Sequence[Paper], took_s: float | None) -> list[str]:
    rows = []
    for paper in papers:
        runs = paper["experiments"].values()
        spent = sum((run["measuring_s"] or 0) + (run["probing_s"] or 0) for run in runs)
        rows.append(
            (f"`{paper['paper']}`", ", ".join(paper["experiments"]) or "none", _minutes(spent))
        )
    lines = _table(("paper", "experiments", "measuring here"), rows)
    if took_s:
        lines += ["", f"With building, analysis and pages, `make` took {_minutes(took_s)} here."]
    return lines


def _tolerance() -> list[str]:
    return [
        "Compare verdicts, not values: a value depends on the machine. A claim is reproduced if "
        "its 95 % confidence interval lies inside the region that counts as holding. It is not "
        "reproduced if the interval lies outside, and not decided if it extends past an edge."
    ]


def _claims(paper: Paper) -> list[str]:
    rows = [
        (
            _plain(_with_scope(claim)),
            _plain(f"{claim['unit']}: {claims_section.region(claim)}"),
            _plain(claims_section.value(claim)),
            _plain(_verdict(paper, claim)),
            _plain(claim["requires"] or ANY_HARDWARE),
        )
        for claim in wording.all_claims(paper)
    ]
    columns = (
        "claim",
        "counts as holding",
        "measured here (95 % interval)",
        "verdict here",
        "hardware",
    )
    head = [
        f"## Claims of {_plain(source_words.title(paper))}",
        "",
        _plain(source_words.byline(paper)),
    ]
    return [*head, "", *(_table(columns, rows) if rows else ["No claim in this preset."])]


def _with_scope(claim: dict[str, Any]) -> str:
    return (
        f"{claim['text'].strip()} ({claim['scope'].strip()})" if claim["scope"] else claim["text"]
    )


def _verdict(paper: Paper, claim: dict[str, Any]) -> str:
    """The verdict, with what it rests on, or why it could not be measured."""
    verdict, rests = reasons.VERDICTS[claim["verdict"]], claims_section.only(claim)
    if claim["verdict"] == "not_measurable_here" and not claim["requires"]:
        return f"{verdict}: {claims_section.why(paper, claim).rstrip('.')}"
    return f"{verdict}, {rests}" if rests else verdict


def _minutes(seconds: float) -> str:
    """`7.9 minutes`, or the seconds where they are few."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} minutes"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _plain(text: str) -> str:
    """Text on one line, no letter of which is a sign of Markdown or of HTML."""
    return _SIGNS.sub(r"\\\1", re.sub(r"[ \t\r\n\f\v]+", " ", text.strip()))
