"""Hardware counters of each point, by likwid where it counts here, else by perf; and perf's
software events. The starts of the measuring stage, made apart from it, under the same lock.

What the tools printed lies in counters/ beside evidence.json, and all counts in its counts.csv.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchbook.core.processes import measuring_lock
from benchbook.evidence.counters import with_likwid, with_perf
from benchbook.evidence.counters.session import GivenUpError, Session
from benchbook.evidence.stage import Context, Row
from benchbook.host.capabilities import capability

SOURCES = {
    "likwid": "hardware counters",
    "perf": "hardware counters",
    "perf software": "software events",
}


def rows(context: Context) -> list[Row]:
    """Per point the bytes that memory moved per call, and each metric; one row for a source that
    counts nothing here, with state, reason and remedy."""
    if not context.definition.get("simulate", True):  # of a control
        return []
    session = Session(context)
    if not session.starts:
        return []
    abilities = {source: capability(source) for source in SOURCES}
    refused = [
        session.nothing(source, "", SOURCES[source], ability)
        for source, ability in abilities.items()
        if ability.state != "ok"
    ]
    usable = [source for source, ability in abilities.items() if ability.state == "ok"]
    if not usable:
        return refused
    about = f"evidence of {context.experiment}"
    with measuring_lock(about, Path().absolute(), lambda words: print(words, file=sys.stderr)) as (
        session.lock
    ):
        for source in usable:
            try:
                match source:
                    case "likwid":
                        mode = with_likwid.access_mode(abilities[source].detail)
                        refused += with_likwid.rows(session, mode)
                    case "perf" if not _traffic_known(refused):
                        refused += with_perf.rows(session)
                    case "perf software":
                        refused += with_perf.software_rows(session)
            except GivenUpError as why:
                refused.append(session.nothing(source, "", SOURCES[source], why))
    if session.crowds and usable != ["perf software"]:
        reason = (
            f"{len(session.crowds)} points of several processes: marker regions and perf stat "
            "follow one"
        )
        refused.append(session.row("likwid and perf", "", "hardware counters", reason=reason))
    session.keep_counts()
    return refused


def _traffic_known(rows: list[Row]) -> bool:
    return any(row["name"].startswith("bytes_") and row["state"] == "ok" for row in rows)
