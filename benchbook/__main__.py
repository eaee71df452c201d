"""`python -m benchbook`: what the workflow's rules call."""

from benchbook.commands.main import main

if __name__ == "__main__":
    main()
