"""reports/hosts.html: the verdicts of several hosts in one table, and what became of each kind of
nodes. A claim that is worded or bounded in another way on a host is another claim: a row of its
own."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchbook.core import number_format
from benchbook.core.files import read_json
from benchbook.fleet.node_checkout import node_checkout
from benchbook.fleet.outcome import State, read_outcome
from benchbook.judge.paper_json import PAPER, read_paper
from benchbook.report.index_page import write_page
from benchbook.report.sections import claims as claims_section

HOLDS = ("reproduced", "only", "resting")  # of claims_section.ORDER
PAGES = "pages.json"
Key = tuple[str, ...]


@dataclass(frozen=True)
class HostResults:
    """One host: its kind of nodes (or its own name), its papers, and why something lacks.

    `pages` is the folder of its pages, relative to the page of hosts; empty where it has none.
    """

    name: str
    host: str
    papers: list[dict[str, Any]]
    pages: str = ""
    reason: str = ""

    @property
    def harness(self) -> int:
        """The newest version of the harness that checked and timed its runs; 0 where unknown."""
        experiments = [run for paper in self.papers for run in paper["experiments"].values()]
        return max((run.get("harness") or 0 for run in experiments), default=0)

    @property
    def cpu(self) -> str:
        """The CPU as its runs recorded it; empty where there is no run."""
        for paper in self.papers:
            for experiment in paper["experiments"].values():
                if experiment["facts"]:
                    return str(experiment["facts"].get("cpu_model") or "")
        return ""


@dataclass
class ClaimRow:
    """A claim and its verdict on each host that judged it, by the host's name."""

    paper: str
    figure: str
    claim: str
    text: str
    verdicts: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """`holds on 3 of 4`: of the hosts that decided, and how many did not."""
        counted = Counter(self.verdicts.values())
        holds = sum(counted[verdict] for verdict in HOLDS)
        decided = holds + counted["not_reproduced"]
        rest = number_format.plural(len(self.verdicts) - decided, "host")
        undecided = f"not decided on {rest}" if decided < len(self.verdicts) else ""
        parts = [f"holds on {holds} of {decided}" if decided else "", undecided]
        return ", ".join(filter(None, parts))


def make_hosts(root: Path, kinds: list[str], preset: str, output: Path) -> None:
    """Write the page of all hosts that have results of a preset (`tiny`, or one figure's folder),
    the kinds of nodes first."""
    hosts = [_of_kind(root, kind, preset, output) for kind in kinds]
    named = {host.host for host in hosts if host.host}
    hosts += [
        HostResults(folder.name, folder.name, papers)
        for folder in sorted((root / "results").glob("*/"))
        if folder.name not in named and (papers := _papers(folder / preset))
    ]
    hosts = of_one_harness(hosts)
    rows = claim_rows(hosts)
    with_verdicts = [host for host in hosts if host.papers]
    everywhere = sum(
        len(row.verdicts) == len(with_verdicts) and set(row.verdicts.values()) <= set(HOLDS)
        for row in rows
    )
    write_page(
        output,
        "hosts.html.j2",
        # Without pages of this host there is no index to lead to, and this is the first page.
        "Hosts" if output.with_name("index.html").exists() else "Benchbook",
        hosts=hosts,
        measured=with_verdicts,
        rows=rows,
        everywhere=everywhere,
        preset=preset.split("/")[0],
        one_figure="/" in preset,
        differ=sum(len(set(map(_side, row.verdicts.values())) - {None}) > 1 for row in rows),
        environment="",
    )


def of_one_harness(hosts: list[HostResults]) -> list[HostResults]:
    """The hosts; those that an older harness checked and timed lose their verdicts, with the
    reason."""
    newest = max((host.harness for host in hosts), default=0)
    return [
        host
        if not host.papers or host.harness in (0, newest)
        else replace(
            host,
            papers=[],
            reason=f"checked and timed by version {host.harness} of the harness, others by version "
            f"{newest}; measure it again",
        )
        for host in hosts
    ]


def claim_rows(hosts: list[HostResults]) -> list[ClaimRow]:
    """Each claim once, in the order of the papers, with the verdict of each host."""
    rows: dict[Key, ClaimRow] = {}
    for host in hosts:
        for paper in host.papers:
            for figure in paper["figures"]:
                for claim in figure["claims"]:
                    names = (paper["paper"], figure["id"], claim["claim"], claim["text"])
                    key = (*names, str(claim.get("region")))
                    row = rows.setdefault(key, ClaimRow(*names))
                    row.verdicts[host.name] = claims_section.verdict(claim)
    return list(rows.values())


def _side(verdict: str) -> bool | None:
    """Whether a claim holds; None where that is not decided."""
    return True if verdict in HOLDS else False if verdict == "not_reproduced" else None


def _of_kind(root: Path, kind: str, preset: str, output: Path) -> HostResults:
    checkout = node_checkout(root, kind)
    outcome = read_outcome(checkout, kind)
    pages = checkout / PAGES
    if outcome.state is not State.MEASURED:
        return HostResults(kind, outcome.host, [], reason=outcome.reason)
    if not pages.exists():
        why = f"measured, but its pages could not be made; fleet/{kind}/pages.log says why"
        return HostResults(kind, outcome.host, [], reason=why)
    folder = os.path.relpath(checkout / "reports", output.parent.absolute())
    papers = _papers(checkout / "results" / outcome.host / preset)
    return HostResults(kind, outcome.host, papers, folder, read_json(pages)["note"])


def _papers(folder: Path) -> list[dict[str, Any]]:
    return [read_paper(path) for path in sorted(folder.glob(f"*/{PAPER}"))]
