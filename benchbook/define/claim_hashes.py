"""What a claim asks, as a hash: whether a run was planned for it as it is now."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_MOVES_NOTHING = ("about", "source", "repeats")


def claim_hashes(figures: list[dict[str, Any]]) -> dict[str, str]:
    """`paper/figure/claim` -> hash of all that the claim declares, kept in the run's manifest.

    Not of `about`, which tells how a verdict is read, of `source`, which tells whose words the
    claim is made of, nor of `repeats`, which tells how it is counted: none moves a verdict.
    """
    return {
        f"{figure['paper']}/{figure['id']}/{claim['id']}": hashlib.sha256(
            json.dumps(
                {key: value for key, value in claim.items() if key not in _MOVES_NOTHING},
                sort_keys=True,
            ).encode()
        ).hexdigest()[:16]
        for figure in figures
        for claim in figure.get("claims", [])
    }
