"""The README of an archive."""

from __future__ import annotations

from typing import Protocol

from benchbook.core.number_format import listed


class About(Protocol):
    """What a README says of an archive; `benchbook.crate.contents.Index` has it."""

    @property
    def host(self) -> str:
        """Where it was measured."""

    @property
    def preset(self) -> str:
        """The preset."""

    @property
    def commit(self) -> str:
        """The commit that measured."""

    @property
    def papers(self) -> tuple[str, ...]:
        """Ids of papers."""

    @property
    def experiments(self) -> tuple[str, ...]:
        """Ids of experiments."""


def readme(index: About) -> str:
    """README.md: what the archive holds and how to check it."""
    papers = f"Papers: {listed(index.papers)}.\n" if index.papers else ""
    return f"""# Measurements by Benchbook

Measured on `{index.host}` with the preset `{index.preset}` by commit `{index.commit or "unknown"}`.
{papers}Experiments: {listed(index.experiments)}.

- `reports/` has the pages. Open them in a browser; nothing in them leads outside.
- `data/runs/` has the raw samples, `results/` has estimates, findings and verdicts.
- `build/` has compiler, flags and the hash of each binary, `requirements.lock` the environment.
- `SHA256SUMS` names every file: `sha256sum --check SHA256SUMS`.

To compute all estimates, findings and verdicts anew from the raw samples, check out that commit and
type `benchbook verify` and the path of this archive.
"""
