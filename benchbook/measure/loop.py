"""The measuring loop of one run: pilot, randomised blocks, looks, and the manifest at the end."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.core.files import write_json
from benchbook.define.points import Point
from benchbook.measure import disturbance
from benchbook.measure.invocation import Request, Result, now_ns
from benchbook.measure.pilot import expected, pilot
from benchbook.measure.probe import MachineState
from benchbook.measure.starter import Numbers, Starter, first_unfinished
from benchbook.plan.plan import Plan
from benchbook.records import journal, seal

LONG_INVOCATION_NS = 1e9  # after one, the machine's state is read at once
SIDES = ("numerator", "denominator")
ROUNDS_OF_FIGURES = 6  # of a point behind no claim: the least for an interval at 95 %
FAILURES_BORNE = 2  # then a point is left out of later blocks


@dataclass
class Run:
    """One run in its folder. `say(stage, blocks_done, blocks_planned, seconds_left)`."""

    folder: Path
    plan: Plan
    starter: Starter
    state: MachineState
    seed: int
    say: Callable[[str, int, int, float], None]
    share_s: dict[str, float] = field(default_factory=dict)  # of its start, each point's last one

    def measure(self) -> None:
        """Measure what is missing, then complete the run with its manifest."""
        journal.repair(self.folder / journal.JOURNAL)
        journal.repair(self.folder / journal.PROBES)
        done = self._resume()
        began = time.monotonic()
        earlier_s = done.spent_ns / 1e9

        def spent_s() -> float:
            return earlier_s + time.monotonic() - began

        self.state.read(full=not (self.folder / journal.PROBES).exists())
        if done.pilot is None:
            done.pilot = self._pilot()
            self._log({"kind": "pilot", **done.pilot, "t_end_ns": now_ns()})
        failures = dict.fromkeys(done.pilot["failed"], FAILURES_BORNE) | done.failures
        block_s = done.pilot["block_ns"] / 1e9
        reason = done.looks[-1]["reason"] if done.looks else ""
        before: list[Point] = []
        while not reason:
            points = self._measurable(done.pilot["points"], failures)
            if not points:
                reason = "nothing_to_measure"
                break
            points = self._wanted(points, len(done.complete))
            if self.share_s:
                block_s *= self._shares_s(points) / self._shares_s(before)
            before = points
            extra = self._repeats(done)
            target = self.plan.looks[len(done.looks)]
            if self._decides_nothing(done):
                target = min(target, ROUNDS_OF_FIGURES)
            fits = spent_s() + block_s <= self.plan.settings.budget_s
            due = len(done.complete) < target and not done.looks
            if due or (len(done.complete) < target + extra and fits):
                left_s = (target + extra - len(done.complete)) * block_s
                self.say("block", len(done.complete), target + extra, left_s)
                started = time.monotonic()
                self._block(done, points, failures)
                block_s = (block_s + time.monotonic() - started) / 2
            else:
                reached = len(done.complete) >= target
                reason = self._look(done, reached, fits)
        self.state.read()
        self._finish(reason, done, spent_s())

    def _pilot(self) -> dict[str, Any]:
        if self.plan.settle is None:
            left_s = expected(self.plan)[1] * self.plan.least / 1e9
            self.say("pilot", 0, self.plan.looks[0], left_s)
            groups = self.starter.groups(self.plan.points)
            return pilot(self.plan, groups, self._try, self._start_ahead)
        # Another number of samples would be another estimate than the one to be settled.
        fixed = self.plan.settle["pilot"]["points"]
        return {"points": fixed, "failed": {}, "block_ns": 0, "wall_ns": 0}

    def _resume(self) -> journal.Progress:
        done = journal.progress(self.folder)
        if done.open_block is None:
            return done
        self._abandon(done.open_block, "interrupted", now_ns() - done.last_ns)
        return journal.progress(self.folder)

    def _abandon(self, block: int, reason: str, gap_ns: int | None = None) -> None:
        """The block stays in the journal and enters no estimate."""
        self._log({"kind": "abandoned", "block": block, "reason": reason, "gap_ns": gap_ns})

    def _measurable(self, numbers: Numbers, failures: dict[str, int]) -> list[Point]:
        return [
            point
            for point in self.plan.points
            if point.id in numbers and failures.get(point.id, 0) < FAILURES_BORNE
        ]

    def _wanted(self, points: list[Point], blocks: int) -> list[Point]:
        """The points of the next block: all, until those behind no claim have enough of them."""
        if blocks < ROUNDS_OF_FIGURES or not self.plan.pairs:
            return points
        return [point for point in points if point.id in self.plan.compared] or points

    def _repeats(self, done: journal.Progress) -> int:
        """Blocks beyond the plan's, in place of disturbed ones. None where every block so far was
        disturbed: the program disturbs itself, or other work goes on and would disturb them too."""
        if len(done.disturbed) == len(done.complete):
            return 0
        return min(len(done.disturbed), self.plan.settings.disturbed.repeats)

    def _decides_nothing(self, done: journal.Progress) -> bool:
        """Whether every claim rests on points that only emulate: they are drawn, not judged."""
        if self.plan.emulation is None or len(done.complete) < ROUNDS_OF_FIGURES:
            return False
        return not self.half_widths(done.complete)

    def _shares_s(self, points: list[Point]) -> float:
        return sum(self.share_s.get(point.id, 0.0) for point in points) or 1.0

    def _try(self, group: list[Point], numbers: Numbers) -> Result:
        return self.starter.try_out(group, numbers, self._dice_of_pilot(group))[1]

    def _start_ahead(self, group: list[Point], numbers: Numbers) -> None:
        self.starter.start_ahead(group, numbers, self._dice_of_pilot(group))

    def _dice_of_pilot(self, group: list[Point]) -> random.Random:
        return random.Random(f"{self.seed}/pilot/{group[0].id}")

    def _block(self, done: journal.Progress, points: list[Point], failures: dict[str, int]) -> None:
        """One invocation of each point in random order. A program that dies abandons the block,
        because its companions are missing then; the point that it died in counts a failure."""
        number = done.next_block
        dice = random.Random(f"{self.seed}/{number}")
        groups = self.starter.groups(self._in_turn(len(done.complete), points))
        compared = in_random_order(groups, self.plan.comparisons, dice)
        order = [[point.id for point in group] for together in compared for group in together]
        self._log({"kind": "block", "block": number, "order": order, "t_block_ns": now_ns()})
        thresholds = self.plan.settings.disturbed
        disturbed: list[str] = []
        numbers = done.pilot["points"] if done.pilot else {}
        starts = self._starts(compared, numbers, dice, disturbed)
        for index, (group, request, result) in enumerate(starts):
            share_s = result.wall_ns / 1e9 / len(group)
            self.share_s |= dict.fromkeys((point.id for point in group), share_s)
            self._log(*self.starter.lines(number, index, group, request, result))
            dead = first_unfinished(result)
            for position, outcome in enumerate(result.points):
                if position == dead or (outcome.time_ns and outcome.state != "ok"):
                    name = group[position].id
                    failures[name] = failures.get(name, 0) + 1
            if dead is not None:
                self._abandon(number, f"{group[dead].id} {result.points[dead].reason}")
                done.abandoned.append(number)
                return
            disturbed += disturbance.of_result(group, result, len(request.cpus), thresholds)
            if result.wall_ns > LONG_INVOCATION_NS:
                disturbed += disturbance.of_probe(self.state.read(), thresholds)
        if self.state.due():
            disturbed += disturbance.of_probe(self.state.read(), thresholds)
        end = {"kind": "block_end", "block": number, "disturbed": disturbed, "t_end_ns": now_ns()}
        self._log(end)
        done.complete.append(number)
        if disturbed:
            done.disturbed.append(number)

    def _starts(
        self,
        compared: list[list[list[Point]]],
        numbers: Numbers,
        dice: random.Random,
        disturbed: list[str],
    ) -> Iterator[tuple[list[Point], Request, Result]]:
        """What each group of a block gave, those that are compared with each other together; adds
        to `disturbed` what a probe between them found."""
        for groups in compared:
            if self.state.due():
                disturbed += disturbance.of_probe(self.state.read(), self.plan.settings.disturbed)
            starts = self.starter.start_compared(groups, numbers, dice)
            for group, (request, result) in zip(groups, starts, strict=True):
                yield group, request, result

    def _in_turn(self, done: int, points: list[Point]) -> list[Point]:
        """All points; in serial order the one whose turn it is after so many blocks, and after
        them the others."""
        serial = self.plan.serial
        if not serial:
            return points
        cycle = self.plan.blocks_per_cycle
        turn = min(done * cycle // self.plan.least, cycle - 1)
        if turn < len(serial):
            return [point for point in points if point.id == serial[turn]]
        return [point for point in points if point.id not in serial]

    def _look(self, done: journal.Progress, reached: bool, fits: bool) -> str:
        """Decide by width only whether more blocks are taken; "" means go on. Where a look is not
        reached it is the budget alone that ends the run, whatever the widths."""
        widths = self.half_widths(done.complete)
        taken = len(done.looks)
        reason = stats.next_look(
            self.plan.looks[taken] if reached else len(done.complete),
            self.plan.looks,
            list(widths.values()),
            target_half_width=self.plan.settings.target_half_width,
            least=self.plan.least,
            budget_allows_next=fits,
        ).reason
        look = {
            "kind": "look",
            "blocks": len(done.complete),
            "half_widths": {
                name: width if math.isfinite(width) else None for name, width in widths.items()
            },
            "reason": reason,
        }
        self._log(look)
        done.looks.append(look)
        return reason

    def half_widths(self, complete: list[int]) -> dict[str, float]:
        """Half-width of each claim's simultaneous interval, as a log ratio. What rests on a point
        that only emulates is never decided, so that no further look is taken for it."""
        wanted = {pair[side] for pair in self.plan.pairs for side in SIDES}
        told_by = (self.plan.emulation or {}).get("observation", "")
        emulated = set()
        rows = []
        for record in journal.read_lines(self.folder / journal.JOURNAL):
            if record["kind"] != "invocation" or record["state"] != "ok":
                continue
            if (record["observations"].get(told_by) or 0) > 0:
                emulated.add(record["point"])
            elif record["block"] in complete and record["point"] in wanted:
                samples = journal.load_samples(self.folder, record)
                median = stats.median_of_processes(
                    samples.time_ns, samples.process, record["warm_up"]
                )
                value = median / record["loops"]
                rows.append({"block": record["block"], "point": record["point"], "value": value})
        pairs = [pair for pair in self.plan.pairs if not emulated & {pair[side] for side in SIDES}]
        if emulated and not rows:  # all others failed
            return {}
        if not rows or not pairs:  # every invocation failed: nothing is known, so nothing is narrow
            return dict.fromkeys((pair["comparison"] for pair in pairs), math.inf)
        logs = stats.paired_log_ratios(pd.DataFrame(rows), pd.DataFrame(pairs))
        table = stats.ratio_intervals(logs, claims=max(self.plan.claims, 1))
        return dict(zip(table["comparison"], table["half_width"], strict=True))

    def _finish(self, reason: str, done: journal.Progress, spent_s: float) -> None:
        manifest = {
            "version": journal.VERSION,
            "experiment": self.plan.experiment,
            "stopped_by": reason,
            "blocks": len(done.complete),
            "abandoned": done.abandoned,
            "disturbed": done.disturbed,
            "skipped": self.plan.skipped,
            "failed": self._failed(),
            "claims": self.plan.claim_hashes,
            "measuring_s": round(spent_s, 3),
            "probing_s": round(self._probing_ns() / 1e9, 3),
            seal.FILES: seal.sums(self.folder),
        }
        write_json(self.folder / journal.MANIFEST, manifest)

    def _failed(self) -> dict[str, str]:
        """Points with no valid sample in any complete block, and why."""
        reasons: dict[str, str] = {}
        measured = set()
        for record in journal.read_lines(self.folder / journal.JOURNAL):
            if record["kind"] == "pilot":
                reasons |= {name: why["reason"] for name, why in record["failed"].items()}
            elif record["kind"] == "invocation" and record["state"] == "ok":
                measured.add(record["point"])
            elif record["kind"] == "invocation" and record["state"] != "not_reached":
                reasons[record["point"]] = record["reason"]
        return {name: why for name, why in reasons.items() if name not in measured}

    def _probing_ns(self) -> int:
        """All readings of this run, those before a resume too; one reading has several lines."""
        lines = journal.read_lines(self.folder / journal.PROBES)
        return sum({line["read_ns"]: line["cost_ns"] for line in lines}.values())

    def _log(self, *lines: dict[str, Any]) -> None:
        journal.append(self.folder / journal.JOURNAL, list(lines))


def in_random_order(
    groups: list[list[Point]], comparisons: list[set[str]], dice: random.Random
) -> list[list[list[Point]]]:
    """The starts of a block, and the points within each, in random order; those whose points are
    compared together, so that the machine has little time to change between them."""
    together: list[set[str]] = []
    for linked in [*({point.id for point in group} for group in groups), *comparisons]:
        touching = [names for names in together if names & linked]
        together = [names for names in together if not names & linked]
        together.append(linked.union(*touching))
    dice.shuffle(together)
    ordered = []
    for names in together:
        own = [list(group) for group in groups if names & {point.id for point in group}]
        dice.shuffle(own)
        for group in own:
            dice.shuffle(group)
        ordered.append(own)
    return ordered
