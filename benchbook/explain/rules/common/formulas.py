"""Arithmetic and comparisons that a catalogue states in words: `15 * misses / cycles >= 0.15`."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import cache

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARED: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max}


@cache
def parsed(formula: str) -> ast.expr:
    """The expression of a formula; SyntaxError where it is none."""
    return ast.parse(formula, mode="eval").body


def value_of(formula: str, numbers: Mapping[str, float]) -> float:
    """What a formula makes of these numbers; nan where it divides by 0."""
    try:
        return _value(parsed(formula), numbers)
    except (ZeroDivisionError, OverflowError):
        return math.nan


def holds(formula: str, numbers: Mapping[str, float]) -> bool:
    """Whether a comparison is true of these numbers; of what is no number it is not."""
    comparison = parsed(formula)
    if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
        raise ValueError(f"{formula!r} is no comparison of two values")
    try:
        left, right = (
            _value(side, numbers) for side in (comparison.left, comparison.comparators[0])
        )
    except (ZeroDivisionError, OverflowError):
        return False
    return _COMPARED[type(comparison.ops[0])](left, right)


def _value(node: ast.expr, numbers: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as constant):
            return constant
        case ast.Name(id=name):
            return numbers[name]
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
            return _BINARY[type(operation)](_value(left, numbers), _value(right, numbers))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](*(_value(argument, numbers) for argument in arguments))
    raise ValueError(f"{ast.unparse(node)!r} is no arithmetic")
