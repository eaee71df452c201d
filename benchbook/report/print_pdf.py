"""A page as PDF, printed by Chromium without a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchbook.report.render import without_addresses

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing of the page needs a network, and nothing else of the browser may use it.
ARGUMENTS = (
    *("--headless", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--no-pdf-header-footer", "--proxy-server=127.0.0.1:9"),
)
LIMIT_S = 120.0


def print_pdf(html: str, target: Path) -> str:
    """Print a page into this file; returns why that was not possible, else an empty text."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        return "no PDF without Chromium; install Debian's package `chromium` and export again"
    with tempfile.TemporaryDirectory(prefix="benchbook-pdf-") as scratch:
        page, made = Path(scratch, "page.html"), Path(scratch, "page.pdf")
        page.write_text(without_addresses(html), encoding="utf-8")
        # Chromium refuses to start as root with its sandbox.
        rights = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [program, *ARGUMENTS, *rights, f"--user-data-dir={scratch}/profile"]
        try:
            done = subprocess.run(
                [*command, f"--print-to-pdf={made}", page.as_uri()],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"no PDF: {program} did not print it ({type(error).__name__})"
        if done.returncode or not made.exists():
            words = done.stderr.strip().splitlines()
            return f"no PDF: {program} did not print it ({words[-1] if words else 'no reason'})"
        shutil.copyfile(made, target)
    return ""
