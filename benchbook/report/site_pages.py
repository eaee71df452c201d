"""The pages of a site of several archives: the gallery, and each machine among the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.report.hosts_page import HostResults, claim_rows, verdict_context
from benchbook.report.index_page import card, write_page
from benchbook.report.sections import host_values


def make_gallery(output: Path, hosts: Sequence[HostResults], preset: str) -> None:
    """The first page: all machines, their verdicts, and a picture per claim."""
    write_page(
        output,
        "site.html.j2",
        "Benchbook",
        hosts=hosts,
        measured=hosts,
        one_figure=False,
        preset=preset,
        **verdict_context(claim_rows(hosts), hosts, least=1),
    )


def make_host(output: Path, host: HostResults, hosts: Sequence[HostResults], preset: str) -> None:
    """A machine's first page: its papers, and its value among those of all hosts."""
    write_page(
        output,
        "site_host.html.j2",
        f"{host.name} among {len(hosts)}",
        host=host,
        machines=len(hosts),
        preset=preset,
        cards=list(map(card, host.papers)),
        values=host_values.values(claim_rows(hosts), host.name),
        environment="",
    )
