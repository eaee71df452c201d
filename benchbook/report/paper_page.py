"""What a paper's notebook calls: each function returns a section that Jupyter shows.

    from benchbook import page
    paper = page.open_paper("slocum2013-mbw")
    paper.first_screen()

The report stage names the results by the environment variable BENCHBOOK_PAPER; a notebook opened by
hand finds the newest ones of its paper by itself.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.core.errors import BenchbookError
from benchbook.core.sizes import format_bytes
from benchbook.core.units import RATE, TIME
from benchbook.judge.paper_json import read_paper
from benchbook.report import VARIABLE, wording
from benchbook.report.figure_tables import figure_csv, runs_csv, sweep_csv
from benchbook.report.plots.style import Picture
from benchbook.report.render import Html, data_address, part, svg_of
from benchbook.report.sections import (
    anomalies,
    builds,
    device_link,
    evidence,
    figure_charts,
    first_screen,
    grids,
    net_cost,
    paper_panels,
    percentiles,
    rank_traffic,
    recorded_runs,
    roofline,
    size_rule,
    source_words,
    swapped_labels,
    throughput,
    time_shares,
    timed_functions,
    titles,
    topology,
    traffic,
)
from benchbook.report.sections import answer as answer_section
from benchbook.report.sections import audit as audit_section
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections import sweeps as sweeps_section
from benchbook.report.sections import whole_machine as whole_machine_section
from benchbook.report.sections import why as why_section

if TYPE_CHECKING:  # pandas is loaded where a table is asked for
    from benchbook.report.paper_figure import PaperFigure

# What a page shows in the open, so that it stays within six screens of 1440x900.
MOST_CLAIMS = 16
FIGURES_PX = 1500
# Causes of a difference that no detector looks at yet; said, so that nobody takes them as excluded.
NOT_LOOKED_AT = (
    "how the pages lie in memory",
    "prefetching",
    "the paper’s own processor and cache sizes, where it does not state them",
)


def open_paper(name: str, recorded: str | Path = "", path: Path | None = None) -> PaperPage:
    """The results of a paper: of `recorded` runs (the folder of one, or of a host, relative to the
    checkout, such as data/recorded/<host>), else `path`, else what the report stage names, else the
    newest of this host.

    A recorded run is analysed anew, in a folder that goes with the page; BenchbookError says what
    of it is damaged or missing.
    """
    if recorded:
        from benchbook.judge.replay import replay

        kept = tempfile.TemporaryDirectory(prefix="benchbook-recorded-")
        replayed = replay(_checkout(), name, Path(recorded), Path(kept.name))
        return PaperPage(read_paper(replayed), kept)
    named = os.environ.get(VARIABLE)
    chosen = path or (Path(named) if named else newest(name))
    page = _read(chosen.absolute(), chosen.stat().st_mtime_ns)
    if page.content["paper"] != name:
        raise BenchbookError(f"{chosen} holds results of {page.content['paper']}, not of {name}")
    return page


@lru_cache(maxsize=1)
def _read(path: Path, _: int) -> PaperPage:
    """The page of a paper.json, kept while the file does not change: no picture is drawn twice."""
    return PaperPage(read_paper(path))


def _checkout() -> Path:
    """The checkout around the working folder, else the working folder."""
    here = Path.cwd()
    return next(
        (folder for folder in (here, *here.parents) if (folder / "Snakefile").exists()), here
    )


def newest(name: str) -> Path:
    """The newest paper.json of a paper in the checkout around the working folder."""
    root = _checkout()
    papers = sorted(
        root.glob(f"results/*/*/{name}/paper.json"), key=lambda path: path.stat().st_mtime
    )
    if not papers:
        raise BenchbookError(
            f"no results of {name} below {root / 'results'}; run `snakemake {name}` there first"
        )
    return papers[-1]


def _kind(figure: dict[str, Any]) -> str:
    """Which part of a page shows a figure."""
    if figure["grid"]:
        return "grid"
    return next((kind for kind in ("ranges", "recomputed") if figure[kind]), "figure")


def _title(paper: dict[str, Any], figure: dict[str, Any]) -> str:
    """What a figure shows, as a finding; empty where nothing of it was measured or drawn."""
    match _kind(figure):
        case "grid":
            return grids.title(paper, figure)
        case "figure":
            return titles.figure(paper, figure)
        case "ranges" if any(row["rerun"] is not None for row in figure["ranges"]):
            return titles.ranges(figure)
    return ""


@dataclass(frozen=True)
class PaperPage:
    """One paper's results, section by section; `content` is its paper.json."""

    content: dict[str, Any]
    # Where a replayed run's samples lie; the folder goes when nobody has the page any more.
    kept: tempfile.TemporaryDirectory[str] | None = None
    # Pictures by what draws them and of what: each stands on the page and in a file of its own.
    drawn: dict[tuple[str, str], Picture | None] = field(default_factory=dict, repr=False)

    def points(self, *, figure: str = "", **wanted: Any) -> Any:
        """What was measured: a pandas DataFrame with a row per point, filtered as `samples`.

        Columns: experiment, point, variant, twin, state, reason, blocks, samples, times of one call
        in ns and rates in bytes/s (each with its pointwise 95 % interval, low and high), best_ns,
        p10_ns, p90_ns, p99_ns and mean_ns within a start, one column per factor (sizes in bytes).
        Missing is NaN.
        """
        from benchbook.report import dataframes

        of = self._points_of(figure)
        return dataframes.filtered(dataframes.points(self.content), wanted, of)

    def samples(self, *, figure: str = "", clean: bool = False, **wanted: Any) -> Any:
        """Every timed repetition: a pandas DataFrame with a row per sample.

        `figure` keeps the samples behind one figure; `clean` drops warm-ups, control builds, and
        rounds that were disturbed or abandoned; any other argument is a column with the value (or
        the list of values) to keep, such as method="copy" or bytes="32 MiB".

        Columns: run, experiment, variant, twin, point, method, block, invocation, sample, process,
        warm_up, t_start_ns, time_ns (of `loops` calls), loops, bytes_declared (of them all),
        rate_bytes_per_s, state, disturbed, one column per factor. BenchbookError if the samples
        were removed, or a column is unknown.
        """
        from benchbook.report import dataframes

        table = dataframes.samples(self.content, _checkout())
        if clean:
            table = dataframes.clean(table)
        return dataframes.filtered(table, wanted, self._points_of(figure))

    def figure(self, name: str) -> PaperFigure:
        """One published table with its rerun: Jupyter shows its picture, `.table` is a DataFrame of
        its values and `.runs` one of the single runs behind them."""
        from benchbook.report.paper_figure import PaperFigure

        figure = self._named(name)
        title = _title(self.content, figure)
        return PaperFigure(figure, self.content["paper"], title, self._picture(figure))

    def _named(self, name: str) -> dict[str, Any]:
        """A figure of paper.json by its id; BenchbookError names all where there is none."""
        figures = {figure["id"]: figure for figure in self.content["figures"]}
        if name not in figures:
            raise BenchbookError(f"there is no figure {name!r}; figures are {', '.join(figures)}")
        return figures[name]

    def _points_of(self, figure: str) -> list[str] | None:
        """The points behind a figure; None where none is named."""
        from benchbook.report.paper_figure import points_of

        return points_of(self._named(figure)) if figure else None

    def _part(self, name: str, **context: Any) -> Html:
        context = {
            "wording": wording,
            "source_words": source_words,
            "titles": titles,
            "grids": grids,
            "findings": findings_section,
            "marks": findings_section.marks_of(self.content),
            **context,
        }
        return part(name, paper=self.content, **context)

    def _drawn(self, draw: Callable[..., Picture | None], which: str, *of: Any) -> Picture | None:
        """What `draw` makes of this paper and `of`, which is called `which`; drawn once."""
        key = f"{draw.__module__}.{draw.__qualname__}", which
        if key not in self.drawn:
            self.drawn[key] = draw(self.content, *of)
        return self.drawn[key]

    def first_screen(self) -> Html:
        """The question, the verdict, three sentences, a chart of that claim, and the conditions."""
        drawn = first_screen.charts(self.content)
        counts = Counter(claims_section.verdict(c) for c in wording.all_claims(self.content))
        return self._part(
            "first_screen",
            screen=first_screen,
            charts=drawn,
            heading=answer_section.headline(self.content),
            all={name: counts[name] for name in claims_section.ORDER if counts[name]},
            warning=wording.disturbance_warning(self.content["experiments"]),
        )

    def answer(self) -> Html:
        """Did it hold here, and why: the first paragraph."""
        return self._part("answer", paragraphs=answer_section.answer(self.content))

    def overview(self) -> Html:
        """The first picture: all figures as ratios, published beside rerun."""
        picture = self._drawn(paper_panels.overview, "")
        return self._part(
            "overview", svg=svg_of(picture), where=paper_panels.how_to_read(self.content["figures"])
        )

    def forms(self) -> Html:
        """What each form really did."""
        return self._of_rates("forms", paper_panels.forms)

    def odd(self) -> Html:
        """What remains odd: pairs that do the same work at different rates."""
        pairs = [pair for e in self.content["experiments"].values() for pair in e["odd"]["pairs"]]
        faults: dict[str, list[str]] = {}
        calls: dict[str, None] = {}
        for pair in pairs:
            sides = pair["top"], pair["bottom"]
            seen = [wording.observations(self.content, side).get("minor_faults") for side in sides]
            text = "none on either side" if seen == [0, 0] else f"{seen[0]} and {seen[1]}"
            faults.setdefault(text, []).append(paper_panels.pair_name(self.content, pair))
            for side in sides:
                made = timed_functions.compiled_form(
                    wording.experiment_of(self.content, side), side
                )
                calls[f"{wording.method_name(self.content, side)}: {made}"] = None
        return self._of_rates(
            "odd",
            paper_panels.odd,
            pair_name=paper_panels.pair_name,
            faults=faults,
            calls=list(calls),
            not_looked_at=NOT_LOOKED_AT,
            swapped_labels=swapped_labels,
        )

    def sweep(self) -> Html:
        """Rate by size, where the preset measures enough sizes."""
        return self._of_rates("sweep", paper_panels.sweep)

    def sweeps(self) -> Html:
        """Times along the factors that the paper names, and what each step adds."""
        drawn = []
        for sweep in self.content["sweeps"]:
            svg = svg_of(self._drawn(sweeps_section.picture, sweep["id"], sweep))
            drawn.append((sweep, svg, data_address(sweep_csv(sweep), "text/csv")))
        return self._part("sweeps", sweeps=drawn, sweeps_section=sweeps_section)

    def spreads(self) -> Html:
        """Every point whose quantity is a time, with the percentiles of its samples."""
        rows = {
            name: percentiles.rows(self.content, name)
            for name, experiment in self.content["experiments"].items()
            if experiment["quantity"] == TIME
        }
        measured = {name: points for name, points in rows.items() if points}
        return self._part("spreads", measured=measured, percentiles=percentiles)

    def net(self) -> Html:
        """What calls cost without the loop around them."""
        return self._each("net", None, net_cost=net_cost)

    def rank_traffic(self) -> Html:
        """What ranks of MPI sent each other, and where their time went."""
        sections = [
            self._part(
                "rank_traffic",
                which=name,
                svg=svg_of(self._drawn(rank_traffic.picture, name, name)),
                rank_traffic=rank_traffic,
            ).html
            for name in self.content["experiments"]
        ]
        return Html("\n".join(sections))

    def time_shares(self) -> Html:
        """The parts of the time that programs measured themselves, as stacked bars."""
        bars = {name: time_shares.bars(self.content, name) for name in self.content["experiments"]}
        drawn = {name: shown for name, shown in bars.items() if shown}
        return self._part("time_shares", drawn=drawn, time_shares=time_shares)

    def sizing(self) -> Html:
        """Rate by size beside the paper's rule for it, with ceilings and caches."""
        return self._of_rates("sizing", size_rule.picture, size_rule=size_rule)

    def flags(self) -> Html:
        """What compilers and flags change, setting by setting."""
        experiments = self.content["experiments"]
        by_experiment = {
            key: builds.entries_by_setting(experiment) for key, experiment in experiments.items()
        }
        compared = [key for key, settings in by_experiment.items() if settings]
        sections = []
        for key in compared or list(experiments)[:1]:
            experiment = experiments[key]
            settings = {
                name: [
                    (entry, svg_of(builds.picture(self.content, experiment, entry)))
                    for entry in entries
                ]
                for name, entries in by_experiment[key].items()
            }
            context = {"which": key, "several": len(compared) > 1, "builds": builds}
            part = self._part("flags", experiment=experiment, settings=settings, **context)
            sections.append(part.html)
        return Html("\n".join(sections))

    def limits(self) -> Html:
        """The sizes of static arrays at which compiler and linker refuse."""
        return self._each("limits", None, builds=builds)

    def trials(self) -> Html:
        """What became of arrays beyond memory."""
        return self._each("trials", None, builds=builds)

    def whole_machine(self) -> Html:
        """All cores by processes: averages summed beside bytes ÷ wall time."""
        return self._of_rates("whole_machine", None, whole_machine=whole_machine_section)

    def throughput(self) -> Html:
        """How much goes through the same network, by iperf3, and where the rest was lost."""
        return self._each("throughput", None, throughput=throughput)

    def moved(self) -> Html:
        """Declared bytes against bytes and lines moved, each value with its source and state."""
        return self._of_rates(
            "moved", roofline.picture, evidence=evidence, traffic=traffic, roofline=roofline
        )

    def _of_rates(self, name: str, draw: Any, **context: Any) -> Html:
        """`_each`, of the experiments whose figures are rates: bytes that are moved."""
        return self._each(name, draw, of=RATE, **context)

    def link(self) -> Html:
        """Devices, what their link carries, and what reached it."""
        return self._each("link", None, device_link=device_link, recorded_runs=recorded_runs)

    def _each(self, name: str, draw: Any, of: str = "", **context: Any) -> Html:
        """The part of this name for each experiment (`of` one quantity), with the picture that
        `draw` makes of it."""
        sections = []
        for key, experiment in self.content["experiments"].items():
            if of and experiment["quantity"] != of:
                continue
            svg = svg_of(self._drawn(draw, key, experiment)) if draw else None
            more = {"which": key, "experiment": experiment, "svg": svg, **context}
            sections.append(self._part(name, **more).html)
        return Html("\n".join(sections))

    def claims(self) -> Html:
        """All claims in one table, sorted by decision; each opens its evidence."""
        every = wording.all_claims(self.content)
        every.sort(key=lambda claim: claims_section.ORDER.index(claims_section.verdict(claim)))
        counts = Counter(claims_section.verdict(claim) for claim in every)
        return self._part(
            "claims_table",
            claims=every,
            counts={name: counts[name] for name in claims_section.ORDER if counts[name]},
            nulls={figure["id"]: figure["null"] for figure in self.content["figures"]},
            claims_section=claims_section,
            screen=first_screen,
            later=claims_section.later(every, MOST_CLAIMS),
        )

    def figures(self) -> Html:
        """A chart of each published table, published and here together; its table folded."""
        figures = self.content["figures"]
        emulated = sorted({row["emulates"] for figure in figures for row in figure["rows"]} - {""})
        return self._part(
            "figures",
            figures=self._shown_or_folded(figures),
            hollow="; ".join(emulated),
            imported=any(figure["imported"] and not figure["grid"] for figure in figures),
        )

    def _shown_or_folded(self, figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What the page shows of each figure; those that were rerun and have no more room in
        FIGURES_PX are folded."""
        shown = [self._shown(figure) for figure in figures]
        room = FIGURES_PX
        for entry in shown:
            if entry["rerun"]:
                room -= figure_charts.height(entry["drawn"])
                entry["folded"] = room < 0
        return shown

    def _shown(self, figure: dict[str, Any]) -> dict[str, Any]:
        """What the page shows of a figure: its chart and title, a note, and its files."""
        name = figure["id"]
        picture = self._picture(figure)
        kept = [(f"{name}.csv", data_address(figure_csv(figure), "text/csv"))]
        if figure["rows"]:
            kept.append((f"{name}-runs.csv", data_address(runs_csv(figure), "text/csv")))
        if picture:
            kept.append((f"{name}.svg", data_address(picture.svg, "image/svg+xml")))
        return {
            "figure": figure,
            "rerun": figure_charts.is_rerun(figure),
            "folded": False,
            "drawn": figure_charts.of(self.content, figure),
            "title": _title(self.content, figure),
            "note": figure_charts.note(self.content, figure),
            "files": kept,
        }

    def why(self) -> Html:
        """The causes of the page's factor as a waterfall, and three sentences."""
        shown = why_section.anomaly_of(self.content)
        drawn = why_section.waterfall(self.content, shown[1]) if shown else None
        return self._part(
            "why",
            sentences=why_section.sentences(self.content),
            drawn=drawn,
            title=anomalies.title(self.content, shown[1]) if shown else "",
            anchor=f"{shown[0]}-{shown[1]['id']}" if shown else "",
        )

    def method(self) -> Html:
        """How it was measured, how to cite it, and where its data are."""
        up = "../../../" if self.content["figure"] else "../"
        return self._part("method", up=up, citation=first_screen.citation(self.content))

    def tables(self) -> Html:
        """Every published table in full: cells, causes, samples by state, recorded runs."""
        tables: set[str] = set()
        sections = []
        for figure in self.content["figures"]:
            context = {
                "figure": figure,
                "experiment": self.content["experiments"][figure["experiment"]],
                "svg": svg_of(self._picture(figure)),
                "swapped_labels": swapped_labels,
                "where": paper_panels.how_to_read([figure])
                + paper_panels.how_to_read_imported(figure)
                + recorded_runs.how_to_read(figure),
                "theirs": recorded_runs.how_to_read(figure),
                "anomalies": anomalies,
                "chains": self._chains(figure),
                "csv": data_address(figure_csv(figure), "text/csv"),
            }
            kind = _kind(figure)
            if kind == "grid":
                matrix = grids.matrix(self.content, figure)
                context |= {"matrix": matrix, "again": figure["table"] in tables}
            tables.add(figure["table"])
            more = []
            if figure["imported"]:
                more.append(self._part("imported", figure=figure, size=format_bytes).html)
            if figure["recorded"]:
                more.append(self._part("recorded", figure=figure, recorded_runs=recorded_runs).html)
            sections.append(self._part(kind, more="\n".join(more), **context).html)
        return Html("<h2>Table by table</h2>\n" + "\n".join(sections))

    def _chains(self, figure: dict[str, Any]) -> list[tuple[dict[str, Any], Any]]:
        """The figure's anomalies with their pictures."""
        return [(anomaly, svg_of(self._chain(figure, anomaly))) for anomaly in figure["explained"]]

    def _chain(self, figure: dict[str, Any], anomaly: dict[str, Any]) -> Picture | None:
        name = anomalies.file_name(figure["id"], anomaly)
        return self._drawn(anomalies.picture, name, figure["id"], anomaly)

    def _picture(self, figure: dict[str, Any]) -> Picture | None:
        draws = {
            "grid": grids.picture,
            "ranges": paper_panels.ranges,
            "figure": paper_panels.values,
        }
        draw = draws.get(_kind(figure))
        return self._drawn(draw, figure["id"], figure) if draw else None

    def calls(self) -> Html:
        """Which function stands for which row, and what the compilers made of it."""
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        # Copies may become calls; what a time is made of, nobody mistakes for another function.
        rates = [figure for figure in self.content["figures"] if figure["quantity"] == RATE]
        for figure in rates:
            for row in figure["rows"]:
                if row["point"]:
                    experiment = wording.experiment_of(self.content, row["point"])
                    name = timed_functions.name_of(experiment, row["point"])
                    key = wording.parts_of(row["point"])["variant"], name
                    labels = rows.setdefault(key, {"labels": [], "point": row["point"]})["labels"]
                    label = row["group"] or row["label"]
                    labels += [label] if label not in labels else []
        return self._part("calls", rows=rows, timed_functions=timed_functions)

    def audit(self) -> Html:
        """The source's own numbers, recomputed by rules: slips, then the checks behind them."""
        return self._part("audit", audit=audit_section)

    def findings(self) -> Html:
        """What went wrong: each artefact that was found, once, as a card."""
        marks = findings_section.marks_of(self.content)
        every = [*marks.head, *marks.every, *marks.run]
        grave = [mark for mark in every if mark.shown and mark.effect != "informs"]
        return self._part(
            "findings",
            grave=grave,
            others=[mark for mark in every if mark not in grave],
            effects=findings_section.EFFECTS,
        )

    def failures(self) -> Html:
        """Points that failed or could not run, by reason; nothing is hidden."""
        by_state: dict[str, list[tuple[str, str]]] = {}
        for point in self.content["points"]:
            if point["state"] != "ok":
                state = wording.state_in_words(point)
                by_state.setdefault(state, []).append((point["reason"], point["point"]))
        reasons = {state: wording.by_reason(points) for state, points in by_state.items()}
        troubled = [p for p in self.content["points"] if p["state"] == "ok" and p["reason"]]
        return self._part("failures", reasons=reasons, troubled=troubled)

    def open(self) -> Html:
        """Published tables whose experiments are not built or recorded yet."""
        return self._part("open", audit=audit_section)

    def conditions(self) -> Html:
        """What the source states of its own machine and method."""
        return self._part("conditions")

    def machine(self) -> Html:
        """This machine, its compilers, and how the run went."""
        facts = (experiment["facts"] for experiment in self.content["experiments"].values())
        return self._part("machine", topology=topology.section(next(filter(None, facts), None)))

    def pictures(self) -> dict[str, Picture]:
        """File name -> picture: each figure, and the sweep where there is one."""
        figures = self.content["figures"]
        drawn = {figure["id"]: self._picture(figure) for figure in figures}
        drawn |= {
            anomalies.file_name(figure["id"], anomaly): self._chain(figure, anomaly)
            for figure in figures
            for anomaly in figure["explained"]
        }
        if not self.content["figure"]:
            drawn["overview"] = self._drawn(paper_panels.overview, "")
            drawn |= {
                sweep["id"]: self._drawn(sweeps_section.picture, sweep["id"], sweep)
                for sweep in self.content["sweeps"]
            }
            for key, experiment in self.content["experiments"].items():
                if experiment["quantity"] != RATE:
                    continue
                draw_sizes = size_rule.picture if self.content["sizing"] else paper_panels.sweep
                drawn |= {
                    "size-sweep": self._drawn(draw_sizes, key, experiment),
                    "forms": self._drawn(paper_panels.forms, key, experiment),
                    "odd": self._drawn(paper_panels.odd, key, experiment),
                    "what-moved": self._drawn(roofline.picture, key, experiment),
                }
        return {name: picture for name, picture in drawn.items() if picture}
