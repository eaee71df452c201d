"""Flags that were asked for, and what a wrapper of the compiler made of them."""

from __future__ import annotations

from typing import Any

from benchbook.evidence.stage import Context, Row, evidence_row


def rows(context: Context) -> list[Row]:
    """The flags of every variant that was compiled here."""
    items = [_of_variant(context.experiment, record) for _, record in context.ours().values()]
    return [row for rows in items for row in rows]


def _of_variant(experiment: str, variant: dict[str, Any]) -> list[Row]:
    """Flags asked for, and those that a wrapper dropped or added on the way to the compiler."""
    wrapper = variant["wrapper"]
    is_known = wrapper["state"] != "unknown"
    values = {
        "compiler": variant["effective"][0] if variant["effective"] else None,
        "flags_asked": variant["flags"],
        "flags_dropped": wrapper["dropped"] if is_known else None,
        "flags_added": wrapper["added"] if is_known else None,
        "flags_decided_by": wrapper["decided_by"] if is_known else None,
    }
    about = {"variant": variant["variant"], "reason": wrapper["reason"]}
    return [
        evidence_row(experiment, name, value, "the compiler's own command line", **about)
        for name, value in values.items()
    ]
