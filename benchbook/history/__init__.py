"""A measurement over many runs on one host: its series, where it stepped, and what else changed
there."""
