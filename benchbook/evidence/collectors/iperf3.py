"""TCP and UDP throughput in a network like the one of the round trips: iperf3, once, not paired.

A row has the transfer that it is of, the end (near: host A sends; far: host B receives) and the
value as iperf3 printed it there, or as the kernel of that end counted it meanwhile.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from benchbook import network
from benchbook.core import scratch
from benchbook.core.errors import BenchbookError
from benchbook.core.processes import measuring_lock
from benchbook.define.settings import PRESETS
from benchbook.evidence.stage import Context, Row, evidence_row
from benchbook.evidence.throughput import COUNTED, FAR, NEAR, SOURCE
from benchbook.evidence.throughput.ends import NotPrintedError, figures
from benchbook.host import tools
from benchbook.host.capabilities import capability
from benchbook.measure.invocation import run_program
from benchbook.network import Door, counters
from benchbook.network.serving import NotServingError, serving

LIMIT_S = 30.0  # of one transfer
# What a kernel counts, as rows call it; the first four of UDP, the others of interfaces.
COUNTS = {
    "InDatagrams": ("udp_read_datagrams", "datagrams"),
    "OutDatagrams": ("udp_sent_datagrams", "datagrams"),
    "RcvbufErrors": ("receive_buffer_errors", "datagrams"),
    "InErrors": ("udp_receive_errors", "datagrams"),
    "interface_received_packets": ("interface_received_packets", "packets"),
    "interface_received_bytes": ("interface_received_bytes", "bytes"),
    "interface_received_dropped": ("interface_received_dropped", "packets"),
    "interface_sent_packets": ("interface_sent_packets", "packets"),
    "interface_sent_bytes": ("interface_sent_bytes", "bytes"),
    "interface_sent_dropped": ("interface_sent_dropped", "packets"),
}


def rows(context: Context) -> list[Row]:
    """The rows of each transfer that the experiment asks for in this preset."""
    wanted = context.definition.get("throughput")
    if not wanted:
        return []
    name = context.experiment
    preset = context.pointer.get("preset", PRESETS[0])
    transfers = [
        transfer
        for each in PRESETS[: PRESETS.index(preset) + 1]
        for transfer in wanted["transfers"].get(each, [])
    ]
    line = {key: wanted.get(key, 0) for key in ("path", "switches", "link_bits_per_s")}
    program = shutil.which(SOURCE)
    if program is None:
        package = tools.package_of(SOURCE)
        reason, remedy = f"{SOURCE} is not on PATH", tools.remedy(package)
        return [_nothing(name, "absent", reason, remedy)]
    if why := network.refusal(line, None, Path()):
        denied = capability("namespaces").state == "denied"
        return [_nothing(name, "denied" if denied else "absent", why, "")]
    cpus = context.plan["cpus"]
    with (
        measuring_lock(f"throughput of {name}", Path().absolute(), _say) as lock,
        network.made([line], None) as joined,
    ):
        door = joined.door(line)
        if door.refused:
            return [_nothing(name, "absent", door.refused, "")]
        stage = _Stage(name, program, wanted["datagram_bytes"], door, cpus, lock)
        return [row for transfer in transfers for row in stage.rows(transfer)]


def _say(text: str) -> None:
    print(text, file=sys.stderr)


class _Stage:
    def __init__(
        self,
        experiment: str,
        program: str,
        datagram_bytes: int,
        door: Door,
        cpus: list[int],
        lock: int,
    ) -> None:
        self.experiment, self.program, self.datagram_bytes = experiment, program, datagram_bytes
        self.door, self.cpus, self.lock = door, cpus, lock

    def rows(self, transfer: dict[str, Any]) -> list[Row]:
        """One transfer, both ends and what the kernels counted meanwhile."""
        wanted = {"bits_per_s": 0, **transfer, "datagram_bytes": self.datagram_bytes}
        if wanted["protocol"] == "tcp":
            wanted["datagram_bytes"] = None
        try:
            printed = self._transfer(wanted)
        except (NotServingError, NotPrintedError, OSError, BenchbookError) as why:
            reason = f"{SOURCE}: {why}"
            return [_nothing(self.experiment, "absent", reason, "") | {"transfer": wanted}]
        return [
            evidence_row(
                self.experiment,
                row["name"],
                row["value"],
                row["source"],
                unit=row["unit"],
                why_absent="it does not tell",
                end=row["end"],
                transfer=wanted,
            )
            for row in printed
        ]

    def _transfer(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        ends = {NEAR: self.door.enter, FAR: self.door.enter_far}
        address, port = self.door.options["far-address"], network.SERVER_PORT
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}
        env |= scratch.variables()
        before = {end: counters.read(enter) for end, enter in ends.items()}
        with serving(
            [self.program, "-s", "-1", "-J", "-B", address, "-p", str(port)],
            protocol="tcp",
            port=port,
            cpus=self.cpus[1:2] or self.cpus,
            enter=self.door.enter_far,
            inherits=(*self.door.inherits, self.lock),
            env=env,
        ) as server:
            status, out, err = run_program(
                [self.program, "-c", address, "-p", str(port), "-J", *_asking(wanted)],
                cpus=self.cpus[:1],
                env=env,
                time_limit_s=LIMIT_S,
                lock=self.lock,
                door=self.door,
            )
            if status is None:
                raise NotServingError(f"the transfer did not end within {LIMIT_S:g} s")
            if status < 0:
                raise NotServingError(f"the sending end was ended by signal {-status}")
            near = figures(NEAR, wanted["protocol"], out or err)
            far = figures(FAR, wanted["protocol"], server.finish())
        printed = [{**row, "source": SOURCE} for row in (*near, *far)]
        after = {end: counters.read(enter) for end, enter in ends.items()}
        counted = [
            {"end": end, "name": name, "value": count.get(key), "unit": unit, "source": COUNTED}
            for end in ends
            for count in [counters.since(before[end], after[end])]
            for key, (name, unit) in COUNTS.items()
        ]
        return printed + counted


def _asking(wanted: dict[str, Any]) -> list[str]:
    amount = ["-n", str(wanted["bytes"])]
    if wanted["protocol"] == "tcp":
        return amount
    return ["-u", "-l", str(wanted["datagram_bytes"]), "-b", str(wanted["bits_per_s"]), *amount]


def _nothing(experiment: str, state: str, reason: str, remedy: str) -> Row:
    why = {"state": state, "reason": reason, "remedy": remedy}
    return evidence_row(experiment, "throughput", None, SOURCE, **why)
