"""What the detectors are given of a run, and what several of them read out of it."""
