"""The kernel's timed function behind a point, and what the compiler made of it."""

from __future__ import annotations

from typing import Any

from benchbook.build import disassembly
from benchbook.core import number_format
from benchbook.report import wording


def function_of(point: str, known: dict[str, Any]) -> str:
    """The timed function of a point, by its id."""
    factors = wording.parts_of(point)
    del factors["variant"]
    return disassembly.function_of(factors, known)


def built(experiment: dict[str, Any], variant: str) -> dict[str, Any]:
    """What is known of a variant's binary; empty where the run had no such variant."""
    found = (one for one in experiment["variants"] if one["variant"] == variant)
    return next(found, {})


def name_of(experiment: dict[str, Any], point: str, variant: str = "") -> str:
    """The name of a point's timed function, in its own variant or in another one."""
    record = built(experiment, variant or wording.parts_of(point)["variant"])
    return function_of(point, record.get("timed_functions") or {})


def made(experiment: dict[str, Any], point: str, variant: str = "") -> str:
    """What the compiler made of a point's timed function, in words."""
    record = built(experiment, variant or wording.parts_of(point)["variant"])
    if record.get("state") != "ok":
        return "not built"
    found = (record["timed_functions"] or {}).get(name_of(experiment, point, variant))
    if found is None:
        return "its disassembly was not looked at"
    calls = [one for one in found["library_calls"] if not one.startswith(disassembly.RUNTIME)]
    if calls:
        return f"calls {number_format.listed(calls)}"
    if found["library_calls"] and not found["loads_in_loop"]:
        return "its loop lies in a function for the OpenMP runtime, which was not looked at"
    return f"no library call, {number_format.plural(found['loads_in_loop'], 'load')} in its loop"


def isa(experiment: dict[str, Any], points: list[str], variant: str) -> list[str]:
    """Vector instructions in the timed functions of these points, where each is known for itself,
    else in all of the variant's."""
    record = built(experiment, variant)
    known = record.get("timed_functions") or {}
    own = [known.get(name_of(experiment, point, variant), {}).get("isa") for point in points]
    if any(one is None for one in own):
        return list(record.get("isa") or [])
    return list(dict.fromkeys(name for one in own for name in one))
