"""CPUs, caches and NUMA nodes as hwloc tells them: the output of its lstopo, read here.

hwloc asks the CPU itself where the kernel's files and libc do not agree with it, so its word on
caches is one of its own. It is there only where lstopo is installed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from benchbook.core.errors import BenchbookError
from benchbook.host.topology import Cache, Cpu

# To a file named `-`, and with CPUs that this process may not use.
COMMAND = ("lstopo-no-graphics", "--of", "xml", "--no-io", "--disallowed", "-")
LIMIT_S = 10
_KINDS = {"0": "unified", "1": "data", "2": "instruction"}
Element = ElementTree.Element


def run_lstopo() -> str:
    """The XML that lstopo prints; BenchbookError where it cannot be had."""
    try:
        done = subprocess.run(
            COMMAND,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise BenchbookError(
            "lstopo-no-graphics is not on this machine; install the package hwloc-nox or hwloc"
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchbookError(f"lstopo-no-graphics did not answer: {error}") from error
    if done.returncode:
        last_words = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
        raise BenchbookError(f"lstopo-no-graphics failed: {last_words[:200]}")
    return done.stdout


def read_hwloc(ask: Callable[[], str] = run_lstopo) -> dict[str, Any]:
    """What hwloc says, ready for JSON: {version, cpus, caches, nodes}, or {reason} alone.

    `cpus` and `caches` as in the host's facts; `nodes` is the memory of each NUMA node in bytes,
    by its number as text, None where hwloc leaves it out.
    """
    try:
        return parse(ask())
    except BenchbookError as error:
        return {"reason": str(error)}


def parse(text: str) -> dict[str, Any]:
    """What lstopo's XML of hwloc 2 says; BenchbookError for anything else."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise BenchbookError(f"what lstopo printed is no XML: {error}") from error
    machine = root.find("object")
    if root.tag != "topology" or machine is None or not root.get("version", "").startswith("2"):
        raise BenchbookError("what lstopo printed is no topology of hwloc 2; install hwloc 2")
    cpus: list[Cpu] = []
    caches: list[Cache] = []
    nodes: dict[str, int | None] = {}
    _walk(machine, None, None, None, cpus, caches, nodes)
    if not cpus:
        raise BenchbookError("what lstopo printed names no CPU")
    info = {entry.get("name"): entry.get("value") for entry in machine.findall("info")}
    caches.sort(key=lambda cache: (cache.level, cache.kind, cache.shared_cpus or ()))
    return {
        "version": info.get("hwlocVersion"),
        "cpus": [asdict(unit) for unit in sorted(cpus, key=lambda cpu: cpu.id)],
        "caches": [
            {**asdict(cache), "shared_cpus": list(cache.shared_cpus or ())} for cache in caches
        ],
        "nodes": nodes,
    }


def _walk(
    element: Element,
    socket: int | None,
    node: int | None,
    core: int | None,
    cpus: list[Cpu],
    caches: list[Cache],
    nodes: dict[str, int | None],
) -> None:
    """Collects what lies below an object. A node is a child beside the CPUs that it is near to."""
    kind = element.get("type", "")
    if kind == "Package":
        socket = _number(element, "os_index")
    elif kind == "Core":
        core = min(_cpus(element), default=None)
    elif kind == "PU":
        own = _number(element, "os_index")
        if own is not None:
            cpus.append(Cpu(own, own if core is None else core, socket, node, "unknown", None))
        return
    elif element.get("cache_type"):
        caches.append(_cache(element))
    near = [node for node in element.findall("object") if node.get("type") == "NUMANode"]
    for memory_node in near:
        nodes[memory_node.get("os_index", "?")] = _number(memory_node, "local_memory")
    node = _number(near[0], "os_index") if near else node
    for child in element.findall("object"):
        if child not in near:
            _walk(child, socket, node, core, cpus, caches, nodes)


def _cache(element: Element) -> Cache:
    return Cache(
        level=_number(element, "depth") or 0,
        kind=_KINDS.get(element.get("cache_type", ""), "unknown"),
        bytes=_number(element, "cache_size") or None,
        ways=_positive(element, "cache_associativity"),
        line_bytes=_positive(element, "cache_linesize"),
        shared_cpus=tuple(sorted(_cpus(element))),
        source="hwloc",
    )


def _number(element: Element, name: str) -> int | None:
    text = element.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _positive(element: Element, name: str) -> int | None:
    """hwloc writes 0 for what it does not know, and -1 for any place in the cache."""
    return _number(element, name) or None


def _cpus(element: Element) -> set[int]:
    """The CPUs below an object."""
    numbers = (
        _number(unit, "os_index") for unit in element.iter("object") if unit.get("type") == "PU"
    )
    return {number for number in numbers if number is not None}
