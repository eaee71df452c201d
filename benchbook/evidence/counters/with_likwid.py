"""Evidence by likwid: each group that answers a question, in the marker regions of every start."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchbook.define.points import Point
from benchbook.evidence.counters import Count, NotUnderstoodError, likwid
from benchbook.evidence.counters.session import (
    DOCTOR,
    HARDWARE_SHARE,
    PATIENCE_S,
    GivenUpError,
    NothingCountedError,
    Session,
    TimedOutError,
    program_path,
    surroundings,
)
from benchbook.evidence.stage import Row
from benchbook.measure.invocation import (
    CANNOT_RUN,
    command_line,
    explain_exit,
    read_output,
    run_program,
)

# Of several cores these are added; of anything else the median tells.
ADDED = ("MBytes/s", "GBytes", "GByte", "MFLOP/s", "MUOPS/s", "J", "W")
_DENIED = re.compile(r"[Pp]ermission|denied|not permitted|MSR")
_UNMARKED = ("Marker API result file does not exist", "No regions could be found")
_WORDS_KEPT = 300


@dataclass
class _Counted:
    """What likwid counted of a point: group -> its counts, and the calls of the method."""

    point: Point
    counts: dict[str, list[Count]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    declared_bytes: float | None = None


def rows(session: Session, access_mode: int | None) -> list[Row]:
    """Rows per point: the bytes that memory moved per call, and every metric once; rows of no
    point for what could not be counted. GivenUpError where likwid counts nothing here."""
    answers = likwid.choose(_groups(session))
    items = [
        session.row("likwid", "", question, reason="likwid has no group for it on this CPU")
        for question, groups in answers.items()
        if not groups
    ]
    all_counted = {point.id: _Counted(point) for start in session.starts for point in start}
    until = session.until(HARDWARE_SHARE)
    given_up = None
    for group in dict.fromkeys(group for groups in answers.values() for group in groups):
        session.failures = 0
        left = []
        try:
            for start in session.starts:
                if time.monotonic() + session.expected_s(start) > until:
                    left += start
                    continue
                try:
                    items += _count(session, start, group, access_mode, all_counted)
                except NothingCountedError as why:
                    about = f"group {group} of {start[0].id}"
                    items.append(session.nothing(f"likwid {group}", "", about, why))
        except GivenUpError as why:
            given_up = why
            items.append(session.nothing(f"likwid {group}", "", f"group {group}", why))
        if isinstance(given_up, TimedOutError) and not any(c.counts for c in all_counted.values()):
            break
        items += session.left_out("likwid", f"group {group}", left, HARDWARE_SHARE)
    if given_up and not any(counted.counts for counted in all_counted.values()):
        raise given_up
    for counted in all_counted.values():
        items += _traffic(session, counted, answers[likwid.TRAFFIC])
        items += _metrics(session, counted)
    return items


def _groups(session: Session) -> list[str]:
    status, out, err = run_program(
        [program_path(likwid.PROGRAM), "-a"],
        cpus=session.context.plan["cpus"],
        env=surroundings(),
        time_limit_s=PATIENCE_S,
        lock=session.lock,
        with_children=True,
    )
    groups = likwid.parse_groups(out)
    if not groups:
        words = _short(err) or ("nothing" if status is not None else "nothing in time")
        reason = f"`{likwid.PROGRAM} -a` lists no group for this CPU; it says: {words}"
        raise GivenUpError("absent", reason)
    return groups


def _count(
    session: Session,
    start: list[Point],
    group: str,
    access_mode: int | None,
    all_counted: dict[str, _Counted],
) -> Iterator[Row]:
    """Count one group in one start of the program; rows for what could not be counted."""
    request = session.request(start)
    if any(re.search(r"\s", word) for word in command_line(request)):
        reason = f"{likwid.PROGRAM} splits its command at blanks, and the path here has one"
        raise GivenUpError("absent", reason, "move the checkout to a path without blanks")
    limit_s = session.limit_s(start)
    status, out, err = session.run(
        lambda words: likwid.command(words, request.cpus, group, access_mode), request, limit_s
    )
    source = f"likwid {group}"
    if "TABLE," not in out:
        session.keep(f"likwid-{group}.txt", out + err)
        session.failed(*_no_table(status, out, err))
    session.failures = 0
    try:
        counts = likwid.parse(out, session.keep(f"likwid-{group}.csv", out))
    except NotUnderstoodError as why:
        yield session.row(source, "", f"group {group} of {start[0].id}", reason=str(why))
        return
    _, finished = read_output(out, len(start))
    for index, (point, outcome) in enumerate(zip(start, finished, strict=True)):
        own = [count for count in counts if count.region == likwid.region(index)]
        if outcome is None or outcome.state != "ok":
            ended = explain_exit(status, out, err, limit_s)[1]
            reason = ended if outcome is None else outcome.reason
            yield session.row(source, point.id, f"group {group}", reason=reason)
        elif not own:
            reason = f"likwid's output has no region {likwid.region(index)!r}"
            yield session.row(source, point.id, f"group {group}", reason=reason)
        else:
            counted = all_counted[point.id]
            counted.counts[group] = own
            counted.calls[group] = outcome.loops * (len(outcome.time_ns) - outcome.warm_up)
            counted.declared_bytes = outcome.bytes_declared / outcome.loops
            session.note("likwid", point.id, point.variant, own)


def _no_table(status: int, out: str, err: str) -> tuple[str, str, str]:
    """(state, reason, remedy) where likwid printed no table; its exit status says nothing."""
    if f'"status":{CANNOT_RUN}' in out:  # the kernel could not run below likwid, and says why
        return "absent", explain_exit(CANNOT_RUN, out, err, 0)[1], DOCTOR
    if any(words in err for words in _UNMARKED):
        return "absent", "the program entered no marker region of likwid", "rm -r build && make"
    reason = _short(err or out)
    state = "denied" if _DENIED.search(reason) else "absent"
    return state, f"{likwid.PROGRAM} gave no table ({status}): {reason}", DOCTOR


def _short(text: str) -> str:
    return " ".join(text.split())[-_WORDS_KEPT:]


def _traffic(session: Session, counted: _Counted, groups: tuple[str, ...]) -> Iterator[Row]:
    """Bytes per call; nothing where a group was not counted, whose row stands elsewhere."""
    if not groups or not set(groups) <= set(counted.counts):
        return
    per_call: dict[str, float] = {}
    for group in groups:
        for name, moved in likwid.traffic(counted.counts[group]).items():
            per_call[name] = per_call.get(name, 0.0) + moved / counted.calls[group]
    counts = [count for group in groups for count in counted.counts[group]]
    common = {
        "unit": "bytes",
        "scope": "all sockets in use",
        "declared_bytes": counted.declared_bytes,
        "region": counts[0].region,
        "run_time_s": max(count.run_time_s or 0.0 for count in counts),
        "calls": counted.calls[groups[0]],
        "multiplexed": any(count.multiplexed for count in counts),
    }
    source = f"likwid {' + '.join(groups)}"
    for name, value in per_call.items():
        yield session.row(source, counted.point.id, name, value=value, state="ok", **common)
    if not per_call:
        silent = (count.reason for count in counts if count.name.startswith("Memory"))
        reason = next((words for words in silent if words), "no metric of memory in its group")
        for name in ("bytes_read_from_memory", "bytes_written_to_memory"):
            yield session.row(source, counted.point.id, name, reason=reason, **common)


def _metrics(session: Session, counted: _Counted) -> list[Row]:
    """Each metric once, over its cores: the first group that has a value for it tells."""
    by_name: dict[str, Row] = {}
    for group, counts in counted.counts.items():
        metrics = [count for count in counts if count.kind == "metric"]
        for name in dict.fromkeys(count.name for count in metrics):
            if by_name.get(name, {}).get("state") != "ok":
                same = [count for count in metrics if count.name == name]
                by_name[name] = _metric(session, counted, group, same)
    return list(by_name.values())


def _metric(session: Session, counted: _Counted, group: str, same: list[Count]) -> Row:
    usable = [count for count in same if count.state == "ok"]
    values = [count.value for count in usable if count.value is not None]
    first = (usable or same)[0]
    over_cores = math.fsum if first.unit in ADDED else median
    return session.row(
        f"likwid {group}",
        counted.point.id,
        first.name,
        value=over_cores(values) if values else None,
        unit=first.unit,
        state=first.state,
        reason=first.reason,
        region=first.region,
        cores=[count.core for count in usable],
        run_time_s=first.run_time_s,
        calls=counted.calls[group],
        multiplexed=first.multiplexed,
    )


def access_mode(detail: dict[str, Any]) -> int | None:
    """The access mode that the capability probe found to work; None: as likwid is set up."""
    return detail.get("access_mode")
