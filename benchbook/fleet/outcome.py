"""What became of a kind of nodes: `fleet/<kind>/outcome.json`, written by the job as far as it
lives."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.fleet import slurm

FILE = "outcome.json"
VERSION = 1


class State(StrEnum):
    """How far a kind of nodes is."""

    NOT_BEGUN = "not_begun"
    MEASURING = "measuring"
    LOST = "lost"  # its job ended without a word
    FAILED = "failed"
    MEASURED = "measured"


@dataclass(frozen=True)
class Outcome:
    """A kind's last job: where it ran and how it ended. `reason` is empty where all is well."""

    kind: str
    state: State
    reason: str = ""
    host: str = ""
    job: str = ""
    node: str = ""


def begun(kind: str, host: str) -> Outcome:
    """The outcome of a job that begins now, in this process."""
    job = os.environ.get(slurm.JOB_ID, "")
    # Slurm's name of the node, else none: the machine's own name stays out of all files.
    return Outcome(kind, State.MEASURING, "", host, job, os.environ.get("SLURMD_NODENAME", ""))


def write_outcome(checkout: Path, outcome: Outcome) -> None:
    """Write outcome.json of a kind's checkout."""
    write_json(checkout / FILE, {"version": VERSION, **asdict(outcome)})


def read_outcome(checkout: Path, kind: str) -> Outcome:
    """What became of a kind; a job that ended without a word is lost, with Slurm's reason."""
    path = checkout / FILE
    if not path.exists():
        return Outcome(kind, State.NOT_BEGUN, "no job of it has begun; snakemake prints why")
    content = read_json(path, VERSION)
    fields = {name: str(content[name]) for name in ("reason", "host", "job", "node")}
    try:
        outcome = Outcome(kind, State(content["state"]), **fields)
    except ValueError:
        raise BenchbookError(f"{path}: state {content['state']!r} is unknown") from None
    if outcome.state is not State.MEASURING:
        return outcome
    waiting = slurm.why_ended(outcome.job) if outcome.job else ""
    where = f" on node {outcome.node}" if outcome.node else ""
    why = f" ({waiting})" if waiting else ""
    return replace(
        outcome,
        state=State.LOST,
        reason=f"job {outcome.job or 'here'}{where} ended before it was through{why}",
    )
