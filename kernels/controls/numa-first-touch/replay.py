"""Hosts with several nodes of memory: where the pages lie, and how fast their threads read them."""

import random
from typing import Any

from benchbook.controls.replays import Scene

MIB = 2**20


def scenes(seed: int) -> list[Scene]:
    """Pages on one node under threads of all nodes; their clean twins, and threads of one node."""
    dice = random.Random(seed)
    return [
        *(_scene(dice, nodes, one_sided=True) for nodes in (2, 4, 8)),
        *(_scene(dice, nodes, one_sided=False) for nodes in (2, 4, 8)),
        _one_node(dice),
    ]


def _scene(dice: random.Random, nodes: int, *, one_sided: bool) -> Scene:
    """Both ways of filling the arrays are measured only where one of them is at fault."""
    cores = dice.choice((4, 8, 16))
    rate = dice.uniform(20, 60)  # bytes per ns of one node
    shared_out = _point(dice, "a", nodes, cores, _fair(dice, nodes), rate * nodes)
    if not one_sided:
        return Scene(provoked=False, points=[shared_out], host=_host(nodes, cores))
    slowed = _point(dice, "b", nodes, cores, _on_one(dice, nodes), rate * dice.uniform(0.8, 1.1))
    others = dice.choice(([], [shared_out]))
    return Scene(provoked=True, points=[slowed, *others], host=_host(nodes, cores))


def _one_node(dice: random.Random) -> Scene:
    """All threads are of the node that holds the pages: no fault."""
    point = _point(dice, "c", 2, 4, _on_one(dice, 2), 40) | {"nodes_given": [0], "threads": 4}
    return Scene(provoked=False, points=[point], host=_host(2, 4))


def _host(nodes: int, cores: int) -> dict[str, Any]:
    return {"numa_nodes": nodes, "cores": nodes * cores, "memory_bytes": nodes * 2**36}


def _fair(dice: random.Random, nodes: int) -> dict[int, int]:
    return {node: round(16384 / nodes * dice.uniform(0.97, 1.03)) for node in range(nodes)}


def _on_one(dice: random.Random, nodes: int) -> dict[int, int]:
    """Nearly all of them: the stack and the program lie elsewhere."""
    chosen = dice.randrange(nodes)
    return {node: 16384 - 32 if node == chosen else dice.randrange(1, 32) for node in range(nodes)}


def _point(
    dice: random.Random, where: str, nodes: int, cores: int, pages: dict[int, int], rate: float
) -> dict[str, Any]:
    size = 64 * MIB
    return {
        "where": where,
        "bytes": size,
        "working_set_bytes": size,
        "bytes_per_call": float(size),
        "time_ns": size / rate * dice.uniform(0.98, 1.02),
        "threads": nodes * cores,
        "pages_per_node": pages,
        "nodes_given": list(range(nodes)),
    }
