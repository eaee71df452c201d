"""Sections of the pages: tables and sentences out of results."""
