"""Values of JSON of any shape: one of another type than is asked for counts as absent."""

from __future__ import annotations

from typing import Any, TypeGuard

Object = dict[str, Any]


def at(value: Any, *keys: str) -> Any:
    """What lies under the keys; None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def object_at(value: Any, *keys: str) -> Object:
    """The object under the keys; an empty one where it is none."""
    lies = at(value, *keys)
    return lies if isinstance(lies, dict) else {}


def list_at(value: Any, *keys: str) -> list[Any]:
    """The list under the keys; an empty one where it is none."""
    lies = at(value, *keys)
    return lies if isinstance(lies, list) else []


def objects_at(value: Any, *keys: str) -> list[Object]:
    """The objects in the list under the keys."""
    return [item for item in list_at(value, *keys) if isinstance(item, dict)]


def is_number(value: Any) -> TypeGuard[float | int]:
    """Whether it is a number, be it infinite or not a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_at(value: Any, *keys: str) -> float | int | None:
    """The number under the keys; None where it is none."""
    lies = at(value, *keys)
    return lies if is_number(lies) else None
