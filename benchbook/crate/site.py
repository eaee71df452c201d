"""`benchbook export --site`: a static site of archives that others sent, each checked before.

Every archive is a stranger's. Its pages, notebooks and programs are not used: what a page shows was
computed anew from the raw samples, and is filled into the templates of this checkout.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_text
from benchbook.core.processes import on_every_cpu
from benchbook.crate import contents
from benchbook.crate.contents import Index
from benchbook.crate.verify import recomputed
from benchbook.define import catalogue
from benchbook.host import facts
from benchbook.judge.paper_json import PAPER, read_paper
from benchbook.plan.plan import HARNESS_VERSION
from benchbook.report.hosts_page import HostResults, of_one_harness
from benchbook.report.machine_page import make_machine
from benchbook.report.notebook_export import make_page
from benchbook.report.site_pages import make_gallery, make_host
from benchbook.report.wording import Paper

HOSTS = "hosts"  # the folder of the machines' pages: a name out of an archive is none of ours
# What a stranger's samples can make a page fail with.
MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)
_LINK = re.compile(r'<a [^>]*?href="([^"#:]+)(?:#[^"]*)?"[^>]*>(.*?)</a>', re.DOTALL)


@dataclass(frozen=True)
class Site:
    """The folder of the site, the machines on it, and a sentence per refused archive; without a
    machine there is no folder."""

    path: Path
    hosts: list[str]
    refused: list[str]


@dataclass(frozen=True)
class Contribution:
    """An archive that was checked: its index, the folder with what was computed anew, and the
    machine as the pages have it."""

    archive: Path
    index: Index
    results: Path
    host: HostResults


@dataclass(frozen=True)
class _Page:
    """A paper's page that is to be made, by a process of its own."""

    notebook: Path
    paper: Path
    executed: Path
    output: Path


def make_site(root: Path, target: Path, archives: Sequence[Path]) -> Site:
    """Write a site of the archives that pass all checks; the others are refused with a reason.

    `target` is a folder that is not there yet. Where no archive passes, nothing is written.
    """
    if target.exists():
        raise BenchbookError(f"{target} exists; name another place, or remove it first")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        refused: list[str] = []
        checked = _checked(root, archives, draft / "read", refused)
        shown = _with_pages(root, _of_one_harness(checked, refused), draft / "site", refused)
        if not shown:
            return Site(target, [], refused)
        hosts, preset = [made.host for made in shown], shown[0].index.preset
        for host in hosts:
            make_host(draft / "site" / host.pages / "index.html", host, hosts, preset)
        make_gallery(draft / "site/index.html", hosts, preset)
        _remove_dead_links(draft / "site")
        (draft / "site").replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Site(target, [host.name for host in hosts], refused)


def _checked(
    root: Path, archives: Sequence[Path], scratch: Path, refused: list[str]
) -> list[Contribution]:
    """The archives that are whole, whose verdicts follow from their samples, and that fit to those
    before them."""
    checked: list[Contribution] = []
    for number, path in enumerate(archives):
        try:
            checked.append(_contribution(root, path, scratch / str(number), checked))
        except BenchbookError as error:
            refused.append(_of(path, error))
    return checked


def _of(path: Path, error: Exception) -> str:
    """Why an archive is refused, as one line that names it."""
    text = "".join(letter if letter.isprintable() else "?" for letter in str(error))
    return text if text.startswith(f"{path}: ") else f"{path}: {text}"


def _contribution(
    root: Path, path: Path, results: Path, before: Sequence[Contribution]
) -> Contribution:
    with recomputed(path) as (verified, top):
        index = verified.index
        if verified.differences:
            raise BenchbookError(f"{verified.differences[0].sentence()}{_version(root, index)}")
        _refuse_misfit(root, index, before)
        shutil.move(top / index.results, results)
    papers = [read_paper(results / name / PAPER) for name in index.papers]
    for made in before:
        _refuse_other_methods(papers, made)
    names = [made.host.name for made in before]
    name = next(
        name
        for name in (index.host, *(f"{index.host}-{number}" for number in range(2, 10**6)))
        if name not in names
    )
    host = HostResults(name, index.host, papers, f"{HOSTS}/{name}", commit=index.commit)
    _refuse_odd_facts(host)
    return Contribution(path, index, results, host)


def _version(root: Path, index: Index) -> str:
    """That another version made the archive, where it did."""
    if index.commit == facts.commit(root):
        return ""
    return f"; it was made by commit {index.commit or 'unknown'}, which may judge otherwise"


def _refuse_misfit(root: Path, index: Index, before: Sequence[Contribution]) -> None:
    """Refuse what has nothing to show, or cannot stand next to the archives before it."""
    if not index.papers:
        raise BenchbookError("it holds no paper, so it has no claim to show")
    unknown = sorted(set(index.papers) - set(catalogue.papers(root)))
    if unknown:
        raise BenchbookError(f"its paper {unknown[0]} is not in this checkout")
    for made in before:
        if index.preset != made.index.preset:
            raise BenchbookError(
                f"its preset is {index.preset}, and that of {made.archive} is "
                f"{made.index.preset}; make a site for each preset"
            )
        same = {run.run for run in index.runs} & {run.run for run in made.index.runs}
        if same:
            raise BenchbookError(f"it holds the run {min(same)}, which {made.archive} holds too")


def _refuse_odd_facts(host: HostResults) -> None:
    """Refuse what no host can say of itself, and runs of a harness that is newer than ours."""
    try:
        known = isinstance(host.harness, int) and host.harness <= HARNESS_VERSION
        read = f"{host.cpu}{host.cores}{host.days}"
    except MALFORMED as error:
        raise BenchbookError(f"the facts of its host are odd ({type(error).__name__})") from None
    if not read.isprintable():
        raise BenchbookError("the facts of its host have letters that cannot be printed")
    if not known:
        raise BenchbookError(
            f"version {host.harness} of the harness measured it; this checkout has version "
            f"{HARNESS_VERSION}"
        )


def _refuse_other_methods(papers: Sequence[Paper], before: Contribution) -> None:
    """Refuse an archive whose experiments define a method in other words than one before it."""
    there = {
        name: run for paper in before.host.papers for name, run in paper["experiments"].items()
    }
    for paper in papers:
        for name, run in paper["experiments"].items():
            others = there.get(name, {"definitions": {}, "quantity": run["quantity"]})
            shared = run["definitions"].keys() & others["definitions"].keys()
            differ = [
                key for key in shared if run["definitions"][key] != others["definitions"][key]
            ]
            if differ or run["quantity"] != others["quantity"]:
                what = f"{min(differ)} of {name}" if differ else f"what {name} measures"
                raise BenchbookError(f"it defines {what} in another way than {before.archive}")


def _of_one_harness(checked: list[Contribution], refused: list[str]) -> list[Contribution]:
    hosts = of_one_harness([made.host for made in checked])
    pairs = list(zip(checked, hosts, strict=True))
    refused += [f"{made.archive}: {host.reason}" for made, host in pairs if not host.papers]
    return [made for made, host in pairs if host.papers]


def _with_pages(
    root: Path, checked: list[Contribution], site: Path, refused: list[str]
) -> list[Contribution]:
    """Make the pages of each machine; those of one that cannot be made are removed."""
    pages = [
        _Page(
            root / "notebooks" / f"{name}.ipynb",
            made.results / name / PAPER,
            made.results / name / "executed.ipynb",
            site / made.host.pages / f"{name}.html",
        )
        for made in checked
        for name in made.index.papers
    ]
    failed = {page.output.parent: why for page, why in zip(pages, _made(pages), strict=True) if why}
    shown = []
    for made in checked:
        folder = site / made.host.pages
        why = failed.get(folder) or _machine(made, folder / "machine.html")
        if why:
            shutil.rmtree(folder, ignore_errors=True)
            refused.append(f"{made.archive}: its pages cannot be made ({why})")
        else:
            shown.append(made)
        # No page leads to these pictures and tables, and each page holds its own.
        shutil.rmtree(folder / "figures", ignore_errors=True)
    return shown


def _made(pages: list[_Page]) -> list[str]:
    """Why each page could not be made; empty where it was."""
    return on_every_cpu(_make, pages) if pages else []


def _make(page: _Page) -> str:
    try:
        make_page(page.notebook, page.paper, page.executed, page.output)
    except (*MALFORMED, BenchbookError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _machine(made: Contribution, output: Path) -> str:
    """Make the page of a machine, and try the pages that it shares with others, which one machine
    must not spoil; returns why that was not possible."""
    analyses = [made.results / name / contents.ANALYSIS for name in made.index.experiments]
    papers = [made.results / name / PAPER for name in made.index.papers]
    try:
        make_machine([*analyses, *papers], output)
        make_gallery(output.with_name("index.html"), [made.host], made.index.preset)
        make_host(output.with_name("index.html"), made.host, [made.host], made.index.preset)
    except (*MALFORMED, BenchbookError, jinja2.TemplateError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _remove_dead_links(site: Path) -> None:
    """Keep the words alone of links to pages and files that the site does not have."""
    top = site.resolve()
    for page in sorted(site.rglob("*.html")):
        html = page.read_text(encoding="utf-8")

        def kept(link: re.Match[str], folder: Path = page.parent) -> str:
            there = (folder / link[1]).resolve()
            return link[0] if there.is_relative_to(top) and there.exists() else link[2]

        write_text(page, _LINK.sub(kept, html))
