"""The part of a page that shows how the machine's CPUs and caches lie."""

from __future__ import annotations

from typing import Any

from benchbook.report.plots import topology as topology_plot
from benchbook.report.render import svg_of


def section(facts: dict[str, Any] | None) -> dict[str, Any] | None:
    """The topology's picture with its title and caption; None where it was not recorded."""
    svg = svg_of(topology_plot.topology("topology", facts or {}))
    if not facts or not svg:
        return None
    shut = {cpu["id"] for cpu in facts.get("cpus") or []} - set(facts.get("usable_cpus") or [])
    caption = topology_plot.source_in_words(facts)
    caption += " Grey: CPUs that this process may not use." if shut else ""
    kinds = {cpu["kind"] for cpu in facts.get("cpus") or []}
    caption += " Green: efficiency cores." if "efficiency" in kinds else ""
    return {"svg": svg, "title": topology_plot.title(facts), "caption": caption}
