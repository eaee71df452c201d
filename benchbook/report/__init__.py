"""Pages: pictures, sentences that quote files, and self-contained HTML. Nothing is computed here.

A notebook calls `paper_page`; `notebook_export` executes and exports notebooks; `index_page`,
`machine_page`, `compare_page` and `imported_page` make the pages that belong to no paper. Pages use
`sections`, which choose rows and write sentences; sections use `plots`, which draw.
"""

VARIABLE = "BENCHBOOK_PAPER"  # names a notebook's results
