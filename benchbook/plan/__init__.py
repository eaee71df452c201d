"""Plans: which points are measured, in which order, within which budget."""
