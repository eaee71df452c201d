"""The kernel's timed function behind a point, and what the compiler made of it."""

from __future__ import annotations

from typing import Any

from benchbook.build import disassembly
from benchbook.core import number_format
from benchbook.report import wording


def function_of(point: str, functions: dict[str, Any]) -> str:
    """The timed function of a point, by its id."""
    factors = wording.parts_of(point)
    del factors["variant"]
    return disassembly.function_of(factors, functions)


def variant_record(experiment: dict[str, Any], variant: str) -> dict[str, Any]:
    """What is known of a variant's binary; empty where the run had no such variant."""
    records = (record for record in experiment["variants"] if record["variant"] == variant)
    return next(records, {})


def name_of(experiment: dict[str, Any], point: str, variant: str = "") -> str:
    """The name of a point's timed function, in its own variant or in another one."""
    record = variant_record(experiment, variant or wording.parts_of(point)["variant"])
    return function_of(point, record.get("timed_functions") or {})


def library_calls(experiment: dict[str, Any], point: str, variant: str = "") -> list[str] | None:
    """The C library's functions that a point's timed function calls, none where it is a loop of its
    own; None where the loop itself was not looked at."""
    function = _disassembled(experiment, point, variant)
    if function is None:
        return None
    calls = [call for call in function["library_calls"] if not call.startswith(disassembly.RUNTIME)]
    in_runtime = function["library_calls"] and not function["loads_in_loop"]
    return None if in_runtime and not calls else calls


def _disassembled(experiment: dict[str, Any], point: str, variant: str) -> Any:
    record = variant_record(experiment, variant or wording.parts_of(point)["variant"])
    if record.get("state") != "ok":
        return None
    return (record["timed_functions"] or {}).get(name_of(experiment, point, variant))


def compiled_form(experiment: dict[str, Any], point: str, variant: str = "") -> str:
    """What the compiler made of a point's timed function, in words."""
    record = variant_record(experiment, variant or wording.parts_of(point)["variant"])
    if record.get("state") != "ok":
        return "not built"
    function = _disassembled(experiment, point, variant)
    if function is None:
        return "its disassembly was not looked at"
    calls = library_calls(experiment, point, variant)
    if calls is None:
        return "its loop lies in a function for the OpenMP runtime, which was not looked at"
    if calls:
        return f"calls {number_format.listed(calls)}"
    return f"no library call, {number_format.plural(function['loads_in_loop'], 'load')} in its loop"


def vector_instructions(experiment: dict[str, Any], points: list[str], variant: str) -> list[str]:
    """Vector instructions in the timed functions of these points, where each is known for itself,
    else in all of the variant's."""
    record = variant_record(experiment, variant)
    functions = record.get("timed_functions") or {}
    own = [functions.get(name_of(experiment, point, variant), {}).get("isa") for point in points]
    if any(names is None for names in own):
        return list(record.get("isa") or [])
    return list(dict.fromkeys(name for names in own for name in names))
