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
        return _calculation(parsed(formula))(numbers)
    except (ZeroDivisionError, OverflowError):
        return math.nan


def holds(formula: str, numbers: Mapping[str, float]) -> bool:
    """Whether a comparison is true of these numbers; of what is no number it is not."""
    comparison = parsed(formula)
    if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
        raise ValueError(f"{formula!r} is no comparison of two values")
    try:
        left, right = (
            _calculation(side)(numbers) for side in (comparison.left, comparison.comparators[0])
        )
    except (ZeroDivisionError, OverflowError):
        return False
    return _COMPARED[type(comparison.ops[0])](left, right)


# Interpreted, formulas took twice as long: a log of 6,000 starts of perf has 300,000 of them.
@cache
def _calculation(node: ast.expr) -> Callable[[Mapping[str, float]], float]:
    """The function that makes the number of a node."""
    match node:
        case ast.Constant(value=int() | float() as constant):
            return lambda numbers: constant
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
            make, first, second = _BINARY[type(operation)], _calculation(left), _calculation(right)
            return lambda numbers: make(first(numbers), second(numbers))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            function, parts = _FUNCTIONS[name], [*map(_calculation, arguments)]
            return lambda numbers: function(*(part(numbers) for part in parts))
    raise ValueError(f"{ast.unparse(node)!r} is no arithmetic")
