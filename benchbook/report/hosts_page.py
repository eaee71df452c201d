"""reports/hosts.html: the verdicts of several hosts in one table, and what became of each kind of
nodes. A claim that is worded or bounded in another way on a host is another claim: a row of its
own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchbook.core.files import read_json
from benchbook.fleet.node_checkout import node_checkout
from benchbook.fleet.outcome import State, read_outcome
from benchbook.judge.paper_json import PAPER, read_paper
from benchbook.report.index_page import verdict_counts, write_page
from benchbook.report.sections import first_screen, host_values
from benchbook.report.sections.host_values import HOLDS, ClaimRow

PAGES = "pages.json"
ASKED = ("region", "kind", "unit", "statistic")  # a claim that differs in one is another claim
Key = tuple[str, ...]


@dataclass(frozen=True)
class HostResults:
    """One host: its kind of nodes (or its own name), its papers, and why something lacks.

    `pages` is the folder of its pages, relative to the page of hosts; empty where it has none.
    `commit` is the version that measured, where it is known.
    """

    name: str
    host: str
    papers: list[dict[str, Any]]
    pages: str = ""
    reason: str = ""
    commit: str = ""

    @property
    def harness(self) -> int:
        """The newest version of the harness that checked and timed its runs; 0 where unknown."""
        experiments = [run for paper in self.papers for run in paper["experiments"].values()]
        return max((run.get("harness") or 0 for run in experiments), default=0)

    @property
    def cpu(self) -> str:
        """The CPU as its runs recorded it; empty where there is no run."""
        return str(self._facts.get("cpu_model") or "")

    @property
    def cores(self) -> int:
        """How many cores its runs could use; 0 where that is unknown."""
        return int(self._facts.get("usable_cores") or 0)

    @property
    def _facts(self) -> dict[str, Any]:
        experiments = [run for paper in self.papers for run in paper["experiments"].values()]
        return next((run["facts"] for run in experiments if run["facts"]), {})

    @property
    def days(self) -> list[str]:
        """The days on which its runs began, in their order."""
        experiments = [run for paper in self.papers for run in paper["experiments"].values()]
        return sorted({first_screen.day(run["run"]) for run in experiments})

    @property
    def verdicts(self) -> dict[str, int]:
        """How many claims have each verdict, in the order of pages."""
        return verdict_counts(self.papers)


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
    write_page(
        output,
        "hosts.html.j2",
        # Without pages of this host there is no index to lead to, and this is the first page.
        "Hosts" if output.with_name("index.html").exists() else "Benchbook",
        hosts=hosts,
        measured=with_verdicts,
        one_figure="/" in preset,
        preset=preset.split("/")[0],
        **verdict_context(rows, with_verdicts),
    )


def verdict_context(
    rows: list[ClaimRow], hosts: Sequence[HostResults], least: int = 2
) -> dict[str, Any]:
    """What the templates of the table of verdicts and of the pictures below it are filled with."""
    holding = [
        row
        for row in rows
        if len(row.claims) == len(hosts) and set(row.verdicts.values()) <= set(HOLDS)
    ]
    return {
        "rows": rows,
        "claims": _counted(rows),
        "everywhere": _counted(holding),
        "differ": _counted([row for row in rows if row.differs]),
        "values": host_values.values(rows, least=least),
        "environment": "",
    }


def _counted(rows: Sequence[ClaimRow]) -> int:
    """How many claims these rows are; one claim by several means, such as two libraries, counts
    once, as `wording.all_claims` has it."""
    names = set()
    for row in rows:
        claim = next(iter(row.claims.values()))
        own = claim.get("repeats") or f"{row.figure}/{row.claim}"
        names.add((row.paper, own, *(str(claim.get(what)) for what in ASKED)))
    return len(names)


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


def claim_rows(hosts: Sequence[HostResults]) -> list[ClaimRow]:
    """Each claim once, in the order of the papers, with the verdict of each host."""
    rows: dict[Key, ClaimRow] = {}
    for host in hosts:
        for paper in host.papers:
            for figure in paper["figures"]:
                for claim in figure["claims"]:
                    names = (paper["paper"], figure["id"], claim["claim"], claim["text"])
                    key = (*names, *(str(claim.get(what)) for what in ASKED))
                    row = rows.setdefault(key, ClaimRow(*names))
                    row.claims[host.name] = claim
    return list(rows.values())


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
