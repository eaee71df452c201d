"""Means by the size of the message that they are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from benchbook.explain.results import Group, Key, Result
from benchbook.explain.units import bytes_per_s, in_base


class Sweep(list[Result]):
    """Of one name, by size, ascending."""

    @cached_property
    def sizes(self) -> list[int]:
        """In bytes."""
        return [result.of["message_bytes"] for result in self]

    @cached_property
    def times(self) -> list[float]:
        """How long each takes, in any unit that is the same for all of them."""
        return list(map(time_of, self))


def time_of(result: Result) -> float:
    """In any unit that is the same for all of a sweep."""
    rate = bytes_per_s(result.value, result.unit)
    return result.value if rate is None else float(result.of["message_bytes"]) / rate


def sweeps_of(groups: Mapping[Key, Group]) -> list[Sweep]:
    """Those of a report; where it has times, rates are computed of them and are none."""
    by_name: dict[str, dict[int, Result]] = {}
    rated = set[str]()
    for (name, statistic, unit), several in groups.items():
        if statistic != "mean":
            continue
        is_rate = bytes_per_s(1.0, unit) is not None
        if not is_rate and in_base(1.0, unit)[1] != "ns":
            continue
        own = by_name.setdefault(name, {})
        for result in several:
            size = result.of.get("message_bytes")
            if size and result.value > 0 and size not in own:
                own[size] = result
                if is_rate:
                    rated.add(name)
    timed = {name: own for name, own in by_name.items() if own and name not in rated}
    return [Sweep(own[size] for size in sorted(own)) for own in (timed or by_name).values()]


def with_printed_rates(results: Iterable[Result], sweep: Sweep) -> Sweep:
    """The rates that stand on the lines of these times, where each line has one of its own: a tool
    may compute them of the slowest process, and not of the mean. Else the sweep itself."""
    rates: dict[int, list[Result]] = {}
    for own in results:
        if own.statistic == "mean" and bytes_per_s(1.0, own.unit) is not None:
            rates.setdefault(own.line, []).append(own)
    found = [rates.get(own.line, []) for own in sweep]
    if any(len(own) != 1 or own[0].value <= 0 for own in found):
        return sweep
    return Sweep(own[0] for own in found)
