"""The classes of the NAS Parallel Benchmarks: how large their problems are, and how many operations
the benchmark counts in them (NASA report RNR-94-007 and its later additions).
"""

from __future__ import annotations

_CUBES = {
    "MG": {"S": 32, "W": 128, "A": 256, "B": 256, "C": 512, "D": 1024},
    "LU": {"S": 12, "W": 33, "A": 64, "B": 102, "C": 162, "D": 408},
    "SP": {"S": 12, "W": 36, "A": 64, "B": 102, "C": 162, "D": 408},
    "BT": {"S": 12, "W": 24, "A": 64, "B": 102, "C": 162, "D": 408},
}
_PAIRS = {"S": 24, "W": 25, "A": 28, "B": 30, "C": 32, "D": 36}  # powers of 2
_KEYS = {"S": 16, "W": 20, "A": 23, "B": 25, "C": 27, "D": 31}  # powers of 2
_ROWS = {"S": 1400, "W": 7000, "A": 14000, "B": 75000, "C": 150000, "D": 1500000}
_NONZEROS = {"S": 7, "W": 8, "A": 11, "B": 13, "C": 15, "D": 21}
_TRANSFORMED = {
    "S": "64x64x64", "W": "128x128x32", "A": "256x256x128",
    "B": "512x256x256", "C": "512x512x512", "D": "2048x1024x1024",
}  # fmt: skip
# Of a cube with n points along each axis, in each step: n³, n², n, 1.
_OPERATIONS = {
    "MG": (58.0, 0.0, 0.0, 0.0),
    "LU": (1984.77, -10923.3, 27770.9, -144010.0),
    "SP": (881.174, -4683.91, 11484.5, -19272.4),
    "BT": (3478.8, -17655.7, 28023.7, 0.0),
}
_CG_STEPS = 25


def size(benchmark: str, problem_class: str) -> str:
    """The size of a class as its programs print it; "" where it is not known here."""
    if side := _CUBES.get(benchmark, {}).get(problem_class):
        return f"{side}x{side}x{side}"
    if benchmark == "EP" and problem_class in _PAIRS:
        return str(2 ** (_PAIRS[problem_class] + 1))
    if benchmark == "IS" and problem_class in _KEYS:
        return str(2 ** _KEYS[problem_class])
    if benchmark == "CG" and problem_class in _ROWS:
        return str(_ROWS[problem_class])
    return _TRANSFORMED.get(problem_class, "") if benchmark == "FT" else ""


def operations(benchmark: str, problem_class: str, iterations: int | None) -> float:
    """How many operations the benchmark counts in so many iterations of a class; 0 where that is
    not known here. EP has no iterations."""
    if benchmark == "EP" and problem_class in _PAIRS:
        return 2.0 ** (_PAIRS[problem_class] + 1)
    if not iterations:
        return 0.0
    if benchmark == "IS" and problem_class in _KEYS:
        return float(iterations) * 2.0 ** _KEYS[problem_class]
    if benchmark == "CG" and problem_class in _ROWS:
        filled = _NONZEROS[problem_class] * (_NONZEROS[problem_class] + 1)
        each = 3 + filled + _CG_STEPS * (5 + filled) + 3
        return 2.0 * iterations * _ROWS[problem_class] * each
    if side := _CUBES.get(benchmark, {}).get(problem_class):
        cube, square, line, constant = _OPERATIONS[benchmark]
        return iterations * (cube * side**3 + square * side**2 + line * side + constant)
    return 0.0
