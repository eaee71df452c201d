"""Claims: points that a preset measures, regions that can be met, facts that are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import benchbook
from benchbook.crosscheck.spaces import VARIANT, Place, Space
from benchbook.define.audit_models import Audit
from benchbook.define.catalogue import moved, settings_of
from benchbook.define.yaml_files import load

Estimand = dict[str, Any]
COUNTS = "count_ratio"  # a kind whose points are counted, not timed
STEPS = ("slope", "unevenness")  # kinds whose points lie along one factor
LEAST_STEPS = 3  # values of that factor


def check(place: Place, claim: dict[str, Any], space: Space, folder: Path) -> None:
    """Refuse a claim that could never be decided; `folder` is its paper's."""
    estimand, here = claim["estimand"], place.at("estimand")
    sides = settings_of(estimand)
    if sides and estimand["kind"] != COUNTS and claim.get("statistic") is None:
        raise place.at("statistic").refusal("is missing; name the statistic of each invocation")
    if estimand["kind"] == "range":
        check_range(here, estimand, space)
    elif estimand["kind"] in STEPS:
        check_steps(here, estimand, space)
    else:
        _sides(here, estimand, sides, space)
    if estimand["kind"] == "difference" and len(sides["minuend"]) != len(sides["subtrahend"]):
        raise here.refusal("adds more times than it takes away; name as many on both sides")
    for side, settings in settings_of(moved(claim)).items():
        for own, other in zip(sides[side], settings, strict=True):
            points = space.points(place.at("beside"), other)
            space.must_be_planned(place.at("beside"), points)
            if set(points) & set(space.points(here.at(side), own)):
                raise place.at("beside").refusal("changes nothing; name another value")
    of_fact: dict[str, Callable[[], None]] = {
        "trial": lambda: _trial(here, estimand, space),
        "link_limit": lambda: _limit(here, estimand, space),
        "audit": lambda: check_audit(here, {}, estimand, folder),
    }
    of_fact.get(estimand["kind"], lambda: None)()
    _region(place.at("region"), claim["region"], estimand["kind"])
    for number, name in enumerate(claim.get("about", [])):
        place.at("about", number).known(name, _artefacts(), "module of benchbook/detect/detectors")


def _artefacts() -> list[str]:
    """By their files: to import a detector takes more than the standard library."""
    folder = Path(benchbook.__file__).parent / "detect" / "detectors"
    return sorted(file.stem.replace("_", "-") for file in folder.glob("[!_]*.py"))


def _sides(
    place: Place, estimand: Estimand, sides: dict[str, list[dict[str, Any]]], space: Space
) -> None:
    points = {}
    for side, settings in sides.items():
        # What stands as a list in the file is told by its number.
        many = isinstance(estimand[side], list)
        places = [
            place.at(side, number) if many else place.at(side) for number in range(len(settings))
        ]
        points[side] = [
            space.known_point(where, setting)
            for where, setting in zip(places, settings, strict=True)
        ]
    distinct = {tuple(sorted(names)) for names in points.values()}
    if len(distinct) < len(points):
        raise place.refusal(f"compares a point with itself; let {' and '.join(points)} differ")


def check_steps(place: Place, steps: Estimand, space: Space, least: int = LEAST_STEPS) -> None:
    """Refuse a line over fewer than `least` values of a factor, over what is no number, or over
    points of no preset. `steps`: {points: settings, over}."""
    for number, setting in enumerate(steps["points"]):
        here = place.at("points", number)
        space.must_be_planned(here, space.points(here, setting))
    values = values_along(steps)
    if not all(isinstance(value, int | float) for value in values):
        raise place.at("over").refusal(
            f"is {steps['over']!r}, which is not a number at every point; name such a factor"
        )
    if len(set(values)) < least:
        raise place.at("over").refusal(
            f"is {steps['over']!r}, of which 'points' names fewer than {least} values; name more "
            "of them"
        )


def values_along(steps: Estimand) -> list[Any]:
    """The values of the factor `over` that the points of a line name."""
    found = []
    for setting in steps["points"]:
        own = setting.get(steps["over"])
        found += own if isinstance(own, list) else [own]
    return found


def check_range(place: Place, estimand: Estimand, space: Space) -> None:
    """Refuse a range over fewer than two values of a factor, or over points of no preset."""
    here, over = place.at("points"), estimand["over"]
    space.must_be_planned(here, space.points(here, estimand["points"]))
    values = estimand["points"].get(over)
    if not isinstance(values, list) or len(values) < 2:
        raise place.at("over").refusal(
            f"is {over!r}, of which 'points' names fewer than two values; name a list of them"
        )
    if over == VARIANT:
        raise place.at("over").refusal("is 'variant', and a factor is meant; name one")


def _trial(place: Place, estimand: Estimand, space: Space) -> None:
    texts = [trial["text"] for trial in space.content.get("trials", [])]
    place.at("trial").known(estimand["trial"], texts, f"trial of {space.file}")


def _limit(place: Place, estimand: Estimand, space: Space) -> None:
    known = (space.content.get("limits") or {"variants": []})["variants"]
    place.at(VARIANT).known(estimand["variant"], known, f"variant in 'limits' of {space.file}")


def check_audit(place: Place, keys: dict[str, str], named: Estimand, folder: Path) -> None:
    """Refuse a rule or a table that the paper does not have; `keys` where they stand otherwise."""
    declared = load(folder / "audit.yaml", Audit) if (folder / "audit.yaml").exists() else {}
    rules = [name for name in declared if name != "version"]
    place.at(keys.get("rule", "rule")).known(named["rule"], rules, "rule in its audit.yaml")
    if not (folder / named["table"]).is_file():
        raise place.at("table").refusal(
            f"is {named['table']!r}, which is not next to paper.yaml; name one of its tables"
        )


def _region(place: Place, region: list[float | None], kind: str) -> None:
    bounds = [bound for bound in region if bound is not None]
    if not bounds:
        raise place.refusal("has no bound; give the lower one, the upper one or both")
    ratio = kind in ("ratio", "ratio_of_ranges", COUNTS)
    if ratio and min(bounds) <= 0:
        raise place.refusal(f"is {region}, and a ratio is above 0; write null where no bound is")
    if kind in ("range", "audit") and not 0 <= min(bounds) <= max(bounds) <= 1:
        raise place.refusal(f"is {region}, and a share lies from 0 to 1; write 0.05 for 5 %")
    exact = kind in ("trial", "link_limit", "audit", COUNTS)
    if len(bounds) == 2 and (bounds[0] > bounds[1] or (bounds[0] == bounds[1] and not exact)):
        raise place.refusal(f"is {region}; write the lower bound first, the higher one second")
