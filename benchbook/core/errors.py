"""The one error that a user can cause."""


class BenchbookError(Exception):
    """Something that the user can put right; one sentence says what is wrong and the remedy."""
