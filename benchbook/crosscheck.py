"""Definitions against each other and the files that they name, before anything runs.

The schemas judge each file alone. Standard library, yaml and jsonschema only, as all that the
Snakefile imports. Each refusal is one sentence: the file, the place in it, and the remedy.
"""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook import definitions
from benchbook.errors import BenchbookError
from benchbook.points import COUNTS, expand
from benchbook.settings import PRESETS, load
from benchbook.sizes import parse_bytes, parse_counts
from benchbook.units import RATE_UNITS

# Stand-ins, so that nothing here depends on the host; no size that a person would write.
SIZES: dict[str, int | None] = {
    "L1d": 44 * 2**10,
    "L2": 7 * 2**20,
    "LLC": 997 * 2**20,
    "total LLC": 1994 * 2**20,
    "RAM": 2**40,
    "cores": 23,
}
MEMORY_BYTES = 2**40
VARIANT = "variant"
TIMED = "timed_"  # how the names of timed functions begin


@dataclass(frozen=True)
class Place:
    """A key of a definition file."""

    file: str
    key: str = ""

    def at(self, *parts: str | int) -> Place:
        """A key inside this one."""
        return Place(self.file, ".".join(str(part) for part in (self.key, *parts) if part != ""))

    def refusal(self, problem: str) -> BenchbookError:
        """The sentence about this key."""
        return BenchbookError(f"{self.file}: key {self.key!r} {problem}")

    def known(self, value: Any, allowed: Any, what: str) -> None:
        """Refuse a value that is not among those allowed."""
        if value not in allowed:
            raise self.refusal(f"is {value!r}, which is no {what}; allowed: {', '.join(allowed)}")

    def unique(self, names: list[str]) -> None:
        """Refuse a name that stands twice in this list."""
        for name in names:
            if names.count(name) > 1:
                raise self.refusal(f"has the id {name!r} twice; rename one")


@dataclass
class Space:
    """One experiment's factors, variants and methods, which every setting of a point must keep."""

    content: dict[str, Any]
    file: str
    kinds: dict[str, tuple[str, str]] = field(default_factory=dict)  # factor -> kind, where seen
    planned: set[str] = field(default_factory=set)  # ids of the points of all presets

    def points(self, place: Place, setting: dict[str, Any]) -> list[str]:
        """Ids of the points of a setting, each value of it checked."""
        for name, value in setting.items():
            if name != VARIANT and name not in self.content["factors"]:
                allowed = ", ".join([VARIANT, *self.content["factors"]])
                raise place.refusal(f"names {name!r}, which is no factor; allowed: {allowed}")
            if value == []:
                raise place.at(name).refusal("is an empty list; name a value or leave it out")
            for one in value if isinstance(value, list) else [value]:
                self._value(place.at(name), name, one)
        return [point.id for point in expand(self.content, [setting], SIZES)[0]]

    def known_point(self, place: Place, setting: dict[str, Any]) -> str:
        """The id of the one point of a setting; a preset must measure it."""
        for name, value in setting.items():
            if isinstance(value, list) and len(value) > 1:
                raise place.at(name).refusal("is a list, and one point is meant; name one value")
        points = self.points(place, setting)
        if len(points) > 1:
            raise place.refusal("names several points, and one is meant; name one value of each")
        self.must_be_planned(place, points)
        return points[0]

    def must_be_planned(self, place: Place, points: list[str]) -> None:
        """Refuse points that no preset measures: they would stay without a number for ever."""
        if not self.planned.issuperset(points):
            raise place.refusal(f"is in no preset of {self.file}; mend it or add it there")

    def _value(self, place: Place, name: str, value: Any) -> None:
        if name == VARIANT:
            place.known(value, self.content["variants"], VARIANT)
            return
        if self.content["factors"][name].get("unit") == "bytes":
            self.size(place, value)
            return
        if name in COUNTS:
            self._count(place, value)
            return
        kind = "text" if isinstance(value, str) else "a number"
        before, where = self.kinds.setdefault(name, (kind, place.key))
        if kind != before:
            raise place.refusal(
                f"is {value!r}, {kind}, and {where!r} of {self.file} is {before}; write the values "
                "of a factor all as text, in quotes, or all as numbers"
            )
        if name == "method":
            place.known(value, self.content["definitions"], "method in 'definitions'")

    def _count(self, place: Place, value: Any) -> None:
        try:
            parse_counts(value, SIZES["cores"] or 1)
        except BenchbookError:
            remedy = "it must be a whole number from 1, 'cores', '2 x cores' or '1 to cores'"
            raise place.refusal(f"is {value!r}; {remedy}") from None

    def size(self, place: Place, value: Any) -> None:
        """Refuse what is no size."""
        remedy = "write a size like '32 MiB', '4 x LLC' or 4096 (bytes)"
        try:
            size = parse_bytes(value, SIZES) if isinstance(value, str | int) else None
        except BenchbookError:
            size = None
        if size is None or size < 1:
            raise place.refusal(f"is {value!r}; {remedy}")


def check(root: Path) -> None:
    """Refuse the first definition of a checkout that would fail, or mislead, once things run."""
    spaces = {name: _experiment(root, name) for name in definitions.experiments(root)}
    _sources(root, definitions.PROBE, definitions.definition(root, definitions.PROBE))
    for name in definitions.controls(root):
        _control(root, name, spaces)
    for name in definitions.papers(root):
        _paper(root, name, spaces)


def _file(root: Path, name: str) -> str:
    return str(definitions.definition_file(root, name).relative_to(root))


def _sources(root: Path, name: str, content: dict[str, Any]) -> None:
    for source in content["sources"]:
        if not (root / "kernels" / name / source).is_file():
            place = Place(_file(root, name), "sources")
            raise place.refusal(f"names {source!r}, which is not in its folder; add or rename it")


def _experiment(root: Path, name: str) -> Space:
    space = Space(definitions.definition(root, name), _file(root, name))
    content, place = space.content, Place(space.file)
    _sources(root, name, content)
    factors = content["factors"]
    if VARIANT in factors:
        raise place.at("factors").refusal("names 'variant', which a binary is called; rename it")
    # The plan counts memory in it.
    if "bytes" in factors and factors["bytes"].get("unit") != "bytes":
        raise place.at("factors", "bytes").refusal("counts bytes; give it `unit: bytes`")
    for variant, spec in content["variants"].items():
        for macro, size in spec.get("sizes", {}).items():
            space.size(place.at("variants", variant, "sizes", macro), size)
    for start in content["starts"]:
        place.at("starts").known(start, factors, "factor")
    for method in content.get("names", {}):
        place.at("names", method).known(method, content["definitions"], "method in 'definitions'")
    for method, text in content["definitions"].items():
        if not text.strip():
            raise place.at("definitions", method).refusal("is empty; say what the check demands")
    for function, calls in content.get("calls", {}).items():
        if not function.startswith(TIMED):
            raise place.at("calls").refusal(f"names {function!r}; timed functions begin {TIMED!r}")
        if not calls:
            raise place.at("calls", function).refusal("is empty; name a library call or remove it")
    for preset in PRESETS:
        for number, cross in enumerate(content["points"].get(preset, [])):
            space.planned.update(space.points(place.at("points", preset, number), cross))
    if not space.planned:
        raise place.at("points").refusal("names no point; give a preset one")
    for number, twin in enumerate(content.get("twins", [])):
        here = place.at("twins", number)
        space.must_be_planned(here, space.points(here, twin))
    if content.get("limits"):
        _limits(root, name, place.at("limits"), content)
    place.at("trials").unique([trial["text"] for trial in content.get("trials", [])])
    for number, trial in enumerate(content.get("trials", [])):
        _trial(place.at("trials", number), trial, space)
    return space


def _limits(root: Path, name: str, place: Place, content: dict[str, Any]) -> None:
    wanted = content["limits"]
    for variant in wanted["variants"]:
        place.at("variants").known(variant, _built(content), "variant of our own")
    # A macro that nothing uses would link at every size.
    word = re.compile(rf"\b{wanted['define']}\b")
    files = definitions.source_files(root, name)
    if not any(word.search(file.read_text(errors="replace")) for file in files):
        raise place.at("define").refusal(f"is {wanted['define']!r}, which no source uses; mend it")


def _built(content: dict[str, Any]) -> list[str]:
    """Variants that we compile; the others are peers."""
    return [name for name, spec in content["variants"].items() if "compiler" in spec]


def _trial(place: Place, trial: dict[str, Any], space: Space) -> None:
    factors, starts = space.content["factors"], space.content["starts"]
    others = [name for name in factors if name not in starts]
    for side, allowed in (("options", starts), ("point", others)):
        for name in trial[side]:
            place.at(side).known(name, allowed, f"factor of '{side}'")
    place.at(VARIANT).known(trial["variant"], _built(space.content), "variant of our own")
    setting = {VARIANT: trial["variant"], **trial["options"], **trial["point"]}
    for name, value in setting.items():
        # Trials may have multiples of the memory, points may not.
        if factors.get(name, {}).get("unit") == "bytes" and str(value).endswith("memory"):
            with suppress(BenchbookError):
                setting[name] = parse_bytes(value, {"memory": MEMORY_BYTES})
    if len(space.points(place, setting)) > 1:
        raise place.refusal("names several points, and one is meant; name one value of each")


def _control(root: Path, name: str, spaces: dict[str, Space]) -> None:
    definitions.definition(root, name)  # its schema, and its kernel
    control, place = (
        load(definitions.definition_file(root, name), "control"),
        Place(_file(root, name)),
    )
    folder = name.removeprefix(definitions.CONTROLS)
    if control["artefact"] != folder:
        raise place.at("artefact").refusal(f"is {control['artefact']!r}; its folder is {folder!r}")
    for side in ("provoked", "nulls"):
        for number, cross in enumerate(control[side]):
            here = place.at(side, number)
            if VARIANT in cross:
                raise here.refusal("names a variant, and a control has but one; remove it")
            spaces[control["kernel"]].points(here, cross)


def _paper(root: Path, name: str, spaces: dict[str, Space]) -> None:
    content = definitions.paper(root, name)
    place = Place(f"data/published/{name}/paper.yaml")
    if content["id"] != name:
        raise place.at("id").refusal(f"is {content['id']!r}; its folder is {name!r}: name both so")
    place.at("figures").unique([figure["id"] for figure in content["figures"]])
    for figure in content["figures"]:
        here = place.at("figures", figure["id"])
        here.at("experiment").known(figure["experiment"], spaces, "experiment")
        here.at("y_unit").known(figure["y_unit"], RATE_UNITS, "known unit")
        space = spaces[figure["experiment"]]
        _rows(here, figure, root / "data" / "published" / name)
        for number, series in enumerate(figure["select"]):
            space.known_point(here.at("select", number, "point"), series["point"])
        here.at("claims").unique([claim["id"] for claim in figure.get("claims", [])])
        for claim in figure.get("claims", []):
            _claim(here.at("claims", claim["id"]), claim, space)


def _rows(place: Place, figure: dict[str, Any], folder: Path) -> None:
    """The table has the columns of the figure, and each selected row is one of its rows."""
    columns, rows = _table(place.at("table"), folder, figure["table"])
    what = f"column of {figure['table']}"
    place.at("x").known(figure["x"], columns, what)
    for series in figure["select"]:
        if "y" not in series and "y" not in figure:
            raise place.at("y").refusal("is missing; name the column of the values")
        here = place.at("grid", "columns") if "grid" in figure else place.at("y")
        here.known(series.get("y", figure.get("y")), columns, what)
    for number, series in enumerate(figure["select"]):
        here, wanted = place.at("select", number, "row"), series["row"]
        for column in wanted:
            if column not in columns:
                raise here.refusal(
                    f"names {column!r}, which is no column of {figure['table']}; "
                    f"allowed: {', '.join(columns)}"
                )
        found = [row for row in rows if all(row[key] == str(wanted[key]) for key in wanted)]
        if len(found) != 1:
            raise here.refusal(
                f"finds {len(found)} rows of {figure['table']}, and must find one; write cells as "
                "printed there, numbers in quotes"
            )


def _table(place: Place, folder: Path, name: str) -> tuple[list[str], list[dict[str, str]]]:
    path = folder / name
    if path.name != name or path.suffix != ".csv":
        raise place.refusal(f"is {name!r}; name a .csv file beside paper.yaml")
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


def _claim(place: Place, claim: dict[str, Any], space: Space) -> None:
    sides = [
        space.known_point(place.at("estimand", side), claim["estimand"][side])
        for side in ("numerator", "denominator")
    ]
    if sides[0] == sides[1]:
        raise place.at("estimand").refusal(
            "compares a point with itself; let numerator and denominator differ"
        )
    region, here = claim["region"], place.at("region")
    bounds = [bound for bound in region if bound is not None]
    if not bounds:
        raise here.refusal("has no bound; give the lower one, the upper one or both")
    if min(bounds) <= 0:
        raise here.refusal(f"is {region}, and a ratio is above 0; write null where no bound is")
    if len(bounds) == 2 and bounds[0] >= bounds[1]:
        raise here.refusal(f"is {region}; write the lower bound first, the higher one second")
