"""What Slurm's own commands say of jobs. Without Slurm there are no jobs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from benchbook.core.processes import output_of

RULE = "measure_on_"  # of the workflow, and the kind's name behind it
JOB_ID = "SLURM_JOB_ID"
_ENDED_WELL = ("COMPLETED", "RUNNING", "PENDING", "COMPLETING")


def waiting_jobs(checkout: Path, kind: str) -> list[str]:
    """The ids of the jobs in the queue that an earlier workflow of this checkout submitted for a
    kind of nodes: they go on when that workflow is killed."""
    if JOB_ID in os.environ:  # inside of a job the question is settled
        return []
    lines = output_of(["squeue", "--me", "--noheader", "--format=%i|%Z|%k"]).splitlines()
    jobs = [line.strip().split("|", 2) for line in lines]
    return [
        job[0]
        for job in jobs
        if len(job) == 3 and Path(job[1]) == checkout.resolve() and _is_of(job[2], kind)
    ]


def _is_of(comment: str, kind: str) -> bool:
    """Whether the executor's comment on a job names the rule of this kind."""
    return comment.removeprefix("rule_").split("_wildcards_")[0] == f"{RULE}{kind}"


def why_ended(job: str) -> str:
    """How Slurm says that a job ended, such as `NODE_FAIL`; empty where it ended well, goes on, or
    is forgotten (after MinJobAge)."""
    text = output_of(["scontrol", "--oneliner", "show", "job", job])
    fields = dict(re.findall(r"(?:^|\s)(JobState|Reason)=(\S+)", text))
    state, reason = fields.get("JobState", ""), fields.get("Reason", "None")
    if not state or state in _ENDED_WELL:
        return ""
    return state if reason == "None" else f"{state}, {reason}"


def missing_cpus() -> str:
    """Why this process cannot measure the node it runs on: its job has CPUs that it may not use.
    Empty where it may use all of them, or runs in no job."""
    own = len(os.sched_getaffinity(0))
    of_job = re.match(r"\d+", os.environ.get("SLURM_JOB_CPUS_PER_NODE", ""))
    if of_job is None or own >= int(of_job[0]):
        return ""
    return f"the job has {of_job[0]} CPUs and its step may use {own}"


def without_job(environment: dict[str, str]) -> dict[str, str]:
    """The environment without what belongs to a Slurm job or an outer Snakemake: MPI libraries and
    a nested workflow would take it for theirs."""
    own = ("SLURM_", "SRUN_", "SBATCH_", "SNAKEMAKE_", "PMI_", "PMIX_")
    return {key: value for key, value in environment.items() if not key.startswith(own)}
