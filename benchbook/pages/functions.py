"""The kernel's timed function behind a point, and what the compiler made of it."""

from __future__ import annotations

import re
from typing import Any

from benchbook import digits
from benchbook.pages import prose

# How OpenMP shares a loop among threads; no call of the loop's own.
_RUNTIME = ("omp_", "GOMP_", "__kmpc_")


def function_of(point: str, known: dict[str, Any]) -> str:
    """The timed function of a point: `timed_<method>`, followed by the values of its factors in
    words as far as `known` has such a function, else the only one there that begins like it."""
    parts = prose.parts_of(point)
    method = parts.pop("method", "")
    words = [one for key, one in parts.items() if key != "variant" and not one.isdigit()]
    base = "_".join(["timed", _plain(method)]) if method else "timed"
    full = "_".join([base, *map(_plain, words)])
    for name in (full, *(f"{base}_{_plain(word)}" for word in words), base):
        if name in known:
            return name
    begins = [name for name in known if name.startswith(f"{base}_")]
    return begins[0] if len(begins) == 1 else full


def _plain(word: str) -> str:
    return re.sub(r"\W", "_", word)


def built(experiment: dict[str, Any], variant: str) -> dict[str, Any]:
    """What is known of a variant's binary; empty where the run had no such variant."""
    found = (one for one in experiment["variants"] if one["variant"] == variant)
    return next(found, {})


def name_of(experiment: dict[str, Any], point: str, variant: str = "") -> str:
    """The name of a point's timed function, in its own variant or in another one."""
    record = built(experiment, variant or prose.parts_of(point)["variant"])
    return function_of(point, record.get("timed_functions") or {})


def made(experiment: dict[str, Any], point: str, variant: str = "") -> str:
    """What the compiler made of a point's timed function, in words."""
    record = built(experiment, variant or prose.parts_of(point)["variant"])
    if record.get("state") != "ok":
        return "not built"
    found = (record["timed_functions"] or {}).get(name_of(experiment, point, variant))
    if found is None:
        return "its disassembly was not looked at"
    calls = [one for one in found["library_calls"] if not one.startswith(_RUNTIME)]
    if calls:
        return f"calls {digits.listed(calls)}"
    if found["library_calls"] and not found["loads_in_loop"]:
        return "its loop lies in a function for the OpenMP runtime, which was not looked at"
    return f"no library call, {digits.plural(found['loads_in_loop'], 'load')} in its loop"


def isa(experiment: dict[str, Any], points: list[str], variant: str) -> list[str]:
    """Vector instructions in the timed functions of these points, where each is known for itself,
    else in all of the variant's."""
    record = built(experiment, variant)
    known = record.get("timed_functions") or {}
    own = [known.get(name_of(experiment, point, variant), {}).get("isa") for point in points]
    if any(one is None for one in own):
        return list(record.get("isa") or [])
    return list(dict.fromkeys(name for one in own for name in one))
