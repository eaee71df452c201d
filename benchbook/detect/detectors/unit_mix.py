"""unit-mix: two figures of the same work differ by what they count, not by what was done.

Decided, where both are ours, by the bytes that each declares for the same instructions on the same
buffers. Of a program that was not looked into only times are known: there a ratio that sits on one
and the same constant at several sizes says so, less surely.
"""

from __future__ import annotations

import math
from itertools import combinations

from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.findings import Finding, proof
from benchbook.stats.ratios import Ratio, time_ratio

CONSTANTS = {
    1.024: "kilobytes of 1000 and of 1024 bytes",
    1.048576: "megabytes of 10⁶ and of 2²⁰ bytes",
    1.073741824: "gigabytes of 10⁹ and of 2³⁰ bytes",
    4 / 3: "a triad with and without the line that is read before a store",
    1.5: "a copy with and without the line that is read before a store",
    2.0: "a copy counted once and one counted as a read and a write",
    3.0: "a copy counted once and one counted as two reads and a write",
    8.0: "bits and bytes",
}
LEAST_BY_TIME = 1.03  # two programs may well differ by less
BY_TIME = [constant for constant in CONSTANTS if constant > LEAST_BY_TIME]
EXACT = 1e-4
NEAR_ONE = 1.1  # constants below this are too near to 1 for times to tell
LEVEL = 0.99  # of each interval: all sizes must agree
SYSTEMATIC = 1.005  # what layout or the other program's own loop may add
LEAST_SIZES = 3
SURE = 0.9
SAME = "the same figure"
SAME_TIME = 1.1  # times that are less apart
SETTING = ("bytes", "block_bytes", "threads", "processes", "buffers_bytes")
CODE = (
    "loads_in_loop",
    "stores_in_loop",
    "non_temporal_stores",
    "string_instructions",
    "library_calls",
)
BUFFERS = ("bytes", "buffers_bytes")
ARTEFACT = artefact("unit-mix")


def detect(seen: Seen) -> Judged:
    """One finding for each constant between points of ours, and each foreign program.

    Abstains on a foreign program's points where one size only, or too wide an interval, is there;
    between points of ours, where the blocks do not agree whether they differ in speed.
    """
    judged = Judged()
    rows = [row for row in seen.rows() if first_unknown(row, ("bytes_per_call", "time_ns")) is None]
    ours = [row for row in rows if first_unknown(row, CODE) is None]
    by_kind: dict[float, list[tuple[Row, Row, float]]] = {}
    compared: list[str] = []
    for first, second in combinations(ours, 2):
        less, more = sorted((first, second), key=lambda row: row["bytes_per_call"])
        constant = _constant(more["bytes_per_call"] / less["bytes_per_call"])
        alike = _alike(first, second)
        compared += [first["where"], second["where"]] if alike or constant else []
        if constant is None or not alike:
            continue
        ratio = time_ratio(seen.starts, less["where"], more["where"])
        times = ratio.estimate if ratio else less["time_ns"] / more["time_ns"]
        bound = math.sqrt(constant)
        if constant < NEAR_ONE or 1 / bound < times < bound:
            by_kind.setdefault(constant, []).append((less, more, times))
        elif ratio and not _all_beyond(ratio, bound):
            why = ARTEFACT.cannot_tell("blocks-disagree")
            judged.abstained |= {less["where"]: why, more["where"]: why}
    judged.findings += [_declared(constant, by_kind[constant]) for constant in sorted(by_kind)]
    for where in {where for finding in judged.findings for where in finding.where}:
        judged.abstained.pop(where, None)
    foreign: dict[str, dict[str, list[tuple[Row, Row]]]] = {}
    for row in rows:
        if is_known(row.get("library_calls")) or is_known(row.get("flags_asked")):
            continue
        for twin in ours:
            if twin["setting"] == row["setting"]:
                beside = foreign.setdefault(row["series"], {})
                beside.setdefault(twin["series"], []).append((row, twin))
    for beside in foreign.values():
        compared += [row["where"] for pairs in beside.values() for row, _ in pairs]
        _of_foreign(seen, list(beside.values()), judged)
    return judged.rest_is_clean(compared)


def _all_beyond(ratio: Ratio, bound: float) -> bool:
    """Whether every block has one of them slower by more than that, and always the same one."""
    return min(ratio.each) >= bound or max(ratio.each) <= 1 / bound


def _alike(first: Row, second: Row) -> bool:
    """The same instructions on the same buffers; without any, nothing tells that it is the same
    work."""
    if not any(is_known(row.get(name)) for name in BUFFERS for row in (first, second)):
        return False
    sides = [
        [str(row[name]) if is_known(row.get(name)) else "" for name in (*SETTING, *CODE)]
        for row in (first, second)
    ]
    return sides[0] == sides[1]


def _constant(ratio: float) -> float | None:
    return next(
        (constant for constant in CONSTANTS if math.isclose(ratio, constant, rel_tol=EXACT)), None
    )


def _declared(constant: float, pairs: list[tuple[Row, Row, float]]) -> Finding:
    less, more, times = min(pairs, key=lambda pair: (pair[0]["bytes_per_call"], pair[2]))
    apart = max(max(factor, 1 / factor) for *_, factor in pairs)
    words = {
        "times": times,
        "apart": apart,
        "same_time": apart < SAME_TIME,
        "fewer_bytes": int(less["bytes_per_call"]),
        "more_bytes": int(more["bytes_per_call"]),
        "of_units": CONSTANTS[constant],
    }
    evidence = [
        proof("bytes per call by one", less["bytes_per_call"], "bytes", "declared"),
        proof("bytes per call by the other", more["bytes_per_call"], "bytes", "declared"),
        proof("bytes of the buffers of both", less.get("buffers_bytes"), "bytes", "harness"),
        proof("time ÷ time", times, "1", "paired blocks"),
    ]
    counted_more = [more for _, more, _ in pairs]
    return ARTEFACT.finding(counted_more, words, "declared", evidence=evidence, factor=constant)


def _of_foreign(seen: Seen, beside: list[list[tuple[Row, Row]]], judged: Judged) -> None:
    """A program that was not looked into, beside our builds of the same work."""
    judged_pairs = [(pairs, _told(seen, pairs)) for pairs in beside]
    if any(count == SAME for _, count in judged_pairs):
        return
    for pairs, count in judged_pairs:
        if isinstance(count, str):
            judged.abstained |= {row["where"]: count for row, _ in pairs if count}
        else:
            judged.findings.append(_timed(pairs, count))


def _told(seen: Seen, pairs: list[tuple[Row, Row]]) -> list[Ratio] | str:
    """The ratios that sit on one constant, that it is the same figure, why nobody can tell, or
    nothing: it is another speed."""
    ratios = [_rate(seen, row, twin) for row, twin in pairs]
    measured = [ratio for ratio in ratios if ratio is not None]
    sides = [_sides(ratio) for ratio in measured]
    if [1.0] in sides:
        return SAME
    if len(measured) < len(ratios):
        return ARTEFACT.cannot_tell("no-common-block")
    if [] in sides:
        return ""
    if any(len(each) > 1 for each in sides):
        return ARTEFACT.cannot_tell("too-noisy")
    if len({each[0] for each in sides}) > 1:
        return ""
    if len(pairs) < LEAST_SIZES:
        return ARTEFACT.cannot_tell("too-few-sizes", least=LEAST_SIZES)
    return measured


def _rate(seen: Seen, row: Row, twin: Row) -> Ratio | None:
    """Rate ÷ rate of ours, with what may be of no unit's making in its interval."""
    ratio = time_ratio(seen.starts, twin["where"], row["where"], LEVEL)
    return ratio and ratio.scaled(row["bytes_per_call"] / twin["bytes_per_call"], SYSTEMATIC)


def _sides(ratio: Ratio) -> list[float]:
    """1 and the constants, or one over them, that the interval holds."""
    sides = [1.0, *(side for factor in BY_TIME for side in (factor, 1 / factor))]
    return [side for side in sides if ratio.low <= side <= ratio.high]


def _timed(pairs: list[tuple[Row, Row]], ratios: list[Ratio]) -> Finding:
    (side,) = _sides(ratios[0])
    constant = max(side, 1 / side)
    factors = [max(ratio.estimate, 1 / ratio.estimate) for ratio in ratios]
    words = {
        "sizes": len(pairs),
        "least": min(factors),
        "most": max(factors),
        "constant": constant,
        "of_units": CONSTANTS[constant],
        "sure": SURE,
        "estimates": sorted(ratio.estimate for ratio in ratios),
    }
    return ARTEFACT.finding([row for row, _ in pairs], words, "by-time", factor=side)
