"""Progress while measuring: a live bar on a terminal, a line every few seconds in a file."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as RichProgress

LINE_EVERY_S = 5.0


class Progress:
    """What is measured, how many blocks are left, and about how long they take."""

    def __init__(self, experiment: str) -> None:
        self.experiment = experiment
        self.console = Console(stderr=True, highlight=False)
        self.bar: RichProgress | None = None
        self.last = -LINE_EVERY_S

    def line(self, text: str) -> None:
        """Print one plain line above the bar."""
        self.console.print(f"{self.experiment}: {text}", markup=False, soft_wrap=True)

    def update(self, stage: str, done: int, planned: int, left_s: float) -> None:
        """Show how far the run is; called before each block."""
        left = f"about {left_s:.0f} s left"
        if self.bar is not None:
            self.bar.update(
                self.bar.task_ids[0], completed=done, total=planned, left=left, refresh=True
            )
        elif time.monotonic() - self.last >= LINE_EVERY_S or stage == "pilot":
            self.last = time.monotonic()
            what = "pilot" if stage == "pilot" else f"block {done + 1} of {planned}"
            self.line(f"{what}, {left}")

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self.bar = RichProgress(
                TextColumn(self.experiment),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("blocks"),
                TextColumn("{task.fields[left]}"),
                console=self.console,
                # No thread that redraws while a kernel runs: only update() draws.
                auto_refresh=False,
            )
            self.bar.add_task(self.experiment, total=None, left="")
            self.bar.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
