"""Units of published numbers. Standard library only: the checks before a run import this."""

from __future__ import annotations

# What one unit of a published rate is in bytes per second.
RATE_UNITS = {"MiB/s": 2**20, "MB/s": 10**6, "GB/s": 10**9, "GiB/s": 2**30}
