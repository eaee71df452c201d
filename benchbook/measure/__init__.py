"""Measurement: a plan becomes a run, append-only."""
