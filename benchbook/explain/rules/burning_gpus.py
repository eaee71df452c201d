"""run-failed, clock-slowdown, mixed-order: what a stress test of GPUs shows of each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from benchbook.core.number_format import listed
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "gpu-burn"
LEAST_SAMPLES = 5  # of a rate over time
FELL, KEPT = 0.96, 0.975  # of the first third, in the last one
WARMER, WARM = 5, 70  # °C: at least so much more, and so much
SHOWN = 4


def _named(gpus: Sequence[int]) -> str:
    """`GPU 1`, or `GPUs 0, 2 and 3`."""
    shown = [str(gpu) for gpu in gpus[:SHOWN]]
    shown += [f"{len(gpus) - SHOWN} more"] if len(gpus) > SHOWN else []
    return f"GPU {shown[0]}" if len(gpus) == 1 else f"GPUs {listed(shown)}"


@rule
def burn_failed(report: Report) -> Iterator[Finding]:
    """GPUs that computed wrong results, whose process died, or that computed nothing."""
    if report.tool != TOOL:
        return
    died: Mapping[int, int] = report.facts.get("died", {})
    wrong: Mapping[int, int] = report.facts.get("wrong", {})
    faulty: Sequence[int] = report.facts.get("faulty", [])
    if died:
        words = {"gpus": _named(sorted(died)), "line": min(died.values())}
        yield finding("burn-died", words, about=_lines(died.values()))
    if wrong:
        verdict = len(faulty) or None
        words = {"gpus": _named(sorted(wrong)), "line": min(wrong.values()), "faulty": verdict}
        words["verdict_line"] = report.facts.get("verdict_line")
        yield finding("burn-wrong", words, about=_lines(wrong.values()))
    elif faulty and not died:
        words = {"gpus": _named(faulty), "line": report.facts["verdict_line"]}
        yield finding("burn-faulty", words, about=_lines([report.facts["verdict_line"]]))
    rates = [own for own in report.results if own.unit == "Gflop/s"]
    verdict_line = report.facts.get("verdict_line")
    if not rates and verdict_line and not faulty:
        yield finding("burn-nothing", line=verdict_line, about=_lines([verdict_line]))
    elif rates and not died and not any(own.value > 0 for own in rates):
        yield finding("burn-none", first=rates[0], last=rates[-1])


def _lines(numbers: Iterable[int]) -> list[str]:
    return [f"line {number}" for number in sorted(set(numbers))]


@rule
def slows_with_heat(report: Report) -> Iterator[Finding]:
    """A GPU whose rate falls while it becomes hot, and one that keeps its rate if there is any.

    Decided by the means of the first and the last third of its samples, and by its temperatures.
    """
    if report.tool != TOOL:
        return
    series = _series(report, "rate", least=LEAST_SAMPLES)
    degrees = _series(report, "temperature", least=2)
    ends = {gpu: _ends(own) for gpu, own in series.items()}
    kept = [gpu for gpu, (first, last) in ends.items() if last >= KEPT * first]
    for gpu, (first, last) in ends.items():
        own = degrees.get(gpu, [])
        if not own or first <= 0 or last > FELL * first:
            continue
        hottest = max(own, key=lambda each: each.value)
        if hottest.value < max(WARM, own[0].value + WARMER):
            continue
        words: dict[str, object] = {
            "gpu": gpu,
            "begin": first,
            "end": last,
            "part": 1 - last / first,
        }
        words |= {"cold": own[0], "hot": hottest, "from": series[gpu][0], "to": series[gpu][-1]}
        words["other"] = next((other for other in kept if other != gpu), None)
        yield finding("slows-with-heat", words, about=[series[gpu][0], series[gpu][-1], hottest])


def _series(report: Report, what: str, *, least: int) -> dict[int, list[Result]]:
    """The samples of each GPU, without those before it began to work."""
    series: dict[int, list[Result]] = {}
    for own in report.results:
        if own.name.endswith(f" {what}") and own.is_positive and "gpu" in own.of:
            series.setdefault(own.of["gpu"], []).append(own)
    return {gpu: several for gpu, several in series.items() if len(several) >= least}


def _ends(samples: Sequence[Result]) -> tuple[float, float]:
    third = max(2, len(samples) // 3)
    first, last = samples[:third], samples[-third:]
    return fmean(own.value for own in first), fmean(own.value for own in last)


@rule
def mixed_order(report: Report) -> Iterator[Finding]:
    """Devices of several kinds, whose names and figures come in two orders.

    Names and temperatures are those of nvidia-smi, by the bus; rates are in the order of CUDA.
    """
    names = report.facts.get("device_names")
    rates = [own for own in report.results if own.unit == "Gflop/s" and own.is_positive]
    if report.tool == TOOL and names and rates and len({own.of["gpu"] for own in rates}) > 1:
        shown = [f"{number}: {name}" for number, name in list(names.items())[:SHOWN]]
        yield finding("mixed-order", names=listed(shown), first=rates[0], about=rates[:2])
