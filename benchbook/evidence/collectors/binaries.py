"""What the disassembly of the timed functions shows."""

from __future__ import annotations

from typing import Any

from benchbook.build import disassembly
from benchbook.evidence.stage import Context, Row, evidence_row

# Of a point's timed function: the row's name, the key in variant.json, the unit.
OF_FUNCTION = (
    ("library_calls", "library_calls", ""),
    ("loads_in_loop", "loads_in_loop", "instructions"),
    ("stores_in_loop", "stores_in_loop", "instructions"),
    ("widest_access_bytes", "widest_access_bytes", "bytes"),
    ("non_temporal_stores", "non_temporal_stores", ""),
    ("string_instructions", "string_instructions", ""),
    ("data_sections", "data_sections", ""),
    ("timed_isa", "isa", ""),
)
ACCESSES = ("loads_in_loop", "stores_in_loop")
IN_LOOP = (*ACCESSES, "widest_access_bytes")
NO_DISASSEMBLY = "objdump is not on PATH"


def rows(context: Context) -> list[Row]:
    """Instruction set and library calls of every variant that was compiled here, and what the
    timed function of every point of theirs is made of."""
    ours = {name: record for name, (_, record) in context.ours().items()}
    items = [row for record in ours.values() for row in _of_variant(context.experiment, record)]
    for point in context.plan.get("points", []):
        if point["variant"] in ours:
            items += _of_point(context.experiment, point, ours[point["variant"]])
            items.append(_declared_calls(context, point, ours[point["variant"]]))
    return items


def _declared_calls(context: Context, point: dict[str, Any], variant: dict[str, Any]) -> Row:
    """Library calls that the timed function is there to make, or may make, by the experiment's
    definition or by the point's own factor `call`; any other was the compiler's idea."""
    factors = point["factors"]
    function = disassembly.function_of(factors, variant["timed_functions"])
    named = [str(factors["call"])] if "call" in factors else []
    must = context.definition.get("calls", {}).get(function, named)
    return evidence_row(
        context.experiment,
        "library_calls_declared",
        [*must, *context.definition.get("may_call", {}).get(function, [])],
        "definition",
        point=point["id"],
        variant=point["variant"],
        function=function,
    )


def _of_variant(experiment: str, variant: dict[str, Any]) -> list[Row]:
    functions = variant["timed_functions"]
    values = {"isa": variant["isa"]}
    values |= {
        f"library calls in {name}": facts["library_calls"] for name, facts in functions.items()
    }
    seen = {"state": "ok", "reason": ""}
    state = seen if functions else {"state": "absent", "reason": NO_DISASSEMBLY}
    about = {"variant": variant["variant"], **state}
    return [
        evidence_row(experiment, name, value, "disassembly", **about)
        for name, value in values.items()
    ]


def _of_point(experiment: str, point: dict[str, Any], variant: dict[str, Any]) -> list[Row]:
    functions = variant["timed_functions"]
    function = disassembly.function_of(point["factors"], functions)
    facts = functions.get(function) or _of_all(function, functions)
    about = {"point": point["id"], "variant": point["variant"], "function": function}
    items = []
    for name, key, unit in OF_FUNCTION:
        why = _why_unseen(facts, key, function if functions else "")
        value = None if why else facts[key]
        # Of a loop that was not found there is no count, not one of 0.
        state = {"state": "absent" if why else "ok", "reason": why}
        items.append(
            evidence_row(experiment, name, value, "disassembly", unit=unit, **about, **state)
        )
    return items


def _of_all(function: str, functions: dict[str, Any]) -> dict[str, Any]:
    """What is true of each function that begins like it, whichever of them runs here: that it
    stores past the caches."""
    words = function.split("_")
    alike: list[dict[str, Any]] = []
    while len(words) > 1 and not alike:
        begin = "_".join([*words, ""])
        alike = [facts for name, facts in functions.items() if name.startswith(begin)]
        words.pop()
    stores = [facts.get("non_temporal_stores") or [] for facts in alike]
    if not stores or not all(stores):
        return {}
    return {"non_temporal_stores": sorted({name for names in stores for name in names})}


def _why_unseen(facts: dict[str, Any], key: str, function: str) -> str:
    """Why a fact of a timed function is not there; empty where it is."""
    if not function:
        return NO_DISASSEMBLY
    if key not in facts and "isa" not in facts:
        return f"no function is called {function}, or more than one begins like it"
    if key not in facts:
        return "this binary's build did not look for it; remove build/ and run again"
    if key in IN_LOOP and _is_elsewhere(facts):
        return "its loop lies in a function for the OpenMP runtime, which was not looked at"
    return ""


def _is_elsewhere(facts: dict[str, Any]) -> bool:
    calls = facts["library_calls"]
    only_runtime = bool(calls) and all(call.startswith(disassembly.RUNTIME) for call in calls)
    return only_runtime and not any(facts.get(key) for key in ACCESSES)
