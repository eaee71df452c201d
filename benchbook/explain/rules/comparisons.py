"""undecided-ratio, numa-placement, peer-access: what the difference of two runs in a log shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.devices import has_own_memory
from benchbook.explain.rules.common.errors_of_means import student
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.start_of_shells import is_below_start
from benchbook.findings import Finding

TESTS_ITSELF = "pyperf"  # and says which pairs it finds no difference for
NARROW = 0.01  # half of the interval of a ratio: less and two digits show no interval


class _Timed(NamedTuple):
    """The mean time of one command with its deviation and, where it is known, the runs."""

    mean: Result
    deviation: float
    runs: int

    @property
    def variation(self) -> float:
        """The deviation as a share of the mean."""
        return self.deviation / self.mean.base_value


@rule
def undecided_ratio(reports: Sequence[Report]) -> Iterator[Finding]:
    """A ratio of two commands' times whose interval has 1 in it.

    hyperfine's ± is the deviation of single runs. The interval of the ratio of both means is
    narrower, by the root of the runs: where that has 1 in it, nobody knows which one is faster.
    Where only the former has, the difference is real if nothing else changed between the two.
    """
    compared = [report for report in reports if "said_times" in report.facts]
    by_line = {report.results[0].line: report for report in reports if report.results}
    undecided, within, unknown = [], [], []
    for slower in compared:
        fastest = by_line.get(slower.facts.get("fastest_line", 0))
        pair = [_timed(report) for report in (slower, fastest) if report is not None]
        both = [own for own in pair if own is not None]
        if len(both) < 2 or not is_number(slower.facts["said_times"]):
            continue
        if is_below_start(slower) or is_below_start(by_line[slower.facts["fastest_line"]]):
            continue  # start_of_shells.py says what that makes of their ratio
        ratio = slower.facts["said_times"]
        spread = ratio * math.hypot(*(own.variation for own in both))
        error = ratio * _error(both)
        said: dict[str, Any] = {"ratio": ratio, "spread": spread, "error": error}
        said["printed"] = slower.facts.get("said_spread")
        said |= {"slower": both[0], "fastest": both[1], "line": slower.facts["said_times_line"]}
        if slower.tool == TESTS_ITSELF:
            continue
        if not all(own.runs for own in both):
            unknown += [said] if abs(ratio - 1) <= spread else []
        elif abs(ratio - 1) <= error and not _differ(*both):
            undecided.append(said)
        elif error < abs(ratio - 1) <= spread and _differ(*both):
            within.append(said)
    kinds = (
        ("undecided-ratio", undecided),
        ("ratio-within-spread", within),
        ("ratio-of-unknown-runs", unknown),
    )
    for kind, several in kinds:
        if several:
            yield _of_ratio(kind, several[0])


def _of_ratio(kind: str, said: dict[str, Any]) -> Finding:
    words = {
        **{name: said[name] for name in ("ratio", "spread", "error", "line")},
        "of_both": "printed" if is_number(said["printed"]) else "made",
        "low": max(0.0, said["ratio"] - said["error"]),
        "high": said["ratio"] + said["error"],
        "slower": said["slower"].mean,
        "fastest": said["fastest"].mean,
    }
    digits = 2
    exact = words["slower"].base_value / words["fastest"].base_value
    if said["error"] < NARROW and abs(exact - 1) <= said["error"]:
        digits = 4  # of the means: of the printed ratio both ends would be one number
        words |= {"low": exact - said["error"], "high": exact + said["error"]}
    words |= {f"{end}_shown": f"{words[end]:.{digits}f}" for end in ("low", "high")}
    if is_number(said["printed"]):
        words["spread"] = said["printed"]
    about = [words["slower"], words["fastest"]]
    return finding(kind, words, about=about)


def _timed(report: Report) -> _Timed | None:
    mean, deviation = report.only("time", "mean"), report.only("time", "stddev")
    if mean is None or deviation is None or not mean.is_positive:
        return None
    runs = mean.of.get("repetitions")
    return _Timed(mean, deviation.base_value, runs if isinstance(runs, int) and runs > 1 else 0)


def _differ(first: _Timed, second: _Timed) -> bool:
    """Whether two means differ by more than chance, by Welch's test at 5 %."""
    errors = [own.deviation**2 / own.runs for own in (first, second)]
    if not sum(errors):
        return first.mean.base_value != second.mean.base_value
    freedom = sum(errors) ** 2 / sum(
        error**2 / (own.runs - 1) for error, own in zip(errors, (first, second), strict=True)
    )
    apart = abs(first.mean.base_value - second.mean.base_value)
    return apart > student(freedom) * math.sqrt(sum(errors))


@rule
def same_by_pyperf(reports: Sequence[Report]) -> Iterator[Finding]:
    """Pairs that pyperf compared and found no difference for by its own test."""
    for report in reports:
        if line := report.facts.get("tested_same_line"):
            mean = report.only("time", "mean")
            if mean is not None:
                yield finding("same-by-test", {"mean": mean, "line": line}, about=[mean])
                return


def _error(both: Sequence[_Timed]) -> float:
    """Half of the interval of the ratio of both means, as a share; the deviation of single runs
    where nobody says how many there were."""
    if not all(own.runs for own in both):
        return math.hypot(*(own.variation for own in both))
    error = math.hypot(*(own.variation / math.sqrt(own.runs) for own in both))
    return error * student(min(own.runs for own in both) - 1)


APART = 1.2  # fastest ÷ slowest of what was pinned elsewhere
_BINDINGS = ("-N", "--cpunodebind", "-m", "--membind", "-C", "--physcpubind", "-p", "--preferred")


@rule
def numa_placement(reports: Sequence[Report]) -> Iterator[Finding]:
    """The same measurement, pinned to two nodes by numactl, whose figures are far apart."""
    figures: dict[Any, list[tuple[str, Result]]] = {}
    for report in reports:
        if not (where := _binding(report.asked)):
            continue
        for result in report.results:
            if result.rate and result.rate > 0:
                settings = ("message_bytes", "direction", "host_memory", "array_bytes", "threads")
                of = tuple(report.column(result, name) for name in settings)
                device = report.facts.get("device")
                key = report.tool, device, result.name, result.statistic, result.unit, of
                figures.setdefault(key, []).append((where, result))
    apart = []
    for (_, device, *_), several in figures.items():
        best: dict[str, Result] = {}
        for where, result in several:
            if where not in best or result.value > best[where].value:
                best[where] = result
        if len(best) < 2:
            continue
        ordered = sorted(best.items(), key=lambda pair: pair[1].value)
        (far, slow), (near, fast) = ordered[0], ordered[-1]
        if fast.value >= APART * slow.value:
            words = {"far": far, "near": near, "slow": slow, "fast": fast}
            apart.append((fast.value / slow.value, {**words, "device": device}))
    if apart:
        ratio, words = max(apart, key=lambda pair: pair[0])
        kind = "far-from-device" if words["device"] else "far-from-memory"
        yield finding(kind, words, ratio=ratio)


def _binding(words: Sequence[str]) -> str:
    """What numactl was told of nodes and CPUs; "" where it was not called."""
    if not any(word.endswith("numactl") for word in words):
        return ""
    bound = []
    for word, value in zip(words, [*words[1:], ""], strict=False):
        if word in _BINDINGS:
            bound.append(f"{word} {value}")
        elif word.startswith(_BINDINGS):
            bound.append(word)
    return " ".join(bound)


WORSE = 0.9  # of the rate without peer access
LATER = 1.5  # times the latency without it


@rule
def slow_peers(report: Report) -> Iterator[Finding]:
    """Pairs of devices that are slower with peer access than without it.

    Decided pair by pair, in the same direction: a copy through the host's memory passes the bus
    twice, and is faster only where the way from device to device goes wrong.
    """
    pairs: dict[tuple[object, ...], dict[str, Result]] = {}
    for result in report.knowing("peers"):
        row, column = result.of.get("row"), result.of.get("column")
        if row != column and result.is_positive:
            title = result.name.replace("P2P=Enabled ", "").replace("P2P=Disabled ", "")
            key = title.partition(" (P2P")[0], row, column
            pairs.setdefault(key, {}).setdefault(str(result.of["peers"]), result)
    worse = [
        (both["enabled"], both["disabled"], _times(both))
        for both in pairs.values()
        if len(both) > 1 and _is_worse(both)
    ]
    if worse:
        enabled, disabled, times = max(worse, key=lambda entry: entry[2])
        several = len(worse) - 1 or None
        words = {"enabled": enabled, "disabled": disabled, "times": times, "left": several}
        is_wrong = not enabled.is_time and times >= 10
        about = [result for pair in worse for result in pair[:2]]
        yield finding("slow-peers", words, about=about, very="very" if is_wrong else "somewhat")


def _times(both: Mapping[str, Result]) -> float:
    enabled, disabled = both["enabled"].value, both["disabled"].value
    return enabled / disabled if both["enabled"].is_time else disabled / enabled


def _is_worse(both: Mapping[str, Result]) -> bool:
    return _times(both) >= (LATER if both["enabled"].is_time else 1 / WORSE)


TWICE = 2.0  # apart, with the same build


@rule
def builds_repeated(report: Report) -> Iterator[Finding]:
    """Two builds that were compared twice in one log, whose own times changed by more than that.

    Decided by the same build in the same test: what lies between is the state of the machine.
    """
    pairs: dict[tuple[str, str], list[Result]] = {}
    for time in report.knowing("build"):
        if time.is_time and time.is_positive:
            pairs.setdefault((time.name, str(time.of.get("build"))), []).append(time)
    for (name, build), several in pairs.items():
        others = pairs.get((name, "new" if build == "old" else "old"), [])
        if build != "old" or len(several) != len(others) or len(several) < 2:
            continue
        first, again = several[0], several[1]
        apart = max(first.value, again.value) / min(first.value, again.value)
        ratios = [_apart(old, new) for old, new in zip(several, others, strict=True)]
        if first.unit == again.unit and apart >= TWICE and ratios[0] > ratios[1]:
            words = {"first": first, "again": again, "apart": apart, "build": build}
            yield finding("builds-repeated", words, first_ratio=ratios[0], next_ratio=ratios[1])
            return


def _apart(first: Result, second: Result) -> float:
    return max(first.value, second.value) / min(first.value, second.value)


LEAST_COUNTED = 3  # runs


@rule
def undecided_means(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two starts of perf stat -r on one program whose times differ by no more than their errors.

    Decided by the printed errors of both means. Only of two: among several some are always near.
    """
    counted = [
        (report, clock)
        for report in reports
        if report.tool == "perf-stat" and (report.facts.get("repetitions") or 0) >= LEAST_COUNTED
        if (clock := _counted_time(report)) is not None
    ]
    programs = {str(report.facts.get("program", "")).split(" ")[0] for report, _ in counted}
    if len(counted) != 2 or len(programs) != 1:
        return
    first, second = (clock for _, clock in counted)
    errors = [float(clock.of["error_percent"]) for clock in (first, second)]
    apart = 100 * abs(second.base_value / first.base_value - 1)
    error = 1.96 * math.hypot(*errors)
    if first.name == second.name and apart <= error:
        words = {"first": first, "second": second, "apart": apart, "error": error}
        words |= {"first_error": errors[0], "second_error": errors[1]}
        yield finding("means-of-counts", words)


def _counted_time(report: Report) -> Result | None:
    for time in report.called("task-clock"):
        if time.is_positive and is_number(time.of.get("error_percent")):
            return time
    return None


LINK_BYTES_PER_S = (1e9, 64e9)  # what a link between host and device carries
DEVICE_BYTES_PER_S = 2e11  # of memory: more than most hosts have
TIMES_FASTER = 8.0


@rule
def over_the_link(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two runs of a bandwidth test of devices, one at the rate of a link, one at that of a memory.

    Decided by both rates of the same kernel over arrays of the same size, on a device of one name.
    """
    runs = [
        report
        for report in reports
        if report.tool == "babelstream" and has_own_memory(report) and report.being("best")
    ]
    if len(runs) < 2:
        return
    kernels: dict[tuple[object, ...], list[Result]] = {}
    for run in runs:
        size, device = (run.facts.get(name) for name in ("array_bytes", "device"))
        for best in run.being("best"):
            kernels.setdefault((size, device, best.name), []).append(best)
    for several in kernels.values():
        slow, fast = (pick(several, key=lambda best: best.rate or 0.0) for pick in (min, max))
        rates = slow.rate or 0.0, fast.rate or 0.0
        is_link = LINK_BYTES_PER_S[0] <= rates[0] <= LINK_BYTES_PER_S[1]
        if is_link and max(DEVICE_BYTES_PER_S, TIMES_FASTER * rates[0]) <= rates[1] < math.inf:
            yield finding("over-the-link", slow=slow, fast=fast, ratio=rates[1] / rates[0])
            return


@rule
def ratios_with_one(report: Report) -> Iterator[Finding]:
    """Ratios of hyperfine within their deviation of 1, whose commands were cut out of the log."""
    ratios = report.called("times faster")
    spreads = {spread.line: spread.value for spread in ratios if spread.statistic == "stddev"}
    near = [
        ratio
        for ratio in ratios
        if not ratio.statistic and 0 <= ratio.value - 1 <= spreads.get(ratio.line, 0.0)
    ]
    if near:
        words = {"ratio": near[0], "spread": spreads[near[0].line], "left": len(near) - 1 or None}
        yield finding("ratios-with-one", words, about=near)
