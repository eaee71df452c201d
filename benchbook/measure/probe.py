"""Anchor and probe between invocations: the machine's own state, never from a sample."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook.core.processes import Scheduling
from benchbook.host.topology import Topology
from benchbook.measure.invocation import explain_exit, now_ns, run_program
from benchbook.measure.probe_plan import argv, plan_probe
from benchbook.records import journal

TIME_LIMIT_S = 10.0


@dataclass
class MachineState:
    """Reads the state and appends it to probes.jsonl, each reading with its time and cost."""

    binary: Path | None
    topology: Topology
    cpus: list[int]
    anchor_bytes: int
    anchor_samples: int
    every_s: float
    path: Path
    lock: int | None = None
    scheduling: Scheduling = Scheduling.NORMAL  # as that of the programs whose CPUs it reads
    last_ns: int = 0
    fastest_work_ns: dict[int, float] = field(default_factory=dict)
    spent_ns: int = 0
    look: list[str] = field(default_factory=list)  # planned once: it takes time on large hosts

    def due(self) -> bool:
        """Whether the last probe is longer ago than it may be."""
        return now_ns() - self.last_ns >= self.every_s * 1e9

    def read(self, *, full: bool = False) -> dict[int, float]:
        """One reading; returns each CPU's work time ÷ its fastest so far in this run.

        `full` adds the whole matrix of core pairs, once per run.
        """
        if self.binary is None:
            return {}
        if not self.look:
            self.look = argv(plan_probe(self.topology, self.cpus))
        steps = argv(plan_probe(self.topology, self.cpus, full=True)) if full else self.look
        anchor = "+".join(map(str, self.cpus)) + f":{self.anchor_bytes}:{self.anchor_samples}"
        t_start_ns = now_ns()
        status, out, err = run_program(
            [str(self.binary.absolute()), *steps, "--anchor", anchor],
            cpus=[cpu.id for cpu in self.topology.cpus],
            env={"LC_ALL": "C"},
            time_limit_s=TIME_LIMIT_S,
            lock=self.lock,
            scheduling=self.scheduling,
        )
        self.last_ns = now_ns()
        cost_ns = self.last_ns - t_start_ns
        self.spent_ns += cost_ns
        readings = _readings(out)
        if status != 0:
            _, reason = explain_exit(status, out, err, TIME_LIMIT_S)
            readings.append({"kind": "probe_failed", "reason": reason})
        stamp = {"read_ns": t_start_ns, "cost_ns": cost_ns, "full": full}
        journal.append(self.path, [{**reading, **stamp} for reading in readings])
        return self._slowdown(readings)

    def _slowdown(self, readings: list[dict[str, Any]]) -> dict[int, float]:
        seen = {}
        for reading in readings:
            if reading["kind"] == "work":
                cpu, work_ns = reading["cpu"], reading["ns_per_iteration"]
                fastest = min(self.fastest_work_ns.get(cpu, work_ns), work_ns)
                self.fastest_work_ns[cpu] = fastest
                seen[cpu] = work_ns / fastest
        return seen


def _readings(out: str) -> list[dict[str, Any]]:
    readings = []
    for line in out.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record.get("kind") in ("work", "pair", "anchor"):
            readings.append(record)
    return readings
