"""The machine was in one state at one side and in another at the other.

Predicted by what the anchor shows in these states, block by block.
"""

from __future__ import annotations

import math

import numpy as np

from benchbook.core.number_format import duration, listed, plural, share
from benchbook.judge.cause_context import Answer, CannotTell, Context, Excluded, Predicted, fact

CAUSE = "state-flip"
TITLE = "states of the machine"


def predict(context: Context) -> Answer:
    """From the states that anchor and probe tell."""
    names = [side["point"] for side in context.sides()]
    states = context.states[names].dropna()
    if states.empty:
        return CannotTell("no round has a machine state on both sides")
    seen = sorted({str(state) for state in np.unique(states.astype(str))})
    rows = [
        fact(f"anchor in state {state}", value, "ns", "anchor")
        for state, value in sorted(context.anchors.items())
    ]
    same = int((states[names[0]] == states[names[1]]).sum())
    if same == len(states):
        state_in_words = f"the same state on both sides in all {plural(len(states), 'block')}"
        return Excluded(f"The machine was in {state_in_words}.", rows)
    if not set(seen) <= set(context.anchors):
        return CannotTell(f"in {plural(len(states) - same, 'block')} a side lies in no one state")
    logs = states.map(lambda state: math.log(context.anchors[str(state)]))
    times = listed([duration(context.anchors[state]) for state in seen])
    spreads = [_spread(context, names[0], within) for within in (False, True)]
    why = (
        f"In {same} of {plural(len(states), 'block')} both sides met the same state; the anchor "
        f"takes {times} in these states. The first side's rates spread by {share(spreads[0])} over "
        f"all blocks and by {share(spreads[1])} within a state."
    )
    return Predicted(logs[names[1]] - logs[names[0]], why, rows)


def _spread(context: Context, name: str, within: bool) -> float:
    """The standard deviation of a point's log rates; `within`: around the mean of their state."""
    logs = context.logs[name].dropna()
    if within:
        logs = logs - logs.groupby(context.states[name].reindex(logs.index)).transform("mean")
    return float(logs.std(ddof=0))
