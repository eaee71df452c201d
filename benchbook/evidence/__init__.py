"""Evidence: observations other than the timing, each with its source and its state."""
