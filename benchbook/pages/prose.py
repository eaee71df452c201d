"""What a page says of a paper, in sentences: every number is quoted from paper.json.

Generic: names come from the experiment, figures from the rerun, causes from what was observed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook import digits
from benchbook.sizes import format_bytes

LEAD = {
    "reproduced": "Yes, it holds here.",
    "not_reproduced": "No, it does not hold here.",
    "inconclusive": "It stays undecided here.",
    "not_measurable_here": "It cannot be measured here.",
}
STOPPED = {
    "width": "the intervals were narrow enough",
    "last_look": "the last planned look was reached",
    "budget": "the time budget was reached",
    "nothing_to_measure": "no point could be measured",
}
Paper = dict[str, Any]


def parts_of(point: str) -> dict[str, str]:
    """Variant and factors out of a point's id, which also names points that were not measured."""
    variant, *factors = point.split(",")
    return {"variant": variant, **dict(factor.split("=", 1) for factor in factors)}


def experiment_of(paper: Paper, point: str) -> dict[str, Any]:
    """The experiment that a point (or a figure's row) belongs to."""
    for one in paper["points"]:
        if one["point"] == point:
            return paper["experiments"][one["experiment"]]
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
    return format_bytes(count).replace(" ", digits.FIXED)


def point_name(paper: Paper, point: str) -> str:
    """`block copy 1.1.1, 32 MiB in blocks of 4 KiB, mempcpy, gcc-O2`."""
    parts = parts_of(point)
    block = parts.get("block_bytes", "")
    size = size_of(point) + (f" in blocks of {bytes_of(int(block))}" if block else "")
    known = {"variant", "method", "bytes", "block_bytes"}
    others = [value for key, value in parts.items() if key not in known]
    words = [method_name(paper, point), size, *others, parts["variant"]]
    return ", ".join(word for word in words if word)


def upper(text: str) -> str:
    """The same as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def observations(paper: Paper, point: str | None) -> dict[str, Any]:
    """What was observed of a point; empty where it was not measured."""
    found = (one for one in paper["points"] if one["point"] == point)
    return next(found, {}).get("observations", {})


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
        return f"copies one {what} {digits.count(declared)} times{onto}"
    return f"delivers only {digits.share(done)} of the bytes that it declares"


def claims(paper: Paper) -> list[dict[str, Any]]:
    """All claims of the figures shown, in their order."""
    return [claim for figure in paper["figures"] for claim in figure["claims"]]


def compared(claim: dict[str, Any]) -> str:
    """`times as fast as`, or for times `times as long as`."""
    return "times as long as" if claim["unit"].endswith("times") else "times as fast as"


def headline(paper: Paper) -> str:
    """The finding, as a title."""
    first = next(iter(claims(paper)), None)
    if first is None:
        return _headline_of_figure(paper)
    if first["verdict"] == "not_measurable_here":
        return f"Not measurable here: {_lower(first['text']).rstrip('.')}"
    if first["verdict"] == "inconclusive":
        return f"Undecided here: {_lower(first['text']).rstrip('.')}"
    sides = first["points"]
    return _is_as(
        paper,
        sides["numerator"],
        sides["denominator"],
        digits.number(first["estimate"], *first["interval"]),
        compared(first),
        first["verdict"] == "not_reproduced",
    )


def _is_as(paper: Paper, top: str, bottom: str, ratio: str, words: str, only: bool) -> str:
    names = [method_name(paper, side) for side in (top, bottom)]
    because = mechanism(paper, top)
    text = f"{names[0]} is {'only ' if only else ''}{ratio} {words} {names[1]} here"
    return upper(text + (f", because it {because}" if because else ""))


def _headline_of_figure(paper: Paper) -> str:
    for figure in paper["figures"]:
        # What copies least tells most, else what stands last.
        rows = sorted(figure["rows"][:0:-1], key=lambda row: not mechanism(paper, row["point"]))
        for row in rows:
            ratio = row["ratio"]
            if ratio:
                text = digits.number(ratio["ratio"], ratio["low95"], ratio["high95"])
                base = figure["rows"][0]["point"]
                return _is_as(paper, row["point"], base, text, "times as fast as", False)
    first = next(iter(paper["figures"]), None)
    return f"{first['title']}: nothing to compare was measured" if first else paper["title"]


def _lower(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def answer(paper: Paper) -> list[list[str]]:
    """Did it hold here, and why: the first paragraphs, as sentences."""
    first = next(iter(claims(paper)), None)
    said = []
    if first is not None:
        said.append(LEAD[first["verdict"]])
        said.append(f"“{first['text']}” ({paper['kind']}, {paper['date'][:4]}.)")
        said += _measured(paper, first)
        if first["verdict"] in ("inconclusive", "not_measurable_here"):
            said.append(f"The reason: {reason(paper, first)}.")
    top = first["points"]["numerator"] if first else None
    said += _why(paper, top)
    rest = [list(_other_forms(paper, top)), list(_not_the_end(paper))]
    return [paragraph for paragraph in (said, *rest) if paragraph]


def reason(paper: Paper, claim: dict[str, Any]) -> str:
    """The verdict's reason with its points named as the page names them."""
    text = claim["reason"].rstrip(".")
    for point in filter(None, claim["points"].values()):
        text = text.replace(point, point_name(paper, point))
    return text


def _row(paper: Paper, figure: str, point: str | None) -> dict[str, Any]:
    rows = [row for one in paper["figures"] if one["id"] == figure for row in one["rows"]]
    return next((row for row in rows if row["point"] == point), {})


def printed_ratio(paper: Paper, claim: dict[str, Any]) -> float | None:
    """The published ratio behind a claim, where both its sides stand in the figure's table."""
    sides = [
        _row(paper, claim["figure"], claim["points"][side]).get("printed_ratio")
        for side in ("numerator", "denominator")
    ]
    return sides[0] / sides[1] if all(sides) else None


def _measured(paper: Paper, claim: dict[str, Any]) -> Iterator[str]:
    if claim["estimate"] is None:
        return
    figure = next(one for one in paper["figures"] if one["id"] == claim["figure"])
    sides = [claim["points"][side] for side in ("numerator", "denominator")]
    rows = [_row(paper, claim["figure"], side) for side in sides]
    rates = [digits.number(row.get("rerun"), row.get("low"), row.get("high")) for row in rows]
    names = [method_name(paper, side) for side in sides]
    ratio = digits.with_interval(claim["estimate"], *claim["interval"])
    published = printed_ratio(paper, claim)
    there = f"; the paper’s own figures give {digits.number(published)}" if published else ""
    if all(row.get("rerun") for row in rows):
        yield (
            f"On this machine {names[0]} shows {rates[0]} {figure['y_unit']} at "
            f"{size_of(sides[0])}, {names[1]} {rates[1]}: a ratio of {ratio}{there}."
        )
    else:
        yield f"On this machine the ratio is {ratio}{there}."


def _why(paper: Paper, point: str | None) -> Iterator[str]:
    seen = observations(paper, point)
    if not point or not mechanism(paper, point):
        return
    yield (
        f"But that is no rate of copying memory: {method_name(paper, point)} "
        f"{mechanism(paper, point)}, so that {digits.share(seen['work_done_fraction'])} of the "
        "declared bytes stand where they belong, and what it touches stays in the cache."
    )


def _other_forms(paper: Paper, without: str | None) -> Iterator[str]:
    told = parts_of(without).get("method") if without else None
    for experiment in paper["experiments"].values():
        base = experiment["forms"][0]["point"] if experiment["forms"] else ""
        for form in experiment["forms"]:
            point, ratio = form["point"], form["ratio"]
            declared = form["observations"].get("blocks_declared") or 0
            if declared <= 1 or form["factors"].get("method") == told or not ratio:
                continue
            text = digits.with_interval(ratio["ratio"], ratio["low95"], ratio["high95"])
            if form["observations"].get("work_done_fraction") is None:
                continue  # nothing can be said of what it did
            how = mechanism(paper, point) or "copies all that it declares"
            yield (
                f"{upper(method_name(paper, point))} {how}: {text} times "
                f"{method_name(paper, base)} at {size_of(point)}."
            )


def _not_the_end(paper: Paper) -> Iterator[str]:
    for experiment in paper["experiments"].values():
        pairs = [one for one in experiment["odd"]["pairs"] if one["kind"] == "methods"]
        if not pairs:
            continue
        one = next((pair for pair in pairs if _in_blocks(paper, pair)), pairs[0])
        here = ""
        if one["rerun"]:
            ends = one["rerun"]["low95"], one["rerun"]["high95"]
            here = f", here {digits.with_interval(one['rerun']['ratio'], *ends)}"
        yield (
            f"That does not close the case: {method_name(paper, one['top'])} and "
            f"{method_name(paper, one['bottom'])} deliver the same {size_of(one['top'])}, yet "
            f"in the paper their rates differ by a factor of {ratios(one['published'])}{here}."
        )


def _in_blocks(paper: Paper, pair: dict[str, Any]) -> bool:
    return (observations(paper, pair["top"]).get("blocks_declared") or 0) > 1


def ratios(values: list[float]) -> str:
    """`1.73`, or of several tables `2.50 to 2.56`; a dash for none."""
    if not values:
        return digits.NONE
    low, high = digits.number(min(values)), digits.number(max(values))
    return low if low == high else f"{low} to {high}"


def quietness(experiment: dict[str, Any]) -> str:
    """A warning where half of the blocks or more were disturbed, else empty."""
    blocks, disturbed = experiment["blocks"], len(experiment["disturbed"])
    if not blocks or 2 * disturbed < blocks:
        return ""
    return (
        f"Read the figures with care: {disturbed} of {digits.plural(blocks, 'block')} were "
        "disturbed by other work on this host, and the intervals carry that noise. On a quiet "
        "machine `snakemake --config again=2` makes a fresh run (3 the next one)."
    )


def not_measured(paper: Paper, row: dict[str, Any]) -> str:
    """Why a cell has no rerun."""
    if row["state"] == "not_in_preset":
        return f"not in preset {paper['preset']}"
    return f"{row['state'].replace('_', ' ')}: {row['reason']}"
