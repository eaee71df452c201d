"""paper.yaml: figures, their tables, and claims."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from benchbook.core.units import UNITS
from benchbook.crosscheck import anomalies, claims
from benchbook.crosscheck.spaces import Place, Space
from benchbook.define import catalogue

ENGLISH = "en"


def paper(root: Path, name: str, spaces: dict[str, Space]) -> None:
    """Refuse a paper whose figures or claims name what is not there."""
    content = catalogue.paper(root, name)
    place = Place(f"data/published/{name}/paper.yaml")
    if content["id"] != name:
        raise place.at("id").refusal(f"is {content['id']!r}; its folder is {name!r}: name both so")
    waiting = content.get("open", [])
    known = [figure["id"] for figure in (*content["figures"], *waiting)]
    place.at("figures").unique(known)
    folder = root / "data" / "published" / name
    _whence(place, content, folder)
    measured = catalogue.experiments_of(root, name)
    for experiment in content.get("shares", {}):
        place.at("shares").known(experiment, measured, "experiment of its figures")
    for figure in content["figures"]:
        here = place.at("figures", figure["id"])
        here.at("experiment").known(figure["experiment"], spaces, "experiment")
        if figure["select"]:
            here.at("y_unit").known(figure.get("y_unit", ""), UNITS, "known unit")
        space = spaces[figure["experiment"]]
        _rows(here, figure, folder)
        for number, series in enumerate(figure["select"]):
            at = here.at("select", number)
            if ("point" in series) == ("beyond_host" in series):
                raise at.refusal("needs a 'point', or says in 'beyond_host' why no host has one")
            if "point" in series:
                space.known_point(at.at("point"), series["point"])
        for number, series in enumerate(figure.get("ranges", [])):
            claims.check_range(here.at("ranges", number), series, space)
        if "recomputed" in figure:
            named = {"rule": figure["recomputed"], "table": figure["table"]}
            claims.check_audit(here, {"rule": "recomputed"}, named, folder)
        here.at("claims").unique([claim["id"] for claim in figure.get("claims", [])])
        for claim in figure.get("claims", []):
            if "repeats" in claim:
                at = here.at("claims", claim["id"], "repeats")
                at.known(claim["repeats"], _first_claims(content), "figure/claim that repeats none")
            _statement(here.at("claims", claim["id"], "source"), claim["source"], content, folder)
        for claim in figure.get("claims", []):
            at = here.at("claims", claim["id"])
            claims.check(at, claim, space, folder)
            if "column" in claim["estimand"]:
                _audited_column(at.at("estimand"), claim["estimand"], folder)
            for side, cell in claim.get("cells", {}).items():
                _named_cell(at.at("cells", side), side, cell, claim, folder)
        anomalies.check(here, figure, space)
    for figure in waiting:
        here = place.at("open", figure["id"])
        columns, _ = _table(here.at("table"), folder, figure["table"])
        here.at("x").known(figure["x"], columns, f"column of {figure['table']}")
    drawn = place.at("sweeps")
    every = content.get("sweeps", [])
    drawn.unique([*(sweep["id"] for sweep in every), *known])
    for sweep in every:
        drawn.at(sweep["id"], "experiment").known(sweep["experiment"], spaces, "experiment")
        _sweep(drawn.at(sweep["id"]), sweep, spaces[sweep["experiment"]], folder)


def _whence(place: Place, content: dict[str, Any], folder: Path) -> None:
    """What the page says of the source itself: title, address, conclusion."""
    english = content["language"] == ENGLISH
    if "gloss" not in content and not english and not content.get("title_is_ours"):
        raise place.at("gloss").refusal("is missing; give the title in English")
    if content["url"] is None and "url_note" not in content:
        raise place.at("url_note").refusal("is missing; say why no address is known")
    if thesis := content.get("thesis"):
        _statement(place.at("thesis", "source"), thesis["source"], content, folder)
        known = _first_claims(content)
        if known and "claim" not in thesis:
            raise place.at("thesis", "claim").refusal("is missing; name the claim that tests it")
        if "claim" in thesis:
            place.at("thesis", "claim").known(thesis["claim"], known, "figure/claim")
        for stand_in in thesis.get("in_its_place", []):
            place.at("thesis", "in_its_place").known(stand_in["claim"], known, "figure/claim")
    elif any(figure.get("claims") for figure in content["figures"]):
        raise place.at("thesis").refusal(
            "is missing; say what the source concludes, and name the claim that tests it"
        )
    figures = [figure["id"] for figure in (*content["figures"], *content.get("open", []))]
    for number, remark in enumerate(content.get("remarks", [])):
        here = place.at("remarks", number)
        _statement(here.at("source"), remark["source"], content, folder)
        if "figure" in remark:
            here.at("figure").known(remark["figure"], figures, "figure")


def _first_claims(content: dict[str, Any]) -> list[str]:
    """All claims but those that repeat another, as figure/claim."""
    return [
        f"{figure['id']}/{claim['id']}"
        for figure in content["figures"]
        for claim in figure.get("claims", [])
        if "repeats" not in claim
    ]


def _statement(
    place: Place, statement: dict[str, Any], content: dict[str, Any], folder: Path
) -> None:
    """The source's own words, translated where they are not English, or cells that are there."""
    if ("verbatim" in statement) == ("reading" in statement):
        raise place.refusal("needs the source's sentence as 'verbatim', or cells as 'reading'")
    foreign = "verbatim" in statement and content["language"] != ENGLISH
    if foreign != ("translation" in statement):
        problem = (
            "is missing; translate the sentence" if foreign else "translates nothing; remove it"
        )
        raise place.at("translation").refusal(problem)
    for number, cells in enumerate(statement.get("reading", [])):
        here = place.at("reading", number)
        columns, rows = _table(here.at("table"), folder, cells["table"])
        here.at("column").known(cells["column"], columns, f"column of {cells['table']}")
        for row in cells.get("rows", []):
            _one_row(here.at("rows"), row, columns, rows, cells["table"])


def _sweep(place: Place, sweep: dict[str, Any], space: Space, folder: Path) -> None:
    """Its points are planned, and the cells that it names are there."""
    ids = [series["id"] for series in sweep["series"]]
    place.at("series").unique(ids)
    ratios, is_speedup = sweep["unit"] == "ratio", sweep.get("speedup", False)
    if is_speedup and not ratios:
        raise place.at("speedup").refusal("is true, and a speed-up is a ratio; write unit: ratio")
    if (ratios or "per" in sweep) and sweep.get("slopes", True):
        raise place.at("slopes").refusal("is true, and only plain times have slopes; write false")
    for series in sweep["series"]:
        here = place.at("series", series["id"])
        along = {"points": series["points"], "over": sweep["over"]}
        claims.check_steps(here, along, space, least=2)
        if ("against" in series) != ratios:
            raise here.refusal("needs 'against' in a sweep of unit ratio, and in no other")
        if ratios:
            below = {"points": series["against"], "over": sweep["over"]}
            claims.check_steps(here.at("against"), below, space, least=1 if is_speedup else 2)
            sides = [claims.values_along(side) for side in (along, below)]
            if is_speedup and len(sides[1]) != 1:
                raise here.at("against").refusal(
                    f"has {len(sides[1])} values of {sweep['over']!r}, and a speed-up is over one "
                    "point; name one"
                )
            if not is_speedup and sorted(sides[0]) != sorted(sides[1]):
                raise here.at("against").refusal(
                    f"has other values of {sweep['over']!r} than 'points'; name the same"
                )
        if "above" in series:
            others = [name for name in ids if name != series["id"]]
            here.at("above").known(series["above"], others, "other series")
        if named := series.get("printed"):
            columns, rows = _table(here.at("printed", "table"), folder, named["table"])
            numbers = [key for key in ("x", "y", "against") if key in named]
            for key in (*numbers, *named.get("where", {})):
                name = named.get(key, key)
                here.at("printed").known(name, columns, f"column of {named['table']}")
            _numbers(here.at("printed"), rows, [named[key] for key in numbers])
    if wire := sweep.get("wire"):
        for key in ("payload", "link"):
            if isinstance(wire[key], str):
                factors = space.content["factors"]
                place.at("wire", key).known(wire[key], factors, f"factor of {space.file}")
    if stated := sweep.get("stated"):
        here = place.at("stated", "cell")
        columns, rows = _table(here, folder, stated["cell"]["table"])
        here.known(stated["cell"]["column"], columns, f"column of {stated['cell']['table']}")
        _one_row(here, stated["cell"]["row"], columns, rows, stated["cell"]["table"])


def _numbers(place: Place, rows: list[dict[str, str]], columns: list[str]) -> None:
    """Each cell of these columns is a number."""
    for row in rows:
        for column in columns:
            if not _is_number(row[column]):
                raise place.refusal(
                    f"finds {row[column]!r}, which is no number; name another column"
                )


def _rows(place: Place, figure: dict[str, Any], folder: Path) -> None:
    """The table has the columns of the figure, and each selected row is one of its rows."""
    columns, rows = _table(place.at("table"), folder, figure["table"])
    what = f"column of {figure['table']}"
    place.at("x").known(figure["x"], columns, what)
    if traffic := figure.get("traffic"):
        here, named = place.at("traffic"), ["messages_per_s", "message_size"]
        for key in named:
            here.at(key).known(traffic[key], columns, what)
        _numbers(here, rows, [traffic[key] for key in named])
    kind = "ranges" if "ranges" in figure else "select"
    every = figure.get("ranges", figure["select"])
    for series in every:
        if "y" not in series and "y" not in figure:
            raise place.at("y").refusal("is missing; name the column of the values")
        here = place.at("grid", "columns") if "grid" in figure else place.at("y")
        here.known(series.get("y", figure.get("y")), columns, what)
    for number, series in enumerate(every):
        _one_row(place.at(kind, number, "row"), series["row"], columns, rows, figure["table"])


def _one_row(
    place: Place,
    wanted: dict[str, Any],
    columns: list[str],
    rows: list[dict[str, str]],
    table: str,
) -> dict[str, str]:
    for column in wanted:
        if column not in columns:
            raise place.refusal(
                f"names {column!r}, which is no column of {table}; allowed: {', '.join(columns)}"
            )
    found = [row for row in rows if all(row[key] == str(wanted[key]) for key in wanted)]
    if len(found) != 1:
        raise place.refusal(
            f"finds {len(found)} rows of {table}, and must find one; write cells as "
            "printed there, numbers in quotes"
        )
    return found[0]


def _named_cell(
    place: Place, side: str, cell: dict[str, Any], claim: dict[str, Any], folder: Path
) -> None:
    """A printed number that a claim names itself."""
    sides = catalogue.settings_of(claim["estimand"])
    single = [side for side in sides if len(sides[side]) == 1]
    if claim["estimand"]["kind"] == "beyond_host":
        single = [side for side in ("numerator", "denominator") if side in claim["cells"]]
        if len(single) < 2:
            raise place.refusal("is one side of a ratio; name 'numerator' and 'denominator'")
    place.known(side, single, "side of one point")
    columns, rows = _table(place.at("table"), folder, cell["table"])
    place.at("column").known(cell["column"], columns, f"column of {cell['table']}")
    printed = _one_row(place.at("row"), cell["row"], columns, rows, cell["table"])[cell["column"]]
    if not _is_rate(printed):
        raise place.refusal(f"finds {printed!r}, which is no number above 0; name another cell")


def _is_number(printed: str) -> bool:
    try:
        return math.isfinite(float(printed))
    except ValueError:
        return False


def _is_rate(printed: str) -> bool:
    try:
        return 0 < float(printed) < math.inf
    except ValueError:
        return False


def _audited_column(place: Place, estimand: dict[str, Any], folder: Path) -> None:
    columns, _ = _table(place.at("table"), folder, estimand["table"])
    what = f"column of {estimand['table']}"
    place.at("column").known(estimand["column"], columns, what)


def _table(place: Place, folder: Path, name: str) -> tuple[list[str], list[dict[str, str]]]:
    path = folder / name
    if path.name != name or path.suffix != ".csv":
        raise place.refusal(f"is {name!r}; name a .csv file in the folder of paper.yaml")
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            lines = [line for line in csv.reader(stream, strict=True) if line]
    except OSError as error:
        raise place.refusal(f"is {name!r}, which cannot be read ({error.strerror})") from None
    except (csv.Error, UnicodeDecodeError):
        raise place.refusal(f"is {name!r}, which is not CSV in UTF-8; mend the file") from None
    columns, *rows = lines or [[]]
    if len(set(columns)) < len(columns):
        raise place.refusal(f"is {name!r}, in which a column stands twice; rename one")
    for row in rows:
        if len(row) != len(columns):
            raise place.refusal(
                f"is {name!r}, whose row {row[0]!r} has {len(row)} cells for {len(columns)} "
                "columns; mend the file"
            )
    return columns, [dict(zip(columns, row, strict=True)) for row in rows]
