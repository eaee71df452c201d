"""Names of points, methods, settings and reasons on pages, out of paper.json."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from benchbook.core import number_format
from benchbook.core.sizes import format_bytes
from benchbook.define.points import Point

STOPPED = {
    "width": "the intervals were narrow enough",
    "last_look": "the last planned look was reached",
    "budget": "the time budget was reached",
    "nothing_to_measure": "no point could be measured",
}
UNSTATED = "not stated"
_SIZE = re.compile(r"\d[\d.,]* (?:B|KiB|MiB|GiB)\b")
Paper = dict[str, Any]


def parts_of(point: str) -> dict[str, str]:
    """Variant and factors out of a point's id, which also names points that were not measured."""
    named = Point.of_id(point)
    return {"variant": named.variant, **{key: str(value) for key, value in named.factors.items()}}


def experiment_of(paper: Paper, point: str) -> dict[str, Any]:
    """The experiment that a point (or a figure's row) belongs to."""
    for row in paper["points"]:
        if row["point"] == point:
            return paper["experiments"][row["experiment"]]
    for figure in paper["figures"]:
        if any(row["point"] == point for row in figure["rows"]):
            return paper["experiments"][figure["experiment"]]
    return next(iter(paper["experiments"].values()))


def method_name(paper: Paper, point: str | None) -> str:
    """What pages call a point's method."""
    if not point:
        return "unknown"
    parts = parts_of(point)
    method = parts.get("method", parts["variant"])
    return experiment_of(paper, point)["names"].get(method, method)


def size_of(point: str) -> str:
    """`32 MiB`, empty where a point has no size."""
    size = parts_of(point).get("bytes", "")
    return bytes_of(int(size)) if size.isdigit() else size


def bytes_of(count: int) -> str:
    """`32 MiB`, never broken at its space."""
    return format_bytes(count).replace(" ", number_format.FIXED)


def point_name(paper: Paper, point: str, **changed: str) -> str:
    """`block copy 1.1.1, 32 MiB in blocks of 4 KiB, mempcpy, gcc-O2`; with some of its factors
    changed, or left out where they are empty."""
    parts = parts_of(point) | changed
    block, size = parts.get("block_bytes", ""), parts.get("bytes", "")
    size = (bytes_of(int(size)) if size.isdigit() else size) + (
        f" in blocks of {bytes_of(int(block))}" if block else ""
    )
    leading = {"variant", "method", "bytes", "block_bytes"}
    others = [
        value_word(paper, point, key, value)
        for key, value in parts.items()
        if value and key not in leading and not is_none(key, value)
    ]
    words = [method_name(paper, point), size, *others, parts["variant"]]
    return ", ".join(word for word in words if word)


# Ending of a factor's name -> how its values are said.
UNITS_OF_FACTORS = {
    "bytes": bytes_of,
    "_bits_per_s": number_format.bit_rate,
    "_ns": number_format.duration,
}


def setting_word(factor: str, value: str) -> str:
    """A factor's value as pages say it: `256 KiB`, `static`, `gap 10 µs`, `link 1 Gb/s`, or of a
    count `2 threads`."""
    if not value.isdigit():
        return value
    for ending, words in UNITS_OF_FACTORS.items():
        if factor.endswith(ending):
            name = factor.removesuffix(ending).strip("_").replace("_", " ")
            return f"{name} {words(int(value))}" if ending != "bytes" else words(int(value))
    name = factor.replace("_", " ")
    word = name.removesuffix("es") if name.endswith("ches") else name.removesuffix("s")
    return number_format.plural(int(value), word, name if name.endswith("s") else None)


def is_none(factor: str, value: str) -> bool:
    """Whether a value says only that there is none of it, such as no gap; no size does."""
    return value == "0" and not factor.endswith("bytes")


def setting_name(factors: dict[str, Any], names: dict[str, dict[str, str]] | None = None) -> str:
    """`256 KiB, static, 1 thread`: all of a setting but its method; `names` are what an experiment
    calls values of its factors."""
    return ", ".join(
        (names or {}).get(key, {}).get(str(value)) or setting_word(key, str(value))
        for key, value in factors.items()
        if key != "method" and not is_none(key, str(value))
    )


def value_word(paper: Paper, point: str, factor: str, value: str) -> str:
    """A factor's value as the experiment names it, else as pages say all of its kind."""
    names = experiment_of(paper, point).get("values", {}).get(factor, {})
    return str(names.get(value) or setting_word(factor, value))


def differing(paper: Paper, first: str, second: str) -> tuple[str, str]:
    """Two points of one method, each by what tells it from the other: `1 switch`, `0 switches`."""
    parts = [parts_of(point) for point in (first, second)]
    differ = [key for key in parts[0] if parts[0][key] != parts[1].get(key)]
    words = [
        " ".join(value_word(paper, first, key, part.get(key, "")) for key in differ)
        for part in parts
    ]
    return words[0], words[1]


def byline(paper: Paper) -> str:
    """`Neil Slocum, blog post, 2013-02-11`, and what of that is not stated."""
    stated = {key: paper[key] for key in ("author", "kind", "date")}
    lacking = [key for key, value in stated.items() if value == UNSTATED]
    words = [value for key, value in stated.items() if key not in lacking]
    words += [f"{number_format.listed(lacking)} {UNSTATED}"] if lacking else []
    return ", ".join(words)


def environment(runs: Iterable[dict[str, Any]]) -> str:
    """Door and compilers, and under Nix the lock's revision, of runs with their door, facts and
    variants: `host; gcc (Debian 12.2.0-14) 12.2.0`."""
    names: dict[str, None] = {}
    for run in runs:
        revision = run["facts"].get("nix_revision")
        names[run["door"] + (f", nixpkgs at revision {revision}" if revision else "")] = None
        for variant in run["variants"]:  # a compiler of MPI has the version of the C compiler too
            names |= dict.fromkeys((variant.get("compiler_version") or "").split("; "))
    return "; ".join(name for name in names if name)


def run_in_short(experiment: dict[str, Any]) -> str:
    """`12 rounds, none disturbed, 48 s of measuring`: an experiment's run in a line."""
    rounds, disturbed = experiment["blocks"], len(experiment["disturbed"])
    return (
        f"{number_format.plural(rounds, 'round')}, {disturbed or 'none'} disturbed, "
        f"{number_format.seconds(experiment['measuring_s'])} of measuring"
    )


def wrapper_changes(variant: dict[str, Any]) -> str:
    """What a compiler wrapper did to a variant's flags; empty where it left them alone."""
    changes = variant.get("wrapper") or {}
    if changes.get("state") == "unknown":
        return f"what reached the compiler is unknown: {changes['reason']}"
    parts = [f"{did} {' '.join(changes[did])}" for did in ("dropped", "added") if changes.get(did)]
    return f"a wrapper {' and '.join(parts)}" if parts else ""


def capitalised(text: str) -> str:
    """A text with its first letter as a capital, but where it begins with a name of code or of a
    program, such as `getpid()` or `mbw 1.1.1`."""
    if re.match(r"\w*(\(|_)|\w+ \d+\.\d", text):
        return text
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """A text with its first letter in lower case, as after a colon, but where a name begins with
    several capitals."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def row_name(figure: dict[str, Any], row: dict[str, Any]) -> str:
    """What a picture calls a row; a bare number with what it counts: `2 switches`."""
    label = str(row["label"])
    return setting_word(figure["x"], label) if label.isdigit() else label


def line_name(figure: dict[str, Any], name: str) -> str:
    """What a picture calls a line of a table of several columns; a bare number with what it counts:
    `64 B`."""
    return setting_word(figure["x"], name) if name.isdigit() else name


def observations(paper: Paper, point: str | None) -> dict[str, Any]:
    """What was observed of a point; empty where it was not measured."""
    points = (row for row in paper["points"] if row["point"] == point)
    measured: dict[str, Any] = next(points, {})
    observed: dict[str, Any] = measured.get("observations", {})
    return observed


def mechanism(paper: Paper, point: str | None) -> str:
    """How a point copies less than it declares, as a verb phrase; empty where it does not."""
    seen = observations(paper, point)
    done, declared = seen.get("work_done_fraction"), seen.get("blocks_declared")
    if point is None or done is None or done >= 1:
        return ""
    if declared and declared > 1 and seen.get("distinct_source_blocks") == 1:
        block = parts_of(point).get("block_bytes", "")
        what = f"{bytes_of(int(block))} block" if block else "block"
        onto = " to as many places" if seen.get("destination_written_fraction") == 1 else ""
        return f"copies one {what} {number_format.count(declared)} times{onto}"
    return f"delivers only {number_format.share(done)} of the bytes that it declares"


def all_claims(paper: Paper) -> list[dict[str, Any]]:
    """All claims of the figures shown, in their order; of one claim by several means, such as two
    libraries, the one that was decided, else tried, else the first: it counts once."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for figure in paper["figures"]:
        for claim in figure["claims"]:
            own = f"{figure.get('id')}/{claim.get('claim')}"
            groups.setdefault(claim.get("repeats") or own, []).append(claim)
    return [min(same, key=_how_undecided) for same in groups.values()]


def _how_undecided(claim: dict[str, Any]) -> int:
    order = ("inconclusive", "not_measurable_here")
    return order.index(claim["verdict"]) + 1 if claim["verdict"] in order else 0


def points_of(claim: dict[str, Any]) -> list[str]:
    """The points that a claim compares."""
    sides = [side if isinstance(side, list) else [side] for side in claim["points"].values()]
    return list(dict.fromkeys(point for side in sides for point in side if point))


def rows_of(paper: Paper, figure_id: str, point: str | None) -> list[dict[str, Any]]:
    """The rows of a figure that a point reruns."""
    figures = [figure for figure in paper["figures"] if figure["id"] == figure_id]
    return [row for figure in figures for row in figure["rows"] if row["point"] == point]


def printed_value(row: dict[str, Any]) -> float | None:
    """A row's published value; None where the source prints no number."""
    try:
        return float(row["printed"])
    except ValueError:
        return None


def scaled(value: float | None, per: float) -> float | None:
    """A value in a larger unit; None stays None."""
    return None if value is None else value / per


def ratio_range(values: list[float]) -> str:
    """`1.73`, or of several tables `2.50 to 2.56`; a dash for none."""
    if not values:
        return number_format.NONE
    low, high = number_format.number(min(values)), number_format.number(max(values))
    return low if low == high else f"{low} to {high}"


def disturbed_blocks(experiment: dict[str, Any]) -> str:
    """`2 of 8 rounds`."""
    return (
        f"{len(experiment['disturbed'])} of {number_format.plural(experiment['blocks'], 'round')}"
    )


def seal(experiment: dict[str, Any]) -> str:
    """Whether the files of a run were checked against the checksums in its manifest."""
    if experiment.get("sealed"):
        return "sealed: its files match the checksums that were written when it ended"
    return "not sealed: it was measured before runs had checksums"


def left_out(experiment: dict[str, Any]) -> list[str]:
    """A sentence for each damaged run that was not used."""
    return [
        f"Run {damaged['run']} was left out because it is damaged: {damaged['reason']}."
        for damaged in experiment.get("left_out", [])
    ]


def disturbance_warning(experiments: dict[str, dict[str, Any]]) -> str:
    """A warning where half of the blocks of an experiment or more were disturbed, else empty."""
    loud = [
        f"{len(experiment['disturbed'])} of "
        f"{number_format.plural(experiment['blocks'], 'round')} of {name}"
        for name, experiment in experiments.items()
        if experiment["blocks"] and 2 * len(experiment["disturbed"]) >= experiment["blocks"]
    ]
    if not loud:
        return ""
    return (
        f"Caution: other programs were running during {number_format.listed(loud)}, which "
        "can widen the intervals. To measure again on a quiet machine: "
        "`snakemake --config again=2`, with a number not used before."
    )


def state_in_words(row: dict[str, Any]) -> str:
    """A state in words: `failed`, or `not run` of what cannot run or has no room in the budget."""
    return "not run" if row["state"] == "cannot_run" else str(row["state"]).replace("_", " ")


def by_reason(reasons: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Reason -> what it holds for; reasons that differ in their sizes only are one, with the
    first and the last size: `needs 4.5 GiB to 895 GiB of memory, …`."""
    groups: dict[str, list[tuple[str, Any]]] = {}
    for reason, what in reasons:
        groups.setdefault(_SIZE.sub("…", reason), []).append((reason, what))
    return {
        _with_sizes(same[0][0], same[-1][0]): [what for _, what in same] for same in groups.values()
    }


def _with_sizes(first: str, last: str) -> str:
    pairs = zip(_SIZE.findall(first), _SIZE.findall(last), strict=True)
    words = iter([low if low == high else f"{low} to {high}" for low, high in pairs])
    return _SIZE.sub(lambda _: next(words), first)


def why_not_measured(paper: Paper, row: dict[str, Any]) -> str:
    """Why a cell has no rerun."""
    if row["state"] == "not_in_preset":
        return f"not in preset {paper['preset']}"
    return f"{state_in_words(row)}: {row['reason']}"


SCHEDULING = {
    "real_time": "before all ordinary work, at the lowest real-time priority",
    "nice": "with the largest share of a CPU, at nice −20",
    "normal": "as one among the others",
}


def beside_other_work(kinds: list[str]) -> str:
    """How the system let the starts of a run work beside other programs."""
    return "the programs ran " + ", or ".join(SCHEDULING[kind] for kind in kinds)
