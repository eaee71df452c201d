"""Points of made-up transfers, as a detector sees them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchbook.controls.synthetic.transfers import linked, point
from benchbook.detect import Seen

__all__ = ["linked", "rows", "seen"]


def rows(*changed: dict[str, Any]) -> list[dict[str, Any]]:
    """Points p0, p1, … that move 64 MiB to a device, changed as given."""
    return [
        point(f"p{k}", "to") | {"series": "s", "setting": "s", "twin": f"p{k}"} | setting
        for k, setting in enumerate(changed)
    ]


def seen(*changed: dict[str, Any], **more: Any) -> Seen:
    """Of one run; `more` gives other tables of Seen."""
    return Seen(points=pd.DataFrame(rows(*changed)), **more)
