"""Pages: pictures, prose that quotes files, and self-contained HTML. Computes nothing.

`page` is what a notebook calls; `reports` executes and exports notebooks; `lab` and `machine` make
the pages that belong to no paper.
"""

VARIABLE = "BENCHBOOK_PAPER"  # names a notebook's results
