"""`python -m benchbook`: what the workflow's rules call."""

from benchbook.cli import main

if __name__ == "__main__":
    main()
