"""`python -m benchbook`: what the workflow's rules call."""

from benchbook.cli import main

main()
