"""What a paper's notebook calls: each function returns a section that Jupyter shows.

    from benchbook import page
    paper = page.open_paper("slocum2013-mbw")
    paper.title()

The report stage names the results by the environment variable BENCHBOOK_PAPER; a notebook opened by
hand finds the newest ones of its paper by itself.
"""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook import digits
from benchbook.errors import BenchbookError
from benchbook.files import read_json
from benchbook.pages import panels, prose, titles
from benchbook.pages.plots import Picture
from benchbook.pages.render import Html, data_address, part, svg_of

VARIABLE = "BENCHBOOK_PAPER"
# Causes of a difference that no detector looks at yet; said, so that nobody takes them as excluded.
NOT_LOOKED_AT = (
    "whether the C library takes another way of copying by size (rep movsb, non-temporal stores)",
    "huge pages, and how the pages lie in memory",
    "prefetching, and hardware counters of any kind",
    "the paper’s own processor and cache sizes, where it does not state them",
)


def open_paper(name: str, path: Path | None = None) -> PaperPage:
    """The results of a paper: `path`, else what the report stage names, else the newest."""
    named = os.environ.get(VARIABLE)
    chosen = path or (Path(named) if named else newest(name))
    content = read_json(chosen)
    if content["paper"] != name:
        raise BenchbookError(f"{chosen} holds results of {content['paper']}, not of {name}")
    return PaperPage(content)


def newest(name: str) -> Path:
    """The newest paper.json of a paper in the checkout around the working folder."""
    here = Path.cwd()
    root = next((one for one in (here, *here.parents) if (one / "Snakefile").exists()), here)
    found = sorted(root.glob(f"results/*/*/{name}/paper.json"), key=lambda one: one.stat().st_mtime)
    if not found:
        raise BenchbookError(
            f"no results of {name} below {root / 'results'}; run `snakemake {name}` there first"
        )
    return found[-1]


def figure_csv(figure: dict[str, Any]) -> str:
    """A figure's rows as CSV: printed beside rerun, the unit in the column names."""
    unit = re.sub(r"\W+", "_", figure["y_unit"].replace("/", " per ")).strip("_").lower()
    names = {
        "printed": f"printed_{unit}",
        "rerun": f"rerun_{unit}",
        "low": f"rerun_low95_{unit}",
        "high": f"rerun_high95_{unit}",
        "paper_statistic": f"rerun_mean_of_n_{unit}",
        "paper_samples": "n",
        "blocks": "blocks",
        "printed_ratio": "printed_ratio",
    }
    columns = [figure["x"], *names.values(), "rerun_ratio", "rerun_ratio_low95"]
    columns += ["rerun_ratio_high95", "point", "state", "reason"]
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(columns)
    for row in figure["rows"]:
        ratio = row["ratio"] or {}
        table.writerow(
            [row["label"], *(row[key] for key in names)]
            + [ratio.get(key) for key in ("ratio", "low95", "high95")]
            + [row["point"], row["state"], row["reason"]]
        )
    return stream.getvalue()


@dataclass(frozen=True)
class PaperPage:
    """One paper's results, section by section; `content` is its paper.json."""

    content: dict[str, Any]

    def _part(self, name: str, **context: Any) -> Html:
        return part(name, paper=self.content, prose=prose, titles=titles, **context)

    def title(self) -> Html:
        """The finding, the source and the conditions of this rerun in a line."""
        return self._part("title", headline=prose.headline(self.content))

    def answer(self) -> Html:
        """Did it hold here, and why: the first paragraph."""
        warnings = [prose.quietness(one) for one in self.content["experiments"].values()]
        return self._part(
            "answer", said=prose.answer(self.content), warnings=[one for one in warnings if one]
        )

    def overview(self) -> Html:
        """The first picture: all figures as ratios, published beside rerun."""
        picture = panels.overview(self.content)
        return self._part("overview", svg=svg_of(picture), where=panels.where(self.content))

    def forms(self) -> Html:
        """What each form really did."""
        return self._each("forms", panels.forms)

    def odd(self) -> Html:
        """What remains odd: pairs that do the same work at different rates."""
        pairs = [one for e in self.content["experiments"].values() for one in e["odd"]["pairs"]]
        faults: dict[str, list[str]] = {}
        calls: dict[str, None] = {}
        for pair in pairs:
            sides = pair["top"], pair["bottom"]
            seen = [prose.observations(self.content, side).get("minor_faults") for side in sides]
            text = "none on either side" if seen == [0, 0] else f"{seen[0]} and {seen[1]}"
            faults.setdefault(text, []).append(panels.pair_name(self.content, pair))
            for side in sides:
                made = timed_function(prose.experiment_of(self.content, side), side)
                calls[f"{prose.method_name(self.content, side)}: {made}"] = None
        return self._each(
            "odd",
            panels.odd,
            pair_name=panels.pair_name,
            faults=faults,
            calls=list(calls),
            not_looked_at=NOT_LOOKED_AT,
        )

    def sweep(self) -> Html:
        """Rate by size, where the preset measures enough sizes."""
        return self._each("sweep", panels.sweep)

    def _each(self, name: str, draw: Any, **context: Any) -> Html:
        sections = [
            self._part(name, experiment=one, svg=svg_of(draw(self.content, one)), **context).html
            for one in self.content["experiments"].values()
        ]
        return Html("\n".join(sections))

    def figures(self) -> Html:
        """Every published table: picture, table, claims with verdicts, and how to rerun it."""
        sections = [
            self._part(
                "figure",
                figure=figure,
                experiment=self.content["experiments"][figure["experiment"]],
                svg=svg_of(panels.rates(self.content, figure)),
                claims=[
                    (claim, svg_of(panels.claim(self.content, claim, figure["null"])))
                    for claim in figure["claims"]
                ],
                where=panels.where(self.content),
                csv=data_address(figure_csv(figure), "text/csv"),
            ).html
            for figure in self.content["figures"]
        ]
        return Html("<h2>Table by table</h2>\n" + "\n".join(sections))

    def calls(self) -> Html:
        """Which function stands for which row, and what the compilers made of it."""
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for figure in self.content["figures"]:
            for row in figure["rows"]:
                if row["point"]:
                    key = prose.parts_of(row["point"])["variant"], function_of(row["point"])
                    labels = rows.setdefault(key, {"labels": [], "point": row["point"]})["labels"]
                    labels += [row["label"]] if row["label"] not in labels else []
        return self._part("calls", rows=rows, timed=timed_function, function_of=function_of)

    def findings(self) -> Html:
        """Findings on what the page shows; those on other points folded."""
        shown = [one for one in self.content["findings"] if one["shown"] or not one["where"]]
        others = [one for one in self.content["findings"] if one not in shown]
        return self._part("findings", shown=shown, others=others)

    def failures(self) -> Html:
        """Points that failed or could not run, by reason; nothing is hidden."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for point in self.content["points"]:
            if point["state"] != "ok":
                key = point["state"].replace("_", " "), point["reason"]
                reasons.setdefault(key, []).append(point["point"])
        troubled = [p for p in self.content["points"] if p["state"] == "ok" and p["reason"]]
        return self._part("failures", reasons=reasons, troubled=troubled)

    def conditions(self) -> Html:
        """What the source states of its own machine and method."""
        return self._part("conditions")

    def machine(self) -> Html:
        """This machine, its compilers, and how the run went."""
        return self._part("machine")

    def pictures(self) -> dict[str, Picture]:
        """File name -> picture: each figure, and the sweep where there is one."""
        figures = self.content["figures"]
        drawn = {figure["id"]: panels.rates(self.content, figure) for figure in figures}
        if not self.content["figure"]:
            drawn["overview"] = panels.overview(self.content)
            for experiment in self.content["experiments"].values():
                drawn |= {
                    "size-sweep": panels.sweep(self.content, experiment),
                    "forms": panels.forms(self.content, experiment),
                    "odd": panels.odd(self.content, experiment),
                }
        return {name: picture for name, picture in drawn.items() if picture}


def function_of(point: str) -> str:
    """The kernel's timed function of a point, by the kernels' rule for its name."""
    parts = prose.parts_of(point)
    words = [parts.get("method", ""), parts.get("call", "")]
    return "_".join(["timed", *(re.sub(r"\W", "_", word) for word in words if word)])


def timed_function(experiment: dict[str, Any], point: str, variant: str = "") -> str:
    """What the compiler made of a point's timed function, in words."""
    wanted = variant or prose.parts_of(point)["variant"]
    built = next((one for one in experiment["variants"] if one["variant"] == wanted), None)
    if built is None or built["state"] != "ok":
        return "not built"
    found = built["timed_functions"].get(function_of(point))
    if found is None:
        return "its disassembly was not looked at"
    calls = found["library_calls"]
    if calls:
        return f"calls {digits.listed(calls)}"
    return f"no library call, {digits.plural(found['loads_in_loop'], 'load')} in its loop"
