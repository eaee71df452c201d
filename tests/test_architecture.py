"""docs/ARCHITECTURE.md is true: its picture is the contract of the layers, its paths exist."""

from __future__ import annotations

import re
import tomllib

from conftest import ROOT

PAGE = (ROOT / "docs" / "ARCHITECTURE.md").read_text()


def test_the_picture_is_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = (
        contract["layers"] for contract in contracts["contracts"] if contract["type"] == "layers"
    )
    boxes = re.findall(r'^    \w+\["([^"]+)"\]', PAGE, re.M)
    drawn = [set(re.findall(r"(\w+)(?:/|\.py) —", box)) for box in boxes]
    assert drawn == [set(re.findall(r"benchbook\.(\w+)", layer)) for layer in layers]


def test_every_stage_is_in_a_layer() -> None:
    folders = {path.name for path in (ROOT / "benchbook").iterdir() if path.is_dir()}
    modules = {path.stem for path in (ROOT / "benchbook").glob("[!_]*.py")}
    drawn = set(re.findall(r"(\w+)(?:/|\.py) —", PAGE))
    assert (folders | modules) - {"__pycache__"} == drawn


def test_what_it_names_is_there() -> None:
    named = re.findall(r"`([\w./<>-]+/[\w./<>-]*)`", PAGE)
    places = [re.sub(r"<[^>]+>", "*", name).rstrip("/") for name in named]
    missing = [
        place
        for place in places
        if not any(found for root in (ROOT, ROOT / "benchbook") for found in root.glob(place))
        and not place.startswith(("data/runs", "reports"))  # made by a run
    ]
    assert missing == []
