"""The GPU that llama.cpp says it found, given to the table of llama-bench below it."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

_FOUND = late(
    r"(?:^|\s)Device \d{1,2}: (?P<cuda>[A-Z][^,]{3,60}), (?:compute capability|gfx)"
    r"|ggml_vulkan: \d{1,2} = (?P<vulkan>[A-Z].{3,60}?) \("
)


def tell(log: Log, reports: Sequence[Report]) -> None:
    """Give tables of llama-bench the name of the device, where the log has one name alone."""
    tables = [own for own in reports if own.tool == "table" and is_of_models(own)]
    if not tables or not (log.has("Device") or log.has("ggml_vulkan")):
        return
    names = {
        (found["cuda"] or found["vulkan"]).strip()
        for line in log.having("Device", "ggml_vulkan")
        if (found := _FOUND.search(line.text[:300]))
    }
    for report in tables if len(names) == 1 else ():
        report.facts.setdefault("device", next(iter(names)))


def is_of_models(report: Report) -> bool:
    """Whether a table has the columns of llama-bench."""
    parts = report.results[0].of.get("label_parts") if report.results else None
    return isinstance(parts, dict) and {"model", "size", "backend", "test"} <= parts.keys()
