"""Runs on disk: the journal, pointers to runs, recorded runs."""
