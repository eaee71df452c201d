"""experiment.yaml, probe.yaml and control.yaml: sources, points, limits, trials."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.sizes import parse_bytes
from benchbook.crosscheck.spaces import SIZES, VARIANT, Place, Space
from benchbook.define import catalogue, peers
from benchbook.define.models import Control
from benchbook.define.points import Point, expand
from benchbook.define.settings import PRESETS
from benchbook.define.yaml_files import load
from benchbook.peers import parsers

MEMORY_BYTES = 2**40  # a stand-in, as those of spaces.SIZES
TIMED = "timed_"  # how the names of timed functions begin


def probe(root: Path) -> None:
    """Refuse a source of the probe that is not there."""
    _sources(root, catalogue.PROBE, catalogue.definition(root, catalogue.PROBE))


def _file(root: Path, name: str) -> str:
    return str(catalogue.definition_file(root, name).relative_to(root))


def _sources(root: Path, name: str, content: dict[str, Any]) -> None:
    """`name` is the folder of kernels/ that they lie in."""
    for key in ("sources", "procedures"):
        for source in content.get(key, []):
            if not (root / "kernels" / name / source).is_file():
                raise Place(_file(root, name), key).refusal(
                    f"names {source!r}, which is not in its folder; add or rename it"
                )


def experiment(root: Path, name: str) -> Space:
    """The space of an experiment, its definition checked."""
    space = Space(catalogue.definition(root, name), _file(root, name))
    content, place = space.content, Place(space.file)
    _sources(root, name, content)
    factors = content["factors"]
    if VARIANT in factors:
        raise place.at("factors").refusal("names 'variant', which a binary is called; rename it")
    # The plan counts memory in it.
    if "bytes" in factors and factors["bytes"].get("unit") != "bytes":
        raise place.at("factors", "bytes").refusal("counts bytes; give it `unit: bytes`")
    for key in ("libraries", "procedures"):
        if content.get(key) and (content.get("simulate", True) or content.get("limits")):
            raise place.at(key).refusal(
                "is not built into what is simulated or searched for limits; write "
                "`simulate: false`, and no limits"
            )
    for variant, spec in content["variants"].items():
        for macro, size in spec.get("sizes", {}).items():
            space.size(place.at("variants", variant, "sizes", macro), size)
    for start in content["starts"]:
        place.at("starts").known(start, factors, "factor")
    for part in content.get("parts", []):
        place.at("parts").known(part, content["starts"], "factor in 'starts'")
    for method in content.get("names", {}):
        place.at("names", method).known(method, content["definitions"], "method in 'definitions'")
    for method, text in content["definitions"].items():
        if not text.strip():
            raise place.at("definitions", method).refusal("is empty; say what the check demands")
    for key in ("calls", "may_call"):
        for function, calls in content.get(key, {}).items():
            if not function.startswith(TIMED):
                reason = f"names {function!r}; timed functions begin {TIMED!r}"
                raise place.at(key).refusal(reason)
            if not calls:
                reason = "is empty; name a library call or remove it"
                raise place.at(key, function).refusal(reason)
    for variant, peer in peers.of(content).items():
        file = f"kernels/{name}/peers/{variant}.yaml"
        Place(file, "parser").known(
            peer["parser"], parsers.names(), "module of benchbook/peers/parsers"
        )
    for preset in PRESETS:
        for number, cross in enumerate(content["points"].get(preset, [])):
            space.planned.update(space.points(place.at("points", preset, number), cross))
    if not space.planned:
        raise place.at("points").refusal("names no point; give a preset one")
    planned = [Point.of_id(name) for name in space.planned]
    for factor, declared in factors.items():
        seen = {str(point.factors[factor]) for point in planned if factor in point.factors}
        for value in declared.get("names", {}):
            place.at("factors", factor, "names").known(value, sorted(seen), "value in 'points'")
    for number, twin in enumerate(content.get("twins", [])):
        here = place.at("twins", number)
        space.must_be_planned(here, space.points(here, twin))
    _of_samples(space, place)
    if content.get("limits"):
        _limits(root, name, place.at("limits"), content)
    place.at("trials").unique([trial["text"] for trial in content.get("trials", [])])
    for number, trial in enumerate(content.get("trials", [])):
        _trial(place.at("trials", number), trial, space)
    return space


def _of_samples(space: Space, place: Place) -> None:
    """What is said of points by some of their factors: `unlooped`, `alone`, `baseline`, `plain`."""
    content = space.content
    named: list[tuple[tuple[str | int, ...], dict[str, Any]]] = [
        ((key, number), setting)
        for key in ("unlooped", "alone")
        for number, setting in enumerate(content.get(key, []))
    ]
    named += [((key,), content[key]) for key in ("baseline", "plain") if content.get(key)]
    crosses = [cross for preset in PRESETS for cross in content["points"].get(preset, [])]
    planned = expand(content, crosses, SIZES)[0]
    for key, setting in named:
        here = place.at(*key)
        if VARIANT in setting:
            raise here.refusal("names a variant, and factors are meant; leave it out")
        space.points(here, setting)
        if not any(point.has_one_of([setting]) for point in planned):
            raise here.refusal("fits no point of any preset; mend it or leave it out")


def _limits(root: Path, name: str, place: Place, content: dict[str, Any]) -> None:
    wanted = content["limits"]
    for variant in wanted["variants"]:
        place.at("variants").known(variant, _built(content), "variant of our own")
    # A macro that nothing uses would link at every size.
    word = re.compile(rf"\b{wanted['define']}\b")
    files = catalogue.source_files(root, name)
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


def _wrapper(folder: Path, place: Place, words: list[str]) -> None:
    if words and not os.access(folder / words[0], os.X_OK):
        raise place.at("wrapper").refusal(
            f"names {words[0]!r}, which is no program in its folder; put it there, with chmod +x"
        )


def control(root: Path, name: str) -> None:
    """Refuse a control whose points its kernel does not have."""
    file = catalogue.definition_file(root, name)
    control, place = load(file, Control), Place(_file(root, name))
    folder = name.removeprefix(catalogue.CONTROLS)
    if control["artefact"] != folder:
        raise place.at("artefact").refusal(f"is {control['artefact']!r}; its folder is {folder!r}")
    if not control.get("kernel"):
        if not (file.parent / catalogue.REPLAY).exists():
            raise place.at("kernel").refusal("is missing and so is a replay.py; add one of them")
        return
    tried = {trial["provoked"] for trial in control.get("trials") or []}
    there = {"variant": control.get("variant")} | {
        side: control.get(side) or (side == "provoked") in tried for side in catalogue.SIDES
    }
    if (file.parent / catalogue.REPLAY).exists():
        there["nulls"] = True  # what is clean may be what this machine cannot play
    for key in (key for key, found in there.items() if not found):
        raise place.at(key).refusal("is missing, and a control with a kernel needs it; add it")
    content = catalogue.definition(root, name)
    for variant in control.get("variants", {}) | {catalogue.CONTROL: control["variant"]}:
        words = content["variants"][variant].get("wrapper", [])
        _wrapper(root / "kernels" / name, place.at("variants", variant), words)
    _sources(root, control["kernel"], content)
    space = Space(content, place.file)
    for side in catalogue.SIDES:
        for number, cross in enumerate(control.get(side, [])):
            space.points(place.at(side, number), {"variant": catalogue.CONTROL, **cross})
    if content.get("limits"):
        _limits(root, name, place.at("limits"), content)
    for number, trial in enumerate(content.get("trials", [])):
        _trial(place.at("trials", number), trial, space)
