"""When to stop adding blocks: by the width of the intervals, never by where they lie."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError

Reason = Literal["", "width", "last_look", "budget"]


@dataclass(frozen=True)
class Decision:
    """Go on, at most until `blocks` are done (reason empty), or stop with `blocks` done and the
    reason."""

    action: Literal["continue", "stop"]
    blocks: int
    reason: Reason


def looks_from(looks: Sequence[int], least: int) -> tuple[int, ...]:
    """The looks of a run that needs at least `least` blocks: `least`, then the looks above it.

    The plan's own least (8 for every run) stays: a `least` below the first look becomes that look.
    """
    if not looks or list(looks) != sorted(set(looks)) or looks[0] < 1:
        raise BenchbookError(
            f"The looks {list(looks)} must be rising numbers of blocks, from 1 on."
        )
    first = max(least, looks[0])
    return (first, *(look for look in looks if look > first))


def next_look(
    blocks_done: int,
    looks: Sequence[int],
    half_widths: ArrayLike,
    target_half_width: float,
    least: int,
    budget_allows_next: bool,
) -> Decision:
    """Whether to go on, decided at the looks only and by width only.

    `half_widths` (comparisons,) are those of the simultaneous intervals, in logs; infinite while
    there are too few blocks. `budget_allows_next`: one more block at least. The estimates are no
    argument, so they cannot decide. With no comparison the width counts as reached. Between two
    looks the width is not looked at. Error: stopping by width costs coverage, because a run stops
    rather when its spread came out small; tests/test_stats_coverage.py shows by how much.
    """
    widths = np.asarray(half_widths, dtype=np.float64).ravel()
    if np.isnan(widths).any() or (widths < 0).any():
        raise BenchbookError("A half-width is NaN or negative; find the failed point it came from.")
    if not target_half_width > 0:
        raise BenchbookError(
            f"The target half-width is {target_half_width}; it must be above zero."
        )
    plan = looks_from(looks, least)
    if blocks_done in plan and (widths <= target_half_width).all():
        return Decision("stop", blocks_done, "width")
    if blocks_done >= plan[-1]:
        return Decision("stop", blocks_done, "last_look")
    if not budget_allows_next:
        return Decision("stop", blocks_done, "budget")
    return Decision("continue", next(look for look in plan if look > blocks_done), "")
