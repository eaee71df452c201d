"""Pages are had from the system while the clock runs."""

from __future__ import annotations

from benchbook.core.number_format import count
from benchbook.judge.cause_context import Answer, CannotTell, Context, Excluded, Point, row, seen

CAUSE = "first-touch"
TITLE = "page faults while timed"
FAULTS = ("minor_faults", "major_faults")
NEGLIGIBLE = 1e-4  # of the pages moved, each of which would cost some ten times its copy


def predict(context: Context) -> Answer:
    """From the page faults of the timed region: none, no effect."""
    evidence = [row(side, name, "faults") for side in context.sides() for name in FAULTS]
    if any(fact["value"] is None for fact in evidence):
        return CannotTell("this system does not count page faults")
    faults = sum(fact["value"] for fact in evidence)
    if not faults:
        return Excluded("No page fault fell into the timed parts of either side.", evidence)
    if not context.page_bytes:
        return CannotTell(f"{count(faults)} page faults fell into the timed parts of unknown pages")
    pages = min(_pages(side, context.page_bytes) for side in context.sides())
    if faults <= NEGLIGIBLE * pages:
        why = f"{count(faults)} page faults stand against {count(pages)} pages moved in a start."
        return Excluded(why, evidence)
    return CannotTell(
        f"{count(faults)} page faults were timed, and no control build shows what one costs"
    )


def _pages(side: Point, page_bytes: int) -> float:
    """Pages that one start moves in its timed parts, as declared."""
    wall_ns, time_ns = seen(side, "wall_ns"), side.get("time_ns")
    calls = wall_ns / time_ns if wall_ns and time_ns else 1
    return float(calls * side["bytes_per_call"] / page_bytes)
