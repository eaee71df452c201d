"""Logs of other people's benchmarks: cleaned, read, and judged. api.py is the door.

clean/ makes a Log of bytes; each reader in readers/ makes Reports of it (model.py, results.py);
context/ adds what the lines around a report say; rules/ and sample_detectors.py say what is wrong.
explanation.py calls them in this order. columns.toml declares the names of columns and facts.
"""
