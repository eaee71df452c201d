"""No detector ends with an error, whatever a table lacks."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from benchbook.detect import Seen, all_detectors

DETECTORS = {module.ARTEFACT.id: module for module in all_detectors()}
MIB = 2**20
CACHE = {"level": 1, "kind": "data", "bytes": 48 * 1024, "ways": 12, "line_bytes": 64,
         "shared_cpus": [0]}  # fmt: skip
HOST: dict[str, Any] = {
    "llc_sysfs_bytes": 4 * MIB,
    "llc_sysconf_bytes": 4 * MIB,
    "total_llc_bytes": 4 * MIB,
    "smaller_caches_bytes": [MIB],
    "caches": [CACHE],
    "cpus": [0, 1],
    "disturbed_above": {
        "run_delay_fraction": 0.05,
        "run_delay_least_ns": 1_000_000,
        "steal_fraction": 0.02,
        "work_factor": 1.25,
    },
    "cores": 2,
    "numa_nodes": 2,
    "memory_bytes": 1024 * MIB,
    "page_bytes": 4096,
    "ceilings": [],
}


def bare(where: str, **more: Any) -> dict[str, Any]:
    return {"where": where, "series": "s", "setting": "t", "twin": where, "environment": {}} | more


def full(where: str, mib: int, time_ns: float, **more: Any) -> dict[str, Any]:
    """A point of which all is known that the detectors ask for."""
    size = mib * MIB
    return (
        bare(
            where,
            bytes=size,
            bytes_per_call=2 * size,
            buffers_bytes=2 * size,
            working_set_bytes=2 * size,
            anonymous_bytes=0,
            anon_huge_bytes=0,
            buffers_resident_bytes=0,
            resident_bytes=MIB,
            minor_faults=10**6,
            time_ns=time_ns,
            time_low_ns=time_ns,
            time_high_ns=time_ns,
            best_ns=time_ns,
            paper_ns=time_ns,
            rate_bytes_per_s=2e9 * size / time_ns if time_ns else math.nan,
            samples=80,
            blocks=8,
            threads=2,
            processes=1,
            block_bytes=4096,
            blocks_declared=size // 4096,
            distinct_source_blocks=1,
            last_source_block=0,
            work_done_fraction=0.001,
            destination_written_fraction=0.001,
            stride_bytes=4096 if mib % 2 else 4160,
            lines_touched=512,
            threads_writing=2,
            threads_writing_the_line=2 if mib % 2 else 1,
            apart_bytes=8 if mib % 2 else 256,
            line_bytes=64,
            pages_per_node=[1000, 0] if mib % 2 else [500, 500],
            nodes_given=[0, 1],
            affinity_cpus=2 if mib % 2 else 1,
            migrations=mib % 2,
            destination_minus_source_mod_4096=8 if mib % 2 else 2048,
            compiler="gcc",
            flags_asked=["-O2"],
            library_calls=[],
            library_calls_declared=[],
            string_instructions=[],
            non_temporal_stores=[],
            loads_in_loop=0,
            stores_in_loop=0,
            widest_access_bytes=8 if mib % 2 else 16,
        )
        | more
    )


def table(time_ns: float) -> pd.DataFrame:
    rows = [full(f"p{mib}", mib, time_ns) for mib in (1, 2, 4, 7, 16, 64)]
    rows += [full(f"q{mib}", mib, 1e6) for mib in (1, 2, 7)]
    copies = {"library_calls": ["memcpy"], "processes": 2, "overlap_fraction": 1.0}
    return pd.DataFrame([*rows, full("c", 3, time_ns, **copies), full("d", 3, 1e6, **copies)])


def starts(points: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"where": where, "block": block, "invocation": 0, "position": 0,
             "t_start_ns": block, "t_end_ns": block + 1, "samples": 10,
             **dict.fromkeys(("median_ns", "mean_ns", "best_ns", "p10_ns", "p90_ns"), time),
             "machine_state": "1", "disturbed": False, "cpus_given": 1, "migrations": 1,
             "run_delay_ns": time, "wall_ns": time, "on_cpu_ns": time,
             "involuntary_switches": 0, "voluntary_switches": 0, "minor_faults": 10}
            for where, time in zip(points["where"], points["time_ns"], strict=True)
            for block in range(8)
        ]
    )  # fmt: skip


TABLES = {
    "an empty table": Seen(pd.DataFrame()),
    "a bare row": Seen(pd.DataFrame([bare("p")])),
    "a bare row of a known host": Seen(pd.DataFrame([bare("p")]), host=HOST),
    "a time without anything": Seen(pd.DataFrame([bare("p", time_ns=1.0)]), host=HOST),
    "no times": Seen(table(1.0).drop(columns=["time_ns", "rate_bytes_per_s"]), host=HOST),
    "no starts": Seen(table(1e6), host=HOST),
    "no bytes": Seen(table(1e6).drop(columns="bytes_per_call"), host=HOST),
    **{
        f"a time of {time}": Seen(table(time), starts=starts(table(time)), host=HOST)
        for time in (0.0, math.nan)
    },
    "some starts of no time": Seen(table(1e6), starts=starts(table(0.0)), host=HOST),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("artefact", DETECTORS)
def test_no_table_stops_a_detector(artefact: str, name: str) -> None:
    judged = DETECTORS[artefact].detect(TABLES[name])
    for finding in judged.findings:
        assert finding.factor is None or 0 < finding.factor < math.inf, finding
        assert "nan" not in finding.explanation.split(), finding
