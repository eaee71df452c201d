"""The same run under other names and in another order, for tests that findings hang on neither."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from typing import Any

import pandas as pd

from benchbook.analyse.stage import Judgements
from benchbook.detect import Seen
from benchbook.detect.inputs.run_table import RunTables, trial_id

FUNCTION = re.compile(r"\btimed_\w+")


class Names:
    """Random ids for labels: the same label always gets the same id."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.given: dict[tuple[str, str], str] = {}
        self.before: dict[str, str] = {"": "", "host": "host"}  # ids of points and trials

    def of(self, kind: str, label: str) -> str:
        """The id of a label; labels of two kinds have two."""
        if not label:
            return label
        key = (kind, label)
        if key not in self.given:
            self.given[key] = f"{self.dice.choice('abqxz')}{self.dice.randrange(10**12):012d}"
            if kind == "point":
                self.before[self.given[key]] = label
        return self.given[key]

    def functions(self, text: Any) -> Any:
        """A text with the names of timed functions exchanged."""
        if not isinstance(text, str):
            return text
        return FUNCTION.sub(lambda match: self.of("function", match[0]), text)

    def shuffled(self, items: list[Any]) -> list[Any]:
        """The items in another order."""
        return self.dice.sample(items, len(items))

    def table(self, table: pd.DataFrame, column: str, kind: str = "point") -> pd.DataFrame:
        """A table with the ids of a column exchanged and its rows in another order."""
        if not len(table) or column not in table:
            return table
        new = table.assign(**{column: [self.of(kind, entry) for entry in table[column]]})
        return new.sample(frac=1, random_state=self.dice.randrange(2**31)).reset_index(drop=True)


def renamed(known: RunTables, names: Names) -> RunTables:
    """Points, variants, methods, functions, the words of factors and trials under other names, the
    rows of every table in another order."""
    plan = dict(known.plan)
    plan["environments"] = {
        names.of("variant", name): value for name, value in plan.get("environments", {}).items()
    }
    return RunTables(
        points=names.shuffled([_point(point, names) for point in known.points]),
        plan=plan,
        evidence=names.shuffled([_item(entry, names) for entry in known.evidence]),
        summaries=names.table(known.summaries, "point"),
        starts=names.shuffled(
            [start | {"point": names.of("point", start["point"])} for start in known.starts]
        ),
        readings=names.shuffled(known.readings),
        ceilings=names.shuffled([_ceiling(ceiling, names) for ceiling in known.ceilings]),
    )


def _point(point: dict[str, Any], names: Names) -> dict[str, Any]:
    factors = {
        name: names.of(name, value) if isinstance(value, str) else value
        for name, value in point.get("factors", {}).items()
    }
    new = {"point": names.of("point", point["point"]), "factors": factors}
    if "variant" in point:
        new["variant"] = names.of("variant", point["variant"])
    return point | new


def _item(item: dict[str, Any], names: Names) -> dict[str, Any]:
    """Evidence: physical values stay, whatever names something is another."""
    new = {key: names.functions(value) for key, value in item.items() if key != "command"}
    for kind in ("point", "variant", "experiment"):
        if kind in item:
            new[kind] = names.of(kind, item[kind])
    if item["name"].startswith("trial: "):
        text = item["name"].removeprefix("trial: ")
        new["name"] = f"trial: {names.of('trial', text)}"
        names.before[trial_id(names.of("trial", text))] = trial_id(text)
    return new


def _ceiling(bound: dict[str, Any], names: Names) -> dict[str, Any]:
    """A ceiling: which method attained it is a label, what it bounds is told by its name."""
    new = {kind: names.of(kind, bound[kind]) for kind in ("point", "method") if kind in bound}
    others = bound.get("others", {})
    return (
        bound
        | new
        | {"others": {names.of("method", other): rate for other, rate in others.items()}}
    )


def renamed_seen(seen: Seen, names: Names) -> Seen:
    """The tables of a replayed scene under other ids and in another order."""
    evidence = [
        row | {"where": names.of("point", row["where"])}
        | ({"binary": names.of("binary", row["binary"])} if "binary" in row else {})
        for row in seen.evidence
    ]  # fmt: skip

    def points(table: pd.DataFrame) -> pd.DataFrame:
        for kind in ("series", "setting", "twin"):
            table = names.table(table, kind, kind)
        return names.table(table, "where")

    return replace(
        seen,
        points=points(seen.points),
        twins=points(seen.twins),
        starts=names.table(seen.starts, "where"),
        readings=names.table(seen.readings, "nothing") if seen.readings.empty
        else seen.readings.sample(frac=1, random_state=1).reset_index(drop=True),
        evidence=names.shuffled(evidence),
        missing=names.shuffled(
            [row | {"where": names.of("point", row["where"])} for row in seen.missing]
        ),
    )  # fmt: skip


def as_before(said: Judgements, names: Names) -> Judgements:
    """What was said of the renamed run, with the points and trials called as before."""
    return Judgements(
        [
            finding
            | {
                "where": [names.before[where] for where in finding["where"]],
                "factors": {names.before[at]: own for at, own in finding["factors"].items()},
                "sides": [[names.before[where] for where in side] for side in finding["sides"]],
            }
            for finding in said.findings
        ],
        {
            artefact: {names.before[where]: why for where, why in points.items()}
            for artefact, points in said.abstained.items()
        },
        {
            artefact: [names.before[where] for where in points]
            for artefact, points in said.clean.items()
        },
    )


def canonical(said: Judgements) -> Judgements:
    """Findings in one order, whatever the order in which they were made."""
    found = [
        finding
        | {
            "where": sorted(finding["where"]),
            "sides": [sorted(side) for side in finding["sides"]],
            "evidence": sorted(finding["evidence"], key=repr),
        }
        for finding in said.findings
    ]
    found.sort(
        key=lambda record: (
            record["artefact"],
            record.get("scene"),
            record["where"],
            record["effect"],
        )
    )
    clean = {artefact: sorted(points) for artefact, points in said.clean.items()}
    return Judgements(found, said.abstained, clean)


def differences(left: Any, right: Any, at: str = "") -> list[str]:
    """Where two structures differ; floats may in their last digits, because sums of right orders
    do."""
    if isinstance(left, dict) and isinstance(right, dict):
        names = sorted({*left, *right}, key=str)
        return [
            text
            for name in names
            for text in differences(left.get(name), right.get(name), f"{at}.{name}")
        ]
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) != len(right):
            return [f"{at}: {len(left)} items against {len(right)}"]
        pairs = enumerate(zip(left, right, strict=True))
        return [text for n, pair in pairs for text in differences(*pair, f"{at}[{n}]")]
    if isinstance(left, float) and isinstance(right, float | int):
        both_nan = math.isnan(left) and math.isnan(right)
        if both_nan or math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12):
            return []
    return [] if left == right else [f"{at}: {left!r} against {right!r}"]


def words_of(said: Judgements) -> list[str]:
    """All that people would read."""
    texts = [
        text for finding in said.findings for text in (finding["explanation"], finding["remedy"])
    ]
    texts += [
        str(row[key]) for finding in said.findings for row in finding["evidence"] for key in row
    ]
    return texts + [why for points in said.abstained.values() for why in points.values()]
