"""What is known of the machine on which a log was made: the caller says its caches or its name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.sizes import parse_bytes
from benchbook.explain.rules import Machine

HERE = "here"
# Where a host's own runs and results tell what it is: host, then two more folders.
_RECORDS = (
    "data/recorded/{}/*/*/plan.json",
    "data/runs/{}/*/*/plan.json",
    "results/{}/*/*/analysis.json",
)


def machine_of(root: Path, l3: str, host: str) -> Machine:
    """The machine as --l3 and --host say; --l3 goes before what the host's record has."""
    machine = _of_host(root, host) if host else Machine()
    if not l3:
        return machine
    size = parse_bytes(l3)
    if not size:
        raise BenchbookError(f"--l3 {l3!r} is no size: write it like '32 MiB'")
    return Machine(size, machine.cores, machine.memory_bytes, machine.memory_bytes_per_s, "--l3")


def _of_host(root: Path, host: str) -> Machine:
    if host == HERE:
        return _here(root)
    if Path(host).is_file():
        return _of_records([_loaded(Path(host))], f"--host {host}")
    hosts = _hosts(root)
    matching = [name for name in hosts if name.startswith(host)]
    if len(matching) != 1:
        choices = ", ".join(hosts) or "none"
        what = f"names {len(matching)} hosts" if matching else "is no host that has results here"
        raise BenchbookError(
            f"--host {host!r} {what}: give '{HERE}', a file with the facts of a host "
            f"(plan.json or analysis.json of a run), or one of those known here: {choices}"
        )
    return _named(root, matching[0])


def _hosts(root: Path) -> list[str]:
    """Hosts that have a run or results in this checkout."""
    files = [file for pattern in _RECORDS for file in root.glob(pattern.format("*"))]
    return sorted({file.parents[2].name for file in files})


def _named(root: Path, host: str) -> Machine:
    files = [file for pattern in _RECORDS for file in sorted(root.glob(pattern.format(host)))]
    return _of_records(map(_loaded, files), f"--host {host}")


def _here(root: Path) -> Machine:
    """This machine, with what its own runs measured, if there are any."""
    from benchbook.host import facts as host_facts

    facts = host_facts.facts()
    recorded = _named(root, host_facts.host_id(facts))
    return Machine(
        recorded.llc_bytes or facts.get("llc_bytes"),
        facts.get("usable_cores"),
        facts.get("memory_total_bytes"),
        recorded.memory_bytes_per_s,
        f"--host {HERE}",
    )


def _loaded(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise BenchbookError(
            f"{file}: cannot be read as the record of a host; give plan.json or analysis.json of a "
            "run, or --l3 SIZE"
        ) from None
    return content if isinstance(content, dict) else {}


def _of_records(records: Iterable[dict[str, Any]], source: str) -> Machine:
    """What the later of these say goes before the earlier; the best memory rate of all counts."""
    llc = cores = memory = rate = None
    for record in records:
        facts = record.get("host_facts") or record.get("facts") or record
        sizes = record.get("sizes") or {}
        llc = sizes.get("total LLC") or facts.get("llc_bytes") or llc
        cores = facts.get("usable_cores") or cores
        memory = facts.get("memory_total_bytes") or memory
        rates = [ceiling["rate_bytes_per_s"] for ceiling in record.get("ceilings") or []]
        rate = max([*rates, rate or 0.0]) or None
    return Machine(llc, cores, memory, rate, source)
