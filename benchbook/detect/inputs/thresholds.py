"""Thresholds that detectors and the analysis share."""

from __future__ import annotations

BEYOND = 1.5
