"""Parts that several rules share."""
