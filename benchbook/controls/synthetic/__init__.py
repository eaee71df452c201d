"""Made-up samples for the controls that are replayed."""
