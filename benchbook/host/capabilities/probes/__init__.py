"""Each module looks for some abilities: NAMES, what it asks (PROGRAMS, FILES, and VARIABLES of
the environment, if any), look(place)."""
