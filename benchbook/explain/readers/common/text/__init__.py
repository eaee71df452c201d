"""Figures in text that no tool's own reader and no table has: lists, lines alike, and sentences.

`grammar` says what a number, a unit and a name are; the others find them:

- `compared`, `counted`: sentences that compare two figures, or say with how many threads;
- `named`, `labelled`: lists of a name and a figure on each line;
- `alike`: lines that differ by their numbers only;
- `sentences`: any other figure with its unit, with the words next to it.
"""
