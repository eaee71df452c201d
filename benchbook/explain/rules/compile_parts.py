"""where-the-time-went, short-run: the parts of a compilation, as compilers print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding

TOOL = "compile-times"
SHORT_S, TICK_S = 0.02, 0.01  # of all parts; the coarsest digit of a time
LARGE = 25.0  # per cent, of a part that is worth a word
LARGE_PHASE = 50.0
PHASE, BAR, TOTALS = "phase ", "|", ("Total", "TOTAL")
_PARSING, _REST = "Parsing", "Codegen & opts"


@rule
def parts_of_compilation(reports: Sequence[Report]) -> Iterator[str]:
    """Notes on the part that takes most of a compilation, and on times that are too short."""
    own = [report for report in reports if report.tool == TOOL]
    for report in own:
        whole = report.only("time in all")
        if whole and whole.value < SHORT_S:
            if all(_is_short(each) for each in own):
                yield finding("short-compilation", whole=whole).explanation
                return
            continue
        words = _of_build(report) or _largest(report)
        if words:
            yield finding("part-of-compilation", words).explanation


def _is_short(report: Report) -> bool:
    whole = report.only("time in all")
    return whole is not None and whole.value < SHORT_S


def _of_build(report: Report) -> dict[str, object]:
    times = {each.name.removesuffix(" time"): each for each in report.results}
    if set(times) != {_PARSING, _REST}:
        return {}
    most = max(times.values(), key=_value)
    share = 100 * most.value / sum(map(_value, times.values()))
    if share < LARGE_PHASE:
        return {}
    name = most.name.removesuffix(" time")
    words: dict[str, object] = {"time": most, "share": share, "name": name}
    words |= {"overlap": None, "bar": None}
    return words | {"how": "of-headers" if name == _PARSING else "of-code"}


def _largest(report: Report) -> dict[str, object]:
    """The words for the largest part: a phase where there are some, with what overlaps it."""
    shares = [each for each in report.results if each.unit == "%"]
    shares = [each for each in shares if _part(each) not in TOTALS]
    phases = [each for each in shares if _part(each).startswith(PHASE)]
    bars = [each for each in shares if _part(each).startswith(BAR)]
    most = max(phases or shares, key=_value, default=None)
    if most is None or most.value < (LARGE_PHASE if phases else LARGE) or len(shares) < 2:
        return {}
    name = _part(most)
    time = next((each for each in report.called(f"{name} time") if each.line == most.line), None)
    overlap = max(bars, key=_value, default=None) if name == "phase parsing" else None
    words: dict[str, object] = {"time": time, "share": most.value, "name": name}
    words["overlap"] = overlap if overlap and overlap.value >= LARGE else None
    words["bar"] = _part(overlap).lstrip(BAR) if overlap else None
    how = "of-headers" if name in ("phase parsing", "phase lang. deferred") else ""
    how = "of-code" if name == "phase opt and generate" else how
    return words | {"how": how or "of-pass"} if time else {}


def _part(share: Result) -> str:
    return share.name.removesuffix(" share")


def _value(result: Result) -> float:
    return result.value
