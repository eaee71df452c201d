"""Logs of other people's benchmarks: cleaned, read by importers, and judged.

cleaning.py makes a Log of bytes; explain.py reads it with every importer and asks every rule of
rules/ and every detector that can say something of such rows; units.py knows what is printed.
"""
