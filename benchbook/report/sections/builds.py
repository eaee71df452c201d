"""What compilers, flags and code models change, and what became of arrays too large for them."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import Any

from benchbook.core import number_format
from benchbook.core.units import TIME, UNITS, VALUES
from benchbook.report import wording
from benchbook.report.plots.forest import Row, forest
from benchbook.report.plots.style import Picture, method_colour
from benchbook.report.sections import findings as findings_section
from benchbook.report.sections import timed_functions
from benchbook.report.wording import Paper

Experiment = dict[str, Any]
Entry = dict[str, Any]
MODEL = "-mcmodel="


def entries_by_setting(experiment: Experiment) -> dict[str, list[Entry]]:
    """Setting in words -> its entries, one per method; programs of others are no flags."""
    by_setting: dict[str, list[Entry]] = {}
    for entry in experiment["flags"]:
        rows = [row for row in entry["rows"] if row["compiler"]]
        if len(rows) > 2:
            name = wording.setting_name(entry["factors"], experiment.get("values"))
            by_setting.setdefault(name, []).append({**entry, "rows": rows})
    return by_setting


def method_name(experiment: Experiment, entry: Entry) -> str:
    """What pages call an entry's method."""
    name = str(entry["factors"].get("method", ""))
    return str(experiment["names"].get(name, name))


def base_variant(entry: Entry) -> str:
    """The variant that the others are compared with."""
    return wording.parts_of(entry["base"])["variant"]


def picture(paper: Paper, experiment: Experiment, entry: Entry) -> Picture | None:
    """Each variant's rate ÷ the base's, in the order of the experiment."""
    rows, marks = [], findings_section.marks_of(paper)
    ink = method_colour(list(experiment["definitions"]), str(entry["factors"].get("method", "")))
    for row in entry["rows"]:
        if row["variant"] == base_variant(entry):
            continue
        ratio = row["ratio"] or {}
        value, low, high = (ratio.get(key) for key in ("ratio", "low95", "high95"))
        here = number_format.number(value, low, high)
        if not ratio:
            here = _lacking(experiment, row)
        rows.append(
            Row(
                label=row["variant"],
                colour=ink,
                value=value,
                low=low,
                high=high,
                here=here,
                marks=marks.names(row["point"]),
            )
        )
    where = wording.setting_name(entry["factors"], experiment.get("values"))
    quantity = experiment["quantity"]
    method, base = method_name(experiment, entry), base_variant(entry)
    rows_in_words = "; ".join(f"{row.label} {row.here}" for row in rows)
    alt = f"{wording.capitalised(quantity)} of {method}, {where}, ÷ {quantity} of {base}. "
    alt += f"{rows_in_words}." + marks.in_words(row["point"] for row in entry["rows"])
    return forest(
        f"flags-{method}-{where}",
        alt,
        rows,
        unit=f"{quantity} ÷ {quantity} of {base}",
        label_at_1=base,
        columns=("", "ratio"),
    )


def _lacking(experiment: Experiment, row: dict[str, Any]) -> str:
    state = timed_functions.variant_record(experiment, row["variant"]).get("state")
    return "not built" if state != "ok" else wording.state_in_words(row)


def _compared(entry: Entry) -> list[dict[str, Any]]:
    return [row for row in entry["rows"] if row["ratio"]]


def title(experiment: Experiment, entry: Entry) -> str:
    """The slowest and the fastest variant, and how many cannot be told from the base."""
    compared = sorted(_compared(entry), key=lambda row: row["ratio"]["ratio"])
    if not compared:
        return f"No variant could be compared with {base_variant(entry)}"
    ends = [compared[0]] if len(compared) == 1 else [compared[0], compared[-1]]
    parts = [
        f"{number_format.number(*(row['ratio'][key] for key in ('ratio', 'low95', 'high95')))} "
        f"times with {row['variant']}"
        for row in ends
    ]
    same = [row for row in compared if not row["differs"]]
    return (
        f"{method_name(experiment, entry)}: {' to '.join(parts)}; {len(same)} of "
        f"{number_format.plural(len(compared), 'variant')} cannot be distinguished from "
        f"{base_variant(entry)}"
    )


def spread_at(experiment: Experiment, entries: list[Entry]) -> str:
    """By which factor the fastest variant beats the slowest at one setting, per method, as a
    sentence; empty where none was compared."""
    parts = [
        f"{number_format.number(factor)} for {method_name(experiment, entry)}"
        for entry in entries
        if (factor := _spread(entry)) is not None
    ]
    if not parts:
        return ""
    return f"The fastest variant beats the slowest by a factor of {number_format.listed(parts)}."


def _spread(entry: Entry) -> float | None:
    """The rate of an entry's fastest variant ÷ that of its slowest; None where none compares."""
    ratios = [1.0, *(row["ratio"]["ratio"] for row in _compared(entry))]
    return max(ratios) / min(ratios) if len(ratios) > 1 else None


def sentence(experiment: Experiment) -> str:
    """At which setting an experiment's variants differ most; empty where none was compared."""
    widest = max(
        (
            (factor, entry, name)
            for name, entries in entries_by_setting(experiment).items()
            for entry in entries
            if (factor := _spread(entry)) is not None
        ),
        key=lambda spread: spread[0],
        default=None,
    )
    if widest is None:
        return ""
    factor, entry, name = widest
    return (
        f"Builds differ most for {method_name(experiment, entry)} at {name}: the fastest beats the "
        f"slowest by a factor of {number_format.number(factor)}."
    )


def variants(entries: Iterable[Entry]) -> list[str]:
    """All variants of entries, each once."""
    return list(dict.fromkeys(row["variant"] for entry in entries for row in entry["rows"]))


def points(entry: Entry, variant: str) -> list[str]:
    """A variant's measured points of an entry: one, or none."""
    rows = (row for row in entry["rows"] if row["variant"] == variant)
    return [row["point"] for row in rows if row["state"] == "ok"]


def value_with_interval(experiment: Experiment, entry: Entry, variant: str) -> str:
    """A variant's rate, or time, with its interval, or why there is none."""
    row = next((row for row in entry["rows"] if row["variant"] == variant), None)
    if row is None:
        return "not asked for"
    if row["state"] != "ok":
        return wording.state_in_words(row)
    _, per, names = _shown(experiment)
    values = (row[name] for name in names.values())
    return number_format.with_interval(
        *(value / per if value is not None else None for value in values)
    )


def verified(paper: Paper, entry: Entry, variant: str) -> str:
    """`verified, off by at most 9.3e-11`: how far a variant's results are from those that its
    benchmark defines, relative to them; empty where its program does not observe that."""
    seen = [wording.observations(paper, point) for point in points(entry, variant)]
    errors = [facts.get("verification_error") for facts in seen if facts.get("values_verified")]
    if not errors or errors[0] is None:
        return ""
    return f"verified, off by at most {errors[0]:.2g}" if errors[0] else "verified, exactly"


def unit(experiment: Experiment) -> str:
    """In which unit the variants' numbers are shown."""
    return _shown(experiment)[0]


def _shown(experiment: Experiment) -> tuple[str, float, dict[str, str]]:
    unit = "µs" if experiment["quantity"] == TIME else "GB/s"
    return unit, UNITS[unit], VALUES[experiment["quantity"]]


def compiled_loops(experiment: Experiment) -> dict[str, Any]:
    """methods: names, one for each timed function; rows: {variant, flags, wrapper, isa, reason,
    made: one text per timed function}."""
    entries = [entry for group in entries_by_setting(experiment).values() for entry in group]
    points: dict[str, str] = {}
    rows: dict[str, dict[str, Any]] = {}
    for entry in entries:
        memory = entry["factors"].get("memory")
        name = method_name(experiment, entry) + (f", {memory}" if memory else "")
        points.setdefault(name, entry["base"])
        for row in entry["rows"]:
            rows.setdefault(row["variant"], row)
    return {
        "methods": list(points),
        "rows": [_loop(experiment, row, list(points.values())) for row in rows.values()],
    }


def _loop(experiment: Experiment, row: dict[str, Any], points: list[str]) -> dict[str, Any]:
    record = timed_functions.variant_record(experiment, row["variant"])
    words = str(record.get("state", "not asked for")).replace("_", " ")
    return {
        **{key: row[key] for key in ("variant", "compiler", "flags")},
        "isa": timed_functions.vector_instructions(experiment, points, row["variant"]) or ["none"],
        "wrapper": wording.wrapper_changes(record),
        "reason": "" if words == "ok" else f"{words}: {record.get('reason') or 'no reason given'}",
        "made": [
            timed_functions.compiled_form(experiment, point, row["variant"]) for point in points
        ],
    }


def limit_links(limit: dict[str, Any]) -> str:
    """The largest size that links, in words."""
    return {
        "limited": wording.bytes_of(limit["links_bytes"] or 0),
        "every_size": f"every size tried, up to {wording.bytes_of(limit['links_bytes'] or 0)}",
        "no_size": "none",
    }.get(limit["outcome"], number_format.NONE)


def limits_title(limits: list[dict[str, Any]]) -> str:
    """How many sets of flags link at every size, up to a limit, and at none."""
    words = {
        "every_size": "link static arrays of every size tried",
        "limited": "up to a limit",
        "no_size": "of no size",
    }
    counts = {word: sum(row["outcome"] == word for row in limits) for word in words}
    parts = [f"{count} {words[outcome]}" for outcome, count in counts.items() if count]
    tried = number_format.plural(sum(counts.values()), "set")
    return (
        f"Of {tried} of flags {number_format.listed(parts)}"
        if parts
        else "None could be tried here"
    )


def limits_said(paper: Paper, experiment: Experiment) -> list[str]:
    """What the limits mean for the flags of the source, and without its code model."""
    points = {row["point"] for figure in paper["figures"] for row in figure["rows"]} - {None}
    used = {wording.parts_of(point)["variant"] for point in points}
    text = []
    for limit in experiment["limits"]:
        if limit["variant"] not in used or limit["outcome"] == "cannot_run":
            continue
        text.append(f"With the source’s own flags ({limit['variant']}) arrays link {_upto(limit)}.")
        others = [other for other in experiment["limits"] if _other_model(other, limit)]
        if others:
            links = [f"{other['variant']} {_upto(other)}" for other in others]
            text.append(f"Without {_model(limit)} they link with {'; with '.join(links)}.")
        if any(other["outcome"] == "no_size" and _within(other, limit) for other in others):
            text.append(f"So those flags need {_model(limit)} here at any size.")
    return text


def _other_model(other: dict[str, Any], limit: dict[str, Any]) -> bool:
    """Built by the same compiler with another code model than `limit`."""
    same = other["compiler"] == limit["compiler"] and other["outcome"] != "cannot_run"
    return same and bool(_model(limit)) and _model(other) != _model(limit)


def _within(other: dict[str, Any], limit: dict[str, Any]) -> bool:
    """Whether all flags but the code model are among the other's."""
    return {flag for flag in other["flags"] if not flag.startswith(MODEL)} <= set(limit["flags"])


def _upto(limit: dict[str, Any]) -> str:
    if limit["outcome"] == "no_size":
        words = limit["message"].replace("`", "‘")  # on pages it begins code
        return f"at no size (“{words}”)"
    if limit["outcome"] == "every_size":
        return "at every size tried"
    return f"up to {limit_links(limit)} each"


def _model(limit: dict[str, Any]) -> str:
    models = [flag for flag in limit["flags"] if flag.startswith(MODEL)]
    return f"`{models[-1]}`" if models else ""


def ending(trial: dict[str, Any]) -> str:
    """`signal 11 (SIGSEGV)`, `exit status 1`, or that it was not tried."""
    if trial["signal"] is not None:
        signal_names = {code.value: code.name for code in signal.Signals}
        name = signal_names.get(trial["signal"])
        return f"signal {trial['signal']}" + (f" ({name})" if name else "")
    if trial["exit_status"] is not None:
        return f"exit status {trial['exit_status']}"
    return str(trial["outcome"]).replace("_", " ")


def trials_title(trials: list[dict[str, Any]]) -> str:
    """How many trials ran, and how the others ended: `Of 3 trials, 2 ended by …`."""
    ran = [trial for trial in trials if trial["outcome"] == "ok"]
    ends: dict[str, int] = {}
    for trial in trials:
        if trial["outcome"] not in ("ok", "not_tried"):
            ends[ending(trial)] = ends.get(ending(trial), 0) + 1
    tried = sum(ends.values()) + len(ran)
    parts = [f"{count} ended by {how}" for how, count in ends.items()]
    parts += [f"{len(ran)} ran"] if ran else []
    return (
        f"Of {number_format.plural(tried, 'trial')}, {number_format.listed(parts)}"
        if parts
        else "Nothing tried"
    )


def printed_failures(paper: Paper) -> list[str]:
    """What the source printed instead of numbers, each cell once: `as=3 0000 0000: segment fault`.

    Only columns that no rerun stands beside.
    """
    return list(
        dict.fromkeys(
            f"{cell['label']}: {cell['printed']}"
            for figure in paper["figures"]
            for cell in figure.get("not_rerun", [])
            if cell["printed"]
        )
    )
