"""From which size on the C library copies otherwise, with the variables of each variant."""

from __future__ import annotations

import os
from pathlib import Path

from benchbook.evidence import memcpy_thresholds
from benchbook.evidence.stage import Context, Row, evidence_row

NOT_TOLD = "its loader does not list them (glibc 2.33 and later does, on x86-64)"


def rows(context: Context) -> list[Row]:
    """A row for each threshold of each variant that starts here."""
    thresholds: list[Row] = []
    by_environment: dict[tuple[str | None, tuple[tuple[str, str], ...]], dict[str, int]] = {}
    for name, (folder, record) in context.ours().items():
        if record.get("state") != "ok" or "binary" not in record:
            continue
        own = context.definition["variants"].get(name, {}).get("environment", {})
        binary = Path(folder) / record["binary"]["file"]
        key = memcpy_thresholds.loader_of(str(binary.absolute())), tuple(sorted(own.items()))
        if key not in by_environment:
            by_environment[key] = _thresholds(key[0], own)
        thresholds += [
            evidence_row(
                context.experiment,
                f"{threshold}_bytes",
                by_environment[key].get(threshold),
                "C library",
                unit="bytes",
                variant=name,
                why_absent=NOT_TOLD,
            )
            for threshold in memcpy_thresholds.THRESHOLDS
        ]
    return thresholds


def _thresholds(loader: str | None, own: dict[str, str]) -> dict[str, int]:
    kept = {key: value for key, value in os.environ.items() if key != "GLIBC_TUNABLES"}
    return memcpy_thresholds.copy_thresholds(loader, kept | own) if loader else {}
