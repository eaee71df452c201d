"""Benchbook reruns published performance experiments and says which numbers you may believe."""

__version__ = "0.1.0"
