"""What the machine's page shows of a pointer chase: levels of latency beside the stated caches."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.plots import cache_latency
from benchbook.report.plots.palette import PALETTE
from benchbook.report.render import svg_of

NEAR = 1.5  # a cache of this many times a rise's sizes still lies there: sets fill unevenly
IN_HUGE = 0.9  # of a working set that lies in huge pages
LARGE = 4 << 20  # bytes from which on a working set can lie in them
Chase = dict[str, Any]
Rise = dict[str, Any]


def sections(analyses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each experiment with a chase: {name, title, svg, caption, sentences, levels, sizes}."""
    return [_section(analysis) for analysis in analyses if analysis.get("chases")]


def _section(analysis: dict[str, Any]) -> dict[str, Any]:
    base = analysis["chases"][0]["variant"]
    lines = [chase for chase in analysis["chases"] if chase["variant"] == base]
    main = max(lines, key=lambda line: (_is_huge(line), len(line["values"])))
    lines = [main, *(line for line in lines if line is not main)]
    caches = analysis["caches"]
    name, text = analysis["experiment"], sentences(main, lines[1:], caches)
    shown = title(main, caches)
    alt = f"Nanoseconds per load by working set. {' '.join(text)}"
    svg = svg_of(
        cache_latency.chase(f"chase-{name}", alt, _drawn(lines, main), caches, _steps(main))
    )
    return {
        "name": name,
        "title": shown,
        "svg": svg,
        "caption": _caption(main, lines),
        "sentences": text,
        "levels": _levels(main, caches),
        "labels": [_label(line, lines) for line in lines],
        "sizes": _sizes(lines),
    }


def _is_huge(line: Chase) -> bool:
    """Whether huge pages held the large working sets: then their walks are no part of the time."""
    large = [value["huge_share"] for value in line["values"] if value["bytes"] >= LARGE]
    return bool(large) and all(share is not None and share >= IN_HUGE for share in large)


def _label(line: Chase, lines: list[Chase]) -> str:
    """The factors in which the lines differ: `huge pages`, `threads 2`."""
    others = [line["factors"] for line in lines]
    apart = [
        f"{value} {name}" if isinstance(value, str) else f"{name} {value}"
        for name, value in line["factors"].items()
        if any(factors.get(name) != value for factors in others)
    ]
    return ", ".join(apart) or "loads"


def _drawn(lines: list[Chase], main: Chase) -> list[cache_latency.Line]:
    keys = ("bytes", "time_ns", "low_ns", "high_ns", "p10_ns", "p90_ns")
    return [
        cache_latency.Line(
            label=_label(line, lines),
            colour=PALETTE[k % len(PALETTE)],
            loads=[cache_latency.Load(*(value[key] for key in keys)) for value in line["values"]],
            main=line is main,
        )
        for k, line in enumerate(lines)
    ]


def _told(line: Chase) -> list[Rise]:
    return [rise for rise in line["rises"] if rise["told"]]


def _steps(line: Chase) -> list[cache_latency.Step]:
    return [
        cache_latency.Step(rise["low"], rise["high"], f"× {_ratio(rise)}") for rise in _told(line)
    ]


def _shown(value: float, low: float | None, high: float | None) -> str:
    """The digits that the interval allows, three of them at most."""
    return min(number_format.number(value, low, high), number_format.number(value), key=len)


def _ratio(rise: Rise) -> str:
    return _shown(rise["ratio"], rise["ratio_low"], rise["ratio_high"])


def _ns(row: dict[str, Any]) -> str:
    return f"{_shown(row['time'], row['time_low'], row['time_high'])}{number_format.FIXED}ns"


def _bytes(count: float) -> str:
    return wording.bytes_of(int(count))


def _between(rise: Rise) -> str:
    return f"between {_bytes(rise['low'])} and {_bytes(rise['high'])}"


def _there(rise: Rise, caches: dict[str, int]) -> list[str]:
    """The stated caches that end where the time rises."""
    return [
        name for name, size in caches.items() if rise["low"] / NEAR <= size <= rise["high"] * NEAR
    ]


def _stated(names: list[str], caches: dict[str, int]) -> str:
    parts = [f"{name} is stated with {_bytes(caches[name])}" for name in names]
    return f"where {number_format.listed(parts)}" if parts else "where no cache is stated"


def early_rise(line: Chase, caches: dict[str, int]) -> tuple[str, Rise] | None:
    """The last cache, where loads rise more before half of its stated size than anywhere near it:
    its name and that rise. Only in huge pages, since the search for small ones rises too; the sweep
    must reach beyond the cache, and no smaller one be stated there."""
    if not caches or not _is_huge(line):
        return None
    last = max(caches, key=lambda name: caches[name])
    if line["values"][-1]["bytes"] < NEAR * caches[last]:
        return None
    rises = _told(line)
    near = [rise["ratio"] for rise in rises if last in _there(rise, caches)]
    earlier = [
        rise
        for rise in rises
        if not _there(rise, caches)
        and 2 * rise["high"] <= caches[last]
        and rise["low"] > max((size for size in caches.values() if size < caches[last]), default=0)
        and rise["ratio_low"] > max(near, default=1.0)
    ]
    highest = max(earlier, key=lambda rise: float(rise["ratio"]), default=None)
    return (last, highest) if highest else None


def title(line: Chase, caches: dict[str, int]) -> str:
    """The finding: what is not as stated, else the times of the levels, else that none is told."""
    if early := early_rise(line, caches):
        name, rise = early
        return (
            f"The stated {_bytes(caches[name])} of {name} are not what loads get here: their time "
            f"rises {_ratio(rise)} times {_between(rise)}"
        )
    if not line["plateaus"]:
        return "No level of latency can be distinguished"
    parts = [f"{_ns(plateau)} up to {_bytes(plateau['high'])}" for plateau in line["plateaus"]]
    last = line["values"][-1]
    if line["plateaus"][-1]["high"] < last["bytes"]:
        time = _shown(last["time_ns"], last["low_ns"], last["high_ns"])
        parts.append(f"{time}{number_format.FIXED}ns at {_bytes(last['bytes'])}")
    end = "" if _told(line) else "; no rise can be distinguished"
    return f"Loads take {number_format.listed(parts)}{end}"


def sentences(line: Chase, others: list[Chase], caches: dict[str, int]) -> list[str]:
    """What the chase tells, in words; `others` are the same in pages of another kind."""
    text = [*_levels_said(line), *_rises_said(line, caches), *_caches_said(line, caches)]
    if early := early_rise(line, caches):
        name, rise = early
        text.append(
            f"So the stated {_bytes(caches[name])} of {name} are not available here: latency "
            f"rises most beyond the smaller caches {_between(rise)}. A pointer chase does not show "
            "whether others use the rest, or it is farther away."
        )
    return [*text, *(sentence for other in others for sentence in _beside(line, other))]


def _levels_said(line: Chase) -> list[str]:
    if not line["plateaus"]:
        few = "no three neighbouring sizes have times within a fifth of each other"
        return [f"No level can be distinguished: {few}, or too few were measured."]
    parts = [f"{_ns(plateau)} {_span(plateau)}" for plateau in line["plateaus"]]
    return [f"A load that depends on the previous one takes {number_format.listed(parts)}."]


def _span(plateau: dict[str, Any]) -> str:
    return f"from {_bytes(plateau['low'])} to {_bytes(plateau['high'])}"


def _rises_said(line: Chase, caches: dict[str, int]) -> list[str]:
    rises = [
        f"{_ratio(rise)} times {_between(rise)}, {_stated(_there(rise, caches), caches)}"
        + ("" if rise["settled"] else ", without a level behind it")
        for rise in _told(line)
    ]
    text = [f"It rises {'; '.join(rises)}."] if rises else []
    unclear = [
        (plateau, rise)
        for plateau, rise in zip(line["plateaus"], line["rises"], strict=False)
        if not rise["told"]
    ]
    text += [
        f"Beyond {_bytes(plateau['high'])} no rise is visible: {rise['why']}."
        for plateau, rise in unclear
    ]
    if len(line["plateaus"]) == 1 and not line["rises"]:
        text.append("It rises nowhere, so no cache ends within these sizes.")
    return text


def _caches_said(line: Chase, caches: dict[str, int]) -> list[str]:
    """The stated caches at which nothing rises, and those that the sweep does not reach."""
    if not line["plateaus"]:
        return []
    met = {name for rise in _told(line) for name in _there(rise, caches)}
    text = []
    for name, size in caches.items():
        last = line["values"][-1]["bytes"]
        if last < NEAR * size and name not in met:
            text.append(
                f"The largest working set, {_bytes(last)}, is too small to show the stated "
                f"{name} of {_bytes(size)}."
            )
        elif name not in met:
            text.append(f"There is no visible step at the stated {name} size of {_bytes(size)}.")
    return text


def _beside(line: Chase, other_line: Chase) -> list[str]:
    """How much the same load takes in the other line, at the largest size that both have."""
    mine = {value["bytes"]: value for value in line["values"]}
    both = [value for value in other_line["values"] if value["bytes"] in mine]
    if not both:
        return []
    last = max(both, key=lambda value: int(value["bytes"]))
    pair, size = [line, other_line], last["bytes"]
    mine_ns, other_ns = (
        _shown(value["time_ns"], value["low_ns"], value["high_ns"]) + f"{number_format.FIXED}ns"
        for value in (mine[size], last)
    )
    return [
        f"At {_bytes(size)} it takes {other_ns} with {_label(other_line, pair)} and {mine_ns} with "
        f"{_label(line, pair)}."
    ]


def _caption(main: Chase, lines: list[Chase]) -> str:
    parts = [
        "Each load gets its address from the previous load; the pointers form one random cycle.",
        "Dotted: the caches as the kernel states them. Shaded: where the time passes the middle "
        "of a rise. Upright: pointwise 95 % intervals over rounds; faint: the middle 80 % of the "
        "samples of a run.",
    ]
    if len(lines) > 1:
        parts.append(f"Rises and levels are those with {_label(main, lines)}.")
    if not _is_huge(main) and any(value["bytes"] >= LARGE for value in main["values"]):
        parts.append(
            "The large working sets were not in huge pages, so these times include TLB misses."
        )
    return " ".join(parts)


def _levels(line: Chase, caches: dict[str, int]) -> list[dict[str, str]]:
    """Rows of the table for those who do not see: each level, and what comes behind it."""
    rises = [*line["rises"], None]
    return [
        {
            "span": _span(plateau).removeprefix("from "),
            "time": number_format.with_interval(
                plateau["time"], plateau["time_low"], plateau["time_high"]
            ),
            "behind": _behind(rise),
            "stated": ", ".join(f"{name} {_bytes(caches[name])}" for name in _there(rise, caches))
            if rise and rise["told"]
            else "",
        }
        for plateau, rise in zip(line["plateaus"], rises, strict=False)
    ]


def _behind(rise: Rise | None) -> str:
    if rise is None:
        return "the sweep ends"
    if not rise["told"]:
        return rise["why"]
    return f"rises {_ratio(rise)} times {_between(rise)}"


def _sizes(lines: list[Chase]) -> list[dict[str, Any]]:
    """All times: {size, times}, one of these for each line."""
    by_size = [{value["bytes"]: value for value in line["values"]} for line in lines]
    every = sorted({size for values in by_size for size in values})
    return [
        {"size": _bytes(size), "times": [_time(values.get(size)) for values in by_size]}
        for size in every
    ]


def _time(value: dict[str, Any] | None) -> str:
    if value is None:
        return number_format.NONE
    return number_format.with_interval(value["time_ns"], value["low_ns"], value["high_ns"])
