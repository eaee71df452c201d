"""Controls: artefacts provoked on purpose, or replayed, and what the detectors made of them."""
