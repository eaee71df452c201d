"""Errors of pydantic as one sentence: the file, the key, what is wrong, what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

# Letters and digits first, so that a name can be a folder, a rule and a part of an option.
NAME = r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"
KIND = "kind"  # the key that says which of several models a mapping is
ALLOWED = "allowed"  # the error of a type of ours: its message says what is allowed
UNKNOWN_KEY = "unknown_key"  # the error that Model raises for a key that it does not have
_SHOWN = 80  # characters of a refused value
_OF_KEY = "[key]"  # how pydantic ends the place of an error about a mapping's key
_KINDS = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "none_required": "null",
    "string_type": "text",
    "tuple_type": "a list",
}
_LIMITS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
    "multiple_of": ("a multiple of", "multiple_of"),
}


@dataclass(frozen=True)
class _Problem:
    """One error, with the keys that lead to the value in the file that is to blame: where a key is
    missing or refused, to the mapping that should have it or has it."""

    keys: tuple[str, ...]
    error: ErrorDetails

    @property
    def about_a_key(self) -> bool:
        """Whether the key of a mapping is refused, not its value."""
        return self.error["loc"][-1:] == (_OF_KEY,)


def sentence(error: ValidationError, content: Any, origin: str) -> str:
    """The sentence about the first of a model's errors; `content` is what was to be parsed."""
    problems = sorted(
        (_problem(details, content) for details in error.errors()), key=lambda problem: problem.keys
    )
    first = problems[0].keys
    # Each member of a union complains. The member that got furthest is the one that was meant.
    rivals = [problem for problem in problems if problem.keys[: len(first)] == first]
    deepest = max(rivals, key=lambda problem: len(problem.keys)).keys
    return _sentence([problem for problem in rivals if problem.keys == deepest], origin)


def _problem(error: ErrorDetails, content: Any) -> _Problem:
    keys = _keys(error["loc"], content)
    return _Problem(keys[:-1] if error["loc"][-1:] == (_OF_KEY,) else keys, error)


def shown(value: Any) -> str:
    """A refused value, cut where it is long."""
    text = repr(value) if isinstance(value, str | dict | list) else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _keys(location: Iterable[int | str], content: Any) -> tuple[str, ...]:
    """The keys and list positions in pydantic's location that are in the content: what is not
    there is the name of a union's member, or of a kind."""
    keys: list[str] = []
    kind = None  # of the mapping that was entered last
    for part in location:
        if part == kind:  # also where a key is called like the kind
            kind = None
            continue
        in_mapping = isinstance(content, dict) and part in content
        in_list = isinstance(content, list) and isinstance(part, int) and part < len(content)
        if in_mapping or in_list:
            content = content[part]
            keys.append(str(part))
            kind = content.get(KIND) if isinstance(content, dict) else None
    return tuple(keys)


def _sentence(problems: list[_Problem], origin: str) -> str:
    problem = min(problems, key=lambda problem: problem.error["type"] != UNKNOWN_KEY)
    error, where = problem.error, ".".join(problem.keys)
    inside = f" in {where!r}" if where else ""
    if error["type"] == UNKNOWN_KEY:
        key, allowed = error["ctx"]["key"], error["ctx"]["allowed"]
        return f"{origin}: key {shown(key)}{inside} is unknown; allowed: {allowed}"
    if error["type"] == "missing" and isinstance(error["loc"][-1], int):
        least = len({problem.error["loc"][-1] for problem in problems}) + len(error["input"])
        value = shown(error["input"])
        return f"{origin}: key {where!r} is {value}; it needs at least {least} items"
    if error["type"] == "missing":
        return f"{origin}: key {str(error['loc'][-1])!r} is missing{inside}; add it"
    if error["type"] == "union_tag_not_found":
        key = error["ctx"]["discriminator"].strip("'")
        return f"{origin}: key {key!r} is missing{inside}; add it"
    if problem.about_a_key:
        wrong = "is not a name" if error["type"] == "string_pattern_mismatch" else "is unknown"
        return f"{origin}: key {shown(error['input'])}{inside} {wrong}; {_allowed(error)}"
    if error["type"] == "union_tag_invalid":
        key, value = error["ctx"]["discriminator"].strip("'"), error["ctx"]["tag"]
        where = f"{where}.{key}" if where else key
    else:
        value = error["input"]
    prefix = f"{origin}: key {where!r}" if where else f"{origin}:"
    if len(problems) > 1:
        kinds = " or ".join(dict.fromkeys(_kind(problem.error) for problem in problems))
        return f"{prefix} is {shown(value)}; allowed: {kinds}"
    return f"{prefix} is {shown(value)}; {_allowed(error)}"


def _allowed(error: ErrorDetails) -> str:
    """What would be taken instead."""
    kind, context = error["type"], error.get("ctx", {})
    match kind:
        case "literal_error":
            return f"allowed: {_listed(context['expected'])}"
        case "union_tag_invalid":
            return f"allowed: {', '.join(sorted(_listed(context['expected_tags']).split(', ')))}"
        case "string_pattern_mismatch" if context["pattern"] == NAME:
            return "allowed: letters, digits and . _ + -, the first a letter or a digit"
        case "string_pattern_mismatch":
            return f"allowed: text that matches {context['pattern']}"
        case "string_type" if not isinstance(error["input"], dict | list):
            return "it must be text; put it in quotes"
        case "string_too_short":
            return "it must not be empty"
        case "too_short" if context["field_type"] == "Dictionary":
            return "it needs at least one key"
        case "too_short" | "too_long":
            least = kind == "too_short"
            limit = context["min_length" if least else "max_length"]
            items = f"{limit} item{'s' if limit != 1 else ''}"
            return f"it needs at least {items}" if least else f"it takes at most {items}"
        case "float_type" | "int_type" if _is_number(error["input"]):
            like = "10000" if kind == "int_type" else "1.0e+4"
            return f"YAML takes that for text; it must be {_KINDS[kind]}, like {like}"
        case _ if kind in _LIMITS:
            word, key = _LIMITS[kind]
            limit = context[key]
            return f"it must be {word} {int(limit) if limit == int(limit) else limit}"
        case _ if kind in _KINDS:
            return f"it must be {_KINDS[kind]}"
    return error["msg"]


def _is_number(value: Any) -> bool:
    """Whether people read it as a number: 1e308 has no point, so that YAML does not."""
    try:
        return isinstance(value, str) and bool(float(value) or True)
    except ValueError:
        return False


def _kind(error: ErrorDetails) -> str:
    """What one member of a union would have taken."""
    return _KINDS.get(error["type"]) or _allowed(error).removeprefix("allowed: ")


def _listed(expected: str) -> str:
    """Pydantic's `'a', 'b' or 'c'` as `a, b, c`."""
    return expected.replace(" or ", ", ").replace("'", "")
