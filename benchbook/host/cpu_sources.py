"""What this machine's CPUs and caches are said to be, by each that can be asked."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, cast

from benchbook.host import hwloc
from benchbook.host.topology import Topology, read_topology, sysconf_caches


def stated(topology: Topology | None = None) -> dict[str, Any]:
    """Facts for a run's manifest: `cpus` (online, of sysfs), `caches_sysconf`, and `hwloc`."""
    sources = {
        "cpus": [asdict(cpu) for cpu in (topology or read_topology()).online],
        "caches_sysconf": [asdict(cache) for cache in sysconf_caches()],
        "hwloc": hwloc.read_hwloc(),
    }
    return cast(dict[str, Any], json.loads(json.dumps(sources)))
