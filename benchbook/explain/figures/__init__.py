"""The figures of a report as tables for people."""
